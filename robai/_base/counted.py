"""Numbers that are counted: what is left of a distribution when nobody asks which number was whose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BITS = 11  # to which numbers are rounded: by one part in 2^11 at most
_DROPPED = 53 - BITS


@dataclass(frozen=True)
class Counted:
    """Some numbers, each at least 0: which ones there are, increasing, and how often."""

    values: NDArray[Any]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, numbers: NDArray[Any]) -> Counted:
        return cls(*np.unique(numbers, return_counts=True))

    @classmethod
    def rounded(cls, numbers: NDArray[Any]) -> Counted:
        """Of the numbers, each rounded to the nearest with 11 bits: whole ones up to 2,048 are exact."""
        words = numbers.astype(np.float64).view(np.int64)  # in the order of the numbers, which are positive
        rounded = (words + (1 << _DROPPED - 1)) >> _DROPPED << _DROPPED
        return cls.of(rounded.view(np.float64))

    def __add__(self, other: Counted) -> Counted:
        values, place = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return Counted(values, counts)

    def quantile(self, level: float) -> float:
        """As `numpy.quantile` of all the numbers; there has to be one."""
        until = np.cumsum(self.counts)
        place = level * (int(until[-1]) - 1)
        low, high = self.values[np.searchsorted(until, [math.floor(place), math.ceil(place)], side="right")]
        return float(low + (high - low) * (place - math.floor(place)))

    def half(self) -> int:
        """How many of the numbers, the largest, make up half of their sum."""
        values, counts = self.values[::-1], self.counts[::-1]
        total = np.cumsum(values * counts)
        place = int(np.searchsorted(total, 0.5 * total[-1]))
        rest = 0.5 * total[-1] - (total[place - 1] if place else 0.0)
        needed = math.ceil(rest / values[place]) if values[place] else 1
        return int(counts[:place].sum()) + min(max(needed, 1), int(counts[place]))


NOTHING = Counted(np.empty(0), np.empty(0, dtype=np.int64))
