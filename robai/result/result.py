"""What a simulation returns: `Result` for one policy, `Comparison` for several on the same bandit."""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from robai._base.files import Declared, load_arrays, save_arrays
from robai._base.intervals import clopper_pearson
from robai._base.json import parse
from robai.result.arrays import (
    OPTIONAL,
    TYPES,
    agree,
    best_arms,
    by_rank,
    check_shapes,
    check_type,
    complexity,
    owned,
    smallest_gap,
    within,
)
from robai.result.digest import Digest, WrongCommit
from robai.result.methods import OfOne, OfSeveral
from robai.result.text import comparison_summary, mean_text, result_summary

if TYPE_CHECKING:
    import pandas as pd

_SCHEMA = 1  # of saved files; raise it when the meaning of a field changes
_PIECE = 2**20  # entries to check at a time, for little memory and a quick Ctrl-C


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(OfOne):
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
        for name, values in self._arrays().items():
            object.__setattr__(self, name, owned(name, values))
        if not isinstance(self.label, str) or not self.label:
            raise ValueError(f"label must be a non-empty string, got {self.label!r}")
        if not isinstance(self.meta, dict):
            raise TypeError(f"meta must be a dict, got {self.meta!r}")
        try:  # by way of JSON, so that what is saved is what is loaded
            object.__setattr__(self, "meta", parse(json.dumps(self.meta, allow_nan=False)))
        except (TypeError, ValueError) as error:
            raise type(error)(f"meta must hold JSON values only: {error}") from error
        check_shapes({name: array.shape for name, array in self._arrays().items()})
        self._check_values()
        self._check_arithmetic()

    @classmethod
    def _of(cls, label: str, meta: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Of arrays that an engine has just filled, and of JSON values: taken over, not checked again."""
        result = object.__new__(cls)
        values = {"curves": None, **arrays, "label": label, "meta": meta}
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
                value = value.view()  # which cannot be made writable again
            object.__setattr__(result, name, value)
        return result

    def _arrays(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in TYPES if getattr(self, name) is not None}

    def _check_values(self) -> None:
        def require(name: str, holds: Any, requirement: str) -> None:
            if not holds:
                raise ValueError(f"{name} must be {requirement}, got {getattr(self, name)}")

        times, arm, last = self.times, self.committed_arm, self.n_arms - 1
        require("times", times[0] >= 1 and (times[1:] > times[:-1]).all(), "increasing and at least 1")
        require("regret", within(self.regret), "finite and at least 0")
        unknown = self.runs == 1 and np.isnan(self.regret_sem).all()
        require("regret_sem", unknown or within(self.regret_sem), "finite and at least 0")
        require("final_regret", within(self.final_regret), "finite and at least 0")
        best = within(self.gaps) and (self.gaps.min(axis=-1) == 0.0).all()
        require("gaps", best, "finite, at least 0 and 0 for the best arm")
        require("means", self._gaps_are_those_of_the_means(), "finite, with these gaps")
        require("commit_time", within(self.commit_time, -1, self.horizon), f"between -1 and {self.horizon}")
        both = within(arm, -1, last) and ((arm < 0) == (self.commit_time < 0)).all()
        require("committed_arm", both, f"between -1 and {last}, and -1 exactly where commit_time is")

    def _gaps_are_those_of_the_means(self) -> bool:
        if np.isnan(self.means).all():
            return True
        with np.errstate(invalid="ignore", over="ignore"):
            gaps = self.means.max(axis=-1, keepdims=True) - self.means
        return bool((np.abs(gaps - self.gaps) <= 1e-12 * np.abs(self.means).max()).all())

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
    def runs(self) -> int:
        return len(self.final_regret)

    @property
    def n_arms(self) -> int:
        return int(self.gaps.shape[-1])

    @property
    def own_means(self) -> bool:
        """Did every run have means of its own?"""
        return self.gaps.ndim == 2

    @property
    def names(self) -> tuple[str, ...] | None:
        """What the arms are called, None if they are only numbered."""
        names = self.meta.get("names")
        return None if names is None or len(names) != self.n_arms else tuple(map(str, names))

    @property
    def best_arm(self) -> int | NDArray[np.int64] | None:
        """The arm with gap 0, or None if there are several.

        If every run had means of its own, one a run, and -1 where there are several.
        """
        if self.own_means:
            return best_arms(self.gaps)
        best = np.flatnonzero(self.gaps == 0.0)
        return int(best[0]) if len(best) == 1 else None

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
        committed = int(self.committed.sum())
        if committed == 0:
            return WrongCommit(count=0, committed=0, rate=math.nan, low=0.0, high=1.0)
        gaps = np.broadcast_to(self.gaps, self.pulls.shape)[self.committed]
        arms = self.committed_arm[self.committed, np.newaxis]
        count = int((np.take_along_axis(gaps, arms, axis=1) > 0.0).sum())
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

    def __reduce__(self) -> tuple[Any, ...]:
        # Arrays leave a pickle writable: the constructor makes them its own again, and checks them.
        return partial(type(self), **vars(self)), ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result):
            return NotImplemented
        own, others = self._arrays(), other._arrays()
        return (self.label, own.keys()) == (other.label, others.keys()) and all(
            np.array_equal(own[name], others[name], equal_nan=name in ("regret_sem", "means")) for name in own
        )

    def to_dataframe(self, what: Literal["curve", "runs"] = "curve") -> "pd.DataFrame":
        """A pandas table: `"curve"` has a row a recorded round, `"runs"` a row a run.

        In `"runs"`, the commitment of a run that never committed is missing (`<NA>`), not -1. If every run
        had means of its own, `gap_min` is its smallest gap and `complexity` the sum of 1/gap^2.
        """
        if what not in ("curve", "runs"):
            raise ValueError(f'what must be "curve" or "runs", got {what!r}')
        pandas = _import_pandas()
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
        _save(path, "robai.Result", [self])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Result":
        """A new Result, read from a file that `save` wrote. Nothing in the file is ever executed."""
        return _load(path, "robai.Result")[0]


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
        table: pd.DataFrame = _import_pandas().concat(frames, ignore_index=True)
        return table

    def _drawn(self) -> list[Result]:
        return list(self.values())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all to one .npz file at exactly `path`; a crash leaves the old file or the new one."""
        _save(path, "robai.Comparison", list(self.values()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Comparison":
        """A new Comparison, read from a file that `save` wrote. Nothing in the file is ever executed."""
        return cls(_load(path, "robai.Comparison"))


def _prefix(kind: str, position: int) -> str:
    """What the names of a result's arrays start with in a file: nothing if it is alone."""
    return "" if kind == "robai.Result" else f"{position}."


def _save(path: str | os.PathLike[str], kind: str, results: list[Result]) -> None:
    described = [{"label": result.label, "meta": result.meta} for result in results]
    arrays = {
        _prefix(kind, i) + name: array
        for i, result in enumerate(results)
        for name, array in result._arrays().items()
    }
    save_arrays(path, {"format": kind, "schema": _SCHEMA, "results": described}, arrays)


def _load(path: str | os.PathLike[str], kind: str) -> list[Result]:
    header, arrays = load_arrays(path, lambda header, declared: _check_declared(kind, header, declared))
    try:
        return [Result(**given) for given in _divided(kind, header, arrays)]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def _divided(kind: str, header: dict[str, Any], arrays: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Label and meta of every result in a file, and what belongs to it of `arrays`, which is taken away."""
    for i, each in enumerate(header["results"]):
        names = {name: _prefix(kind, i) + name for name in TYPES}
        own = {name: arrays.pop(long) for name, long in names.items() if long in arrays}
        yield {"label": each["label"], "meta": each["meta"], **own}


def _check_declared(kind: str, header: dict[str, Any], declared: Declared) -> None:
    """Whether the arrays of a file are those of results, before any of them is expanded."""
    try:
        if header["format"] != kind:
            raise ValueError(f"format must be {kind!r}, got {header['format']!r}")
        if header["schema"] != _SCHEMA:
            schema = header["schema"]
            raise ValueError(f"schema must be {_SCHEMA}, got {schema!r}: another version of robai wrote it")
        left = dict(declared)
        for own in _divided(kind, header, left):
            if missing := set(TYPES) - set(OPTIONAL) - set(own):
                raise ValueError(f"results must have all their arrays, got none for {sorted(missing)}")
            arrays = {name: own[name] for name in TYPES if name in own}
            for name, (dtype, _) in arrays.items():
                check_type(name, dtype)
            check_shapes({name: shape for name, (_, shape) in arrays.items()})
        if left or not header["results"]:
            count = len(header["results"])
            raise ValueError(f"results must describe every array, got {count} and, besides, {list(left)}")
    except KeyError as error:
        raise ValueError(f"the header has no {error}") from error


def _import_pandas() -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError('to_dataframe needs pandas: pip install "robai[pandas]"') from error
    return pd
