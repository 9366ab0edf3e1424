"""Reward families: one-parameter exponential families, described by their mean.

A family gives the divergence that KL policies use, and knows which rewards are possible and how far
they can be from their mean.
Bandits (`robai.Gaussian([0.7, 0.2])`) are made of a family and the means of their arms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from robai._base import checks
from robai._base.spec import Field, Kind, Pairs, Part, between, choice, optional, parameter, spec, whole
from robai._core import families as _core

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Binomial",
    "Bounded",
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

Scale = float | tuple[float, ...]  # a standard deviation, or one an arm
Variance = Literal["both", "own", "common"]


def one_an_arm(sigma: Scale, n_arms: int) -> NDArray[np.float64]:
    """The standard deviation of each arm."""
    if isinstance(sigma, tuple) and len(sigma) != n_arms:
        raise ValueError(f"sigma must be one number, or one for each of {n_arms} arms, got {sigma!r}")
    return np.full(n_arms, sigma)


SIGMA = Kind(checks.scales, "standard deviation of the rewards, or one an arm")
OPTIONAL_SIGMA = Kind(optional(checks.scales), SIGMA.about + "; unknown if None")
VARIANCE = Kind(choice(Variance), "which variances an unknown one is estimated from, where sigma is None")
END = Kind(checks.real, "smallest or largest reward")
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
    whole: ClassVar[bool] = False  # are rewards counts

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest reward; the means lie between them too."""
        return (0.0, math.inf)

    @property
    def proxy(self) -> Scale | None:
        """The smallest sigma for which rewards are known to be sigma-sub-Gaussian; None if there is none."""
        return None

    def _domain(self) -> tuple[float, float]:
        low, high = (min(max(end, -LARGEST_MEAN), LARGEST_MEAN) for end in self.support)
        return low, high

    def has_means(self, means: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which numbers of an array can be means of this family."""
        low, high = self._domain()
        return ((means > low) if self.positive_means else (means >= low)) & (means <= high)

    def check_mean(self, name: str, value: Any) -> float:
        """A mean of this family, or a ValueError that names it."""
        mean = checks.real(name, value)
        low, high = self._domain()
        if not low <= mean <= high or (self.positive_means and mean == 0.0):
            left = "(" if self.positive_means else "["
            allowed = f"{left}{low:g}, {high:g}]"
            raise ValueError(f"{name} must be in {allowed} for {self!r}, got {value!r}")
        return mean

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """V(m) of the mean of each arm, of rewards in an interval the largest; infinite if it is unknown."""
        raise NotImplementedError

    def covers(self, other: Family, means: NDArray[np.float64]) -> bool:
        """Is V at each of these means at least that of another family, up to rounding.

        The logarithm of a family's moment generating function grows by psi'' = V(psi'): where V is at least
        the other's at every mean so is psi, and what is a supermartingale for this family is one for both.
        """
        return bool((self.variances(means) >= other.variances(means) * (1.0 - 1e-12)).all())

    def label(self) -> str:
        return repr(self)

    def _core(self, n_arms: int = 1) -> _core.Family:
        """The compiled twin, for a bandit with so many arms."""
        raise NotImplementedError


@spec
class Gaussian(Family):
    """Normal rewards of known or unknown standard deviation: d(p, q) = (p - q)^2 / (2 sigma^2).

    Parameters
    ----------
    sigma : float, one an arm, or None
        The standard deviation; None if it is unknown, and estimated together with the means.
    variance : str
        Where it is unknown: "own" takes every arm's own variance, "common" one for all arms, "both" whichever
        makes the wider bound.
    """

    name: ClassVar[str] = "gaussian"
    exclusive: ClassVar[Pairs] = (("sigma", "variance"),)
    sigma: Field[float | Iterable[float] | None, Scale | None] = parameter(OPTIONAL_SIGMA, default=None)
    variance: Variance = parameter(VARIANCE, default="both")

    @property
    def support(self) -> tuple[float, float]:
        return (-math.inf, math.inf)

    @property
    def proxy(self) -> Scale | None:
        return self.sigma

    def __repr__(self) -> str:
        return f"Gaussian(variance={self.variance!r})" if self.sigma is None else f"Gaussian({self.sigma!r})"

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.square(one_an_arm(math.inf if self.sigma is None else self.sigma, means.size))

    def _core(self, n_arms: int = 1) -> _core.Family:
        if self.sigma is None:
            return _core.UnknownVariance(self.variance)
        return _core.Gaussian(one_an_arm(self.sigma, n_arms))


@spec
class Bernoulli(Family):
    """Success or failure: d(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q))."""

    name: ClassVar[str] = "bernoulli"
    whole: ClassVar[bool] = True

    @property
    def support(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def proxy(self) -> float:
        return 0.5  # as of any reward in [0, 1]: Hoeffding's lemma

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return means * (1.0 - means)

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Bernoulli()


@spec
class Binomial(Family):
    """Successes in n trials, mean in [0, n]: n times the Bernoulli divergence of the mean per trial."""

    name: ClassVar[str] = "binomial"
    whole: ClassVar[bool] = True
    n: int = parameter(TRIALS)

    @property
    def support(self) -> tuple[float, float]:
        return (0.0, float(self.n))

    @property
    def proxy(self) -> float:
        return math.sqrt(self.n) / 2.0

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return means * (1.0 - means / self.n)

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Binomial(self.n)


@spec
class Poisson(Family):
    """Counts: d(p, q) = q - p + p log(p/q)."""

    name: ClassVar[str] = "poisson"
    whole: ClassVar[bool] = True

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return means

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Poisson()


@spec
class Exponential(Family):
    """Waiting times: d(p, q) = p/q - 1 - log(p/q)."""

    name: ClassVar[str] = "exponential"
    positive_means: ClassVar[bool] = True

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.square(means)

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Gamma(1.0)


@spec
class Gamma(Family):
    """Gamma rewards of known shape, from 0.01 to 1e9: shape times the exponential divergence."""

    name: ClassVar[str] = "gamma"
    positive_means: ClassVar[bool] = True
    shape: float = parameter(SHAPE)

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.square(means) / self.shape

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Gamma(self.shape)


@spec
class NegativeBinomial(Family):
    """Failures before the r-th success: d(p, q) = p log(p(r+q) / (q(r+p))) + r log((r+q) / (r+p)).

    r is from 0.001 to 1e15; the limit of a large r is Poisson.
    """

    name: ClassVar[str] = "negative-binomial"
    whole: ClassVar[bool] = True
    r: float = parameter(SUCCESSES)

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return means * (1.0 + means / self.r)

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.NegativeBinomial(self.r)


@spec
class Bounded(Family):
    """Any rewards from `low` to `high`: the Bernoulli divergence of (m - low) / (high - low).

    It holds for all such rewards (Hoeffding, 1963), so that bounds and likelihood ratios are valid, and wide
    where rewards vary less than those that are only `low` or `high`.
    """

    name: ClassVar[str] = "bounded"
    low: float = parameter(END, default=0.0)
    high: float = parameter(END, default=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1e-100 <= self.high - self.low <= 1e100:
            raise ValueError(
                f"high must be above low, by 1e-100 to 1e+100, got {self.high!r} and {self.low!r}"
            )

    @property
    def support(self) -> tuple[float, float]:
        return (self.low, self.high)

    @property
    def proxy(self) -> float:
        return (self.high - self.low) / 2.0

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return (means - self.low) * (self.high - means)

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Bounded(self.low, self.high)


FAMILIES: dict[str, type[Family]] = {
    family.name: family
    for family in (Gaussian, Bernoulli, Binomial, Poisson, Exponential, Gamma, NegativeBinomial, Bounded)
}

# The others have a parameter. "gaussian" is of unknown variance.
FamilyName = Literal["gaussian", "bernoulli", "poisson", "exponential", "bounded"]
FamilyLike = FamilyName | Family
"""What names a family; also a bandit does."""


def known(family: Family) -> Family:
    """The family, where it has to be one whose members differ by their means alone."""
    if isinstance(family, Gaussian) and family.sigma is None:
        raise ValueError(f"family must have a sigma here: say families.Gaussian(1.0), got {family!r}")
    return family


def one_law(family: Family) -> Family:
    """The family, where it has to be the same for all arms, too."""
    if isinstance(known(family), Gaussian) and isinstance(family.proxy, tuple):
        raise ValueError(f"family must have one sigma for all arms here, got {family!r}")
    return family


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
