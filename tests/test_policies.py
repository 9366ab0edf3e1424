"""Contract tests over every registered policy, and the rules they are made of."""

import dataclasses
import pickle
import re

import numpy as np
import pytest
from support import reference
from support.examples import POLICIES, arms_played, fitting, played_by_steps

import robai
from robai import families, rules


def assert_plays_the_reference(policy, bandit, horizon, runs, seed=0):
    result = played_by_steps(policy, bandit, horizon, runs, seed)
    for run in range(runs):
        arms, commit_time, committed_arm = reference.play(policy, bandit, horizon, seed, run)
        assert arms_played(result, run) == arms, f"run {run}"
        assert result.commit_time[run] == commit_time
        assert result.committed_arm[run] == committed_arm


def test_the_compiled_policy_plays_the_arms_of_the_reference(policy, bandit):
    slow = isinstance(policy, robai.TrackAndStop | robai.BayesUCB)  # their references are
    horizon = 60 if slow else 300
    assert_plays_the_reference(policy, fitting(policy, bandit), horizon, runs=2)


@pytest.mark.parametrize(
    "policy", [robai.UCB(), robai.KLUCB(), robai.IMED(), robai.EOCPUG(), robai.KLEOCPUG()], ids=repr
)
def test_many_arms_and_ties(policy):
    bandit = robai.Bernoulli(np.linspace(0.05, 0.95, 19))
    assert_plays_the_reference(policy, bandit, 300, runs=3)


@pytest.mark.parametrize(
    "policy",
    [
        robai.UCB(),
        robai.UCB("ratio"),
        robai.UCB("round"),
        robai.KLUCB(),
        robai.KLUCB("round"),
        robai.KLUCB("++"),
        robai.IMED(),
    ],
    ids=repr,
)
def test_long_streaks(policy):
    assert_plays_the_reference(policy, robai.Bernoulli([0.9, 0.4]), 3000, runs=1)


@pytest.mark.parametrize("horizon", [3, 4, 7])
def test_a_horizon_of_hardly_more_than_the_arms(policy, bandit, horizon):
    assert_plays_the_reference(policy, fitting(policy, bandit), horizon, runs=8)


def test_a_policy_is_a_value(policy):
    same = type(policy)(**{each.name: getattr(policy, each.name) for each in dataclasses.fields(policy)})
    assert policy == same
    assert hash(policy) == hash(same)
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert eval(repr(policy), {**vars(robai), **vars(robai.families)}) == policy
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.sigma = 2.0


def test_policies_are_documented(policy):
    text = type(policy).__doc__
    assert len(text.split("\n\n")) >= 2
    explore, stop, commit = policy.parts()
    assert isinstance(explore, rules.Exploration)
    assert isinstance(stop, rules.Stopping)
    assert isinstance(commit, rules.Commitment)


def test_permuting_the_arms_permutes_the_pulls():
    # With continuous rewards there are no ties; the law does not depend on the order of the arms.
    forwards = robai.simulate(robai.UCB(), robai.Gaussian([0.9, 0.4, 0.0]), 2000, 2000, rng=1)
    backwards = robai.simulate(robai.UCB(), robai.Gaussian([0.0, 0.4, 0.9]), 2000, 2000, rng=2)
    a, b = forwards.pulls, backwards.pulls[:, ::-1]
    error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 5 * error).all()


# ---- arguments


def _bad(kind, **arguments):
    return pytest.param(kind, arguments, id=f"{kind.__name__}-{arguments}")


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        _bad(robai.EOCP, gap=0),
        _bad(robai.EOCP, gap=-1.0),
        _bad(robai.EOCP, gap=float("nan")),
        _bad(robai.EOCP, gap="a"),
        _bad(robai.EOCP, inflation=-1.0, gap=1.0),
        _bad(robai.EOCP, sigma=0.0, gap=1.0),
        _bad(robai.EOCPUG, sigma=float("inf")),
        _bad(robai.KLEOCP, kl=0.0),
        _bad(robai.KLEOCPUG, guard=-0.1),
        _bad(robai.KLEOCPUG, family="normal"),
        _bad(robai.UCB, level="++"),
        _bad(robai.UCB, level="hoziron"),
        _bad(robai.KLUCB, level=3),
        _bad(robai.KLUCB, family=3),
        _bad(robai.KLUCB, level="moss"),
        _bad(robai.MOSS, anytime=1),
        _bad(robai.MOSS, alpha=-0.1),
        _bad(robai.BayesUCB, c=-1.0),
        _bad(robai.ThompsonSampling, prior="flat"),
        _bad(robai.ETC, gap=0.0),
        _bad(robai.SPRTETC, gap=-1.0),
        _bad(robai.UCBAlpha, alpha=1.0),
        _bad(robai.UCBAlpha, delta=1.0),
        _bad(robai.TrackAndStop, tracking="E"),
        _bad(robai.TrackAndStop, delta=0.0),
        _bad(robai.ActionElimination, radius="other"),
        _bad(rules.FixedRound, round=0),
        _bad(rules.LikelihoodRatio, share=0.0),
        _bad(rules.Both, first=rules.Never(), second=3),
        _bad(robai.Policy, explore=rules.Never()),
        _bad(robai.Policy, explore=robai.UCB(), stop=rules.LargestMean()),
        _bad(robai.Policy, explore=robai.UCB(), commit=rules.Recommended()),
        _bad(robai.Policy, explore=rules.Elimination(), stop=rules.FixedRound(2), commit=rules.Recommended()),
    ],
)
def test_a_bad_parameter_is_named(kind, arguments):
    with pytest.raises((ValueError, TypeError)) as caught:
        kind(**arguments)
    assert any(name in str(caught.value) for name in arguments)


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        _bad(rules.LikelihoodRatio, share=0.5, delta=0.1),
        _bad(rules.LikelihoodRatio, share=0.5, threshold="proved"),
        _bad(rules.Separation, share=0.5, delta=0.1),
        _bad(robai.EOCPUG, bounds="bernstein", sigma=1.0),
        _bad(rules.UpperBound, level="ratio", inflation=1.0),
        _bad(rules.KLUpperBound, level="++", inflation=1.0),
        _bad(rules.BernsteinBound, level="round", inflation=1.0),
        _bad(families.Gaussian, sigma=1.0, variance="own"),
    ],
)
def test_parameters_that_exclude_each_other_are_refused(kind, arguments):
    one, other = arguments
    with pytest.raises(ValueError, match=f"{kind.__name__} takes {one} or {other}, got {one}=.* {other}="):
        kind(**arguments)
    for name in arguments:
        kind(**{name: arguments[name]})


@pytest.mark.parametrize("level", ["horizon", "ratio", "++"])
def test_zeta_is_for_one_level(level):
    rules.BernsteinBound("round", zeta=2.0)
    with pytest.raises(ValueError, match=f"zeta must be 1 .* got 2.0 with '{re.escape(level)}'"):
        rules.BernsteinBound(level, zeta=2.0)


def test_the_nearest_name_is_offered():
    with pytest.raises(ValueError, match="did you mean horizon"):
        robai.UCB(level="hoziron")


@pytest.mark.parametrize(
    "policy", [robai.BAIETC(), robai.DETC(), robai.ETC(1.0), robai.SPRTETC(1.0)], ids=repr
)
def test_two_armed_policies_say_so(policy):
    with pytest.raises(ValueError, match="two arms only, got 3"):
        robai.simulate(policy, robai.Gaussian([1, 2, 3]), 100, 1)


def test_a_family_must_fit_the_rewards():
    with pytest.raises(ValueError, match=r"rewards in \[0, 1\]"):
        robai.simulate(robai.KLUCB(family="bernoulli"), robai.Gaussian([0.1, 0.2]), 100, 1)


def test_data_has_no_family():
    data = robai.Empirical([[0, 1, 1], [0.0, 0.5]])
    with pytest.raises(ValueError, match="pass family="):
        robai.simulate(robai.KLUCB(), data, 100, 1)
    result = robai.simulate(robai.KLUCB(family="bernoulli"), data, 500, 20, rng=0)
    assert result.pulls[:, 0].mean() > result.pulls[:, 1].mean()


# ---- combinations


def test_a_policy_made_of_the_parts_of_another_is_the_same():
    eocp = robai.EOCP(gap=0.5)
    bandit = robai.Gaussian([0.7, 0.2])
    made = robai.Policy(explore=eocp, stop=eocp, commit=eocp)
    assert made == robai.Policy(*eocp.parts())
    alone = robai.simulate(eocp, bandit, 5000, 50, rng=3)
    assert (robai.simulate(made, bandit, 5000, 50, rng=3).final_regret == alone.final_regret).all()


def test_stopping_rules_combine():
    bandit = robai.Gaussian([1.0, 0.0])

    def commit_times(stop):
        policy = robai.Policy(explore=robai.UCB(), stop=stop, commit=rules.LargestMean())
        return robai.simulate(policy, bandit, 5000, 300, rng=5, engine="step").commit_time

    adaptive, fixed = commit_times(rules.Imbalance()), commit_times(rules.FixedRound(150))
    assert (adaptive > 0).all()
    assert (fixed == 150).all()
    assert 0 < (adaptive < 150).sum() < 300
    assert (commit_times(rules.Imbalance() | rules.FixedRound(150)) == np.minimum(adaptive, 150)).all()
    # Both at once: from round 150 on, the first at which the imbalance holds. It holds from the
    # round it first fires until an arm but the first is pulled, so it can be later than either.
    both = commit_times(rules.Imbalance() & rules.FixedRound(150))
    assert (both[adaptive >= 150] == adaptive[adaptive >= 150]).all()
    assert (both[adaptive < 150] >= 150).all()


def test_posterior_sampling_with_a_stopping_rule_pulls_every_arm_first():
    policy = robai.Policy(explore=robai.ThompsonSampling(), stop=robai.TrackAndStop(delta=0.05))
    result = robai.simulate(policy, robai.Bernoulli([0.9, 0.1]), 2000, 200, rng=0)
    assert result.pulls.min() >= 1
    assert (result.commit_time > 0).mean() > 0.9
    assert result.wrong_commit().high < 0.05


def test_separation_does_not_fire_before_every_arm_has_two_pulls():
    # Its width is not defined for one pull.
    policy = robai.Policy(explore=robai.UCB(), stop=robai.UCBAlpha())
    result = robai.simulate(policy, robai.Gaussian([1.0, 0.0]), 5000, 300, rng=0)
    assert result.pulls.min() >= 2
    assert result.wrong_commit().count == 0


def test_every_policy_has_a_reference():
    assert set(reference.POLICIES) == {type(policy) for policy in POLICIES}
