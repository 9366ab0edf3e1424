"""What a simulation of one policy returns: `Result`."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from robai._base.counted import Counted
from robai._base.intervals import Mean, clopper_pearson
from robai.result.archive import load, save
from robai.result.arrays import Layout, agree, by_rank, gaps_of, ranks_of, within
from robai.result.digest import Digest, WrongCommit, mean_over
from robai.result.frames import frame_of
from robai.result.merging import joined, of_means, of_rows
from robai.result.methods import OfOne
from robai.result.runs import Runs
from robai.result.text import mean_text, result_summary

if TYPE_CHECKING:
    import pandas as pd

_PIECE = 2**20  # entries to check at a time, for little memory and a quick Ctrl-C


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(Runs, OfOne):
    """Regret and commitments of many independent runs of one policy; what `robai.simulate` returns.

    Arrays are the result's own and read-only, in copies and pickles too. Results are equal if their labels
    and all their numbers are; `meta` may differ.

    Attributes
    ----------
    times : ndarray of int
        Rounds at which regret was recorded, increasing; the last is the horizon.
    regret : ndarray of float
        Mean over the runs of the cumulative pseudo-regret at `times`.
    regret_sem : ndarray of float
        Its standard error, NaN throughout if there was one run only, which cannot tell.
    final_regret : ndarray of float
        Cumulative pseudo-regret at the horizon, one a run.
    commit_time : ndarray of int
        Round of the commitment, one a run, -1 where the run never committed.
    committed_arm : ndarray of int
        The arm committed to, one a run, -1 where the run never committed.
    pulls : ndarray of int
        How often each arm was played, runs x arms.
    gaps : ndarray of float
        Best mean minus mean, one an arm; 0 for the best. Runs x arms if every run had means of its own
        (`robai.Instances`): arms are then those of the run everywhere, and averages over runs and instances.
    label : str
        Name of the policy in tables and figures.
    means : ndarray of float
        Mean reward of each arm, as `gaps`; NaN if they are not known, in files of earlier versions.
    curves : ndarray of float, or None
        Cumulative pseudo-regret of every run at `times`, runs x times, or None if it was not kept.
    answers : ndarray of int
        How many rewards had counted at the commitment: `commit_time`, unless rewards are late.
    meta : dict
        How the numbers came about: policy and bandit (as `to_dict`), entropy, engine, versions, seconds. JSON
        values only.

    Examples
    --------
    >>> import robai
    >>> result = robai.simulate(robai.EOCP(gap=0.5), robai.Gaussian([0.7, 0.2]), 10**6, 1000, rng=0)
    >>> result
    <Result EOCP(gap=0.5): horizon 1,000,000, runs 1,000, regret 38.00 ± 0.41>
    >>> result.commit_time[:3].tolist(), result.pulls.shape, result.meta["engine"]
    ([1124, 1124, 1124], (1000, 2), 'leap')
    """

    single: ClassVar[bool] = True  # are there single runs?
    LAYOUT: ClassVar[Layout] = {
        "times": ("times",),
        "final_regret": ("runs",),
        "gaps": ("arms",),
        "means": ("arms",),
        **dict.fromkeys(("regret", "regret_sem"), ("times",)),
        **dict.fromkeys(("commit_time", "committed_arm", "answers"), ("runs",)),
        "pulls": ("runs", "arms"),
        "curves": ("runs", "times"),
    }
    OPTIONAL: ClassVar[tuple[str, ...]] = ("means", "curves", "answers")

    times: NDArray[np.int64]
    regret: NDArray[np.float64]
    regret_sem: NDArray[np.float64]
    final_regret: NDArray[np.float64]
    commit_time: NDArray[np.int64]
    committed_arm: NDArray[np.int64]
    pulls: NDArray[np.int64]
    gaps: NDArray[np.float64]
    label: str
    means: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    curves: NDArray[np.float64] | None = None
    answers: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    meta: dict[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if np.size(self.means) == 0:
            object.__setattr__(self, "means", np.full(np.shape(self.gaps), math.nan))
        if self.single and np.size(self.answers) == 0:
            object.__setattr__(self, "answers", self.commit_time)
        super().__post_init__()

    @property
    def _late(self) -> bool:
        """Whether at some commitment rewards were under way, or lost."""
        return not np.array_equal(self.answers, self.commit_time)

    def _kept(self) -> dict[str, Any]:
        return {name: each for name, each in self._arrays().items() if name != "answers" or self._late}

    @classmethod
    def _of(cls, label: str, meta: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Of read-only arrays that an engine has filled, and of JSON values: taken over, not checked."""
        result = object.__new__(cls)
        values = {"curves": None, "answers": arrays["commit_time"], **arrays, "label": label, "meta": meta}
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value = value.view()  # which cannot be made writable again
            object.__setattr__(result, name, value)
        return result

    def _check(self) -> None:
        self._check_values()
        self._check_arithmetic()

    def _check_values(self) -> None:
        require, times, arm, last = self._require, self.times, self.committed_arm, self.n_arms - 1
        require("times", times[0] >= 1 and (times[1:] > times[:-1]).all(), "increasing and at least 1")
        require("regret", within(self.regret), "finite and at least 0")
        unknown = self.runs == 1 and np.isnan(self.regret_sem).all()
        require("regret_sem", unknown or within(self.regret_sem), "finite and at least 0")
        require("final_regret", within(self.final_regret), "finite and at least 0")
        require("commit_time", within(self.commit_time, -1, self.horizon), f"between -1 and {self.horizon}")
        both = within(arm, -1, last) and ((arm < 0) == (self.commit_time < 0)).all()
        require("committed_arm", both, f"between -1 and {last}, and -1 exactly where commit_time is")
        both = within(self.commit_time - self.answers) and ((arm < 0) == (self.answers < 0)).all()
        require("answers", both, "at most commit_time, and -1 exactly where that is")

    def _check_arithmetic(self) -> None:
        """Pulls add up, and regret is that of the arms pulled, in every run and on average."""
        average = np.zeros_like(self.regret) if self.curves is not None else np.zeros(1)
        size = max(1, _PIECE // max(self.n_arms, len(average)))
        for rows in (slice(first, first + size) for first in range(0, self.runs, size)):
            self._check_runs(rows)
            curves = self.final_regret[rows, np.newaxis] if self.curves is None else self.curves[rows]
            average += (curves / self.runs).sum(axis=0)
        recorded = self.regret[-len(average) :]
        if not agree(recorded, average, self.runs):
            raise ValueError(f"regret must be the mean of the runs, {average}, got {recorded}")

    def _check_runs(self, rows: slice) -> None:
        pulls, final_regret, arm = self.pulls[rows], self.final_regret[rows], self.committed_arm[rows]
        # Sums of integers wrap round; as floats they do not.
        whole = pulls.sum(axis=1), pulls.sum(axis=1, dtype=np.float64)
        if pulls.min() < 0 or (whole[0] != self.horizon).any() or (whole[1] > 1.5 * self.horizon).any():
            raise ValueError(f"pulls must be at least 0 and sum to the horizon {self.horizon}, got {pulls}")
        with np.errstate(over="ignore"):
            regret = pulls @ self.gaps if self.gaps.ndim == 1 else (pulls * self.gaps[rows]).sum(axis=1)
        if not agree(final_regret, regret, self.n_arms):
            raise ValueError(f"final_regret must be that of the pulls, {regret}, got {final_regret}")
        never = (arm >= 0) & (np.take_along_axis(pulls, arm[:, np.newaxis], axis=1)[:, 0] == 0)
        if never.any():
            raise ValueError(f"committed_arm must be an arm that was pulled, got {arm[never]}")
        if self.curves is not None:
            curves = self.curves[rows]
            if not within(curves):
                raise ValueError(f"curves must be finite and at least 0, got {curves}")
            if not np.array_equal(curves[:, -1], final_regret):
                raise ValueError(f"curves must end at final_regret, {final_regret}, got {curves[:, -1]}")

    @property
    def horizon(self) -> int:
        """The number of rounds of a run."""
        return int(self.times[-1])

    @property
    def committed(self) -> NDArray[np.bool_]:
        """Which runs committed to an arm."""
        return self.commit_time >= 0

    @property
    def commitments(self) -> NDArray[np.int64]:
        """How many runs committed to each arm; by rank if every run had means of its own."""
        return np.bincount(self._chosen(), minlength=self.n_arms)

    def _chosen(self) -> NDArray[np.int64]:
        """The arm, or its rank, of each run that committed."""
        arms = self.committed_arm[self.committed]
        return ranks_of(arms, self.gaps[self.committed]) if self.own_means else arms

    def _wrong(self) -> int:
        """How many runs committed to an arm with a positive gap."""
        which = self.committed
        gaps = self.gaps[which] if self.own_means else self.gaps
        return int(np.count_nonzero(gaps_of(self.committed_arm[which], gaps) > 0.0))

    def _regrets(self) -> Counted:
        """The final regrets, as they are counted for figures."""
        return Counted.of(self.final_regret)

    def _commit_times(self) -> Counted:
        """The same of commitment times, where there was a commitment."""
        return Counted.of(self.commit_time[self.committed])

    def _quantiles(self, levels: Sequence[float]) -> tuple[float, ...]:
        """Of the final regrets."""
        return tuple(np.quantile(self.final_regret, levels).tolist())

    def _when(self) -> tuple[Mean | None, float | None, Mean]:
        """Mean and median of the commitment times, and their mean if no commitment counts as the horizon."""
        times, committed = self.commit_time[self.committed], self.committed
        capped = mean_over(np.where(committed, self.commit_time, self.horizon))
        return (mean_over(times), float(np.median(times)), capped) if len(times) else (None, None, capped)

    def _shares(self) -> list[Mean]:
        """Of the rounds, of every arm; by rank if every run had means of its own."""
        # Divided first: a mean of numbers up to 1 is never rounded above 1, and is exactly 1 if all are.
        shares = (self.pulls_by_rank() if self.own_means else self.pulls) / self.horizon
        errors = (
            shares.std(axis=0, ddof=1) / self.runs**0.5 if self.runs > 1 else np.full(self.n_arms, math.nan)
        )
        return [Mean(*each) for each in zip(shares.mean(axis=0).tolist(), errors.tolist(), strict=True)]

    def _best_share(self) -> float:
        """Of the rounds, of all best arms."""
        return float((self.pulls * (self.gaps == 0.0) / self.horizon).sum(axis=1).mean())

    def wrong_commit(self, confidence: float = 0.95) -> WrongCommit:
        """Among the runs that committed, how often to an arm with a positive gap, with an exact interval.

        Parameters
        ----------
        confidence : float
            Of the interval.

        Returns
        -------
        WrongCommit
            `rate` is conditional on having committed: a run that never did is neither right nor wrong. `low`
            and `high` are the ends of the Clopper-Pearson interval. If no run committed, nothing is known:
            the rate is NaN, the interval 0 to 1. If every run had means of its own, it is judged by these,
            and where several arms of a run are best, each of them is right.

        Raises
        ------
        ValueError
            If several arms of the bandit are best.

        Examples
        --------
        >>> import robai
        >>> result = robai.simulate(robai.KLEOCPUG(guard=0), robai.Bernoulli([0.95, 0.9]), 10**5, 1000, rng=0)
        >>> wrong = result.wrong_commit()
        >>> wrong.count, wrong.committed, round(wrong.low, 3), round(wrong.high, 3)
        (42, 1000, 0.03, 0.056)
        """
        if self.best_arm is None:
            best = ", ".join(map(str, np.flatnonzero(self.gaps == 0.0)))
            raise ValueError(f"wrong commitment is undefined because arms {best} are equally good")
        committed = int(self.commitments.sum())
        if committed == 0:
            return WrongCommit(count=0, committed=0, rate=math.nan, low=0.0, high=1.0)
        count = self._wrong()
        low, high = clopper_pearson(count, committed, confidence)
        return WrongCommit(count, committed, count / committed, low, high)

    def pulls_by_rank(self) -> NDArray[np.int64]:
        """How often each arm was played, from the best arm of the run to the worst.

        Returns
        -------
        ndarray of int
            Runs x arms.

        Examples
        --------
        >>> import robai
        >>> instances = robai.Instances("bernoulli", robai.priors.Uniform(), n_arms=3)
        >>> result = robai.simulate(robai.KLUCB(), instances, 1000, 100, rng=0)
        >>> result.pulls_by_rank().mean(axis=0).round().tolist()
        [895.0, 84.0, 21.0]
        """
        return by_rank(self.pulls, self.gaps)

    def digest(self) -> Digest:
        """The numbers of tables and summaries, computed anew.

        Returns
        -------
        Digest

        Examples
        --------
        >>> import robai
        >>> digest = robai.simulate(robai.EOCPUG(), robai.Gaussian([0.7, 0.2]), 10**6, 1000, rng=0).digest()
        >>> digest.committed, digest.commit_median, round(digest.regret.value, 1)
        (1.0, 1410.0, 40.6)
        """
        return Digest.of(self)

    def summary(self) -> str:
        r"""A page for people: regret, commitments and where the pulls went.

        Returns
        -------
        str

        Examples
        --------
        >>> import robai
        >>> result = robai.simulate(robai.EOCP(gap=0.5), robai.Gaussian([0.7, 0.2]), 10**6, 1000, rng=0)
        >>> print("\n".join(result.summary().splitlines()[5:9]))
        regret      38.00 ± 0.41  (mean ± standard error)
                    5 % of the runs below 17.97, half below 37.00, 95 % below 62.00
        commitment  all runs, at round 1,124 on average, 1,124 in the median
                    wrong in 0 of 1,000: 0 % (0 % to 0.37 %), 95 % interval in brackets
        """
        return result_summary(self)

    def __repr__(self) -> str:
        size = f"horizon {self.horizon:,}, runs {self.runs:,}"
        return f"<{type(self).__name__} {self.label}: {size}, regret {mean_text(self.digest().regret)}>"

    def to_dataframe(self, what: Literal["curve", "runs"] = "curve") -> "pd.DataFrame":
        """A pandas table.

        Parameters
        ----------
        what : {"curve", "runs"}
            "curve" has a row a recorded round, "runs" a row a run, where the commitment of a run that never
            committed is missing (`<NA>`), not -1. If every run had means of its own, `gap_min` is its
            smallest gap and `complexity` the sum of 1/gap^2. With late rewards there are `answers` too.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import robai
        >>> result = robai.simulate(robai.EOCP(gap=0.5), robai.Gaussian([0.7, 0.2]), 10**4, 100, rng=0)
        >>> list(result.to_dataframe("runs"))
        ['policy', 'run', 'final_regret', 'commit_time', 'committed_arm', 'pulls_0', 'pulls_1']
        """
        return frame_of(self, what)

    def merge(self, *others: "Result") -> "Result":
        """All runs as one: further runs of the same seed (`runs=range(...)`), or of other seeds.

        Apart from their runs all has to be the same. Runs are put in order, so that the order of the results
        makes no difference. The result is the one that all runs at once would have given: bit for bit with
        `curves`, while without them `regret` and `regret_sem` are put together from those of the parts, which
        rounds differently.

        Parameters
        ----------
        *others : Result
            What to add.

        Returns
        -------
        Result

        Examples
        --------
        >>> import robai
        >>> ask = {"bandit": robai.Gaussian([0.7, 0.2]), "horizon": 1000, "rng": 0, "curves": True}
        >>> parts = [robai.simulate(robai.UCB(), **ask, runs=runs) for runs in (range(60), range(60, 100))]
        >>> parts[1].merge(parts[0]) == robai.simulate(robai.UCB(), **ask, runs=100)
        True
        """
        every, meta = joined(self, list(others), ("times",))
        names = [name for name, axes in self.LAYOUT.items() if "runs" in axes]
        names += ["gaps", "means"] if self.own_means else []
        if any(each.curves is None for each in every):
            names.remove("curves")
        merged: dict[str, Any] = {
            name: np.concatenate([getattr(each, name) for each in every]) for name in names
        }
        if "curves" in merged:
            merged["regret"], merged["regret_sem"] = of_rows(merged["curves"])
        else:
            merged["curves"] = None
            found = of_means([(each.runs, each.regret, each.regret_sem) for each in every])
            merged["regret"], merged["regret_sem"] = found
        return replace(self, **merged, meta=meta)

    def _drawn(self) -> "list[Result]":
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
        >>> result = robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 1000, 10, rng=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.save(os.path.join(folder, "ucb.npz"))
        ...     robai.Result.load(os.path.join(folder, "ucb.npz")) == result
        True
        """
        save(path, "robai.Result", [self])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Result":
        """A new Result, read from a file that `save` wrote. Nothing in the file is ever executed.

        Parameters
        ----------
        path : path
            Of the file.

        Returns
        -------
        Result

        Raises
        ------
        ValueError
            If the file is damaged, or not of a Result.

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> result = robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 1000, 10, rng=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "ucb.npz")
        ...     result.save(path)
        ...     robai.Result.load(path).label
        'UCB()'
        """
        return load(path, "robai.Result", Result)[0]
