"""How much faster Thompson sampling is when it does not draw from every posterior in every round.

    python bench/thompson.py
    python bench/thompson.py --quick

`plain` is the loop that does, `Batch` of the core; `step` draws every reward, `leap` does not. All are timed
in one run, interleaved (see table.py), after their mean regrets have been compared.
"""

import argparse
import math

import numpy as np
from leap import FULL, QUICK, game, per_run
from table import STANDARD_ERRORS, Contestant, interleave, platform_line, print_row

import robai
from robai._core.engine import Batch
from robai.rules import Game

THOMPSON = robai.ThompsonSampling()
FAMILIES = [
    robai.Gaussian([0.7, 0.2]),
    robai.Bernoulli([0.7, 0.2]),
    robai.Binomial([2.1, 0.6], n=3),
    robai.Poisson([0.7, 0.2]),
    robai.Exponential([0.7, 0.2]),
    robai.Gamma([0.7, 0.2], shape=2.5),
    robai.NegativeBinomial([0.7, 0.2], r=2.0),
    robai.Gaussian([0.7] + [0.2] * 9),
    robai.Bernoulli([0.7] + [0.2] * 9),
]
# Times faster than plain rounds at T = 10^6, at least, and T = 10^12 over T = 10^6, at most.
LIMITS = {FAMILIES[0]: (1000, 2.5), FAMILIES[1]: (2000, 2.0)}
# Of a round, over UCB's on two Gaussian arms.
STEP_LIMITS = {FAMILIES[0]: 1.5, FAMILIES[1]: 3.0, FAMILIES[7]: 3.0}


def plain(bandit, horizon):
    """A function of the number of runs, to the regrets: draws from every posterior in every round."""

    def play(runs):
        states = np.random.default_rng(runs).integers(1, 2**63, size=(runs, 4), dtype=np.uint64)
        rules = THOMPSON.start(Game.of(bandit.n_arms, horizon, bandit))
        batch = Batch(*rules, bandit._core(), bandit.means, (horizon,), states)
        while batch.advance(1e9):
            pass
        return batch.regret[:, -1]

    return play


def check(bandit, horizon=2000, runs=2000):
    """Stops unless all three have the same mean regret."""
    found = {"plain": plain(bandit, horizon)(runs)}
    for engine in ("step", "leap"):
        played = robai.simulate(THOMPSON, bandit, horizon, runs, rng=0, times=1, engine=engine)
        found[engine] = played.final_regret
    for engine in ("step", "leap"):
        sides = found["plain"], found[engine]
        error = math.hypot(*(side.std() / math.sqrt(runs) for side in sides))
        assert abs(sides[0].mean() - sides[1].mean()) < STANDARD_ERRORS * error, (bandit, engine)


def measure(bandit, effort, runs, rounds):
    """{what: microseconds a run}; plain rounds are timed over fewer, and scaled."""

    def count(play):
        return lambda runs: (play(runs), runs)[1]

    leaps = runs // bandit.n_arms
    timed = {
        "plain": Contestant(count(plain(bandit, rounds)), 1),
        "ucb": Contestant(game(robai.UCB(), FAMILIES[0], rounds, "step"), 5),
        "step": Contestant(game(THOMPSON, bandit, rounds, "step"), 5),
        "10^6": Contestant(game(THOMPSON, bandit, 10**6, "leap"), leaps),
        "10^12": Contestant(game(THOMPSON, bandit, 10**12, "leap"), leaps),
    }
    interleave(timed.values(), effort)
    return {name: per_run(each) for name, each in timed.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions, short plain runs")
    quick = parser.parse_args().quick
    effort, runs, rounds = (QUICK, 100, 10**4) if quick else (FULL, 2000, 10**5)
    print(platform_line())
    for bandit in FAMILIES:
        check(bandit, runs=300 if quick else 2000)
    print("\nThompson sampling: ns a round, us a run\n")
    head = ("rewards", "arms", "plain", "step", "over UCB's", "10^6 leaps", "times faster", "10^12", "longer")
    print_row(*head)
    print_row("---", *["---:"] * (len(head) - 1))
    missed = []
    for bandit in FAMILIES:
        time = measure(bandit, effort, runs, rounds)
        scaled, share = time["plain"] / rounds, time["step"] / time["ucb"]
        faster, longer = 1e6 * scaled / time["10^6"], time["10^12"] / time["10^6"]
        print_row(
            type(bandit).__name__, bandit.n_arms, f"{1e3 * scaled:.1f}", f"{1e3 * time['step'] / rounds:.2f}",
            f"{share:.2f}", f"{time['10^6']:.1f}", f"{faster:,.0f}", f"{time['10^12']:.1f}", f"{longer:.2f}"
        )  # fmt: skip
        least, most = LIMITS.get(bandit, (0, math.inf))
        if faster < least or longer > most or share > STEP_LIMITS.get(bandit, math.inf):
            missed.append(f"{bandit!r}")
    print("\nlimits met" if not missed else "\nabove their limits: " + ", ".join(missed))


if __name__ == "__main__":
    main()
