"""IMED: streaks of the leader, by steps and by leaps, from the formula alone; what it refuses.

Its arms are compared with the reference in test_policies.py, its engines in test_leap.py, its regret with
that of another program in test_field_regret.py. Seeds are fixed.
"""

import math
import re

import numpy as np
import pytest
from support.laws import assert_same_law

import robai
from robai import rules
from robai._core import leap, probes
from robai._core.engine import Batch


def lost_leads(engine, bandit, pulls, means, horizon, runs):
    """The pulls and the sum of arm 0 when it is no longer the one to be pulled."""
    started = robai.IMED().start(rules.Game.of(bandit.n_arms, horizon, bandit))
    states = np.random.SeedSequence([5, runs]).generate_state(4 * runs, np.uint64).reshape(-1, 4)
    batch = engine(*started[:3], 1, bandit._core(), bandit.means, (horizon,), states)
    return probes.lost_leads(batch, pulls, [n * mean for n, mean in zip(pulls, means, strict=True)])


def lost_by_the_formula(bandit, draw, pulls, means, horizon, runs):
    """The same: every reward of the leader is drawn, and every index computed in every round."""
    rng, ends = np.random.default_rng(8), []
    length = horizon - sum(pulls)
    for _ in range(runs):
        n = pulls[0] + np.arange(length + 1)
        s = pulls[0] * means[0] + np.concatenate([[0.0], np.cumsum(draw(rng, bandit.means[0], length))])
        largest = np.maximum(s / n, max(means[1:]))
        own = n * robai.kl.divergence(bandit, s / n, largest) + np.log(n)
        others = [
            pulls[a] * robai.kl.divergence(bandit, means[a], largest) + math.log(pulls[a])
            for a in range(1, bandit.n_arms)
        ]
        end = np.append(np.flatnonzero(own > np.minimum.reduce(others)), length)[0]
        ends.append((n[end], s[end]))
    return np.array(ends)


GAUSSIAN = (robai.Gaussian([0.7, 0.2]), lambda rng, mean, size: rng.normal(mean, 1.0, size))
THREE = (robai.Gaussian([0.5, 0.1, 0.3]), GAUSSIAN[1])
COINS = (robai.Bernoulli([0.7, 0.2]), lambda rng, mean, size: (rng.random(size) < mean).astype(float))
RARE = (robai.Bernoulli([0.05, 0.02]), COINS[1])
COUNTS = (robai.Poisson([1.0, 0.5]), lambda rng, mean, size: rng.poisson(mean, size).astype(float))
TIMES = (robai.Exponential([1.0, 0.4]), lambda rng, mean, size: rng.exponential(mean, size))
# Pulls and means of every arm: of a leader that is soon overtaken, late, or never; or that is ahead by luck,
# with fewer pulls than the others, and whose mean falls below another's.
STATES = [
    pytest.param(GAUSSIAN, (1000, 60), (0.7, 0.2), id="soon"),
    pytest.param(GAUSSIAN, (1000, 48), (0.74, 0.2), id="late"),
    pytest.param(GAUSSIAN, (1000, 200), (0.7, 0.1), id="never"),
    pytest.param(GAUSSIAN, (20, 200), (1.2, 0.72), id="by luck"),
    pytest.param(THREE, (1000, 70, 250), (0.5, 0.1, 0.3), id="three arms"),
    pytest.param(THREE, (50, 300, 300), (0.6, 0.1, 0.5), id="of three by luck"),
    pytest.param(COINS, (1000, 12), (0.7, 0.25), id="Bernoulli, soon"),
    pytest.param(COINS, (100, 10), (0.75, 0.2), id="Bernoulli, late"),
    pytest.param(COINS, (20, 200), (0.85, 0.695), id="Bernoulli, by luck"),
    pytest.param(RARE, (2000, 600), (0.05, 0.02), id="rare"),
    pytest.param(COUNTS, (1000, 26), (1.0, 0.5), id="Poisson"),
    pytest.param(TIMES, (1000, 20), (1.0, 0.4), id="exponential"),
]


@pytest.mark.parametrize(("case", "pulls", "means"), STATES)
def test_both_engines_keep_the_leader_as_long_as_the_formula(case, pulls, means):
    bandit, draw = case
    horizon = 4 * sum(pulls)
    leaps = leap.GaussianLeaps if isinstance(bandit, robai.Gaussian) else leap.PositiveLeaps
    by_formula = lost_by_the_formula(bandit, draw, pulls, means, horizon, 2000)
    for engine in (Batch, leaps):
        played = lost_leads(engine, bandit, pulls, means, horizon, 6000)
        assert_same_law(played[:, 0], by_formula[:, 0])
        assert_same_law(played[:, 1], by_formula[:, 1])


@pytest.mark.parametrize("scale", [2.0**-330, 2.0**-20, 2.0**30])
def test_the_unit_of_rewards_does_not_matter(scale):
    for engine in ("step", "leap"):
        one, other = (
            robai.simulate(robai.IMED(), bandit, 10**4, 50, rng=12, engine=engine)
            for bandit in (GAUSSIAN[0], robai.Gaussian([0.7 * scale, 0.2 * scale], sigma=scale))
        )
        np.testing.assert_array_equal(one.pulls, other.pulls)


def test_regret_grows_like_2_log_t_over_the_gap():
    first, second = (
        robai.simulate(robai.IMED(), GAUSSIAN[0], 10**power, 1500, rng=9, times=1) for power in (9, 15)
    )
    error = math.hypot(first.regret_sem[-1], second.regret_sem[-1])
    assert abs(second.regret[-1] - first.regret[-1] - 2 / 0.5 * math.log(10**6)) < 5 * error


def test_sums_above_2_53_do_not_drift():
    """Whole rewards that were added to them one by one would be rounded up here, and the lead never lost."""
    bandit, pulls, mean = robai.Binomial([6.75, 5.5], n=8), 53, 5.5
    index = pulls * robai.kl.divergence(bandit, mean, 6.75) + math.log(pulls)
    most = round(math.exp(index) * (1 - 1e-12)) // 4 * 4
    assert most * 6.75 > 2**53
    horizon = most + pulls + 10**6
    lost = lost_leads(leap.PositiveLeaps, bandit, (most, pulls), (6.75, mean), horizon, 20)
    assert (lost[:, 0] < most + 5e5).all()


@pytest.mark.parametrize(
    "bandit",
    [
        COINS[0],
        RARE[0],
        COUNTS[0],
        TIMES[0],
        robai.Bernoulli([1.0, 0.5]),
        robai.Gaussian([1.0, 0.0, -1e15], sigma=1e-3),
        robai.Gamma([1e9, 1e-300], shape=0.045),
    ],
    ids=repr,
)
def test_long_horizons(bandit):
    result = robai.simulate(robai.IMED(), bandit, 10**17, 3, rng=3)
    assert result.meta["engine"] == "leap"
    assert (result.pulls.sum(axis=1) == 10**17).all()
    assert (result.pulls[:, 1] < 10**5).all()


def test_an_arm_that_never_fails_is_played_for_ever():
    """The index of an arm that has failed is infinite as long as another has not."""
    result = robai.simulate(robai.IMED(), robai.Bernoulli([1.0, 0.0, 0.5]), 10**5, 200, rng=1, engine="step")
    assert (result.pulls[:, 1] == 1).all()
    assert result.pulls[:, 2].max() < 60


@pytest.mark.parametrize(
    ("policy", "name", "instead"),
    [
        (robai.IMED(), "IMED", "KLUCB()"),
        (robai.Policy(rules.MinimumDivergence(), rules.Never()), "MinimumDivergence", "KLUpperBound"),
    ],
)
def test_an_unknown_variance_is_refused(policy, name, instead):
    message = (
        f"{name} needs a known variance, and that of Gaussian(variance='both') is not: "
        f"use {instead}, which estimates it, or say families.Gaussian(sigma)"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        robai.Agent(policy, arms=2, horizon=100, reward="gaussian")


def test_an_index_is_no_confidence_bound():
    agent = robai.Agent(robai.IMED(), arms=2, horizon=100, reward="bernoulli", rng=0)
    for _ in range(20):
        arm = agent.select()
        agent.update(arm, float(arm == 0))
    assert "nan" not in str(agent.summary()).lower()
