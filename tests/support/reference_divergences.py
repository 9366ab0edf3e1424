"""Divergences, their inverses and what is computed from them, from the definitions: slow and obvious."""

import math

import robai


def divergence(family, p, q):
    return divergence_of(family)(p, q)


def divergence_of(family):
    """The function d(p, q), where it is asked for often."""
    match family:
        case robai.families.Gaussian(sigma):
            return lambda p, q: (p - q) ** 2 / (2 * sigma**2)
        case robai.families.Bernoulli():
            return bernoulli
        case robai.families.Binomial(n):
            return lambda p, q: n * bernoulli(p / n, q / n)
        case robai.families.Poisson():
            return lambda p, q: max(q - p + xlogy(p, q), 0.0)
        case robai.families.Exponential():
            return exponential
        case robai.families.Gamma(shape):
            return lambda p, q: shape * exponential(p, q)
        case robai.families.NegativeBinomial(r):
            return lambda p, q: max(xlogy(p, q) - (p + r) * math.log((p + r) / (q + r)), 0.0)
    raise NotImplementedError(family)


def xlogy(x, y):
    """x log(x / y)."""
    return 0.0 if x == 0.0 else (math.inf if y == 0.0 else x * math.log(x / y))


def bernoulli(p, q):
    return max(xlogy(p, q) + xlogy(1 - p, 1 - q), 0.0)


def exponential(p, q):
    return max(p / q - 1 - math.log(p / q), 0.0) if q > 0 else math.inf


def upper(family, p, level):
    high = family.support[1]
    if p == high:
        return p
    if high == math.inf:
        width = 1.0
        while divergence(family, p, p + width) <= level:
            width *= 2
        high = p + width
    return bisect(lambda q: divergence(family, p, q) <= level, p, high)


def lower(family, p, level):
    low = family.support[0]
    if p == low:
        return p
    if low == -math.inf:
        width = 1.0
        while divergence(family, p, p - width) <= level:
            width *= 2
        low = p - width
    return bisect(lambda q: divergence(family, p, q) <= level, p, low)


def bisect(holds, inside, outside):
    """The last point from `inside` towards `outside` at which `holds`."""
    while True:
        middle = 0.5 * (inside + outside)
        if middle in (inside, outside):
            return inside
        if holds(middle):
            inside = middle
        else:
            outside = middle


def optimal_weights(family, means):
    """w* by nested bisection (Garivier and Kaufmann 2016, Theorem 5)."""
    best = means.index(max(means))
    ties = [a for a, mean in enumerate(means) if mean == means[best]]
    if len(ties) > 1:
        return [1 / len(ties) if a in ties else 0.0 for a in range(len(means))]
    top, d = means[best], divergence_of(family)

    def middle(a, x):
        return (top + x * means[a]) / (1 + x)

    def cost(a, x):
        c = middle(a, x)
        return d(top, c) + x * d(means[a], c)

    def ratio(a, y):  # x with cost y
        high = 1.0
        while cost(a, high) < y:
            high *= 2
        return bisect(lambda x: cost(a, x) <= y, 0.0, high)

    others = [a for a in range(len(means)) if a != best]

    def total(y):
        cs = [(a, middle(a, ratio(a, y))) for a in others]
        return sum(d(top, c) / d(means[a], c) for a, c in cs)

    limit = min(d(top, means[a]) for a in others)
    low, high = 0.0, limit
    for _ in range(60):
        y = 0.5 * (low + high)
        low, high = (y, high) if total(y) < 1 else (low, y)
    weights = [1.0 if a == best else ratio(a, low) for a in range(len(means))]
    return [w / sum(weights) for w in weights]
