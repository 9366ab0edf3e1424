"""Bernoulli rewards by blocks: the law of coins, the runs that they are played in, and no logarithms."""

import math

import numpy as np
import pytest
from support.laws import assert_same_law

import robai
from robai import rules
from robai._core import probes
from robai._core.coins import Coins
from robai._core.engine import Batch
from robai._core.leap import PositiveLeaps
from robai._core.rng import Stream
from robai._core.thinning import Thinned

by_repr = {"ids": repr}

COIN = robai.Bernoulli([0.7, 0.2])
CLOSE = robai.Bernoulli([0.5, 0.45, 0.3])


def stream(*words):
    return Stream(np.random.SeedSequence(words).generate_state(4, np.uint64))


def bits(p, words, count=64, key=1):
    source = stream(key)
    drawn = np.array([probes.coins(p, count, source) for _ in range(words)], dtype=np.uint64)
    return (drawn[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)


# ---- coins


@pytest.mark.parametrize("p", [0.0, 5e-324, 1e-12, 0.2, 0.5, 0.7, 1 - 1e-12, 1.0])
def test_coins_have_their_probability(p):
    words = 20_000
    ones = bits(p, words).astype(float)
    assert abs(ones.sum() - 64 * words * p) <= 5 * math.sqrt(64 * words * p * (1 - p)) + 1e-6
    # in every place of the word, and in every pair of places as often as if these were independent
    assert (abs(ones.sum(axis=0) - words * p) <= 5 * math.sqrt(words * p * (1 - p)) + 1).all()
    pairs = ones.T @ ones - np.diag(ones.sum(axis=0))
    error = 6 * math.sqrt(words * p**2 * (1 - p**2)) + 1
    assert (abs(pairs - words * p**2)[~np.eye(64, dtype=bool)] <= error).all()


@pytest.mark.parametrize(("p", "bound"), [(2.0**-9 + 2.0**-70, 2.0**-9), (0.5 + 2.0**-12, 0.5)])
def test_all_digits_of_a_probability_count(p, bound):
    """The comparison goes on to the digit where a uniform number differs; p = 2^-9 exactly is met too."""
    words = 100_000
    for probability in (p, bound):
        found = bits(probability, words, key=3).sum()
        assert abs(found - 64 * words * probability) < 5 * math.sqrt(64 * words * probability)


@pytest.mark.parametrize("count", [1, 2, 7, 63, 64])
@pytest.mark.parametrize("p", [0.3, 1.0])
def test_there_are_as_many_coins_as_asked_for(p, count):
    ones = bits(p, 5000, count).sum(axis=0)
    assert (ones[count:] == 0).all()
    assert (abs(ones[:count] - 5000 * p) <= 5 * math.sqrt(5000 * p * (1 - p))).all()


@pytest.mark.parametrize("count", [1, 64, 65, 130, 256, 257])
def test_sums_of_coins_are_binomial(count):
    core, source = robai.families.Bernoulli()._core(), stream(2)
    drawn = np.array([probes.sum_of(core, 0, 0.3, count, source) for _ in range(10_000)])
    assert_same_law(drawn, np.random.default_rng(1).binomial(count, 0.3, 10_000))


# ---- runs


def batch_of(kind, policy, bandit, horizon, runs, seed, common=False):
    started = policy.start(rules.Game.of(bandit.n_arms, horizon, bandit))
    states = np.random.SeedSequence(seed).generate_state(4 * runs, np.uint64).reshape(-1, 4)
    return kind(*started, bandit._core(), bandit.means, (horizon // 3, horizon), states, common)


def play(*args, budget=1e9, **options):
    batch = batch_of(*args, **options)
    while batch.advance(budget):
        pass
    return batch


INDICES = [
    robai.UCB(sigma=0.5),
    robai.UCB(level="ratio", sigma=0.5),
    robai.UCB(level="round", sigma=0.5),
    robai.KLUCB(),
    robai.KLUCB(level="++"),
    robai.KLUCB(family="poisson"),
    robai.IMED(),
    robai.BayesUCB(),
    robai.UCBV(),
    robai.AdaUCB(sigma=0.5),
    robai.MOSS(sigma=0.5),
    robai.KLEOCPUG(),
    robai.EOCP(gap=0.1, sigma=0.5),
]


@pytest.mark.parametrize("policy", INDICES, ids=lambda policy: policy.label())
@pytest.mark.parametrize("bandit", [COIN, CLOSE, robai.Bernoulli([1.0, 0.999, 0.0])], **by_repr)
def test_words_are_played_as_numbers_are(policy, bandit):
    """The same arms as when every reward of the same tape is looked at, as policies without an index do."""
    by_words, by_numbers = (play(kind, policy, bandit, 6000, 5, 4, common=True) for kind in (Coins, Batch))
    assert (by_words.pulls == by_numbers.pulls).all()
    assert (by_words.regret == by_numbers.regret).all()
    assert (by_words.commit_time == by_numbers.commit_time).all()


@pytest.mark.parametrize("bandit", [COIN, CLOSE], **by_repr)
def test_words_of_thompson_sampling_are_played_as_numbers_are(bandit):
    policy = robai.ThompsonSampling()
    by_words = play(Thinned, policy, bandit, 3000, 1000, 4)
    assert_same_law(by_words.regret[:, -1], play(Batch, policy, bandit, 3000, 500, 5).regret[:, -1])


@pytest.mark.parametrize("kind", [Coins, PositiveLeaps, Thinned])
def test_where_a_piece_ends_makes_no_difference(kind):
    policy = robai.ThompsonSampling() if kind is Thinned else robai.KLUCB()
    whole, pieces = (play(kind, policy, CLOSE, 40_000, 3, 9, budget=budget) for budget in (1e12, 1.0))
    assert (whole.pulls == pieces.pulls).all()
    assert (whole.regret == pieces.regret).all()


@pytest.mark.parametrize("policy", INDICES[:6], ids=lambda policy: policy.label())
def test_leaps_over_coins_have_the_law_of_rounds(policy):
    rounds, leaps = (
        play(kind, policy, COIN, 20_000, runs, 11) for kind, runs in ((Batch, 200), (PositiveLeaps, 600))
    )
    assert_same_law(rounds.regret[:, -1], leaps.regret[:, -1])
    assert_same_law(rounds.regret[:, 0], leaps.regret[:, 0])


RARE = robai.Bernoulli([0.999, 0.997, 0.9])


@pytest.mark.parametrize("policy", [*INDICES[:6], robai.UCBV()], ids=lambda policy: policy.label())
def test_leaps_to_the_next_failure_have_the_law_of_rounds(policy):
    rounds, leaps = (
        play(kind, policy, RARE, 20_000, runs, 12) for kind, runs in ((Batch, 300), (PositiveLeaps, 1000))
    )
    for column in (0, 1):
        assert_same_law(rounds.regret[:, column], leaps.regret[:, column])
    for arm in (0, 2):
        assert_same_law(rounds.pulls[:, arm], leaps.pulls[:, arm])


@pytest.mark.parametrize("failures", [1e-6, 1e-9])
def test_an_arm_that_hardly_ever_fails_is_leapt_over(failures):
    """A corridor would have to allow for a failure within the next few rounds."""
    bandit = robai.Bernoulli([1.0 - failures, 0.5])
    batch = batch_of(PositiveLeaps, robai.KLUCB(), bandit, 10**9, 10, 0)
    assert sum(batch.advance(0.0) for _ in range(1000)) < 1000
    assert (batch.pulls[:, 1] < 60).all()


# Pulls of the worse arm: a change of the streams is to be noticed.
PINNED = {
    ("step", robai.UCB(), COIN): [26, 15, 44],
    ("step", robai.KLUCB(), COIN): [27, 23, 21],
    ("leap", robai.KLUCB(), COIN): [28, 23, 21],
    ("leap", robai.KLUCB(), RARE): [3094, 5497, 4454],
    ("step", robai.BAIETC(sigma=0.5), COIN): [40, 21, 34],
    ("step", robai.ThompsonSampling(), COIN): [21, 7, 15],
    ("leap", robai.ThompsonSampling(), COIN): [16, 12, 11],
    ("step", robai.KLUCB(), robai.Poisson([0.7, 0.2])): [50, 46, 29],
    ("leap", robai.KLUCB(), robai.Poisson([0.7, 0.2])): [50, 45, 29],
    ("leap", robai.KLUCB(), robai.Exponential([0.7, 0.2])): [28, 23, 25],
}


@pytest.mark.parametrize(("engine", "policy", "bandit"), PINNED, **by_repr)
def test_the_streams(engine, policy, bandit):
    result = robai.simulate(policy, bandit, 10**5, 3, rng=0, engine=engine)
    assert result.pulls[:, 1].tolist() == PINNED[engine, policy, bandit]


# ---- divergences without logarithms

FAMILIES = [
    robai.families.Gaussian(2.0),
    robai.families.Bernoulli(),
    robai.families.Binomial(5),
    robai.families.Poisson(),
    robai.families.Exponential(),
    robai.families.Gamma(2.5),
    robai.families.NegativeBinomial(2.0),
    robai.families.Bounded(-1.0, 3.0),
]


@pytest.mark.parametrize("family", FAMILIES, **by_repr)
def test_the_bounds_hold_on_either_side(family):
    rng, size = np.random.default_rng(8), 10**6
    low, high = family.support
    if math.isinf(high):
        p, q = np.exp(rng.normal(0.0, 3.0, (2, size)))
    else:
        p, q = low + (high - low) * rng.beta(0.4, 0.4, (2, size))
    q[: size // 2] = p[: size // 2] + (q - p)[: size // 2] * 0.01  # close to each other
    core = family._core(1)
    least, most = probes.around_divergence(core, p, q)
    exact = core.elementwise("divergence", p, q)
    inside = np.abs(q - p) > 1e-9 * (np.abs(p) + np.abs(q))
    assert (least <= exact * (1 + 1e-6))[inside].all()
    assert (most >= exact * (1 - 1e-6))[inside].all()
    assert np.median((most / least)[: size // 2]) < 1.01  # and are good


@pytest.mark.parametrize("horizon", [10**8, 10**15, 10**18])
@pytest.mark.parametrize("second", [0.0, 0.2])
def test_the_best_arm_never_fails(horizon, second):
    """Its index is 1, and that of an arm without a success within rounding of it at the longest horizons."""
    result = robai.simulate(robai.KLUCB(), robai.Bernoulli([1.0, second]), horizon, 20, rng=0, times=1)
    assert (result.pulls[:, 1] < 60).all()
