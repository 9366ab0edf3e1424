"""What leaps are made of: hitting times, first exits from the stay region, corridors.

Hitting times are compared with their closed forms, first exits with those of the step engine. Seeds are
fixed: a test that passes once passes always.
"""

import math

import numpy as np
import pytest
from support.laws import assert_distribution, assert_same_law
from support.reference_divergences import bisect, divergence

import robai
from robai import rules
from robai._core import leap, probes
from robai._core.engine import Batch
from robai._core.rng import Stream

# ---- hitting times


def stream(*words):
    return Stream(np.random.SeedSequence(words).generate_state(4, np.uint64))


def normal_cdf(x):
    return np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in x])


# Height above the edge, drift, sigma: close and far, towards the edge, away from it and neither.
STATES = [
    (0.1, -0.5, 1.0),
    (0.1, 0.5, 1.0),
    (2.0, 0.0, 1.0),
    (2.0, 1e-15, 1.0),
    (2.0, -1e-15, 1.0),
    (2.0, 0.01, 1.0),
    (2.0, -0.01, 1.0),
    (50.0, -0.3, 1.0),
    (50.0, 0.01, 1.0),
    (1e7, -1e-8, 0.3),
    (1e7, 1e-8, 0.3),
    (3e-200, -1e-201, 1e-200),
    (3e-200, 1e-201, 1e-200),
    (3e200, -1e199, 1e200),
]
RUNS = 20_000


@pytest.mark.parametrize(("height", "drift", "sigma"), STATES)
def test_hitting_times(height, drift, sigma):
    def cdf(times):
        spread, nu, x = np.sqrt(times), drift / sigma, height / sigma
        return normal_cdf((-x - nu * times) / spread) + math.exp(-2 * x * nu) * normal_cdf(
            (-x + nu * times) / spread
        )

    times = probes.hitting_times(height, drift, sigma, RUNS, stream(1))
    assert (times > 0).all()
    assert_distribution(times, cdf, RUNS)
    ever = math.exp(-2 * max(drift / sigma, 0.0) * (height / sigma))
    never = np.isinf(times).sum()
    assert abs(never - RUNS * (1 - ever)) <= 5 * math.sqrt(RUNS * ever * (1 - ever)) + 1e-9


@pytest.mark.parametrize(("height", "drift", "sigma"), STATES)
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_heights_of_paths_that_did_not_hit(height, drift, sigma, scale):
    time = scale * (height / sigma) ** 2
    if drift < 0:
        time = min(time, height / -drift)  # few get further
    x, nu, spread = height / sigma, drift / sigma, math.sqrt(time)

    def survival(y):  # that the path is above y, and never was at 0
        y = np.asarray(y) / sigma
        mirrored = normal_cdf((nu * time - x - y) / spread)
        return normal_cdf((x + nu * time - y) / spread) - math.exp(-2 * x * nu) * mirrored

    heights = probes.heights_if_not_hit(height, drift, sigma, time, RUNS, stream(2))
    assert (heights > 0).all()
    assert_distribution(heights, lambda y: 1 - survival(y) / survival([0.0]), RUNS)


# ---- first exits

HORIZON = 10**6
KLUCB = robai.KLUCB()
BANDITS = [
    robai.Gaussian([0.7, 0.2]),
    robai.Gaussian([-3.0, -4.0], sigma=2.0),
    robai.Bernoulli([0.7, 0.2]),
    robai.Bernoulli([0.05, 0.02]),
    robai.Binomial([2.5, 1.0], n=5),
    robai.Poisson([1.0, 0.3]),
    robai.Exponential([1.0, 0.4]),
    robai.Gamma([1.0, 0.4], shape=2.5),
    robai.NegativeBinomial([1.0, 0.4], r=1.5),
]


def edge(family, pulls, bar):
    """The sum at which the index of KL-UCB is the bar; the least one if there is none."""
    low = max(family.support[0], bar - 100.0)
    return pulls * bisect(lambda p: pulls * divergence(family, p, bar) <= math.log(HORIZON), bar, low)


def first_exits(engine, bandit, runs, pulls, total, bar, policy=KLUCB, horizon=HORIZON):
    started = policy.start(rules.Game.of(bandit.n_arms, horizon, bandit))
    states = np.random.SeedSequence([3, runs]).generate_state(4 * runs, np.uint64).reshape(-1, 4)
    batch = engine(*started[:3], 1, bandit._core(), bandit.means, (horizon,), states)
    return probes.first_exits(batch, 0, pulls, total, bar, min(8 * pulls, horizon - pulls))


def overshoot(bandit, exits, bar):
    """How far the index is above the bar in the end, in units of the sum."""
    pulls, total = exits.T
    return pulls * (robai.kl.upper(bandit, total / pulls, math.log(HORIZON) / pulls) - bar)


def assert_same_exits(bandit, pulls, height, shift, runs):
    """`height`: of the sum above the edge; `shift`: of the bar above the mean; in standard deviations."""
    sigma = math.sqrt(probes.variance_at(bandit._core(), bandit.means[0]))
    bar = bandit.means[0] + shift * sigma
    total = edge(bandit.family, pulls, bar) + height * sigma
    leaps = leap.GaussianLeaps if isinstance(bandit, robai.Gaussian) else leap.PositiveLeaps
    by_leaps = first_exits(leaps, bandit, 2 * runs, pulls, total, bar)
    by_steps = first_exits(Batch, bandit, runs, pulls, total, bar)
    assert_same_law(by_leaps[:, 0], by_steps[:, 0])
    assert_same_law(by_leaps[:, 1], by_steps[:, 1])
    assert_same_law(overshoot(bandit, by_leaps, bar), overshoot(bandit, by_steps, bar))


from_states = pytest.mark.parametrize(
    ("pulls", "height", "shift"),
    [
        pytest.param(20, 0.5, 0.4, id="close"),
        pytest.param(20, 8.0, 0.4, id="far"),
        pytest.param(20, 3.0, -0.2, id="away"),
        pytest.param(100, 1.0, 0.3, id="close, later"),
        pytest.param(100, 30.0, 0.3, id="far, later"),
        pytest.param(100, 1.0, -0.1, id="away, later"),
        pytest.param(3000, 3.0, 0.06, id="close, late"),
        pytest.param(3000, 150.0, 0.06, id="far, late"),
    ],
)


@pytest.mark.parametrize(
    ("pulls", "horizon", "height"), [(200, 1000, 8.0), (1000, 3000, 20.0), (1000, 3000, 60.0)]
)
@pytest.mark.parametrize("level", ["ratio", "++", "round"])
def test_first_exits_with_levels_that_move(level, pulls, horizon, height):
    """Above the edge of the level that the arm has at first."""
    bandit, policy, bar = BANDITS[0], robai.KLUCB(level=level), 0.72
    y = horizon / pulls
    now = {"ratio": math.log(y), "round": math.log(2), "++": math.log(y / 2 * (1 + math.log(y / 2) ** 2))}
    total = pulls * bar - math.sqrt(2 * now[level] * pulls) + height
    by_leaps, by_steps = (
        first_exits(engine, bandit, runs, pulls, total, bar, policy, horizon)
        for engine, runs in ((leap.GaussianLeaps, 40_000), (Batch, 20_000))
    )
    assert (by_leaps[:, 0] > pulls).all()
    assert_same_law(by_leaps[:, 0], by_steps[:, 0])
    assert_same_law(by_leaps[:, 1], by_steps[:, 1])


@pytest.mark.parametrize("bandit", [robai.Poisson([0.02, 0.01]), robai.Bernoulli([0.02, 0.01])], ids=repr)
def test_first_exits_by_safe_leaps(bandit):
    """Rewards are rare and the bar is high: for some time no reward is needed to stay above the edge."""
    policy, pulls, bar = robai.UCB(sigma=math.sqrt(0.02)), 300, 0.1
    total = pulls * bar - math.sqrt(0.02 * 2 * math.log(HORIZON) * pulls) + 10.0
    by_leaps = first_exits(leap.PositiveLeaps, bandit, 40_000, pulls, total, bar, policy)
    by_steps = first_exits(Batch, bandit, 20_000, pulls, total, bar, policy)
    assert_same_law(by_leaps[:, 0], by_steps[:, 0])
    assert_same_law(by_leaps[:, 1], by_steps[:, 1])


@from_states
@pytest.mark.parametrize("bandit", BANDITS[:2], ids=repr)
def test_first_exits_of_gaussian_walks(bandit, pulls, height, shift):
    assert_same_exits(bandit, pulls, height, shift, runs=min(2 * 10**7 // pulls, 10**5))


@from_states
@pytest.mark.parametrize("bandit", BANDITS[2:], ids=repr)
def test_first_exits(bandit, pulls, height, shift):
    assert_same_exits(bandit, pulls, height, shift, runs=1000)


@pytest.mark.slow
@from_states
@pytest.mark.parametrize("bandit", BANDITS[2:], ids=repr)
def test_many_first_exits(bandit, pulls, height, shift):
    assert_same_exits(bandit, pulls, height, shift, runs=min(2 * 10**7 // pulls, 10**5))


# ---- corridors

FAMILIES = [
    (robai.families.Bernoulli(), 0.7, lambda rng, shape: rng.random(shape, dtype=np.float32) < 0.7),
    (robai.families.Bernoulli(), 0.05, lambda rng, shape: rng.random(shape, dtype=np.float32) < 0.05),
    (robai.families.Poisson(), 1.0, lambda rng, shape: rng.poisson(1.0, shape)),
    (robai.families.Exponential(), 1.0, lambda rng, shape: rng.standard_exponential(shape, dtype=np.float32)),
]


def assert_corridor(family, mean, draw, corridors, k=64):
    """With exp(-exponent) = 1/1000, at most one path in a thousand leaves the corridor."""
    width = probes.corridor(family._core(), mean, k, math.log(1000))
    line = (mean * np.arange(1, k + 1) - width)[:, None]
    rng, size, below = np.random.default_rng(6), 50_000, 0
    for _ in range(corridors // size):
        below += (np.cumsum(draw(rng, (k, size)), axis=0, dtype=np.float32) <= line).any(axis=0).sum()
    expected = corridors / 1000
    assert 0 < below < expected + 5 * math.sqrt(expected)


@pytest.mark.parametrize(("family", "mean", "draw"), FAMILIES)
def test_paths_leave_a_corridor_at_most_as_often_as_the_bound_says(family, mean, draw):
    if mean < 0.1:  # too few successes for any corridor: a sum cannot be that far down
        width = probes.corridor(family._core(), mean, 64, math.log(1000))
        assert 64 * mean < width < 1.1 + 64 * mean
    else:
        assert_corridor(family, mean, draw, 10**6, k=32)


@pytest.mark.parametrize("k", [1.0, 64.0, 1e9, 9e17])
@pytest.mark.parametrize(
    ("family", "mean"),
    [
        (robai.families.Bernoulli(), 0.7),
        (robai.families.Bernoulli(), 1 - 1e-15),
        (robai.families.Bernoulli(), 1e-300),
        (robai.families.Poisson(), 1e15),
        (robai.families.Exponential(), 1e-170),  # its variance is 0 in double precision
        (robai.families.Gamma(shape=100.0), 1e-162),
        (robai.families.NegativeBinomial(r=1e-3), 1.0),
    ],
    ids=repr,
)
def test_the_corridor_is_wide_enough_and_hardly_wider(family, mean, k):
    width = probes.corridor(family._core(), mean, k, 41.5) / k
    assert 0.0 < width <= (1.0 + 2e-6) * mean
    if width < mean:
        assert k * robai.kl.divergence(family, mean - width, mean) >= 41.5 * (1 - 1e-6)
        narrower = max(0.99 * width - 2 * math.ulp(mean), 0.0)
        assert k * robai.kl.divergence(family, mean - narrower, mean) < 41.5


@pytest.mark.slow
@pytest.mark.parametrize(("family", "mean", "draw"), FAMILIES)
def test_many_paths_leave_a_corridor_at_most_as_often_as_the_bound_says(family, mean, draw):
    assert_corridor(family, mean, draw, 10**7, k=256 if mean < 0.1 else 64)
