"""Reward families: one-parameter exponential families, described by their mean.

A family gives the divergence that KL policies use, and knows which rewards are possible and how far
they can be from their mean.
Bandits (`robai.Gaussian([0.7, 0.2])`) are made of a family and the means of their arms.

>>> import robai
>>> robai.kl.divergence(robai.families.Gaussian(2.0), 0.0, 1.0)
0.125
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from robai._base import checks
from robai._base.spec import Field, Kind, Pairs, between, choice, optional, parameter, spec, whole
from robai._core import families as _core
from robai.families.base import LARGEST_MEAN, Family
from robai.families.base import Scale as Scale
from robai.families.base import one_an_arm as one_an_arm

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

Variance = Literal["both", "own", "common"]

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
class Gaussian(Family):
    """Normal rewards of known or unknown standard deviation: d(p, q) = (p - q)^2 / (2 sigma^2).

    Parameters
    ----------
    sigma
        The standard deviation; None if it is unknown, and estimated together with the means.
    variance
        Where it is unknown: "own" takes every arm's own variance, "common" one for all arms, "both" whichever
        makes the wider bound.

    Examples
    --------
    >>> import robai
    >>> robai.KLUCB(family=Gaussian()).family, Gaussian(2.0).proxy
    (Gaussian(variance='both'), 2.0)
    >>> robai.Agent(robai.KLUCB(), 2, 1000, reward=Gaussian(2.0)).horizon
    1000
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
    """Success or failure: d(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)).

    Examples
    --------
    >>> import robai
    >>> round(robai.kl.divergence(Bernoulli(), 0.2, 0.7), 4), Bernoulli().proxy
    (0.5341, 0.5)
    """

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
    """Successes in n trials, mean in [0, n]: n times the Bernoulli divergence of the mean per trial.

    Examples
    --------
    >>> import robai
    >>> round(robai.kl.divergence(Binomial(10), 2.0, 7.0), 4)
    5.3411
    """

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
    """Counts: d(p, q) = q - p + p log(p/q).

    Examples
    --------
    >>> import robai
    >>> round(robai.kl.divergence(Poisson(), 3.0, 5.0), 4)
    0.4675
    """

    name: ClassVar[str] = "poisson"
    whole: ClassVar[bool] = True

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return means

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Poisson()


@spec
class Exponential(Family):
    """Waiting times: d(p, q) = p/q - 1 - log(p/q).

    Examples
    --------
    >>> import robai
    >>> round(robai.kl.upper(Exponential(), 1.0, 0.1), 4)
    1.6212
    """

    name: ClassVar[str] = "exponential"
    positive_means: ClassVar[bool] = True

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.square(means)

    def _core(self, n_arms: int = 1) -> _core.Family:
        return _core.Gamma(1.0)


@spec
class Gamma(Family):
    """Gamma rewards of known shape, from 0.01 to 1e9: shape times the exponential divergence.

    Examples
    --------
    >>> import robai
    >>> round(robai.kl.upper(Gamma(4.0), 1.0, 0.4), 4)
    1.6212
    """

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

    Examples
    --------
    >>> import robai
    >>> [round(robai.kl.divergence(NegativeBinomial(r), 3.0, 5.0), 4) for r in (1.0, 1e9)]
    [0.0894, 0.4675]
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

    Examples
    --------
    >>> import robai
    >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], 10_000, reward=Bounded(0.0, 1000.0))
    >>> agent.update("A", 1200.0)
    Traceback (most recent call last):
    ValueError: reward must be a finite number from 0 to 1000, got 1200.0
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
"""All families, by the names that `as_family` knows."""

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
    """The family that a name, a family or a bandit stands for.

    Parameters
    ----------
    value : str, Family or bandit
        What names it.

    Returns
    -------
    Family

    Examples
    --------
    >>> import robai
    >>> as_family("bernoulli"), as_family(robai.Gamma([1.0, 2.0], shape=3.0))
    (Bernoulli(), Gamma(shape=3.0))
    """
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
