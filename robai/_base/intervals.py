"""Means with their errors, and exact confidence intervals of a binomial proportion, without SciPy.

The ends of the Clopper-Pearson interval are quantiles of a beta distribution. The usual route to them, with a
prefactor made of three log-gammas, loses ten digits at a billion trials, so here the binomial probability is
computed from its deviance instead (Loader, "Fast and accurate computation of binomial probabilities", 2000).
"""

import math
from typing import NamedTuple

from robai._base import checks

_NEWTON_STEPS = 50  # at most 15 are used; a bound, so that nothing can hang
_FRACTION_STEPS = 1_000_000  # grows like the square root of the trials: some thousand at 10^9
_EPSILON = 2.0**-52


class Mean(NamedTuple):
    """A mean over runs and its standard error, NaN if there was one run only."""

    value: float
    sem: float


def normal_quantile(confidence: float) -> float:
    """How many standard errors an interval reaches to either side."""
    from statistics import NormalDist  # which loads decimal, fractions and random

    return NormalDist().inv_cdf(0.5 + checks.probability("confidence", confidence) / 2.0)


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval that holds the true proportion with at least the given probability, whatever it is.

    >>> low, high = clopper_pearson(0, 1000)
    >>> low, round(high, 6)
    (0.0, 0.003682)
    """
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials!r}")
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must be between 0 and trials={trials}, got {successes!r}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be strictly between 0 and 1, got {confidence!r}")
    tail = (1.0 - confidence) / 2.0
    # The upper end is the lower end for the failures; log odds keep their precision on both sides.
    low, high = _log_odds(successes, trials, tail), -_log_odds(trials - successes, trials, tail)
    return _probability(low), _probability(high)


def _probability(log_odds: float) -> float:
    if log_odds > 0.0:
        return 1.0 / (1.0 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1.0 + odds)


def _log_odds(k: int, n: int, tail: float) -> float:
    """Log odds of the p at which P(Binomial(n, p) >= k) = tail, for 0 <= k <= n and tail < 1/2.

    The logarithm of that probability is a concave function of the log odds, so Newton's method needs no
    bracket: after one step it climbs to the root from below.
    """
    if k == 0:
        return -math.inf
    if k == n:  # the probability is a single power
        return math.log(tail) / n - math.log(-math.expm1(math.log(tail) / n))
    x = math.log(k) - math.log(n - k)
    for _ in range(_NEWTON_STEPS):
        p, q = _probability(x), _probability(-x)
        slope = _beta_fraction(k, n - k + 1, p, q)  # of log I_p(k, n - k + 1), the next line, in x
        log_tail = math.log(k) + _log_binomial(k, n, p, q) + math.log(q) - math.log(slope)
        step = (log_tail - math.log(tail)) / slope
        x -= step
        if abs(step) <= 4.0 * _EPSILON * max(1.0, abs(x)):
            break
    return x


def _log_binomial(k: int, n: int, p: float, q: float) -> float:
    """Logarithm of P(Binomial(n, p) = k), for 0 < k < n and q = 1 - p."""
    return (
        0.5 * (math.log(n) - math.log(k) - math.log(n - k) - math.log(2.0 * math.pi))
        + (_stirling_error(n) - _stirling_error(k) - _stirling_error(n - k))
        - (_deviance(k, n * p) + _deviance(n - k, n * q))
    )


def _stirling_error(n: int) -> float:
    """log n! minus Stirling's formula for it."""
    if n < 16:
        return math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2.0 * math.pi)
    s = 1.0 / (n * n)
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / n


def _deviance(x: float, mean: float) -> float:
    """x log(x / mean) + mean - x, without the cancellation of its large terms where the two are close."""
    if mean < 0.5 * x:
        return x * math.log(x / mean) + mean - x
    t = (mean - x) / x
    return x * (t - math.log1p(t))


def _beta_fraction(a: float, b: float, x: float, y: float) -> float:
    """x^a y^b / (B(a, b) I_x(a, b)) with y = 1 - x, a continued fraction evaluated by Lentz's algorithm.

    This is the fraction of DiDonato and Morris (1992, BCONT). For a y - b x > -1, which holds at every p that
    `_log_odds` visits, all its terms are positive up to the b-th, where it ends: nothing cancels, not even
    for x close to 1, and no denominator vanishes.
    """
    excess = a * y - b * x + 1.0
    value = c = a * excess / (a + 1.0)
    d = 0.0
    for m in range(1, _FRACTION_STEPS):
        numerator = (a + m - 1.0) * (a + b + m - 1.0) * m * (b - m) * (x / (a + 2.0 * m - 1.0)) ** 2
        denominator = m + m * (b - m) * x / (a + 2.0 * m - 1.0)
        denominator += (a + m) * (excess + m * (1.0 + y)) / (a + 2.0 * m + 1.0)
        d = 1.0 / (denominator + numerator * d)
        c = denominator + numerator / c
        value *= c * d
        if abs(c * d - 1.0) <= _EPSILON:
            return value
    raise ArithmeticError(f"the continued fraction of I_x({a}, {b}) at x={x} did not converge")
