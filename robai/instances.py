"""Random instances: a bandit whose arms have other means in every run."""

# pyright: reportIncompatibleMethodOverride=false
# Fields take the place of properties: see `replaceable`.
from __future__ import annotations

import dataclasses
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from robai import families, priors
from robai._base import checks
from robai._base.spec import Field, Kind, Spec, parameter, spec
from robai._core import families as _core
from robai.bandits import Bandit

__all__ = ["Instances"]

MOST_ARMS = 10**5


def _law(name: str, value: Any) -> families.Family:
    """A family that rewards can be drawn from."""
    family = families.known(families.as_family(value))
    if isinstance(family, families.Bounded):
        raise ValueError(f"{name} must be one that rewards can be drawn from, got {family!r}")
    return family


def _arms(name: str, value: Any) -> int | None:
    return None if value is None else checks.whole(name, value, 2, MOST_ARMS)


@spec
class Instances(Bandit):
    """A bandit whose arms have other means in every run, drawn from a prior.

    It stands wherever a bandit does in `simulate` and `compare`. The means of run r depend on the seed and on
    r alone, so that all policies of a comparison meet the same instances; rewards are those that a bandit
    with these means would give in the same run.

    Parameters
    ----------
    family
        What the rewards are: "bernoulli", `families.Gaussian(1.0)`, ...
    prior : prior, callable or array
        One of `robai.priors`; a function `prior(rng, size)` that returns `size` rows of means; or an array,
        instances x arms, of which run r takes row r modulo their number.
    n_arms
        The number of arms; that of an array if it is left out.

    Examples
    --------
    >>> import robai
    >>> instances = Instances("bernoulli", priors.Uniform(0, 1), n_arms=10)
    >>> result = robai.simulate(robai.KLUCB(), instances, horizon=1000, runs=300, rng=0)
    >>> result.means.shape
    (300, 10)
    """

    family: Field[families.FamilyLike, families.Family] = parameter(Kind(_law, "family of the rewards"))
    prior: Field[Any, priors.Prior] = parameter(Kind(priors.as_prior, "where the means come from"))
    n_arms: Field[int | None, int] = parameter(Kind(_arms, "number of arms"), default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.prior.means if isinstance(self.prior, priors.Given) else None
        if self.n_arms is None:
            if given is None:
                raise TypeError(f"n_arms must be a whole number for {self.prior!r}, got None")
            object.__setattr__(self, "n_arms", checks.whole("n_arms", given.shape[1], 2, MOST_ARMS))
        if given is not None:
            if given.shape[1] != self.n_arms:
                raise ValueError(f"n_arms must be that of the prior, {given.shape[1]}, got {self.n_arms}")
            self._check("row", given)
        if isinstance(self.family, families.Gaussian) and self.family.sigma is not None:
            families.one_an_arm(self.family.sigma, self.n_arms)

    @property
    def means(self) -> NoReturn:
        """There are none: every run has others, see `Result.means`. A ValueError."""
        raise ValueError(f"{self!r} has no means of its own: every run has others, see Result.means")

    @property
    def support(self) -> tuple[float, float]:
        return self.family.support

    def draw(self, rng: np.random.Generator, runs: range) -> NDArray[np.float64]:
        """The means of these runs; a ValueError if the family has no such means.

        Parameters
        ----------
        rng : numpy.random.Generator
            Where to draw from.
        runs : range
            The numbers of the runs.

        Returns
        -------
        ndarray of float
            Runs x arms.

        Examples
        --------
        >>> instances = Instances("bernoulli", priors.Uniform(0, 1), n_arms=3)
        >>> instances.draw(np.random.default_rng(0), range(1)).round(3).tolist()
        [[0.637, 0.27, 0.041]]
        """
        means = self.prior.draw(rng, runs, self.n_arms)
        self._check("run", means, runs.start)
        return means

    def drawn(self) -> Instances:
        """Itself without the prior, for whoever has the means.

        Returns
        -------
        Instances

        Examples
        --------
        >>> Instances("bernoulli", priors.Uniform(0, 1), n_arms=3).drawn()
        Instances(family=Bernoulli(), prior=Drawn(), n_arms=3)
        """
        return dataclasses.replace(self, prior=priors.Drawn())

    def _check(self, kind: str, means: NDArray[np.float64], first: int = 0) -> None:
        for row, arm in np.argwhere(~self.family.has_means(means))[:1].tolist():
            where = f"prior ({kind} {first + row}, arm {arm})"
            self.family.check_mean(where, float(means[row, arm]))

    def __repr__(self) -> str:
        return Spec.__repr__(self)  # that of bandits counts the means of many arms

    def obstacle(self) -> str:
        return f"{self.prior!r} is written in Python" if isinstance(self.prior, priors.Function) else ""

    @classmethod
    def _part(cls, name: str) -> type[Spec]:
        return priors.Prior if name == "prior" else super()._part(name)

    def _core(self) -> _core.Sampler:
        return self.family._core(self.n_arms)
