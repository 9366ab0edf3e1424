"""Batches of runs: what a worker plays, and how batches are merged.

A batch is a pure function of (policy, bandit, horizon, times, seed, first run, last run). Run r
depends on the seed and on r alone, and batches are merged in order, run by run, so the numbers
are the same for any number of workers, any executor and any size of batch.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from robai._core.engine import Batch, accumulate
from robai._core.leap import GaussianLeaps, PositiveLeaps
from robai._core.rng import RUNS_PER_BLOCK, seed_block
from robai.bandits import Bandit, Gaussian
from robai.custom import CustomPolicy, play_custom
from robai.policies.base import BasePolicy
from robai.result import Result
from robai.rules import Game

if TYPE_CHECKING:
    from robai._play.checkpoint import Checkpoint

PIECE = 4e6  # nanoseconds that a kernel may take before it returns to Python
LARGEST_BATCH = 1024
LARGEST_BATCH_ENTRIES = 2**21  # of recorded regrets, to bound memory

_seed_block = lru_cache(maxsize=64)(seed_block)  # batches smaller than a block share it


class Interrupted(Exception):
    """Raised in a worker that was told to stop."""


@dataclass(frozen=True)
class Simulation:
    """All that the runs of one simulation have in common."""

    policy: BasePolicy
    bandit: Bandit
    horizon: int
    times: tuple[int, ...]
    entropy: tuple[int, ...]
    spawn_key: tuple[int, ...]
    engine: str

    @property
    def game(self) -> Game:
        bandit = self.bandit
        return Game(bandit.n_arms, self.horizon, bandit.family, bandit.support)

    def states(self, first: int, last: int) -> np.ndarray:
        """The generator's state for runs first, ..., last - 1."""
        blocks = range(first // RUNS_PER_BLOCK, (last - 1) // RUNS_PER_BLOCK + 1)
        rows = np.concatenate([_seed_block(self.entropy, self.spawn_key, block) for block in blocks])
        start = blocks[0] * RUNS_PER_BLOCK
        return rows[first - start : last - start]


@dataclass(frozen=True)
class Played:
    """What a batch of runs returns."""

    regret: np.ndarray  # runs x times
    commit_time: np.ndarray
    committed_arm: np.ndarray
    pulls: np.ndarray


def play(simulation: Simulation, first: int, last: int, stop: threading.Event | None = None) -> Played:
    """Play runs first, ..., last - 1."""
    if isinstance(simulation.policy, CustomPolicy):
        return play_custom(simulation, first, last, stop)
    rules = simulation.policy._start(simulation.game)
    bandit = simulation.bandit
    leaps = GaussianLeaps if isinstance(bandit, Gaussian) else PositiveLeaps
    batch = (leaps if simulation.engine == "leap" else Batch)(
        rules.explore,
        rules.stop,
        rules.commit,
        rules.initial_pulls,
        bandit._core(),
        bandit.means,
        simulation.times,
        simulation.states(first, last),
    )
    while batch.advance(PIECE):
        if stop is not None and stop.is_set():
            raise Interrupted
    return Played(batch.regret, batch.commit_time, batch.committed_arm, batch.pulls)


class Merger:
    """Batches, in the order of their runs, into the arrays of a Result."""

    def __init__(self, times: int, keep_curves: bool) -> None:
        self.count = 0
        self.mean = np.zeros(times)
        self.squares = np.zeros(times)
        self.batches: list[Played] = []
        self.keep_curves = keep_curves

    def add(self, played: Played) -> None:
        self.count = accumulate(self.count, self.mean, self.squares, played.regret)
        kept = played.regret if self.keep_curves else played.regret[:, -1:].copy()
        self.batches.append(replace(played, regret=kept))

    def result(self, simulation: Simulation, meta: dict[str, Any]) -> Result:
        def joined(name: str) -> np.ndarray:
            return np.concatenate([getattr(batch, name) for batch in self.batches])

        with np.errstate(invalid="ignore"):
            sem = np.sqrt(self.squares / np.float64(self.count - 1) / self.count)
        regret = joined("regret")
        return Result(
            times=np.array(simulation.times),
            regret=self.mean,
            regret_sem=sem,
            final_regret=regret[:, -1],
            commit_time=joined("commit_time"),
            committed_arm=joined("committed_arm"),
            pulls=joined("pulls"),
            curves=regret if self.keep_curves else None,
            label=simulation.policy.label(),
            gaps=np.array(simulation.bandit.gaps),
            meta=meta,
        )


def batch_size(runs: int, times: int, workers: int, fixed: int | None) -> int:
    """Small enough to share the runs out, large enough for the overhead of a batch not to matter."""
    size = min(LARGEST_BATCH, runs // (8 * workers)) if fixed is None else fixed
    return max(1, min(size, LARGEST_BATCH_ENTRIES // times))


def in_order(
    simulation: Simulation,
    spans: Iterator[tuple[int, int]],
    workers: int,
    executor: Executor | None,
    store: Checkpoint | None,
) -> Iterator[Played]:
    """Batches in the order of their runs, played by several workers at once.

    A bounded number is under way. Whatever ends the loop, an error, Ctrl-C or a caller that
    loses interest, stops the workers.
    """
    stop = threading.Event()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="robai") if executor is None else executor
    pending: deque[tuple[tuple[int, int], Future | Played]] = deque()

    def begin(span: tuple[int, int]) -> Future | Played:
        known = store.load(span) if store is not None else None
        if known is not None:
            return known
        return pool.submit(play, simulation, *span, *((stop,) if executor is None else ()))

    def finish(span: tuple[int, int], batch: Future | Played) -> Played:
        if isinstance(batch, Played):
            return batch
        played = _wait(batch)
        if store is not None:
            store.save(span, played)
        return played

    try:
        for span in spans:
            pending.append((span, begin(span)))
            if len(pending) >= 4 * workers:
                yield finish(*pending.popleft())
        while pending:
            yield finish(*pending.popleft())
    finally:
        stop.set()
        for _, batch in pending:
            if not isinstance(batch, Played):
                batch.cancel()
        if executor is None:
            pool.shutdown(wait=True, cancel_futures=True)


def _wait(future: Future) -> Played:
    played = None
    while played is None:  # in slices, because a lock that is waited for cannot always be interrupted
        try:
            played = future.result(timeout=0.05)
        except StillRunning:
            if future.done():  # since then, or it is the worker's own error
                played = future.result()
    return played
