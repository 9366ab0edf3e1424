"""Thinned Thompson sampling has the law of drawing from every posterior in every round.

`Batch` does the latter. Seeds are fixed: a test that passes once passes always.
"""

import math

import numpy as np
import pytest
from support.laws import assert_same_counts, assert_same_law

import robai
from robai import rules
from robai._core import probes
from robai._core.engine import Batch
from robai._core.families import Gaussian
from robai._core.rng import Stream
from robai._core.thinning import GaussianThinned, PositiveThinned, Thinned

by_repr = {"ids": repr}

THOMPSON = robai.ThompsonSampling()
TWO = robai.Gaussian([0.7, 0.2])
COIN = robai.Bernoulli([0.7, 0.2])
BANDITS = [
    TWO,
    COIN,
    robai.Binomial([2.1, 0.6], n=3),
    robai.Poisson([0.7, 0.2]),
    robai.Exponential([0.7, 0.2]),
    robai.Gamma([0.7, 0.4], shape=2.5),
    robai.NegativeBinomial([0.7, 0.2], r=2.0),
]
ODD_BANDITS = [
    robai.Gaussian([0.5, 0.45]),
    robai.Gaussian([5.0, 0.0]),
    robai.Gaussian([0.2, 0.7, 0.65], sigma=[1.0, 0.5, 2.0]),
    robai.Gaussian([0.9 - 0.1 * arm for arm in range(10)]),
    pytest.param(robai.Gaussian([0.7] + [0.2] * 99), marks=pytest.mark.slow, id="a hundred arms"),
    robai.Bernoulli([0.5, 0.45]),
    robai.Bernoulli([0.999, 0.9]),
    robai.Bernoulli([0.02, 0.001]),
    robai.Bernoulli([1.0, 0.5]),
    robai.Bernoulli([0.5, 0.0]),
    robai.Bernoulli([0.7] + [0.2] * 9),
    robai.Poisson([5.0, 4.0]),
    robai.Poisson([0.7, 0.6, 0.2, 0.2]),
    robai.Poisson([0.7, 0.01]),
    robai.Poisson([0.05, 0.0]),
    robai.NegativeBinomial([0.7, 0.01], r=0.5),
    robai.NegativeBinomial([0.7, 0.0], r=2.0),
    robai.Exponential([1.0, 0.95, 0.9]),
    robai.Gamma([1.0, 0.5], shape=0.1),
]


def leaps_of(bandit):
    return GaussianThinned if isinstance(bandit._core(), Gaussian) else PositiveThinned


def batch_of(kind, bandit, horizon, runs, seed, policy=THOMPSON, **tuning):
    game = rules.Game.of(bandit.n_arms, horizon, bandit)
    states = np.random.default_rng(seed).integers(1, 2**63, size=(runs, 4), dtype=np.uint64)
    batch = kind(*policy.start(game), bandit._core(), bandit.means, (horizon,), states)
    for name, value in tuning.items():
        setattr(batch, name, value)
    return batch


def play(*args, **tuning):
    batch = batch_of(*args, **tuning)
    while batch.advance(1e9):
        pass
    return batch


def assert_same(plain, thinned, horizon):
    assert (thinned.pulls.sum(axis=1) == horizon).all()
    assert_same_law(plain.regret[:, -1], thinned.regret[:, -1])
    for arm in range(plain.pulls.shape[1]):
        assert_same_law(plain.pulls[:, arm], thinned.pulls[:, arm])
    assert_same_law(plain.commit_time, thinned.commit_time)


def assert_plain_law(bandit, horizon, runs, policy=THOMPSON, **tuning):
    plain = play(Batch, bandit, horizon, runs, 17, policy)
    for kind in (Thinned, leaps_of(bandit)):
        names = {name: value for name, value in tuning.items() if hasattr(kind, name)}
        assert_same(plain, play(kind, bandit, horizon, 3 * runs, 71, policy, **names), horizon)


# ---- the law of runs


@pytest.mark.parametrize("bandit", BANDITS, **by_repr)
def test_all_families(bandit):
    assert_plain_law(bandit, 300, 3000)
    assert_plain_law(bandit, 5000, 300)


@pytest.mark.parametrize("bandit", ODD_BANDITS, **by_repr)
def test_odd_arms(bandit):
    assert_plain_law(bandit, 2000, 300)


@pytest.mark.filterwarnings("ignore:.*all best")
@pytest.mark.parametrize("bandit", [robai.Gaussian([0.5] * 3), robai.Bernoulli([0.5] * 3)], **by_repr)
def test_equally_good_arms(bandit):
    assert_plain_law(bandit, 500, 1000)


# Cones that are left at once, or hardly ever; plain rounds nearly always, or never; endless walks early on.
BAD_TUNINGS = [
    {"width": 0.02, "many": 1},
    {"width": 0.3, "busy": 0.02},
    {"width": 5.0, "busy": 0.95, "many": 50},
    {"width": 1.5, "busy": 0.999, "many": 10**9},
]


@pytest.mark.parametrize("tuning", BAD_TUNINGS, **by_repr)
@pytest.mark.parametrize("bandit", [*BANDITS, robai.Gaussian([0.2, 0.7, 0.65])], **by_repr)
def test_tuning_does_not_move_the_law(bandit, tuning):
    assert_plain_law(bandit, 1000, 500, **tuning)


@pytest.mark.slow
@pytest.mark.parametrize("tuning", [{}, *BAD_TUNINGS], **by_repr)
@pytest.mark.parametrize("bandit", [*BANDITS, *ODD_BANDITS], **by_repr)
def test_many_runs(bandit, tuning):
    assert_plain_law(bandit, 100, 100_000, **tuning)
    assert_plain_law(bandit, 10_000, 600, **tuning)


LONG = [
    TWO,
    COIN,
    robai.Gaussian([0.5, 0.45]),
    robai.Gaussian([0.2, 0.7, 0.65]),
    robai.Bernoulli([0.5, 0.45]),
    robai.Bernoulli([0.02, 0.001]),
]
MANY = [(30, 1_000_000), (100, 300_000), (400, 100_000)]


@pytest.mark.parametrize("bandit", [TWO, COIN], **by_repr)
def test_long_runs(bandit):
    assert_plain_law(bandit, 10**5, 100)


@pytest.mark.slow
@pytest.mark.parametrize("tuning", [{}, *BAD_TUNINGS], **by_repr)
@pytest.mark.parametrize("bandit", [*BANDITS, *LONG[2:]], **by_repr)
def test_many_long_runs(bandit, tuning):
    assert_plain_law(bandit, 10**5, 300, **tuning)


@pytest.mark.parametrize(
    ("horizon", "runs"),
    [(30, 60_000), (100, 20_000), *(pytest.param(*case, marks=pytest.mark.slow) for case in MANY)],
)
@pytest.mark.parametrize("bandit", LONG, **by_repr)
def test_histograms_of_pulls(bandit, horizon, runs):
    """With cones that are left at once, too."""
    plain = play(Batch, bandit, horizon, runs, 23)
    for tuning in ({}, {"width": 0.3, "many": 1}, {"width": 0.02, "busy": 0.9}):
        for kind in (Thinned, leaps_of(bandit)):
            names = {name: value for name, value in tuning.items() if hasattr(kind, name)}
            thinned = play(kind, bandit, horizon, runs, 29, **names)
            for arm in range(bandit.n_arms):
                assert_same_counts(plain.pulls[:, arm], thinned.pulls[:, arm])


@pytest.mark.parametrize("bandit", [TWO, COIN, robai.Poisson([0.7, 0.2, 0.4])], **by_repr)
@pytest.mark.parametrize(
    "stop",
    [
        rules.FixedRound(400),
        rules.Imbalance(),
        rules.Imbalance() | rules.FixedRound(300),
        rules.LikelihoodRatio(share=0.5),
    ],
    ids=lambda stop: type(stop).__name__,
)
def test_stops(bandit, stop):
    policy = robai.Policy(explore=THOMPSON, stop=stop, commit=rules.MostPulled())
    assert_plain_law(bandit, 1000, 1000, policy)


def test_a_uniform_prior_and_posteriors_of_another_family():
    for policy in (
        robai.ThompsonSampling(prior="uniform"),
        robai.ThompsonSampling(family="poisson"),
        robai.ThompsonSampling(family=robai.families.Gaussian(0.5)),
        robai.ThompsonSampling(family=robai.families.Bounded(-1.0, 2.0)),
    ):
        assert_plain_law(COIN, 1000, 1000, policy)
    assert_plain_law(TWO, 1000, 1000, robai.ThompsonSampling(family=robai.families.Gaussian(0.7)))


def test_rewards_whose_sums_cannot_be_drawn_at_once():
    bandit = robai.Empirical([[0.0, 1.0, 0.5, 1.0], [0.0, 0.5]])
    policy = robai.ThompsonSampling(family="bernoulli")
    plain = play(Batch, bandit, 1000, 1000, 3, policy)
    assert_same(plain, play(Thinned, bandit, 1000, 3000, 4, policy), 1000)
    assert robai.simulate(policy, bandit, 1000, 2, rng=0).meta["engine"] == "step"


@pytest.mark.parametrize("believed", [1e-100, 1.0, 1e100])
@pytest.mark.parametrize("sigma", [1e-100, 1e-5, 1.0, 1e100])
@pytest.mark.parametrize("means", [(1.0, 0.0), (0.0, -1e15), (1e15, 1e15 - 1.0)], ids=str)
def test_noise_and_posteriors_of_very_different_size(sigma, believed, means):
    policy = robai.ThompsonSampling(family=robai.families.Gaussian(believed))
    assert_plain_law(robai.Gaussian(means, sigma=sigma), 501, 200, policy)


# ---- pieces of the argument


def density(family, pulls, total, grid):
    """Of the posterior, by the mean of Gaussian rewards, else by the logarithm of the mean or of its odds."""
    if family.name == "gaussian":
        log = -0.5 * pulls * (grid - total / pulls) ** 2
    elif family.name == "binomial":
        log = (total + 0.5) * grid - (family.n * pulls + 1.0) * np.log1p(np.exp(grid))
    elif family.name == "gamma":
        log = -family.shape * (pulls * grid + total * np.exp(-grid))
    elif family.name == "bernoulli":
        log = (total + 0.5) * grid - (pulls + 1.0) * np.log1p(np.exp(grid))
    elif family.name == "poisson":
        log = (total + 0.5) * grid - pulls * np.exp(grid)
    elif family.name == "exponential":
        log = -pulls * grid - total * np.exp(-grid)
    else:  # negative binomial: theta / r is beta prime
        log = (total + 0.5) * grid - (family.r * pulls + total + 0.5) * np.log1p(np.exp(grid))
    weight = np.exp(log - log.max())
    return weight / np.trapezoid(weight, grid)


PAIRS = [
    (robai.families.Gaussian(1.0), (50, 35.0), (20, 4.0)),
    (robai.families.Bernoulli(), (1000, 700.0), (18, 4.0)),
    (robai.families.Bernoulli(), (40, 40.0), (12, 6.0)),
    (robai.families.Poisson(), (1000, 700.0), (15, 3.0)),
    (robai.families.Poisson(), (1000, 700.0), (8, 0.0)),
    (robai.families.Binomial(3), (1000, 2100.0), (12, 8.0)),
    (robai.families.Exponential(), (1000, 700.0), (15, 3.0)),
    (robai.families.Gamma(2.5), (1000, 700.0), (8, 2.4)),
    (robai.families.NegativeBinomial(2.0), (1000, 700.0), (15, 3.0)),
    (robai.families.NegativeBinomial(2.0), (1000, 700.0), (12, 0.0)),
]


@pytest.mark.parametrize(("family", "leader", "rival"), PAIRS, **by_repr)
def test_the_chance_of_a_pair_is_that_of_quadrature(family, leader, rival):
    grid = np.linspace(-60.0, 30.0, 2_000_001)
    low, high = (density(family, *state, grid) for state in (leader, rival))
    below = np.concatenate([[0.0], np.cumsum(0.5 * (low[1:] + low[:-1]) * np.diff(grid))])
    expected = np.trapezoid(high * below, grid)

    core, tries = family._core(2), 200_000
    bound, _ = probes.bound_of_chance(core, leader, rival)
    found = probes.pairs_of_draws(core, leader, rival, tries, Stream((1, 2, 3, 4)))
    share = len(found) / tries
    assert bound >= expected * (1 - 1e-6)
    assert share > 0.6  # the bound is a good one
    error = bound * math.sqrt(share * (1 - share) / tries)
    assert abs(bound * share - expected) < 5 * error + 1e-5 * expected

    # Given the pair, the rival's draw has its density times the chance of the leader to be below it.
    cumulated = np.cumsum(0.5 * ((high * below)[1:] + (high * below)[:-1]) * np.diff(grid)) / expected
    places = np.interp(np.sort(found[:, 0]), grid[1:], cumulated)
    distance = np.abs(places - (np.arange(len(found)) + 0.5) / len(found)).max()
    assert distance < math.sqrt(math.log(2e6) / (2 * len(found))) + 1e-4


@pytest.mark.parametrize(("family", "leader", "rival"), PAIRS, **by_repr)
def test_no_leader_of_the_cone_has_a_larger_bound_than_its_corner(family, leader, rival):
    core, rng = family._core(2), np.random.default_rng(3)
    _, line = probes.bound_of_chance(core, leader, rival)
    corner = probes.chance_at(core, leader, line)
    # The corner of the cone through the leader: of posteriors whose weight is the pulls, and of coins.
    total = 0.5 if family.name in ("bernoulli", "poisson", "negative binomial") else 0.0
    weight = 1.0 if family.name == "bernoulli" else 0.0
    edge = (leader[1] + total) / (leader[0] + weight)
    for _ in range(2000):
        pulls = leader[0] * (1 + rng.exponential(2.0) ** 3)
        total_above = edge * (pulls + weight) - total + rng.choice([0.0, rng.exponential(2.0)])
        if family.name == "bernoulli":
            total_above = min(total_above, pulls)
        assert probes.chance_at(core, (pulls, total_above), line) <= corner * (1 + 1e-12)


@pytest.mark.parametrize("surely", [5.0, pytest.param(7.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("bandit", BANDITS[1:], **by_repr)
def test_walks_come_below_the_endless_edge_as_rarely_as_it_says(bandit, surely):
    pulls, walks, length = 60, 20_000, 1500
    mean = bandit.means[0]
    batch = batch_of(PositiveThinned, bandit, 10**6, 1, 0, surely=surely)
    start, nearest = pulls * mean, probes.edge_below(batch, pulls, pulls * mean)
    assert nearest is not None
    rewards = bandit._core().rewards(0, mean, walks * length, Stream((5, 6, 7, 8)))
    sums = start + rewards.reshape(walks, length).cumsum(axis=1)
    edge = nearest[0] + (nearest[1] - nearest[0]) * (pulls + 1 + np.arange(length))
    share = (sums < edge).any(axis=1).mean()
    most = math.exp(-surely)
    assert 0.1 * most < share < most + 5 * math.sqrt(most / walks)


@pytest.mark.parametrize(
    ("bandit", "pulls", "sums"),
    [
        (TWO, (60, 15), (45.0, 3.5)),
        (robai.Gaussian([0.7, 0.2, 0.5]), (60, 15, 20), (45.0, 3.5, 6.0)),
        (COIN, (60, 9), (45.0, 2.0)),
        (robai.Poisson([0.7, 0.2, 0.1]), (60, 9, 7), (45.0, 2.0, 0.0)),
        (robai.Exponential([0.7, 0.2]), (60, 9), (45.0, 2.0)),
        (robai.Binomial([2.1, 0.6], n=3), (60, 5), (135.0, 4.0)),
        (robai.Gamma([0.7, 0.4], shape=2.5), (60, 9), (45.0, 4.0)),
        (robai.NegativeBinomial([0.7, 0.2], r=2.0), (60, 12), (45.0, 2.0)),
    ],
    **by_repr,
)
def test_the_first_switch_from_a_given_state(bandit, pulls, sums):
    horizon = sum(pulls) + 3000
    plain = probes.first_switches(batch_of(Batch, bandit, horizon, 2000, 5), pulls, sums)
    for kind in (Thinned, leaps_of(bandit)):
        thinned = probes.first_switches(batch_of(kind, bandit, horizon, 6000, 6), pulls, sums)
        for column in range(2):
            assert_same_law(plain[:, column], thinned[:, column])


# ---- work


@pytest.mark.parametrize(
    "bandit",
    [
        *BANDITS,
        robai.Poisson([0.7, 0.01]),
        robai.Poisson([0.7, 0.0]),
        robai.NegativeBinomial([0.7, 0.01], r=2.0),
    ],
    **by_repr,
)
def test_plain_rounds_are_few(bandit):
    """Also while a rival has had no event yet."""
    for horizon in (10**6, 10**12):
        assert play(leaps_of(bandit), bandit, horizon, 100, 1).plain < 100 * 400


@pytest.mark.parametrize("horizon", [10**12, 2**53 + 1, 10**17 + 3, 10**18])
@pytest.mark.parametrize(
    "bandit", [*BANDITS, robai.Bernoulli([1.0, 0.5]), robai.Bernoulli([0.5, 0.0])], **by_repr
)
def test_pulls_add_up_to_any_horizon(bandit, horizon):
    result = robai.simulate(THOMPSON, bandit, horizon, 10, rng=8, times=20)
    assert result.meta["engine"] == "leap"
    assert (result.pulls.sum(axis=1) == horizon).all()  # integers: exact
    assert (result.pulls[:, 0] > result.pulls[:, 1]).all()
    assert (np.diff(result.regret) >= 0).all()


@pytest.mark.parametrize(("bandit", "slope"), [(TWO, 4.0), (COIN, 0.5 / 0.5341)], **by_repr)
def test_regret_grows_as_lai_and_robbins_have_it(bandit, slope):
    first, second = (robai.simulate(THOMPSON, bandit, 10**power, 4000, rng=9, times=1) for power in (9, 15))
    growth = (second.regret[-1] - first.regret[-1]) / math.log(10**6)
    error = math.hypot(first.regret_sem[-1], second.regret_sem[-1]) / math.log(10**6)
    assert abs(growth - slope) < 5 * error + 0.02 * slope  # not quite the asymptotics yet


def test_variances_that_are_estimated_need_every_round():
    policy = robai.ThompsonSampling(family=robai.families.Gaussian())
    with pytest.raises(ValueError, match="variance"):
        robai.simulate(policy, TWO, 10**4, 2, engine="leap")
    assert robai.simulate(policy, TWO, 1000, 2, rng=0).meta["engine"] == "step"
