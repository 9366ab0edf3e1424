"""The reference of the policies that identify the best arm; see `support.reference`."""

from __future__ import annotations

import math

from support.reference_bounds import (
    evidence,
    in_stages,
    kl_lcb,
    kl_ucb,
    lcb,
    likelihood_ratio,
    over_arms,
    sigma,
    ucb,
)

import robai
from robai._core import probes


def mean(x, a):
    return x.mean(a)


def delta(x, p):
    return 1 / x.horizon if p.delta is None else p.delta


def practical(x, p):
    return math.log((1 + math.log(x.t)) / delta(x, p))


def bounds_level(x, p, t):
    """f of the bounds of KL-LUCB, at the decision of round t."""
    if p.threshold == "practical":
        return math.log((1 + math.log(t)) / delta(x, p))
    b = math.log(405.5 * x.K * t**1.1 / delta(x, p))
    return b + math.log(b)


def uniform(p):
    def stops(x):
        return x.t >= x.horizon if p.stop == "budget" else likelihood_ratio(x) >= practical(x, p)

    return lambda x: x.t % x.K, stops, over_arms(mean), 1


# ---- pairs


def in_pairs(upper, lower):
    """The arm with the largest mean, then the most promising of the others, until bounds are separate."""
    second = []

    def explore(x):
        if second:
            return second.pop()
        leader = x.argmax(x.means())
        second.append(x.argmax([-math.inf if a == leader else upper(x, a) for a in range(x.K)]))
        return leader

    def stops(x):
        if second and x.t < x.horizon:
            return False
        best = x.means().index(max(x.means()))
        return all(upper(x, a) < lower(x, best) for a in range(x.K) if a != best)

    return explore, stops, over_arms(mean), 1


def kl_lucb(p):
    return in_pairs(
        lambda x, a: kl_ucb(x, a, bounds_level(x, p, x.t + 1)),
        lambda x, a: kl_lcb(x, a, bounds_level(x, p, x.t + 1)),
    )


def lucb(p):
    def level(x):
        return math.log(5 * x.K * (x.t + 1) ** 4 / (4 * delta(x, p)))

    return in_pairs(
        lambda x, a: ucb(x, a, level(x), sigma(x, p, a)), lambda x, a: lcb(x, a, level(x), sigma(x, p, a))
    )


def ugape(p):
    def script(x):
        while True:
            f = bounds_level(x, p, x.t + 1)
            upper = [kl_ucb(x, a, f) for a in range(x.K)]
            gaps = [max(u for b, u in enumerate(upper) if b != a) - kl_lcb(x, a, f) for a in range(x.K)]
            choice = x.argmax([-gap for gap in gaps])
            if gaps[choice] <= 0:
                return choice
            upper[choice] = -math.inf
            rival = x.argmax(upper)
            yield choice if x.n[choice] < x.n[rival] else rival

    return in_stages(script, 1)


def top_two(p):
    led, pulled = {}, {}

    def drawn(x):
        return x.argmax([probes.mean_from_posterior(x.rewards, x.n[a], x.s[a], x.stream) for a in range(x.K)])

    def challenger(x, leader):
        if p.challenger == "resample":
            for _ in range(10_000):
                if (arm := drawn(x)) != leader:
                    return arm
        costs = [evidence(x, leader, a) if x.mean(leader) > x.mean(a) else 0.0 for a in range(x.K)]
        if p.challenger == "penalised":
            costs = [cost + math.log(n) for cost, n in zip(costs, x.n, strict=True)]
        return x.argmax([-math.inf if a == leader else -cost for a, cost in enumerate(costs)])

    def explore(x):
        if p.leader == "thompson":
            leader = drawn(x)
            return leader if x.stream.double() < p.beta else challenger(x, leader)
        index = mean if p.leader == "empirical" else lambda x, a: kl_ucb(x, a, 2 * math.log(x.t + 1))
        leader = over_arms(index)(x)
        led[leader] = led.get(leader, 0) + 1
        if pulled.get(leader, 0) <= p.beta * led[leader]:
            pulled[leader] = pulled.get(leader, 0) + 1
            return leader
        return challenger(x, leader)

    return explore, lambda x: likelihood_ratio(x) >= practical(x, p), over_arms(mean), 1


def lil_ucb(p):
    eps, beta, factor = (0.0, 0.5, None) if p.heuristic else (0.01, 1.0, 9.0)

    def index(x, a):
        d = delta(x, p) / 5
        if not p.heuristic:
            d = (d * eps / (2 + eps)) ** (1 / (1 + eps))
        square = 2 * sigma(x, p, a) ** 2 * (1 + eps) * math.log(math.log((1 + eps) * x.n[a]) / d) / x.n[a]
        return x.mean(a) + (1 + beta) * (1 + math.sqrt(eps)) * math.sqrt(square)

    def stops(x):
        return any(n >= 1 + (factor or 1 + 10 / x.K) * (x.t - n) for n in x.n)

    return over_arms(index), stops, over_arms(lambda x, a: x.n[a]), 2


# ---- arms that are dropped


def racing(p):
    def below(x, worst, best):
        if p.test == "likelihood":
            return evidence(x, best, worst) > practical(x, p)
        f = bounds_level(x, p, x.t)
        return kl_lcb(x, best, f) > kl_ucb(x, worst, f)

    def script(x):
        active = list(range(x.K))
        while True:
            best = max(active, key=x.mean)
            worst = active[x.argmax([-x.mean(a) for a in active])]
            if worst != best and below(x, worst, best):
                active.remove(worst)
            if len(active) == 1:
                return active[0]
            yield from active

    return in_stages(script, 1)


def sequential_halving(p):
    def better_half(x, active, means):
        """Ties at the edge: one after the other, each with the same chance."""
        room = math.ceil(len(active) / 2)
        edge = sorted(means, reverse=True)[room - 1]
        room -= sum(m > edge for m in means)
        tied, kept = means.count(edge), []
        for a, m in zip(active, means, strict=True):
            if m == edge:
                if room > 0 and (tied <= room or x.stream.below(tied) < room):
                    kept.append(a)
                    room -= 1
                tied -= 1
            elif m > edge:
                kept.append(a)
        return kept

    def script(x):
        phases, active = math.ceil(math.log2(x.K)), list(range(x.K))
        while len(active) > 1:
            share = min(x.horizon // (len(active) * phases), (x.horizon - x.t) // len(active))
            n, s = list(x.n), list(x.s)
            for _ in range(max(share, 1 if x.t == 0 else 0)):
                yield from active
            fresh = [p.fresh and x.n[a] > n[a] for a in active]
            means = [
                (x.s[a] - s[a]) / (x.n[a] - n[a]) if new else x.mean(a)
                for a, new in zip(active, fresh, strict=True)
            ]
            active = better_half(x, active, means)
        return active[0]

    return in_stages(script, 0)


def successive_rejects(p):
    def script(x):
        active = list(range(x.K))
        logbar = 1 / 2 + sum(1 / i for i in range(2, x.K + 1))
        for k in range(1, x.K):
            target = max(math.ceil((x.horizon - x.K) / (logbar * (x.K + 1 - k))), 1)
            for _ in range(target - x.n[active[0]]):
                yield from active
            del active[x.argmax([-x.mean(a) for a in active])]
        return active[0]

    return in_stages(script, 0)


POLICIES = {
    robai.Uniform: uniform,
    robai.KLLUCB: kl_lucb,
    robai.LUCB: lucb,
    robai.UGapE: ugape,
    robai.LilUCB: lil_ucb,
    **dict.fromkeys((robai.TopTwo, robai.TTTS, robai.T3C, robai.TTUCB, robai.EBTCI), top_two),
    robai.Racing: racing,
    robai.SequentialHalving: sequential_halving,
    robai.SuccessiveRejects: successive_rejects,
}
