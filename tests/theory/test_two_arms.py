"""Bounds on the wrong commitments of EOCP and EOCP-UG on two arms."""

from math import ceil, erfc, exp, floor, inf, log, sqrt

import pytest

import robai
from robai import theory
from robai.families import Gaussian
from robai.theory.two_arms import wrong_eocp, wrong_eocp_ug

TWO = robai.Gaussian([0.7, 0.2])


def tail(x, *, gaussian=True):
    return 0.5 * erfc(x / sqrt(2)) if gaussian else exp(-(max(x, 0.0) ** 2) / 2)


def sum_eocp_ug(gap, level, horizon, *, gaussian):
    total = 0.0
    for n in range(1, floor(horizon / (level + 1)) + 1):
        k = floor(level * n) + 1
        first = (gap + sqrt(2 * level / n) - sqrt(2 * level / k)) / sqrt(1 / n + 1 / k)
        fall = 2 * sqrt(2 * level / n) - sqrt(2 * level / k) - sqrt(2 * level / (k + 1))
        total += tail(first, gaussian=gaussian) + tail(fall * sqrt(k * (k + 1)), gaussian=gaussian)
    return total


def sum_eocp(gap, level, last, *, gaussian):
    total, half = 0.0, (last + 1) // 2
    for n in range(1, last // 2 + 1):
        for k in (half - 1, last - n):
            z = gap + sqrt(2 * level / n) - sqrt(2 * level / k)
            total += tail(z / sqrt(1 / n + 1 / k), gaussian=gaussian)
    return total


@pytest.mark.parametrize("gaussian", [True, False])
@pytest.mark.parametrize("gap", [0.02, 0.1, 0.5])
def test_blocks_bound_the_sum_closely(gap, gaussian):
    horizon = 300_000
    for c in (0.0, 1.0):
        level = log(horizon) + c * sqrt(log(horizon))
        plain = sum_eocp_ug(gap, level, horizon, gaussian=gaussian)
        found = wrong_eocp_ug(gap, level, horizon, gaussian=gaussian)
        assert min(plain, 1) * (1 - 1e-12) <= found <= plain * 1.005
        for share in (0.5, 1.0):  # of the gap, which is told
            last = floor(16 * level / max(share * gap, 0.03) ** 2 + 2)
            plain = sum_eocp(gap, level, last, gaussian=gaussian)
            found = wrong_eocp(gap, level, last, gaussian=gaussian)
            assert min(plain, 1) * (1 - 1e-12) <= found <= plain * 1.005


# T times the bound, and what importance sampling says of the truth, at T = 10^4, 10^6, 10^8, 10^12, 10^16.
UNKNOWN = {
    0.0: ((13.5, 24.5, 38.7, 99.8, 240), (9.27, 20.3, 33.5, 92.9, 224)),
    1.0: ((0.922, 0.851, 0.850, 0.886, 0.938), (0.718, 0.737, 0.766, 0.830, 0.888)),
    2.0: ((0.0623, 0.0299, 0.0161, 6.66e-3, 3.58e-3), (0.0524, 0.0267, 0.0147, 6.30e-3, 3.40e-3)),
    theory.INFLATION: (
        (3.01e-6, 1.48e-7, 1.10e-8, 1.44e-10, 3.79e-12),
        (2.75e-6, 1.39e-7, 1.04e-8, 1.36e-10, 3.58e-12),
    ),
}
KNOWN = {
    0.0: ((0.180, 0.0893, 0.0537, 0.0252, 0.0143), (0.0458, 0.0264, 0.0166, 7.9e-3, 4.6e-3)),
    1.0: (None, (1.52e-3, 4.4e-4, 1.58e-4, 2.99e-5, 7.1e-6)),
}


@pytest.mark.parametrize(
    ("bound", "table"),
    [(theory.wrong_commit_bound_eocp_ug, UNKNOWN), (theory.wrong_commit_bound_eocp, KNOWN)],
)
def test_the_bounds_and_the_truth(bound, table):
    for c, (expected, truth) in table.items():
        found = [T * bound(TWO, T, inflation=c) for T in (1e4, 1e6, 1e8, 1e12, 1e16)]
        if expected is not None:
            assert found == pytest.approx(expected, rel=5e-3)
        assert all(own > 0.97 * true for own, true in zip(found, truth, strict=True))


def test_simulations_are_below_the_bounds():
    """Where the bounds are nearest to the truth: a small gap, and short horizons, for T = 3 as well."""
    for gap, horizon, c in ((0.5, 100, 0.0), (0.2, 300, 1.0), (1.0, 30, 0.0), (2.0, 16, 0.0)):
        runs, means = 40_000, [gap, 0.0]
        for bandit in (robai.Gaussian(means), robai.Bernoulli([0.5 + gap / 4, 0.5 - gap / 4])):
            wrong = robai.simulate(robai.EOCPUG(inflation=c), bandit, horizon, runs, rng=1).wrong_commit()
            bound = theory.wrong_commit_bound_eocp_ug(bandit, horizon, c)
            assert wrong.count <= runs * bound + 5 * sqrt(runs * bound)
            if isinstance(bandit, robai.Gaussian):
                assert wrong.count > 0.2 * runs * bound
    bandit = robai.Gaussian([1.0, 0.0])
    wrong = robai.simulate(robai.EOCP(gap=1.0, inflation=0.0), bandit, 100, 40_000, rng=1).wrong_commit()
    bound = theory.wrong_commit_bound_eocp(bandit, 100, inflation=0.0)
    assert 0.1 * bound < wrong.count / 40_000 < bound + 5 * sqrt(bound / 40_000)


def test_noise_that_is_known_to_be_less():
    told = theory.wrong_commit_bound_eocp_ug([0.7, 0.2], 1e6, sigma=2.0, family=Gaussian(1.0))
    assert told == theory.wrong_commit_bound_eocp_ug([0.7, 0.2], 1e6, family=Gaussian(2.0))
    coins = theory.wrong_commit_bound_eocp_ug([0.7, 0.2], 1e6, sigma=1.0, family="bernoulli")
    assert coins > theory.wrong_commit_bound_eocp_ug(TWO, 1e6)  # tails are known of Gaussian rewards alone


def test_a_commitment_before_three_rounds_may_be_wrong_always():
    assert wrong_eocp(1.0, 3.0, 2, gaussian=True) == 1.0
    assert wrong_eocp_ug(1.0, 1e7, 1e6, gaussian=True) == 0  # it never stops


# The bound for a threshold that is given beforehand.

TABLE = [  # arms, horizon, error, threshold
    (2, 1e4, 0.05, 8.4),
    (2, 1e4, 1e-4, 15.8),
    (2, 1e6, 0.05, 9.3),
    (2, 1e6, 0.001, 14.0),
    (2, 1e6, 1e-6, 21.5),
    (2, 1e8, 1e-8, 26.8),
    (4, 1e6, 0.05, 10.6),
    (4, 1e6, 1e-6, 22.6),
    (4, 1e8, 1e-8, 27.9),
    (10, 1e6, 0.05, 12.0),
    (10, 1e6, 1e-6, 23.7),
]


@pytest.mark.parametrize(("arms", "horizon", "error", "value"), TABLE)
def test_thresholds(arms, horizon, error, value):
    found = theory.threshold(error, arms, horizon)
    assert found == pytest.approx(value, abs=0.06)
    assert error * (1 - 2e-4) < theory.error_bound(found, arms, horizon) <= error


def mixture(n, x, r, s, count):
    """log M, one number at a time."""
    terms = (sqrt(rho / (n + rho)) * exp(x * n / (n + rho)) for rho in (s * r**j for j in range(count)))
    return log(sum(terms) / count)


def test_the_error_bound_is_the_minimum_over_counts_and_evidence():
    """By plain loops over all counts and a fine grid of x; less than 1 % is lost to what a grid may miss."""
    beta, horizon, best = 8.0, 40, -inf
    for r in (4, 10, 30, 100, 1000):
        for s in (0.03, 0.1, 0.3):
            count = 1 + ceil(log(horizon) / log(r))
            counts, grid = range(1, horizon + 1), [beta * i / 200 for i in range(201)]
            f = [min(mixture(n, x, r, s, count) for n in counts) for x in grid]
            best = max(best, min(a + b for a, b in zip(f, reversed(f), strict=True)))
    plain = 2 * exp(-best)
    assert plain <= theory.error_bound(beta, 3, horizon) < 1.01 * plain


def test_error_bounds_at_the_ends():
    assert theory.error_bound(0, 2, 2) == 1
    assert 0 < theory.error_bound(500, 10**9, 1e6) < 1e-190
    assert theory.threshold(0.5, 2, 2) > log(2)
    for call, message in (
        (lambda: theory.error_bound(-1, 2, 100), "threshold must be from 0 to 500, got -1"),
        (lambda: theory.error_bound(9, 1, 100), "n_arms must be from 2 to"),
        (lambda: theory.threshold(0.0, 2, 100), "error must be between 0 and 1, got 0.0"),
        (lambda: theory.threshold(0.1, 2, 1), "horizon must be from 2 to 1e\\+18, got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
