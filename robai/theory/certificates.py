"""How large a likelihood ratio has to be: thresholds given beforehand, for all counts to the horizon."""

from math import ceil, exp, log

import numpy as np
from numpy.typing import NDArray

from robai._base import checks

__all__ = ["error_bound", "threshold"]

_LARGEST = 500.0  # of thresholds: an error of e^-400
_WHOLE = 30  # counts up to here are looked at one by one, larger ones and evidence on a grid
_STEP, _LOG_RATIO = 0.25, 0.05
_RATIOS, _SMALLEST = (4.0, 10.0, 30.0, 100.0, 1000.0), (0.03, 0.1, 0.3)  # of the precisions s r^j


def error_bound(threshold: float, n_arms: int, horizon: float) -> float:
    """Upper bound on the probability that a likelihood ratio is ever this large for a wrong arm.

    That is: at some time up to the horizon the arm a with the largest mean is not the best one, and min over
    b of N_a d(m_a, m_ab) + N_b d(m_b, m_ab) is at least `threshold`. It holds for Gaussian rewards of known
    sigma, and for others that are sigma-sub-Gaussian, whatever rule chose the arms, and whenever it is looked
    at. So it bounds the error of `rules.LikelihoodRatio(share=x)` with a Gaussian family, at threshold =
    x log T; the ratios of other families are larger, and not covered.

    For one arm the likelihood of its rewards, averaged over normal priors of J precisions and divided by that
    at the true mean, is a supermartingale that begins at 1::

        M(n, x) = mean over j < J of sqrt(rho_j / (n + rho_j)) exp(x n / (n + rho_j)),   x = n d(m, mu)

    A wrong arm a and the best one have x_a + x_1 >= threshold. Ville's inequality for the product, with f(x)
    = min over n <= T of log M(n, x), gives (n_arms - 1) exp(-min over x of f(x) + f(threshold - x)), and the
    smallest of these for rho_j = s r^j, r in {4, 10, 30, 100, 1000}, s in {0.03, 0.1, 0.3}, is taken. The
    minima are found on grids; what they may miss is subtracted.

    Parameters
    ----------
    threshold : float
        What the ratio has to reach, from 0 to 500.
    n_arms : int
        The number of arms.
    horizon : float
        T, the number of rounds.

    Returns
    -------
    float

    Examples
    --------
    >>> import math
    >>> [f"{error_bound(math.log(T), 2, T):.2g}" for T in (10**4, 10**6, 10**8)]
    ['0.027', '0.0012', '2.6e-05']
    """
    beta, (n_arms, horizon) = checks.between("threshold", threshold, 0.0, _LARGEST), _size(n_arms, horizon)
    return min(1.0, (n_arms - 1) * exp(-_least(beta, horizon)))


def threshold(error: float, n_arms: int, horizon: float) -> float:
    """The likelihood ratio that a wrong arm ever reaches with this probability at most.

    The inverse of `error_bound`, to four digits, rounded up.

    Parameters
    ----------
    error : float
        The probability, at least 1e-150.
    n_arms, horizon
        As for `error_bound`.

    Returns
    -------
    float

    Examples
    --------
    >>> [round(threshold(error, 2, 10**6), 1) for error in (0.05, 0.001, 1e-6)]
    [9.2, 14.0, 21.5]
    """
    error = checks.between("error", checks.probability("error", error), 1e-150, 1.0)
    n_arms, horizon = _size(n_arms, horizon)
    asked = log((n_arms - 1) / error)
    low, high = asked, asked + 4.0  # f(x) <= x, so it is above
    below, above = _least(low, horizon) - asked, _least(high, horizon) - asked
    while above < 0.0:
        low, below, high = high, above, high + 4.0
        above = _least(high, horizon) - asked
    while above > 1e-4 and high - low > 1e-4:  # nearly a line, so a secant's point is near
        middle = low + (high - low) * min(max(1e-5 - below, 0.0) / (above - below), 0.99)
        found = _least(middle, horizon) - asked
        if found < 0.0:
            low, below = middle, found
        else:
            high, above = middle, found
    return high


def _size(n_arms: int, horizon: float) -> tuple[int, float]:
    return checks.whole("n_arms", n_arms, 2, 10**9), checks.between("horizon", horizon, 2.0, 1e18)


def _least(beta: float, horizon: float) -> float:
    """The least f(x) + f(beta - x), for the precisions for which it is largest; rounded down.

    At a minimum over u = log n between two points of the grid the second derivative of log M in u is at most
    c(x) = 0.0963 x + (x/4 + 1/2)^2 / 4, that of the sum in x at most 1/2; the next point is half a step away.
    """
    n = np.arange(1.0, min(horizon, _WHOLE) + 1.0)
    if horizon > _WHOLE:
        more = 2 + ceil(log(horizon / _WHOLE) / _LOG_RATIO)
        n = np.concatenate([n, np.geomspace(_WHOLE, horizon, more)[1:]])
    x = np.linspace(0.0, beta, 1 + max(1, ceil(beta / _STEP)))
    missed = _STEP**2 / 16 + (_curvature(beta) + _curvature(0.0)) * _LOG_RATIO**2 / 8
    return max(_split(_mixture(x, n, r, s)) for r in _RATIOS for s in _SMALLEST) - missed


def _curvature(x: float) -> float:
    return 0.0963 * x + (x / 4 + 0.5) ** 2 / 4


def _split(f: NDArray[np.float64]) -> float:
    return float((f + f[::-1]).min())


def _mixture(x: NDArray[np.float64], n: NDArray[np.float64], r: float, s: float) -> NDArray[np.float64]:
    """f at each x, for n up to the last one."""
    count = 1 + ceil(log(n[-1]) / log(r))
    total = np.zeros((x.size, n.size))
    for rho in s * r ** np.arange(count):  # divided by e^x, which may be too large
        total += np.exp(np.outer(x, -rho / (n + rho)) - 0.5 * np.log1p(n / rho))
    smallest: NDArray[np.float64] = x + np.log(total.min(axis=1) / count)
    return smallest
