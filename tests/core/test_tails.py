"""Tails and quantiles of posteriors against 40 digits, and bounds of tails against the tails."""

import math

import mpmath
import numpy as np
import pytest
from support.reference_posteriors import chance_above, student_quantile

import robai
from robai._core import probes
from robai._core.protocols import Evidence, intervals
from robai.rules import Game

LEVELS = [math.log(3), 2.0, 5.0, 20.0, 41.5, 60.0]
SHAPES = [
    *((0.5, b) for b in (0.5, 1.5, 10.5, 1000.5)),
    *((a, 0.5) for a in (1.5, 20.5, 2000.5)),
    (7.5, 3.5), (300.5, 40.5), (1000.5, 1500.5),
    *((a, math.inf) for a in (0.5, 1.5, 30.5, 2000.5)),
    *((math.inf, b) for b in (0.01, 1.0, 2.5, 100.0, 1500.0)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def forty_digits():
    with mpmath.workdps(40):
        yield


def precise_surprise(a, b, s, r):
    a, b, s, r = map(mpmath.mpf, (a, b, s, r))
    if b == mpmath.inf:
        return -mpmath.log(mpmath.gammainc(a, s, mpmath.inf, regularized=True))
    if a == mpmath.inf:
        return -mpmath.log(mpmath.gammainc(b, 0, r, regularized=True))
    return -mpmath.log(mpmath.betainc(b, a, 0, r / (s + r), regularized=True))


@pytest.mark.parametrize("surprise", [math.log(2), 0.8, 2.0, 10.0, 41.5, 310.0, 330.0, 1000.0, 5000.0])
def test_normal_quantiles(surprise):
    z = probes.normal_quantile_at(surprise)
    tail = mpmath.erfc(mpmath.mpf(z) / mpmath.sqrt(2)) / 2
    assert float(-mpmath.log(tail)) == pytest.approx(surprise, rel=1e-13)


def test_normal_quantiles_of_any_size():
    for power in (10, 100, 307):
        assert probes.normal_quantile_at(10.0**power) == pytest.approx(math.sqrt(2) * 10 ** (power / 2))


@pytest.mark.parametrize(("a", "b"), SHAPES, ids=str)
def test_quantiles_and_tails(a, b):
    for level in LEVELS:
        gap, s, r = probes.quantile_of(a, b, level)
        if r > 1e-300:
            assert abs(float(precise_surprise(a, b, s, r)) - level) < 1e-8
            assert probes.surprise_of(a, b, gap, s, r) == pytest.approx(level, abs=1e-8)


@pytest.mark.parametrize(("a", "b"), [(0.5, 1.5), (7.5, 3.5), (300.5, 40.5), (0.5, math.inf)], ids=str)
def test_tails_from_the_left_of_the_middle(a, b):
    for gap in (-0.1 * a, -0.5 * a, -0.9 * a):
        precise = float(precise_surprise(a, b, a + gap, b - gap))
        assert probes.surprise_of(a, b, gap, a + gap, b - gap) == pytest.approx(precise, rel=1e-7)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("a", "b"), [*SHAPES, (1e6, 1e5), (1e12, math.inf)], ids=str)
def test_bounds_of_tails_are_on_their_side(a, b, level):
    decided, scale = 0, math.sqrt(1 / (1 / a + 1 / b))
    for z in np.linspace(-3, 12, 61):
        gap = z * scale
        if not -a < gap < b:
            continue
        point = a, b, gap, a + gap, b - gap
        told, exact = probes.surprise_of(*point, level), probes.surprise_of(*point)
        assert (told < level) == (exact < level)
        assert told <= exact * (1 + 1e-9) if told > level else told >= exact * (1 - 1e-9)
        decided += told != exact
    assert decided > 0 or scale < 2


@pytest.mark.parametrize(
    ("a", "b"), [(0.5, 1e18), (1e18, 0.5), (5e17, 5e17), (1e33, 1e18), (1e18, math.inf), (math.inf, 1e18)]
)
def test_large_shapes_have_the_quantiles_of_normal_or_gamma_variables(a, b):
    for level in LEVELS:
        gap, s, r = probes.quantile_of(a, b, level)
        if min(a, b) > 1:
            z = gap * math.sqrt(1 / a + 1 / b)
            assert z == pytest.approx(probes.normal_quantile_at(level), rel=1e-7)
        else:
            limit = probes.quantile_of(*((a, math.inf) if a < b else (math.inf, b)), level)
            # The limit is found by an integral, which has eight digits at the least.
            assert (s if a < b else r) == pytest.approx(limit[1 if a < b else 2], rel=1e-8)


def test_small_shapes_have_an_infinite_quantile():
    assert probes.quantile_of(math.inf, 0.001, 41.5)[2] == 0.0
    assert probes.quantile_of(0.5, 0.001, 41.5)[2] == 0.0


@pytest.mark.parametrize(
    ("family", "n", "s"),
    [
        (robai.families.Bernoulli(), 30, 12.0),
        (robai.families.Binomial(5), 30, 120.0),
        (robai.families.Bounded(-1.0, 3.0), 30, 12.5),
        (robai.families.Poisson(), 30, 0.0),
        (robai.families.Exponential(), 30, 17.5),
        (robai.families.Gamma(2.5), 30, 17.5),
        (robai.families.NegativeBinomial(1.5), 30, 44.0),
    ],
    ids=repr,
)
def test_an_index_of_bayes_ucb_is_exceeded_as_rarely_as_it_says(family, n, s):
    started = robai.BayesUCB(c=2.0).start(Game.of(2, 1000, family))
    (_, index), _ = intervals(started, Evidence([n, n], [s, s], 1000))
    chance = 1 / ((2 * n + 1) * math.log(1000) ** 2)
    assert chance_above(family, n, s, index) == pytest.approx(chance, rel=1e-6)


def test_the_index_where_the_variance_is_unknown():
    started = robai.BayesUCB().start(Game.of(2, 1000, robai.families.Gaussian()))
    assert started.initial_pulls == 4
    (_, index), (_, other) = intervals(started, Evidence([5, 40], [6.0, 44.0], 1000, [2.5, 90.0]))
    for n, mean, squares, found in ((5, 1.2, 2.5, index), (40, 1.1, 90.0, other)):
        assert found == pytest.approx(
            mean + math.sqrt(squares / n) * student_quantile(n - 2, 1 / 46), rel=1e-9
        )
    (_, index), _ = intervals(started, Evidence([5, 40], [6.0, 44.0], 1000, [0.0, 90.0]))
    assert index in (None, math.inf)  # of rewards that were all the same


@pytest.mark.parametrize("bandit", [robai.Gaussian([0.7, 0.2]), robai.Poisson([1.0, 0.5])], ids=repr)
def test_the_uniform_prior_is_for_coins(bandit):
    with pytest.raises(ValueError, match=rf"prior='uniform' .* got rewards of {type(bandit).__name__}"):
        robai.simulate(robai.ThompsonSampling(prior="uniform"), bandit, 100, 1)
