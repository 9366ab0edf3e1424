"""Nanoseconds per round of every policy, beside the loops of baselines.py: the README's table.

    python bench/table.py
    python bench/table.py --quick --json table.json

A number is the smallest of several repetitions, interleaved: every contestant is timed once
before any is timed again, so that a slow minute of the machine hits all of them. Rounds are those
really played: nothing is simulated after a commitment. Before anything is timed, all sides must
agree on the mean regret.
"""

import argparse
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import baselines
import numpy as np

import robai
from robai.policies import POLICIES

ARMS = (2, 10, 100)
HORIZONS = (10**4, 10**5)
VECTOR_RUNS = 1000  # that the NumPy loop advances together
CHECK_RUNS = {"robai": 2000, "numba": 1000, "numpy": VECTOR_RUNS, "python": 20}
CHECK_HORIZON = 2000  # long enough to tell policies apart, short enough for pure Python
STANDARD_ERRORS = 5.0  # that the mean regrets of two sides may differ by

TWO_ARMED = ("bai-etc", "detc")
KL = robai.theory.kl_min(robai.Bernoulli([0.7, 0.2]))
# How each policy is played; its baseline, if it has one, is called as the row is.
ROWS = {
    "eocp": (robai.EOCP(gap=0.5), robai.Gaussian),
    "eocp-ug": (robai.EOCPUG(), robai.Gaussian),
    "kl-eocp": (robai.KLEOCP(kl=KL), robai.Bernoulli),
    "kl-eocp-ug": (robai.KLEOCPUG(), robai.Bernoulli),
    "lead-commit": (robai.LeadCommit(), robai.Gaussian),
    "ucb": (robai.UCB(), robai.Gaussian),
    "ucb-log-t": (robai.UCB(level="round"), robai.Gaussian),
    "kl-ucb": (robai.KLUCB(), robai.Bernoulli),
    "kl-ucb-log-t": (robai.KLUCB(level="round"), robai.Bernoulli),
    "thompson-gaussian": (robai.ThompsonSampling(), robai.Gaussian),
    "thompson-bernoulli": (robai.ThompsonSampling(), robai.Bernoulli),
    "bai-etc": (robai.BAIETC(), robai.Gaussian),
    "detc": (robai.DETC(), robai.Gaussian),
    "detc-k": (robai.DETCK(), robai.Gaussian),
    "ucb-alpha": (robai.UCBAlpha(), robai.Gaussian),
    "track-and-stop": (robai.TrackAndStop(), robai.Gaussian),
    "action-elimination": (robai.ActionElimination(), robai.Gaussian),
}
assert {type(policy) for policy, _ in ROWS.values()} <= set(POLICIES.values())  # all of them: policies.py


def means(n_arms):
    return [0.7] + [0.2] * (n_arms - 1)


@dataclass
class Contestant:
    """Something to time: `play(runs)` returns the number of rounds that it played.

    One thread is timed by the processor's time, which does not count the turns of other programs.
    """

    play: Callable[[int], int]
    runs: int
    clock: Callable[[], float] = time.process_time
    seconds: float = math.inf
    rounds: int = 0
    spent: float = 0.0

    @property
    def nanoseconds(self):
        return 1e9 * self.seconds / self.rounds

    def time(self):
        start = self.clock()
        self.rounds = self.play(self.runs)
        elapsed = self.clock() - start
        self.seconds = min(self.seconds, elapsed)
        self.spent += elapsed


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    repetitions: int
    piece: float  # seconds that one repetition should take, where the number of runs is free
    least: int  # repetitions of a contestant that is slow,
    longest: float  # that is, has taken this many seconds
    many: tuple[int, ...]  # numbers of arms for the comparisons with slow baselines


FULL = Effort(repetitions=12, piece=0.03, least=2, longest=5.0, many=(2, 10))
QUICK = Effort(repetitions=4, piece=0.01, least=1, longest=0.5, many=(2,))


def interleave(contestants, effort):
    for repetition in range(effort.repetitions):
        for each in contestants:
            if repetition < effort.least or each.spent < effort.longest:
                each.time()


def fitted(play, piece):
    """A contestant with enough runs to take `piece` seconds."""
    probe = Contestant(play, 1)
    probe.time()
    while probe.seconds < piece:
        probe = Contestant(play, 2 * probe.runs)
        probe.time()
    return probe


def of_robai(row, n_arms, horizon, effort):
    policy, bandit = ROWS[row]
    game = bandit(means(n_arms))

    def play(runs):
        # One time only: the baselines do not record curves either.
        result = robai.simulate(policy, game, horizon, runs, rng=0, times=1, workers=1, engine="step")
        return int(np.where(result.commit_time < 0, horizon, result.commit_time).sum())

    return fitted(play, effort.piece)


def of_baseline(side, row, n_arms, horizon, effort):
    rounds = min(horizon, baselines.rounds_of_eocp(n_arms, horizon)) if row == "eocp" else horizon

    def play(runs):
        baselines.regret(side, row, means(n_arms), horizon, runs, seed=0)
        return runs * rounds

    return Contestant(play, VECTOR_RUNS) if side == "numpy" else fitted(play, effort.piece)


def check(row, n_arms, horizon):
    """Do all sides play the same game? Compiles the numba loops on the way."""
    policy, bandit = ROWS[row]
    ours = robai.simulate(
        policy, bandit(means(n_arms)), horizon, CHECK_RUNS["robai"], rng=1, engine="step"
    ).final_regret
    for side in baselines.sides(row):
        theirs = baselines.regret(side, row, means(n_arms), horizon, CHECK_RUNS[side], seed=1)
        error = math.hypot(_standard_error(ours), _standard_error(theirs))
        if not abs(ours.mean() - theirs.mean()) <= STANDARD_ERRORS * error:
            raise SystemExit(
                f"{row}, {n_arms} arms: mean regret {ours.mean():.2f} by robai, "
                f"{theirs.mean():.2f} by {side}, standard error {error:.2f}: not the same game"
            )


def _standard_error(values):
    return values.std(ddof=1) / math.sqrt(values.size)


# ------------------------------------------------------------------------------- the tables


def time_policies(effort):
    """{(row, horizon, arms): contestant} of robai alone."""
    timed = {
        (row, horizon, n_arms): of_robai(row, n_arms, horizon, effort)
        for row in ROWS
        for horizon in HORIZONS
        for n_arms in (ARMS[:1] if row in TWO_ARMED else ARMS)
    }
    interleave(timed.values(), effort)
    return timed


def time_sides(effort):
    """{(row, arms): {side: contestant}} of robai and the baselines, each row interleaved."""
    timed = {}
    for row in baselines.LOOPS["python"]:
        for n_arms in ARMS if row in ("ucb", "eocp") else effort.many:
            check(row, n_arms, CHECK_HORIZON)
            timed[row, n_arms] = {"robai": of_robai(row, n_arms, HORIZONS[0], effort)} | {
                side: of_baseline(side, row, n_arms, HORIZONS[0], effort) for side in baselines.sides(row)
            }
            interleave(timed[row, n_arms].values(), effort)
    return timed


def print_policies(timed):
    print("\nrobai, ns per round, one worker\n")
    print_row("policy", "rewards", "T", *(f"K = {n_arms}" for n_arms in ARMS))
    print_row("---", "---", *["---:"] * (1 + len(ARMS)))
    for row, (policy, bandit) in ROWS.items():
        for horizon in HORIZONS:
            cells = [timed.get((row, horizon, n_arms)) for n_arms in ARMS]
            power = f"10^{round(math.log10(horizon))}"
            print_row(policy.label(), bandit.__name__, power, *(number(cell) for cell in cells))


def print_sides(timed):
    columns = ("robai", "numba", "numpy", "python")
    print(f"\nBeside the loops of baselines.py, ns per round, T = 10^{round(math.log10(HORIZONS[0]))}\n")
    print_row("policy", "rewards", "K", "robai", "numba", f"NumPy, {VECTOR_RUNS} runs", "Python")
    print_row("---", "---", *["---:"] * 5)
    for (row, n_arms), contestants in timed.items():
        policy, bandit = ROWS[row]
        cells = (number(contestants.get(side)) for side in columns)
        print_row(policy.label(), bandit.__name__, n_arms, *cells)


def print_row(*cells):
    print("|", " | ".join(map(str, cells)), "|")


def number(contestant):
    if contestant is None:
        return ""
    value = contestant.nanoseconds
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


# --------------------------------------------------------------------------------- the bars


# robai must be this many times faster; the other ratios are printed for information.
LEAST_RATIOS = {
    ("ucb", 2, "numba"): 1.6,
    ("ucb", 10, "numba"): 1.0,
    ("ucb", 100, "numba"): 1.0,
    ("ucb", 2, "numpy"): 4.5,
    ("ucb", 10, "numpy"): 1.0,
    ("ucb", 100, "numpy"): 1.0,
    ("ucb", 2, "python"): 150.0,
    ("kl-ucb", 2, "numba"): 15.0,
}
# At most so many nanoseconds a round.
MOST_NANOSECONDS = {("ucb-alpha", 10**4, 2): 40.0, ("action-elimination", 10**4, 100): 100.0}
MOST_TIMES_OF_A_GUARD = 2.0  # that KL-EOCP-UG with one takes of what it takes without
# The level log t may take so many times as long as the fixed one.
MOST_OF_LOG_T = {("ucb", 100): 3.0, ("kl-ucb", 100): 3.0, ("ucb", 10): None, ("kl-ucb", 10): None}
LEAST_RATIO_OF_WORKERS = 1.7
MOST_SECONDS_OF_EOCP = 3.0


def measure_bars(policies, sides, effort):
    """(what, value, bar or None, whether it is met) for every ratio, and for the README's example."""
    for (row, horizon, n_arms), bar in MOST_NANOSECONDS.items():
        value = policies[row, horizon, n_arms].nanoseconds
        yield f"{ROWS[row][0].label()}, K = {n_arms}: ns a round", value, bar, value <= bar
    value, bar = times_of_a_guard(effort), MOST_TIMES_OF_A_GUARD
    yield "KLEOCPUG(inflation=2), T = 10^6: guard=1 in times of guard=0", value, bar, value <= bar
    for (row, n_arms), bar in MOST_OF_LOG_T.items():
        for horizon in HORIZONS:
            value = (
                policies[f"{row}-log-t", horizon, n_arms].nanoseconds
                / policies[row, horizon, n_arms].nanoseconds
            )
            power = round(math.log10(horizon))
            what = f"{ROWS[row][0].label()}, K = {n_arms}, T = 10^{power}: log t takes times the fixed level"
            yield what, value, bar, bar is None or value <= bar
    for (row, n_arms), timed in sides.items():
        for side in timed:
            if side != "robai" and row in ("ucb", "kl-ucb"):
                value = timed[side].nanoseconds / timed["robai"].nanoseconds
                bar = LEAST_RATIOS.get((row, n_arms, side))
                what = f"{ROWS[row][0].label()}, K = {n_arms}: times faster than {side}"
                yield what, value, bar, bar is None or value >= bar
    if os.cpu_count() > 1:
        value = ratio_of_workers(effort)
        bar = LEAST_RATIO_OF_WORKERS
        yield "two workers: times faster than one", value, bar, value >= bar
    value = seconds_of_eocp(effort)
    what = "EOCP(gap=0.5), T = 10^6, 10^5 runs, all defaults: seconds"
    yield what, value, MOST_SECONDS_OF_EOCP, value < MOST_SECONDS_OF_EOCP


def times_of_a_guard(effort):
    def guarded_by(guard):
        def play(runs):
            policy = robai.KLEOCPUG(inflation=2.0, guard=guard)
            robai.simulate(policy, robai.Bernoulli(means(2)), 10**6, runs, rng=0, times=1, workers=1)
            return runs

        return Contestant(play, 500)

    pair = [guarded_by(1.0), guarded_by(0.0)]
    interleave(pair, effort)
    return pair[0].seconds / pair[1].seconds


def ratio_of_workers(effort):
    policy, bandit = ROWS["ucb"]

    def played_by(workers):
        def play(runs):
            robai.simulate(
                policy, bandit(means(2)), HORIZONS[0], runs, rng=0, times=1, workers=workers, engine="step"
            )
            return runs * HORIZONS[0]

        return Contestant(play, 2000, clock=time.perf_counter)

    pair = [played_by(1), played_by(2)]
    interleave(pair, effort)
    return pair[0].seconds / pair[1].seconds


def seconds_of_eocp(effort):
    policy, bandit = ROWS["eocp"]

    def play(runs):
        robai.simulate(policy, bandit(means(2)), 10**6, runs, rng=0)
        return runs

    example = Contestant(play, 10**5, clock=time.perf_counter)
    interleave([example], effort)
    return example.seconds


def platform_line():
    versions = {"robai": robai.__version__, "numpy": np.__version__}
    if "numba" in baselines.sides("ucb"):
        import numba

        versions["numba"] = numba.__version__
    names = ", ".join(f"{name} {version}" for name, version in versions.items())
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{processor()}, {os.cpu_count()} cores{load}; {platform.system()}, "
        f"{platform.python_implementation()} {platform.python_version()} "
        f"({platform.python_compiler()}), {names}"
    )


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description="Time every policy of robai, beside loops in Python, NumPy and numba."
    )
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: about a minute, noisier")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the numbers to FILE as well")
    options = parser.parse_args(arguments)
    effort = QUICK if options.quick else FULL

    print(platform_line())
    policies = time_policies(effort)
    print_policies(policies)
    sides = time_sides(effort)
    print_sides(sides)

    bars = list(measure_bars(policies, sides, effort))
    print("\nBars\n")
    print_row("what", "measured", "bar", "")
    print_row("---", "---:", "---:", "---")
    for what, value, bar, met in bars:
        verdict = "met" if met else "NOT MET"
        print_row(what, f"{value:.3g}", "" if bar is None else bar, "" if bar is None else verdict)
    if hasattr(os, "getloadavg"):
        load = os.getloadavg()[0]
        print(f"\nThe last two are wall-clock time and need idle cores; the load is now {load:.1f}.")

    if options.json:
        numbers = {
            "platform": platform_line(),
            "policies": [
                {"policy": row, "horizon": horizon, "arms": n_arms, "ns": each.nanoseconds}
                for (row, horizon, n_arms), each in policies.items()
            ],
            "sides": [
                {"policy": row, "arms": n_arms, "side": side, "ns": each.nanoseconds}
                for (row, n_arms), timed in sides.items()
                for side, each in timed.items()
            ],
            "bars": [
                {"what": what, "value": value, "bar": bar, "met": met} for what, value, bar, met in bars
            ],
        }
        options.json.write_text(json.dumps(numbers, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
