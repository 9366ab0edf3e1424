"""Bandits: what the arms pay. Each is a family and the mean reward of every arm."""

# pyright: reportIncompatibleMethodOverride=false
# Fields take the place of properties: see `replaceable`.
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from robai import families
from robai._base import checks
from robai._base.spec import Field, Kind, Spec, between, parameter, replaceable, spec
from robai._core import families as _core
from robai._core import samplers as _samplers

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Empirical",
    "Exponential",
    "Gamma",
    "Gaussian",
    "NegativeBinomial",
    "Poisson",
]

# The square of what 10**18 rewards sum to is finite, and so is its sum over all runs.
LARGEST_REWARD = 1e100
MOST_ARMS_SHOWN = 1000


class Bandit(Spec):
    """What all bandits have.

    Attributes
    ----------
    means : tuple of float
        The mean reward of each arm.
    """

    means: Any

    @replaceable
    def family(self) -> families.Family | None:
        """The reward family; None for data, which has none."""
        return None

    @replaceable
    def n_arms(self) -> int:
        return len(self.means)

    @property
    def gaps(self) -> tuple[float, ...]:
        """How much each arm's mean is below the best."""
        best = max(self.means)
        return tuple(best - mean for mean in self.means)

    @property
    def best_arms(self) -> tuple[int, ...]:
        """The arms with the largest mean."""
        best = max(self.means)
        return tuple(arm for arm, mean in enumerate(self.means) if mean == best)

    @replaceable
    def support(self) -> tuple[float, float]:
        """The smallest and the largest reward."""
        raise NotImplementedError

    @property
    def proxy(self) -> families.Scale | None:
        """The smallest sigma for which rewards are known to be sigma-sub-Gaussian; None if there is none."""
        return None if self.family is None else self.family.proxy

    @replaceable
    def names(self) -> tuple[str, ...] | None:
        """What the arms are called in summaries, figures and tables; None if they are only numbered."""
        return None

    def obstacle(self) -> str:
        """Why nobody can tell whether a bandit is still the same, or nothing: for checkpoints."""
        return ""

    def __repr__(self) -> str:
        if self.n_arms <= MOST_ARMS_SHOWN:
            return super().__repr__()
        means = f"({self.means[0]!r}, ..., {self.means[-1]!r}: {self.n_arms:,} arms)"
        others = [f", {name}={value!r}" for name, value in self._parameters() if name != "means"]
        return f"{type(self).__name__}(means={means}{''.join(others)})"

    def _core(self) -> _core.Sampler:
        raise NotImplementedError


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence with one entry an arm, got {values!r}")
    listed = list(values)
    if len(listed) < 2:
        raise ValueError(f"{name} must have at least two arms, got {len(listed)}")
    return listed


MEANS = Kind(_listed, "mean reward of each arm")
Means = Field[Iterable[float], tuple[float, ...]]


@spec
class FamilyBandit(Bandit):
    """A reward family and the mean of every arm.

    Each one declares `means` anew, because mypy forgets what an inherited field of its kind is kept as.
    """

    Family: ClassVar[type[families.Family]]
    means: Means = parameter(MEANS)

    def __post_init__(self) -> None:
        super().__post_init__()
        check = self.family.check_mean
        means = tuple(check(f"means[{arm}]", mean) for arm, mean in enumerate(self.means))
        object.__setattr__(self, "means", means)

    @cached_property
    def family(self) -> families.Family:
        return self.Family(**{name: value for name, value in self._parameters() if name != "means"})

    @property
    def support(self) -> tuple[float, float]:
        return self.family.support

    def _core(self) -> _core.Sampler:
        return self.family._core(self.n_arms)


@spec
class Gaussian(FamilyBandit):
    """Normal rewards with the same standard deviation, sigma, for every arm, or one for each."""

    Family = families.Gaussian
    means: Means = parameter(MEANS)
    sigma: Field[float | Iterable[float], families.Scale] = parameter(families.SIGMA, default=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        families.one_an_arm(self.sigma, self.n_arms)


@spec
class Bernoulli(FamilyBandit):
    """Rewards 0 and 1; a mean is the probability of 1."""

    Family = families.Bernoulli
    means: Means = parameter(MEANS)


@spec
class Binomial(FamilyBandit):
    """Rewards 0 to n, successes in n trials; means are mean rewards, from 0 to n."""

    Family = families.Binomial
    means: Means = parameter(MEANS)
    n: int = parameter(families.TRIALS)


@spec
class Poisson(FamilyBandit):
    """Counts."""

    Family = families.Poisson
    means: Means = parameter(MEANS)


@spec
class Exponential(FamilyBandit):
    """Exponentially distributed rewards."""

    Family = families.Exponential
    means: Means = parameter(MEANS)


@spec
class Gamma(FamilyBandit):
    """Gamma distributed rewards with the same shape for every arm."""

    Family = families.Gamma
    means: Means = parameter(MEANS)
    shape: float = parameter(families.SHAPE)


@spec
class NegativeBinomial(FamilyBandit):
    """Counts with variance mean + mean^2 / r."""

    Family = families.NegativeBinomial
    means: Means = parameter(MEANS)
    r: float = parameter(families.SUCCESSES)


@spec
class Beta(Bandit):
    """Rewards in [0, 1] that are not binary: Beta(c m, c (1 - m)) for an arm of mean m, c the concentration.

    Their variance is m (1 - m) / (c + 1): concentration 0 would be Bernoulli. Means are strictly between 0
    and 1. Policies take the rewards for any rewards in [0, 1], `families.Bounded(0, 1)`.

    >>> Beta([0.7, 0.2], concentration=4.0).proxy
    0.5
    """

    means: Means = parameter(MEANS)
    concentration: float = parameter(Kind(between(1e-6, 1e9), "a + b of the beta distribution of rewards"))

    def __post_init__(self) -> None:
        super().__post_init__()
        means = tuple(checks.probability(f"means[{arm}]", mean) for arm, mean in enumerate(self.means))
        object.__setattr__(self, "means", means)

    @property
    def family(self) -> families.Family:
        return families.Bounded(0.0, 1.0)

    @property
    def support(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def _core(self) -> _core.Sampler:
        return _samplers.Beta(self.concentration)


def _samples(name: str, value: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(_rewards(f"{name}[{arm}]", values) for arm, values in enumerate(_listed(name, value)))


def _names(name: str, value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    listed = tuple(map(str, _listed(name, value)))
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
    names : sequence of str, or None
        What the arms are called; the names of the mapping or the columns, if None.

    Examples
    --------
    >>> bandit = Empirical({"old": [0, 0, 1], "new": [1, 0, 1, 1]})
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

        >>> Empirical.long({"variant": ["B", "A", "B"], "revenue": [1.5, 0, 2]})
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


BANDITS: dict[str, type[FamilyBandit]] = {
    kind.Family.name: kind
    for kind in (Gaussian, Bernoulli, Binomial, Poisson, Exponential, Gamma, NegativeBinomial)
}
