"""What the runs of one policy have, whatever was asked of them: arrays of their own, a label and `meta`."""

from __future__ import annotations

import json
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from robai._base.json import parse
from robai.result.arrays import Layout, best_arms, check_shapes, owned, within

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Runs:
    """A dataclass of arrays, read-only in copies and pickles too, that are checked when it is made."""

    KEEP: ClassVar[str] = "runs"  # what a file with several kinds says of each
    LAYOUT: ClassVar[Layout]
    OPTIONAL: ClassVar[tuple[str, ...]] = ()  # arrays that may be None, or missing in a file
    SCALARS: ClassVar[tuple[str, ...]] = ()  # numbers that a file has beside label and meta

    pulls: NDArray[np.int64]
    gaps: NDArray[np.float64]
    means: NDArray[np.float64]
    label: str
    meta: dict[str, Any]

    def __post_init__(self) -> None:
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
        check_shapes({name: array.shape for name, array in self._arrays().items()}, self.LAYOUT)
        best = within(self.gaps) and (self.gaps.min(axis=-1) == 0.0).all()
        self._require("gaps", best, "finite, at least 0 and 0 for the best arm")
        self._require("means", self._gaps_are_those_of_the_means(), "finite, with these gaps")
        self._check()

    def _check(self) -> None:
        """A ValueError if the arrays are not what they are said to be."""

    def _require(self, name: str, holds: Any, requirement: str) -> None:
        if not holds:
            raise ValueError(f"{name} must be {requirement}, got {getattr(self, name)}")

    def _arrays(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.LAYOUT if getattr(self, name) is not None}

    def _kept(self) -> dict[str, Any]:
        """Those that a file has."""
        return self._arrays()

    def _gaps_are_those_of_the_means(self) -> bool:
        if np.isnan(self.means).all():
            return True
        with np.errstate(invalid="ignore", over="ignore"):
            gaps = self.means.max(axis=-1, keepdims=True) - self.means
        return bool((np.abs(gaps - self.gaps) <= 1e-12 * np.abs(self.means).max()).all())

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.pulls)

    @property
    def n_arms(self) -> int:
        """The number of arms."""
        return int(self.gaps.shape[-1])

    @property
    def own_means(self) -> bool:
        """Whether every run had means of its own."""
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

    def __reduce__(self) -> tuple[Any, ...]:
        # Arrays leave a pickle writable: the constructor makes them its own again, and checks them.
        return partial(
            type(self),
            **{each.name: getattr(self, each.name) for each in fields(cast(Any, self)) if each.init},
        ), ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Runs) or type(self) is not type(other):
            return NotImplemented
        own, others = self._arrays(), other._arrays()
        if any(getattr(self, name) != getattr(other, name) for name in ("label", *self.SCALARS)):
            return False
        return own.keys() == others.keys() and all(
            np.array_equal(own[name], others[name], equal_nan=name in ("regret_sem", "means")) for name in own
        )

    __hash__ = None  # type: ignore[assignment]  # as of anything that is equal by its numbers


def import_pandas() -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError('to_dataframe needs pandas: pip install "robai[pandas]"') from error
    return pd
