"""How long policies take to find the best arm, and how often they are wrong: what `identify` plays."""

import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robai
from robai import rules
from robai._play.checkpoint import BATCH

EASY = robai.Bernoulli([0.8, 0.3, 0.2])
NORMAL = robai.Gaussian([0.7, 0.2])
STOPPING = robai.Policy(robai.UCB(), stop=rules.LikelihoodRatio())


def identify(policy=None, bandit=EASY, runs=60, rng=5, **asked):
    return robai.identify(policy or robai.TrackAndStop(), bandit, runs=runs, rng=rng, **asked)


# ---- the same runs as simulate


@pytest.mark.parametrize("engine", ["step", "leap"])
@pytest.mark.parametrize(
    ("policy", "bandit", "asked"),
    [
        (robai.TrackAndStop(delta=0.1), EASY, {"delta": 0.1, "horizon": 60}),
        (robai.UCBAlpha(delta=0.1), NORMAL, {"delta": 0.1, "horizon": 300}),
        (robai.ActionElimination(delta=0.1), EASY, {"delta": 0.1, "horizon": 40}),
        (robai.EOCPUG(), NORMAL, {"horizon": 300}),
        (robai.KLEOCPUG(), EASY, {"horizon": 100}),
        (robai.EOCP(gap=0.5), NORMAL, {"horizon": 10**5}),
        (robai.BAIETC(), NORMAL, {"horizon": 30}),
    ],
)
def test_runs_are_those_of_simulate_up_to_the_stop(policy, bandit, asked, engine):
    try:
        played = robai.simulate(policy, bandit, asked["horizon"], 200, rng=7, engine=engine)
    except ValueError:
        pytest.skip("it does not leap")
    found = robai.identify(policy, bandit, **asked, runs=200, rng=7, engine=engine)
    early = played.committed & (played.commit_time < asked["horizon"])
    assert early.any()
    assert np.array_equal(found.stopping_time[early], played.commit_time[early])
    assert np.array_equal(found.recommended_arm, played.committed_arm)
    assert (found.stopping_time[~played.committed] == asked["horizon"]).all()
    assert found.unfinished == (~played.committed).sum()
    left = played.pulls - found.pulls  # all of it of the arm committed to
    assert (left.sum(axis=1) == asked["horizon"] - found.stopping_time).all()
    assert (left[np.arange(200), played.committed_arm] == left.sum(axis=1)).all()


def test_delta_goes_into_every_rule_that_has_none():
    told = identify(delta=0.1)
    assert (
        told.stopping_time.tolist()
        == identify(robai.TrackAndStop(delta=0.1), delta=0.1).stopping_time.tolist()
    )
    assert told.meta["policy"]["delta"] == 0.1
    assert told.label == "TrackAndStop()"
    nested = robai.Policy(
        robai.UCBAlpha(), rules.LikelihoodRatio() & (rules.Separation() | rules.FixedRound(9))
    )
    policy = identify(nested, delta=0.05).meta["policy"]
    assert policy["explore"]["delta"] == 0.05
    assert policy["stop"]["first"]["delta"] == 0.05
    assert policy["stop"]["second"]["first"]["delta"] == 0.05
    with pytest.raises(ValueError, match=r"TrackAndStop\(delta=0.2\) has delta=0.2 already, got delta=0.1"):
        identify(robai.TrackAndStop(delta=0.2), delta=0.1)
    deep = robai.Policy(robai.UCB(), rules.Imbalance() & rules.LikelihoodRatio(delta=0.2))
    with pytest.raises(ValueError, match=r"has delta=0.2 already, got delta=0.1"):
        identify(deep, delta=0.1)


@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        (robai.LeadCommit(level="pulls"), "LeadCommit"),
        (robai.Policy(robai.UCB(), rules.LikelihoodRatio(level="pulls")), "LikelihoodRatio"),
    ],
)
def test_what_excludes_delta_is_named(policy, rule):
    with pytest.raises(ValueError, match=rf"level='pulls'.*delta=0.1: take {rule} without level="):
        identify(policy, delta=0.1)


def test_a_policy_that_takes_no_delta_is_warned_of():
    with pytest.warns(robai.AssumptionWarning, match=r"EOCPUG\(\) takes no delta") as caught:
        robai.identify(robai.EOCPUG(), NORMAL, delta=0.1, horizon=10**6, runs=5, rng=0)
    assert caught[0].filename == __file__
    with pytest.warns(robai.AssumptionWarning, match=r"KLEOCPUG\(\) takes no delta"):
        identify(robai.KLEOCPUG(), delta=0.1)  # its likelihood ratio has a share instead
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        identify(STOPPING, delta=0.1)


@pytest.mark.parametrize(
    "policy", [robai.UCB(), robai.Policy(robai.UCB(), rules.Never() & rules.Imbalance())]
)
def test_a_policy_that_never_stops_is_refused(policy):
    with pytest.raises(ValueError, match=r"never stops: give it stop=rules.LikelihoodRatio\(delta=0.1\)"):
        identify(policy, delta=0.1)
    with pytest.raises(ValueError, match="never stops: give it a stop= that does, or ask for a budget="):
        identify(policy, horizon=100)


@pytest.mark.parametrize("asked", [{"delta": 0.1}, {"delta": 0.1, "horizon": 50}, {"horizon": 1e100}])
@pytest.mark.parametrize(
    "policy",
    [
        robai.Uniform(stop="budget"),
        robai.SequentialHalving(),
        robai.SuccessiveRejects(),
        robai.Policy(robai.UCB(), rules.Imbalance() & (rules.MeanGap() | rules.Budget())),
    ],
    ids=lambda policy: policy.label(),
)
def test_a_policy_for_a_budget_is_asked_for_nothing_else(policy, asked):
    with pytest.raises(ValueError, match="explores for a budget: ask for budget="):
        identify(policy, robai.Bernoulli([0.9, 0.1]), runs=2, **asked)
    found = identify(policy, robai.Bernoulli([0.9, 0.1]), runs=2, budget=50)
    assert found.unfinished == 0


def test_a_budget_is_used_up_by_policies_that_do_not_stop():
    found = identify(robai.UCB(), budget=40)
    assert (found.stopping_time == 40).all()
    assert found.unfinished == 0
    played = robai.simulate(robai.UCB(), EASY, 40, 60, rng=5)
    assert np.array_equal(found.pulls, played.pulls)
    assert found.horizon == found.budget == 40
    assert found.meta["policy"]["stop"] == {"type": "Budget"}
    early = identify(robai.ActionElimination(sigma=0.3), budget=40)
    assert (early.stopping_time < 40).any()
    assert (early.stopping_time[~early.finished] == 40).all()


@pytest.mark.parametrize(
    "policy",
    [
        robai.TrackAndStop(delta=0.1),
        robai.KLLUCB(delta=0.1),
        robai.T3C(delta=0.1),
        robai.LeadCommit(),
        robai.KLEOCPUG(),
        robai.EOCP(gap=0.1),
    ],
    ids=lambda policy: policy.label(),
)
def test_who_has_not_stopped_by_the_budget_recommends_there(policy):
    played = robai.simulate(policy, EASY, 13, 200, rng=5, engine="step")
    found = identify(policy, budget=13, runs=200, engine="step")
    late = ~played.committed
    assert late.any()
    assert found.unfinished == 0
    assert (found.stopping_time[late] == 13).all()
    assert np.array_equal(found.pulls[late], played.pulls[late])
    assert np.array_equal(found.stopping_time[~late], played.commit_time[~late])
    assert np.array_equal(found.recommended_arm[~late], played.committed_arm[~late])
    if policy.parts().commit == rules.LargestMean():  # the best arm, more often than not
        assert (found.recommended_arm[late] == 0).mean() > 0.5


def test_what_does_not_fit_is_said_of_the_policy_that_was_asked_for():
    with pytest.raises(ValueError, match=r"UCB needs sigma-sub-Gaussian rewards.*use KLUCB\(\)"):
        identify(robai.UCB(), robai.Poisson([2, 1]), budget=100)
    with pytest.warns(robai.AssumptionWarning, match=r"^UCB\(sigma=0.1\) assumes sigma 0.1") as caught:
        robai.identify(robai.UCB(sigma=0.1), EASY, budget=10, runs=2, rng=0)
    assert caught[0].filename == __file__


def test_several_budgets_have_a_result_each():
    found = identify(robai.UCB(), budget=[20, 40])
    assert list(found) == [("UCB()", 20), ("UCB()", 40)]
    assert found["UCB()", 40] == identify(robai.UCB(), budget=40)
    both = identify([robai.UCB(), robai.KLUCB()], budget=[20])
    assert list(both) == ["UCB()", "KLUCB()"]
    named = identify({"a": robai.UCB(), "b": robai.UCB()}, budget=20)
    assert np.array_equal(named["a"].pulls, named["b"].pulls)


# ---- a policy of one's own


class Halves:
    """Both arms in turn, then the better one."""

    def __init__(self, rounds):
        self.rounds = rounds

    def select(self, state):
        if state.t == self.rounds:
            return robai.Commit(int(np.nan_to_num(state.means).argmax()))
        return state.t % state.n_arms

    def update(self, arm, reward):
        pass


def test_policies_written_in_python_stop_by_a_commit_or_at_the_budget():
    found = identify(Halves(20), NORMAL, delta=0.1, horizon=100, runs=20)
    assert (found.stopping_time == 20).all()
    assert (found.pulls == 10).all()
    assert (identify(Halves(20), NORMAL, budget=15, runs=5).stopping_time == 15).all()
    unfinished = identify(Halves(200), NORMAL, horizon=100, runs=5)
    assert unfinished.unfinished == 5
    at_once = identify(Halves(0), NORMAL, horizon=1e100, runs=5)
    assert (at_once.stopping_time == 0).all()
    assert np.isfinite(at_once.proportions().shares).all()


# ---- own horizon, up to 1e100


@pytest.mark.parametrize(
    "policy", [robai.EOCP(gap=0.5), robai.BAIETC(), robai.DETC(), robai.UCBAlpha(), robai.ActionElimination()]
)
def test_a_horizon_of_1e100_is_an_ordinary_call(policy):
    found = identify(policy, NORMAL, horizon=1e100, runs=5)
    assert found.unfinished == 0
    assert found.horizon == 1e100
    assert found.error().count == 0


def test_rules_know_the_horizon_that_they_were_told():
    known = identify(robai.EOCP(gap=0.5), NORMAL, horizon=1e100, runs=1)
    assert known.stopping_time[0] == int(robai.theory.commit_round_eocp(2, 0.5, 1e100))
    # where rules took the rounds of the engine for T, these would be at most those of 2^62
    for policy in (robai.BAIETC(), robai.DETC(), robai.DETCK()):
        near, far = (identify(policy, NORMAL, horizon=T, runs=20).time().mean for T in (10**18, 1e100))
        assert far > 2 * near


def test_an_unknown_gap_takes_the_time_of_the_fluid_limit():
    found = identify(robai.EOCPUG(), NORMAL, horizon=1e100, runs=400, rng=0)
    assert found.meta["engine"] == "leap"
    mean, sem = found.time()[:2]
    assert abs(mean - 424_062) < 5 * sem


def test_lead_commit_at_1e100_takes_the_time_that_an_independent_program_measured():
    mean, sem = identify(robai.LeadCommit(), NORMAL, horizon=1e100, runs=60, rng=0).time()[:2]
    assert abs(mean - 57_030) < 5 * np.hypot(sem, 191)


def test_a_run_is_given_up_after_as_many_rounds_as_there_are():
    never = robai.Policy(robai.UCB(), rules.Stop(_never(), name="never") & rules.FixedRound(2**62))
    found = identify(never, NORMAL, horizon=1e100, runs=2)
    assert found.unfinished == 2
    assert (found.stopping_time == 2**62).all()
    assert (found.pulls.sum(axis=1) == 2**62).all()
    late = identify(robai.EOCP(gap=1e-12), NORMAL, horizon=1e100, runs=2)
    assert late.unfinished == 2  # its T_c is beyond


def _never():
    return rules.Stop.ctypes_signature(lambda *_: 0)


@pytest.mark.parametrize(
    "asked", [{"horizon": 1e101}, {"horizon": float("inf")}, {"delta": 0.1, "horizon": 1e19}]
)
def test_horizons_have_an_end(asked):
    with pytest.raises(ValueError, match="horizon must be"):
        identify(robai.TrackAndStop(), **asked)


# ---- which question


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "one of delta, budget and horizon must be given, got none"),
        ({"delta": 0.1, "budget": 9}, "delta and budget exclude each other, got delta=0.1 and budget=9"),
        ({"budget": 9, "horizon": 9}, "budget and horizon exclude each other.*got budget=9 and horizon=9"),
        ({"delta": 0.0}, "delta must be between 0 and 1, got 0.0"),
        ({"delta": 0.1, "horizon": 2}, "horizon must be at least the number of arms, 3, got 2"),
        ({"budget": 2}, "budget must be from 3 to"),
        ({"budget": [9, 9]}, r"budget must be one or several different numbers, got \[9, 9\]"),
        ({"budget": []}, r"budget must be one or several different numbers, got \[\]"),
        ({"horizon": 100.5}, "horizon must be a whole number, got 100.5"),
        ({"delta": 0.1, "runs": 0}, "runs must be from 1"),
        ({"delta": 0.1, "engine": "leap"}, "engine='leap' does not apply"),
    ],
)
def test_questions_that_make_no_sense(asked, message):
    with pytest.raises(ValueError, match=message):
        identify(**asked)


@pytest.mark.parametrize(
    "asked",
    [
        {"delta": "0.1"},
        {"budget": "9"},
        {"horizon": "9"},
        {"delta": 0.1, "policy": robai.UCB},
        {"delta": 0.1, "policy": 3},
        {"delta": 0.1, "bandit": [1, 2]},
    ],
)
def test_arguments_of_the_wrong_type(asked):
    with pytest.raises(TypeError, match=r"must be"):
        identify(**asked)


numbers = st.one_of(
    st.none(),
    st.integers(-1, 200),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([1e100, 0.1]),
)


@settings(deadline=None, max_examples=120)
@given(
    delta=numbers,
    budget=st.one_of(numbers, st.lists(st.integers(0, 60), max_size=3)),
    horizon=st.one_of(st.none(), st.integers(-1, 200), st.sampled_from([1e100, float("nan"), 2.5])),
    policy=st.sampled_from([robai.TrackAndStop(), robai.UCB(), STOPPING, robai.EOCPUG(), robai.BAIETC()]),
    bandit=st.sampled_from([EASY, NORMAL, robai.Bernoulli([0.5, 0.5]), robai.Bernoulli([1.0, 0.0])]),
    runs=st.integers(1, 3),
)
def test_whatever_is_asked_is_answered_or_refused_by_name(delta, budget, horizon, policy, bandit, runs):
    if delta is not None and horizon is None:
        horizon = 500  # equal arms take all of 10^9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", robai.AssumptionWarning)
        found, message = None, "delta"
        try:
            found = identify(policy, bandit, runs, 0, delta=delta, budget=budget, horizon=horizon)
        except (ValueError, TypeError) as error:
            message = str(error)
    names = ("delta", "budget", "horizon", "two arms", "never stops")
    assert any(name in message for name in names)
    if found is None:
        return
    for each in found.values() if isinstance(found, robai.Identifications) else [found]:
        assert "nan" not in each.summary().lower()
        assert np.isfinite(each.time().mean)
        assert np.isfinite(each.proportions().shares).all()
        assert 0 <= each.failure().low <= each.failure().rate <= each.failure().high <= 1


# ---- how it is run


def test_prefixes_workers_and_executors_make_no_difference():
    found = identify(delta=0.1, runs=150)
    assert np.array_equal(identify(delta=0.1, runs=70).stopping_time, found.stopping_time[:70])
    assert identify(delta=0.1, runs=150, workers=3) == found
    with ThreadPoolExecutor(2) as pool:
        assert identify(delta=0.1, runs=150, executor=pool) == found
    with ProcessPoolExecutor(2) as pool:
        assert identify(delta=0.1, runs=150, executor=pool) == found


def test_an_interrupted_identification_goes_on_from_its_checkpoint(tmp_path):
    asked = {"policy": [robai.TrackAndStop(), STOPPING], "delta": 0.1, "runs": 4 * BATCH}
    done = []

    def interrupt(count, total):
        done.append(count)
        if count >= 2 * BATCH:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        identify(**asked, checkpoint=tmp_path, progress=interrupt)
    kept = len(list(tmp_path.rglob("runs-*.npz")))
    assert 2 <= kept <= 4
    assert dict(identify(**asked, checkpoint=tmp_path)) == dict(identify(**asked))
    with pytest.raises(ValueError, match="is of another simulation: its policy"):
        identify(**asked | {"delta": 0.2}, checkpoint=tmp_path)
    far = {"policy": robai.EOCPUG(), "bandit": NORMAL, "horizon": 1e100, "runs": 2 * BATCH}
    first = identify(**far, checkpoint=tmp_path / "far")
    assert identify(**far, checkpoint=tmp_path / "far") == first == identify(**far)


def test_progress_is_told_of_every_policy():
    seen = []
    identify([robai.TrackAndStop(), STOPPING], delta=0.1, progress=lambda *each: seen.append(each))
    assert seen.count((60, 60)) == 2


def test_every_run_may_have_means_of_its_own():
    bandit = robai.Instances("bernoulli", robai.priors.Uniform(0, 1), 3)
    found = identify(robai.TrackAndStop(), bandit, delta=0.1, horizon=20_000, runs=100)
    gaps = np.take_along_axis(found.gaps, np.maximum(found.recommended_arm, 0)[:, None], 1)[:, 0]
    assert found.error().count == ((gaps > 0) & found.finished).sum()
    assert found.complexity is None
    assert found.proportions().shares[0] > found.proportions().shares[2]
    assert "rank 1" in found.summary()
