"""Reward families: one-parameter exponential families, described by their mean.

A family gives the divergence that KL policies use, and knows which rewards are possible.
Bandits (`robai.Gaussian([0.7, 0.2])`) are made of a family and the means of their arms.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np

from robai._base import checks
from robai._base.spec import Kind, Part, between, parameter, spec, whole
from robai._core import families as _core

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Binomial",
    "Exponential",
    "Family",
    "Gamma",
    "Gaussian",
    "NegativeBinomial",
    "Poisson",
    "as_family",
]

# Beyond this a count of events no longer fits the integers that the samplers return.
LARGEST_MEAN = 1e15

SIGMA = Kind(checks.scale, "standard deviation of the rewards")
TRIALS = Kind(whole(1, 10**6), "trials of a reward")
# Below, draws from the posterior overflow and can no longer be compared. Above, the rounding of sums of
# 10^18 rewards comes close to their standard deviation.
SHAPE = Kind(between(0.01, 1e9), "shape of the rewards")
# Below, as for shapes. Above, it is as large as the largest mean: Poisson to all digits.
SUCCESSES = Kind(between(0.001, LARGEST_MEAN), "successes that end a reward")


@spec
class Family(Part):
    """What all families have: a domain of means and a compiled twin."""

    name: ClassVar[str]
    positive_means: ClassVar[bool] = False

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest reward; the means lie between them too."""
        return (0.0, math.inf)

    def check_mean(self, name: str, value: Any) -> float:
        """A mean of this family, or a ValueError that names it."""
        mean = checks.real(name, value)
        low, high = (min(max(end, -LARGEST_MEAN), LARGEST_MEAN) for end in self.support)
        if not low <= mean <= high or (self.positive_means and mean == 0.0):
            left = "(" if self.positive_means else "["
            allowed = f"{left}{low:g}, {high:g}]"
            raise ValueError(f"{name} must be in {allowed} for {self!r}, got {value!r}")
        return mean

    def _core(self, n_arms: int = 1) -> _core.Family:
        """The compiled twin, for a bandit with so many arms."""
        raise NotImplementedError


@spec
class Gaussian(Family):
    """Normal rewards of known standard deviation: d(p, q) = (p - q)^2 / (2 sigma^2)."""

    name: ClassVar[str] = "gaussian"
    sigma: float = parameter(SIGMA, default=1.0)

    @property
    def support(self) -> tuple[float, float]:
        return (-math.inf, math.inf)

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Gaussian(np.full(n_arms, self.sigma))


@spec
class Bernoulli(Family):
    """Success or failure: d(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q))."""

    name: ClassVar[str] = "bernoulli"

    @property
    def support(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Bernoulli()


@spec
class Binomial(Family):
    """Successes in n trials, mean in [0, n]: n times the Bernoulli divergence of the mean per trial."""

    name: ClassVar[str] = "binomial"
    n: int = parameter(TRIALS)

    @property
    def support(self) -> tuple[float, float]:
        return (0.0, float(self.n))

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Binomial(self.n)


@spec
class Poisson(Family):
    """Counts: d(p, q) = q - p + p log(p/q)."""

    name: ClassVar[str] = "poisson"

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Poisson()


@spec
class Exponential(Family):
    """Waiting times: d(p, q) = p/q - 1 - log(p/q)."""

    name: ClassVar[str] = "exponential"
    positive_means: ClassVar[bool] = True

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Gamma(1.0)


@spec
class Gamma(Family):
    """Gamma rewards of known shape, from 0.01 to 1e9: shape times the exponential divergence."""

    name: ClassVar[str] = "gamma"
    positive_means: ClassVar[bool] = True
    shape: float = parameter(SHAPE)

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Gamma(self.shape)


@spec
class NegativeBinomial(Family):
    """Failures before the r-th success: d(p, q) = p log(p(r+q) / (q(r+p))) + r log((r+q) / (r+p)).

    r is from 0.001 to 1e15; the limit of a large r is Poisson.
    """

    name: ClassVar[str] = "negative-binomial"
    r: float = parameter(SUCCESSES)

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.NegativeBinomial(self.r)


FAMILIES: dict[str, type[Family]] = {
    family.name: family
    for family in (Gaussian, Bernoulli, Binomial, Poisson, Exponential, Gamma, NegativeBinomial)
}


FamilyName = Literal["gaussian", "bernoulli", "poisson", "exponential"]  # the others have a parameter
FamilyLike = FamilyName | Family
"""What names a family; also a bandit does."""


def as_family(value: Any) -> Family:
    """The family that a name, a family or a bandit stands for."""
    if isinstance(value, Family):
        return value
    if isinstance(value, str):
        kind = FAMILIES[checks.one_of("family", value.lower().replace("_", "-"), FAMILIES)]
        try:
            return kind()
        except TypeError:
            raise ValueError(
                f"family {value!r} has a parameter: pass robai.families.{kind.__name__}(...) instead"
            ) from None
    family = getattr(value, "family", None)
    if isinstance(family, Family):
        return family
    if hasattr(value, "means"):
        raise ValueError(f"{type(value).__name__} has no family; name one with family=")
    raise TypeError(f"family must be a name, a family of robai.families or a bandit, got {value!r}")
