"""How much faster the leap engine is than the step engine, and whether "auto" takes the faster one.

    python bench/leap.py
    python bench/leap.py --quick
    python bench/leap.py --figure docs/leap.svg

Times are processor time of one worker, the smallest of several interleaved repetitions (see table.py),
except for the paper's figure, which is wall-clock time on all cores.
"""

import argparse
import math
import os
import sys
import time
from pathlib import Path

from table import Contestant, Effort, fitted, interleave, platform_line, print_row

import robai

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support.examples import LEAPING

FULL = Effort(repetitions=6, piece=0.03, least=2, longest=5.0, many=())
QUICK = Effort(repetitions=3, piece=0.01, least=1, longest=1.0, many=())
GRID = Effort(repetitions=6, piece=0.015, least=2, longest=2.0, many=())
AGAIN = Effort(repetitions=40, piece=0.02, least=2, longest=10.0, many=())

GAUSSIAN = robai.Gaussian([0.7, 0.2])
BERNOULLI = robai.Bernoulli([0.7, 0.2])
KL = robai.theory.kl_min(BERNOULLI)
GAP = 0.5

BANDITS = [
    GAUSSIAN,
    BERNOULLI,
    robai.Binomial([2.5, 1.0], n=5),
    robai.Poisson([1.0, 0.5]),
    robai.Exponential([1.0, 0.5]),
    robai.Gamma([1.0, 0.5], shape=2.5),
    robai.NegativeBinomial([1.0, 0.5], r=1.5),
    robai.Gaussian([0.7] + [0.2] * 19),
    robai.Bernoulli([0.7] + [0.2] * 19),
    robai.Bernoulli([0.99, 0.9]),
    robai.Bernoulli([0.05, 0.02]),
    robai.Gaussian([0.5, 0.49]),
    robai.Bernoulli([0.5, 0.49]),
    robai.Bernoulli([0.7] + [0.2] * 99),
]


def game(policy, bandit, horizon, engine):
    """A function of the number of runs, to be timed; the number of rounds means nothing here."""

    def play(runs):
        robai.simulate(policy, bandit, horizon, runs, rng=0, times=1, workers=1, engine=engine)
        return runs

    return play


def sized(play, piece):
    """A contestant with enough runs; of two tries, as a hiccup of the machine can end one too early."""
    return max((fitted(play, piece) for _ in range(2)), key=lambda each: each.runs)


def per_run(contestant):
    """Microseconds."""
    return 1e6 * contestant.seconds / contestant.runs


# ------------------------------------------------------------------------------- one policy


def measure_limits(effort, runs):
    """(what, value, limit, whether it is met)."""
    for policy, bandit, long, least in (
        (robai.UCB(), GAUSSIAN, 10**12, 400),
        (robai.KLUCB(), BERNOULLI, 10**9, 5),
    ):
        timed = {
            "step": Contestant(game(policy, bandit, 10**6, "step"), 20),
            "leap": Contestant(game(policy, bandit, 10**6, "leap"), runs),
            "long": Contestant(game(policy, bandit, long, "leap"), runs),
        }
        interleave(timed.values(), effort)
        step, leap, longer = (per_run(timed[name]) for name in ("step", "leap", "long"))
        what = f"{policy.label()}, {type(bandit).__name__} (0.7, 0.2)"
        print(
            f"{what}: step {step:.0f} us, leap {leap:.1f} us a run at T = 10^6, "
            f"{longer:.1f} us at T = 10^{round(math.log10(long))}"
        )
        yield f"{what}, T = 10^6: times faster than step", step / leap, least, step / leap >= least
        what = f"{what}: T = 10^{round(math.log10(long))} takes times T = 10^6"
        yield what, longer / leap, 4, longer <= 4 * leap


def measure_log_t(effort):
    """The same, of the level log t beside the fixed one; the limit is None where there is none."""
    for n_arms in (2, 10, 100):
        means = [0.7] + [0.2] * (n_arms - 1)
        for policy, bandit in ((robai.UCB, robai.Gaussian(means)), (robai.KLUCB, robai.Bernoulli(means))):
            pair = [
                sized(game(policy(level=level), bandit, 10**6, "leap"), effort.piece)
                for level in ("horizon", "round")
            ]
            interleave(pair, effort)
            fixed, growing = map(per_run, pair)
            print(f"{policy.__name__}, K = {n_arms}: {fixed:.1f} us a run, with log t {growing:.1f} us")
            limit = 6.0 if n_arms == 100 else None
            what = f"{policy.__name__}, K = {n_arms}, T = 10^6: log t takes times the fixed level"
            yield what, growing / fixed, limit, limit is None or growing <= limit * fixed


# ------------------------------------------------------------------------------------- auto


def measure_grid(effort, powers, bandits):
    """{(policy, bandit, horizon): {engine: contestant}}."""
    timed = {}
    for bandit in bandits:
        for policy in LEAPING:
            for power in powers:
                plays = {engine: game(policy, bandit, 10**power, engine) for engine in ("step", "leap")}
                pair = {engine: fitted(play, effort.piece) for engine, play in plays.items()}
                step, leap = pair.values()
                if max(step.runs, leap.runs) <= 8 * min(step.runs, leap.runs):  # as many on both sides
                    runs = max(step.runs, leap.runs)
                    pair = {engine: Contestant(play, runs) for engine, play in plays.items()}
                interleave(pair.values(), effort)
                timed[policy, bandit, 10**power] = pair
    return timed


def measure_again(timed, effort, count=60):
    """Measure the cases in which auto seems to lose most for longer, with as many runs on both sides."""
    for policy, bandit, horizon in sorted(timed, key=lambda case: -loss(timed, case))[:count]:
        pair = timed[policy, bandit, horizon]
        runs = max(math.ceil(1e6 * effort.piece / max(map(per_run, pair.values()))), 2)
        for engine in pair:
            pair[engine] = Contestant(game(policy, bandit, horizon, engine), runs)
        interleave(pair.values(), effort)


def chosen(policy, bandit):
    return robai.simulate(policy, bandit, bandit.n_arms, 1, rng=0, workers=1).meta["engine"]


def print_grid(timed, powers):
    print("\nTime of a step run over time of a leap run\n")
    print_row("bandit", "policy", *(f"10^{power}" for power in powers))
    print_row("---", "---", *["---:"] * len(powers))
    for policy, bandit in dict.fromkeys((policy, bandit) for policy, bandit, _ in timed):
        cells = []
        for power in powers:
            pair = timed[policy, bandit, 10**power]
            cells.append(f"{per_run(pair['step']) / per_run(pair['leap']):.2f}")
        print_row(name(bandit), policy.label(), *cells)


def name(bandit):
    shown = ", ".join(map(str, bandit.means[:2]))
    return f"{type(bandit).__name__} ({shown}{f', {bandit.n_arms} arms' if bandit.n_arms > 2 else ''})"


def loss(timed, case):
    """How many times slower auto is than the better engine."""
    policy, bandit, _ = case
    return per_run(timed[case][chosen(policy, bandit)]) / min(map(per_run, timed[case].values()))


def described(case):
    policy, bandit, horizon = case
    return f"{policy.label()}, {name(bandit)}, T = 10^{round(math.log10(horizon))}"


# ------------------------------------------------------------------------------- other limits


def nanoseconds_per_streak(n_arms, effort):
    """Of UCB. Every pull of an arm other than the best ends two streaks: the leader's and its own."""
    bandit, horizon = robai.Gaussian([0.7] + [0.2] * (n_arms - 1)), 10**6
    contestant = sized(game(robai.UCB(), bandit, horizon, "leap"), effort.piece)
    interleave([contestant], effort)
    result = robai.simulate(robai.UCB(), bandit, horizon, contestant.runs, rng=0, times=1, engine="leap")
    return 1e3 * per_run(contestant) / (2 * result.pulls[:, 1:].sum(axis=1).mean())


def figure_of_the_paper(runs):
    """(policy, bandit, horizon, wall-clock seconds) of Figure 1, on all cores."""
    both = [robai.EOCP(gap=GAP), robai.EOCPUG(), robai.UCB(), robai.BAIETC(), robai.DETC()]
    for bandit, horizon, policies in (
        (GAUSSIAN, 10**6, both),
        (BERNOULLI, 10**5, [*both, robai.KLUCB(), robai.KLEOCP(kl=KL)]),
    ):
        for policy in policies:
            start = time.perf_counter()
            robai.simulate(policy, bandit, horizon, runs, rng=0)
            yield policy, bandit, horizon, time.perf_counter() - start


def slope(policy, runs):
    """Of regret against log T between 10^9 and 10^15, and its standard error."""
    first, second = (robai.simulate(policy, GAUSSIAN, 10**power, runs, rng=0, times=1) for power in (9, 15))
    error = math.hypot(first.regret_sem[-1], second.regret_sem[-1])
    return (second.regret[-1] - first.regret[-1]) / math.log(10**6), error / math.log(10**6)


# ------------------------------------------------------------------------------- the figure


# What leaps there, without variants of one another; those at the same place have the same colour.
DRAWN = {
    GAUSSIAN: [robai.EOCP(gap=GAP), robai.EOCPUG(), robai.UCB(), robai.ThompsonSampling(),
               robai.AdaUCB(), robai.MOSS(), robai.IMED(), robai.LilUCB(), robai.BayesUCB()],
    BERNOULLI: [robai.KLEOCP(kl=KL), robai.KLEOCPUG(), robai.KLUCB(), robai.ThompsonSampling(),
                robai.AdaUCB(), robai.MOSS(), robai.IMED(), robai.UCB(), robai.UCBV()],
}  # fmt: skip
STEPS = 2, 3  # of these, by steps as well


def draw(path, effort):
    import matplotlib

    matplotlib.use("svg" if path.suffix == ".svg" else "agg")
    from matplotlib import pyplot as plt

    plt.rcParams["svg.hashsalt"] = "robai"
    figure, panels = plt.subplots(1, 2, figsize=(8.0, 5.0), layout="constrained", sharey=True)
    for axes, (bandit, policies) in zip(panels, DRAWN.items(), strict=True):
        for place, policy in enumerate(policies):
            name = type(policy).__name__
            line(axes, policy, bandit, "leap", range(2, 16), effort, color=f"C{place}", label=name)
            if place in STEPS:
                ask = {"color": f"C{place}", "linestyle": "--", "label": f"{name}, steps"}
                line(axes, policy, bandit, "step", range(2, 7), effort, **ask)
        axes.set(xscale="log", yscale="log", xlabel="horizon T", title=f"{type(bandit).__name__} (0.7, 0.2)")
        axes.set_ylim(1.0, 1e5)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, ncols=2, fontsize="small")
    panels[0].set_ylabel("microseconds a run")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    print(f"wrote {path}")


def line(axes, policy, bandit, engine, powers, effort, **style):
    timed = [sized(game(policy, bandit, 10**power, engine), effort.piece) for power in powers]
    interleave(timed, effort)
    axes.plot([10.0**power for power in powers], [per_run(each) for each in timed], **style)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Time the leap engine against the step engine.")
    parser.add_argument("--quick", action="store_true", help="fewer cases and repetitions, noisier")
    parser.add_argument(
        "--figure", metavar="FILE", type=Path, help="draw time against T to FILE, and no more"
    )
    options = parser.parse_args(arguments)
    effort = QUICK if options.quick else FULL

    print(platform_line())
    if options.figure:
        draw(options.figure, effort)
        return 0
    limits = [*measure_limits(effort, 8192), *measure_log_t(effort)]

    powers = (2, 4, 6) if options.quick else (2, 3, 4, 5, 6)
    timed = measure_grid(QUICK if options.quick else GRID, powers, BANDITS[:2] if options.quick else BANDITS)
    measure_again(timed, AGAIN)
    print_grid(timed, powers)
    worst = sorted(timed, key=lambda case: -loss(timed, case))
    print("\nWhere auto loses most\n")
    for case in worst[:12]:
        print(f"- {described(case)}: {loss(timed, case):.2f} times the better one")
    most = loss(timed, worst[0])
    limits.append(("auto: times slower than the better engine, at worst", most, 1.3, most <= 1.3))

    few, many = (nanoseconds_per_streak(n_arms, effort) for n_arms in (10, 1000))
    print(f"\nUCB, Gaussian, T = 10^6, a streak: {few:.0f} ns with 10 arms, {many:.0f} ns with 1000")
    limits.append(("UCB: a streak with 1000 arms takes times one with 10", many / few, 4, many <= 4 * few))

    runs = 10**4 if options.quick else 10**5
    print(f"\nThe paper's Figure 1, {runs} runs, {os.cpu_count()} cores\n")
    print_row("policy", "rewards", "T", "seconds")
    print_row("---", "---", "---:", "---:")
    total = 0.0
    for policy, bandit, horizon, seconds in figure_of_the_paper(runs):
        total += seconds
        print_row(policy.label(), type(bandit).__name__, f"10^{round(math.log10(horizon))}", f"{seconds:.2f}")
    limit = 120 * runs / 10**5
    limits.append(("the paper's Figure 1: seconds, wall clock", total, limit, total <= limit))

    print("\nSlope of regret against log T between 10^9 and 10^15, 2/gap = 4\n")
    for policy in (robai.UCB(), robai.EOCPUG()):
        value, error = slope(policy, runs)
        print(f"- {policy.label()}: {value:.3f} +- {error:.3f}")

    print("\nLimits\n")
    print_row("what", "measured", "limit", "")
    print_row("---", "---:", "---:", "---")
    for what, value, limit, met in limits:
        verdict = "met" if met else "NOT MET"
        print_row(what, f"{value:.3g}", *(("", "") if limit is None else (f"{limit:g}", verdict)))
    if hasattr(os, "getloadavg"):
        print(f"\nThe load is now {os.getloadavg()[0]:.1f}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
