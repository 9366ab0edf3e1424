"""What `robai.identify` returns: `Identification` for one policy, `Identifications` for several."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robai._base.intervals import Mean, clopper_pearson
from robai.families import Bounded
from robai.result.analysis import family_of
from robai.result.archive import load, save
from robai.result.arrays import Layout, by_rank, gaps_of, within
from robai.result.digest import mean_over
from robai.result.figures import Reported
from robai.result.identification_text import asked, one_summary, several_summary
from robai.result.runs import Runs, import_pandas
from robai.rules.game import FARTHEST_HORIZON, MOST_ROUNDS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Key = str | tuple[str, int]


class Errors(NamedTuple):
    """How many of the runs that stopped recommend an arm that is not the best, with an exact interval."""

    count: int  # type: ignore[assignment]  # instead of tuple.count, which nobody asks for here
    finished: int
    rate: float
    low: float
    high: float


class Failures(NamedTuple):
    """How many of all runs recommend a wrong arm, or none, with an exact interval."""

    count: int  # type: ignore[assignment]
    runs: int
    rate: float
    low: float
    high: float


class Time(NamedTuple):
    """The stopping time: mean, its standard error, and the rounds by which 10, 50 and 90 % had stopped.

    Runs that did not stop count with the rounds that they were given. If there are any, the mean is
    `at_least` so large; so is a quantile, if it is that number of rounds.
    """

    mean: float
    sem: float
    early: float
    median: float
    late: float
    at_least: bool


class Complexity(NamedTuple):
    """How hard the bandit is, by Garivier and Kaufmann (2016).

    Attributes
    ----------
    time : the characteristic time T*
    weights : the proportions w* of an optimal policy
    lower : T* kl(delta, 1 - delta), which no policy that errs with probability delta at most, on every
        bandit, is below on average; None without a delta
    first_order : T* log(1/delta), to which it comes for small delta; None without a delta
    """

    time: float
    weights: Floats
    lower: float | None
    first_order: float | None


class Proportions(NamedTuple):
    """Which share of its rounds went to each arm, on average over the runs, with standard errors, and w*."""

    shares: Floats
    sem: Floats
    optimal: Floats | None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Identification(Runs, Reported):
    """Stopping times and recommendations of many independent runs of one policy.

    Attributes
    ----------
    stopping_time : rounds played before the run stopped; of a run that did not, those that it was given
    recommended_arm : the arm that the run takes for the best, -1 where it did not stop
    pulls : how often each arm was played until then, runs x arms
    gaps : best mean minus mean, one an arm; runs x arms if every run had means of its own
    means : mean reward of each arm, as `gaps`
    horizon : the most rounds that a run was given; T of the policy if it is that alone that it knows
    delta : the probability of error that the policy was to keep to, or None
    budget : the rounds that it was given to use up, or None
    label : name of the policy in tables and figures
    meta : how the numbers came about, as of `Result`

    Arrays are its own and read-only. Two are equal if all but their `meta` is.
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

        >>> import robai
        >>> found = robai.identify(
        ...     robai.TrackAndStop(), robai.Bernoulli([0.9, 0.1]), delta=0.1, runs=100, rng=0
        ... )
        >>> found.error().count, found.error().finished
        (0, 100)
        """
        return Errors(*_counted(int((self._regrets > 0.0).sum()), int(self.finished.sum()), confidence))

    def failure(self, confidence: float = 0.95) -> Failures:
        """How often a run does not find the best arm: its recommendation is wrong, or it did not stop.

        Whether a policy errs with probability delta at most is to be tested on this number. An elimination
        that has dropped the best arm, and goes on among others that are equally good, never ends: it makes
        no error, and is wrong.
        """
        return Failures(*_counted(int((self._regrets > 0.0).sum()) + self.unfinished, self.runs, confidence))

    def time(self) -> Time:
        """The stopping time, on average and as quantiles."""
        mean, sem = mean_over(self.stopping_time)
        early, median, late = np.quantile(self.stopping_time, (0.1, 0.5, 0.9)).tolist()
        return Time(mean, sem, early, median, late, self.unfinished > 0)

    def simple_regret(self) -> Mean:
        """The gap of the recommended arm, on average over the runs that stopped; NaN if none did."""
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
        """A page for people: runs that did not stop, the time, errors, and where the rounds went."""
        return one_summary(self)

    def __repr__(self) -> str:
        time = self.time()
        least = ">= " * time.at_least
        return f"<Identification {self.label}: runs {self.runs:,}, stopping time {least}{time.mean:,.4g}>"

    def to_dataframe(self) -> pd.DataFrame:
        """A pandas table with a row a run; what a run that did not stop recommends is missing (`<NA>`)."""
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
        """All runs as one: of the same policy on the same bandit, asked the same, with other seeds.

        >>> import robai
        >>> policy, bandit = robai.TrackAndStop(), robai.Bernoulli([0.9, 0.1])
        >>> one, other = (robai.identify(policy, bandit, delta=0.1, runs=50, rng=seed) for seed in (1, 2))
        >>> one.merge(other).runs
        100
        """
        merged, seeds = [self, *others], _seeds(self)
        for each in others:
            if not isinstance(each, Identification):
                raise TypeError(f"others must be Identification objects, got {each!r}")
            for name in ("label", *self.SCALARS):
                if getattr(each, name) != getattr(self, name):
                    own, its = getattr(self, name), getattr(each, name)
                    raise ValueError(f"others must have the same {name}, {own!r}, got {its!r}")
            for name in ("policy", "bandit"):
                if each.meta.get(name) != self.meta.get(name):
                    raise ValueError(f"others must be of the same {name}, got {each.meta.get(name)!r}")
            if each.own_means != self.own_means or not (
                self.own_means or np.array_equal(each.means, self.means, equal_nan=True)
            ):
                raise ValueError(f"others must have the same means, {self.means}, got {each.means}")
            if twice := [seed for seed in _seeds(each) if seed in seeds]:
                raise ValueError(f"others must have seeds of their own, got {twice[0]} twice")
            seeds += _seeds(each)
        names = [name for name, axes in self.LAYOUT.items() if "runs" in axes]
        names += ["gaps", "means"] if self.own_means else []
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(each, name) for each in merged]) for name in names
        }
        seconds = sum(each.meta.get("seconds", 0.0) for each in merged)
        kept = {name: each for name, each in self.meta.items() if name not in ("entropy", "spawn_key")}
        meta = kept | {"runs": sum(each.runs for each in merged), "seconds": seconds, "seeds": seeds}
        return replace(self, **joined, meta=meta)

    def _page(self, title: str | None) -> str:
        return Identifications([self])._page(title)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the distribution of the stopping time; see `robai.plotting.plot_stopping_time`."""
        return Identifications([self]).plot(ax, **options)

    def plot_proportions(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the shares of the arms beside w*; see `robai.plotting.plot_proportions`."""
        return Identifications([self]).plot_proportions(ax, **options)

    def plot_error(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw how often a run fails; see `robai.plotting.plot_error`."""
        return Identifications([self]).plot_error(ax, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one .npz file at exactly `path`; a crash leaves the old file or the new one."""
        save(path, "robai.Identification", [self])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Identification:
        """A new Identification, read from a file that `save` wrote. Nothing in the file is ever executed."""
        return load(path, "robai.Identification", Identification)[0]


def _seeds(found: Identification) -> list[Any]:
    """Of all runs that it is made of, as far as its `meta` tells."""
    known = "entropy" in found.meta
    one = [[found.meta["entropy"], found.meta.get("spawn_key")]] if known else []
    return list(found.meta.get("seeds", one))


def _counted(count: int, of: int, confidence: float) -> tuple[int, int, float, float, float]:
    """With its rate and interval; of nothing, nothing is known."""
    if of == 0:
        return count, of, math.nan, 0.0, 1.0
    return count, of, count / of, *clopper_pearson(count, of, confidence)


class Identifications(Mapping[Key, Identification], Reported):
    """Identifications on the same bandit, by label, in the order given.

    If there are several budgets they are by (label, budget).
    """

    def __init__(self, found: Iterable[Identification]) -> None:
        listed = list(found)
        if not listed:
            raise ValueError("found must hold at least one Identification, got none")
        for each in listed:
            if not isinstance(each, Identification):
                raise TypeError(f"found must hold Identification objects, got {each!r}")
            first = listed[0]
            if not np.array_equal(each.gaps, first.gaps):
                raise ValueError(f"found must share their gaps, got {first.gaps} and {each.gaps}")
            if each.delta != first.delta or (each.budget is None) != (first.budget is None):
                raise ValueError(
                    f"found must be asked the same, got {asked(first)} for {first.label!r}, "
                    f"{asked(each)} for {each.label!r}"
                )
        budgets = len({each.budget for each in listed}) > 1
        self._found: dict[Key, Identification] = {}
        for each in listed:
            key = (each.label, each.budget) if budgets and each.budget is not None else each.label
            if key in self._found:
                raise ValueError(f"found must have different labels, got {key!r} twice")
            self._found[key] = each

    def __getitem__(self, key: Key) -> Identification:
        return self._found[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<Identifications of {', '.join(dict.fromkeys(each.label for each in self.values()))}>"

    def summary(self) -> str:
        """A table with a row a policy, or a policy and a budget."""
        return several_summary(list(self.values()))

    def to_dataframe(self) -> pd.DataFrame:
        """The tables of all, one below the other."""
        frames = [each.to_dataframe() for each in self.values()]
        table: pd.DataFrame = import_pandas().concat(frames, ignore_index=True)
        return table

    def _page(self, title: str | None) -> str:
        from robai.result.identification_page import identifications_page

        return identifications_page(list(self.values()), title)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the distributions of the stopping times; see `robai.plotting.plot_stopping_time`."""
        from robai.plotting import plot_stopping_time

        return plot_stopping_time(list(self.values()), ax, **options)

    def plot_proportions(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the shares of the arms beside w*; see `robai.plotting.plot_proportions`."""
        from robai.plotting import plot_proportions

        return plot_proportions(list(self.values()), ax, **options)

    def plot_error(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw how often a run fails; see `robai.plotting.plot_error`."""
        from robai.plotting import plot_error

        return plot_error(list(self.values()), ax, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all to one .npz file at exactly `path`; a crash leaves the old file or the new one."""
        save(path, "robai.Identifications", list(self.values()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Identifications:
        """New Identifications, read from a file that `save` wrote. Nothing in the file is ever executed."""
        return cls(load(path, "robai.Identifications", Identification))
