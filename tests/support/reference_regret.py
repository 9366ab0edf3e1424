"""Index policies of the field, for the reference: see `support.reference`, whose states they are asked in."""

from __future__ import annotations

import math

from support.reference_bounds import level, log_plus, never, over_arms, sigma, ucb
from support.reference_divergences import divergence


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
