"""What a simulation returns: `Result` for one policy, `Comparison` for several on the same bandit."""

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from robai._base.intervals import clopper_pearson
from robai.result.archive import load, save
from robai.result.arrays import Layout, agree, by_rank, complexity, gaps_of, smallest_gap, within
from robai.result.digest import Digest, WrongCommit
from robai.result.methods import OfOne, OfSeveral
from robai.result.runs import Runs, import_pandas
from robai.result.text import comparison_summary, mean_text, result_summary

if TYPE_CHECKING:
    import pandas as pd

_PIECE = 2**20  # entries to check at a time, for little memory and a quick Ctrl-C


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(Runs, OfOne):
    """Regret and commitments of many independent runs of one policy.

    Attributes
    ----------
    times : rounds at which regret was recorded, increasing; the last is the horizon
    regret : mean over the runs of the cumulative pseudo-regret at `times`
    regret_sem : its standard error, NaN throughout if there was one run only, which cannot tell
    final_regret : cumulative pseudo-regret at the horizon, one a run
    commit_time : round of the commitment, one a run, -1 where the run never committed
    committed_arm : the arm committed to, one a run, -1 where the run never committed
    pulls : how often each arm was played, runs x arms
    gaps : best mean minus mean, one an arm; 0 for the best. Runs x arms if every run had means of its own
        (`robai.Instances`): arms are then those of the run everywhere, and averages over runs and instances
    means : mean reward of each arm, as `gaps`; NaN if they are not known, in files of earlier versions
    label : name of the policy in tables and figures
    curves : cumulative pseudo-regret of every run at `times`, runs x times, or None if it was not kept
    meta : how the numbers came about: policy and bandit (as `to_dict`), entropy, engine, versions, seconds.
        JSON values only

    Arrays are the result's own and read-only, in copies and pickles too. Results are equal if their labels
    and all their numbers are; `meta` may differ.
    """

    LAYOUT: ClassVar[Layout] = {
        "times": ("times",),
        "final_regret": ("runs",),
        "gaps": ("arms",),
        "means": ("arms",),
        **dict.fromkeys(("regret", "regret_sem"), ("times",)),
        **dict.fromkeys(("commit_time", "committed_arm"), ("runs",)),
        "pulls": ("runs", "arms"),
        "curves": ("runs", "times"),
    }
    OPTIONAL: ClassVar[tuple[str, ...]] = ("means", "curves")

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
    meta: dict[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if np.size(self.means) == 0:
            object.__setattr__(self, "means", np.full(np.shape(self.gaps), math.nan))
        super().__post_init__()

    @classmethod
    def _of(cls, label: str, meta: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Of read-only arrays that an engine has filled, and of JSON values: taken over, not checked."""
        result = object.__new__(cls)
        values = {"curves": None, **arrays, "label": label, "meta": meta}
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
        return int(self.times[-1])

    @property
    def committed(self) -> NDArray[np.bool_]:
        """Which runs committed to an arm."""
        return self.commit_time >= 0

    def wrong_commit(self, confidence: float = 0.95) -> WrongCommit:
        """Among the runs that committed, how often to an arm with a positive gap, with an exact interval.

        `rate` is conditional on having committed: a run that never did is neither right nor wrong. `low` and
        `high` are the ends of the Clopper-Pearson interval. If no run committed, nothing is known: the rate
        is NaN, the interval 0 to 1. If every run had means of its own, it is judged by these, and where
        several arms of a run are best, each of them is right.
        """
        if self.best_arm is None:
            best = ", ".join(map(str, np.flatnonzero(self.gaps == 0.0)))
            raise ValueError(f"wrong commitment is undefined because arms {best} are equally good")
        which = self.committed
        committed = int(np.count_nonzero(which))
        if committed == 0:
            return WrongCommit(count=0, committed=0, rate=math.nan, low=0.0, high=1.0)
        gaps = self.gaps[which] if self.own_means else self.gaps
        count = int(np.count_nonzero(gaps_of(self.committed_arm[which], gaps) > 0.0))
        low, high = clopper_pearson(count, committed, confidence)
        return WrongCommit(count, committed, count / committed, low, high)

    def pulls_by_rank(self) -> NDArray[np.int64]:
        """How often each arm was played, runs x arms, from the best arm of the run to the worst."""
        return by_rank(self.pulls, self.gaps)

    def digest(self) -> Digest:
        """The numbers of tables and summaries, computed anew."""
        return Digest.of(self)

    def summary(self) -> str:
        """A page for people: regret, commitments and where the pulls went."""
        return result_summary(self)

    def __repr__(self) -> str:
        size = f"horizon {self.horizon:,}, runs {self.runs:,}"
        return f"<Result {self.label}: {size}, regret {mean_text(self.digest().regret)}>"

    def to_dataframe(self, what: Literal["curve", "runs"] = "curve") -> "pd.DataFrame":
        """A pandas table: `"curve"` has a row a recorded round, `"runs"` a row a run.

        In `"runs"`, the commitment of a run that never committed is missing (`<NA>`), not -1. If every run
        had means of its own, `gap_min` is its smallest gap and `complexity` the sum of 1/gap^2.
        """
        if what not in ("curve", "runs"):
            raise ValueError(f'what must be "curve" or "runs", got {what!r}')
        pandas = import_pandas()
        if what == "curve":
            columns = {"round": self.times, "regret": self.regret, "regret_sem": self.regret_sem}
        else:
            never = ~self.committed
            columns = {
                "run": np.arange(self.runs),
                "final_regret": self.final_regret,
                "commit_time": pandas.arrays.IntegerArray(self.commit_time.copy(), never),
                "committed_arm": pandas.arrays.IntegerArray(self.committed_arm.copy(), never.copy()),
            }
            if self.own_means:
                columns |= {"gap_min": smallest_gap(self.gaps), "complexity": complexity(self.gaps)}
            names = self.names or range(self.n_arms)
            columns |= {f"pulls_{name}": self.pulls[:, arm] for arm, name in enumerate(names)}
        table: pd.DataFrame = pandas.DataFrame({"policy": self.label, **columns})
        return table

    def _drawn(self) -> "list[Result]":
        return [self]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one .npz file at exactly `path`; a crash leaves the old file or the new one."""
        save(path, "robai.Result", [self])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Result":
        """A new Result, read from a file that `save` wrote. Nothing in the file is ever executed."""
        return load(path, "robai.Result", Result)[0]


class Comparison(OfSeveral, Mapping[str, Result]):
    """Results of several policies on the same bandit and horizon, by label, in the order given."""

    def __init__(self, results: Mapping[str, Result] | Iterable[Result]) -> None:
        self._results: dict[str, Result] = {}
        named = results.items() if isinstance(results, Mapping) else ((None, result) for result in results)
        for name, result in named:
            if not isinstance(result, Result):
                raise TypeError(f"results must be Result objects, got {result!r}")
            if name not in (None, result.label):
                raise ValueError(f"results must be named by their labels, got {name!r} for {result.label!r}")
            if result.label in self._results:
                raise ValueError(f"results must have different labels, got {result.label!r} twice")
            first = next(iter(self._results.values()), result)
            if result.horizon != first.horizon or not np.array_equal(result.gaps, first.gaps):
                raise ValueError(
                    f"results must share horizon and gaps, got {first.horizon} and {first.gaps} for "
                    f"{first.label!r}, {result.horizon} and {result.gaps} for {result.label!r}"
                )
            self._results[result.label] = result
        if not self._results:
            raise ValueError("results must hold at least one Result, got none")

    def __getitem__(self, label: str) -> Result:
        return self._results[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self)}>"

    def summary(self) -> str:
        """A table with a row a policy; the smallest mean regret is marked."""
        return comparison_summary(self)

    def to_dataframe(self, what: Literal["curve", "runs"] = "curve") -> "pd.DataFrame":
        """The tables of all results, one below the other, with the label in the column `policy`."""
        frames = [result.to_dataframe(what) for result in self.values()]
        table: pd.DataFrame = import_pandas().concat(frames, ignore_index=True)
        return table

    def _drawn(self) -> list[Result]:
        return list(self.values())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all to one .npz file at exactly `path`; a crash leaves the old file or the new one."""
        save(path, "robai.Comparison", list(self.values()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Comparison":
        """A new Comparison, read from a file that `save` wrote. Nothing in the file is ever executed."""
        return cls(load(path, "robai.Comparison", Result))
