"""Policies that identify the best arm: how long they take, how often they err, what they refuse."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

import robai
from robai import families, rules
from robai._base.intervals import clopper_pearson
from robai._core import probes

FIVE = robai.Bernoulli([0.3, 0.21, 0.2, 0.19, 0.18])
TWENTY = robai.Bernoulli([0.5] + 19 * [0.4])
CAP = 10**6

# Mean times of an independent program, with the practical threshold and delta = 0.1; how many runs here.
TIMES = [
    (robai.KLLUCB(delta=0.1), FIVE, 2687, 18, 300),
    (robai.Racing(delta=0.1), FIVE, 3219, 22, 300),
    (robai.Racing(delta=0.1, test="likelihood"), FIVE, 2288, 160, 600),
    (robai.T3C(delta=0.1), FIVE, 1367, 18, 300),
    (robai.TTUCB(delta=0.1), FIVE, 1413, 23, 300),
    (robai.EBTCI(delta=0.1), FIVE, 1515, 23, 300),
    (robai.TTTS(delta=0.1), FIVE, 1601, 40, 50),
    (robai.UGapE(delta=0.1), FIVE, 2720, 43, 100),
    (robai.Uniform(delta=0.1), FIVE, 2300, 80, 300),
    (robai.LUCB(delta=0.1), FIVE, 40_080, 205, 60),
    (robai.ActionElimination(delta=0.1, radius="even-dar"), FIVE, 21_924, 196, 60),
    (robai.KLLUCB(delta=0.1), robai.Gaussian([1.0, 0.5, 0.5, 0.0]), 399.0, 6.7, 500),
    (robai.KLLUCB(delta=0.1), robai.Poisson([3.0, 2.0, 2.0]), 234.3, 3.5, 500),
]
FOUR = robai.Bernoulli([0.5, 0.45, 0.43, 0.4])
SLOWER = [
    (robai.KLLUCB(delta=0.1), FOUR, 8209, 86, 200),
    (robai.Racing(delta=0.1), FOUR, 9522, 77, 200),
    (robai.Racing(delta=0.1, test="likelihood"), FOUR, 4512, 86, 300),
]


def assert_takes(policy, bandit, value, error, runs):
    result = robai.simulate(policy, bandit, CAP, runs, rng=6, times=1)
    times = np.where(result.committed, result.commit_time, CAP)
    assert abs(times.mean() - value) < 5 * math.hypot(times.std() / math.sqrt(runs), error), policy
    wrong = runs - np.count_nonzero(result.committed_arm == 0)
    assert wrong <= (0.1 if isinstance(policy, robai.Racing) else 0.03) * runs


@pytest.mark.parametrize("case", TIMES, ids=lambda case: f"{case[0].label()} {type(case[1]).__name__}")
def test_times(case):
    assert_takes(*case)


@pytest.mark.slow
@pytest.mark.parametrize("case", TIMES + SLOWER, ids=lambda case: f"{case[0].label()} {case[2]}")
def test_times_of_many_runs(case):
    assert_takes(*case[:4], 10 * case[4])


BUDGETS = [
    (robai.SuccessiveRejects(), 0.1824, 0.0027),
    (robai.SequentialHalving(), 0.2915, 0.0032),
    (robai.SequentialHalving(fresh=True), 0.3406, 0.0034),
    (robai.Uniform(stop="budget"), 0.4294, 0.0035),
]


@pytest.mark.parametrize("runs", [1500, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("policy", "value", "error"), BUDGETS, ids=lambda each: repr(each))
def test_errors_within_a_budget(policy, value, error, runs):
    """Of an independent program, 20,000 runs."""
    result = robai.simulate(policy, TWENTY, 2000, runs, rng=4, times=1)
    assert result.committed.all()
    wrong = np.mean(result.committed_arm != 0)
    assert abs(wrong - value) < 5 * math.hypot(math.sqrt(wrong * (1 - wrong) / runs), error)


def test_how_much_of_a_budget_is_used():
    for policy, rounds in (
        (robai.SequentialHalving(), 1999),
        (robai.SuccessiveRejects(), 1989),
        (robai.Uniform(stop="budget"), 2000),
    ):
        times = robai.simulate(policy, TWENTY, 2000, 3, rng=0, times=1).commit_time
        assert times.tolist() == 3 * [rounds]


@pytest.mark.parametrize(
    "policy",
    [robai.SequentialHalving(), robai.SequentialHalving(fresh=True), robai.SuccessiveRejects()],
    ids=repr,
)
def test_every_budget_is_enough(policy):
    for arms in (2, 3, 5, 16, 17, 33):
        bandit = robai.Bernoulli(np.linspace(0.1, 0.9, arms))
        for budget in (arms, arms + 1, 2 * arms - 1, arms * math.ceil(math.log2(arms)) - 1, 10 * arms):
            budget = max(budget, arms)
            result = robai.simulate(policy, bandit, budget, 20, rng=0, times=1)
            assert (result.commit_time >= arms).all()
            assert result.committed.all(), (arms, budget)


def test_a_third_of_equal_arms_wins_each():
    """Ties are broken uniformly, also where half of the arms stay."""
    for policy in (robai.SequentialHalving(), robai.SuccessiveRejects()):
        with pytest.warns(UserWarning, match="are all best"):
            result = robai.simulate(policy, robai.Bernoulli([1.0, 1.0, 1.0]), 30, 6000, rng=0, times=1)
        assert (np.abs(np.bincount(result.committed_arm) - 2000) < 5 * math.sqrt(6000 * 2 / 9)).all()


# ---- pairs


def test_pairs_stay_pairs():
    result = robai.simulate(robai.KLLUCB(delta=0.1), robai.Bernoulli([0.8, 0.2]), 1000, 200, rng=0, times=1)
    assert (result.commit_time % 2 == 0).all()
    assert len(set(result.commit_time)) > 10
    ended = robai.Policy(rules.LeaderChallenger(0.1), rules.Budget())
    for horizon in (100, 101):  # at the horizon a pair is over, whatever
        result = robai.simulate(ended, robai.Bernoulli([0.8, 0.2]), horizon, 5, rng=0, times=1)
        assert (result.commit_time == horizon).all()


def test_an_agent_goes_on_in_the_middle_of_a_pair():
    agent = robai.Agent(robai.KLLUCB(delta=0.1), ["a", "b", "c"], 1000, reward="bernoulli", rng=0)
    agent.update_batch(["a", "b", "c"], [1, 0, 1])
    pair = agent.select_batch(2)
    for saved in range(2):  # before a pair, and within
        first = robai.Agent.from_json(agent.to_json())
        assert first.select_batch(4) == agent.select_batch(4)
        agent.select_batch(1 + saved)
    assert len(set(pair)) == 2


# ---- errors

PROVED = [
    robai.TrackAndStop(delta=0.1, threshold="proved"),
    robai.TrackAndStop(delta=0.1, threshold="kaufmann-koolen"),
    robai.Uniform(delta=0.1, threshold="proved"),
    robai.KLLUCB(delta=0.1, threshold="proved"),
    robai.UGapE(delta=0.1, threshold="lucb"),
    robai.T3C(delta=0.1, threshold="proved"),
    robai.TTUCB(delta=0.1, threshold="proved"),
    robai.EBTCI(delta=0.1, threshold="kaufmann-koolen"),
    robai.Racing(delta=0.1, threshold="proved"),
    robai.Racing(delta=0.1, threshold="proved", test="likelihood"),
    robai.Racing(delta=0.1, threshold="kaufmann-koolen", test="likelihood"),
]
SUB_GAUSSIAN = [
    robai.LUCB(delta=0.1),
    robai.ActionElimination(delta=0.1, radius="even-dar"),
]
EASY = [
    robai.Bernoulli([0.7, 0.4, 0.3]),
    robai.Gaussian([1.0, 0.0, 0.0]),
    robai.Poisson([3.0, 1.5, 1.5]),
]
CLOSE = [
    robai.Bernoulli([0.501, 0.5, 0.4]),
    robai.Gaussian([0.001, 0.0, 0.0]),
    robai.Poisson([2.001, 2.0, 1.0]),
]


CASES = [
    (policy, bandit)
    for policy, bandit in itertools.product([*PROVED, *SUB_GAUSSIAN], range(3))
    if policy in PROVED or bandit < 2  # Poisson rewards are not sub-Gaussian
]


def assert_errs_at_most(delta, policy, bandit, horizon, runs, *, to_the_end):
    """Runs that are to end and do not are errors: the best arm was dropped, and others are equal."""
    policy = dataclasses.replace(policy, delta=delta)
    result = robai.simulate(policy, bandit, horizon, runs, rng=9, times=1)
    right = np.count_nonzero(result.committed_arm == 0)
    wrong = runs - right if to_the_end else np.count_nonzero(result.committed_arm > 0)
    assert clopper_pearson(wrong, runs, 0.9999)[0] <= delta, policy


@pytest.mark.parametrize(("policy", "bandit"), CASES, ids=repr)
def test_proved_policies_find_the_best_arm(policy, bandit):
    assert_errs_at_most(0.1, policy, EASY[bandit], 10**5, 30, to_the_end=True)


@pytest.mark.slow
@pytest.mark.parametrize("bandit", EASY, ids=repr)
def test_ttts_errs_at_most_as_often_as_it_says(bandit):
    """Which draws from posteriors until it has a challenger: too long where arms are close."""
    found = robai.identify(robai.TTTS(threshold="proved"), bandit, delta=0.01, horizon=10**5, runs=400, rng=9)
    assert found.failure().high <= 0.01


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.1, 0.01])
@pytest.mark.parametrize(("policy", "bandit"), CASES, ids=repr)
def test_proved_policies_err_at_most_as_often_as_they_say(policy, bandit, delta):
    """Shown to be so where arms differ; not refuted where they are close.

    There most commitments within the horizon are errors, but for the better one of two.
    """
    policy = dataclasses.replace(policy, delta=None)
    runs = 400 if delta == 0.01 else 100  # none of them may fail, or few
    found = robai.identify(policy, EASY[bandit], delta=delta, horizon=10**5, runs=runs, rng=9)
    assert found.failure().high <= delta
    assert_errs_at_most(delta, policy, CLOSE[bandit], 2000, 1000, to_the_end=False)


def test_lil_ucb_is_seldom_wrong():
    """No theorem covers these constants: measured."""
    for heuristic in (True, False):
        policy = robai.LilUCB(delta=0.1, heuristic=heuristic)
        result = robai.simulate(policy, robai.Gaussian([0.5, 0.0, 0.0]), 10**7, 500, rng=1, times=1)
        assert result.committed.all()
        assert result.wrong_commit().high < 0.1


# ---- what is refused


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: robai.KLLUCB(threshold="mixture"), "threshold must be one of 'practical', 'lucb', 'proved'"),
        (lambda: robai.UGapE(threshold="garivier-kaufmann"), "threshold must be one of 'practical', 'lucb'"),
        (lambda: robai.T3C(threshold="lucb"), "threshold must be one of 'practical', 'pair'"),
        (lambda: robai.Racing(threshold="mixture"), "threshold of test='kl' must be one of"),
        (lambda: rules.Racing(threshold="lucb", test="likelihood"), "threshold of test='likelihood' must be"),
        (lambda: robai.Racing(threshold="other"), "threshold must be one of"),
        (lambda: robai.TopTwo(beta=1.0), "beta must be between 0 and 1"),
        (lambda: robai.TopTwo(leader="best"), "leader must be one of"),
        (lambda: robai.SequentialHalving(fresh=1), "fresh must be True or False, got 1"),
        (lambda: rules.Dominance(0.0), "factor must be above 0"),
        (
            lambda: rules.Separation(bounds="bernstein", sigma=1.0),
            "takes sigma with bounds='gaussian', got sigma=1",
        ),
        (lambda: rules.GapIndex(sigma=0.1), "GapIndex takes sigma with bounds='gaussian', got sigma=0.1 and"),
        (lambda: rules.Separation(family="poisson"), "Separation takes family with bounds='kl', got family="),
        (lambda: robai.Uniform(stop="budget", delta=0.1), "Uniform takes stop or delta, got stop='budget'"),
        (lambda: robai.Uniform(stop="budget", threshold="proved"), "Uniform takes stop or threshold"),
        (lambda: robai.MOSS(alpha=3.0), r"alpha is for MOSS\(anytime=True\), got alpha=3 and anytime=False"),
    ],
)
def test_what_has_no_proof_or_no_meaning(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize(
    ("rule", "family", "message"),
    [
        (rules.Separation(bounds="kl", threshold="lucb"), families.Gaussian(), "for an unknown variance"),
        (rules.LeaderChallenger(threshold="proved"), families.Gaussian(), "for an unknown variance"),
        (rules.GapIndex(threshold="lucb", family=families.Binomial(1)), families.Bernoulli(), "taken for"),
        (rules.GapIndex(threshold="lucb", bounds="bernstein"), families.Bernoulli(), "got 'bernstein'"),
        (rules.Racing(threshold="mixture", test="likelihood"), families.Poisson(), "mixture"),
        (rules.LeaderChallenger(bounds="gaussian"), families.Poisson(), "LeaderChallenger needs sigma-sub-G"),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_a_threshold_without_a_proof_for_the_rewards(rule, family, message):
    with pytest.raises(ValueError, match=message):
        rule.start(rules.Game.of(2, 100, family))


def test_unknown_variances_with_the_practical_threshold():
    kinds = (robai.KLLUCB, robai.UGapE, robai.T3C, robai.TTUCB, robai.Racing)
    policies = [kind(delta=0.1, family=families.Gaussian()) for kind in kinds]
    for policy in [*policies, robai.Racing(0.1, test="likelihood", family=families.Gaussian())]:
        result = robai.simulate(policy, robai.Gaussian([1.0, 0.0, 0.0]), 10**5, 100, rng=0, times=1)
        assert result.committed.all()
        assert np.count_nonzero(result.committed_arm) <= 10


# ---- a test without logarithms


@pytest.mark.parametrize(
    "family",
    [
        families.Bernoulli(),
        families.Binomial(7),
        families.Poisson(),
        families.Exponential(),
        families.Gamma(2.5),
        families.NegativeBinomial(1.5),
        families.Gaussian(2.0),
    ],
    ids=repr,
)
def test_a_lower_bound_of_the_divergence(family):
    """d(p, q) >= (q - p)^2 / (2 V(p + 2 (q - p) / 3)), by which arms are passed over."""
    core, chance = family._core(1), np.random.default_rng(0)
    low, high = family.support
    for p, q in np.sort(chance.uniform(max(low, -5), min(high, 20), size=(2000, 2))).tolist():
        bound = (q - p) ** 2 / (2 * probes.variance_at(core, p + 2 * (q - p) / 3))
        assert robai.kl.divergence(family, p, q) >= bound * (1 - 1e-12)
