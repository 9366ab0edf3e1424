"""Batches of runs: what a worker plays, and how batches are merged.

A batch is a pure function of (policy, bandit, horizon, times, seed, first run, last run). Run r depends on
the seed and on r alone, and batches are merged in order, run by run, so the numbers are the same for any
number of workers, any executor and any size of batch.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robai._core.coins import Coins
from robai._core.engine import Batch, accumulate
from robai._core.explore_index import Optimism
from robai._core.explore_sampling import Thompson
from robai._core.families import Bernoulli, Gaussian, Sampler
from robai._core.late import Late
from robai._core.leap import GaussianLeaps, PositiveLeaps
from robai._core.protocols import Started
from robai._core.thinning import GaussianThinned, PositiveThinned, Thinned
from robai._play.arrivals import AT_ONCE
from robai._play.python_runs import play_custom
from robai._play.request import Played, Simulation
from robai._play.workers import Answer, Borrowed, Interrupted, Stop, Threads, wait
from robai.custom import written
from robai.instances import Instances
from robai.result.merging import errors
from robai.result.totals import Totals

if TYPE_CHECKING:
    from robai._play.checkpoint import Checkpoint

PIECE = 4e6  # nanoseconds that a kernel may take before it returns to Python
MOMENT = 3e5  # nanoseconds: about what it takes to start threads
MOST_AT_ONCE = 2**16  # entries of an array of what may be played in a moment
LARGEST_BATCH = 1024
LARGEST_CHUNK = 2**14
LARGEST_BATCH_ENTRIES = 2**21  # of an array, to bound memory


def play(simulation: Simulation, first: int, last: int, stop: Stop) -> Played:
    """Play runs first, ..., last - 1, a part of a simulation; Interrupted if it is told to stop."""
    if stop.is_set():
        raise Interrupted
    if (rule := written(simulation.policy)) is not None:
        return play_custom(simulation, rule, first, last, stop)
    return _Runs(simulation, first, last).finish(stop)


def play_sums(simulation: Simulation, first: int, last: int, stop: Stop) -> Totals:
    """The same, of which no more than the sums is kept; a piece at a time, for little memory."""
    totals = _no_runs(simulation)
    size = batch_size(last - first, max(len(simulation.times), simulation.bandit.n_arms), 1, LARGEST_BATCH)
    for start in range(first, last, size):
        span = start, min(start + size, last)
        gaps = simulation.gaps
        rows = slice(start - first, span[1] - first)
        part = simulation if gaps.ndim == 1 else replace(simulation, means=simulation.means[rows])
        found = replace(play(part, *span, stop), answers=None)  # of which a Summary has no place
        totals.add_runs(**found.arrays(), gaps=part.gaps, horizon=simulation.game.rounds)
    return totals


def _no_runs(simulation: Simulation) -> Totals:
    own = isinstance(simulation.bandit, Instances)
    return Totals.none(len(simulation.times), simulation.bandit.n_arms, own)


def begin(simulation: Simulation, runs: range) -> _Runs | None:
    """The first runs, as many as are begun in the time that it takes to start threads.

    Only the last of them may be unfinished. None where playing them at once makes no sense.
    """
    entries = len(runs) * max(len(simulation.times), simulation.bandit.n_arms)
    if entries > MOST_AT_ONCE or written(simulation.policy) is not None:
        return None
    begun = _Runs(simulation.part(runs.start, runs.stop), runs.start, runs.stop)
    return None if begun.slow else begun.play_at_once()


def _kind(rules: Started, rewards: Sampler, engine: str) -> type[Batch]:
    """The class that plays such runs."""
    gaussian = isinstance(rewards, Gaussian)
    squares = max(rules.explore.moments, rules.stop.moments, rules.commit.moments) > 1
    if isinstance(rules.explore, Thompson) and not squares:
        return Thinned if engine == "step" else GaussianThinned if gaussian else PositiveThinned
    if engine == "leap":
        return GaussianLeaps if gaussian else PositiveLeaps
    by_index = isinstance(rules.explore, Optimism) and not (squares or rules.explore.absolute)
    return Coins if by_index and isinstance(rewards, Bernoulli) else Batch


class _Runs:
    """Some runs of a simulation, `count` of them."""

    def __init__(self, simulation: Simulation, first: int, last: int) -> None:
        rewards = simulation.bandit._core()
        game, arrivals, states = simulation.game, simulation.arrivals, simulation.seed.states(first, last)
        self._rules = (arrivals or AT_ONCE).started(simulation.policy, game)
        kind: Callable[..., Batch] = _kind(self._rules, rewards, simulation.engine)
        if arrivals is not None:
            kind = partial(Late, **arrivals.core(game.rounds))
        self._batch = kind(
            *self._rules, rewards, simulation.means, simulation.times, states, simulation.common
        )
        self.slow, self.first, self.count = rewards.slow, first, last - first

    def play_at_once(self) -> _Runs:
        """Those that are begun in a moment, and no others."""
        self._advance(MOMENT)
        self.count = self._batch.drop_the_rest()
        return self

    @property
    def finished(self) -> bool:
        return self._batch.finished == self.count

    def finish(self, stop: Stop) -> Played:
        """Play on to their end; Interrupted if it is told to stop."""
        while self._advance(PIECE):
            if stop.is_set():
                raise Interrupted
        return self.played()

    def played(self) -> Played:
        """What they came to."""
        batch, rows = self._batch, slice(self.count)
        answers = batch.answers[rows] if isinstance(batch, Late) else None
        return Played(
            batch.regret[rows], batch.commit_time[rows], batch.committed_arm[rows], batch.pulls[rows], answers
        )

    def _advance(self, budget: float) -> bool:
        """Play for some nanoseconds; whether there is more to play."""
        more, explore = self._batch.advance(budget), self._rules.explore
        if explore.fallible and (complaint := explore.complaint()) is not None:
            raise ValueError(complaint)
        return more


class Adder:
    """Sums of batches into the arrays of a Summary; their order makes no difference."""

    def __init__(self, simulation: Simulation, known: Totals | None) -> None:
        self._simulation = simulation
        self.totals = _no_runs(simulation) if known is None else known

    @property
    def count(self) -> int:
        return self.totals.count

    def add(self, played: Totals) -> None:
        self.totals.add(played)

    def arrays(self) -> dict[str, Any]:
        """Those of a Summary, and its numbers."""
        means, gaps = self._simulation.means, self._simulation.gaps
        if isinstance(self._simulation.bandit, Instances):
            gaps = self.totals.mean_gaps(len(self._simulation.times))
            means = np.full(len(gaps), math.nan)
        times = np.array(self._simulation.times)
        return {"times": times, "means": means, "gaps": gaps, **self.totals.arrays()}


class Merger:
    """Batches, in the order of their runs, into the arrays of a Result."""

    def __init__(self, simulation: Simulation, runs: int, keep_curves: bool) -> None:
        self.simulation = simulation
        self.count = 0
        times, arms = len(simulation.times), simulation.bandit.n_arms
        self.mean, self.squares = np.zeros(times), np.zeros(times)
        self.each: dict[str, NDArray[Any]] = {
            "final_regret": np.empty(runs),
            "commit_time": np.empty(runs, dtype=np.int64),
            "committed_arm": np.empty(runs, dtype=np.int64),
            "pulls": np.empty((runs, arms), dtype=np.int64),
        }
        if simulation.arrivals is not None:
            self.each["answers"] = np.empty(runs, dtype=np.int64)
        if keep_curves:
            self.each["curves"] = np.empty((runs, times))

    def add(self, played: Played) -> None:
        rows = slice(self.count, self.count + len(played.regret))
        self.count = accumulate(self.count, self.mean, self.squares, played.regret)
        found = {**vars(played), "final_regret": played.regret[:, -1], "curves": played.regret}
        for name, array in self.each.items():
            array[rows] = found[name]

    def arrays(self) -> dict[str, Any]:
        """Those of a Result, which takes them over."""
        sem = errors(self.squares, self.count)
        means, gaps = self.simulation.means.copy(), self.simulation.gaps.copy()
        own = {"times": np.array(self.simulation.times), "regret": self.mean, "regret_sem": sem}
        arrays: dict[str, NDArray[Any]] = {**own, **self.each, "means": means, "gaps": gaps}
        for array in arrays.values():
            array.flags.writeable = False  # so that nobody has to copy them
        return arrays


def batch_size(runs: int, entries: int, workers: int, fixed: int | None) -> int:
    """Small enough to share the runs out, large enough for the overhead of a batch not to matter.

    `entries` are the numbers that a run takes in the largest array.
    """
    size = min(LARGEST_BATCH, runs // (8 * workers)) if fixed is None else fixed
    return max(1, min(size, LARGEST_BATCH_ENTRIES // entries))


def chunk_size(runs: int, arms: int, workers: int) -> int:
    """The same of runs of which only sums come back: many batches, so that little has to be sent."""
    return max(1, min(LARGEST_CHUNK, runs // (8 * workers), LARGEST_BATCH_ENTRIES // (4 * arms)))


def shares(runs: range, size: int, workers: int, even: bool = False) -> Iterator[tuple[int, int]]:
    """Spans of that size; unless they are to be even, smaller ones in the end: workers end at once."""
    first, least = runs.start, max(size if even else size // 16, 1)
    while first < runs.stop:
        share = (runs.stop - first) // (2 * workers)
        last = min(first + max(min(size, share), least), runs.stop)
        yield first, last
        first = last


def in_order(
    simulation: Simulation,
    spans: Iterator[tuple[int, int]],
    workers: int,
    executor: Executor | None,
    store: Checkpoint | None = None,
    begun: _Runs | None = None,
    sums: bool = False,
) -> Iterator[Any]:
    """Batches in the order of their runs, played by several workers at once; first those that are begun.

    Each is Totals if only `sums` are kept, else Played. A bounded number is under way. Whatever ends the
    loop, an error, Ctrl-C or a caller that loses interest, stops the workers.
    """
    pool = Threads(workers) if executor is None else Borrowed(executor)
    pending: deque[tuple[tuple[int, int], Answer | Played]] = deque()

    def submit(function: Callable[..., Any], *arguments: Any) -> Answer:
        answer: Answer = SimpleQueue()
        pool.submit(answer, function, *arguments)
        return answer

    def start(span: tuple[int, int]) -> Answer | Played:
        if store is not None and (known := store.load(span)) is not None:
            return known
        return submit(play_sums if sums else play, simulation.part(*span), *span)

    def finish() -> Any:
        span, batch = pending.popleft()
        if isinstance(batch, Played):
            return batch
        played = wait(batch)
        if store is not None:
            store.save(span, played)
        return played

    try:
        if begun is not None:
            first = begun.first
            pending.append(
                ((first, first + begun.count), begun.played() if begun.finished else submit(begun.finish))
            )
        for span in spans:
            pending.append((span, start(span)))
            if len(pending) >= 4 * workers:
                yield finish()
        while pending:
            yield finish()
    finally:
        pool.end()
