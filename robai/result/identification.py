"""What `robai.identify` returns for one policy: `Identification`."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from robai._base.intervals import Mean, clopper_pearson
from robai.families import Bounded
from robai.result.analysis import family_of
from robai.result.archive import load, save
from robai.result.arrays import Layout, by_rank, gaps_of, within
from robai.result.digest import mean_over
from robai.result.figures import Found
from robai.result.identification_numbers import Complexity, Errors, Failures, Floats, Proportions, Time
from robai.result.identification_text import one_summary
from robai.result.merging import joined
from robai.result.runs import Runs, import_pandas
from robai.rules.game import FARTHEST_HORIZON, MOST_ROUNDS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Identification(Runs, Found):
    """Stopping times and recommendations of many independent runs of one policy; see `robai.identify`.

    Arrays are its own and read-only. Two are equal if all but their `meta` is.

    Attributes
    ----------
    stopping_time : ndarray of int
        Rounds played before the run stopped; of a run that did not, those that it was given.
    recommended_arm : ndarray of int
        The arm that the run takes for the best, -1 where it did not stop.
    pulls : ndarray of int
        How often each arm was played until then, runs x arms.
    gaps : ndarray of float
        Best mean minus mean, one an arm; runs x arms if every run had means of its own.
    means : ndarray of float
        Mean reward of each arm, as `gaps`.
    horizon : int or float
        The most rounds that a run was given; T of the policy if it is that alone that it knows.
    label : str
        Name of the policy in tables and figures.
    delta : float or None
        The probability of error that the policy was to keep to.
    budget : int or None
        The rounds that it was given to use up.
    meta : dict
        How the numbers came about, as of `Result`.

    Examples
    --------
    >>> import robai
    >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
    >>> found, found.recommended_arm[:5].tolist()
    (<Identification TTUCB(): runs 100, stopping time 29.13>, [0, 0, 0, 0, 0])
    """

    LAYOUT: ClassVar[Layout] = {
        "stopping_time": ("runs",),
        "recommended_arm": ("runs",),
        "gaps": ("arms",),
        "means": ("arms",),
        "pulls": ("runs", "arms"),
    }
    SCALARS: ClassVar[tuple[str, ...]] = ("horizon", "delta", "budget")

    stopping_time: NDArray[np.int64]
    recommended_arm: NDArray[np.int64]
    pulls: NDArray[np.int64]
    gaps: Floats
    means: Floats
    horizon: int | float
    label: str
    delta: float | None = None
    budget: int | None = None
    meta: dict[str, Any] = field(default_factory=dict, compare=False)

    def _check(self) -> None:
        number = isinstance(self.horizon, int | float) and not isinstance(self.horizon, bool)
        self._require("horizon", number and 1 <= self.horizon <= FARTHEST_HORIZON, "a number from 1 to 1e100")
        delta = self.delta is None or (isinstance(self.delta, float) and 0.0 < self.delta < 1.0)
        self._require("delta", delta, "None or between 0 and 1")
        budget = self.budget is None or (self.delta is None and self.budget == self.horizon)
        self._require("budget", budget, f"None, or the horizon {self.horizon:,} and delta None")
        time, arm, last = self.stopping_time, self.recommended_arm, self.n_arms - 1
        self._require("stopping_time", within(time, 0, self.rounds), f"between 0 and {self.rounds:,}")
        self._require("recommended_arm", within(arm, -1, last), f"between -1 and {last}")
        if (time[arm < 0] != self.rounds).any():
            raise ValueError(f"stopping_time must be {self.rounds:,} where recommended_arm is -1, got {time}")
        # Sums of integers wrap round; as floats they do not.
        sums = self.pulls.sum(axis=1), self.pulls.sum(axis=1, dtype=np.float64)
        if self.pulls.min() < 0 or (sums[0] != time).any() or (sums[1] > 1.5 * self.rounds).any():
            raise ValueError(f"pulls must be at least 0 and sum to stopping_time, got {self.pulls}")

    @property
    def rounds(self) -> int:
        """The most that a run could have: the horizon, or 2^62 if that is less."""
        return int(min(self.horizon, MOST_ROUNDS))

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Which runs stopped and recommend an arm."""
        return self.recommended_arm >= 0

    @property
    def unfinished(self) -> int:
        """How many runs did not stop."""
        return int((~self.finished).sum())

    @property
    def _regrets(self) -> Floats:
        """The gap of the recommended arm, of the runs that stopped."""
        gaps = self.gaps[self.finished] if self.own_means else self.gaps
        return gaps_of(self.recommended_arm[self.finished], gaps)

    def error(self, confidence: float = 0.95) -> Errors:
        """How often a recommendation is wrong, among the runs that stopped, with an exact interval.

        Wrong is an arm with a positive gap: where several arms are best, each of them is right. It says
        nothing of runs that did not stop, which is where the errors of some policies are: see `failure`.

        Parameters
        ----------
        confidence : float
            Of the interval.

        Returns
        -------
        Errors

        Examples
        --------
        >>> import robai
        >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=1000, rng=0)
        >>> found.error().count, found.error().finished
        (1, 1000)
        """
        return Errors(*_counted(int((self._regrets > 0.0).sum()), int(self.finished.sum()), confidence))

    def failure(self, confidence: float = 0.95) -> Failures:
        """How often a run does not find the best arm: its recommendation is wrong, or it did not stop.

        Whether a policy errs with probability delta at most is to be tested on this number. An elimination
        that has dropped the best arm, and goes on among others that are equally good, never ends: it makes
        no error, and is wrong.

        Parameters
        ----------
        confidence : float
            Of the interval.

        Returns
        -------
        Failures

        Examples
        --------
        >>> import robai
        >>> bandit, policy = robai.Gaussian([1, 0]), robai.TTUCB()
        >>> found = robai.identify(policy, bandit, delta=0.1, horizon=30, runs=1000, rng=0)
        >>> found.unfinished, found.error().count, found.failure().rate
        (372, 1, 0.373)
        """
        return Failures(*_counted(int((self._regrets > 0.0).sum()) + self.unfinished, self.runs, confidence))

    def time(self) -> Time:
        """The stopping time, on average and as quantiles.

        Returns
        -------
        Time

        Examples
        --------
        >>> import robai
        >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
        >>> round(found.time().mean, 1), found.time().median
        (29.1, 21.5)
        """
        mean, sem = mean_over(self.stopping_time)
        early, median, late = np.quantile(self.stopping_time, (0.1, 0.5, 0.9)).tolist()
        return Time(mean, sem, early, median, late, self.unfinished > 0)

    def simple_regret(self) -> Mean:
        """The gap of the recommended arm, on average over the runs that stopped; NaN if none did.

        Returns
        -------
        Mean

        Examples
        --------
        >>> import robai
        >>> bandit = robai.Bernoulli([0.6, 0.5, 0.4])
        >>> found = robai.identify(robai.SuccessiveRejects(), bandit, budget=100, runs=1000, rng=0)
        >>> round(found.simple_regret().value, 4)
        0.0274
        """
        return mean_over(self._regrets) if self.finished.any() else Mean(math.nan, math.nan)

    @property
    def complexity(self) -> Complexity | None:
        """What is known of the difficulty of the bandit; see `robai.theory.weights`.

        None where that has no meaning or cannot be told: rewards without a family, or of any law in an
        interval; several best arms; means of every run's own.

        >>> import robai
        >>> found = robai.identify(
        ...     robai.TrackAndStop(), robai.Gaussian([0.7, 0.2], sigma=2), delta=0.1, runs=10, rng=0
        ... )
        >>> round(found.complexity.time, 6), found.complexity.weights.round(6).tolist()
        (128.0, [0.5, 0.5])
        """
        from robai.theory import weights  # which is not loaded with the package

        try:
            family = family_of(self.meta)
            if self.own_means or isinstance(family, Bounded):
                return None
            shares, time = weights(self.means, family=family)
        except (KeyError, TypeError, ValueError):
            return None
        if not (math.isfinite(time) and np.isfinite(shares).all()):
            return None
        delta = self.delta
        if delta is None:
            return Complexity(time, shares, None, None)
        # From delta = 1/2 on, which a guess between two arms keeps to, there is no bound.
        divergence = max(1.0 - 2.0 * delta, 0.0) * math.log((1.0 - delta) / delta)
        return Complexity(time, shares, time * divergence, -time * math.log(delta))

    def proportions(self) -> Proportions:
        """Which share of its rounds went to each arm, beside the optimal proportions w*.

        If every run had means of its own, arms are in the order of its gaps, from the best to the worst.

        Returns
        -------
        Proportions

        Examples
        --------
        >>> import robai
        >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0, 0]), delta=0.01, runs=100, rng=0)
        >>> found.proportions().shares.round(2).tolist()
        [0.48, 0.26, 0.26]
        """
        pulls = by_rank(self.pulls, self.gaps) if self.own_means else self.pulls
        # A run that stopped before its first round has no shares: all are 0.
        shares = pulls / np.maximum(self.stopping_time, 1)[:, np.newaxis]
        error = np.full(self.n_arms, math.nan)  # which one run cannot tell
        if self.runs > 1:
            error = shares.std(axis=0, ddof=1) / math.sqrt(self.runs)
        found = self.complexity
        return Proportions(shares.mean(axis=0), error, None if found is None else found.weights)

    def summary(self) -> str:
        r"""A page for people: runs that did not stop, the time, errors, and where the rounds went.

        Returns
        -------
        str

        Examples
        --------
        >>> import robai
        >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
        >>> print("\n".join(found.summary().splitlines()[5:9]))
        rounds      29.1 ± 2.4  (mean ± standard error)
                    10 % of the runs stopped by 7, half by 22, 90 % by 68
                    2.07 times the lower bound, T* kl(delta, 1 - delta) = 14.1
        errors      0 of 100, 0 % (0 % to 3.6 %)
        """
        return one_summary(self)

    def __repr__(self) -> str:
        time = self.time()
        least = ">= " * time.at_least
        return f"<Identification {self.label}: runs {self.runs:,}, stopping time {least}{time.mean:,.4g}>"

    def to_dataframe(self) -> pd.DataFrame:
        """A pandas table with a row a run; what a run that did not stop recommends is missing (`<NA>`).

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import robai
        >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
        >>> list(found.to_dataframe())
        ['policy', 'run', 'stopping_time', 'recommended_arm', 'wrong', 'pulls_0', 'pulls_1']
        """
        pandas, never = import_pandas(), ~self.finished
        wrong = np.zeros(self.runs, dtype=bool)
        wrong[self.finished] = self._regrets > 0.0
        columns = {
            "policy": self.label,
            **({} if self.budget is None else {"budget": self.budget}),
            "run": np.arange(self.runs),
            "stopping_time": self.stopping_time,
            "recommended_arm": pandas.arrays.IntegerArray(self.recommended_arm.copy(), never),
            "wrong": pandas.arrays.BooleanArray(wrong, never.copy()),
        }
        names = self.names or range(self.n_arms)
        columns |= {f"pulls_{name}": self.pulls[:, arm] for arm, name in enumerate(names)}
        table: pd.DataFrame = pandas.DataFrame(columns)
        return table

    def merge(self, *others: Identification) -> Identification:
        """All runs as one: further runs of the same seed (`runs=range(...)`), or of other seeds.

        Apart from their runs all has to be the same: policy, bandit, what was asked. Runs are put in order.

        Parameters
        ----------
        *others : Identification
            What to add.

        Returns
        -------
        Identification

        Examples
        --------
        >>> import robai
        >>> policy, bandit = robai.TrackAndStop(), robai.Bernoulli([0.9, 0.1])
        >>> one, other = (robai.identify(policy, bandit, delta=0.1, runs=50, rng=seed) for seed in (1, 2))
        >>> one.merge(other).runs
        100
        """
        every, meta = joined(self, others, self.SCALARS)
        names = [name for name, axes in self.LAYOUT.items() if "runs" in axes]
        names += ["gaps", "means"] if self.own_means else []
        merged: dict[str, Any] = {
            name: np.concatenate([getattr(each, name) for each in every]) for name in names
        }
        return replace(self, **merged, meta=meta)

    def _drawn(self) -> list[Identification]:
        return [self]

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
        >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=10, rng=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(os.path.join(folder, "found.npz"))
        ...     robai.Identification.load(os.path.join(folder, "found.npz")) == found
        True
        """
        save(path, "robai.Identification", [self])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Identification:
        """A new Identification, read from a file that `save` wrote. Nothing in the file is ever executed.

        Parameters
        ----------
        path : path
            Of the file.

        Returns
        -------
        Identification

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=10, rng=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(os.path.join(folder, "found.npz"))
        ...     robai.Identification.load(os.path.join(folder, "found.npz")).delta
        0.1
        """
        return load(path, "robai.Identification", Identification)[0]


def _counted(count: int, of: int, confidence: float) -> tuple[int, int, float, float, float]:
    """With its rate and interval; of nothing, nothing is known."""
    if of == 0:
        return count, of, math.nan, 0.0, 1.0
    return count, of, count / of, *clopper_pearson(count, of, confidence)
