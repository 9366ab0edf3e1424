"""What an agent is made of: what used to crash the interpreter, and what a store asks of it."""

import contextlib
import math

import numpy as np
import pytest
from support.agents import agent_for, twins
from support.examples import POLICIES, Turns, fitting

import robai
from robai._core.player import Player

HORIZON = 400


def test_a_player_that_was_never_made_is_an_exception():
    with pytest.raises(TypeError):
        Player.__new__(Player)


def test_counts_that_do_not_fit_are_refused():
    (agent,) = twins(1)
    player = agent._player
    for counts in (
        ([1], [1.0], [0.0], [0], [], None),
        ([1] * 3, [1.0] * 3, [0.0] * 3, [0] * 2, [], None),
        ([1] * 3, [1.0] * 3, [0.0] * 2, [0] * 3, [], None),
        ([1] * 3, [1.0] * 3, [0.0] * 3, [0] * 3, [], (7, 3, [1] * 3, [1.0] * 3, None)),
        ([1] * 3, [1.0] * 3, [0.0] * 3, [0] * 3, [], (-1, 3, [1] * 3, [1.0] * 3, None)),
    ):
        with pytest.raises(ValueError, match=r"there must be 3|no arm"):
            player.restore(*counts)
    for number in (-1, 3, 2**62):
        with pytest.raises(IndexError):
            player.update(number, 1.0)
    assert agent.rounds == 0


class Late:
    """Rewards that come back in any order, a few at a time; the same for players that play the same arms."""

    def __init__(self, seed):
        self.chance, self.waiting = np.random.default_rng(seed), []

    def come(self, player, arm):
        self.waiting.append((arm, float(self.chance.random() < 0.3 + 0.4 * arm)))
        for _ in range(self.chance.integers(3)):
            if self.waiting:
                player.update(*self.waiting.pop(self.chance.integers(len(self.waiting))))


def selected(player, seed):
    """The arms of `select` until the commitment or the horizon."""
    late = Late(seed)
    with contextlib.suppress(robai.HorizonReached):
        while True:
            arm = player.select()
            if player.commitment is not None:
                return
            yield arm
            late.come(player, arm)


def asked(player, seed):
    """The same by `ask`, with decisions that are kept elsewhere."""
    late = Late(seed)
    with contextlib.suppress(robai.HorizonReached):
        while True:
            arm, commits = player.ask()
            if commits:
                assert player.commitment is None
                player.commit(arm)
                assert player.ask() == (arm, False)
            player.hand_out(arm)
            if commits:
                return
            yield arm
            late.come(player, arm)


@pytest.mark.parametrize("policy", [*POLICIES, Turns()], ids=repr)
@pytest.mark.parametrize("seed", [1, 2])
def test_to_ask_and_to_hand_out_is_to_select(policy, seed):
    bandit = robai.Bernoulli([0.3, 0.7])
    one, other = (agent_for(policy, fitting(policy, bandit), HORIZON, rng=seed)._player for _ in range(2))
    assert list(selected(one, seed)) == list(asked(other, seed))
    assert one.state() == other.state()
    assert one.rounds == other.rounds


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_a_dropped_pull_leaves_a_round_and_nothing_else(policy):
    bandit = fitting(policy, robai.Bernoulli([0.3, 0.7, 0.5]))
    one, other = (agent_for(policy, bandit, HORIZON, rng=3)._player for _ in range(2))
    one.hand_out(0, 5)
    one.hand_out(1, 2)
    one.drop(0, 5)
    one.drop(1)
    other.hand_out(1)
    assert one.state() == other.state()
    assert (one.rounds, other.rounds) == (7, 1)
    other.spend(6)  # of which the rules know no more than of pulls that were dropped
    assert list(selected(one, 3)) == list(selected(other, 3))
    assert one.state() == other.state()
    assert one.rounds == other.rounds


def test_arms_without_a_reward_are_handed_out_again():
    (agent,) = twins(1)
    player = agent._player
    assert [player.select() for _ in range(3)] == [0, 1, 2]
    player.drop(1)
    assert [player.select() for _ in range(4)] == [1, 0, 1, 2]
    player.drop(2, 2)
    player.drop(1)
    assert [player.select() for _ in range(4)] == [2, 1, 2, 0]


def test_rounds_that_were_spent_count_against_the_horizon():
    (agent,) = twins(1, horizon=10, policy=robai.UCB(sigma=0.5))
    player = agent._player
    player.spend(4)
    for arm in [player.select() for _ in range(5)]:
        player.drop(arm)
    assert player.rounds == 9
    with pytest.raises(ValueError, match="n must be at most 1, the rounds left"):
        agent.select_batch(2)
    player.select()
    with pytest.raises(robai.HorizonReached):
        player.select()
    with pytest.raises(robai.HorizonReached):
        player.ask()
    assert player.pulls.tolist() == [0] * 3


def test_an_exploration_in_stages_ends_with_the_last_answer_that_can_come():
    def played(spent):
        agent = robai.Agent(robai.ActionElimination(sigma=0.5), 2, 200, reward="bernoulli", rng=0)
        agent._player.spend(spent)
        while not (choice := agent._player.ask())[1]:
            agent._player.hand_out(choice[0])
            agent.update(choice[0], float(choice[0]))
        return int(agent.pulls.sum())

    answers = played(0)
    assert played(200 - answers) == answers < 200
    with pytest.raises(robai.HorizonReached):
        played(201 - answers)


def test_a_commitment_is_of_the_counts_of_now():
    (agent,) = twins(1)
    player = agent._player
    for _ in range(6):
        player.update(player.select(), 0.5)
    player.commit(2)
    assert player.commitment == (2, 6, [2] * 3, [1.0] * 3, None)
    player.update(0, 1.0)
    assert player.commitment[1] == 6
    assert agent.committed_arm == 2
    assert agent.select() == 2


def test_what_a_store_cannot_ask_for():
    (agent,) = twins(1)
    player = agent._player
    for arm in (-1, 3, 2**62):
        for change in (player.hand_out, player.commit, player.drop):
            with pytest.raises(IndexError, match="there is no arm"):
                change(arm)
    player.hand_out(0, 2)
    with pytest.raises(ValueError, match="count must be at most 2, the pending pulls, got 3"):
        player.drop(0, 3)
    with pytest.raises(ValueError, match="count must be at most 0"):
        player.drop(1)
    for change in (player.hand_out, player.drop):
        with pytest.raises(ValueError, match="n must be from 0"):
            change(0, -1)
    for count in (-1, 2**61):
        with pytest.raises(ValueError, match="n must be from 0"):
            player.spend(count)
    assert player.rounds == 2
    assert player.pending.tolist() == [2, 0, 0]


@robai.rules.Index.ctypes_signature
def none_at_3(pulls, total, squares, t, horizon, arms):
    return math.nan if pulls == 3 else -pulls


def test_an_index_that_is_no_number_is_an_error_of_ask():
    policy = robai.Policy(robai.rules.Index(none_at_3, name="none_at_3"))
    player = robai.Agent(policy, 2, 100, reward="bounded", rng=0)._player
    player.update_counts(0, 3, 1.0)
    player.update(1, 0.5)
    with pytest.raises(ValueError, match="'none_at_3' must be a number"):
        player.ask()
