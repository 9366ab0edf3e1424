"""Policies written in Python, in simulations and in agents."""

import numpy as np
import pytest
from support.examples import PlainUCB

import robai


class ExploreThenCommit:
    """Its own counts, draws, and a commitment."""

    def __init__(self, rounds):
        self.rounds = rounds
        self.sums = {}

    def select(self, state):
        if state.t >= self.rounds:
            return robai.Commit(max(self.sums, key=self.sums.get))
        return int(state.rng.integers(state.n_arms))

    def update(self, arm, reward):
        self.sums[arm] = self.sums.get(arm, 0.0) + reward


BANDIT = robai.Gaussian([1.0, 0.0, 0.4])


def test_a_policy_in_python_plays_what_its_compiled_twin_plays():
    options = {"rng": 5, "times": range(1, 301), "curves": True}
    own = robai.simulate(PlainUCB(), BANDIT, 300, 5, **options)
    compiled = robai.simulate(robai.UCB(), BANDIT, 300, 5, engine="step", **options)
    assert (own.pulls == compiled.pulls).all()
    assert np.allclose(own.curves, compiled.curves, atol=1e-9)
    assert own.label == "PlainUCB"
    assert not own.committed.any()


def test_commitments_count():
    result = robai.simulate(ExploreThenCommit(60), BANDIT, 10**12, 20, rng=0)
    assert (result.commit_time == 60).all()
    assert (result.pulls.sum(axis=1) == 10**12).all()
    assert (result.pulls[range(20), result.committed_arm] >= 10**12 - 60).all()
    assert result.wrong_commit().rate < 0.5


def test_every_run_starts_with_the_object_as_it_was():
    policy = ExploreThenCommit(30)
    first = robai.simulate(policy, BANDIT, 100, 10, rng=1, workers=1)
    again = robai.simulate(policy, BANDIT, 100, 10, rng=1, workers=2)
    assert first == again
    assert policy.sums == {}


def test_compared_with_the_built_in_policies():
    table = robai.compare([PlainUCB(), robai.UCB(), ExploreThenCommit(30)], BANDIT, 200, 20, rng=0)
    assert list(table) == ["PlainUCB", "UCB()", "ExploreThenCommit"]


def test_in_an_agent():
    agent = robai.Agent(ExploreThenCommit(30), ["a", "b"], 100, reward=robai.families.Gaussian(1.0), rng=0)
    for _ in range(30):
        arm = agent.select()
        agent.update(arm, 1.0 if arm == "b" else 0.0)
    assert not agent.committed
    assert agent.select() == agent.committed_arm == "b"
    assert agent.commit_time == 30
    assert "ExploreThenCommit returned Commit(1)" in agent.summary()
    assert set(agent.select_batch(500)) == {"b"}
    with pytest.raises(TypeError, match="a store can bring it back"):
        agent.to_json()
    with pytest.raises(TypeError, match="update_batch"):
        agent.update_counts("a", 3, 1.0)


def test_the_state_in_an_agent_has_pending_pulls():
    class Watching:
        def select(self, state):
            self.seen = (state.t, state.pulls.tolist(), state.sums.tolist(), state.pending.tolist())
            with pytest.raises(ValueError, match="read-only"):
                state.pulls[0] = 9
            return state.t % state.n_arms

        def update(self, arm, reward):
            raise AssertionError("not told of these")

    asked = Watching()
    seen = []
    asked.__class__.__deepcopy__ = lambda self, memo: self
    agent = robai.Agent(asked, 2, 100, reward=robai.families.Gaussian(1.0), rng=0)
    for _ in range(3):
        agent.select()
        seen.append(asked.seen)
    assert seen[-1] == (2, [0, 0], [0.0, 0.0], [1, 1])


def test_a_batch_of_answers_tells_the_policy_each():
    agent = robai.Agent(ExploreThenCommit(4), 2, 100, reward=robai.families.Gaussian(1.0), rng=0)
    agent.update_batch([0, 1, 1, 0], [1.0, 0.5, 0.25, 3.0])
    assert agent.select() == 0


@pytest.mark.parametrize(
    ("answer", "error"), [(2, ValueError), (-1, ValueError), (0.5, TypeError), (None, TypeError)]
)
def test_an_answer_that_is_no_arm(answer, error):
    class Wrong(PlainUCB):
        def select(self, state):
            return answer

    with pytest.raises(error, match=r"Wrong\.select must return"):
        robai.simulate(Wrong(), robai.Gaussian([0.0, 1.0]), 10, 1)
    agent = robai.Agent(Wrong(), 2, 10, reward=robai.families.Gaussian(1.0))
    with pytest.raises(error, match=r"Wrong\.select must return"):
        agent.select()
    assert agent.rounds == 0


@pytest.mark.parametrize("policy", [PlainUCB, 3, object()], ids=repr)
def test_what_is_no_policy(policy):
    with pytest.raises(TypeError, match="policy"):
        robai.simulate(policy, BANDIT, 100, 1)
