"""Bandits: what the arms pay. Each is a family and the mean reward of every arm."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from robai import families
from robai._core import families as _core

__all__ = [
    "Bernoulli",
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


class Bandit:
    """What all bandits have.

    Attributes
    ----------
    means : tuple of float
        The mean reward of each arm.
    family : robai.families.Family or None
        The reward family; None for data, which has none.
    """

    means: tuple[float, ...]

    @property
    def family(self) -> families.Family | None:
        raise NotImplementedError

    @property
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

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest reward."""
        return self.family.support

    def __repr__(self) -> str:
        if self.n_arms <= MOST_ARMS_SHOWN:
            means = repr(self.means)
        else:
            means = f"({self.means[0]!r}, ..., {self.means[-1]!r}: {self.n_arms:,} arms)"
        others = (
            f", {each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.name != "means"
        )
        return f"{type(self).__name__}(means={means}{''.join(others)})"

    def _core(self) -> _core.Family:
        return self.family._core()

    def _check_means(self) -> None:
        values = _listed("means", self.means)
        if len(values) < 2:
            raise ValueError(f"means must have at least two arms, got {len(values)}")
        check = self.family.check_mean
        means = tuple(check(f"means[{arm}]", mean) for arm, mean in enumerate(values))
        object.__setattr__(self, "means", means)


def _listed(name: str, values: Any) -> list:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence with one entry an arm, got {values!r}")
    return list(values)


@dataclass(frozen=True, repr=False)
class Gaussian(Bandit):
    """Normal rewards with the same standard deviation, sigma, for every arm."""

    means: tuple[float, ...]
    sigma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", self.family.sigma)
        self._check_means()

    @property
    def family(self) -> families.Family:
        return families.Gaussian(self.sigma)


@dataclass(frozen=True, repr=False)
class Bernoulli(Bandit):
    """Rewards 0 and 1; a mean is the probability of 1."""

    means: tuple[float, ...]

    def __post_init__(self) -> None:
        self._check_means()

    @property
    def family(self) -> families.Family:
        return families.Bernoulli()


@dataclass(frozen=True, repr=False)
class Binomial(Bandit):
    """Rewards 0 to n, successes in n trials; means are mean rewards, from 0 to n."""

    means: tuple[float, ...]
    n: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", self.family.n)
        self._check_means()

    @property
    def family(self) -> families.Family:
        return families.Binomial(self.n)


@dataclass(frozen=True, repr=False)
class Poisson(Bandit):
    """Counts."""

    means: tuple[float, ...]

    def __post_init__(self) -> None:
        self._check_means()

    @property
    def family(self) -> families.Family:
        return families.Poisson()


@dataclass(frozen=True, repr=False)
class Exponential(Bandit):
    """Exponentially distributed rewards."""

    means: tuple[float, ...]

    def __post_init__(self) -> None:
        self._check_means()

    @property
    def family(self) -> families.Family:
        return families.Exponential()


@dataclass(frozen=True, repr=False)
class Gamma(Bandit):
    """Gamma distributed rewards with the same shape for every arm."""

    means: tuple[float, ...]
    shape: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", self.family.shape)
        self._check_means()

    @property
    def family(self) -> families.Family:
        return families.Gamma(self.shape)


@dataclass(frozen=True, repr=False)
class NegativeBinomial(Bandit):
    """Counts with variance mean + mean^2 / r."""

    means: tuple[float, ...]
    r: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", self.family.r)
        self._check_means()

    @property
    def family(self) -> families.Family:
        return families.NegativeBinomial(self.r)


@dataclass(frozen=True, repr=False)
class Empirical(Bandit):
    """Rewards drawn, with replacement, from data: one sequence of observed rewards an arm.

    The means are those of the data. It has no family of its own, so KL policies and Thompson
    sampling must be told one: `KLUCB(family="bernoulli")` serves rewards in [0, 1].
    """

    samples_per_arm: tuple[tuple[float, ...], ...]
    family: ClassVar[None] = None

    def __post_init__(self) -> None:
        arms = _listed("samples_per_arm", self.samples_per_arm)
        if len(arms) < 2:
            raise ValueError(f"samples_per_arm must have at least two arms, got {len(arms)}")
        samples = []
        for arm, values in enumerate(arms):
            name = f"samples_per_arm[{arm}]"
            listed = _listed(name, values)
            try:
                values = np.asarray(listed)
            except ValueError:  # lists of different lengths in it
                values = np.asarray(listed, dtype=object)
            if values.size and (values.ndim != 1 or values.dtype.kind not in "biuf"):
                raise TypeError(f"{name} must be a sequence of numbers, got {listed!r}")
            if values.size == 0:
                raise ValueError(f"{name} must have at least one reward, got none")
            values = values.astype(float)
            if not np.isfinite(values).all():
                raise ValueError(f"{name} must be finite, got {values[~np.isfinite(values)][0]!r}")
            if beyond := values[np.abs(values) > LARGEST_REWARD].tolist():
                raise ValueError(
                    f"{name} must be from {-LARGEST_REWARD:g} to {LARGEST_REWARD:g}, got {beyond[0]}"
                )
            samples.append(tuple(values.tolist()))
        object.__setattr__(self, "samples_per_arm", tuple(samples))

    def __repr__(self) -> str:
        arms = self.samples_per_arm
        if len(arms) > MOST_ARMS_SHOWN:
            return f"Empirical({sum(map(len, arms)):,} rewards of {len(arms):,} arms)"
        sizes = ", ".join(f"{len(values):,} rewards" for values in arms)
        return f"Empirical({sizes})"

    @cached_property
    def means(self) -> tuple[float, ...]:
        return tuple(math.fsum(value / len(values) for value in values) for values in self.samples_per_arm)

    @cached_property
    def support(self) -> tuple[float, float]:
        return (min(map(min, self.samples_per_arm)), max(map(max, self.samples_per_arm)))

    @cached_property
    def _arrays(self) -> list[np.ndarray]:
        return [np.array(values) for values in self.samples_per_arm]

    def _core(self) -> _core.Family:
        return _core.Empirical(self._arrays)


BANDITS: dict[str, type[Bandit]] = {
    "gaussian": Gaussian,
    "bernoulli": Bernoulli,
    "binomial": Binomial,
    "poisson": Poisson,
    "exponential": Exponential,
    "gamma": Gamma,
    "negative-binomial": NegativeBinomial,
}
