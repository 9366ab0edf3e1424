"""An exploration in Python whose stopping and commitment are compiled: the runs of its compiled twin."""

import numpy as np
import pytest
from support.examples import PlainUCB

import robai
from robai import families, rules

BANDITS = [robai.Gaussian([1.0, 0.0, 0.4]), robai.Bernoulli([0.9, 0.2, 0.5])]


class InTurn:
    def select(self, state):
        return state.t % state.n_arms

    def update(self, arm, reward):
        pass


STOPS = [
    rules.FixedRound(100),
    rules.FixedRound(300),
    rules.FixedRound(1),
    rules.Imbalance(),
    rules.Imbalance() & rules.LikelihoodRatio(share=0.2, family=families.Gaussian(1.0)),
    rules.LikelihoodRatio(delta=0.1, family=families.Gaussian(1.0)) | rules.FixedRound(250),
    rules.LikelihoodRatio(delta=0.1, threshold="mixture", family=families.Gaussian(None)),
    rules.Never(),
]
COMMITS = [rules.LowerBound(sigma=1.0), rules.LargestMean(), rules.MostPulled(), rules.KLLowerBound()]


@pytest.mark.parametrize("stop", STOPS, ids=repr)
@pytest.mark.parametrize("commit", COMMITS[:1] + COMMITS[2:3], ids=repr)
def test_a_python_exploration_plays_what_its_twin_plays(stop, commit):
    bandit = BANDITS[0]
    options = {"rng": 5, "times": range(1, 301), "curves": True, "engine": "step"}
    for own, twin in ((PlainUCB(), rules.UpperBound()), (InTurn(), rules.RoundRobin())):
        python, compiled = (
            robai.simulate(robai.Policy(explore, stop, commit), bandit, 300, 8, **options)
            for explore in (own, twin)
        )
        assert np.allclose(python.curves, compiled.curves, atol=1e-9)
        assert (python.pulls == compiled.pulls).all()
        assert (python.commit_time == compiled.commit_time).all()
        assert (python.committed_arm == compiled.committed_arm).all()


@pytest.mark.parametrize("commit", COMMITS, ids=repr)
@pytest.mark.parametrize("bandit", BANDITS, ids=repr)
def test_commitments(commit, bandit):
    """In turn, so that ties of numbers of pulls are broken by the same draws."""
    options = {"rng": 5, "engine": "step"}
    python, compiled = (
        robai.simulate(robai.Policy(explore, rules.FixedRound(60), commit), bandit, 10**9, 30, **options)
        for explore in (InTurn(), rules.RoundRobin())
    )
    assert (python.commit_time == 60).all()
    assert (python.committed_arm == compiled.committed_arm).all()
    assert (python.pulls == compiled.pulls).all()


def test_the_exploration_may_commit_itself():
    class Impatient(InTurn):
        def select(self, state):
            return robai.Commit(1) if state.t >= 50 else super().select(state)

    for stop, time in ((rules.FixedRound(80), 50), (rules.FixedRound(50), 50), (rules.FixedRound(20), 20)):
        result = robai.simulate(robai.Policy(Impatient(), stop), BANDITS[0], 100, 3, rng=0)
        assert (result.commit_time == time).all()
        assert (result.committed_arm == (1 if time < stop.round else 0)).all()


def test_the_stop_waits_for_a_reward_of_every_arm():
    class Late(InTurn):
        def select(self, state):
            return 0 if state.t < 20 else state.t % state.n_arms

    result = robai.simulate(robai.Policy(Late(), rules.FixedRound(5)), BANDITS[0], 100, 2, rng=0)
    assert result.commit_time.tolist() == [23, 23]
    never = robai.simulate(robai.Policy(Late(), rules.FixedRound(5)), BANDITS[0], 20, 2, rng=0)
    assert not never.committed.any()


def test_at_the_horizon():
    result = robai.simulate(robai.Policy(InTurn(), rules.FixedRound(30)), BANDITS[0], 30, 4, rng=0)
    assert result.commit_time.tolist() == [30] * 4
    assert (result.pulls == 10).all()


def test_compared_labelled_described_and_not_leapt():
    policy = robai.Policy(PlainUCB(), rules.Imbalance(), rules.LowerBound())
    assert policy.label().startswith("Policy(explore=PlainUCB(), stop=Imbalance(")
    assert policy.to_dict()["explore"] == {"type": "PythonExploration", "name": "PlainUCB"}
    assert isinstance(policy.explore, rules.PythonExploration)
    table = robai.compare([policy, robai.EOCPUG(), PlainUCB()], BANDITS[0], 500, 10, rng=0, workers=2)
    assert list(table) == [policy.label(), "EOCPUG()", "PlainUCB"]
    assert table[policy.label()] == robai.simulate(policy, BANDITS[0], 500, 10, rng=0, workers=1)
    with pytest.raises(ValueError, match="PlainUCB is written in Python"):
        robai.simulate(policy, BANDITS[0], 500, 1, engine="leap")


def test_what_it_assumes_is_warned_of():
    policy = robai.Policy(PlainUCB(), rules.Imbalance(), rules.LowerBound(sigma=0.5))
    with pytest.warns(robai.AssumptionWarning, match="assumes sigma 0.5, these rewards have 1"):
        robai.simulate(policy, BANDITS[0], 50, 1)


def test_a_checkpoint_is_refused(tmp_path):
    with pytest.raises(ValueError, match="checkpoint must be None for PlainUCB, which is written in Python"):
        robai.simulate(
            robai.Policy(PlainUCB(), rules.Imbalance()), BANDITS[0], 50, 1, checkpoint=tmp_path / "c"
        )


@pytest.mark.parametrize("explore", [PlainUCB, object(), "ucb", rules.Never()], ids=str)
def test_what_is_no_exploration(explore):
    with pytest.raises(TypeError, match="explore must be an exploration rule"):
        robai.Policy(explore=explore)
    with pytest.raises(TypeError, match="stop must be a stopping rule"):
        robai.Policy(rules.RoundRobin(), stop=PlainUCB())


def test_recommended_is_for_stages():
    with pytest.raises(ValueError, match="needs an exploration in stages"):
        robai.Policy(PlainUCB(), commit=rules.Recommended())


# ---- agents


OPTIONS = {"arms": ["a", "b", "c"], "horizon": 300, "reward": families.Gaussian(1.0), "rng": 0}


def played(policy, rewards, **options):
    return driven(robai.Agent(policy, **OPTIONS | options), rewards)


def driven(agent, rewards):
    arms = []
    for row in rewards:
        if agent.committed:
            break
        arms.append(agent.select())
        agent.update(arms[-1], row[agent.labels.index(arms[-1])])
    return agent, arms


@pytest.mark.parametrize("stop", [*STOPS[:2], *STOPS[3:]], ids=repr)
def test_in_an_agent(stop):
    rewards = np.random.default_rng(3).normal([1.0, 0.0, 0.4], 1.0, (299, 3))
    (own, arms), (twin, expected) = (
        played(robai.Policy(explore, stop, rules.LowerBound()), rewards)
        for explore in (PlainUCB(), rules.UpperBound())
    )
    assert arms == expected
    assert own.commit_time == twin.commit_time
    assert own.committed_arm == twin.committed_arm
    assert own.commit_reason == twin.commit_reason


def test_an_agent_is_in_a_store_and_is_not_saved(tmp_path):
    rewards = np.random.default_rng(3).normal([1.0, 0.0, 0.4], 1.0, (299, 3))
    policy = robai.Policy(PlainUCB(), rules.FixedRound(40), rules.LowerBound())
    with robai.Store(tmp_path / "live.db") as store:
        agent, _ = driven(store.create("own", policy, **OPTIONS), rewards)
        assert agent.commit_time == 40
        assert "40 rewards had arrived" in agent.summary()
        with pytest.raises(TypeError, match=r"PlainUCB is written in Python.*a store"):
            agent.to_json()
        sums, reason = agent.sums.tolist(), agent.commit_reason
    with robai.Store(tmp_path / "live.db") as store:
        again = store.create("own", policy, **OPTIONS, exist_ok=True)
        assert again.sums.tolist() == sums
        assert again.commit_reason == reason
        other = robai.Policy(InTurn(), rules.FixedRound(40), rules.LowerBound())
        with pytest.raises(ValueError, match="was created with policy"):
            store.create("own", other, **OPTIONS, exist_ok=True)
        with pytest.raises(ValueError, match="has to be handed to create"):
            store.open("own")


def test_an_agent_whose_exploration_commits():
    class Impatient(InTurn):
        def select(self, state):
            return robai.Commit(1) if state.t >= 12 else super().select(state)

    agent, _ = played(robai.Policy(Impatient(), rules.FixedRound(40)), np.zeros((100, 3)))
    assert agent.commit_time == 12
    assert agent.commit_reason == "Impatient returned Commit(1)"


def test_late_rewards_delay_the_stop():
    agent = robai.Agent(
        robai.Policy(InTurn(), rules.FixedRound(6)), 3, 100, reward=families.Gaussian(1.0), rng=0
    )
    arms = agent.select_batch(9).tolist()
    assert arms == [0, 1, 2] * 3
    agent.update_batch(arms[:5], [0.0, 1.0, 0.5, 0.0, 1.0])
    assert not agent.committed
    agent.select()
    assert not agent.committed
    agent.update(2, 0.5)
    assert agent.select() == 1
    assert agent.commit_time == 6
