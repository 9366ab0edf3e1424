"""Bandits: values that describe the arms, checked when they are made."""

import dataclasses
import pickle
import re

import numpy as np
import pytest
from support.examples import BANDITS

import robai

WITH_ONE = {  # how to make each from means alone
    robai.Gaussian: {},
    robai.Bernoulli: {},
    robai.Binomial: {"n": 1},
    robai.Poisson: {},
    robai.Exponential: {},
    robai.Gamma: {"shape": 2.0},
    robai.NegativeBinomial: {"r": 1.0},
}
assert set(WITH_ONE) == set(robai.bandits.BANDITS.values())
DATA = robai.Empirical([[1.0, 2.0, 6.0], [0.5]])


@pytest.fixture(params=WITH_ONE, ids=lambda kind: kind.__name__)
def make(request):
    """A bandit of each kind, made of its means."""
    return lambda means: request.param(means, **WITH_ONE[request.param])


def test_a_bandit_is_a_value(bandit):
    same = type(bandit)(**{each.name: getattr(bandit, each.name) for each in dataclasses.fields(bandit)})
    assert bandit == same
    assert hash(bandit) == hash(same)
    assert pickle.loads(pickle.dumps(bandit)) == bandit
    assert eval(repr(bandit), vars(robai)) == bandit
    assert sum(bandit == other for other in [*BANDITS, DATA]) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        bandit.means = (0.1, 0.2)


def test_data_is_a_value():
    same = robai.Empirical(((1, 2, 6), np.array([0.5])))
    assert same == DATA
    assert hash(DATA) == hash(same)
    assert DATA.means == (3.0, 0.5)  # now it is cached, and makes no difference
    assert pickle.loads(pickle.dumps(DATA)) == DATA == same
    assert robai.Empirical([[1.0, 6.0, 2.0], [0.5]]) != DATA
    assert repr(DATA) == "Empirical(3 rewards, 1 rewards)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        DATA.samples_per_arm = ()


def test_the_best_arm_and_the_gaps():
    bandit = robai.Gaussian([0.25, 1.0, -0.5])
    assert bandit.n_arms == 3
    assert bandit.best_arms == (1,)
    assert bandit.gaps == (0.75, 0.0, 1.5)
    assert DATA.n_arms == 2
    assert DATA.best_arms == (0,)
    assert DATA.gaps == (0.0, 2.5)


def test_several_arms_can_be_best(make):
    bandit = make([0.5, 0.25, 0.5])
    assert bandit.best_arms == (0, 2)
    assert bandit.gaps == (0.0, 0.25, 0.0)


@pytest.mark.parametrize(
    ("bandit", "support"),
    [
        (robai.Gaussian([0, 1]), (-np.inf, np.inf)),
        (robai.Bernoulli([0, 1]), (0, 1)),
        (robai.Binomial([0, 5], n=7), (0, 7)),
        (robai.Poisson([0, 1]), (0, np.inf)),
        (robai.Exponential([1, 2]), (0, np.inf)),
        (robai.Gamma([1, 2], shape=2), (0, np.inf)),
        (robai.NegativeBinomial([0, 2], r=2), (0, np.inf)),
        (robai.Empirical([[3, -1], [2, 7, 5]]), (-1, 7)),
    ],
    ids=repr,
)
def test_the_support_is_that_of_the_rewards(bandit, support):
    assert bandit.support == support


@pytest.mark.parametrize(
    "convert",
    [
        list,
        tuple,
        np.array,
        iter,
        lambda means: np.array(means, dtype=np.float32),
        lambda means: [np.float64(mean) for mean in means],
    ],
    ids=["list", "tuple", "array", "iterator", "float32", "scalars"],
)
def test_means_are_taken_from_any_sequence(make, convert):
    bandit = make(convert([0.5, 0.25, 0.75]))
    assert bandit.means == (0.5, 0.25, 0.75)
    assert all(type(mean) is float for mean in bandit.means)


def test_the_means_are_copied():
    means = np.array([0.5, 0.25])
    bandit = robai.Gaussian(means)
    means[0] = 7.0
    assert bandit.means == (0.5, 0.25)


def test_whole_numbers_are_means():
    assert robai.Bernoulli([0, 1]) == robai.Bernoulli(np.array([0, 1])) == robai.Bernoulli([0.0, 1.0])
    assert robai.Binomial([1, 2], n=4.0).n == 4


@pytest.mark.parametrize(
    ("means", "error", "message"),
    [
        ([], ValueError, "means must have at least two arms, got 0"),
        ([0.5], ValueError, "means must have at least two arms, got 1"),
        (np.empty(0), ValueError, "means must have at least two arms, got 0"),
        (0.5, TypeError, r"means must be a sequence .*0\.5"),
        (None, TypeError, "means must be a sequence .*None"),
        ("0.7,0.2", TypeError, r"means must be a sequence .*0\.7,0\.2"),
        (b"72", TypeError, "means must be a sequence .*b'72'"),
        ([0.5, float("nan")], ValueError, r"means\[1\] must be finite, got nan"),
        ([float("inf"), 0.5], ValueError, r"means\[0\] must be finite, got inf"),
        ([0.5, "0.2"], TypeError, r"means\[1\] must be a number, got '0\.2'"),
        ([0.5, None], TypeError, r"means\[1\] must be a number, got None"),
        ([0.5, True], TypeError, r"means\[1\] must be a number, got True"),
        ([0.5, np.True_], TypeError, r"means\[1\] must be a number, got np\.True_"),
        ([0.5, 1j], TypeError, r"means\[1\] must be a number, got 1j"),
        (np.array([0.5, 0.5j]), TypeError, r"means\[0\] must be a number, got np\.complex128"),
        ([[0.5], [0.2]], TypeError, r"means\[0\] must be a number, got \[0\.5\]"),
        (np.array([[0.5], [0.2]]), TypeError, r"means\[0\] must be a number, got array"),
        (np.array([[0.5, 0.1], [0.2, 0.3]]), TypeError, r"means\[0\] must be a number, got array"),
        ([0.5, 10**400], ValueError, r"means\[1\] must be .*got 1000"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_bad_means_are_named(make, means, error, message):
    with pytest.raises(error, match=message):
        make(means)


@pytest.mark.parametrize(
    ("kind", "bad", "arguments", "allowed"),
    [
        (robai.Bernoulli, 1.0001, {}, r"\[0, 1\]"),
        (robai.Bernoulli, -1e-9, {}, r"\[0, 1\]"),
        (robai.Binomial, 5.1, {"n": 5}, r"\[0, 5\]"),
        (robai.Binomial, -0.1, {"n": 5}, r"\[0, 5\]"),
        (robai.Poisson, -1.0, {}, r"\[0, 1e\+15\]"),
        (robai.Poisson, 2e15, {}, r"\[0, 1e\+15\]"),
        (robai.Exponential, 0.0, {}, r"\(0, 1e\+15\]"),
        (robai.Gamma, -1.0, {"shape": 2.0}, r"\(0, 1e\+15\]"),
        (robai.NegativeBinomial, -0.5, {"r": 1.0}, r"\[0, 1e\+15\]"),
    ],
)
def test_a_mean_outside_the_domain_is_named_with_what_is_allowed(kind, bad, arguments, allowed):
    message = rf"means\[1\] must be in {allowed} for {kind.__name__}\(.*\), got {re.escape(repr(bad))}$"
    with pytest.raises(ValueError, match=message):
        kind([0.5, bad, 0.25], **arguments)


@pytest.mark.parametrize("mean", [-1e308, 1e308])
def test_a_gap_times_a_horizon_must_be_finite(mean):
    with pytest.raises(ValueError, match=r"means\[0\] must be in \[-1e\+15, 1e\+15\]"):
        robai.Gaussian([mean, 0.0])


@pytest.mark.parametrize(
    ("kind", "arguments", "error"),
    [
        (robai.Gaussian, {"sigma": 0.0}, ValueError),
        (robai.Gaussian, {"sigma": -1}, ValueError),
        (robai.Gaussian, {"sigma": float("nan")}, ValueError),
        (robai.Gaussian, {"sigma": "1"}, TypeError),
        (robai.Gaussian, {"sigma": (1.0, 2.0, 3.0)}, ValueError),
        (robai.Gaussian, {"sigma": 10**400}, ValueError),
        (robai.Binomial, {"n": 0}, ValueError),
        (robai.Binomial, {"n": 1.5}, ValueError),
        (robai.Binomial, {"n": True}, TypeError),
        (robai.Gamma, {"shape": 0}, ValueError),
        (robai.Gamma, {"shape": None}, TypeError),
        (robai.NegativeBinomial, {"r": -2.0}, ValueError),
        (robai.NegativeBinomial, {"r": float("inf")}, ValueError),
    ],
)
def test_a_bad_parameter_is_named_with_its_value(kind, arguments, error):
    ((name, value),) = arguments.items()
    with pytest.raises(error) as caught:
        kind([0.5, 0.25], **arguments)
    assert str(caught.value).startswith(f"{name} must be")
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("kind", [robai.Binomial, robai.Gamma, robai.NegativeBinomial])
def test_a_parameter_that_means_alone_do_not_determine_must_be_given(kind):
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        kind([0.5, 0.25])


@pytest.mark.parametrize(
    ("samples", "error", "message"),
    [
        ([], ValueError, "samples_per_arm must have at least two arms, got 0"),
        ([[1.0, 2.0]], ValueError, "samples_per_arm must have at least two arms, got 1"),
        (3, TypeError, "samples_per_arm must be a sequence .*got 3"),
        ("ab", TypeError, "samples_per_arm must be a sequence .*'ab'"),
        ([1.0, 2.0], TypeError, r"samples_per_arm\[0\] must be a sequence .*1\.0"),
        ([[1.0], []], ValueError, r"samples_per_arm\[1\] must have at least one reward, got none"),
        ([[1.0], [0.5, float("nan")]], ValueError, r"samples_per_arm\[1\] must be finite, got .*nan"),
        ([[1.0], ["a", "b"]], TypeError, r"samples_per_arm\[1\] must be a sequence of numbers"),
        ([[1.0], [[1.0, 2.0]]], TypeError, r"samples_per_arm\[1\] must be a sequence of numbers"),
        ([[1.0], [1.0, [2.0]]], TypeError, r"samples_per_arm\[1\] must be a sequence of numbers"),
        ([[1.0], [1j]], TypeError, r"samples_per_arm\[1\] must be a sequence of numbers"),
        ([[1.0], [None]], TypeError, r"samples_per_arm\[1\] must be a sequence of numbers"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_bad_data_is_named(samples, error, message):
    with pytest.raises(error, match=message):
        robai.Empirical(samples)


@pytest.mark.parametrize("value", [3e200, -1.01e100, 1e308, np.longdouble("1e300")])
def test_data_too_large_for_squares_of_sums_is_refused_at_once(value):
    with pytest.raises(ValueError, match=r"samples_per_arm\[1\] must be from -1e\+100 to 1e\+100, got "):
        robai.Empirical([[0.5], [0.5, value]])


@pytest.mark.parametrize("scale", [1e100, -1e100])
def test_the_largest_data_can_be_simulated(policy, scale):
    bandit = robai.Empirical([[scale, 0.25 * scale], [0.5 * scale, 0.0]])
    if getattr(policy, "prior", "jeffreys") == "uniform":
        pytest.skip("for rewards that are 0 or 1")
    if hasattr(policy, "threshold"):  # none is proved for these
        policy = dataclasses.replace(policy, threshold="practical")
    if hasattr(policy, "family"):
        policy = dataclasses.replace(policy, family=robai.families.Gaussian(1.0))
    result = robai.simulate(policy, bandit, 50, 20, rng=1)
    assert np.isfinite(result.regret_sem).all()
    assert result.regret[-1] > 1e98


def test_the_text_of_many_arms_is_short(make):
    many = make(np.linspace(0.25, 0.75, 1001))
    assert ", ..., 0.75: 1,001 arms)" in repr(many)
    assert len(repr(many)) < 100
    assert "..." not in repr(make(np.linspace(0.25, 0.75, 1000)))
    assert repr(robai.Empirical([[0.0, 1.0]] * 1001)) == "Empirical(2,002 rewards of 1,001 arms)"
