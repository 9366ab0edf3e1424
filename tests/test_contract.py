"""What simulate() and compare() refuse, and how: before any work, naming the argument and its value."""

import dataclasses
import itertools
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import BANDITS, POLICIES, fitting

import robai

VALID = {
    "policy": robai.EOCPUG(),
    "bandit": robai.Gaussian([0.7, 0.2]),
    "horizon": 50,
    "runs": 2,
    "rng": 0,
    "times": 5,
    "engine": "step",
    "workers": 1,
}
NAN = float("nan")
HUGE = 10**400  # beyond every float


def run(**changes):
    return robai.simulate(**VALID | changes)


@pytest.fixture
def no_work(monkeypatch):
    """Nothing may be played while a test with this fixture runs."""

    def plays(*arguments):
        raise AssertionError("work started before the arguments were checked")

    monkeypatch.setattr(robai._play.batches, "play", plays)


# ---- wrong arguments, one by one


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("horizon", 0, ValueError),
        ("horizon", 1, ValueError),
        ("horizon", -5, ValueError),
        ("horizon", 10**18 + 1, ValueError),
        ("horizon", 1e19, ValueError),
        ("horizon", HUGE, ValueError),
        ("horizon", Fraction(HUGE), ValueError),
        ("horizon", 1.5, ValueError),
        ("horizon", NAN, ValueError),
        ("horizon", float("inf"), ValueError),
        ("horizon", "100", TypeError),
        ("horizon", b"100", TypeError),
        ("horizon", bytearray(b"100"), TypeError),
        ("horizon", True, TypeError),
        ("horizon", np.True_, TypeError),
        ("horizon", None, TypeError),
        ("horizon", [100], TypeError),
        ("horizon", np.array([100]), TypeError),
        ("horizon", 1j, TypeError),
        ("runs", 0, ValueError),
        ("runs", -1, ValueError),
        ("runs", 2.5, ValueError),
        ("runs", NAN, ValueError),
        ("runs", "2", TypeError),
        ("runs", True, TypeError),
        ("runs", np.True_, TypeError),
        ("runs", None, TypeError),
        ("times", 0, ValueError),
        ("times", -3, ValueError),
        ("times", 2.5, ValueError),
        ("times", [0, 10], ValueError),
        ("times", [10, 51], ValueError),
        ("times", [10, 10], ValueError),
        ("times", [10, 5], ValueError),
        ("times", [1, 2.5], ValueError),
        ("times", [1, NAN], ValueError),
        ("times", ["1", "2"], TypeError),
        ("times", [[1, 2]], TypeError),
        ("times", [[1], [2, 3]], TypeError),
        ("times", [True], TypeError),
        ("times", "10", TypeError),
        ("times", None, TypeError),
        ("engine", "fast", ValueError),
        ("engine", "STEP", ValueError),
        ("engine", None, ValueError),
        ("engine", 3, ValueError),
        ("engine", np.array(["step", "step"]), ValueError),
        ("workers", 0, ValueError),
        ("workers", -2, ValueError),
        ("workers", 1.5, ValueError),
        ("workers", "2", TypeError),
        ("workers", True, TypeError),
        ("executor", 3, TypeError),
        ("executor", object(), TypeError),
        ("executor", "threads", TypeError),
        ("executor", ThreadPoolExecutor, TypeError),
        ("progress", 3, TypeError),
        ("progress", "yes", TypeError),
        ("progress", None, TypeError),
        ("checkpoint", 3, TypeError),
        ("checkpoint", ["a"], TypeError),
        ("rng", -1, ValueError),
        ("rng", 1.5, ValueError),
        ("rng", "7", TypeError),
        ("rng", True, TypeError),
        ("rng", [1, 2], TypeError),
        ("rng", np.random, TypeError),
        ("policy", robai.EOCPUG, TypeError),
        ("policy", "eocp", TypeError),
        ("policy", None, TypeError),
        ("policy", robai.rules.Never(), TypeError),
        ("policy", [robai.EOCPUG()], TypeError),
        ("bandit", [0.7, 0.2], TypeError),
        ("bandit", robai.Gaussian, TypeError),
        ("bandit", "gaussian", TypeError),
        ("bandit", robai.families.Gaussian(1.0), TypeError),
        ("bandit", None, TypeError),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_wrong_argument_is_named_with_its_value(name, value, error):
    with pytest.raises(error) as caught:
        run(**{name: value})
    message = str(caught.value)
    assert message.startswith(f"{name} must ")
    shown = value if isinstance(value, list) and len(value) == 1 else [value]
    shown = [*shown, *(value if isinstance(value, list) else [])]  # the list, or the entry that is wrong
    assert any(repr(each) in message for each in shown)


@pytest.mark.usefixtures("no_work")
def test_no_times_are_an_error():
    for empty in ([], (), np.array([], dtype=int), range(0)):
        with pytest.raises(ValueError, match="times must hold at least one round, got none"):
            run(times=empty)


@pytest.mark.usefixtures("no_work")
def test_a_horizon_shorter_than_the_number_of_arms_says_how_many_there_are():
    with pytest.raises(ValueError, match="horizon must be at least the number of arms, 5, got 4"):
        run(bandit=robai.Gaussian([1, 2, 3, 4, 5]), horizon=4)


@pytest.mark.usefixtures("no_work")
def test_a_class_instead_of_a_policy_is_told_to_be_called():
    with pytest.raises(TypeError, match=r"policy must be a policy.*call it to make one"):
        run(policy=robai.UCB)


@pytest.mark.usefixtures("no_work")
def test_the_nearest_engine_is_offered():
    with pytest.raises(ValueError, match="did you mean step"):
        run(engine="stepp")


@pytest.mark.parametrize(
    "wrong", [{"progress": 3}, {"workers": 0}, {"executor": 3}, {"engine": "x"}, {"runs": 0}], ids=repr
)
def test_a_wrong_argument_leaves_no_checkpoint_behind(tmp_path, wrong):
    with pytest.raises((TypeError, ValueError)):
        run(checkpoint=tmp_path / "made", **wrong)
    assert not (tmp_path / "made").exists()


def test_several_best_arms_are_a_warning_at_the_call():
    with pytest.warns(UserWarning, match="arms 0, 2 are all best") as caught:
        result = run(bandit=robai.Gaussian([0.5, 0.1, 0.5]), horizon=500, runs=20)
    assert [warning.filename for warning in caught] == [__file__]
    assert result.best_arm is None
    assert (result.final_regret == 0.4 * result.pulls[:, 1]).all()
    with pytest.raises(ValueError, match="undefined"):
        result.wrong_commit()


# ---- compare


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("policies", "error", "message"),
    [
        ([], ValueError, "policies must hold at least one policy, got none"),
        ({}, ValueError, "policies must hold at least one policy, got none"),
        ([robai.UCB(), robai.UCB()], ValueError, r"policies holds UCB\(\) twice"),
        (robai.UCB(), TypeError, r"policies must be a sequence of policies, got UCB\("),
        (3, TypeError, "policies must be .*got 3"),
        (None, TypeError, "policies must be .*got None"),
        ([robai.UCB], TypeError, "policy must be a policy, got <class.*UCB'>; call it"),
        ("ucb", TypeError, "policies must be a sequence of policies, got 'ucb'"),
        ({"a": 3}, TypeError, "must be a policy.*got 3"),
        ({"a": robai.UCB(), 2: robai.EOCPUG()}, (TypeError, ValueError), "label.*got 2"),
        ({"a": robai.UCB(), "": robai.EOCPUG()}, ValueError, "label.*got ''"),
        ([robai.UCB(), robai.KLUCB(family="bernoulli")], ValueError, r"rewards in \[0, 1\]"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_wrong_policies_are_named_before_any_is_played(policies, error, message):
    with pytest.raises(error, match=message):
        robai.compare(policies, VALID["bandit"], 50, 2, rng=0)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"horizon": 1}, ValueError),
        ({"runs": 0}, ValueError),
        ({"rng": "x"}, TypeError),
        ({"times": []}, ValueError),
        ({"engine": "x"}, ValueError),
        ({"workers": 0}, ValueError),
        ({"checkpoint": 3}, TypeError),
        ({"tmies": 3}, TypeError),
    ],
    ids=repr,
)
def test_compare_checks_as_simulate_does(options, error):
    with pytest.raises(error, match=next(iter(options))):
        robai.compare([robai.UCB()], **{"bandit": VALID["bandit"], "horizon": 50, "runs": 2} | options)


def test_compare_warns_of_several_best_arms_once():
    with pytest.warns(UserWarning, match="all best") as caught:
        robai.compare([robai.UCB(), robai.EOCPUG()], robai.Gaussian([1, 1]), 50, 2)
    assert [warning.filename for warning in caught] == [__file__]


# ---- any arguments

DATA = robai.Empirical([[0, 1, 1], [0.5, 0.25]])
PAIRS = [(policy, fitting(policy, bandit)) for policy, bandit in itertools.product(POLICIES, BANDITS)]
PAIRS += [  # data has no family of its own
    (dataclasses.replace(policy, family="bernoulli") if hasattr(policy, "family") else policy, DATA)
    for policy in POLICIES
]


@given(
    pair=st.sampled_from(PAIRS),
    extra=st.integers(0, 200),
    runs=st.integers(1, 5),
    rng=st.integers(0, 2**128 - 1),
    times=st.integers(1, 300) | st.sets(st.integers(1, 3), min_size=1).map(sorted),
    workers=st.integers(1, 3),
    curves=st.booleans(),
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_valid_arguments_give_a_sound_result(pair, extra, runs, rng, times, workers, curves):
    policy, bandit = pair
    horizon = 3 + extra % (60 if isinstance(policy, robai.TrackAndStop) else 201)
    result = robai.simulate(
        policy, bandit, horizon, runs, rng=rng, times=times, workers=workers, curves=curves
    )
    assert (result.pulls.sum(axis=1) == horizon).all()
    assert (result.pulls >= 0).all()
    assert np.isfinite(result.final_regret).all()
    assert np.isfinite(result.regret).all()
    assert result.final_regret == pytest.approx(result.pulls @ result.gaps, rel=1e-12, abs=1e-12)
    assert ((result.commit_time >= 1) | (result.commit_time == -1)).all()
    assert (result.pulls[result.committed, result.committed_arm[result.committed]] >= 1).all()
    assert result.times[-1] == horizon


numbers = st.integers() | st.floats() | st.booleans() | st.fractions() | st.decimals() | st.complex_numbers()
garbage = st.recursive(
    st.none()
    | numbers
    | st.text(max_size=5)
    | st.binary(max_size=5)
    | st.sampled_from(
        [HUGE, Fraction(HUGE), np.float64(NAN), np.True_, np.int8(3), np.datetime64("2024"), object, len]
    )
    | st.integers(0, 3).map(np.zeros),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


def refused(name, function, **arguments):
    """None if the call is refused with an error that names the argument, else what it returns."""
    try:
        return function(**arguments)
    except (TypeError, ValueError) as error:
        refusal = error
    assert name in str(refusal)
    return None


def above_a_thousand(value):
    try:
        return bool(value > 1000)
    except Exception:
        return False


@pytest.mark.parametrize("name", ["policy", "bandit", "horizon", "runs", "rng", "times", "engine", "workers"])
@given(value=garbage.filter(lambda value: not above_a_thousand(value)))  # valid, but long
@settings(max_examples=150, deadline=None, derandomize=True)
def test_garbage_is_a_type_error_or_a_value_error(name, value):
    result = refused(name, run, **{name: value})
    assert result is None or (result.pulls.sum(axis=1) == result.horizon).all()


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (robai.EOCP, ["gap", "inflation", "sigma"]),
        (robai.KLEOCP, ["kl", "family"]),
        (robai.KLEOCPUG, ["guard"]),
        (robai.KLUCB, ["level", "family"]),
        (robai.UCBAlpha, ["alpha", "delta"]),
        (robai.TrackAndStop, ["delta", "tracking"]),
        (robai.Policy, ["explore", "stop", "commit"]),
    ],
)
@given(data=st.data())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_garbage_for_a_policy_is_a_type_error_or_a_value_error(kind, names, data):
    valid = {"gap": 1.0, "kl": 1.0, "explore": robai.UCB()}
    arguments = {key: value for key, value in valid.items() if key in kind.__dataclass_fields__}
    name = data.draw(st.sampled_from(names))
    refused(name, kind, **arguments | {name: data.draw(garbage)})


@pytest.mark.parametrize("kind", [*robai.bandits.BANDITS.values(), robai.Empirical], ids=lambda k: k.__name__)
@given(data=st.data())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_garbage_for_a_bandit_is_a_type_error_or_a_value_error(kind, data):
    names = list(kind.__dataclass_fields__)
    valid = {"means": [0.25, 0.5], "samples_per_arm": [[1.0], [2.0]], "n": 5, "shape": 1.5, "r": 1.5}
    name = data.draw(st.sampled_from(names))
    value = data.draw(garbage | st.lists(garbage, min_size=2, max_size=3))
    bandit = refused(name, kind, **{key: valid[key] for key in names if key in valid} | {name: value})
    assert bandit is None or (np.isfinite(bandit.means).all() and bandit.n_arms >= 2)
