"""Levels, confidence bounds and stopping rules of the reference, as the papers print them.

`x` is the state of a run, see `support.reference.State`; `a` and `b` are arms, `f` is a level.
"""

from __future__ import annotations

import math

from support.reference_divergences import divergence, lower, upper

import robai


def log_plus(x):
    return math.log(x) if x > 1 else 0.0


def exploration(x, c):
    return math.log(x.horizon) + c * math.sqrt(math.log(x.horizon))


def level(x, kind, a, inflation=0.0):
    match kind:
        case "horizon":
            return exploration(x, inflation)
        case "ratio":
            return log_plus(x.horizon / x.n[a])
        case "round":
            return math.log(x.t + 1)
        case "loglog":
            return math.log(x.t + 1) + 3 * math.log(max(1, math.log(x.t + 1)))
        case "plus":
            return log_plus((x.t + 1) / x.n[a])
        case "anytime":
            return math.log(1 + (x.t + 1) * math.log(x.t + 1) ** 2)
        case "moss":
            return 2 * log_plus(x.horizon / x.K / x.n[a])
        case "++":
            y = x.horizon / x.K / x.n[a]
            return log_plus(y * (1 + log_plus(y) ** 2))


def ucb(x, a, f, sigma):
    return x.mean(a) + sigma * math.sqrt(2 * f / x.n[a])


def lcb(x, a, f, sigma):
    return x.mean(a) - sigma * math.sqrt(2 * f / x.n[a])


def kl_ucb(x, a, f):
    if x.estimates:
        return x.mean(a) + student_width(x, a, f)
    return upper(x.family, x.mean(a), f / x.n[a])


def kl_lcb(x, a, f):
    if x.estimates:
        return x.mean(a) - student_width(x, a, f)
    return lower(x.family, x.mean(a), f / x.n[a])


def student_width(x, a, f):
    """How far from the mean of an arm, whose variance is unknown, the evidence against a mean is f."""
    everything = sum(map(x.squares, range(x.K)))
    widths = {
        "own": math.sqrt(x.squares(a) / x.n[a] * math.expm1(2 * f / (x.n[a] - 2))),
        "common": math.sqrt(everything / x.n[a] * math.expm1(2 * f / (x.t - x.K - 1))),
    }
    return widths.get(x.family.variance, max(widths.values()))


def student_ratio(x, a, b):
    """The least evidence against any mean that both arms could have."""
    gap, everything = x.mean(a) - x.mean(b), sum(map(x.squares, range(x.K)))
    degrees = x.t - x.K - 1
    common = degrees / 2 * math.log1p(gap**2 / everything / (1 / x.n[a] + 1 / x.n[b])) if degrees > 0 else 0

    def evidence(arm, mean):
        if min(x.n[a], x.n[b]) <= 2:
            return 0
        variance = x.squares(arm) / x.n[arm]
        return (x.n[arm] - 2) / 2 * math.log1p((x.mean(arm) - mean) ** 2 / variance)

    steps = 2000
    means = [x.mean(b) + gap * step / steps for step in range(steps + 1)]
    own = min(evidence(a, mean) + evidence(b, mean) for mean in means)
    return {"own": own, "common": common, "both": min(own, common)}[x.family.variance]


def bernstein(x, a, f):
    """How far a bound of rewards in an interval is from the mean."""
    low, high = x.bandit.support
    if isinstance(x.bandit, robai.Bernoulli):
        variance = x.mean(a) * (1 - x.mean(a))
        return math.sqrt(2 * variance * f / x.n[a]) + 3 * f / x.n[a]
    return math.sqrt(2 * x.squares(a) / x.n[a] * f / x.n[a]) + 3 * (high - low) * f / x.n[a]


def over_arms(score):
    return lambda x: x.argmax([score(x, a) for a in range(x.K)])


def sigma(x, p, a=0):
    """What a policy takes for the standard deviation of an arm: its own, or what is known of the rewards."""
    match p.sigma, x.bandit.family:
        case tuple() as given, _:
            return given[a]
        case float() as given, _:
            return given
        case None, robai.families.Gaussian(sigma=tuple() as known):
            return known[a]
        case None, robai.families.Gaussian(sigma=known):
            return known
        case None, robai.families.Binomial(n=n):
            return math.sqrt(n) / 2
    return 1 / 2


# ---- stopping


def never(x):
    return False


def imbalance(c):
    def stops(x):
        first, second = sorted(x.n, reverse=True)[:2]
        return first - exploration(x, c) * second > 1

    return stops


def evidence(x, a, b):
    """The logarithm of the likelihood ratio of two arms, a the one with the larger mean."""
    if x.estimates:
        return student_ratio(x, a, b)
    pooled = (x.s[a] + x.s[b]) / (x.n[a] + x.n[b])
    return x.n[a] * divergence(x.family, x.mean(a), pooled) + x.n[b] * divergence(x.family, x.mean(b), pooled)


def likelihood_ratio(x):
    best = x.means().index(max(x.means()))
    return min(evidence(x, best, b) for b in range(x.K) if b != best)


def in_stages(script, initial):
    """A staged policy is a generator: it yields arms to pull and returns the arm to commit to."""
    memory = {}

    def explore(x):
        if "script" not in memory:
            memory["script"] = script(x)
        try:
            return next(memory["script"])
        except StopIteration as done:
            memory["choice"] = done.value
            return None

    return explore, never, lambda x: memory["choice"], initial
