"""Law fuzz: random policies on random bandits, extremes included, played by both engines.

    python tests/fuzz.py --seconds 600 --seed 7

Pulls must add up, regret must be what they cost, commitments must be kept, nothing may be NaN, and
where both engines can play, what they play must have the same law. A case that differs is played
again, with eight times the runs and other seeds, before it is called a failure. A ValueError before
anything is played is a fine answer. Cases are played in a child process, so that one that crashes it,
or never ends, is found too. Every failure is printed with a script that shows it.

Needs a system that has SIGALRM.
"""

import argparse
import faulthandler
import itertools
import math
import multiprocessing
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from support.fuzz_cases import Case, random_case, reproduction

import robai

# Chances that a case differs by accident: at most one in a hundred is played again, and a false alarm is
# rarer than one in 10^11.
SUSPICIOUS = 1e-2
CERTAIN = 1e-9
MORE = 8


class Outcome(NamedTuple):
    kind: str  # "compared", "played" by one engine, "refused", "slow" or "failed"
    text: str = ""


class Slow(BaseException):
    """Raised by the alarm, as Ctrl-C is: a simulation must end at it."""


class Broken(Exception):
    """A result that cannot be."""


def examine(case: Case, patience: float = 2.0) -> Outcome:
    """Play a case by the engines that can, and check what comes of it."""
    errors = []  # of compiled code that cannot raise, with a debug build
    hook, sys.unraisablehook = sys.unraisablehook, errors.append
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "arms .* are all best")
            warnings.filterwarnings("ignore", category=robai.AssumptionWarning)
            outcome = played(case, patience)
    finally:
        sys.unraisablehook = hook
    if errors:
        return failed(f"{errors[0].exc_value!r} in {errors[0].object}", case, case.runs, case.rng)
    return outcome


def played(case: Case, patience: float) -> Outcome:
    runs, rng = case.runs, case.rng
    # Without a gap that leaps can use, a long horizon takes as long as its rounds.
    short = patience if case.comparable else 0.25 * patience
    try:
        with at_most(short):
            different = difference(results(case, runs, rng), SUSPICIOUS)
        if different:
            runs, rng = MORE * runs, rng + 2
            with at_most(2.0 * MORE * patience):
                different = difference(results(case, runs, rng), CERTAIN)
    except Slow:
        return Outcome("slow", reproduction(case, runs, rng))
    except ValueError as error:
        return Outcome("refused", str(error))
    except Exception as error:
        different = f"{type(error).__name__}: {error}"
    if different:
        return failed(different, case, runs, rng)
    return Outcome("compared" if case.comparable else "played")


def failed(text: str, case: Case, runs: int, rng: int) -> Outcome:
    return Outcome("failed", f"{text}\n\n{reproduction(case, runs, rng)}")


@contextmanager
def at_most(seconds: float):
    """Interrupt what takes longer."""

    def interrupt(*_):
        raise Slow

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def results(case: Case, runs: int, rng: int) -> list[robai.Result]:
    return [play(case, engine, runs, rng + place) for place, engine in enumerate(case.engines)]


def play(case: Case, engine: str, runs: int, rng: int) -> robai.Result:
    done = []
    try:
        result = robai.simulate(
            case.policy, case.bandit, case.horizon, runs,
            rng=rng, times=20, engine=engine, workers=1, progress=lambda *played: done.append(played),
        )  # fmt: skip
    except ValueError as error:
        if done:
            raise Broken(f"refused only after it was played: {error}") from error
        raise
    check(result, case)
    return result


def check(result: robai.Result, case: Case) -> None:
    """What holds for every result."""
    pulls, horizon, arms = result.pulls, case.horizon, case.bandit.n_arms
    means = result.means if isinstance(case.bandit, robai.Instances) else np.array(case.bandit.means)
    cost = (pulls * (means.max(axis=-1, keepdims=True) - means)).sum(axis=1)
    committed = result.commit_time >= 0
    of_the_arm = pulls[committed, result.committed_arm[committed]]
    for claim, holds in {
        "pulls are not negative": (pulls >= 0).all(),
        "pulls add up to the horizon": (pulls.sum(axis=1) == horizon).all(),
        "regret is what the pulls cost": np.allclose(result.final_regret, cost, rtol=1e-9, atol=0.0),
        "regret is finite": np.isfinite(result.regret).all() and np.isfinite(result.final_regret).all(),
        "regret does not fall": (np.diff(result.regret) >= -1e-9 * result.regret[-1]).all(),
        "its standard error is a number": (result.regret_sem >= 0.0).all(),
        "a commitment is to an arm": ((result.committed_arm >= 0) == committed).all()
        and (result.committed_arm < arms).all(),
        "a commitment is not made after the horizon": (result.commit_time <= horizon).all(),
        "a commitment is kept": (of_the_arm >= horizon - result.commit_time[committed]).all(),
    }.items():
        if not holds:
            raise Broken(f"{result.meta['engine']} engine: it does not hold that {claim}")


# ---- laws


def difference(results: list[robai.Result], level: float) -> str:
    """In what the results of two engines differ, if that has a chance below `level`; else nothing."""
    if len(results) < 2:
        return ""
    first, second = map(statistics, results)
    chances = {name: len(first) * chance(first[name], second[name]) for name in first}
    name = min(chances, key=chances.get)
    if chances[name] >= level:
        return ""
    means = " and ".join(f"{each[name].mean():.6g}" for each in (first, second))
    return f"the engines differ in the {name}, of mean {means}: the chance of that is {chances[name]:.1g}"


def statistics(result: robai.Result) -> dict[str, np.ndarray]:
    return {
        "final regret": result.final_regret,
        "commitment time": result.commit_time,
        "arm committed to": result.committed_arm,
        "largest number of pulls": result.pulls.max(axis=1),
    } | {f"pulls of arm {arm}": column for arm, column in enumerate(result.pulls.T)}


def chance(first: np.ndarray, second: np.ndarray) -> float:
    """At most how likely two samples of one law and size are to differ as much as these, whatever the law is.

    By the distance of their distribution functions, P(D >= d) <= e exp(-n d^2) (Wei and Dudley, 2012), or
    by that of their means: under one law the signs of the differences of pairs are fair coins, and
    Hoeffding's inequality bounds their sum. The second sees values that are rare and large, the first others.
    """
    joint = np.sort(np.concatenate([first, second]))
    places = (np.searchsorted(np.sort(each), joint, side="right") for each in (first, second))
    distance = np.abs(np.subtract(*places)).max() / len(first)
    differences = first.astype(float) - second.astype(float)
    largest = np.abs(differences).max()
    if largest == 0.0:
        return 1.0
    differences /= largest
    score = differences.sum() ** 2 / (differences**2).sum()
    return 2.0 * min(math.exp(1.0 - len(first) * distance**2), 2.0 * math.exp(-0.5 * score), 0.5)


# ---- the child


class Died(Exception):
    """The child did not answer."""


class Child:
    """Calls a function in a process of its own, that may crash or hang."""

    def __init__(self, function, limit: float) -> None:
        self._function, self._limit = function, limit
        self._process = None

    def __call__(self, *arguments):
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            self._process = context.Process(
                target=serve, args=(theirs, self._function, self._limit), daemon=True
            )
            self._process.start()
            theirs.close()
        self._connection.send(arguments)
        # A little longer than the child's own clock, at which it prints where it is.
        if not self._connection.poll(1.2 * self._limit):
            self.close()
            raise Died(f"it did not end, and could not be interrupted, for {self._limit:g} s")
        try:
            return self._connection.recv()
        except EOFError:
            self._process.join()
            status = self._process.exitcode
            self.close()
            raise Died(f"the process that played it ended with status {status}") from None

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None


def serve(connection, function, limit: float) -> None:
    faulthandler.enable()
    while True:
        try:
            arguments = connection.recv()
        except EOFError:
            return
        faulthandler.dump_traceback_later(limit)
        answer = function(*arguments)
        faulthandler.cancel_dump_traceback_later()
        connection.send(answer)


def examine_number(seed: int, number: int, patience: float) -> Outcome:
    try:
        case = random_case(seed, number)
    except Exception as error:  # it notes what could not be made
        return Outcome("failed", "".join(traceback.format_exception(error)))
    return examine(case, patience)


# ---- the command


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on (60)")
    parser.add_argument("--cases", type=int, default=None, help="how many cases at most (any number)")
    parser.add_argument("--seed", type=int, default=0, help="which cases: other seeds, other cases (0)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case (0)")
    parser.add_argument(
        "--patience", type=float, default=2.0,
        help="interrupt a case after so many seconds; one that goes on for 20 times as long is a failure (2)",
    )  # fmt: skip
    parser.add_argument("--verbose", action="store_true", help="print what was refused, and what was slow")
    options = parser.parse_args(arguments)

    end = time.monotonic() + options.seconds
    child = Child(examine_number, 20.0 * options.patience)
    tally: Counter[str] = Counter()
    for number in itertools.count(options.first):
        if tally.total() == options.cases or time.monotonic() >= end:
            break
        try:
            outcome = child(options.seed, number, options.patience)
        except Died as error:
            case = random_case(options.seed, number)
            outcome = failed(str(error), case, case.runs, case.rng)
        tally[outcome.kind] += 1
        if outcome.kind == "failed" or (options.verbose and outcome.text):
            print(f"\ncase {number} of seed {options.seed} {outcome.kind}: {outcome.text}", flush=True)
    child.close()
    print(
        f"{tally.total():,} cases of seed {options.seed}: {tally['compared']:,} played by both engines, "
        f"{tally['played']:,} by one, {tally['refused']:,} refused, {tally['slow']:,} interrupted; "
        f"{tally['failed']:,} failures"
    )
    return 1 if tally["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
