import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robai._base import intervals
from robai._base.intervals import clopper_pearson


def tail_from(k, n, p):
    """P(Binomial(n, p) >= k), to 40 digits, by adding the binomial probabilities up to k or from k."""
    with mpmath.workdps(40):
        p = mpmath.mpf(p)
        below, above = k, n - k + 1
        terms = range(k) if below <= above else range(k, n + 1)
        total = mpmath.fsum(mpmath.binomial(n, j) * p**j * (1 - p) ** (n - j) for j in terms)
        return 1 - total if below <= above else total


def relative_error(end, tail_at, wanted):
    """Distance of `end` from the root of tail_at = wanted, relative to the root, by one secant step."""
    with mpmath.workdps(40):
        x = mpmath.mpf(end)
        h = x * mpmath.mpf("1e-15")
        value = tail_at(x)
        slope = (tail_at(x + h) - value) / h
        return abs(float((value - wanted) / slope / x))


@pytest.mark.parametrize(
    ("k", "n", "confidence", "low", "high"),
    [
        # mpmath 1.4: findroot of betainc, 30 digits
        (3, 10, 0.95, 0.0667395111777345, 0.652452850059997),
        (1, 2, 0.5, 0.133974596215561, 0.866025403784439),
    ],
)
def test_known_values(k, n, confidence, low, high):
    assert clopper_pearson(k, n, confidence) == pytest.approx((low, high), rel=1e-13)


@pytest.mark.parametrize("n", [2, 3, 17, 200, 10**5, 10**7, 10**9])
@pytest.mark.parametrize("confidence", [0.01, 0.95, 0.999999])
def test_ends_solve_their_equation_for_few_events(n, confidence):
    with mpmath.workdps(40):
        tail = (1 - mpmath.mpf(confidence)) / 2
        for k in {1, 2, 5, 30}:
            if k < n:
                low, high = clopper_pearson(k, n, confidence)
                assert relative_error(low, lambda p, k=k: tail_from(k, n, p), tail) < 1e-12
                assert relative_error(high, lambda p, k=k: 1 - tail_from(k + 1, n, p), tail) < 1e-12


def test_ends_solve_their_equation_in_the_middle():
    for k, n in [(50, 100), (90, 100), (700, 1000)]:
        low, high = clopper_pearson(k, n, 0.95)
        tail = (1 - mpmath.mpf(0.95)) / 2
        assert relative_error(low, lambda p, k=k, n=n: tail_from(k, n, p), tail) < 1e-12
        assert relative_error(high, lambda p, k=k, n=n: 1 - tail_from(k + 1, n, p), tail) < 1e-12


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        # scipy 1.17, beta.ppf(0.025, k, n - k + 1) and beta.isf(0.025, k + 1, n - k)
        (50000, 100000, 0.4968960624918004, 0.5031039375081996),
        (123, 10000000, 1.022251265659823e-05, 1.467562454924002e-05),
        (500000000, 1000000000, 0.4999690097484223, 0.5000309902515777),
        (999000000, 1000000000, 0.9989980390711802, 0.9990019580393238),
        (4000, 1000000000, 3.876991084786919e-06, 4.125918658040792e-06),
    ],
)
def test_many_trials(k, n, low, high):
    assert clopper_pearson(k, n, 0.95) == pytest.approx((low, high), rel=1e-12)


@pytest.mark.parametrize("failures", [1, 2, 49, 50, 51, 52])
@pytest.mark.parametrize("k", [1, 40, 1000])
@pytest.mark.parametrize("confidence", [0.001, 0.95, 1 - 1e-12])
def test_fraction_and_integral_take_over_from_each_other(failures, k, confidence):
    """From 50 failures on, one way of adding up the tail gives way to another."""
    n = k + failures - 1
    with mpmath.workdps(40):
        tail = (1 - mpmath.mpf(confidence)) / 2
        low, high = clopper_pearson(k, n, confidence)
        assert relative_error(low, lambda p: tail_from(k, n, p), tail) < 1e-12
        if k < n:
            assert relative_error(high, lambda p: 1 - tail_from(k + 1, n, p), tail) < 1e-12


@pytest.mark.parametrize("n", [10**3, 10**6, 10**9, 2**53])
@pytest.mark.parametrize("share", [0.002, 0.1, 0.5, 0.93])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-12])
def test_a_tail_is_added_up_seldom(monkeypatch, n, share, confidence):
    """The time of an interval is that of so many tails, whatever the number of trials."""
    tails = []
    hazard = intervals._hazard
    monkeypatch.setattr(intervals, "_hazard", lambda *at: tails.append(at) or hazard(*at))
    clopper_pearson(round(share * n), n, confidence)
    assert len(tails) <= 10


def test_closed_forms():
    assert clopper_pearson(0, 1000)[0] == 0.0
    assert clopper_pearson(0, 1000)[1] == pytest.approx(1 - 0.025 ** (1 / 1000), rel=1e-12)
    assert clopper_pearson(0, 10**9)[1] == pytest.approx(math.log(40) / 10**9, rel=1e-8)
    assert clopper_pearson(7, 7) == (pytest.approx(0.025 ** (1 / 7), rel=1e-14), 1.0)
    assert clopper_pearson(1, 1, 0.9) == (pytest.approx(0.05, rel=1e-14), 1.0)


@given(st.integers(1, 10**9), st.floats(0, 1), st.floats(1e-6, 1 - 1e-15))
@settings(deadline=None)
def test_order_and_symmetry(n, share, confidence):
    k = round(share * n)
    low, high = clopper_pearson(k, n, confidence)
    assert 0.0 <= low <= k / n * (1 + 1e-12)
    assert k / n * (1 - 1e-12) <= high <= 1.0
    mirrored = clopper_pearson(n - k, n, confidence)
    assert (1.0 - mirrored[1], 1.0 - mirrored[0]) == pytest.approx((low, high), abs=1e-14)


@pytest.mark.parametrize("p", [0.003, 0.1, 0.5])
def test_covers_at_least_as_often_as_it_says(p):
    n = 60
    k = np.arange(n + 1)
    probability = np.array([math.comb(n, int(j)) * p**j * (1 - p) ** (n - j) for j in k])
    ends = [clopper_pearson(int(j), n, 0.9) for j in k]
    covered = np.array([low <= p <= high for low, high in ends])
    assert 0.9 <= probability[covered].sum() <= 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0, 0.95), "trials must be at least 1, got 0"),
        ((-1, 5, 0.95), "successes must be between 0 and trials=5, got -1"),
        ((6, 5, 0.95), "successes must be between 0 and trials=5, got 6"),
        ((1, 5, 1.0), "confidence must be strictly between 0 and 1, got 1.0"),
        ((1, 5, math.nan), "confidence must be strictly between 0 and 1, got nan"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        clopper_pearson(*arguments)
