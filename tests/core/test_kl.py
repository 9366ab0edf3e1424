"""Divergences and their inverses against mpmath, at the edges, and as properties.

A bound is right if its exact divergence is within 1e-10 of the level, or if the exact bound is at
most 4 units in the last place away: close to p and to 1 no double does better.
"""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robai import families, kl
from robai._core import probes

POSITIVE = [*np.logspace(-12, 12, 9), 0.3, 3.7]
UNIT = [*np.logspace(-12, -1, 5), 0.2, 0.5, 0.7, *(1.0 - np.logspace(-1, -12, 5))]
LEVELS = [*np.logspace(-12, 3, 11), 0.149, 0.151, 0.5, 1.99, 2.01, 35.0]
INF = math.inf


def log_ratio(weight, p, q):
    """Weight log(p/q) for the weight 0 too."""
    return weight * mpmath.log(p / q) if weight else mpmath.mpf(0)


def bernoulli(p, q):
    return log_ratio(p, p, q) + log_ratio(1 - p, 1 - p, 1 - q)


def exponential(p, q):
    return p / q - 1 - mpmath.log(p / q)


def negative_binomial(r):
    return lambda p, q: log_ratio(p, p, q) + (p + r) * mpmath.log((q + r) / (p + r))


EXACT = [
    (families.Gaussian(1.0), lambda p, q: (p - q) ** 2 / 2, [-2.0, 0.0, *POSITIVE]),
    (families.Gaussian(sigma=3.0), lambda p, q: (p - q) ** 2 / 18, [-2.0, 0.0, *POSITIVE]),
    (families.Bernoulli(), bernoulli, UNIT),
    (families.Binomial(7), lambda p, q: 7 * bernoulli(p / 7, q / 7), [7 * p for p in UNIT[:-1]]),
    (families.Poisson(), lambda p, q: log_ratio(p, p, q) + q - p, POSITIVE),
    (families.Exponential(), exponential, POSITIVE),
    (families.Gamma(shape=2.5), lambda p, q: 2.5 * exponential(p, q), POSITIVE),
    *((families.NegativeBinomial(r), negative_binomial(r), POSITIVE) for r in (1e-3, 1.0, 7.5, 1e6)),
]
every_family = pytest.mark.parametrize(
    ("family", "exact", "means"), EXACT, ids=lambda x: getattr(x, "name", "")
)
FAMILIES = st.sampled_from([family for family, _, _ in EXACT])
# No random reward has a mean closer to 0; the rest of the range of doubles is of no use here.
MEANS = st.one_of(st.just(0.0), st.floats(1e-15, 1e15), st.floats(0.0, 1.0).map(lambda x: x**8))


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(80):
        yield


def exact_level(family, exact, p, q):
    """The divergence, +inf at the ends of the domain."""
    low, high = family.support
    return exact(mpmath.mpf(p), mpmath.mpf(q)) if low < q < high else mpmath.inf


def is_bound(family, exact, p, level, q):
    """The acceptance rule above; 4 units away the exact divergence is on the other side of level."""
    if abs(exact_level(family, exact, p, q) - level) <= 1e-10 * level:
        return True
    away = math.copysign(4 * math.ulp(q), q - p) if q != p else 0.0
    nearer = q - away if abs(away) < abs(q - p) else p
    farther = [q + away] if away else [p + 4 * math.ulp(p), p - 4 * math.ulp(p)]
    return (
        exact_level(family, exact, p, nearer)
        <= level
        <= max(exact_level(family, exact, p, x) for x in farther)
    )


def test_worked_values():
    assert kl.divergence("bernoulli", 0.2, 0.7) == pytest.approx(0.5341108087, rel=1e-8)
    assert kl.upper("bernoulli", 0.2, 0.5341108087) == pytest.approx(0.7, rel=1e-8)
    assert kl.upper(families.Gaussian(1.0), 1.0, 2.0) == 3.0


@every_family
def test_divergence_is_exact(family, exact, means):
    for p in means:
        near = [p * (1 + x) for x in (-0.6, -0.3, -1e-7, 1e-15, 1e-4, 0.3, 0.6, 1.1)]
        for q in [*means, *near]:
            if q != p and family.support[0] < q < family.support[1]:
                expected = float(exact(mpmath.mpf(p), mpmath.mpf(q)))
                assert kl.divergence(family, p, q) == pytest.approx(expected, rel=2e-14, abs=0.0), (p, q)


@every_family
def test_bounds_are_exact(family, exact, means):
    for p in means:
        for level in LEVELS:
            upper, lower = kl.upper(family, p, level), kl.lower(family, p, level)
            assert lower <= p <= upper
            if upper == INF:
                assert exact_level(family, exact, p, 1.7e308) <= level
            else:
                assert is_bound(family, exact, p, level, upper), (p, level, upper)
            if lower == 5e-324:
                assert exact_level(family, exact, p, lower) <= level
            else:
                assert is_bound(family, exact, p, level, lower), (p, level, lower)


@pytest.mark.parametrize("error", [1e-9, -1e-9])
def test_the_acceptance_rule_rejects(error):
    family, exact, _ = EXACT[2]
    assert not is_bound(family, exact, 0.2, 0.1, kl.upper(family, 0.2, 0.1) * (1 + error))
    assert not is_bound(family, exact, 0.2, 1e-12, kl.upper(family, 0.2, 1e-12) + 6 * math.ulp(0.2))


@every_family
def test_edges(family, exact, means):
    low, high = family.support
    for p in means:
        assert kl.divergence(family, p, p) == 0.0
        assert kl.upper(family, p, 0.0) == kl.lower(family, p, 0.0) == p
        assert kl.upper(family, p, INF) == high
        assert kl.lower(family, p, INF) == low
        assert kl.divergence(family, p, high) == INF
        assert kl.divergence(family, p, low) == INF


def test_edges_of_the_domain():
    for name in ("bernoulli", "poisson", "exponential"):
        assert kl.divergence(name, 0.0, 0.0) == 0.0
        assert kl.lower(name, 0.0, 2.0) == 0.0
    assert kl.divergence("bernoulli", 0.0, 0.25) == -math.log(0.75)
    assert kl.divergence("bernoulli", 1.0, 0.25) == pytest.approx(math.log(4), rel=1e-15)
    assert kl.divergence("bernoulli", 1.0, 1.0) == 0.0
    assert kl.divergence("poisson", 0.0, 0.25) == 0.25
    assert kl.divergence("exponential", 0.0, 0.25) == INF
    assert kl.upper("bernoulli", 0.0, 2.0) == pytest.approx(-math.expm1(-2.0), rel=1e-15)
    assert kl.lower("bernoulli", 1.0, 2.0) == pytest.approx(math.exp(-2.0), rel=1e-15)
    assert kl.upper("bernoulli", 1.0, 2.0) == 1.0
    assert kl.upper("poisson", 0.0, 2.0) == 2.0
    family = families.NegativeBinomial(3.0)
    assert kl.divergence(family, 0.0, 2.0) == pytest.approx(3 * math.log(5 / 3), rel=1e-15)
    assert kl.upper(family, 0.0, 2.0) == pytest.approx(3 * math.expm1(2 / 3), rel=1e-15)


def test_an_arm_that_failed_ranks_below_one_that_did_not():
    p = np.array([0.0, 1e-12, 0.5, 0.999, 1.0 - 2.0**-53])
    assert (kl.upper("bernoulli", p[:, None], [50.0, 1e3, 1e300]) <= 1.0 - 2.0**-53).all()
    assert (kl.lower("bernoulli", 1.0 - p[:, None], [50.0, 1e3, 1e300]) > 0.0).all()


@given(FAMILIES, MEANS, MEANS, st.floats(1e-15, 1e4))
def test_bounds_contain_what_they_should(family, p, q, level):
    low, high = family.support
    p, q = min(p, high), min(q, high)
    upper, lower, between = (
        kl.upper(family, p, level),
        kl.lower(family, p, level),
        kl.divergence(family, p, q),
    )
    assert low <= lower <= p <= upper <= high
    assert between >= 0.0
    # The converse too: a mean is inside the bounds exactly when its divergence is below the level.
    if lower * (1 + 1e-14) < q < upper * (1 - 1e-14):
        assert between <= level * (1 + 1e-10)
    elif q > upper or q < lower:
        assert between >= level * (1 - 1e-10)


@given(FAMILIES, st.floats(1e-9, 1e9), st.floats(-8.0, 3.0))
def test_round_trip(family, p, exponent):
    p = p / (1.0 + p) if family.support[1] < INF else p
    for q in (p * (1 + 10.0**exponent), p / (1 + 10.0**exponent)):
        if q >= 0.999 * family.support[1]:
            continue
        bound = (kl.upper if q > p else kl.lower)(family, p, kl.divergence(family, p, q))
        assert bound == pytest.approx(q, rel=2e-13, abs=0.0)


@given(FAMILIES, st.floats(1e-3, 0.999), st.floats(1e-9, 1e2), st.floats(0.0, 1.0))
def test_bounds_grow_with_the_level(family, p, level, more):
    levels = [level, level * (1 + more)]
    (a, b), (c, d) = kl.upper(family, p, levels), kl.lower(family, p, levels)
    assert a == b or b >= a - 2 * math.ulp(a) - 1e-12 * (a - p)
    assert c == d or d <= c + 2 * math.ulp(c) + 1e-12 * min(abs(c), p - c)


def test_bernoulli_upper_takes_few_steps():
    p = np.concatenate([np.logspace(-14, -0.01, 60), 1.0 - np.logspace(-14, -0.01, 60)])
    steps = [probes.bernoulli_steps(mean, level) for mean in p for level in np.logspace(-14, 4, 90)]
    assert 1 <= max(steps) <= 4


def test_log1pmx():
    x = np.concatenate(
        [np.logspace(-100, 100, 401), -np.logspace(-100, -1e-3, 401), np.linspace(-0.99, 3, 500)]
    )
    for value in x:
        with mpmath.workdps(330):
            expected = float(mpmath.log1p(mpmath.mpf(value)) - mpmath.mpf(value))
        assert probes.log1pmx_at(value) == pytest.approx(expected, rel=1e-15, abs=0.0), value
    assert [probes.log1pmx_at(x) for x in (0.0, -1.0, INF)] == [0.0, -INF, -INF]
    assert math.isnan(probes.log1pmx_at(-1.5))
    assert math.isnan(probes.log1pmx_at(math.nan))


@pytest.mark.parametrize("function", [kl.divergence, kl.upper, kl.lower])
def test_broadcasting(function):
    p, other = np.array([[0.2], [0.5]]), [0.1, 0.6, 0.9]
    table = function("bernoulli", p, other)
    assert table.shape == (2, 3)
    assert table[1, 2] == function("bernoulli", 0.5, 0.9)
    assert type(function("bernoulli", 0.5, np.float64(0.9))) is float
    assert function("bernoulli", np.zeros((0, 3)), other).shape == (0, 3)
    columns = np.broadcast_to(p, (2, 3))[:, ::2]
    assert np.array_equal(function("bernoulli", columns, other[::2]), table[:, ::2])


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (kl.divergence, ("bernoulli", [0.5, 1.2], 0.5), r"p must be in \[0, 1\] .*got 1.2"),
        (kl.divergence, ("poisson", 0.5, -1.0), r"q must be in \[0, inf\] .*got -1.0"),
        (kl.divergence, (families.Gaussian(1.0), math.nan, 0.5), "p must be .*got nan"),
        (kl.upper, (families.Gaussian(1.0), INF, 0.5), "p must be .*got inf"),
        (kl.upper, ("bernoulli", 0.5, -0.1), "level must be at least 0, got -0.1"),
        (kl.lower, ("bernoulli", 0.5, math.nan), "level must be at least 0, got nan"),
        (kl.lower, ("no such family", 0.5, 0.1), "family"),
    ],
)
def test_bad_arguments(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


@pytest.mark.parametrize(
    ("family", "exact", "p", "q"),
    [
        (families.NegativeBinomial(1e-3), negative_binomial(1e-3), 0.5, 3.645561009778199e-304),
        (families.NegativeBinomial(1e6), negative_binomial(1e6), 1e6, 1e-306),
        (families.NegativeBinomial(2.0), negative_binomial(2.0), 3.0, 5e-324),
        (families.Poisson(), lambda p, q: log_ratio(p, p, q) + q - p, 1e10, 5e-324),
        (families.Binomial(100), lambda p, q: 100 * bernoulli(p / 100, q / 100), 50.0, 5e-324),
    ],
    ids=["small r", "large r", "negative binomial", "poisson", "binomial"],
)
def test_divergences_of_means_whose_ratio_is_too_small_for_a_double(family, exact, p, q):
    expected = float(exact_level(family, exact, p, q))
    assert kl.divergence(family, p, q) == pytest.approx(expected, rel=1e-13)
