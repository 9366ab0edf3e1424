"""Kullback-Leibler divergences in terms of means, and the confidence bounds they give.

`family` is a name ("bernoulli", "poisson", "exponential"), a family of `robai.families` such as
``Gamma(shape=2.0)``, or a bandit. The other arguments are numbers or arrays, which broadcast. Means are at
most 1e100 in size; a bound beyond the largest double is infinite.

>>> import math
>>> import robai
>>> pulls, successes = 50, 10
>>> round(robai.kl.upper("bernoulli", successes / pulls, math.log(1000) / pulls), 4)  # of KL-UCB
0.4506
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai.families import FamilyLike, Gaussian, as_family, one_law  # noqa: F401 - Gaussian for the examples

if TYPE_CHECKING:
    from robai.bandits import Bandit

__all__ = ["divergence", "lower", "upper"]

LARGEST = 1e100  # no reward of a simulation comes near; the squares of means must be doubles

Number = float | np.floating[Any] | np.integer[Any]
Array = NDArray[Any] | Sequence[Any]  # an ArrayLike that is no number


@overload
def divergence(family: FamilyLike | Bandit, p: Number, q: Number) -> float: ...
@overload
def divergence(family: FamilyLike | Bandit, p: Array, q: ArrayLike) -> NDArray[np.float64]: ...
@overload
def divergence(family: FamilyLike | Bandit, p: ArrayLike, q: Array) -> NDArray[np.float64]: ...
@overload
def divergence(family: FamilyLike | Bandit, p: ArrayLike, q: ArrayLike) -> float | NDArray[np.float64]: ...
def divergence(family: FamilyLike | Bandit, p: ArrayLike, q: ArrayLike) -> float | NDArray[np.float64]:
    """Divergence d(p, q) of the member of mean q from the member of mean p.

    For Bernoulli rewards d(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)), with 0 log 0 = 0; the other families
    give their formulas in `robai.families`. Accurate to about 15 digits however close p and q are. It is at
    least 0, and +inf where the member of mean q rules out rewards that p allows.

    Parameters
    ----------
    family : str, family or bandit
        Of the rewards.
    p, q : float or array
        Means in the domain of the family; where that is unbounded, q may be above 1e100, and infinite.

    Returns
    -------
    float or ndarray of float

    Examples
    --------
    >>> round(divergence("bernoulli", 0.2, 0.7), 6)
    0.534111
    >>> divergence(Gaussian(1.0), 0.0, [0.5, 1.0])
    array([0.125, 0.5  ])
    """
    return _elementwise("divergence", family, p=p, q=q)


@overload
def upper(family: FamilyLike | Bandit, p: Number, level: Number) -> float: ...
@overload
def upper(family: FamilyLike | Bandit, p: Array, level: ArrayLike) -> NDArray[np.float64]: ...
@overload
def upper(family: FamilyLike | Bandit, p: ArrayLike, level: Array) -> NDArray[np.float64]: ...
@overload
def upper(family: FamilyLike | Bandit, p: ArrayLike, level: ArrayLike) -> float | NDArray[np.float64]: ...
def upper(family: FamilyLike | Bandit, p: ArrayLike, level: ArrayLike) -> float | NDArray[np.float64]:
    """Largest mean q >= p with d(p, q) <= level: the KL upper confidence bound.

    With ``level = log(t) / pulls`` and p the mean of these pulls it is the index of KL-UCB. For Bernoulli
    rewards it is below 1 unless p is 1 or the level infinite, even where the bound is closer to 1 than any
    double: an arm that has failed ranks below one that has not.

    Parameters
    ----------
    family : str, family or bandit
        Of the rewards.
    p : float or array
        Finite means in the domain of the family.
    level : float or array
        Not negative; 0 gives p and +inf the upper end of the domain.

    Returns
    -------
    float or ndarray of float

    Examples
    --------
    >>> round(upper("bernoulli", 0.2, 0.534111), 6)
    0.7
    >>> upper(Gaussian(1.0), 1.0, [0.0, 2.0])
    array([1., 3.])
    """
    return _elementwise("upper", family, p=p, level=level)


@overload
def lower(family: FamilyLike | Bandit, p: Number, level: Number) -> float: ...
@overload
def lower(family: FamilyLike | Bandit, p: Array, level: ArrayLike) -> NDArray[np.float64]: ...
@overload
def lower(family: FamilyLike | Bandit, p: ArrayLike, level: Array) -> NDArray[np.float64]: ...
@overload
def lower(family: FamilyLike | Bandit, p: ArrayLike, level: ArrayLike) -> float | NDArray[np.float64]: ...
def lower(family: FamilyLike | Bandit, p: ArrayLike, level: ArrayLike) -> float | NDArray[np.float64]:
    """Smallest mean q <= p with d(p, q) <= level: the KL lower confidence bound.

    Parameters
    ----------
    family : str, family or bandit
        Of the rewards.
    p : float or array
        Finite means in the domain of the family.
    level : float or array
        Not negative; 0 gives p and +inf the lower end of the domain.

    Returns
    -------
    float or ndarray of float

    Examples
    --------
    >>> round(lower("poisson", 3.0, 0.5), 6)
    1.583974
    """
    return _elementwise("lower", family, p=p, level=level)


def _elementwise(
    which: Literal["divergence", "upper", "lower"], family: FamilyLike | Bandit, **arguments: ArrayLike
) -> float | NDArray[np.float64]:
    """A function of the family at p and q, or p and level, which are checked and broadcast."""
    family = one_law(as_family(family))
    arrays = {name: _numbers(name, values) for name, values in arguments.items()}
    for name, array in arrays.items():
        largest = LARGEST if name == "p" else inf
        low, high = max(family.support[0], -largest), min(family.support[1], largest)
        allowed = array >= 0.0 if name == "level" else (low <= array) & (array <= high)
        if not allowed.all():
            where = "at least 0" if name == "level" else f"in [{low:g}, {high:g}] for {family!r}"
            raise ValueError(f"{name} must be {where}, got {float(array[~allowed][0])}")
    shapes = [array.shape for array in arrays.values()]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"{' and '.join(arrays)} must have shapes that broadcast, got {shapes}") from None
    result = family._core().elementwise(which, *arrays.values())
    return result if result.ndim else result.item()


def _numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError
        with np.errstate(over="ignore"):
            return array.astype(np.float64)
    except OverflowError:  # an integer or a fraction
        raise ValueError(f"{name} must be below 1.8e308 in size, got {values!r}") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or an array of numbers, got {values!r}") from None
