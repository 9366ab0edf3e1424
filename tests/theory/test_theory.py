"""The upper bounds of the paper's theorems, against worked values and their own equations."""

from math import e, erfc, exp, log, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robai import theory
from robai.families import Gaussian
from robai.kl import divergence

TWO = [0.7, 0.2]
UNIT = Gaussian(1.0)
FOUR = [0.7, 0.2, 0.2, 0.2]


def test_every_public_function_has_a_worked_number():
    for name in theory.__all__:
        if callable(thing := getattr(theory, name)) and not isinstance(thing, type):
            assert ">>>" in thing.__doc__, name


# Levels and pre-determined commitment rounds: algorithms.md 1.1 and 11.2.


@pytest.mark.parametrize(
    ("horizon", "inflation", "level"),
    [(1e6, 1.0, 17.5324), (1e5, 1.0, 14.9060), (1e5, 0.2, 12.1915), (1e6, 0.0, log(1e6))],
)
def test_exploration(horizon, inflation, level):
    assert theory.exploration(horizon, inflation) == pytest.approx(level, abs=5e-5)


def test_inflation_is_that_of_the_theorems():
    assert theory.exploration(10**6, theory.INFLATION) == pytest.approx(log(1e6) + 4 * sqrt(2 * log(1e6)))


@pytest.mark.parametrize(
    ("horizon", "inflation", "rounds"),
    [
        (1e5, 0.2, (782.3, 1564.5, 184.6, 369.2)),
        (1e5, 1.0, (956.0, 1912.0, 225.3, 450.5)),
        (1e6, 1.0, (1124.1, 2248.2, 264.6, 529.2)),
        (1e6, theory.INFLATION, (2231.9, 4463.7, 523.9, 1047.7)),
    ],
)
def test_commit_rounds(horizon, inflation, rounds):
    eocp = [theory.commit_round_eocp(arms, 0.5, horizon, inflation=inflation) for arms in (2, 4)]
    kl = [theory.commit_round_kl_eocp(arms, 0.534111, horizon, inflation=inflation) for arms in (2, 4)]
    assert eocp + kl == pytest.approx(rounds, abs=0.06)


def test_kl_eocp_is_eocp_for_gaussian_rewards():
    """The check that shows the square in the box of Algorithm 3 to be a misprint."""
    kl = theory.kl_min([1.0, 0.4, 0.1], family=Gaussian(2.0))
    assert kl == pytest.approx(0.6**2 / 8)
    assert theory.commit_round_kl_eocp(3, kl, 1e6) == pytest.approx(
        theory.commit_round_eocp(3, 0.6, 1e6, sigma=2.0)
    )


# Finite-time upper bounds.


def test_bounds_are_above_the_simulated_regrets():
    """algorithms.md 11.1, to be read as lower limits of any true bound."""
    c = theory.INFLATION
    assert theory.regret_bound_eocp(TWO, 1e6, 0.5, c, family=UNIT).total > 75.21
    assert theory.regret_bound_eocp(TWO, 1e6, 0.5, 1.0, family=UNIT).total > 38.20
    assert theory.regret_bound_eocp(TWO, 1e6, 0.5, 0.0, family=UNIT).total > 30.19
    assert theory.regret_bound_eocp(FOUR, 1e5, 0.5, 0.2, family=UNIT).total > 92.51
    assert theory.regret_bound_eocp(TWO, 1e5, 0.5, 1.0, sigma=1.0, family="bernoulli").total > 32.30
    assert theory.regret_bound_eocp(TWO, 1e5, 0.5, 1.0, family="bernoulli").total > 8.34
    assert theory.regret_bound_eocp_ug(TWO, 1e6, c, family=UNIT).total > 95.66
    assert theory.regret_bound_eocp_ug(TWO, 1e6, 1.0, family=UNIT).total > 40.50
    assert theory.regret_bound_kl_eocp(TWO, 1e5, inflation=1.0, family="bernoulli").total > 7.40
    assert theory.regret_bound_kl_eocp(FOUR, 1e5, inflation=0.2, family="bernoulli").total > 21.39
    assert theory.commit_round_eocp_ug(TWO, 1e6, c, family=UNIT).expected > 6859
    assert theory.commit_round_eocp_ug(TWO, 1e6, 1.0, family=UNIT).expected > 1503


def test_eocp_bound_term_by_term():
    horizon, gaps = 10**8, np.array([0.5, 0.8])
    level = log(horizon) + 4 * sqrt(2 * log(horizon))
    rounds = 3 * 8 * level / 0.4**2
    escape = [(e * level * log(n) + e) / exp(level) for n in (rounds, rounds + 1)]
    wrong = 2 * (exp(-level) + escape[0]) + exp(-level) + escape[1]
    bound = theory.regret_bound_eocp([0.1, 0.9, 0.4], horizon, 0.4, family=UNIT)
    assert bound.leading == pytest.approx(2 * log(horizon) * np.sum(1 / gaps))
    assert bound.inflation == pytest.approx(8 * sqrt(2 * log(horizon)) * np.sum(1 / gaps))
    assert bound.deviation == pytest.approx((sqrt(4 * pi * level) + 2) * np.sum(1 / gaps))
    assert bound.first_pulls == pytest.approx(1.3)
    assert bound.optimism == pytest.approx(1.3 * rounds * escape[0])
    assert bound.late_stop == 0
    assert bound.commitment == pytest.approx(1.3 * horizon * wrong)
    parts = [getattr(bound, name) for name in bound.__dataclass_fields__]
    assert bound.total == pytest.approx(sum(parts))


def test_kl_eocp_bound_term_by_term():
    horizon = 10**7
    level = log(horizon) + sqrt(log(horizon))
    kl = divergence("poisson", 1.0, 2.0)
    slack = log(horizon) ** -0.25
    grid = np.linspace(1, 2, 2_000_001)
    r = grid[np.argmin(abs((1 + slack) * divergence("poisson", grid, 2.0) - kl))]
    back = divergence("poisson", r, 1.0)
    bound = theory.regret_bound_kl_eocp([2.0, 1.0], horizon, 0.1, 1.0, family="poisson")
    assert bound.leading == pytest.approx(log(horizon) / kl)
    assert bound.inflation == pytest.approx(sqrt(log(horizon)) / kl)
    assert bound.deviation == pytest.approx(
        slack * level / kl + exp(-(1 + slack) * level * back / kl) / (1 - exp(-back)), rel=1e-5
    )
    rounds = theory.commit_round_kl_eocp(2, 0.1, horizon) - 2
    escape = [(e * level * log(n) + e) / exp(level) for n in (rounds, rounds + 1)]
    assert bound.optimism == pytest.approx(rounds * escape[0])
    assert bound.commitment == pytest.approx(horizon * (exp(-level) + escape[0] + 2 * escape[1]))


@pytest.mark.parametrize("horizon", [1e4, 1e6, 1e12, 1e18])
def test_printed_forms_of_the_theorems(horizon):
    """What the appendix rounds to, with its slips mended, is never below what is computed here."""
    root, leading = sqrt(log(horizon)), log(horizon)
    means = [2.0, 1.0, 1.2]
    gaps, arms = np.array([1.0, 0.8]), 3
    bound = theory.regret_bound_eocp(means, horizon, family=UNIT)
    explicit = bound.leading + bound.inflation + bound.deviation + bound.first_pulls
    printed = (2 * leading + (8 * sqrt(2) + sqrt(20 * pi)) * root + 2) / gaps + gaps
    assert explicit <= printed.sum()
    late = theory.commit_round_eocp_ug(means, horizon, family=UNIT)
    assert late.probability <= 10 * e * arms / (horizon * leading**2)
    assert late.expected <= (
        np.sum(8 * (leading + (4 * sqrt(2) + 1) * root) ** 2 / gaps**2)
        + 6 * arms * leading
        + 10 * e * arms / leading**2
    )
    kl = theory.regret_bound_kl_eocp([0.5, 0.2], horizon, family="bernoulli")
    constant = theory.lai_robbins([0.5, 0.2], family="bernoulli")
    assert (
        theory.exploration(horizon, theory.INFLATION) * (1 + leading**-0.25) <= leading + 10 * leading**0.75
    )
    assert kl.leading == pytest.approx(leading * constant)


def test_a_late_commitment_is_what_the_lemma_says():
    level = log(1e6) + theory.INFLATION * sqrt(log(1e6))
    rounds = 8 * (level + 1) ** 2 * (1 / 0.5**2 + 1 / 0.25**2) + 3 * (level + 2)
    probability = 2 * (e * level * log(1e6) + e + 1) / exp(level)
    found = theory.commit_round_eocp_ug([0.75, 0.25, 0.5], 1e6, family=UNIT)
    assert found == pytest.approx((rounds, probability, rounds + 1e6 * probability), rel=1e-9, abs=0.0)


def test_the_printed_second_order_constants_are_too_small():
    """8 + sqrt(20 pi) (both Gaussian theorems) and 8 (log T + 5 sqrt(log T))^2 (cor:sccug) drop a sqrt(2)."""

    def missing(horizon):
        level = theory.exploration(horizon, theory.INFLATION)
        return 2 * level + sqrt(4 * pi * level) > 2 * log(horizon) + (8 + sqrt(20 * pi)) * sqrt(log(horizon))

    assert missing(1e6)
    assert missing(7e28)
    assert not missing(9e28)
    level = theory.exploration(1e6, theory.INFLATION)
    assert (level + 1) ** 2 > (log(1e6) + 5 * sqrt(log(1e6))) ** 2


@pytest.mark.parametrize("gap", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("level", [2.5, 17.5, 35.0])
def test_deviations_need_no_extra_one(gap, level):
    """lemma:concentration (c) without its + 1, by exact Gaussian tails."""
    count = sum(
        0.5 * erfc((gap * sqrt(s) - sqrt(2 * level)) / sqrt(2))
        for s in range(1, int(40 * level / gap**2) + 40)
    )
    assert count <= (2 * level + sqrt(4 * pi * level) + 2) / gap**2


@pytest.mark.parametrize("horizon", [1e5, 1e8])
def test_wrong_commitment(horizon):
    eocp = theory.wrong_commit_bound_eocp([2.0, 1.0, 1.2], horizon, family=UNIT)
    kl = theory.wrong_commit_bound_kl_eocp([0.7, 0.2, 0.4], horizon, family="bernoulli")
    ug = theory.wrong_commit_bound_eocp_ug([2.0, 1.0, 1.2], horizon, family=UNIT)
    assert 0 < eocp < 1 / horizon
    assert 0 < kl < 1 / horizon
    level = theory.exploration(horizon, theory.INFLATION)
    escape = (e * level * log(horizon) + e) * exp(-level)
    crossing = 4 / (np.array([1.0, 0.8]) ** 2 * exp(level - 4 * sqrt(level) + 4))
    assert ug == pytest.approx(2 * np.sum(escape + crossing))
    assert ug < 2 * np.sum(escape + 4 / (np.array([1.0, 0.8]) ** 2 * horizon))  # B_2 <= 4 / (Delta^2 T)


def test_probabilities_are_at_most_one():
    assert theory.wrong_commit_bound_eocp_ug([0.1, 0.0, -0.1], 1e5, 1.0, family=UNIT) == 1
    assert theory.wrong_commit_bound_eocp_ug([1e-9, 0.0], 1e5, 0.0, family="bernoulli") == 1
    assert theory.wrong_commit_bound_eocp([0.5, 0.0], 1e4, 0.05 * 8, 0.0, family=UNIT) <= 1


def test_sigma_is_a_change_of_units():
    unit = theory.regret_bound_eocp(TWO, 1e6, 0.4, family=UNIT)
    scaled = theory.regret_bound_eocp([7.0, 2.0], 1e6, 4.0, sigma=10, family=Gaussian(10.0))
    assert scaled.total == pytest.approx(10 * unit.total)
    for function in (
        theory.wrong_commit_bound_eocp_ug,
        lambda *a, **k: theory.commit_round_eocp_ug(*a, **k)[0],
    ):
        assert function([7.0, 2.0], 1e6, sigma=10, family=Gaussian(10.0)) == pytest.approx(
            function(TWO, 1e6, family=UNIT)
        )


def test_huge_gaps_leave_no_negative_probability():
    assert theory.wrong_commit_bound_eocp([100.0, 0.0], 1e6, family=UNIT) > 0


@given(st.floats(0.3, 2), st.floats(1e5, 1e15), st.floats(0, 6))
def test_bounds_follow_their_leading_term(gap, horizon, inflation):
    bound = theory.regret_bound_eocp([gap, 0.0], horizon, inflation=inflation, family=UNIT)
    assert bound.leading == pytest.approx(theory.regret_lower_bound([gap, 0.0], horizon, family=UNIT))
    assert bound.total >= bound.leading + bound.inflation
    smaller = theory.wrong_commit_bound_eocp([gap, 0.0], horizon, inflation=inflation + 1, family=UNIT)
    assert smaller <= theory.wrong_commit_bound_eocp([gap, 0.0], horizon, inflation=inflation, family=UNIT)


# Wrong input names the argument, its value and what is allowed.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.exploration(1), "horizon must be at least 2, got 1"),
        (lambda: theory.exploration(np.nan), "horizon must be finite, got nan"),
        (lambda: theory.exploration(100, -1), r"inflation must be from 0 to 1e\+280, got -1"),
        (lambda: theory.commit_round_eocp(2, 0, 100), "gap must be above 0, got 0"),
        (lambda: theory.commit_round_eocp(1, 0.5, 100), "n_arms must be at least 2, got 1"),
        (lambda: theory.commit_round_eocp(2, 0.5, 100, sigma=np.inf), "sigma must be finite, got inf"),
        (lambda: theory.commit_round_kl_eocp(2, -0.5, 100), "kl must be above 0, got -0.5"),
        (
            lambda: theory.regret_bound_eocp(TWO, 1e6, 0.6, family=UNIT),
            "gap must be at most 0.5, .* got 0.6",
        ),
        (
            lambda: theory.regret_bound_eocp(TWO, 1000, family=UNIT),
            "horizon must be at least T_c = .* got 1000",
        ),
        (
            lambda: theory.regret_bound_eocp(TWO, 1e6, family="poisson"),
            r"family must be sub-Gaussian .* got Poisson\(\)",
        ),
        (
            lambda: theory.regret_bound_eocp(TWO, 1e6, sigma=1.0, family=Gaussian(2.0)),
            "sigma must be at least 2.0, .* got 1.0",
        ),
        (
            lambda: theory.regret_bound_eocp_ug(TWO, 15, family=UNIT),
            "horizon must be at least 16, got 15",
        ),
        (
            lambda: theory.regret_bound_eocp_ug(TWO, 50, 0.0, family=UNIT),
            "l > 4, got 50 and 0.0",
        ),
        (
            lambda: theory.regret_bound_eocp_ug(TWO, 500, family=UNIT),
            r"at least 16 l sigma\^2 / Delta_min\^2 = .* got 500",
        ),
        (
            lambda: theory.regret_bound_kl_eocp(TWO, 1e6, 0.6, family="bernoulli"),
            "kl must be at most 0.534.* got 0.6",
        ),
    ],
)
def test_wrong_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_types():
    with pytest.raises(TypeError, match="horizon must be a number, got '1e6'"):
        theory.exploration("1e6")
