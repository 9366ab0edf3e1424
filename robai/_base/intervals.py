"""Means with their errors, and exact confidence intervals of a binomial proportion, without SciPy.

The ends of the Clopper-Pearson interval are quantiles of a beta distribution. The usual route to them, with a
prefactor made of three log-gammas, loses ten digits at a billion trials, so here the binomial probability is
computed from its deviance instead (Loader, "Fast and accurate computation of binomial probabilities", 2000).
"""

import math
from functools import cache
from typing import NamedTuple

from robai._base import checks

_STEPS = 50  # towards an end; few are used, and this is a bound, so that nothing can hang
_FEW = 50  # failures up to which a continued fraction, of as many terms, is better than an integral
_EPSILON = 2.0**-52


class Mean(NamedTuple):
    """A mean over runs and its standard error.

    Attributes
    ----------
    value : float
        The mean.
    sem : float
        Its standard error, NaN if there was one run only.

    Examples
    --------
    >>> import robai
    >>> result = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0)
    >>> value, sem = result.regret_at(1000)
    >>> round(value, 1), round(sem, 1)
    (11.9, 0.5)
    """

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
    bracket: after one step it climbs to the root from below. The second derivative costs nothing, so where
    the root is near the steps are Halley's, of third order.
    """
    if k == 0:
        return -math.inf
    if k == n:  # the probability is a single power
        return math.log(tail) / n - math.log(-math.expm1(math.log(tail) / n))
    x = _near(k, n, tail)
    for _ in range(_STEPS):
        p, q = _probability(x), _probability(-x)
        slope = _hazard(k, n - k + 1, p, q)  # of log I_p(k, n - k + 1), the next line, in x
        log_tail = math.log(k) + _log_binomial(k, n, p, q) + math.log(q) - math.log(slope)
        step = (log_tail - math.log(tail)) / slope
        bend = 0.5 * step * (k - (n + 1) * p - slope)  # half of the step times second by first derivative
        x -= step / (1.0 - bend) if abs(bend) < 0.5 else step
        if abs(step) * max(1.0, slope) <= 1e-6:  # what is left is a thousandth of a billionth of this step
            break
    return x


def _near(k: int, n: int, tail: float) -> float:
    """About where `_log_odds` is: Wilson's interval for half a success less.

    The normal quantile is that of Hastings (Abramowitz and Stegun, 26.2.23), to 0.0005.
    """
    t = math.sqrt(-2.0 * math.log(tail))
    top, bottom = 2.515517 + t * (0.802853 + t * 0.010328), 1.432788 + t * (0.189269 + t * 0.001308)
    z = t - top / (1.0 + t * bottom)
    successes, failures = k - 0.5, n - k + 0.5
    root = z * math.sqrt(successes * failures / n + 0.25 * z * z)
    odds = (successes + 0.5 * z * z - root) / (failures + 0.5 * z * z + root)
    return min(math.log(max(odds, 1e-300)), math.log(k) - math.log(n - k))


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


def _hazard(a: int, b: int, x: float, y: float) -> float:
    """x^a y^b / (B(a, b) I_x(a, b)) with y = 1 - x, for a y - b x > -1, as at all p of `_log_odds`."""
    return _beta_fraction(a, b, x, y) if b <= _FEW else 1.0 / _beta_integral(a, b, x, y)


def _beta_fraction(a: int, b: int, x: float, y: float) -> float:
    """A continued fraction of b terms, evaluated by Lentz's algorithm: DiDonato and Morris (1992, BCONT).

    For a y - b x > -1 all its terms are positive up to the b-th, where it ends: nothing cancels, not even
    for x close to 1, and no denominator vanishes.
    """
    excess = a * y - b * x + 1.0
    value = c = a * excess / (a + 1.0)
    d = 0.0
    for m in range(1, b + 1):
        numerator = (a + m - 1.0) * (a + b + m - 1.0) * m * (b - m) * (x / (a + 2.0 * m - 1.0)) ** 2
        denominator = m + m * (b - m) * x / (a + 2.0 * m - 1.0)
        denominator += (a + m) * (excess + m * (1.0 + y)) / (a + 2.0 * m + 1.0)
        d = 1.0 / (denominator + numerator * d)
        c = denominator + numerator / c
        value *= c * d
        if abs(c * d - 1.0) <= _EPSILON:
            break
    return value


def _beta_integral(a: int, b: int, x: float, y: float) -> float:
    """The integral of the beta density in log odds, from below up to those of x, divided by its value there.

    The density is log-concave, and falls like a normal or an exponential one. Its length is that of the
    parabola through its logarithm; the rule has the same number of points for any a and b.
    """
    n, slope = float(a + b), a * y - b * x
    length = 2.0 / (slope + math.sqrt(slope * slope + 2.0 * n * x * y))
    total = 0.0
    for place, weight in _double_exponential():
        u = length * place
        # Of the two forms, the one whose last term is small beside 1.
        if x <= 0.5:
            log_density = -a * u - n * math.log1p(x * math.expm1(-u))
        else:
            log_density = b * u - n * math.log1p(y * math.expm1(u))
        if log_density < -45.0:
            break
        total += weight * math.exp(log_density)
    return length * total


@cache
def _double_exponential() -> tuple[tuple[float, float], ...]:
    """Places and weights of the rule of Takahasi and Mori (1974) from 0 to infinity."""
    distance, rule = 0.1, []
    for i in range(-37, 40):
        t = distance * i
        place = math.exp(t - math.exp(-t))
        rule.append((place, distance * place * (1.0 + math.exp(-t))))
    return tuple(rule)
