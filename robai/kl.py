"""Kullback-Leibler divergences in terms of means, and the confidence bounds they give.

`family` is a name ("bernoulli", "poisson", "exponential", "gaussian"), a family of
`robai.families` such as ``Gamma(shape=2.0)``, or a bandit. All arguments broadcast.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai.families import Family, as_family

__all__ = ["divergence", "lower", "upper"]


def divergence(family: Any, p: ArrayLike, q: ArrayLike) -> float | NDArray[np.float64]:
    """Divergence d(p, q) of the member of mean q from the member of mean p.

    For Bernoulli rewards d(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)), with 0 log 0 = 0; the
    other families give their formulas in `robai.families`. Accurate to about 15 digits however
    close p and q are.

    Parameters
    ----------
    family : str, family or bandit
    p, q : array_like
        Means in the domain of the family. q may be infinite where the domain is unbounded.

    Returns
    -------
    float or ndarray
        At least 0, and +inf where the member of mean q rules out rewards that p allows.

    Examples
    --------
    >>> import robai
    >>> round(robai.kl.divergence("bernoulli", 0.2, 0.7), 6)
    0.534111
    >>> robai.kl.divergence("gaussian", 0.0, [0.5, 1.0])
    array([0.125, 0.5  ])
    """
    family = as_family(family)
    return _apply("divergence", family, _means(family, "p", p), _means(family, "q", q, finite=False))


def upper(family: Any, p: ArrayLike, level: ArrayLike) -> float | NDArray[np.float64]:
    """Largest mean q >= p with d(p, q) <= level: the KL upper confidence bound.

    With ``level = log(t) / pulls`` and p the mean of these pulls it is the index of KL-UCB.

    Parameters
    ----------
    family : str, family or bandit
    p : array_like
        Finite means in the domain of the family.
    level : array_like
        Not negative; 0 gives p and +inf the upper end of the domain.

    Returns
    -------
    float or ndarray
        For Bernoulli rewards below 1 unless p is 1 or the level infinite, even where the bound
        is closer to 1 than any double: an arm that has failed ranks below one that has not.

    Examples
    --------
    >>> import robai
    >>> round(robai.kl.upper("bernoulli", 0.2, 0.534111), 6)
    0.7
    >>> robai.kl.upper("gaussian", 1.0, [0.0, 2.0])
    array([1., 3.])
    """
    family = as_family(family)
    return _apply("upper", family, _means(family, "p", p), _levels(level))


def lower(family: Any, p: ArrayLike, level: ArrayLike) -> float | NDArray[np.float64]:
    """Smallest mean q <= p with d(p, q) <= level: the KL lower confidence bound.

    Parameters
    ----------
    family : str, family or bandit
    p : array_like
        Finite means in the domain of the family.
    level : array_like
        Not negative; 0 gives p and +inf the lower end of the domain.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> import robai
    >>> round(robai.kl.lower("poisson", 3.0, 0.5), 6)
    1.583974
    """
    family = as_family(family)
    return _apply("lower", family, _means(family, "p", p), _levels(level))


def _apply(
    which: Literal["divergence", "upper", "lower"],
    family: Family,
    p: NDArray[np.float64],
    other: NDArray[np.float64],
) -> float | NDArray[np.float64]:
    result = family._core().elementwise(which, p, other)
    return result if result.ndim else result.item()


def _means(family: Family, name: str, values: ArrayLike, finite: bool = True) -> NDArray[np.float64]:
    values = np.asarray(values, dtype=np.float64)
    low, high = family.support
    allowed = (low <= values) & (values <= high)
    if finite:
        allowed &= np.isfinite(values)
    if not allowed.all():
        domain = f"{'finite and ' if finite else ''}in [{low:g}, {high:g}] for {family!r}"
        raise ValueError(f"{name} must be {domain}, got {_first(values, allowed)}")
    return values


def _levels(level: ArrayLike) -> NDArray[np.float64]:
    level = np.asarray(level, dtype=np.float64)
    allowed = level >= 0.0
    if not allowed.all():
        raise ValueError(f"level must be at least 0, got {_first(level, allowed)}")
    return level


def _first(values: NDArray[np.float64], allowed: NDArray[np.bool_]) -> float:
    return values[~allowed][0].item()
