"""Certificates: what they are by the slow formula, and how often they are broken."""

import math

import numpy as np
import pytest
from support.reference_divergences import divergence

import robai
from robai import families, rules
from robai._base.intervals import clopper_pearson
from robai._core.protocols import Evidence
from robai.rules import Game
from robai.rules.threshold import Certainty, exponential_calibration


def loss(n, s):
    """log of the largest likelihood, less that of the one averaged over Beta(1/2, 1/2)."""
    best = sum(k * math.log(k / n) for k in (s, n - s) if k > 0)
    return best - (math.lgamma(s + 0.5) + math.lgamma(n - s + 0.5) - math.log(math.pi) - math.lgamma(n + 1))


def ratio(family, n, s, a, b):
    pooled = (s[a] + s[b]) / (n[a] + n[b])
    return sum(n[i] * divergence(family, s[i] / n[i], pooled) for i in (a, b))


def bernoulli(n, s, a, b):
    return ratio(families.Bernoulli(), n, s, a, b) - loss(n[a], s[a]) - loss(n[b], s[b])


def gaussian(n, s, a, b, sigma=0.2):
    """The least over c of the sum of both mixtures, on a grid."""
    c = np.linspace(s[b] / n[b], s[a] / n[a], 100_001)
    parts = (
        n[i] ** 2 / (n[i] + 1) * ((s[i] / n[i] - c) / sigma) ** 2 / 2 - math.log(n[i] + 1) / 2 for i in (a, b)
    )
    return float(sum(parts).min())


def counts(seed, arms, most):
    chance = np.random.default_rng(seed)
    n = chance.integers(1, most, size=arms).tolist()
    return n, [float(chance.binomial(count, p)) for count, p in zip(n, chance.random(arms), strict=True)]


@pytest.mark.parametrize(
    ("family", "formula"),
    [(families.Bernoulli(), bernoulli), (families.Bounded(), bernoulli), (families.Gaussian(0.2), gaussian)],
    ids=repr,
)
def test_the_slow_formula(family, formula):
    below = 0
    for seed in range(60):
        n, s = counts(seed, 3, 100)
        agent = robai.Agent(robai.KLUCB(), 3, 10**6, reward=family, rng=0)
        for arm in range(3):
            agent.update_counts(arm, n[arm], s[arm])
        best = max(range(3), key=lambda arm: s[arm] / n[arm])
        least = min(formula(n, s, best, other) for other in range(3) if other != best)
        expected = min(1.0, 2 * math.exp(-least))
        assert agent.certificate() == pytest.approx(expected, rel=1e-4)
        below += expected < 1.0
    assert below > 10


def test_families_without_a_mixture_invert_their_threshold():
    for family in (families.Poisson(), families.Exponential(), families.Gamma(2.0)):
        for total in (60.0, 110.0, 250.0):
            n, s = [100, 80, 70], [300.0, total, total]
            delta = Certainty(family, Game.of(3, 1000, family)).delta(Evidence(n, s, 1000))
            found = min(ratio(family, n, s, 0, b) - 3 * math.log(1 + math.log(n[b])) for b in (1, 2))
            found -= 3 * math.log(1 + math.log(n[0]))
            if delta < 1.0:
                assert 2 * exponential_calibration(math.log(2 / delta) / 2) == pytest.approx(found, rel=1e-9)
            else:
                assert 2 * exponential_calibration(math.log(2) / 2) >= found
    assert delta == 1.0


@pytest.mark.parametrize(
    "family",
    [
        families.Bernoulli(),
        families.Gaussian(1.0),
        families.Gaussian(),
        families.Binomial(4),
        families.Poisson(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-9])
def test_the_rule_fires_where_the_certificate_is_as_small(family, delta):
    game, answers = Game.of(3, 10**6, family), set()
    rule, certainty = rules.Certificate(delta).start(game), Certainty(family, game)
    for seed in range(100):
        n, s = counts(seed, 3, 10 ** (2 + seed % 3))
        squares = [total * (1 - total / count) + 1e-9 for count, total in zip(n, s, strict=True)]
        evidence = Evidence(n, s, 10**6, squares if family == families.Gaussian() else None)
        found = certainty.delta(evidence)
        assert rule.fires_on(evidence) == (found <= delta)
        answers.add(found <= delta)
    assert answers == {True, False}


def test_it_is_never_certain():
    agent = robai.Agent(robai.UCB(), ["a", "b"], 10**6, reward="bernoulli")
    agent.update_counts("a", 10_000, 0)
    agent.update_counts("b", 10_000, 10_000)
    assert 0.0 < agent.certificate() < 1e-300
    assert "and certificate 2.2e-308." in agent.summary()


def test_nothing_is_said_of_little():
    agent = robai.Agent(robai.KLUCB(), ["A", "B"], 1000, reward="bernoulli", rng=0)
    assert agent.certificate() == 1.0
    agent.update("A", 1)
    assert agent.certificate() == 1.0  # B has no reward yet
    agent.update("B", 1)
    assert agent.certificate() == 1.0  # a tie
    normal = robai.Agent(robai.KLUCB(), ["A", "B"], 1000, reward="gaussian", rng=0)
    for arm, reward in (("A", 1.0), ("B", 0.0), ("A", 1.0), ("B", 0.0)):
        normal.update(arm, reward)
    assert normal.certificate() == 1.0  # equal rewards say nothing of a variance
    with pytest.raises(ValueError, match="no certificate is proved for any rewards"):
        Certainty(families.Poisson(), Game(2, 100, None, (0.0, 1.0), None))


# Four ways to choose the arm that try to deceive: each is told both deviations and the round.


def alternating(z, n, t):
    return t % 2


def away(z, n, t):
    """The arm whose deviation is less in its favourable direction: up for the first, down for the second."""
    return np.where(z[0] < -z[1], 0, 1)


def until_high(z, n, t, half=1000):
    return np.where((z[0] > 2) | (n[0] >= half), 1, 0)


def unlucky_first(z, n, t):
    return np.where((z[1] > -2) & (n[1] < 20), 1, 0)


def smallest_certificates(family, mean, choose, runs, rounds, seed):
    """The smallest certificate that the wrong arm has in each run, of two arms of equal means.

    Any leader is wrong then: it is what may happen with a gap that is next to none.
    """
    chance = np.random.default_rng(seed)
    n, s = np.zeros((2, runs)), np.zeros((2, runs))
    largest = np.full(runs, -np.inf)
    sd = 1.0 if family == "gaussian" else math.sqrt(mean * (1 - mean))
    lgamma = np.array([math.lgamma(i / 2) if i else 0.0 for i in range(2 * rounds + 4)])

    def value():  # for the first arm as the leader, one of two directions
        with np.errstate(divide="ignore", invalid="ignore"):
            m = s / n
            if family == "gaussian":
                found = (m[0] - m[1]) ** 2 / 2 / ((n + 1) / n**2).sum(axis=0) - np.log1p(n).sum(axis=0) / 2
            else:
                pooled = s.sum(axis=0) / n.sum(axis=0)
                # log of both mixtures, less the largest likelihood of a common mean
                i = (2 * s).astype(int)
                j = (2 * (n - s)).astype(int)
                k = (2 * n).astype(int)
                parts = lgamma[i + 1] + lgamma[j + 1] - math.log(math.pi) - lgamma[k + 2]
                wins, losses = s.sum(axis=0), (n - s).sum(axis=0)
                common = np.where(wins > 0, wins * np.log(pooled), 0) + np.where(
                    losses > 0, losses * np.log1p(-pooled), 0
                )
                found = parts.sum(axis=0) - common
            return np.where(m[0] > m[1], found, -np.inf)

    for t in range(rounds):
        if t < 2:
            arm = np.full(runs, t)
        else:
            arm = choose((s / n - mean) * np.sqrt(n) / sd, n, t) + np.zeros(runs, dtype=int)
        drawn = chance.normal(size=runs) if family == "gaussian" else chance.random(runs) < mean
        rows = np.arange(runs)
        s[arm, rows] += drawn
        n[arm, rows] += 1
        if t >= 1:
            largest = np.maximum(largest, value())
    return np.exp(-largest)


@pytest.mark.parametrize("choose", [alternating, away, until_high, unlucky_first])
@pytest.mark.parametrize(("family", "mean"), [("gaussian", 0.0), ("bernoulli", 0.5), ("bernoulli", 0.05)])
def test_certificates_are_not_broken_more_often_than_they_say(family, mean, choose):
    """The whole 95 % interval of how often they are is below the level, whichever the rule."""
    runs, broken = 2000, 0
    found = smallest_certificates(family, mean, choose, runs, 2000 if mean == 0.5 else 1000, seed=3)
    for delta in (0.3, 0.1, 0.03):
        count = int((found <= delta).sum())
        assert clopper_pearson(count, runs)[1] < delta
        broken += count
    assert mean == 0.05 or broken > 0  # a test that could fail


def test_the_simulation_of_deceptions_has_the_certificates_of_agents():
    n, s = [7, 9], [5.0, 3.0]
    found = Certainty(families.Bernoulli(), Game.of(2, 100, families.Bernoulli()))
    assert found.delta(Evidence(n, s, 100)) == pytest.approx(min(1, math.exp(-bernoulli(n, s, 0, 1))))


def test_a_certified_policy_in_simulations():
    """Two nearly equal arms, of which the larger share of wrong commitments would be seen."""
    for bandit in (robai.Gaussian([0.02, 0.0]), robai.Bernoulli([0.5, 0.495])):
        policy = robai.Policy(rules.RoundRobin(), rules.Certificate(0.2))
        wrong = robai.simulate(policy, bandit, 1000, 1000, rng=5)
        share = np.mean(wrong.committed & (wrong.committed_arm != wrong.best_arm))
        assert 0 < share < 0.2 - 5 * math.sqrt(0.16 / 1000)
