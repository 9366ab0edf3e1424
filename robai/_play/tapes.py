"""Runs of a mixture, in batches, and what their weights sum to."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from robai._core.tapes import Mixed
from robai._play.batches import PIECE
from robai._play.mixture import Mixture
from robai._play.request import Simulation
from robai._play.tilts import Floats
from robai._play.workers import Answer, Borrowed, Interrupted, Stop, Threads, wait

BATCH = 512  # runs: fixed, as sums are rounded by the batch


@dataclass(frozen=True)
class Weights:
    """What the weights of some runs sum to, in units of exp(-offset) of their mixture."""

    runs: int
    hits: int  # runs with a weight
    total: float
    squares: float
    largest: float

    def __add__(self, other: Weights) -> Weights:
        return Weights(
            self.runs + other.runs,
            self.hits + other.hits,
            self.total + other.total,
            self.squares + other.squares,
            max(self.largest, other.largest),
        )

    @property
    def mean(self) -> float:
        return self.total / self.runs

    @property
    def variance(self) -> float:
        """Of the mean."""
        return max(self.squares / self.runs - self.mean**2, 0.0) / self.runs


class Batch(NamedTuple):
    """What a worker returns."""

    weights: Weights
    explained: Floats  # by each component
    sides: Floats  # by each tilt of other arms


def play(simulation: Simulation, mixture: Mixture, best: int, first: int, last: int, stop: Stop) -> Batch:
    """Runs first, ..., last - 1; Interrupted if it is told to stop."""
    runs = Mixed(
        *simulation.policy.start(simulation.game),
        simulation.bandit._core(),
        simulation.means,
        simulation.times,
        simulation.seed.states(first, last),
        best,
        mixture=mixture,
        limit=mixture.limit,
    )
    while runs.advance(PIECE):
        if stop.is_set():
            raise Interrupted
    w = np.exp(runs.log_weight + mixture.offset)
    hits = int(np.count_nonzero(w))
    weights = Weights(last - first, hits, math.fsum(w), math.fsum(np.square(w)), float(w.max()))
    return Batch(weights, runs.explained, runs.explained_sides)


def in_order(
    simulation: Simulation,
    mixture: Mixture,
    best: int,
    runs: range,
    workers: int,
    executor: Executor | None,
) -> Iterator[Batch]:
    """Batches in the order of their runs, which are the same for any workers and any executor."""
    pool = Threads(workers) if executor is None else Borrowed(executor)
    pending: deque[Answer] = deque()
    try:
        for first in range(runs.start, runs.stop, BATCH):
            answer: Answer = SimpleQueue()
            pool.submit(answer, play, simulation, mixture, best, first, min(first + BATCH, runs.stop))
            pending.append(answer)
            if len(pending) >= 4 * workers:
                yield wait(pending.popleft())
        while pending:
            yield wait(pending.popleft())
    finally:
        pool.end()
