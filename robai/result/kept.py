"""What `keep="summary"` returns for one policy: `Summary`."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from robai._base.counted import BITS, Counted
from robai._base.intervals import Mean
from robai._core.sums import DIGIT_BITS, SQUARE_DIGITS, SUM_DIGITS
from robai.result.archive import load, save
from robai.result.arrays import MOST_RUNS, Layout, within
from robai.result.merging import joined
from robai.result.result import Result
from robai.result.totals import Totals, columns_of

_OF_RUNS = ("final_regret", "commit_time", "committed_arm", "committed", "pulls", "curves", "answers")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Summary(Result):
    """A result without its single runs, as small for 10^9 runs as for 10; of `simulate(..., keep="summary")`.

    Means, standard errors, counts and shares are those of all runs: sums are exact, so that neither the order
    of the runs nor the parts that they were played in make a difference. Quantiles are of final regrets and
    commitment times that were rounded to 11 bits, so that they are wrong by a part in 2,048 at most; those
    of whole numbers up to 2,048 are exact. What needs single runs, such as `final_regret` or pairs of runs,
    is an AttributeError that says so.

    Attributes
    ----------
    times : ndarray of int
        Rounds at which regret was recorded, increasing; the last is the horizon.
    regret : ndarray of float
        Mean over the runs of the cumulative pseudo-regret at `times`.
    regret_sem : ndarray of float
        Its standard error, NaN throughout if there was one run only, which cannot tell.
    gaps : ndarray of float
        Best mean minus mean, one an arm. If every run had means of its own, arms are ranks, from the best of
        the run to the worst, and these are means over the runs.
    label : str
        Name of the policy in tables and figures.
    means : ndarray of float
        Mean reward of each arm; NaN if every run had its own.
    meta : dict
        How the numbers came about, as of `Result`.
    count, wrong : int
        How many runs there were, and how many of them committed to an arm with a positive gap.
    ranked : bool
        Whether every run had means of its own.
    choices : ndarray of int
        How many runs committed to each arm.
    sum_digits, square_digits : ndarray of int
        The exact sums of which the means are made: digits of 18 bits.
    counted, counts : ndarray
        Numbers rounded to 11 bits and how often each was found: final regrets, then commitment times.
    regrets : int
        How many of `counted` are final regrets.

    Examples
    --------
    >>> import robai
    >>> policy, bandit = robai.EOCPUG(), robai.Gaussian([0.7, 0.2])
    >>> result = robai.simulate(policy, bandit, 10**6, 1000, rng=0, keep="summary")
    >>> result
    <Summary EOCPUG(): horizon 1,000,000, runs 1,000, regret 40.60 ± 0.59>
    >>> result.commitments.tolist()
    [1000, 0]
    >>> result.final_regret
    Traceback (most recent call last):
    ...
    AttributeError: final_regret is of single runs, and keep='summary' keeps none: simulate with keep='runs'
    """

    KEEP: ClassVar[str] = "summary"
    single: ClassVar[bool] = False
    LAYOUT: ClassVar[Layout] = {
        "times": ("times",),
        "gaps": ("arms",),
        "means": ("arms",),
        "choices": ("arms",),
        "sum_digits": ("digits of sums",),
        "square_digits": ("digits of squares",),
        **dict.fromkeys(("counted", "counts"), ("counted numbers",)),
    }
    OPTIONAL: ClassVar[tuple[str, ...]] = ()
    SCALARS: ClassVar[tuple[str, ...]] = ("count", "wrong", "ranked", "regrets")

    # What there is of Result, and is computed or missing here.
    regret: NDArray[np.float64] = field(init=False)
    regret_sem: NDArray[np.float64] = field(init=False)
    final_regret: NDArray[np.float64] = field(init=False)
    commit_time: NDArray[np.int64] = field(init=False)
    committed_arm: NDArray[np.int64] = field(init=False)
    pulls: NDArray[np.int64] = field(init=False)
    curves: NDArray[np.float64] | None = field(init=False)
    answers: NDArray[np.int64] = field(init=False)

    count: int
    wrong: int
    ranked: bool
    choices: NDArray[np.int64]
    sum_digits: NDArray[np.int64]
    square_digits: NDArray[np.int64]
    regrets: int
    counted: NDArray[np.float64]
    counts: NDArray[np.int64]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name in _OF_RUNS:
                raise AttributeError(
                    f"{name} is of single runs, and keep='summary' keeps none: simulate with keep='runs'"
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def _totals(self) -> Totals:
        """What it was made of."""
        return Totals.of_arrays(vars(self))

    def _check(self) -> None:
        """Counts and sums agree, as far as can be seen without the runs."""
        require, times, all_runs = self._require, self.times, self.count
        require("times", times[0] >= 1 and (times[1:] > times[:-1]).all(), "increasing and at least 1")
        for name in ("count", "wrong", "regrets"):
            require(name, type(getattr(self, name)) is int, "a whole number")
        require("ranked", type(self.ranked) is bool, "True or False")
        columns, last = columns_of(len(times), self.n_arms, self.ranked), (1 << DIGIT_BITS) - 1
        for name, each in (("sum_digits", SUM_DIGITS), ("square_digits", SQUARE_DIGITS)):
            digits = getattr(self, name)
            require(
                name, len(digits) == columns * each and within(digits, 0, last), f"{columns} x {each} digits"
            )
        committed = int(self.choices.sum())
        require("count", 1 <= all_runs <= MOST_RUNS, f"between 1 and {MOST_RUNS:,}")
        require(
            "choices", within(self.choices, 0, all_runs) and committed <= all_runs, f"of {all_runs:,} runs"
        )
        certain = committed if self.ranked else int(self.choices[self.gaps > 0.0].sum())
        require(
            "wrong", 0 <= self.wrong <= certain and (self.ranked or self.wrong == certain), f"{certain:,}"
        )
        require("regrets", 0 < self.regrets <= len(self.counted), f"up to {len(self.counted)}")
        found = self._totals
        for counted, of in ((found.regrets, all_runs), (found.times, committed)):
            increasing = within(counted.values) and (np.diff(counted.values) > 0.0).all()
            require("counted", increasing, "finite, at least 0 and increasing twice")
            require(
                "counts", within(counted.counts, 1, all_runs) and counted.counts.sum() == of, f"{of:,} in all"
            )
        means = np.array([found.mean(column) for column in range(len(times))])
        for name, values in zip(("regret", "regret_sem"), means.T.copy(), strict=True):
            values.flags.writeable = False
            object.__setattr__(self, name, values.view())
        shares, shown = np.array([mean.value for mean in self._shares()]), float(self.regret[-1])
        require("sum_digits", math.isclose(shares.sum(), 1.0, rel_tol=1e-9), "of pulls in every round")
        if not self.ranked:
            regret = float(shares @ self.gaps) * self.horizon
            require("sum_digits", math.isclose(regret, shown, rel_tol=1e-9), "the regret of the pulls")
        rounded = float(found.regrets.values @ found.regrets.counts) / all_runs
        require("counted", math.isclose(rounded, shown, rel_tol=0.5**BITS + 1e-9), "the final regrets")

    @property
    def runs(self) -> int:
        """The number of runs."""
        return self.count

    @property
    def own_means(self) -> bool:
        """Whether every run had means of its own."""
        return self.ranked

    @property
    def best_arm(self) -> int | None:
        """The arm with gap 0, or None if there are several; the first if every run had means of its own."""
        best = np.flatnonzero(self.gaps == 0.0)
        return int(best[0]) if self.ranked or len(best) == 1 else None

    @property
    def commitments(self) -> NDArray[np.int64]:
        """How many runs committed to each arm."""
        return self.choices

    def _quantiles(self, levels: Sequence[float]) -> tuple[float, ...]:
        return tuple(map(self._totals.regrets.quantile, levels))

    def _when(self) -> tuple[Mean | None, float | None, Mean]:
        found, committed = self._totals, int(self.choices.sum())
        column = len(self.times) + self.n_arms + 1  # of the commitment time
        capped = found.mean(column)
        if not committed:
            return None, None, capped
        return found.mean(column + 1, committed), found.times.quantile(0.5), capped

    def _regrets(self) -> Counted:
        return self._totals.regrets

    def _commit_times(self) -> Counted:
        return self._totals.times

    def _wrong(self) -> int:
        return self.wrong

    def _shares(self) -> list[Mean]:
        first = len(self.times)
        return [self._share(column) for column in range(first, first + self.n_arms)]

    def _best_share(self) -> float:
        return self._share(len(self.times) + self.n_arms).value

    def _share(self, column: int) -> Mean:
        value, sem = self._totals.mean(column)
        return Mean(value / self.horizon, sem / self.horizon)

    def merge(self, *others: Result) -> Summary:
        """All runs as one, as `Result.merge`; the same, bit for bit, as if they had been played together.

        Parameters
        ----------
        *others : Summary
            What to add.

        Returns
        -------
        Summary

        Examples
        --------
        >>> import robai
        >>> ask = {"bandit": robai.Gaussian([0.7, 0.2]), "horizon": 1000, "rng": 0, "keep": "summary"}
        >>> parts = [robai.simulate(robai.UCB(), **ask, runs=runs) for runs in (range(60), range(60, 100))]
        >>> parts[1].merge(parts[0]) == robai.simulate(robai.UCB(), **ask, runs=100)
        True
        """
        every, meta = joined(self, list(others), ("times", "ranked"))
        totals = Totals.none(len(self.times), self.n_arms, self.ranked)
        for each in every:
            totals.add(Totals.of_arrays(vars(each)))
        gaps = totals.mean_gaps(len(self.times)) if self.ranked else self.gaps
        return replace(self, **totals.arrays(), gaps=gaps, meta=meta)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one .npz file; a crash leaves the old file or the new one.

        Parameters
        ----------
        path : path
            Exactly where; no suffix is added.

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> kept = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 10, rng=0, keep="summary")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kept.save(os.path.join(folder, "ucb.npz"))
        ...     robai.Summary.load(os.path.join(folder, "ucb.npz")) == kept
        True
        """
        save(path, "robai.Summary", [self])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Summary:
        """A new Summary, read from a file that `save` wrote. Nothing in the file is ever executed.

        Parameters
        ----------
        path : path
            Of the file.

        Returns
        -------
        Summary

        Raises
        ------
        ValueError
            If the file is damaged, or not of a Summary.

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> kept = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 10, rng=0, keep="summary")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "ucb.npz")
        ...     kept.save(path)
        ...     robai.Summary.load(path).runs
        10
        """
        return load(path, "robai.Summary", Summary)[0]
