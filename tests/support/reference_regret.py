"""Index policies of the field, for the reference: see `support.reference`, whose states they are asked in."""

from __future__ import annotations

import math
from statistics import NormalDist

from support.reference_bounds import level, log_plus, never, over_arms, sigma, ucb
from support.reference_divergences import divergence
from support.reference_posteriors import quantile, student_quantile

import robai


def ada_ucb(p):
    def f(x, a):
        ratio = x.horizon / sum(min(x.n[a], math.sqrt(x.n[a] * n)) for n in x.n) + math.e
        return math.log(ratio * math.sqrt(math.log(ratio)))

    return over_arms(lambda x, a: ucb(x, a, f(x, a), sigma(x, p, a))), never, None, 1


def bayes_ucb(p):
    def index(x, a):
        alpha = 1 / ((x.t + 1) * math.log(x.horizon) ** p.c)
        match x.family:
            case robai.families.Gaussian(sigma=None):
                return x.mean(a) + math.sqrt(x.squares(a) / x.n[a]) * student_quantile(x.n[a] - 2, alpha)
            case robai.families.Gaussian(sigma=known):
                z = NormalDist().inv_cdf(1 - alpha)
                return x.mean(a) + z * (known[a] if isinstance(known, tuple) else known) / math.sqrt(x.n[a])
        return quantile(x.family, x.n[a], x.s[a], alpha)

    return over_arms(index), never, None, 1


def etc(p):
    def pulls(x):
        ratio = p.gap / sigma(x, p)
        target, low, high = x.horizon**2 * ratio**4 / (32 * math.pi), 0.0, 1000.0
        for _ in range(200):  # w exp(w) = target
            middle = (low + high) / 2
            low, high = (middle, high) if middle * math.exp(middle) < target else (low, middle)
        return math.ceil(2 * high / ratio**2)

    return lambda x: x.t % 2, lambda x: x.t >= 2 * pulls(x), over_arms(lambda x, a: x.mean(a)), 1


def sprt_etc(p):
    def stops(x):
        gap, variance = abs(x.mean(0) - x.mean(1)), sigma(x, p) ** 2
        return x.t % 2 == 0 and x.t / 2 * p.gap * gap >= variance * math.log(x.horizon * p.gap**2 / variance)

    return lambda x: x.t % 2, stops, over_arms(lambda x, a: x.mean(a)), 1


def moss(p):
    def f(x, a):
        if p.anytime:
            return (1 + p.alpha) * log_plus((x.t + 1) / (x.K * x.n[a]))
        return level(x, "moss", a)

    return over_arms(lambda x, a: ucb(x, a, f(x, a), sigma(x, p, a))), never, None, 1


def imed(p):
    def index(x, a):
        return x.n[a] * divergence(x.family, x.mean(a), max(x.means())) + math.log(x.n[a])

    return over_arms(lambda x, a: -index(x, a)), never, None, 1
