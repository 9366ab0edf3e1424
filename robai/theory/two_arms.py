"""Wrong commitments of EOCP and EOCP-UG on two arms: a sum over the pulls of the best arm.

A wrong arm that has k pulls when the best one has n had the larger index at that pull, or has the larger
lower bound. For each n and k that is one inequality between two independent means: m_2(k) - m_1(n) exceeds
its expectation by x times its standard deviation sigma sqrt(1/n + 1/k). That has probability Q(x) =
P(N(0, 1) > x) for Gaussian rewards, exp(-x^2 / 2) at most for others that are sigma-sub-Gaussian.
"""

from collections.abc import Callable
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

Margin = Callable[[NDArray[np.float64]], NDArray[np.float64]]  # x of n

_EXACT, _RATIO = 1000, 1.001


@np.errstate(over="ignore")
def wrong_eocp_ug(gap: float, level: float, horizon: float, *, gaussian: bool) -> float:
    """Of EOCP-UG, for a gap in units of sigma.

    It ends with N_2 = n of one arm, and the other was pulled for the last time at k = floor(l n) + 1: before
    that, with fewer than n pulls of the first, it would have been over. If the other is the worse arm, its
    index was the larger one. If it is the better one, the worse has the larger lower bound, although its
    index was the smaller one at that pull: the last reward, m_1(k + 1) - m_1(k), is to blame.
    """
    last, root = float(horizon // (level + 1.0)), sqrt(2.0 * level)

    def overtaken(n: NDArray[np.float64]) -> NDArray[np.float64]:
        k = np.floor(level * n) + 1.0
        return (gap + root * (1.0 / np.sqrt(n) - 1.0 / np.sqrt(k))) / np.sqrt(1.0 / n + 1.0 / k)

    def at_least(n: NDArray[np.float64]) -> NDArray[np.float64]:  # with k = l n, which is less: it increases
        return (gap * np.sqrt(n) + root - sqrt(2.0)) / sqrt(1.0 + 1.0 / level)

    def exchanged(n: NDArray[np.float64]) -> NDArray[np.float64]:
        k = np.floor(level * n) + 1.0
        fall = 2.0 / np.sqrt(n) - 1.0 / np.sqrt(k) - 1.0 / np.sqrt(k + 1.0)
        return root * fall * np.sqrt(k * (k + 1.0))

    def falls_at_least(n: NDArray[np.float64]) -> NDArray[np.float64]:
        return 2.0 * root * level * np.sqrt(n) * (1.0 - 1.0 / sqrt(level))

    return _sum(overtaken, at_least, last, gaussian) + _sum(exchanged, falls_at_least, last, gaussian)


@np.errstate(over="ignore")
def wrong_eocp(gap: float, level: float, last: float, *, gaussian: bool) -> float:
    """Of EOCP that commits after `last` rounds, for a gap in units of sigma.

    With h = ceil(T_c / 2), either N_2 >= h, and arm 2 had the larger index at its pull after h - 1, or
    N_2 = n < h, and its lower bound is the larger one at N_1 = T_c - n. Margins are quasiconcave in n: but
    for a factor the first is (1 + b w) / sqrt(1 + w^2) in w = sqrt(n / (h - 1)); the second is concave in the
    angle whose sine is sqrt(n / T_c).
    """
    if last < 3:
        return 1.0
    half, root = (last + 1.0) // 2.0 - 1.0, sqrt(2.0 * level)

    def overtaken(n: NDArray[np.float64]) -> NDArray[np.float64]:
        return (gap + root * (1.0 / np.sqrt(n) - 1.0 / sqrt(half))) / np.sqrt(1.0 / n + 1.0 / half)

    def misjudged(n: NDArray[np.float64]) -> NDArray[np.float64]:
        k = last - n
        return (gap + root * (1.0 / np.sqrt(n) - 1.0 / np.sqrt(k))) / np.sqrt(1.0 / n + 1.0 / k)

    return sum(_sum(margin, margin, last // 2.0, gaussian) for margin in (overtaken, misjudged))


def _sum(margin: Margin, lower: Margin, last: float, gaussian: bool) -> float:
    """Of the probabilities for n = 1 .. last; where there are many, blocks count as often as their worst end.

    `lower` is at most the margin there, and quasiconcave.
    """
    total = float(np.sum(_tail(margin(np.arange(1.0, min(last, _EXACT) + 1.0)), gaussian)))
    if last <= _EXACT:
        return total
    blocks = np.log(last / _EXACT) / np.log(_RATIO)
    ends = np.unique(np.floor(np.geomspace(_EXACT, last, 2 + int(blocks))))
    chances = _tail(lower(ends), gaussian)
    return total + float(np.sum(np.diff(ends) * np.maximum(chances[:-1], chances[1:])))


def _tail(margin: NDArray[np.float64], gaussian: bool) -> NDArray[np.float64]:
    if not gaussian:
        return np.exp(-0.5 * np.square(np.maximum(margin, 0.0)))
    return np.array([0.5 * erfc(x / sqrt(2.0)) for x in margin.tolist()])
