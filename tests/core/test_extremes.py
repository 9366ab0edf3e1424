"""Arguments of any size give a number, or an error that names the argument; no NaN and no warning.

Numbers too large for a double are infinite: a commitment that no horizon reaches.
"""

import dataclasses
import inspect
import math
import sys
import warnings
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import fitting

import robai
from robai import families, kl, policies, rules, theory
from robai.rules.parameters import Challenger, Leader, LevelName, Test, UniformStop
from robai.rules.threshold import Threshold

SIZES = [5e-324, 1e-310, 1e-200, 1e-160, 1e-100, 1e-30, 1e-9, 0.1, 0.5, 1.0, 2.0, 17.0, 1e6]
SIZES += [10**18, 1e100, 1e160, 1e200, 1e280, 1e300, 1.7e308]
WRONG = [0.0, -1.0, -1e300, math.nan, math.inf, 10**400, -(10**400)]
positive = st.sampled_from(SIZES) | st.floats(5e-324, 1.7e308)
number = positive | positive | st.sampled_from(WRONG)
likely = st.floats(0.01, 100.0) | number
MEANS = st.sampled_from([0.0, 5e-324, 1e-200, 1e-20, 0.2, 0.5, 0.5 + 2**-53, 0.7, 1.0 - 2**-53, 1.0, 1e15])
FAMILIES = st.sampled_from(
    [
        *("gaussian", "bernoulli", "poisson", "exponential"),
        *(families.Gaussian(sigma) for sigma in (1e-100, 1e-9, 1e100)),
        *(families.Binomial(n) for n in (1, 10**6)),
        *(families.Gamma(shape) for shape in (0.01, 2.5, 1e9)),
        *(families.NegativeBinomial(r) for r in (0.001, 1.5, 1e15)),
    ]
)
ARGUMENTS = {
    "bandit": st.lists(MEANS, min_size=2, max_size=4, unique=True)
    | st.lists(st.floats(0.0, 1.0), min_size=2, max_size=4)
    | st.lists(MEANS | number, min_size=1, max_size=4),
    "family": FAMILIES,
    "n_arms": st.integers(2, 10**6) | number,
    "horizon": st.sampled_from([2, 100, 10**6, 10**18, 1e300, 1.7e308]) | number,
    "gap": likely,
    "kl": likely,
    "sigma": likely,
    "inflation": likely | st.just(1.0),
    "regret": likely,
    "confidence": likely | st.floats(5e-324, 0.4),
    "alpha": likely,
    "p": MEANS | number,
    "q": MEANS | number,
    "level": likely,
    "threshold": st.floats(0.0, 60.0) | number,
    "error": st.floats(5e-324, 0.9) | number,
}

UNIT = families.Gaussian(1.0)


def call(function, arguments):
    """Its result, or None after an error that names an argument; every warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return function(**arguments)
        except (ValueError, TypeError) as error:
            message = str(error)
    names = [*inspect.signature(function).parameters, "means"]
    assert any(name in message for name in names), message
    return None


def leaves(result):
    """All numbers in it."""
    if dataclasses.is_dataclass(result):
        result = (*dataclasses.astuple(result), result.total)
    if isinstance(result, tuple | list):
        return [each for part in result for each in leaves(part)]
    return [] if isinstance(result, str) else np.ravel(result).tolist()


def arguments_of(function):
    """Some of its arguments: optional ones may be left out, but for the family, which plain means need."""
    names = inspect.signature(function).parameters
    needed = {name for name, each in names.items() if each.default is each.empty or name == "family"}
    return st.fixed_dictionaries(
        {name: ARGUMENTS[name] for name in needed},
        optional={name: ARGUMENTS[name] for name in names if name not in needed},
    )


# ---- theory and divergences

FUNCTIONS = [getattr(theory, name) for name in theory.__all__ if name != "predict"]
FUNCTIONS += [getattr(kl, name) for name in kl.__all__]


@pytest.mark.parametrize(
    "function", [each for each in FUNCTIONS if inspect.isfunction(each)], ids=lambda each: each.__name__
)
def test_numbers_of_any_size(function):
    answered = 0

    @settings(max_examples=400)
    @given(arguments_of(function))
    def check(arguments):
        nonlocal answered
        result = call(function, arguments)
        if result is not None:
            answered += 1
            assert not any(math.isnan(each) for each in leaves(result)), (arguments, result)
            if function not in (kl.lower, kl.upper, theory.mu_prime):  # means
                assert min(leaves(result)) >= 0.0, (arguments, result)

    check()
    assert answered > 0


INFLATIONS = st.floats(0.0, 1e280)
PREDICTED = (
    st.sampled_from([robai.UCB(), robai.KLUCB()])
    | st.builds(robai.EOCP, gap=st.floats(1e-100, 1e100), inflation=INFLATIONS)
    | st.builds(robai.EOCPUG, INFLATIONS)
    | st.builds(robai.KLEOCP, kl=st.floats(1e-100, 1e100), inflation=INFLATIONS)
    | st.builds(robai.KLEOCPUG, INFLATIONS, st.floats(0.0, 1e6))
    | st.builds(
        robai.LeadCommit,
        exponent=st.floats(1e-6, 1.0),
        factor=st.floats(1e-6, 1e6),
        level=st.sampled_from(["ratio", "pulls", "horizon"]),
    )
)
SOME_MEANS = st.lists(st.floats(-1e15, 1e15), min_size=2, max_size=4, unique=True)
SHARES = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=4, unique=True)
PLAYED_ON = st.builds(robai.Gaussian, SOME_MEANS, st.floats(1e-100, 1e100)) | st.builds(
    robai.Bernoulli, SHARES
)


@settings(max_examples=400)
@given(PREDICTED, PLAYED_ON, st.sampled_from([16, 100, 10**6, 10**18, 1e100]))
def test_predictions_of_any_size(policy, bandit, horizon):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", robai.AssumptionWarning)
        found = theory.predict(policy, bandit, horizon)
    assert found.case
    for number in (found.regret, found.commit_time):
        assert number is None or 0.0 <= number < math.inf, found
    assert found.regret is not None or found.commit_time is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda: theory.commit_round_eocp(2, 1e-150, 1e6), 8 * 2 * theory.exploration(1e6) * 1e300),
        (lambda: theory.commit_round_eocp(2, 1e-160, 1e6), math.inf),
        (lambda: theory.commit_round_eocp(2, 1e200, 1e6, sigma=1e100), 2.0),
        (
            lambda: theory.commit_round_eocp_ug([0.7, 0.2], 1e6, 1e140, family=UNIT).rounds,
            32e280 * math.log(1e6),
        ),
        (
            lambda: theory.commit_round_eocp_ug([0.7, 0.2], 1e6, 1e280, family=UNIT).rounds,
            math.inf,
        ),
        (
            lambda: theory.wrong_commit_bound_eocp_ug([0.7, 0.2], 1e18, 1e6, family=UNIT),
            sys.float_info.min,
        ),
        (lambda: theory.commit_limit_fixed(1e-150, 1e6), theory.commit_limit_fixed(1.0, 1e6) * 1e300),
        (lambda: theory.commit_limit_fixed(1e-200, 1e6), math.inf),
        (lambda: theory.lai_robbins([1e-150, 0.0], family=UNIT), 2e150),
        (lambda: theory.kl_min([1e15, 0.0], family=families.Gaussian(1e-100)), 0.5e230),
        (lambda: kl.upper(UNIT, 0.0, 1.5e308), math.sqrt(3.0) * 1e154),
        (
            lambda: kl.divergence(families.NegativeBinomial(1e15), 1e-310, 1e-309),
            1e-309 - 1e-310 * (1 + math.log(10)),
        ),
        (lambda: kl.lower(families.NegativeBinomial(1.0), 1e100, 1.0), kl.lower("exponential", 1e100, 1.0)),
    ],
)
def test_answers_at_the_extremes(answer, expected):
    assert answer() == pytest.approx(expected, rel=1e-6, abs=0.0)


@pytest.mark.parametrize(
    ("name", "function", "arguments"),
    [
        ("inflation", theory.commit_round_eocp_ug, ([0.7, 0.2], 1e6, 1e300)),
        ("sigma", theory.commit_round_eocp, (2, 0.5, 1e6)),
        ("p", kl.divergence, ("poisson", 10**400, 0.5)),
        ("q", kl.divergence, ("poisson", 0.5, [1, 10**400])),
        ("level", kl.upper, ("poisson", 0.5, 10**400)),
        ("p", kl.lower, (families.NegativeBinomial(1.0), 1e200, 1.0)),
        ("p and level", kl.upper, ("poisson", [1.0, 2.0], [1.0, 2.0, 3.0])),
        ("means", theory.lai_robbins, ([1e-200, 0.0],)),
        ("means", theory.weights, ([1e-200, 0.0],)),
    ],
)
def test_what_is_beyond_is_named(name, function, arguments):
    keywords = {"sigma": 1e300} if name == "sigma" else {}
    if function in (theory.commit_round_eocp_ug, theory.lai_robbins, theory.weights):
        keywords["family"] = UNIT
    with pytest.raises(ValueError, match=f"^{name} must"):
        function(*arguments, **keywords)


# ---- policies

PARAMETERS = {
    **ARGUMENTS,
    "delta": st.none() | st.floats(5e-324, 1 - 2**-53) | number,
    "guard": likely,
    "level": st.sampled_from([*get_args(LevelName), "none"]),
    "tracking": st.sampled_from(["C", "D"]),
    "radius": st.sampled_from(["paper", "even-dar"]),
    "threshold": st.sampled_from(get_args(Threshold)),
    "beta": likely,
    "leader": st.sampled_from(get_args(Leader)),
    "challenger": st.sampled_from(get_args(Challenger)),
    "stop": st.sampled_from(get_args(UniformStop)),
    "test": st.sampled_from(get_args(Test)),
    **dict.fromkeys(("fresh", "heuristic"), st.booleans()),
    "bounds": st.sampled_from(["gaussian", "bernstein"]),
    "zeta": likely,
    "anytime": st.booleans(),
    "c": likely,
    **dict.fromkeys(("exponent", "factor"), likely),
    "prior": st.just("jeffreys"),
    "family": st.none(),
}
BANDITS = [
    robai.Gaussian([1e15, 1e15 - 0.5], sigma=1e-100),
    robai.Gaussian([0.5, -1e15, 0.0], sigma=1e100),
    robai.Bernoulli([1 - 2**-53, 5e-324, 0.5]),
    robai.Binomial([1e6, 0.5], n=10**6),
    robai.Poisson([1e15, 0.0, 1e-300]),
    robai.Exponential([1e15, 1e-300]),
    robai.Gamma([1.0, 1e-9], shape=0.01),
    robai.Gamma([1e15, 1.0], shape=1e9),
    robai.NegativeBinomial([1e15, 0.5], r=0.001),
    robai.NegativeBinomial([1e15, 1e-9], r=1e15),
]


@pytest.mark.parametrize("kind", policies.POLICIES.values(), ids=lambda kind: kind.__name__)
def test_policies_with_parameters_of_any_size(kind):
    played = 0

    @settings(max_examples=150)
    @given(
        st.fixed_dictionaries(
            {}, optional={each.name: PARAMETERS[each.name] for each in dataclasses.fields(kind)}
        ),
        st.sampled_from(BANDITS),
        st.sampled_from([5, 64]),
    )
    def check(parameters, bandit, horizon):
        nonlocal played
        if "sigma" in kind.__dataclass_fields__:  # not all of these rewards are sub-Gaussian
            parameters = {"sigma": 1.0} | parameters
        told = {"gap", "kl"} & {*kind.__dataclass_fields__}
        parameters = dict.fromkeys(told, 0.5) | parameters
        policy = call(kind, parameters)
        if policy is None or getattr(policy, "threshold", "practical") != "practical":
            return
        bandit = fitting(policy, bandit)
        # The longest game must start; a short one is played by both engines.
        policy.start(rules.Game.of(bandit.n_arms, 10**18, bandit))
        for engine in ("step", "auto"):
            pulls = robai.simulate(policy, bandit, horizon, 2, rng=0, times=1, engine=engine, workers=1).pulls
            assert (pulls.sum(axis=1) == horizon).all()
        played += 1

    check()
    assert played >= 20  # all there is without parameters


@pytest.mark.parametrize(
    "policy", [robai.EOCP(gap=1e-160, sigma=1.0), robai.EOCP(gap=0.5, sigma=1e100)], ids=repr
)
def test_a_commitment_beyond_the_horizon_is_never_reached(policy):
    result = robai.simulate(policy, robai.Gaussian([0.7, 0.2]), 10**4, 5, rng=0)
    assert (result.commit_time == -1).all()
