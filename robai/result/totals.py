"""What is kept of many runs when the runs are not: exact sums and counts, whose order makes no difference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robai._base.counted import NOTHING, Counted
from robai._base.intervals import Mean
from robai._core.sums import DIGIT_BITS, SQUARE_DIGITS, SUM_DIGITS, add_exactly, carry
from robai.result.arrays import Floats, by_rank, gaps_of, ranks_of

_UNIT = 1074  # sums are in units of 2^-1074, squares of its square


@dataclass
class Totals:
    """Of some runs. Arms are numbered by rank if every run has means of its own.

    Of each column there are the sum and the sum of squares, of which nothing is rounded: of regret at every
    recorded round; of the pulls of every arm; of those of all best arms; of the commitment time, where a run
    that never commits counts as the horizon, and where it counts as 0; of gaps of every run's own, by rank.
    """

    count: int
    wrong: int
    ranked: bool
    commitments: NDArray[np.int64]  # runs that committed to each arm
    sums: NDArray[np.int64]  # columns x digits
    squares: NDArray[np.int64]
    regrets: Counted
    times: Counted

    @classmethod
    def none(cls, times: int, arms: int, own_means: bool) -> Totals:
        """Of no runs."""
        columns = columns_of(times, arms, own_means)
        sums, squares = (np.zeros((columns, n), dtype=np.int64) for n in (SUM_DIGITS, SQUARE_DIGITS))
        commitments = np.zeros(arms, dtype=np.int64)
        return cls(0, 0, own_means, commitments, sums, squares, NOTHING, NOTHING)

    def add_runs(
        self,
        regret: Floats,
        commit_time: NDArray[np.int64],
        committed_arm: NDArray[np.int64],
        pulls: NDArray[np.int64],
        gaps: Floats,
        horizon: int,
    ) -> None:
        """Add runs as an engine returns them."""
        committed = committed_arm >= 0
        arms, own = committed_arm[committed], gaps.ndim == 2
        chosen = gaps_of(arms, gaps[committed] if own else gaps)
        if own:
            arms = ranks_of(arms, gaps[committed])
        each = [
            regret,
            by_rank(pulls, gaps) if own else pulls,
            np.where(gaps == 0.0, pulls, 0).sum(axis=1, keepdims=True),
            np.where(committed, commit_time, horizon)[:, np.newaxis],
            np.where(committed, commit_time, 0)[:, np.newaxis],
            *([np.sort(gaps, axis=1)] if own else []),
        ]
        first = 0
        for columns in each:
            rows = slice(first, first := first + columns.shape[1])
            given = np.ascontiguousarray(columns, dtype=np.float64)
            add_exactly(given, self.sums[rows], self.squares[rows])
        self.count += len(regret)
        self.wrong += int(np.count_nonzero(chosen > 0.0))
        self.commitments += np.bincount(arms, minlength=len(self.commitments))
        self.regrets += Counted.rounded(regret[:, -1])
        self.times += Counted.rounded(commit_time[committed])

    def add(self, other: Totals) -> None:
        """Add other runs."""
        self.count += other.count
        self.wrong += other.wrong
        self.commitments = self.commitments + other.commitments
        self.sums, self.squares = self.sums + other.sums, self.squares + other.squares
        carry(self.sums)
        carry(self.squares)
        self.regrets += other.regrets
        self.times += other.times

    def arrays(self) -> dict[str, Any]:
        """Those of a Summary, and its numbers."""
        return {
            "count": self.count,
            "wrong": self.wrong,
            "ranked": self.ranked,
            "choices": self.commitments,
            "sum_digits": self.sums.ravel(),
            "square_digits": self.squares.ravel(),
            "regrets": len(self.regrets.values),
            "counted": np.concatenate([self.regrets.values, self.times.values]),
            "counts": np.concatenate([self.regrets.counts, self.times.counts]),
        }

    @classmethod
    def of_arrays(cls, given: Mapping[str, Any]) -> Totals:
        """Of such arrays, from a file that may be damaged: a ValueError if they do not fit each other."""
        digits = [
            given[name].reshape(-1, each)
            for name, each in (("sum_digits", SUM_DIGITS), ("square_digits", SQUARE_DIGITS))
        ]
        regrets, times = slice(given["regrets"]), slice(given["regrets"], None)
        counted = [Counted(given["counted"][part], given["counts"][part]) for part in (regrets, times)]
        return cls(given["count"], given["wrong"], given["ranked"], given["choices"], *digits, *counted)

    def mean_gaps(self, times: int) -> Floats:
        """By rank, of gaps of every run's own."""
        first = columns_of(times, len(self.commitments), False)
        return np.array([self.mean(column).value for column in range(first, len(self.sums))])

    def mean(self, column: int, count: int | None = None) -> Mean:
        """Of a column, over all runs or the `count` of them in which it is not 0, and its standard error."""
        return mean_of_sums(self.sums[column], self.squares[column], self.count if count is None else count)


def columns_of(times: int, arms: int, own_means: bool) -> int:
    return times + arms * (2 if own_means else 1) + 3


def size_of(times: int, arms: int, own_means: bool) -> int:
    """Bytes of the sums."""
    return 8 * columns_of(times, arms, own_means) * (SUM_DIGITS + SQUARE_DIGITS)


def mean_of_sums(sums: NDArray[np.int64], squares: NDArray[np.int64], count: int) -> Mean:
    """The mean, and its standard error: each of whole numbers, and rounded once or twice."""
    total, of_squares = _whole(sums), _whole(squares)
    deviations = count * of_squares - total * total
    if deviations < 0:
        raise ValueError(f"squares must be those of {count:,} numbers with this sum, got too little")
    try:
        value = total / (count << _UNIT)
        if count == 1:  # which cannot tell
            return Mean(value, math.nan)
        return Mean(value, math.sqrt(deviations / (count * count * (count - 1) << 2 * _UNIT)))
    except OverflowError as error:
        raise ValueError(f"sums must be those of {count:,} finite numbers, got more") from error


def _whole(digits: NDArray[np.int64]) -> int:
    places = np.flatnonzero(digits)
    pairs = zip(places.tolist(), digits[places].tolist(), strict=True)
    return sum(digit << DIGIT_BITS * place for place, digit in pairs)
