"""A slow, obvious Python version of every policy.

It plays what the papers print: all indices are computed in every round, every stopping rule is
asked in every round, every sum is a plain sum. Only the rewards and the draws that break ties
come from the compiled generator, in the same order, so that compiled and reference runs can be
compared arm by arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from support.reference_bounds import (
    bernstein,
    evidence,
    exploration,
    imbalance,
    in_stages,
    kl_lcb,
    kl_ucb,
    lcb,
    level,
    likelihood_ratio,
    log_plus,
    never,
    over_arms,
    sigma,
    ucb,
)
from support.reference_divergences import optimal_weights
from support.reference_identification import POLICIES as IDENTIFICATION
from support.reference_regret import ada_ucb, bayes_ucb, etc, imed, moss, sprt_etc

import robai
from robai._core import probes
from robai._core.engine import TAPE_LENGTH
from robai._core.rng import seed_block


@dataclass
class State:
    """One run: pulls n and sums s of every arm, and the generator."""

    bandit: robai.bandits.Bandit
    horizon: int
    stream: probes.Draws
    family: robai.families.Family | None = None
    n: list[int] = field(default_factory=list)
    s: list[float] = field(default_factory=list)
    rewarded: list[list[float]] = field(default_factory=list)
    tape: list[list[float]] = field(default_factory=list)

    def __post_init__(self):
        self.family = self.family or self.bandit.family
        self.n = [0] * self.K
        self.s = [0.0] * self.K
        self.rewarded = [[] for _ in range(self.K)]
        self.tape = [[] for _ in range(self.K)]
        self.rewards = self.bandit._core()

    @property
    def K(self):
        return self.bandit.n_arms

    @property
    def t(self):
        return sum(self.n)

    def mean(self, a):
        return self.s[a] / self.n[a]

    def means(self):
        return [self.mean(a) for a in range(self.K)]

    def squares(self, a):
        """Of the deviations from the mean."""
        return sum((reward - self.mean(a)) ** 2 for reward in self.rewarded[a])

    @property
    def estimates(self):
        """Is the variance unknown?"""
        return isinstance(self.family, robai.families.Gaussian) and self.family.sigma is None

    def pull(self, a):
        if not self.tape[a]:
            count = min(max(self.n[a], 1), TAPE_LENGTH)
            drawn = self.rewards.rewards(a, self.bandit.means[a], count, self.stream)
            self.tape[a] = drawn.tolist()
        self.rewarded[a].append(self.tape[a].pop(0))
        self.s[a] += self.rewarded[a][-1]
        self.n[a] += 1

    def argmax(self, values):
        best = [a for a, value in enumerate(values) if value == max(values)]
        return best[0] if len(best) == 1 else best[self.stream.below(len(best))]


# ---- the policies. Each is (explore, stop, commit, initial pulls); explore may return None: done.


def eocp(p):
    def stops(x):
        return x.t >= math.floor(
            8 * x.K * exploration(x, p.inflation) * max(sigma(x, p, a) for a in range(x.K)) ** 2 / p.gap**2
            + x.K
        )

    return (
        over_arms(lambda x, a: ucb(x, a, exploration(x, p.inflation), sigma(x, p, a))),
        stops,
        over_arms(lambda x, a: lcb(x, a, exploration(x, p.inflation), sigma(x, p, a))),
        1,
    )


def eocp_ug(p):
    if p.bounds == "bernstein":
        return bernstein_ug(p)
    explore, _, commit, initial = eocp(robai.EOCP(1.0, p.inflation, p.sigma))
    return explore, imbalance(p.inflation), commit, initial


def bernstein_ug(p):
    unbalanced = imbalance(p.inflation)

    def stops(x):
        f, best = 0.7 * math.log(x.horizon), x.means().index(max(x.means()))
        floor = x.mean(best) - bernstein(x, best, f)
        return unbalanced(x) and all(x.mean(a) + bernstein(x, a, f) < floor for a in range(x.K) if a != best)

    return (
        over_arms(lambda x, a: x.mean(a) + bernstein(x, a, exploration(x, p.inflation))),
        stops,
        over_arms(lambda x, a: x.mean(a) - bernstein(x, a, exploration(x, p.inflation))),
        1,
    )


def ucb_v(p):
    return over_arms(lambda x, a: x.mean(a) + bernstein(x, a, p.zeta * math.log(x.t + 1))), never, None, 1


def kl_eocp(p):
    def stops(x):
        return x.t >= math.floor(4 * x.K * exploration(x, p.inflation) / p.kl + x.K)

    return (
        over_arms(lambda x, a: kl_ucb(x, a, exploration(x, p.inflation))),
        stops,
        over_arms(lambda x, a: kl_lcb(x, a, exploration(x, p.inflation))),
        1,
    )


def kl_eocp_ug(p):
    explore, _, commit, initial = kl_eocp(robai.KLEOCP(1.0, p.inflation))
    unbalanced = imbalance(p.inflation)

    def stops(x):
        return unbalanced(x) and (p.guard == 0 or likelihood_ratio(x) >= p.guard * math.log(x.horizon))

    return explore, stops, over_arms(State.mean) if p.guard else commit, initial


def plain_ucb(p):
    return over_arms(lambda x, a: ucb(x, a, level(x, p.level, a), sigma(x, p, a))), never, None, 1


def plain_kl_ucb(p):
    return over_arms(lambda x, a: kl_ucb(x, a, level(x, p.level, a))), never, None, 1


def thompson(p):
    def draw(x, a):
        if p.prior == "uniform":
            return probes.beta(1 + x.s[a], 1 + x.n[a] - x.s[a], x.stream)
        return probes.mean_from_posterior(x.rewards, x.n[a], x.s[a], x.stream)

    def explore(x):
        if x.t < x.K * x.rewards.prior_pulls:
            return x.t % x.K
        return over_arms(draw)(x)

    return explore, never, None, 0


def bai_etc(p):
    def stops(x):
        gap = abs(x.mean(0) - x.mean(1))
        return x.t % 2 == 0 and gap**2 >= sigma(x, p) ** 2 * 8 * math.log(x.horizon / x.t) / x.t

    return lambda x: x.t % 2, stops, over_arms(State.mean), 1


def detc_radius(x, s, sigma):
    return sigma * math.sqrt(2 / s * math.log(x.horizon / s * (math.log(x.horizon / s) ** 2 + 1)))


def detc(p):
    def script(x):
        first_length = math.log(x.horizon) ** 2
        while abs(x.mean(0) - x.mean(1)) < sigma(x, p) * math.sqrt(16 / x.t * log_plus(first_length / x.t)):
            yield 0
            yield 1
        favourite = x.argmax(x.means())
        other = 1 - favourite
        while x.n[favourite] < first_length:
            yield favourite
        n, s = x.n[other], x.s[other]
        yield other
        while True:
            fresh = x.n[other] - n
            theta = (x.s[other] - s) / fresh
            if abs(x.mean(favourite) - theta) >= detc_radius(x, fresh, sigma(x, p)):
                return favourite if x.mean(favourite) >= theta else other
            yield other

    return in_stages(script, 1)


def detc_k(p):
    def script(x):
        length = math.log(x.horizon) ** 2
        for _ in range(math.ceil(math.sqrt(math.log(x.horizon)))):
            for a in range(x.K):
                yield a
        favourite = x.argmax(x.means())
        n, s = x.n[favourite], x.s[favourite]
        for _ in range(math.ceil(length)):
            yield favourite
        mean = (x.s[favourite] - s) / (x.n[favourite] - n)
        beaten = False
        for a in range(x.K):
            if a == favourite or beaten is None:
                continue
            n, s = x.n[a], x.s[a]
            yield a
            while True:
                fresh = x.n[a] - n
                if fresh > length:
                    beaten = None
                    break
                theta = (x.s[a] - s) / fresh
                if abs(mean - theta) >= detc_radius(x, fresh, sigma(x, p)):
                    beaten = beaten or theta > mean
                    break
                yield a
        if beaten is False:
            return favourite
        fresh_means = []
        for a in range(x.K):
            n, s = x.n[a], x.s[a]
            while x.n[a] - n <= length:
                yield a
            fresh_means.append((x.s[a] - s) / (x.n[a] - n))
        return x.argmax(fresh_means)

    return in_stages(script, 0)


def ucb_alpha(p):
    def width(x, a):
        delta = 1 / x.horizon if p.delta is None else p.delta
        return sigma(x, p, a) * math.sqrt(2 / x.n[a] * log_plus(3 * math.log(x.n[a]) ** 2 / delta))

    def stops(x):
        best = x.means().index(max(x.means()))
        floor = x.mean(best) - width(x, best)
        return all(x.mean(a) + width(x, a) < floor for a in range(x.K) if a != best)

    return over_arms(lambda x, a: x.mean(a) + p.alpha * width(x, a)), stops, over_arms(State.mean), 2


def projected(share, least):
    """The proportions of at least `least` that are closest, where the largest difference counts."""
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if sum(max(least, each - middle) for each in share) > 1:
            low = middle
        else:
            high = middle
    return [max(least, each - high) for each in share]


def track_and_stop(p):
    goal = []

    def explore(x):
        if p.tracking == "D" and min(x.n) < math.sqrt(x.t) - x.K / 2:
            return x.argmax([-n for n in x.n])
        low, high = x.family.support
        inside = [1 / (2 * n + 2) for n in x.n]
        means = [
            m + i if m == low else m - i if m == high else m for m, i in zip(x.means(), inside, strict=True)
        ]
        share = optimal_weights(robai.families.Gaussian(1.0) if x.estimates else x.family, means)
        if p.tracking == "D":
            aims = [x.t * each for each in share]
        else:
            previous = goal or [1.0] * x.K
            share = projected(share, 1 / (2 * math.sqrt(x.K**2 + x.t)))
            aims = goal[:] = [old + new for old, new in zip(previous, share, strict=True)]
        return x.argmax([round(1e9 * (aims[a] - x.n[a])) for a in range(x.K)])

    def stops(x):
        delta = 1 / x.horizon if p.delta is None else p.delta
        return likelihood_ratio(x) >= math.log((1 + math.log(x.t)) / delta)

    return explore, stops, over_arms(State.mean), 1


def action_elimination(p):
    def script(x):
        active = list(range(x.K))
        delta = 1 / x.horizon if p.delta is None else p.delta
        while True:
            best = max(active, key=x.mean)
            if p.radius == "paper":
                f = -math.log(delta)
                floor = lcb(x, best, f, sigma(x, p, best))
                active = [a for a in active if a == best or ucb(x, a, f, sigma(x, p, a)) >= floor]
            else:
                n = x.n[best]
                alpha = max(sigma(x, p, a) for a in range(x.K)) * math.sqrt(
                    2 * math.log(4 * x.K * n * n / delta) / n
                )
                active = [a for a in active if a == best or x.mean(best) - x.mean(a) < 2 * alpha]
            if len(active) == 1:
                return active[0]
            if p.radius == "paper":
                yield active[x.t % len(active)]
            else:
                yield from active

    return in_stages(script, 1)


def lead_commit(p):
    def z(x, leader, b):
        return 0.0 if x.mean(b) == x.mean(leader) else max(0.0, evidence(x, leader, b))

    def bar(x, leader, b):
        both, lesser = x.n[leader] + x.n[b], min(x.n[leader], x.n[b])
        if p.delta is not None:
            return math.log((x.K - 1) / p.delta) + math.log(1 + math.log(both))
        return math.log(x.horizon) - math.log({"ratio": both, "pulls": lesser, "horizon": 1}[p.level])

    def in_doubt(x, leader):
        return [b for b in range(x.K) if b != leader and z(x, leader, b) < bar(x, leader, b)]

    def stops(x):  # two arms with the largest mean are in doubt, whichever of them leads
        ends = p.delta is None and x.t >= x.horizon
        return not ends and not in_doubt(x, x.means().index(max(x.means())))

    def explore(x):
        leader = x.argmax(x.means())
        claims = [math.inf] * x.K
        for b in in_doubt(x, leader):
            claims[b] = (1 + p.factor * z(x, leader, b) ** p.exponent) * x.n[b]
        return leader if x.n[leader] < min(claims) else x.argmax([-claim for claim in claims])

    return explore, stops, over_arms(State.mean), 1


POLICIES = {
    robai.EOCP: eocp,
    robai.EOCPUG: eocp_ug,
    robai.KLEOCP: kl_eocp,
    robai.KLEOCPUG: kl_eocp_ug,
    robai.LeadCommit: lead_commit,
    robai.UCB: plain_ucb,
    robai.MOSS: moss,
    robai.AdaUCB: ada_ucb,
    robai.BayesUCB: bayes_ucb,
    robai.KLUCB: plain_kl_ucb,
    robai.UCBV: ucb_v,
    robai.IMED: imed,
    robai.ThompsonSampling: thompson,
    robai.BAIETC: bai_etc,
    robai.ETC: etc,
    robai.SPRTETC: sprt_etc,
    robai.DETC: detc,
    robai.DETCK: detc_k,
    robai.UCBAlpha: ucb_alpha,
    robai.TrackAndStop: track_and_stop,
    robai.ActionElimination: action_elimination,
    **IDENTIFICATION,
}


def stream_of(seed, run):
    """The generator of a run of `simulate(rng=seed)`; of the first 256 runs."""
    return probes.Draws(seed_block((seed,), (), 0)[run])


def play(policy, bandit, horizon, seed, run):
    """One run of `simulate(rng=seed)`: the arms played up to the commitment, its round and its arm.

    (-1, -1 if there is none.)
    """
    explore, stops, commit, initial = POLICIES[type(policy)](policy)
    x = State(bandit, horizon, stream_of(seed, run), getattr(policy, "family", None))
    if x.estimates and not isinstance(policy, robai.TrackAndStop | robai.LeadCommit):
        initial = 4 if isinstance(policy, robai.BayesUCB) else 3  # else there are no bounds
    arms = []
    while x.t < horizon:
        arm = x.t % x.K if x.t < initial * x.K else None if stops(x) else explore(x)
        if arm is None:
            return arms, x.t, commit(x)
        arms.append(arm)
        x.pull(arm)
    # An exploration that ends with the last round ends with a commitment.
    staged = isinstance(policy.parts().commit, robai.rules.Recommended)
    if x.t >= initial * x.K and (stops(x) or (staged and explore(x) is None)):
        return arms, x.t, commit(x)
    return arms, -1, -1
