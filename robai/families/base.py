"""What all families have."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from robai._base import checks
from robai._base.spec import Part, spec
from robai._core import families as _core

# Beyond this a count of events no longer fits the integers that the samplers return.
LARGEST_MEAN = 1e15

Scale = float | tuple[float, ...]  # a standard deviation, or one an arm


def one_an_arm(sigma: Scale, n_arms: int) -> NDArray[np.float64]:
    """The standard deviation of each arm."""
    if isinstance(sigma, tuple) and len(sigma) != n_arms:
        raise ValueError(f"sigma must be one number, or one for each of {n_arms} arms, got {sigma!r}")
    return np.full(n_arms, sigma)


@spec
class Family(Part):
    """What all families have: a domain of means and a compiled twin.

    Examples
    --------
    >>> import robai
    >>> family = robai.Poisson([5.0, 3.0]).family
    >>> isinstance(family, Family), family.name, family.support
    (True, 'poisson', (0.0, inf))
    """

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
        """Which numbers of an array can be means of this family.

        Parameters
        ----------
        means : ndarray of float
            The numbers.

        Returns
        -------
        ndarray of bool

        Examples
        --------
        >>> import robai
        >>> robai.families.Bernoulli().has_means(np.array([0.5, 1.5])).tolist()
        [True, False]
        """
        low, high = self._domain()
        return ((means > low) if self.positive_means else (means >= low)) & (means <= high)

    def check_mean(self, name: str, value: Any) -> float:
        """A mean of this family, or a ValueError that names it.

        Parameters
        ----------
        name : str
            What to call it in the message.
        value : float
            The number.

        Returns
        -------
        float

        Examples
        --------
        >>> import robai
        >>> robai.families.Bernoulli().check_mean("mean", 1.5)
        Traceback (most recent call last):
        ValueError: mean must be in [0, 1] for Bernoulli(), got 1.5
        """
        mean = checks.real(name, value)
        low, high = self._domain()
        if not low <= mean <= high or (self.positive_means and mean == 0.0):
            left = "(" if self.positive_means else "["
            allowed = f"{left}{low:g}, {high:g}]"
            raise ValueError(f"{name} must be in {allowed} for {self!r}, got {value!r}")
        return mean

    def variances(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """V(m) of the mean of each arm, of rewards in an interval the largest; infinite if it is unknown.

        Parameters
        ----------
        means : ndarray of float
            One an arm.

        Returns
        -------
        ndarray of float

        Examples
        --------
        >>> import robai
        >>> robai.families.Gamma(2.0).variances(np.array([5.0, 3.0])).tolist()
        [12.5, 4.5]
        """
        raise NotImplementedError

    def covers(self, other: Family, means: NDArray[np.float64]) -> bool:
        """Is V at each of these means at least that of another family, up to rounding.

        The logarithm of a family's moment generating function grows by psi'' = V(psi'): where V is at least
        the other's at every mean so is psi, and what is a supermartingale for this family is one for both.

        Parameters
        ----------
        other : Family
            The other.
        means : ndarray of float
            Where.

        Returns
        -------
        bool

        Examples
        --------
        >>> from robai import families
        >>> [families.Gaussian(s).covers(families.Bernoulli(), np.array([0.2, 0.7])) for s in (0.4, 0.5)]
        [False, True]
        """
        return bool((self.variances(means) >= other.variances(means) * (1.0 - 1e-12)).all())

    def label(self) -> str:
        return repr(self)

    def _core(self, n_arms: int = 1) -> _core.Family:
        """The compiled twin, for a bandit with so many arms."""
        raise NotImplementedError
