"""Bandits of a law with the mean of every arm."""

# pyright: reportIncompatibleMethodOverride=false
# Fields take the place of properties: see `replaceable`.
from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import ClassVar

from robai import families
from robai._base import checks
from robai._base.spec import Field, Kind, between, parameter, spec
from robai._core import families as _core
from robai._core import samplers as _samplers
from robai.bandits.base import MEANS, Bandit, Means


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
        """The reward family."""
        return self.Family(**{name: value for name, value in self._parameters() if name != "means"})

    @property
    def support(self) -> tuple[float, float]:
        return self.family.support

    def _core(self) -> _core.Sampler:
        return self.family._core(self.n_arms)


@spec
class Gaussian(FamilyBandit):
    """Normal rewards with the same standard deviation, sigma, for every arm, or one for each.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Gaussian([0.7, 0.2], sigma=(1.0, 2.0))
    >>> round(robai.theory.lai_robbins(bandit), 6)
    16.0
    """

    Family = families.Gaussian
    means: Means = parameter(MEANS)
    sigma: Field[float | Iterable[float], families.Scale] = parameter(families.SIGMA, default=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        families.one_an_arm(self.sigma, self.n_arms)


@spec
class Bernoulli(FamilyBandit):
    """Rewards 0 and 1; a mean is the probability of 1.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Bernoulli([0.05, 0.04])
    >>> robai.simulate(robai.KLUCB(), bandit, 10**5, 100, rng=0).best_arm
    0
    """

    Family = families.Bernoulli
    means: Means = parameter(MEANS)


@spec
class Binomial(FamilyBandit):
    """Rewards 0 to n, successes in n trials; means are mean rewards, from 0 to n.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Binomial([7.0, 2.0], n=10)
    >>> bandit.support, round(robai.theory.kl_min(bandit), 3)
    ((0.0, 10.0), 5.341)
    """

    Family = families.Binomial
    means: Means = parameter(MEANS)
    n: int = parameter(families.TRIALS)


@spec
class Poisson(FamilyBandit):
    """Counts.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Poisson([5.0, 3.0])
    >>> robai.simulate(robai.KLUCB(), bandit, 10**4, 100, rng=0).regret_at(10**4).value < 50
    True
    """

    Family = families.Poisson
    means: Means = parameter(MEANS)


@spec
class Exponential(FamilyBandit):
    """Exponentially distributed rewards.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Exponential([2.0, 1.0])
    >>> robai.simulate(robai.KLEOCPUG(), bandit, 10**5, 100, rng=0).digest().commit_median
    789.0
    """

    Family = families.Exponential
    means: Means = parameter(MEANS)


@spec
class Gamma(FamilyBandit):
    """Gamma distributed rewards with the same shape for every arm.

    Examples
    --------
    >>> import robai
    >>> bandits = [robai.Gamma([2.0, 1.0], shape=shape) for shape in (0.5, 5.0)]
    >>> [round(robai.theory.lai_robbins(bandit), 2) for bandit in bandits]
    [10.35, 1.04]
    """

    Family = families.Gamma
    means: Means = parameter(MEANS)
    shape: float = parameter(families.SHAPE)


@spec
class NegativeBinomial(FamilyBandit):
    """Counts with variance mean + mean^2 / r.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.NegativeBinomial([5.0, 3.0], r=2.0)
    >>> both = bandit, robai.Poisson(bandit.means)
    >>> [round(robai.theory.lai_robbins(each), 2) for each in both]
    [13.34, 4.28]
    """

    Family = families.NegativeBinomial
    means: Means = parameter(MEANS)
    r: float = parameter(families.SUCCESSES)


@spec
class Beta(Bandit):
    """Rewards in [0, 1] that are not binary: Beta(c m, c (1 - m)) for an arm of mean m, c the concentration.

    Their variance is m (1 - m) / (c + 1): concentration 0 would be Bernoulli. Means are strictly between 0
    and 1. Policies take the rewards for any rewards in [0, 1], `families.Bounded(0, 1)`.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Beta([0.7, 0.2], concentration=4.0)
    >>> bandit.family, bandit.proxy
    (Bounded(low=0.0, high=1.0), 0.5)
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


BANDITS: dict[str, type[FamilyBandit]] = {
    kind.Family.name: kind
    for kind in (Gaussian, Bernoulli, Binomial, Poisson, Exponential, Gamma, NegativeBinomial)
}
