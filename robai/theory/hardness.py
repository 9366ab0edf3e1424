"""How hard a bandit is. `robai.theory` offers these functions.

The lower limit on regret (Lai and Robbins), the smallest divergence that KL-EOCP must know, and the
proportions and the time of best arm identification (Garivier and Kaufmann).

In the paper's symbols: `best` is a*, means are mu_a, gaps are Delta_a, divergence(p, q) is KL(p, q).
A bandit may also be given as plain means with its `family`.
"""

from math import log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai._base import checks
from robai._core.proportions import Proportions
from robai.bandits import Bandit
from robai.families import Bounded, Family, FamilyLike, Gaussian, as_family, known, one_an_arm
from robai.kl import divergence

__all__ = ["kl_min", "lai_robbins", "mu_prime", "regret_lower_bound", "weights"]

Arms = Bandit | ArrayLike  # or plain means
Rewards = FamilyLike | None  # the bandit's own, if None
Given = float | None

_TINY = np.finfo(np.float64).tiny


def lai_robbins(bandit: Arms, *, family: Rewards = None) -> float:
    """Regret per log T that no uniformly good policy can beat, asymptotically.

    In symbols::

        sum over a with Delta_a > 0 of Delta_a / KL(mu_a, mu_best)

    Eq. (1) of the paper (label eq:reg_lb), due to Lai and Robbins 1985. For Gaussian rewards it is the sum
    of 2 sigma_a^2 / Delta_a.

    Parameters
    ----------
    bandit : bandit or sequence of float
        The bandit, or its means. Of means with a row an instance, `Result.means` of `robai.Instances`, it is
        the mean over the rows.
    family : family, name or None
        Of the rewards, with plain means.

    Returns
    -------
    float

    Examples
    --------
    >>> round(lai_robbins([0.7, 0.2], family=Gaussian(1.0)), 6)
    4.0
    >>> round(lai_robbins([[0.7, 0.2], [0.2, 0.4]], family=Gaussian(1.0)), 6)
    7.0
    >>> round(lai_robbins([0.7, 0.2], family="bernoulli"), 6)
    0.936135
    """
    if not isinstance(bandit, Bandit) and np.ndim(getattr(bandit, "means", bandit)) == 2:
        return _mean_lai_robbins(bandit, family)
    means, family = read(bandit, family)
    if isinstance(family, Bounded):
        raise ValueError(
            f"family must be one law for each mean, of which rewards in an interval are many, got {family!r}"
        )
    gaps = means.max() - means
    worse = gaps > 0
    if isinstance(family, Gaussian) and isinstance(family.sigma, tuple):
        return float(np.sum(2.0 * np.square(one_an_arm(family.sigma, means.size))[worse] / gaps[worse]))
    return float(np.sum(gaps[worse] / distances(family, means[worse], means.max())))


def _mean_lai_robbins(instances: Any, family: Rewards) -> float:
    """The mean over the rows of means."""
    means = np.asarray(getattr(instances, "means", instances), dtype=np.float64)
    if means.shape[0] < 1 or means.shape[1] < 2:
        raise ValueError(f"means must have a row and two arms at least, got shape {means.shape}")
    if family is None:
        raise TypeError(f"family must be given with means of many instances, got None with {instances!r}")
    family = known(as_family(family))
    for row, arm in np.argwhere(~family.has_means(means))[:1].tolist():
        family.check_mean(f"means[{row}, {arm}]", float(means[row, arm]))
    best = np.broadcast_to(means.max(axis=1, keepdims=True), means.shape)
    gaps = best - means
    worse, limits = gaps > 0, np.zeros_like(gaps)
    if isinstance(family, Gaussian) and family.sigma is not None:
        squares = np.broadcast_to(np.square(one_an_arm(family.sigma, means.shape[1])), means.shape)
        limits[worse] = 2.0 * squares[worse] / gaps[worse]
    else:
        limits[worse] = gaps[worse] / distances(family, means[worse], best[worse])
    return float(limits.sum(axis=1).mean())


def regret_lower_bound(bandit: Arms, horizon: float, *, family: Rewards = None) -> float:
    """The Lai-Robbins constant times log T, Eq. (1) of the paper (label eq:reg_lb).

    A limit as T grows, for policies that are good on every bandit: not a bound at any one T. EOCP is below it
    at every T (38.2 on the bandit below), because it is told the gap.

    Parameters
    ----------
    bandit : bandit or sequence of float
        The bandit, or its means.
    horizon : float
        T, the number of rounds.
    family : family, name or None
        Of the rewards, with plain means.

    Returns
    -------
    float

    Examples
    --------
    >>> round(regret_lower_bound([0.7, 0.2], 10**6, family=Gaussian(1.0)), 4)
    55.262
    """
    return lai_robbins(bandit, family=family) * log(checks.at_least("horizon", horizon, 2))


def kl_min(bandit: Arms, *, family: Rewards = None) -> float:
    """The smallest divergence of a bandit, of which KL-EOCP must know a lower bound.

    In symbols::

        KL_min = min over a of min{ KL(mu_a, mu_best), 4 KL(mu'_a, mu_a) },   mu'_a from `mu_prime`

    Paper, section "Regret Optimality for General Bandits", before Algorithm 3. Gaussian: gap^2 / (2 sigma^2).
    With one sigma an arm the first divergence is that of arm a and the second, of how far the best arm's mean
    must be from mu'_a, that of the best arm.

    Parameters
    ----------
    bandit : bandit or sequence of float
        The bandit, or its means.
    family : family, name or None
        Of the rewards, with plain means.

    Returns
    -------
    float

    Examples
    --------
    >>> round(kl_min([0.7, 0.2], family=Gaussian(1.0)), 6)
    0.125
    >>> round(kl_min([0.7, 0.2], family="bernoulli"), 6)
    0.534111
    >>> round(kl_min([0.7, 0.2], family=Gaussian((1.0, 2.0))), 6)
    0.03125
    """
    means, family = read(bandit, family)
    best, others = unique_best(means)
    if not isinstance(family.proxy, tuple):
        _need_finite(family, distances(family, means[others], means[best]), means[best])
    return float(smallest_divergences(means[np.newaxis], family)[0])


def smallest_divergences(means: NDArray[np.float64], family: Family) -> NDArray[np.float64]:
    """`kl_min` of each row; 0 where several arms are best.

    At the edge of the domain, where KL(mu_a, mu_best) is infinite, mu'_a is its limit, mu_best.
    """
    order = np.argsort(means, axis=1)
    ranked = np.take_along_axis(means, order, axis=1)
    top, rest = ranked[:, -1:], ranked[:, :-1]
    if isinstance(family, Gaussian) and family.sigma is not None:
        sigma = one_an_arm(family.sigma, means.shape[1])[order]
        smallest: NDArray[np.float64] = ((top - rest) / np.maximum(sigma[:, :-1], sigma[:, -1:])).min(axis=1)
        return smallest**2 / 2
    top = np.broadcast_to(top, rest.shape)
    backward = 4 * divergence(family, share_point(family, rest, top, 0.25), rest)
    smallest = np.minimum(divergence(family, rest, top), backward).min(axis=1)
    return smallest


def mu_prime(bandit: Arms, *, family: Rewards = None) -> NDArray[np.float64]:
    """The point between each arm's mean and the best one's at a quarter of their divergence.

    In symbols::

        mu'_a in (mu_a, mu_best) with 4 KL(mu'_a, mu_best) = KL(mu_a, mu_best)

    Paper, before Algorithm 3. Gaussian: halfway.

    Parameters
    ----------
    bandit : bandit or sequence of float
        The bandit, or its means.
    family : family, name or None
        Of the rewards, with plain means.

    Returns
    -------
    ndarray of float
        One value an arm; the best arm's is its own mean.

    Examples
    --------
    >>> mu_prime([0.7, 0.2], family="bernoulli").round(6).tolist()
    [0.7, 0.450977]
    """
    means, family = read(bandit, family)
    best, others = unique_best(means)
    points = means.copy()
    if isinstance(family, Gaussian):  # whatever sigma is
        points[others] = means[others] + (means[best] - means[others]) / 2
        return points
    _need_finite(family, distances(family, means[others], means[best]), means[best])
    points[others] = share_point(family, means[others], means[best], 0.25)
    return points


def _need_finite(family: Family, divergences: NDArray[np.float64], top: float) -> None:
    if not np.all(np.isfinite(divergences)):
        raise ValueError(
            f"the largest of the means must not be at the edge of the domain of {family!r}, where the "
            f"divergence of the others from it is infinite, got {float(top)!r}"
        )


def share_point(
    family: Family, mean: NDArray[np.float64], top: float | NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """The point r in (mean, top) with KL(r, top) = share * KL(mean, top), for each mean."""
    whole = divergence(family, mean, top)
    # Bisection, to the last bit, for the part of the way from top down to mean.
    low, high = np.zeros_like(mean), np.ones_like(mean)
    for _ in range(1100):  # enough to reach the smallest double; 55 steps are usual
        middle = low + (high - low) / 2
        inside = (low < middle) & (middle < high)
        if not np.any(inside):
            break
        below = divergence(family, top - middle * (top - mean), top) < share * whole
        low = np.where(inside & below, middle, low)
        high = np.where(inside & ~below, middle, high)
    return top - high * (top - mean)


def distances(family: Family, p: NDArray[np.float64], q: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Divergences of means that differ; an error where that is too small for a double."""
    result = divergence(family, p, q)
    if np.any(result < _TINY):
        raise ValueError(
            f"means must be further apart for {family!r}, got two of divergence below {_TINY:.2g}"
        )
    return result


def weights(bandit: Arms, *, family: Rewards = None) -> tuple[NDArray[np.float64], float]:
    """Optimal proportions w* of best arm identification and the characteristic time T*.

    In symbols::

        1 / T* = max over w of min over a of  w_best d(mu_best, c_a) + w_a d(mu_a, c_a),
        c_a = (w_best mu_best + w_a mu_a) / (w_best + w_a)

    Garivier and Kaufmann 2016, Theorem 5: identifying the best arm with error delta takes about
    T* log(1/delta) rounds, w*_a of them on arm a. Two Gaussian arms: in
    proportion to their sigma, and 2 (sigma_1 + sigma_2)^2 / gap^2.

    Parameters
    ----------
    bandit : bandit or sequence of float
        The bandit, or its means.
    family : family, name or None
        Of the rewards, with plain means.

    Returns
    -------
    weights : ndarray of float
        w*, one an arm.
    time : float
        T*.

    Examples
    --------
    >>> w, time = weights([0.7, 0.2], family=Gaussian(1.0))
    >>> w.round(6).tolist(), round(time, 6)
    ([0.5, 0.5], 32.0)
    >>> w, time = weights([0.7, 0.2, 0.2, 0.2], family="bernoulli")
    >>> w.round(6).tolist(), round(time, 4)
    ([0.362632, 0.212456, 0.212456, 0.212456], 14.1805)
    """
    means, family = read(bandit, family)
    best, others = unique_best(means)
    if not (isinstance(family, Gaussian) and isinstance(family.sigma, tuple)):
        distances(family, means[others], means[best])
    w = Proportions(family._core(len(means)), len(means)).of(means)
    if isinstance(family, Gaussian) and family.sigma is not None:
        spread = np.square(one_an_arm(family.sigma, means.size)) / w
        return w, float(np.max(2.0 * (spread[best] + spread[others]) / (means[best] - means[others]) ** 2))
    middle = (w[best] * means[best] + w[others] * means[others]) / (w[best] + w[others])
    costs = w[best] * divergence(family, means[best], middle) + w[others] * divergence(
        family, means[others], middle
    )
    return w, float(1 / costs.min())


def read(bandit: Arms, family: Rewards) -> tuple[NDArray[np.float64], Family]:
    """The means and the family of a bandit, or of plain means with a family."""
    if family is None and not hasattr(bandit, "means"):
        raise TypeError(f"family must be given with plain means, got None with {bandit!r}")
    family = known(as_family(bandit if family is None else family))
    means: Any = getattr(bandit, "means", bandit)  # whatever it is, until it is checked
    if np.ndim(means) != 1 or len(means) < 2:
        raise ValueError(f"means must be a list of at least two numbers, got {means!r}")
    if isinstance(family.proxy, tuple):
        one_an_arm(family.proxy, len(means))
    return np.array([family.check_mean(f"means[{arm}]", mean) for arm, mean in enumerate(means)]), family


def one_proxy(family: Family) -> float:
    """The smallest sigma for which the rewards of all arms are known to be sigma-sub-Gaussian."""
    sigma = family.proxy
    if sigma is None:
        raise ValueError(f"family must be sub-Gaussian (gaussian, bernoulli, binomial), got {family!r}")
    if isinstance(sigma, tuple):
        raise ValueError(
            f"sigma must be given, for policies that have one for all arms, got None for {family!r}"
        )
    return sigma


def unique_best(means: NDArray[np.float64]) -> tuple[int, NDArray[np.bool_]]:
    """Index of the best arm, and a mask of the others."""
    others = means < means.max()
    if others.sum() != means.size - 1:
        count = means.size - others.sum()
        raise ValueError(f"means must have a unique largest one, got {means.max().item()!r} {count} times")
    return int(np.argmax(means)), others
