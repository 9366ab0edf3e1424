"""Seeds: what `rng` stands for, and the generator's state of each run."""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robai._base import checks
from robai._core.rng import RUNS_PER_BLOCK, seed_block
from robai.instances import Instances

Rng = None | int | np.random.SeedSequence | np.random.Generator

POOL_SIZE = 4  # of a SeedSequence
INSTANCES = 0x1A57  # in the spawn keys of means, which are drawn apart from the rewards

_seed_block = lru_cache(maxsize=64)(seed_block)  # batches smaller than a block share it


class Seed(NamedTuple):
    """Entropy and spawn key of a SeedSequence, and whether they are fresh from the system."""

    entropy: tuple[int, ...]
    spawn_key: tuple[int, ...] = ()
    fresh: bool = False

    @classmethod
    def of(cls, rng: Any) -> Seed:
        if isinstance(rng, np.random.Generator):
            return cls(tuple(int(word) for word in rng.integers(0, 2**32, size=8)))
        if not (rng is None or isinstance(rng, np.random.SeedSequence)):
            return cls((_number(rng),))
        sequence = np.random.SeedSequence() if rng is None else rng
        if sequence.pool_size != POOL_SIZE:
            raise ValueError(f"rng must have a pool_size of {POOL_SIZE}, got {rng!r}")
        entropy: Any = sequence.entropy  # whatever the caller made it of; never None, one is drawn then
        words = (entropy,) if isinstance(entropy, int | np.integer) else tuple(entropy)
        try:
            return cls(tuple(map(operator.index, words)), tuple(map(int, sequence.spawn_key)), rng is None)
        except TypeError:  # SeedSequence(["12"]) is possible
            raise TypeError(f"rng must have whole numbers as its entropy, got {rng!r}") from None

    def states(self, first: int, last: int) -> NDArray[np.uint64]:
        """The generator's state for runs first, ..., last - 1."""
        blocks = range(first // RUNS_PER_BLOCK, (last - 1) // RUNS_PER_BLOCK + 1)
        rows = np.concatenate([_seed_block(self.entropy, self.spawn_key, block) for block in blocks])
        start = blocks[0] * RUNS_PER_BLOCK
        return rows[first - start : last - start]

    def means(self, instances: Instances, runs: range) -> NDArray[np.float64]:
        """The means of these runs, drawn for a whole block of runs at a time."""
        drawn = np.empty((len(runs), instances.n_arms))
        for block in range(runs.start // RUNS_PER_BLOCK, (runs.stop - 1) // RUNS_PER_BLOCK + 1):
            sequence = np.random.SeedSequence(self.entropy, spawn_key=(*self.spawn_key, INSTANCES, block))
            rng = np.random.Generator(np.random.PCG64(sequence))
            start = block * RUNS_PER_BLOCK
            rows = instances.draw(rng, range(start, start + RUNS_PER_BLOCK))
            first, last = max(runs.start, start), min(runs.stop, start + RUNS_PER_BLOCK)
            drawn[first - runs.start : last - runs.start] = rows[first - start : last - start]
        return drawn


def _number(rng: Any) -> int:
    try:
        return checks.whole("rng", rng, 0, 2**128 - 1)
    except TypeError:
        kinds = "None, a whole number, a SeedSequence or a Generator"
        raise TypeError(f"rng must be {kinds}, got {rng!r}") from None
