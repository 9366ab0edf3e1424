"""Levels that grow: the arms are those of a loop that computes all indices in every round."""

import math

import numpy as np
import pytest
from support.laws import assert_same_law

import robai
from robai import rules
from robai._core import probes
from robai._core.bounds import DivergenceBounds, GaussianBounds
from robai._core.explore_index import (
    FullOptimism,
    GrowingOptimism,
    KineticOptimism,
    SteadyOptimism,
    optimism,
)
from robai._core.levels import PlusLevel, RoundLevel
from robai.policies import Policy

FAMILIES = [
    robai.Bernoulli,
    lambda means: robai.Binomial([5 * mean for mean in means], n=5),
    robai.Poisson,
    robai.Exponential,
    lambda means: robai.Gamma(means, shape=2.5),
    lambda means: robai.NegativeBinomial(means, r=1.5),
]
pytestmark = pytest.mark.filterwarnings("ignore:arms .* are all best")

TWO, NEAR, TEN = (0.7, 0.2), (0.5, 0.48), (0.7, *[0.2] * 9)
LADDER = tuple(np.linspace(0.99, 0.01, 100))
HUNDRED, HUNDRED_NEAR = (0.7, *[0.2] * 99), (0.5, *[0.48] * 99)
by_arms = {"ids": lambda value: f"{len(value)} arms from {value[0]:g}" if isinstance(value, tuple) else None}


class EveryUpperBound(rules.UpperBound):
    def start(self, game):
        return FullOptimism(game.n_arms, self.bounds(game))


class EveryKLUpperBound(rules.KLUpperBound):
    def start(self, game):
        return FullOptimism(game.n_arms, self.bounds(game))


def assert_same_arms(level, bandit, horizon, runs):
    """Rewards are common, the k-th of an arm is the same: a single other arm changes the rest of a run."""
    if isinstance(bandit, robai.Gaussian):
        pair = rules.UpperBound(level, sigma=1.0), EveryUpperBound(level, sigma=1.0)
    else:
        pair = rules.KLUpperBound(level), EveryKLUpperBound(level)
    one, every = (
        robai.simulate(
            Policy(explore=explore), bandit, horizon, runs, rng=3, times=200, curves=True, common=True
        )
        for explore in pair
    )
    np.testing.assert_array_equal(one.pulls, every.pulls)
    np.testing.assert_array_equal(one.curves, every.curves)


@pytest.mark.parametrize(
    ("level", "means", "horizon", "runs"),
    [
        ("round", TWO, 10**5, 40),
        ("round", NEAR, 20_000, 60),
        ("round", TEN, 10**5, 10),
        ("round", HUNDRED, 10**5, 2),
        ("round", HUNDRED, 20_000, 10),
        ("round", HUNDRED_NEAR, 20_000, 10),
        ("round", LADDER, 20_000, 10),
        ("anytime", NEAR, 20_000, 20),
        ("anytime", HUNDRED, 20_000, 3),
    ],
    **by_arms,
)
def test_ucb_plays_the_arms_of_the_plain_loop(level, means, horizon, runs):
    assert_same_arms(level, robai.Gaussian(means), horizon, runs)


@pytest.mark.parametrize("level", ["round", "loglog"])
@pytest.mark.parametrize(
    ("means", "horizon", "runs"),
    [(TWO, 10**5, 6), (NEAR, 20_000, 10), (TEN, 30_000, 4), (HUNDRED, 20_000, 1), (LADDER, 20_000, 1)],
    **by_arms,
)
def test_kl_ucb_plays_the_arms_of_the_plain_loop(level, means, horizon, runs):
    assert_same_arms(level, robai.Bernoulli(means), horizon, runs)


@pytest.mark.parametrize("family", FAMILIES[1:], ids=lambda family: type(family(TWO)).__name__)
def test_other_families(family):
    assert_same_arms("round", family((0.5, 0.48, *np.linspace(0.4, 0.02, 8))), 20_000, 2)
    assert_same_arms("loglog", family(HUNDRED_NEAR), 3000, 1)


@pytest.mark.slow
@pytest.mark.parametrize("means", [TWO, NEAR, TEN, HUNDRED, HUNDRED_NEAR, LADDER], **by_arms)
@pytest.mark.parametrize("family", [robai.Gaussian, *FAMILIES], ids=lambda family: type(family(TWO)).__name__)
def test_long_runs(family, means):
    assert_same_arms("round", family(means), 10**5, 100 // len(means) + 1)


def test_means_on_the_edge_and_sigmas_of_each_arm():
    assert_same_arms("round", robai.Bernoulli([1.0, 1.0, 0.999, 0.0]), 20_000, 4)
    assert_same_arms("loglog", robai.Poisson([0.0, 0.001, 0.02]), 20_000, 4)
    sigma = [1.0, 0.1, 3.0, 1.0]
    pair = rules.UpperBound("round", sigma=sigma), EveryUpperBound("round", sigma=sigma)
    bandit = robai.Gaussian([0.5, 0.45, 0.4, 0.5], sigma=sigma)
    one, every = (
        robai.simulate(Policy(explore=explore), bandit, 50_000, 20, rng=5, times=1, common=True)
        for explore in pair
    )
    np.testing.assert_array_equal(one.pulls, every.pulls)


def test_ties_are_broken_as_the_plain_loop_breaks_them():
    """Rewards are all 1, and so are all indices: every arm is as likely, in each round."""
    bandit = robai.Bernoulli([1.0] * 7)
    assert_same_arms("round", bandit, 3000, 10)
    played = robai.simulate(robai.KLUCB(level="round"), bandit, 1007, 4000, rng=6, times=1, engine="step")
    assert np.abs(played.pulls.mean(axis=0) - 1007 / 7).max() < 5 * np.sqrt(1000 * 6 / 49 / 4000)


@pytest.mark.parametrize(
    ("family", "pulls", "sums", "ahead"),
    [
        (robai.families.Bernoulli(), (3, 8), (3, 8), (None, math.inf)),
        (robai.families.Binomial(5), (3, 8), (15, 40), (None, math.inf)),
        (robai.families.Bernoulli(), (8, 8), (5, 5), (None, math.inf)),
        (robai.families.Bernoulli(), (9, 8), (9, 7), (0, None)),
        (robai.families.Bernoulli(), (100, 3), (60, 1), (1, math.inf)),
    ],
    ids=repr,
)
def test_how_long_an_arm_is_ahead(family, pulls, sums, ahead):
    """Bounds that have come to the end of the domain stay there, equal for ever."""
    leader, until = probes.who_is_ahead(DivergenceBounds(RoundLevel(), family._core(2)), pulls, sums, 5.0)
    assert leader == ahead[0]
    assert 5.0 < until < math.inf if ahead[1] is None else until == ahead[1]


@pytest.mark.parametrize("bandit", [robai.Gaussian(HUNDRED), robai.Bernoulli(HUNDRED)], ids=["ucb", "kl-ucb"])
def test_both_engines_with_many_arms(bandit):
    policy = (robai.UCB if isinstance(bandit, robai.Gaussian) else robai.KLUCB)(level="round")
    step, leap = (
        robai.simulate(policy, bandit, 20_000, 60, rng=seed, times=1, engine=engine)
        for seed, engine in ((1, "step"), (2, "leap"))
    )
    assert_same_law(step.final_regret, leap.final_regret)
    for arm in (0, 1, 99):
        assert_same_law(step.pulls[:, arm], leap.pulls[:, arm])


def test_levels_that_depend_on_pulls_are_compared_in_full():
    """Two indices may then cross more than once."""
    assert isinstance(optimism(2, GaussianBounds(PlusLevel(), [1.0, 1.0])), GrowingOptimism)
    for policy, kind in ((robai.UCB(level="round"), KineticOptimism), (robai.UCB(), SteadyOptimism)):
        assert isinstance(
            policy.parts().explore.start(rules.Game.of(2, 100, robai.families.Gaussian(1.0))), kind
        )
