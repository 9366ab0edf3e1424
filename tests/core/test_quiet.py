"""After how many pulls of the leader a stopping rule could fire: asked then, it misses nothing.

The other way to know is to ask it after every round. Seeds are fixed.
"""

import numpy as np
import pytest
from support import reference
from support.examples import arms_played
from support.laws import assert_same_law

import robai
from robai import families, rules
from robai._core import probes, stopping, thresholds
from robai._core.engine import Batch
from robai._core.leap import PositiveLeaps
from robai._core.protocols import Evidence
from robai.policies import Policy

by_repr = {"ids": repr}

COIN = robai.Bernoulli([0.7, 0.2])
COINS = robai.Bernoulli([0.9, 0.8, 0.5, 0.1])
BANDITS = [COIN, COINS, robai.Binomial([2.5, 2.2], n=5), robai.Binomial([4.0, 3.0, 2.5, 0.1], n=5)]
STOPS = [
    rules.LikelihoodRatio(share=0.7),
    rules.LikelihoodRatio(),
    rules.LikelihoodRatio(threshold="pair"),
    rules.LikelihoodRatio(threshold="kaufmann-koolen", delta=0.1),
    *(rules.LikelihoodRatio(level=level) for level in ("ratio", "pulls", "horizon")),
    rules.Imbalance(2.0) & rules.LikelihoodRatio(share=1.0),
    rules.LikelihoodRatio(share=1.0) | rules.FixedRound(1500),
]


def played(kind, policy, bandit, horizon, runs, impatient, common=False):
    """The batch, when all runs are over, and how often its stopping rule was asked."""
    explore, stop, commit, initial = policy.start(rules.Game.of(bandit.n_arms, horizon, bandit))
    states = np.random.default_rng(3).integers(1, 2**63, size=(runs, 4), dtype=np.uint64)
    watched = probes.Watched(stop, impatient)
    batch = kind(explore, watched, commit, initial, bandit._core(), bandit.means, (horizon,), states, common)
    while batch.advance(1e9):
        pass
    return batch, watched.questions


# ---- the same runs


@pytest.mark.parametrize("common", [False, True])
@pytest.mark.parametrize("bandit", BANDITS, **by_repr)
@pytest.mark.parametrize("stop", STOPS, **by_repr)
def test_runs_are_those_of_asking_after_every_round(stop, bandit, common):
    policy = Policy(robai.KLUCB(), stop)
    often, questions = played(Batch, policy, bandit, 5000, 8, True, common)
    seldom, fewer = played(Batch, policy, bandit, 5000, 8, False, common)
    for name in ("pulls", "commit_time", "committed_arm", "regret"):
        np.testing.assert_array_equal(getattr(seldom, name), getattr(often, name))
    assert fewer <= questions


@pytest.mark.parametrize(
    "bandit", [robai.Bernoulli([0.9, 0.3]), robai.Bernoulli([0.9, 0.2, 0.1, 0.15])], **by_repr
)
@pytest.mark.parametrize("guard", [0.7, 1.0])
def test_runs_are_those_of_the_reference(bandit, guard):
    policy = robai.KLEOCPUG(inflation=0.5, guard=guard)
    result = robai.simulate(policy, bandit, 4000, 3, rng=0, times=range(1, 4001), curves=True, engine="step")
    for run in range(3):
        arms, commit_time, committed_arm = reference.play(policy, bandit, 4000, 0, run)
        assert arms_played(result, run) == arms
        assert (result.commit_time[run], result.committed_arm[run]) == (commit_time, committed_arm)
        assert 0 < commit_time < 4000


@pytest.mark.parametrize("stop", STOPS, **by_repr)
def test_leaps_have_the_law_of_steps(stop):
    policy = Policy(robai.KLUCB(), stop)
    for bandit in (COIN, robai.Binomial([4.0, 3.0, 2.5, 0.1], n=5)):
        step = robai.simulate(policy, bandit, 2000, 300, rng=1, times=1, engine="step")
        leap = robai.simulate(policy, bandit, 2000, 600, rng=2, times=1, engine="leap")
        assert_same_law(step.commit_time, leap.commit_time)
        assert_same_law(step.final_regret, leap.final_regret)
        for arm in range(bandit.n_arms):
            assert_same_law(step.pulls[:, arm], leap.pulls[:, arm])


# ---- how long it is


def test_it_is_asked_a_few_times_a_streak():
    """Without a guard there is a question a streak, and one when the imbalance rule could fire."""
    guarded, unguarded = (robai.KLEOCPUG(inflation=2.0, guard=guard) for guard in (1.0, 0.0))
    for bandit in (COIN, robai.Bernoulli([0.95, 0.9]), COINS):
        batch, questions = played(PositiveLeaps, guarded, bandit, 10**6, 40, False)
        other, streaks = played(PositiveLeaps, unguarded, bandit, 10**6, 40, False)
        assert batch.commit_time.mean() > 1.2 * other.commit_time.mean()
        assert questions < 3.5 * streaks


CASES = [
    (families.Bernoulli(), 0.0, 1.0),
    (families.Binomial(3), 0.0, 3.0),
    (families.Bounded(-2.0, 1.0), -2.0, 1.0),
]


@pytest.mark.parametrize(("family", "low", "high"), CASES, **by_repr)
@pytest.mark.parametrize("stop", STOPS[:7], **by_repr)
def test_no_rewards_make_it_fire_earlier(stop, family, low, high):
    """From random states, with the largest rewards, the smallest ones, and such as come."""
    rng, horizon, long = np.random.default_rng(5), 1500, 0
    if isinstance(family, families.Bounded) and stop.threshold == "kaufmann-koolen":
        pytest.skip("it has no proof for them")
    for n_arms in (2, 2, 2, 4) * 8:
        rule = stop.start(rules.Game.of(n_arms, horizon, family))
        pulls = np.rint(10 ** rng.uniform(0, 2.5, n_arms)).astype(int)
        share = rng.beta(1.0, 1.0, n_arms)
        if isinstance(family, families.Bounded):
            sums = pulls * (low + (high - low) * share)
        else:
            sums = rng.binomial(pulls * round(high), share)
        if rule.fires_on(Evidence(pulls, sums, horizon)):
            continue
        arm = int(rng.integers(n_arms))
        quiet = probes.quiet_for(rule, Evidence(pulls, sums, horizon), arm)
        assert 1 <= quiet <= horizon - pulls.sum()
        first = []
        for reward in (high, low, None):
            evidence, count = Evidence(pulls, sums, horizon), 0
            while evidence.pulls.sum() < horizon:
                evidence.add(arm, low + (high - low) * (rng.random() < 0.5) if reward is None else reward)
                count += 1
                if rule.fires_on(evidence):
                    break
            first.append(count)
        assert quiet <= min(first)
        long += quiet > 1
        # Sharp, from a few rounds on and up to twice the pulls.
        expected = min(min(first) / 1.4, pulls[arm] + 1)
        assert quiet >= expected or n_arms > 2 or expected <= 17
    assert long > 5


THRESHOLDS = [
    thresholds.FixedThreshold(2.0),
    thresholds.PracticalThreshold(0.1),
    thresholds.UnionThreshold(0.1, 3),
    thresholds.CountThreshold(2.0, True),
    thresholds.CountThreshold(2.0, False),
    thresholds.PairThreshold(0.1, 3),
    *(thresholds.HorizonThreshold(10**5, level) for level in ("ratio", "pulls", "horizon")),
]


def test_every_threshold_can_be_asked_at_the_ends_of_a_streak():
    """That of two arms does not fall while another is pulled; one way or the other, if it is one of them."""
    assert {type(each) for each in THRESHOLDS} == set(thresholds.Threshold.__subclasses__())
    rng = np.random.default_rng(2)

    def asked(rule, pulls):
        [report] = rule.report(Evidence(pulls, pulls * [0.7, 0.6, -1e6], 10**5))
        assert (report.arm, report.rival) == (0, 1)
        return report.asked

    for threshold in THRESHOLDS:
        rule = stopping.LikelihoodRatio(3, families.Gaussian(1.0)._core(3), threshold)
        for _ in range(100):
            first = np.rint(10 ** rng.uniform(0, 4, 3)).astype(int)
            length = 5000 if rng.random() < 0.5 else 30
            for arm in range(3):
                streak = np.linspace(0, length, 31).astype(int)
                levels = [asked(rule, first + count * (np.arange(3) == arm)) for count in streak]
                steps = np.diff(levels)
                assert (steps >= 0.0).all() or (arm < 2 and (steps <= 0.0).all())


def test_rewards_without_an_end_are_asked_about_after_every_round():
    evidence = Evidence([50, 50], [30.0, 29.0], 1000)
    for family in (families.Gaussian(1.0), families.Poisson(), families.Exponential()):
        rule = rules.LikelihoodRatio().start(rules.Game.of(2, 1000, family))
        assert not rule.leaps
        assert probes.quiet_for(rule, evidence, 0) == 1
    for threshold, asked in (("practical", False), ("mixture", True)):
        rule = rules.LikelihoodRatio(threshold=threshold).start(rules.Game.of(2, 1000, families.Bernoulli()))
        assert (probes.quiet_for(rule, evidence, 0) == 1) == asked == (not rule.leaps)


def test_it_is_quiet_for_long_where_there_are_many_rounds():
    rule = rules.LikelihoodRatio(share=1.0).start(rules.Game.of(2, 10**18, families.Bernoulli()))
    even = Evidence([10**15, 10**15], [5e14, 5e14], 10**18)
    assert 10**7 < probes.quiet_for(rule, even, 0) < 10**10
    apart = Evidence([10**15, 40], [5e14, 20.0], 10**18)
    assert probes.quiet_for(rule, apart, 0) > 10**14
    # means 0 and 1, and the end of the game
    assert probes.quiet_for(rule, Evidence([3, 3], [3.0, 3.0], 10**18), 0) >= 1
    rule = rules.LikelihoodRatio(share=1.0).start(rules.Game.of(2, 100, families.Bernoulli()))
    assert probes.quiet_for(rule, Evidence([49, 50], [20.0, 20.0], 100), 0) == 1
    assert probes.quiet_for(rule, Evidence([50, 50], [20.0, 20.0], 100), 0) == 1


# ---- separation, which looks ahead


SEPARATED = [
    robai.UCBAlpha(sigma=1.0),
    robai.UCBAlpha(alpha=1.2, delta=0.1, sigma=0.5),
    Policy(robai.UCB(sigma=0.5), rules.Separation(share=0.3, sigma=0.5)),
    Policy(robai.UCB("round", sigma=0.5), rules.Separation(delta=0.2, sigma=0.5)),
]


@pytest.mark.parametrize("common", [False, True])
@pytest.mark.parametrize(
    "bandit",
    [robai.Gaussian([0.7, 0.2]), COIN, robai.Gaussian([1.5, 0.2, 0.7]), robai.Bernoulli([0.9] + [0.1] * 19)],
    **by_repr,
)
@pytest.mark.parametrize("policy", SEPARATED, **by_repr)
def test_separation_is_noticed_at_once(policy, bandit, common):
    often, _ = played(Batch, policy, bandit, 4000, 20, True, common)
    explore, stop, commit, initial = policy.start(rules.Game.of(bandit.n_arms, 4000, bandit))
    assert stop.foresees
    states = np.random.default_rng(3).integers(1, 2**63, size=(20, 4), dtype=np.uint64)
    batch = Batch(explore, stop, commit, initial, bandit._core(), bandit.means, (4000,), states, common)
    while batch.advance(1e9):
        pass
    for name in ("pulls", "commit_time", "committed_arm", "regret"):
        np.testing.assert_array_equal(getattr(batch, name), getattr(often, name))
    assert policy != SEPARATED[2] or (batch.commit_time > 0).any()


# Enough for stops and eliminations, which the examples of the contract tests do not come to.
@pytest.mark.parametrize(
    ("policy", "bandit"),
    [
        (robai.UCBAlpha(sigma=0.5), robai.Gaussian([2.0, 0.0], sigma=0.5)),
        (robai.UCBAlpha(delta=0.1, sigma=0.3), robai.Bernoulli([0.9, 0.1, 0.2])),
        (robai.ActionElimination(sigma=0.5), robai.Gaussian([2.0, 0.0], sigma=0.5)),
        (robai.ActionElimination(sigma=0.1), robai.Bernoulli([0.9, 0.1, 0.2, 0.7, 0.6, 0.0, 0.3])),
        (robai.ActionElimination(delta=0.1, sigma=0.1), robai.Bernoulli([0.1 * arm for arm in range(9)])),
        (
            robai.ActionElimination(delta=0.1, radius="even-dar", sigma=0.2),
            robai.Bernoulli([0.1, 0.2, 0.9, 0.5]),
        ),
    ],
    **by_repr,
)
def test_bounds_that_are_kept_play_the_reference(policy, bandit):
    runs, horizon, over = 4, 500, 0
    result = robai.simulate(
        policy, bandit, horizon, runs, rng=0, times=range(1, horizon + 1), curves=True, engine="step"
    )
    for run in range(runs):
        arms, commit_time, committed_arm = reference.play(policy, bandit, horizon, 0, run)
        assert (
            result.pulls[run].tolist()
            == np.bincount(
                arms + [max(committed_arm, 0)] * (horizon - len(arms)), minlength=bandit.n_arms
            ).tolist()
        )
        assert (result.commit_time[run], result.committed_arm[run]) == (commit_time, committed_arm)
        over += commit_time > 0
    assert over > 0


def test_an_agent_whose_rewards_come_late_keeps_the_right_bounds():
    """One that is read from its file before every choice has kept none."""
    means = np.linspace(0.0, 2.0, 9)
    for pattern in ((1,), (3, 1), (1, 1, 5, 2)):
        agent = robai.Agent(
            robai.ActionElimination(sigma=0.5), 9, 10**5, reward=families.Gaussian(0.5), rng=0
        )
        rng, waiting, step = np.random.default_rng(1), [], 0
        while agent.committed_arm is None:
            fresh = robai.Agent.from_json(agent.to_json())
            arms = agent.select_batch(pattern[step % len(pattern)]).tolist()
            assert fresh.select_batch(pattern[step % len(pattern)]).tolist() == arms
            assert fresh.committed_arm == agent.committed_arm
            waiting += arms
            rng.shuffle(waiting)
            step += 1
            for _ in range(min(len(waiting), pattern[step % len(pattern)])):
                arm = waiting.pop()
                agent.update(arm, means[arm] + 0.5 * rng.normal())
        assert step > 30
