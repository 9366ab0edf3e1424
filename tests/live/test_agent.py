"""The agent: the arms of the engine, late rewards, commitments, and input that is refused."""

import copy
import pickle
import threading

import matplotlib
import numpy as np
import pytest
from support.agents import Website, agent_for, explored, played_until_commitment, twins
from support.examples import (
    POLICIES,
    arms_played,
    fitting,
    needs_an_interval,
    played_by_steps,
    takes_a_budget,
)

import robai
from robai import HorizonReached, rules

matplotlib.use("Agg")


# ---- the same arms as the engine


def assert_plays_the_engine(policy, bandit, horizon, seed):
    result = played_by_steps(policy, bandit, horizon, 1, seed)
    agent = agent_for(policy, bandit, horizon, rng=seed)
    assert played_until_commitment(agent, bandit) == arms_played(result, 0)
    assert (-1 if agent.commit_time is None else agent.commit_time) == result.commit_time[0]
    assert (-1 if agent.committed_arm is None else agent.committed_arm) == result.committed_arm[0]


def test_with_immediate_rewards_the_agent_plays_the_step_engine(policy, bandit):
    horizon = 80 if isinstance(policy, robai.TrackAndStop) else 300
    for seed in range(2):
        assert_plays_the_engine(policy, fitting(policy, bandit), horizon, seed)


@pytest.mark.parametrize("horizon", [3, 4, 7])
def test_with_a_horizon_of_hardly_more_than_the_arms(policy, horizon):
    assert_plays_the_engine(policy, fitting(policy, robai.Bernoulli([0.7, 0.2, 0.5])), horizon, seed=1)


@pytest.mark.parametrize("policy", [robai.KLUCB(), robai.UCB("round"), robai.TrackAndStop()], ids=repr)
def test_with_many_arms(policy):
    assert_plays_the_engine(policy, robai.Bernoulli(np.linspace(0.05, 0.95, 19)), 200, seed=2)


# ---- late rewards


def test_a_batch_before_any_reward_goes_to_all_arms_in_turn(policy):
    agent = agent_for(policy, fitting(policy, robai.Bernoulli([0.7, 0.2, 0.5])), 10**6, rng=0)
    arms = agent.select_batch(256)
    counts = np.bincount(arms)
    assert agent.pending.tolist() == counts.tolist()
    if isinstance(policy, robai.LeadCommit):  # in turn as well, ties broken uniformly
        assert counts.max() - counts.min() <= 1
    elif not isinstance(policy, robai.ThompsonSampling):  # needs no first pull: its prior spreads the arms
        assert arms.tolist() == [i % len(counts) for i in range(256)]
    assert counts.min() > 256 / len(counts) / 2


def test_a_batch_after_one_reward_an_arm_does_not_go_to_one_arm(policy):
    if isinstance(policy, robai.DETC | robai.DETCK):
        pytest.skip("its second stage is about one arm")
    if needs_an_interval(policy) or getattr(policy, "prior", "") == "uniform":
        pytest.skip("for rewards in an interval, or coins")
    agent = agent_for(policy, fitting(policy, robai.Gaussian([0.7, 0.2, 0.5])), 10**6, rng=0)
    for _ in range(3):
        for arm in agent.labels:
            agent.update(arm, 0.1 * (arm + 1))
    counts = np.bincount(agent.select_batch(256))
    if isinstance(policy, robai.UGapE):  # J and u: their bounds wait for rewards
        assert (counts > 0).sum() == 2
        counts = counts[counts > 0]
    assert counts.min() >= 10


@pytest.mark.parametrize("policy", [robai.KLUCB(), robai.UCB("ratio"), robai.TrackAndStop()], ids=repr)
def test_pending_pulls_are_seen_as_if_their_rewards_were_the_mean(policy):
    late = robai.Agent(policy, 3, 1000, reward=robai.families.Gaussian(1.0), rng=4)
    prompt = robai.Agent(policy, 3, 1000, reward=robai.families.Gaussian(1.0), rng=4)
    for agent in (late, prompt):
        for arm in range(3):
            agent.update_counts(arm, 4, 1.0 + arm)
    for _ in range(100):
        arm = late.select()
        assert prompt.select() == arm
        prompt.update(arm, (1.0 + arm) / 4)


def test_pending_rewards_drop_no_arm(policy):
    """However many pulls are under way, one answer an arm settles nothing."""
    horizon = 101_000 if takes_a_budget(policy) else 10**6
    agent = agent_for(policy, fitting(policy, robai.Bernoulli([0.7, 0.2, 0.5])), horizon, rng=0)
    for arm in agent.labels:
        for reward in (1.0, 0.0, 1.0, 1.0) if arm == 0 else (0.0, 1.0, 0.0, 0.0):
            agent.update(arm, reward)
    agent.select_batch(1000 if isinstance(policy, robai.TTTS) else 100_000)  # whose draws are many
    assert not agent.committed
    if isinstance(policy, robai.ActionElimination | robai.SequentialHalving | robai.SuccessiveRejects):
        assert "dropped" not in [row.status for row in agent.table()]


@pytest.mark.parametrize("delay", [0, 5, 200, 2900])
@pytest.mark.parametrize("policy", [robai.SuccessiveRejects(), robai.SequentialHalving()], ids=repr)
def test_a_phase_ends_when_its_rewards_have_come(policy, delay):
    """And its successors are shorter if that takes long: all is over with the answer to the last round."""
    agent = robai.Agent(policy, 4, 3000, reward="bernoulli", rng=0)
    means, answers, waiting, active = np.array([0.9, 0.5, 0.5, 0.1]), np.zeros(4, dtype=int), [], [4]
    generator = np.random.default_rng(3)
    while not agent.committed and agent.rounds < 3000:
        before = answers.copy()
        waiting.append(agent.select())
        active.append(sum(row.status != "dropped" for row in agent.table()))
        if active[-1] < active[-2] == 4:  # the first phase is over
            assert before.min() >= (750 // 2 if isinstance(policy, robai.SequentialHalving) else 474)
        if len(waiting) > delay:
            arm = waiting.pop(0)
            agent.update(arm, float(generator.random() < means[arm]))
            answers[arm] += 1
    for arm in waiting:
        agent.update(arm, float(generator.random() < means[arm]))
    agent.select()
    assert agent.committed_arm == 0


@pytest.mark.parametrize("delay", [1, 7, 100])
def test_with_late_rewards_every_committing_policy_still_finds_the_best_arm(policy, delay):
    if policy.parts().stop == rules.Never() and not isinstance(policy.parts().explore, rules.STAGED):
        pytest.skip("never commits")
    if needs_an_interval(policy) or getattr(policy, "prior", "") == "uniform":
        pytest.skip("for rewards in an interval, or coins")
    bandit = fitting(policy, robai.Gaussian([3.0, 0.0, 0.5]))
    agent = agent_for(policy, bandit, 2500 if takes_a_budget(policy) else 3000, rng=3)
    generator, waiting = np.random.default_rng(5), []
    while not agent.committed and agent.rounds < 2500:
        arm = agent.select()
        waiting.append((arm, generator.normal(bandit.means[arm])))
        if len(waiting) > delay:
            agent.update(*waiting.pop(generator.integers(len(waiting))))
    if takes_a_budget(policy):
        for each in waiting:
            agent.update(*each)
        agent.select()
    assert agent.committed_arm == 0


def test_the_less_pulled_of_a_pair_is_told_from_all_pulls():
    """Of UGapE: those that were recorded without being handed out, and those without a reward."""
    agent = robai.Agent(robai.UGapE(delta=0.01), 3, 10**6, reward=robai.families.Gaussian(1.0), rng=0)
    for arm, pulls, mean in ((0, 30, 1.0), (1, 10, 0.9), (2, 10, -2.0)):
        agent.update_counts(arm, pulls, pulls * mean)
    assert agent.select_batch(20).tolist() == [1] * 20  # until it has as many as arm 0
    assert sorted(np.bincount(agent.select_batch(20))) == [10, 10]


def test_answers_without_a_pull_are_a_warm_start():
    agent = robai.Agent(robai.UCB(), ["a", "b"], 1000, reward="bernoulli", rng=0)
    agent.update("a", 1)
    agent.update_counts("a", 99, 50)
    assert (agent.pulls.tolist(), agent.pending.tolist(), agent.rounds) == ([100, 0], [0, 0], 100)
    assert [agent.select() for _ in range(3)] == ["b"] * 3
    agent.update("b", 0)
    assert agent.pending.tolist() == [0, 2]


# ---- batches


def test_a_batch_is_what_one_by_one_would_be():
    one, many = twins()
    generator = np.random.default_rng(0)
    for size in (1, 5, 256, 1000):
        arms = many.select_batch(size)
        assert [one.select() for _ in range(size)] == arms.tolist()
        rewards = generator.random(size)
        many.update_batch(arms, rewards)
        for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
            one.update(arm, reward)
        assert one.to_json() == many.to_json()


def test_batches_of_labels():
    (agent,) = twins(1, arms=["red", "green", "blue"])
    assert agent.select_batch(4) == ["red", "green", "blue", "red"]
    agent.update_batch(np.array(["red", "blue"]), [0.5, 1])
    assert agent.pulls.tolist() == [1, 0, 1]
    assert agent.pending.tolist() == [1, 1, 0]


def test_aggregates_are_what_their_rewards_would_be():
    one, many = twins()
    one.update_batch([1] * 8, [0.25] * 8)
    many.update_counts(1, 8, 2.0)
    many.update_counts(0, 0, 0.0)
    assert one.to_json() == many.to_json()


# ---- commitment


def test_the_commitment_is_irrevocable():
    agent = explored(robai.EOCPUG(), robai.Gaussian([2.0, 0.0]), 10_000)
    arm, when, why = agent.committed_arm, agent.commit_time, agent.commit_reason
    agent.update_counts(1 - arm, 10**6, 1e9)
    assert {agent.select() for _ in range(100)} == {arm}
    assert set(agent.select_batch(20_000).tolist()) == {arm}  # beyond the horizon
    assert (agent.committed_arm, agent.commit_time, agent.commit_reason) == (arm, when, why)
    assert agent.pulls[1 - arm] > 10**6


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (robai.EOCP(gap=1.5), "rewards had arrived, and exploration was to end at"),
        (robai.EOCPUG(), "times the"),
        (robai.KLEOCPUG(), "log likelihood ratio"),
        (robai.BAIETC(), "the means differed by"),
        (robai.SPRTETC(0.5), "enough for the gap 0.5"),
        (robai.DETC(), "fresh pulls of 1 had mean"),
        (robai.DETCK(), "far enough below"),
        (robai.UCBAlpha(), "above the upper bounds of all others"),
        (robai.TrackAndStop(), "log likelihood ratio"),
        (robai.ActionElimination(), "all other arms had been dropped"),
        (robai.ActionElimination(radius="even-dar"), "all other arms had been dropped"),
        (
            robai.Policy(robai.UCB(), rules.FixedRound(99) | rules.Imbalance(), rules.MostPulled()),
            "most pulls",
        ),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_the_reason_says_the_numbers(policy, words):
    agent = explored(policy, robai.Gaussian([3.0, 0.0]), 20_000)
    assert agent.committed_arm == 0
    assert words in agent.commit_reason
    assert any(character.isdigit() for character in agent.commit_reason)
    assert agent.commit_reason in agent.summary()


def test_a_policy_that_never_commits_ends_at_the_horizon():
    (agent,) = twins(1, policy=robai.UCB(), horizon=10)
    with pytest.raises(ValueError, match="at most 10, the rounds left"):
        agent.select_batch(11)
    arms = agent.select_batch(10)
    with pytest.raises(HorizonReached, match="10 rounds"):
        agent.select()
    with pytest.raises(HorizonReached):
        agent.select_batch(2)
    assert agent.rounds == 10
    agent.update_batch(arms, [1.0] * 10)
    assert "inconclusive" in agent.summary()
    assert agent.commit_reason is None


def test_a_late_answer_can_still_commit_at_the_horizon():
    agent = robai.Agent(robai.EOCP(gap=20.0), 2, 8, reward=robai.families.Gaussian(1.0), rng=0)
    arms = agent.select_batch(8)
    with pytest.raises(HorizonReached):
        agent.select()
    agent.update_batch(arms[:4], [5.0, 0.0, 5.0, 0.0])
    assert agent.select() == 0
    assert agent.commit_time == 4


# ---- looking


def test_the_table_shows_the_bounds_that_the_policy_compares():
    agent = explored(robai.KLEOCPUG(), robai.Bernoulli([0.9, 0.4]), 5000)
    level = robai.theory.exploration(5000, 1.0)
    for row, n, total in zip(agent.table(), agent.pulls, agent.sums, strict=True):
        assert row.mean == total / n
        assert row.lower == robai.kl.lower("bernoulli", row.mean, level / n)
        assert row.upper == robai.kl.upper("bernoulli", row.mean, level / n)
    assert [row.status for row in agent.table()] == ["committed", "closed"]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("rounds", [0, 1, 40])
def test_every_policy_can_be_looked_at(policy, rounds):
    bandit = fitting(policy, robai.Bernoulli([0.9, 0.1, 0.2]))
    agent = agent_for(policy, bandit, 1000, rng=0)
    website = Website(bandit, agent)
    for _ in range(rounds):
        arm = agent.select()
        agent.update(arm, website.visit(arm))
    text = agent.summary()
    assert len(text.split("\n\n")[1].splitlines()) == bandit.n_arms + 1
    assert policy.label() in text
    assert policy.label() in repr(agent)
    axes = agent.plot()
    assert policy.label() in axes.get_title()
    matplotlib.pyplot.close(axes.figure)


def test_names_of_arms_are_shown_as_they_are():
    names = ["$x_1", "_hidden", "a\x1b[2J"]
    (agent,) = twins(1, arms=names)
    agent.update_batch(names, [0.5, 0.25, 1.0])
    assert "\x1b" not in agent.summary()
    axes = agent.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == [r"\$x_1", " _hidden", r"a\x1b[2J"]
    axes.figure.canvas.draw()  # which would read $ as the beginning of a formula
    matplotlib.pyplot.close(axes.figure)


# ---- copies and threads


def test_copies_go_on_alike_and_apart():
    (agent,) = twins(1, arms=["a", "b", "c"])
    agent.update_batch(agent.select_batch(100)[:60], [1.0] * 60)
    for other in (pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)):
        assert other.to_json() == agent.to_json()
        assert other.select_batch(50) == copy.copy(agent).select_batch(50)


def test_threads_lose_nothing():
    (agent,) = twins(1, policy=robai.UCB(), horizon=10**9)
    each = 5000

    def hammer():
        for step in range(each):
            arm = agent.select()
            agent.update(arm, 1.0)
            if step % 100 == 0:
                agent.update_batch(agent.select_batch(10), np.ones(10))
                agent.to_json()

    threads = [threading.Thread(target=hammer) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers = 4 * (each + each // 100 * 10)
    assert agent.pulls.sum() == agent.sums.sum() == agent.rounds == answers
    assert agent.pending.sum() == 0
