"""What late, batched and lost rewards do to regret and commitments, as docs/late-rewards.md shows it.

    python bench/late.py [--quick] [--only delays,regret,losses,speed]

Medians are of rewards that had counted at the commitment, of the runs that committed. Speed is processor time
a round, interleaved with the step engine, whose rewards come at once.
"""

import argparse
import itertools
import math
import time

import numpy as np

import robai
from robai._base.text import align

GAUSSIAN = (robai.EOCPUG(), robai.Gaussian([0.2, 0.0]), 10**5)
COINS = (robai.KLEOCPUG(), robai.Bernoulli([0.1, 0.05]), 2 * 10**5)
SHORT_COINS = (robai.KLEOCPUG(), robai.Bernoulli([0.1, 0.05]), 5 * 10**4)
CLEAR = robai.Gaussian([0.5, 0.0]), 10**4

DELAYS = (0, 500, 1000, 1500, 2000, 2500, 3000, 5000, 10_000)
WAYS = (
    {},
    {"delay": 100},
    {"delay": ("geometric", 100.0)},
    {"delay": 1000},
    {"batch": 256},
    {"loss": 0.1, "window": 200},
    {"loss": 0.5, "window": 200},
)
LOSSES = (
    {},
    {"loss": 0.1},
    {"loss": 0.5},
    {"window": 500},
    {"loss": 0.1, "window": 500},
    {"loss": 0.5, "window": 500},
    {"loss": 0.9, "window": 500},
)


def play(game, runs, **way):
    return robai.simulate(*game, runs, rng=0, times=1, **way)


def committed(result):
    share, wrong = result.committed.mean(), result.wrong_commit().count
    median = f"{np.median(result.answers[result.committed]):,.0f}" if share > 0.0 else "-"
    return f"{share:.1%}", median, f"{wrong:,}"


def named(way, otherwise):
    return ", ".join(f"{name}={value!r}" for name, value in way.items()) or otherwise


def delays(runs):
    for game in (GAUSSIAN, COINS):
        print(
            f"\n{game[0]!r} on {game[1]!r}, T = {game[2]:,}, {runs:,} runs: median rewards at the commitment"
        )
        rows = [("delay", "own stop", "wrong", "with a window", "wrong", "times no delay")]
        base = None
        for delay in DELAYS:
            own, window = (play(game, runs, delay=delay, window=window) for window in (None, math.inf))
            (_, median, wrong), (_, live, live_wrong) = committed(own), committed(window)
            found = float(np.median(window.answers[window.committed]))
            base = found if base is None else base
            rows.append((f"{delay:,}", median, wrong, live, live_wrong, f"{found / base:.2f}"))
        print(*align(rows), sep="\n")


def regret(runs):
    runs *= 5  # for errors that are rare
    print(f"\nregret on {CLEAR[0]!r}, T = {CLEAR[1]:,}, {runs:,} runs: without and with a guard")
    rows = [("rewards", "EOCPUG", "median", "wrong", "KLEOCPUG", "median", "wrong")]
    for way in WAYS:
        each = [play((policy, *CLEAR), runs, **way) for policy in (robai.EOCPUG(), robai.KLEOCPUG())]
        cells = (
            (f"{found.regret[-1]:.1f} +- {found.regret_sem[-1]:.1f}", *committed(found)[1:]) for found in each
        )
        rows.append((named(way, "at once"), *itertools.chain(*cells)))
    print(*align(rows), sep="\n")


def losses(runs):
    print(f"\n{SHORT_COINS[0]!r} on {SHORT_COINS[1]!r}, T = {SHORT_COINS[2]:,}, delay=100, {runs:,} runs")
    rows = [("rewards", "committed", "median", "wrong", "regret")]
    for way in LOSSES:
        found = play(SHORT_COINS, runs, delay=100, **way)
        regret = f"{found.regret[-1]:.1f} +- {found.regret_sem[-1]:.1f}"
        rows.append((named(way, "none lost"), *committed(found), regret))
    print(*align(rows), sep="\n")


def speed(runs):
    print("\nnanoseconds a round, of 100,000 rounds without a commitment")
    rows = [
        ("policy", "arms", "at once", "delay 0", "delay 100", "delay 10,000", "geometric", "lost, window")
    ]
    ways = (
        {"window": 10**6},  # after which nothing is different
        {"delay": 100},
        {"delay": 10_000},
        {"delay": ("geometric", 1000.0)},
        {"loss": 0.5, "window": 1000},
    )
    for policy in (robai.UCB(sigma=0.5), robai.KLUCB(), robai.ThompsonSampling()):
        for arms in (2, 10):
            bandit = robai.Bernoulli(np.linspace(0.2, 0.5, arms))
            least = [math.inf] * (1 + len(ways))
            for _ in range(max(1, runs // 300)):
                for place, way in enumerate(({}, *ways)):
                    started = time.process_time()
                    robai.simulate(policy, bandit, 10**5, 2, rng=1, times=1, workers=1, engine="step", **way)
                    least[place] = min(least[place], (time.process_time() - started) / 2e5)
            rows.append((policy.label(), str(arms), *(f"{1e9 * each:.0f}" for each in least)))
    print(*align(rows), sep="\n")


PARTS = {"delays": delays, "regret": regret, "losses": losses, "speed": speed}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few runs")
    parser.add_argument("--only", default=",".join(PARTS), help="which parts")
    options = parser.parse_args()
    for name in options.only.split(","):
        PARTS[name](100 if options.quick else 2000)


if __name__ == "__main__":
    main()
