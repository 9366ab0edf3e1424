"""A bandit of data."""

# pyright: reportIncompatibleMethodOverride=false
# Fields take the place of properties: see `replaceable`.
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robai._base.spec import Field, Kind, parameter, spec
from robai._core import families as _core
from robai._core import samplers as _samplers
from robai.bandits.base import LARGEST_REWARD, MOST_ARMS_SHOWN, Bandit, entries


def _samples(name: str, value: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(_rewards(f"{name}[{arm}]", values) for arm, values in enumerate(entries(name, value)))


def _names(name: str, value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    listed = tuple(map(str, entries(name, value)))
    if len(set(listed)) < len(listed):
        twice = next(each for each in listed if listed.count(each) > 1)
        raise ValueError(f"{name} must differ from each other, got {twice!r} twice")
    return listed


def _columns(data: Any) -> dict[Any, Any] | None:
    """Rewards by the names of the arms, from a mapping or a table; None if it is neither."""
    if isinstance(data, Mapping):
        return dict(data)
    if not (hasattr(data, "columns") and hasattr(data, "dropna")):  # a DataFrame, whoever made it
        return None
    names = list(data.columns)
    if len(set(names)) < len(names):
        raise ValueError(f"columns must have different names, got {names}")
    return {name: data[name].dropna().to_numpy() for name in names}


def _rewards(name: str, values: Any) -> tuple[float, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence of numbers, got {values!r}")
    listed = list(values)
    try:
        array = np.asarray(listed)
    except ValueError:  # lists of different lengths in it
        array = np.asarray(listed, dtype=object)
    if array.size and (array.ndim != 1 or array.dtype.kind not in "biuf"):
        raise TypeError(f"{name} must be a sequence of numbers, got {listed!r}")
    if array.size == 0:
        raise ValueError(f"{name} must have at least one reward, got none")
    array = array.astype(float)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]!r}")
    if beyond := array[np.abs(array) > LARGEST_REWARD].tolist():
        raise ValueError(f"{name} must be from {-LARGEST_REWARD:g} to {LARGEST_REWARD:g}, got {beyond[0]}")
    return tuple(array.tolist())


def _missing(value: Any) -> bool:
    """None, NaN and what pandas has for them, which is not equal to itself, or cannot tell."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


@spec
class Empirical(Bandit):
    """Rewards drawn, with replacement, from data.

    The means are those of the data. It has no family of its own, so KL policies and Thompson
    sampling must be told one: `KLUCB(family="bernoulli")` serves rewards in [0, 1].

    Parameters
    ----------
    samples_per_arm : sequence of sequences, mapping, or DataFrame
        The observed rewards of each arm; by name in a mapping, a column an arm in a table, where missing
        values are left out. A table with a row a reward is for `Empirical.long`.
    names
        What the arms are called; the names of the mapping or the columns, if None.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Empirical({"old": [0, 0, 1], "new": [1, 0, 1, 1]})
    >>> bandit.names, bandit.n_arms, bandit.means[1]
    (('old', 'new'), 2, 0.75)
    """

    samples_per_arm: Field[Any, tuple[tuple[float, ...], ...]] = parameter(
        Kind(_samples, "observed rewards of each arm")
    )
    names: Field[Iterable[str] | None, tuple[str, ...] | None] = parameter(
        Kind(_names, "names of the arms"), default=None
    )

    def __post_init__(self) -> None:
        columns = _columns(self.samples_per_arm)
        if columns is not None:
            for name, values in columns.items():
                _rewards(f"samples_per_arm[{name!r}]", values)  # an error by the name of the arm
            object.__setattr__(self, "samples_per_arm", list(columns.values()))
            if self.names is None:
                object.__setattr__(self, "names", list(columns))
        super().__post_init__()
        if self.names is not None and len(self.names) != len(self.samples_per_arm):
            arms = len(self.samples_per_arm)
            raise ValueError(f"names must have one entry for each of {arms} arms, got {self.names!r}")

    @classmethod
    def long(cls, frame: Any, arm: str = "variant", reward: str = "revenue") -> Empirical:
        """The bandit of a table with a row a reward: a DataFrame, or a mapping from columns to sequences.

        Arms are in the order in which they first appear; rows without a reward are left out.

        Parameters
        ----------
        frame : DataFrame or mapping
            The table.
        arm : str
            The column that names the arms.
        reward : str
            The column of the rewards.

        Returns
        -------
        Empirical

        Examples
        --------
        >>> import robai
        >>> robai.Empirical.long({"variant": ["B", "A", "B"], "revenue": [1.5, 0, 2]})
        Empirical(B: 2 rewards, A: 1 rewards)
        """
        try:
            named, rewards = list(frame[arm]), list(frame[reward])
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(
                f"frame must be a table with columns {arm!r} and {reward!r}, got {error!r}"
            ) from error
        if len(named) != len(rewards):
            raise ValueError(f"frame must have columns of one length, got {len(named)} and {len(rewards)}")
        columns: dict[Any, list[Any]] = {}
        for row, (name, value) in enumerate(zip(named, rewards, strict=True)):
            if _missing(name):
                raise ValueError(f"{arm} must name the arm of every reward, got {name!r} in row {row}")
            kept = columns.setdefault(name, [])
            if not _missing(value):
                kept.append(value)
        return cls(columns)

    def to_dict(self) -> dict[str, Any]:
        described = super().to_dict()
        if self.names is None:
            del described["names"]
        return described

    def __repr__(self) -> str:
        arms = self.samples_per_arm
        if len(arms) > MOST_ARMS_SHOWN:
            return f"Empirical({sum(map(len, arms)):,} rewards of {len(arms):,} arms)"
        named = [""] * len(arms) if self.names is None else [f"{name}: " for name in self.names]
        sizes = (f"{name}{len(values):,} rewards" for name, values in zip(named, arms, strict=True))
        return f"Empirical({', '.join(sizes)})"

    @cached_property
    def means(self) -> tuple[float, ...]:
        """The mean of each arm's rewards."""
        return tuple(math.fsum(value / len(values) for value in values) for values in self.samples_per_arm)

    @property
    def support(self) -> tuple[float, float]:
        return (min(map(min, self.samples_per_arm)), max(map(max, self.samples_per_arm)))

    @property
    def proxy(self) -> float:
        low, high = self.support
        return max((high - low) / 2.0, 1e-100)  # Hoeffding's lemma

    @cached_property
    def _arrays(self) -> list[NDArray[np.float64]]:
        return [np.array(values) for values in self.samples_per_arm]

    def _core(self) -> _core.Sampler:
        return _samplers.Empirical(self._arrays)
