"""How hard a bandit is and what no policy can beat, against worked values and defining equations."""

import inspect
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import robai
from robai import theory
from robai.families import Bernoulli, Binomial, Exponential, Gamma, Gaussian, NegativeBinomial, Poisson
from robai.kl import divergence

UNIT = robai.families.Gaussian(1.0)
TWO = [0.7, 0.2]
FOUR = [0.7, 0.2, 0.2, 0.2]
FAMILIES = [
    Gaussian(1.0),
    Gaussian(sigma=0.3),
    Bernoulli(),
    Binomial(3),
    Poisson(),
    Exponential(),
    Gamma(2.5),
    NegativeBinomial(4.0),
]


def test_bandit_objects_and_plain_means_agree():
    bandit = robai.Bernoulli(TWO)
    assert theory.lai_robbins(bandit) == theory.lai_robbins(TWO, family="bernoulli")
    assert theory.kl_min(bandit) == theory.kl_min(TWO, family=Bernoulli())
    assert theory.regret_bound_kl_eocp(bandit, 1e5) == theory.regret_bound_kl_eocp(
        TWO, 1e5, family="bernoulli"
    )


def test_lai_robbins():
    assert theory.lai_robbins([0.0, 1.0, 0.5], family=Gaussian(3.0)) == pytest.approx(18 * (1 + 2))
    bernoulli = 0.5 / (0.2 * log(2 / 7) + 0.8 * log(8 / 3))
    assert theory.lai_robbins(FOUR, family="bernoulli") == pytest.approx(3 * bernoulli)
    assert theory.regret_lower_bound(FOUR, 1e5, family="bernoulli") == pytest.approx(3 * bernoulli * log(1e5))


def test_lai_robbins_without_a_unique_best_arm():
    assert theory.lai_robbins([0.5, 0.5, 0.1], family=UNIT) == pytest.approx(2 / 0.4)
    assert theory.lai_robbins([0.5, 0.5], family=UNIT) == 0


def test_kl_min_bernoulli():
    point = theory.mu_prime(TWO, family="bernoulli")[1]
    assert point == pytest.approx(0.450977, abs=5e-7)
    assert 4 * divergence("bernoulli", point, 0.2) == pytest.approx(0.639991, abs=5e-7)
    assert theory.kl_min(TWO, family="bernoulli") == pytest.approx(0.534111, abs=5e-7)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_mu_prime_solves_its_equation(family):
    means = np.array([0.3, 0.95, 0.9, 0.01])
    points = theory.mu_prime(means, family=family)
    worse = [0, 2, 3]
    assert np.all((means[worse] < points[worse]) & (points[worse] < 0.95))
    assert points[1] == 0.95
    whole = divergence(family, means[worse], 0.95)
    assert 4 * divergence(family, points[worse], 0.95) == pytest.approx(whole, rel=1e-10)
    smallest = np.minimum(whole, 4 * divergence(family, points[worse], means[worse])).min()
    assert theory.kl_min(means, family=family) == pytest.approx(smallest, rel=1e-12)


def test_kl_min_may_be_the_backward_divergence():
    """Where the variance falls with the mean, 4 KL(mu', mu_a) is the smaller of the two."""
    means = [0.99, 0.6]
    assert theory.kl_min(means, family="bernoulli") < divergence("bernoulli", 0.6, 0.99)


# w* and T*: algorithms.md 8.1 and 8.2.


@pytest.mark.parametrize(
    ("means", "proportions", "time"),
    [
        ([0.5, 0.45, 0.43, 0.4], [0.4165, 0.3903, 0.1362, 0.0570], 989.79),
        ([0.3, 0.21, 0.2, 0.19, 0.18], [0.3359, 0.2515, 0.1766, 0.1324, 0.1036], 326.64),
        (FOUR, [0.362632] + 3 * [0.212456], 14.1805),
        (TWO, [0.489985, 0.510015], 7.54397),
    ],
)
def test_weights_bernoulli(means, proportions, time):
    w, characteristic = theory.weights(means, family="bernoulli")
    digits = 5e-7 if means in (TWO, FOUR) else 5e-5
    assert w == pytest.approx(proportions, abs=digits)
    assert characteristic == pytest.approx(time, rel=1e-5)


@pytest.mark.parametrize("arms", [2, 3, 4, 10])
def test_weights_gaussian_equal_gaps(arms):
    means = np.full(arms, -1.0)
    means[arms // 2] = 0.5
    w, time = theory.weights(means, family=Gaussian(0.7))
    root = sqrt(arms - 1)
    expected = np.full(arms, 1 / (arms - 1 + root))
    expected[arms // 2] = 1 / (1 + root)
    assert w == pytest.approx(expected, rel=1e-9)
    assert time == pytest.approx(2 * 0.49 * (1 + root) ** 2 / 1.5**2, rel=1e-9)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize("means", [[0.6, 0.2], [0.1, 0.9, 0.89, 0.5], [0.3, 0.2999, 0.05, 0.2, 0.2]])
def test_weights_are_optimal(family, means):
    """All transportation costs are equal, and F = sum of d(mu_1, c_a) / d(mu_a, c_a) is 1."""
    means = np.array(means)
    w, time = theory.weights(means, family=family)
    best, others = means.argmax(), means < means.max()
    assert w.sum() == pytest.approx(1)
    assert np.all(w > 0)
    point = (w[best] * means[best] + w[others] * means[others]) / (w[best] + w[others])
    top, rest = divergence(family, means[best], point), divergence(family, means[others], point)
    assert time * (w[best] * top + w[others] * rest) == pytest.approx(np.ones(others.sum()), rel=1e-7)
    assert np.sum(top / rest) == pytest.approx(1, rel=1e-7)


def test_weights_beat_any_others():
    means = np.array([0.9, 0.6, 0.4])
    _, time = theory.weights(means, family="bernoulli")
    w = np.random.default_rng(0).dirichlet(np.ones(3), 20_000)[:, :, None].swapaxes(0, 1)
    rest = means[1:]
    point = (w[0] * 0.9 + w[1:, :, 0].T * rest) / (w[0] + w[1:, :, 0].T)
    cost = w[0] * divergence("bernoulli", 0.9, point) + w[1:, :, 0].T * divergence("bernoulli", rest, point)
    largest = cost.min(axis=1).max()
    assert 0.99 / time < largest <= 1 / time


def test_weights_where_the_divergence_is_infinite():
    w, time = theory.weights([1.0, 0.0, 0.5], family="bernoulli")
    assert w.sum() == pytest.approx(1)
    assert 0 < time < np.inf
    assert w[1] < w[2]


# Lower limits on commitment.


@given(st.floats(0.01, 3), st.floats(10, 1e18), st.floats(0.3, 5), st.floats(0.5, 2))
def test_commit_limits_solve_the_transportation_inequality(gap, horizon, times, sigma):
    regret = times * 2 * log(horizon) * sigma**2 / gap
    for shift, limit in ((2, theory.commit_limit_fixed), (1, theory.commit_limit_adaptive)):
        rounds = limit(gap, horizon, regret, sigma=sigma)
        wrong = regret / gap
        most = (
            (shift * gap / sigma) ** 2 / 2 * wrong
        )  # the information of infinitely many pulls of the best arm
        if rounds == np.inf:
            assert most <= log(horizon / 2.4) * (1 + 1e-9)
        else:
            right = rounds - wrong
            assert most * right / rounds == pytest.approx(log(horizon / 2.4), rel=1e-6)


def test_commit_limits_have_the_theorem_s_orders():
    fixed = [theory.commit_limit_fixed(0.5, T) / (log(T) / 0.25) for T in (1e50, 1e300)]
    assert fixed == pytest.approx([8 / 3, 8 / 3], rel=0.01)  # the proof prints 4
    # regret 2 log T / gap + log^c T
    c = 0.5
    adaptive = [
        theory.commit_limit_adaptive(0.5, T, 2 * log(T) / 0.5 + log(T) ** c) / log(T) ** (2 - c)
        for T in (1e100, 1e300)
    ]
    assert adaptive[0] == pytest.approx(adaptive[1], rel=0.15)


def test_commit_limits_are_below_the_simulated_policies():
    assert theory.commit_limit_fixed(0.5, 1e6, 75.21) < 2231
    assert theory.commit_limit_adaptive(0.5, 1e6, 95.66) < 6859


def test_less_confidence_commits_earlier():
    assert theory.commit_limit_fixed(0.5, 1e6, confidence=0.05) < theory.commit_limit_fixed(0.5, 1e6)


# Table 1.


def test_table():
    rows = {row.policy: row for row in theory.table(alpha=1.5)}
    assert len(rows) == 11
    constants = {name: row.constant(TWO, family=UNIT) for name, row in rows.items()}
    assert constants["BAI-ETC"] == pytest.approx(8)  # algorithms.md 11.3
    assert constants["DETC"] == pytest.approx(4)
    assert constants["UCB_alpha"] == pytest.approx(2 * 1.5**2 / 0.5)
    assert constants["UCB_alpha"] > 8 * 1.5**2 / (2.5**2 * 0.5)  # the sharper 5.76
    assert constants["EOCP"] == pytest.approx(4)
    assert rows["EOCP-UG"].commitment == "O(log^2 T)"
    assert rows["EOCP"].constant(TWO, family="bernoulli", sigma=1.0) == pytest.approx(4)
    assert rows["EOCP"].constant(TWO, family="bernoulli") == pytest.approx(1)
    assert rows["EOCP"].constant(robai.Gaussian(TWO, sigma=2.0)) == pytest.approx(16)
    assert rows["KL-EOCP"].constant(TWO, family="bernoulli") == pytest.approx(0.936135, abs=1e-6)
    assert {row.policy for row in rows.values() if row.optimal == "No"} == {"BAI-ETC", "UCB_alpha"}


# Wrong input names the argument, its value and what is allowed.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: theory.lai_robbins([0.5], family=UNIT),
            "means must be a list of at least two numbers",
        ),
        (lambda: theory.lai_robbins([0.5, 1.5], family="bernoulli"), r"means\[1\] must be in .* got 1.5"),
        (
            lambda: theory.lai_robbins([0.5, np.inf], family=UNIT),
            "must be finite, got inf",
        ),
        (lambda: theory.weights([0.5, 0.5], family=UNIT), "unique largest one"),
        (lambda: theory.kl_min([1.0, 0.5], family="bernoulli"), "edge of the domain"),
        (lambda: theory.commit_limit_fixed(0.5, 5), "horizon must be at least 10, got 5"),
        (
            lambda: theory.commit_limit_fixed(0.5, 1e6, confidence=0.5),
            "confidence must be below 1/2.4 .* got 0.5",
        ),
        (lambda: theory.table(1.0), "alpha must be above 1, got 1.0"),
        (lambda: theory.table()[0].constant(FOUR, family=UNIT), "two arms"),
    ],
)
def test_wrong_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_plain_means_need_a_family():
    with pytest.raises(TypeError, match=r"family must be given with plain means, got None with \[0.7, 0.2\]"):
        theory.lai_robbins(TWO)


# ---- one sigma an arm, and an unknown one

OWN, UNKNOWN = Gaussian((1.0, 2.0)), Gaussian()
OF_ARMS = {
    name: function
    for name, function in vars(theory).items()
    if name in theory.__all__ and callable(function) and "family" in inspect.signature(function).parameters
}
HAVE_A_VALUE = {"kl_min", "lai_robbins", "mu_prime", "regret_lower_bound", "weights"}


def of_arms(function, **options):
    if "horizon" in inspect.signature(function).parameters:
        options["horizon"] = 10**6
    return function([0.7, 0.2], **options)


@pytest.mark.parametrize("name", OF_ARMS)
def test_a_gaussian_family_without_one_sigma_has_its_value_or_a_clear_error(name):
    with pytest.raises(ValueError, match=r"family must have a sigma here: say families.Gaussian\(1.0\)"):
        of_arms(OF_ARMS[name], family=UNKNOWN)
    with pytest.raises(ValueError, match=r"one for each of 2 arms, got \(1.0, 2.0, 3.0\)"):
        of_arms(OF_ARMS[name], family=Gaussian((1.0, 2.0, 3.0)))
    if name in HAVE_A_VALUE:
        return
    with pytest.raises(
        ValueError, match=r"(sigma must be given, .*|one sigma for all arms).* got .*1.0, 2.0"
    ):
        of_arms(OF_ARMS[name], family=OWN)
    if "sigma" in inspect.signature(OF_ARMS[name]).parameters:
        told = [of_arms(OF_ARMS[name], family=family, sigma=2.0) for family in (OWN, Gaussian(2.0))]
        assert told[0] == told[1]


def test_values_with_one_sigma_an_arm():
    """KL-EOCP's rounds must be EOCP's with the largest sigma; two equal ones are one."""
    means = [0.2, 0.7, 0.4]
    for sigma in ((1.0, 2.0, 0.5), (3.0, 1.0, 0.1)):
        family = Gaussian(sigma)
        told = min((0.7 - mean) / max(sigma[arm], sigma[1]) for arm, mean in ((0, 0.2), (2, 0.4)))
        assert theory.kl_min(means, family=family) == pytest.approx(told**2 / 2)
        assert theory.mu_prime(means, family=family) == pytest.approx([0.45, 0.7, 0.55])
    rounds = theory.commit_round_kl_eocp(2, theory.kl_min([0.7, 0.2], family=OWN), 10**6)
    assert rounds == pytest.approx(theory.commit_round_eocp(2, 0.5, 10**6, sigma=2.0))
    for function in (theory.kl_min, theory.mu_prime, theory.lai_robbins):
        same = function(means, family=Gaussian((2.0, 2.0, 2.0)))
        assert same == pytest.approx(function(means, family=Gaussian(2.0)))


def test_rows_of_the_table_with_one_sigma_an_arm():
    by_name = {row.policy: row for row in theory.table()}
    with pytest.raises(ValueError, match="sigma must be given"):
        by_name["UCB"].constant([0.7, 0.2], family=OWN)
    assert by_name["UCB"].constant([0.7, 0.2], family=OWN, sigma=2.0) == pytest.approx(16.0)
    assert by_name["KL-UCB"].constant([0.7, 0.2], family=OWN) == pytest.approx(16.0)


@pytest.mark.parametrize("function", [robai.kl.divergence, robai.kl.upper, robai.kl.lower])
def test_divergences_are_of_one_law(function):
    with pytest.raises(ValueError, match=r"one sigma for all arms here, got Gaussian\(\(1.0, 2.0\)\)"):
        function(OWN, 0.2, 0.7)
    with pytest.raises(ValueError, match="family must have a sigma here"):
        function(UNKNOWN, 0.2, 0.7)
