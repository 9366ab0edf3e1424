"""Tails of posteriors for the reference: continued fractions and series, and quantiles by bisection."""

from __future__ import annotations

import math

from robai import families


def gamma_above(a, x):
    """P(G > x) of a gamma variable of shape a."""
    front = math.exp(a * math.log(x) - x - math.lgamma(a)) if x > 0 else 0.0
    if x < a + 1:
        term, total, k = 1 / a, 0.0, 0
        while term > 1e-17 * total:
            total, k = total + term, k + 1
            term *= x / (a + k)
        return 1 - front * total
    fraction = 0.0
    for k in range(200, 0, -1):  # x + 1 - a - 1 (1 - a) / (x + 3 - a - ...
        fraction = k * (k - a) / (x + 2 * k + 1 - a - fraction)
    return front / (x + 1 - a - fraction)


def beta_above(a, b, y):
    """P(Y > y) of a beta variable."""
    if y <= 0 or y >= 1:
        return float(y <= 0)
    if y < (a + 1) / (a + b + 2):
        return 1 - beta_above(b, a, 1 - y)
    a, b, x = b, a, 1 - y
    front = math.exp(
        a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    )
    fraction = 1.0
    for k in range(100, 0, -1):
        odd = -(a + k - 1) * (a + b + k - 1) * x / ((a + 2 * k - 2) * (a + 2 * k - 1))
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        fraction = 1 + odd / (1 + even / fraction)
    return front / a / fraction


def chance_above(family, n, s, q):
    """P(mean > q) under Jeffreys' prior, after n rewards of sum s."""
    match family:
        case families.Bernoulli():
            return beta_above(0.5 + s, 0.5 + n - s, q)
        case families.Binomial(n=trials):
            return beta_above(0.5 + s, 0.5 + trials * n - s, q / trials)
        case families.Bounded(low=low, high=high):
            total = (s - n * low) / (high - low)
            return beta_above(0.5 + total, 0.5 + n - total, (q - low) / (high - low))
        case families.Poisson():
            return gamma_above(0.5 + s, q * n)
        case families.Exponential():
            return 1 - gamma_above(n, s / q)
        case families.Gamma(shape=shape):
            return 1 - gamma_above(shape * n, shape * s / q)
        case families.NegativeBinomial(r=r):
            return beta_above(0.5 + s, r * n, q / (q + r))


def bisected(above, low, high, alpha):
    while above(high) > alpha:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if above(middle) > alpha else (low, middle)
    return high


def quantile(family, n, s, alpha):
    """The mean that is exceeded with probability alpha."""
    low, high = family.support
    return bisected(lambda q: chance_above(family, n, s, q), low, min(high, 1.0 + s), alpha)


def student_quantile(degrees, alpha):
    """Of Student's t divided by the root of its degrees."""
    return bisected(lambda x: beta_above(0.5, degrees / 2, x * x / (1 + x * x)) / 2, 0.0, 1.0, alpha)
