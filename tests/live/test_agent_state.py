"""The durable state of an agent: it goes on exactly, and nothing that is not a state gets in."""

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.agents import Website, agent_for, explored, played_until_commitment, twins
from support.examples import POLICIES, TWO_ARMED, fitting

import robai
from robai import HorizonReached, rules

GOLDEN = sorted((Path(__file__).parents[1] / "support" / "data").glob("agent-*.json"))


# ---- going on


def test_a_restored_agent_goes_on_as_if_it_had_not_stopped(policy, bandit):
    """A restart after every few rounds changes nothing, in any stage of any policy."""
    bandit = fitting(policy, bandit)
    horizon = 60 if isinstance(policy, robai.TrackAndStop) else 250
    straight = agent_for(policy, bandit, horizon, rng=6)
    arms = played_until_commitment(straight, bandit)

    agent = agent_for(policy, bandit, horizon, rng=6)
    website = Website(bandit, agent)
    for step, arm in enumerate(arms):
        assert agent.select() == arm
        agent.update(arm, website.visit(arm))
        if step % 7 == 3:
            agent = robai.Agent.from_json(agent.to_json())
            website.stream = agent._player.stream
    if straight.committed:
        agent.select()
    assert agent.to_json() == straight.to_json()
    assert agent.summary() == straight.summary()


def test_saved_and_loaded(tmp_path):
    (agent,) = twins(1, arms=["a", "b", "c"])
    agent.update_batch(agent.select_batch(100)[:60], [0.5] * 60)
    agent.save(tmp_path / "experiment.json")
    assert robai.load(tmp_path / "experiment.json").to_json() == agent.to_json()


COMBINED = [
    robai.Policy(
        robai.KLUCB(family="bernoulli"),
        (rules.Imbalance() & rules.LikelihoodRatio(share=0.5, family="bernoulli")) | rules.FixedRound(500),
        rules.MostPulled(),
    ),
    robai.Policy(robai.ThompsonSampling(), rules.Separation(delta=0.1), robai.EOCPUG()),
]


@pytest.mark.parametrize("policy", [*POLICIES, *COMBINED], ids=repr)
def test_every_parameter_of_a_policy_comes_back(policy):
    agent = agent_for(policy, fitting(policy, robai.Bernoulli([0.1, 0.2, 0.3])), 1000)
    again = robai.Agent.from_json(agent.to_json())
    assert again.policy == policy
    assert again.to_json() == agent.to_json()


@pytest.mark.parametrize(
    "reward", ["bounded", robai.families.Binomial(7), robai.families.Gamma(2.5), robai.families.Gaussian(0.1)]
)
def test_every_reward_comes_back(reward):
    agent = robai.Agent(robai.UCB(sigma=1.0), [1, 2.5, "x"], 99, reward=reward)
    again = robai.Agent.from_json(agent.to_json())
    assert again.labels == (1, 2.5, "x")
    assert again.to_json() == agent.to_json()
    for arm in agent.labels:
        agent.update(arm, 1)
    if reward == "bounded":
        again.update(1, 0.5)


# ---- golden files: states that were written by every version must stay readable


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_old_states_stay_loadable_and_go_on(path):
    agent = robai.load(path)
    known = json.loads(path.with_suffix(".expected").read_text())
    assert [agent.committed_arm, agent.commit_time] == known["commitment"]
    assert agent.pulls.tolist() == known["pulls"]
    assert [agent.select() for _ in known["next"]] == known["next"]


def test_there_are_golden_states():
    assert len(GOLDEN) >= 6


# ---- what is not a state


@pytest.fixture(scope="module")
def state():
    return json.loads(explored(robai.ActionElimination(), robai.Bernoulli([0.9, 0.1, 0.2]), 5000).to_json())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", "robai.Result"),
        ("schema", 4),
        ("schema", 0),
        ("schema", "1"),
        ("schema", True),
        ("policy", "UCB"),
        ("policy", {"type": "os.system"}),
        ("policy", {"type": "EOCP"}),
        ("policy", {"type": "EOCP", "gap": -1.0}),
        ("policy", {"type": "UCB", "gap": 1.0}),
        ("policy", {"type": "UCB", "sigma": {"type": "Never"}}),
        ("policy", {"type": "Policy", "explore": {"type": "Never"}}),
        ("arms", 10**6),
        ("arms", ["a", "b"]),
        ("arms", ["a", "a", "b"]),
        ("horizon", 0),
        ("horizon", "many"),
        ("horizon", 10**30),
        ("reward", {"type": "Beta"}),
        ("reward", {"type": "Binomial", "n": -1}),
        ("answered", 3),
        ("pulls", [1, 2]),
        ("pulls", [1, 2, -3]),
        ("pulls", [1, 2, 1.5]),
        ("pulls", [2**62, 2**62, 2**62]),
        ("sums", [0.5, 0.0, 0.0]),
        ("sums", [10**9, 0.0, 0.0]),
        ("pending", [0, 0, -1]),
        ("pending", [0, 0, 2**61]),
        ("generator", ["0", "0", "0", "0"]),
        ("generator", ["1", "2", "3", str(2**64)]),
        ("generator", [1, 2, 3, 4]),
        ("exploration", {}),
        ("exploration", {"active": [0, 7]}),
        ("exploration", {"active": [1, 0]}),
        ("exploration", {"active": 3}),
        ("exploration", []),
        ("delta", 0.0),
        ("delta", "small"),
        ("arms_ever", 2),
        ("arms_ever", 10**7),
        ("held", 1),
        ("spent", -1),
        ("spent", 2**61),
        ("commitment", {}),
        ("commitment", {"arm": 3, "answered": 3, "pulls": [1, 1, 1], "sums": [0, 0, 0]}),
        ("commitment", {"arm": 0, "answered": 9, "pulls": [1, 1, 1], "sums": [0, 0, 0]}),
        ("commitment", {"arm": 0, "answered": 2, "pulls": [1, 1, 0], "sums": [0, 0, 0]}),
    ],
)
def test_a_wrong_field_is_named(state, field, value):
    with pytest.raises(ValueError, match=field):
        robai.Agent.from_json(json.dumps({**state, field: value}))


def test_a_missing_field_is_named(state):
    for field in state.keys() - {"robai"}:
        with pytest.raises(ValueError, match=field):
            robai.Agent.from_json(json.dumps({name: value for name, value in state.items() if name != field}))


def test_a_policy_that_never_commits_has_no_commitment(state):
    with pytest.raises(ValueError, match="never commits"):
        robai.Agent.from_json(json.dumps({**state, "policy": {"type": "UCB"}, "exploration": {}}))


@pytest.mark.parametrize(
    "text", ["", "[]", "3", "{", "NaN", '{"a": NaN}', "[" * 10**5, "\x00", '{"schema": 1}']
)
def test_what_is_not_a_state_is_a_value_error(text, tmp_path):
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"state\.json"):
        robai.load(path)


@pytest.mark.parametrize("name", ["horizon", "type"])  # of the state, of what is in it
def test_a_name_that_is_given_twice_is_refused(state, name):
    text = json.dumps(state)
    value = re.search(rf'"{name}": [^,}}]+', text).group()
    with pytest.raises(ValueError, match=f"'{name}' is given twice"):
        robai.Agent.from_json(text.replace(value, f"{value}, {value}", 1))


def test_deep_rules_are_refused(state):
    policy = {"type": "Never"}
    for _ in range(500):
        policy = {"type": "Both", "first": policy, "second": {"type": "Never"}}
    policy = {"type": "Policy", "explore": {"type": "RoundRobin"}, "stop": policy}
    with pytest.raises(ValueError, match="nested too deeply"):
        robai.Agent.from_json(json.dumps({**state, "policy": policy}))


VALUES = [
    None,
    True,
    -1,
    0,
    1,
    2,
    3,
    0.5,
    -0.0,
    1e308,
    2**53,
    2**63,
    2**64,
    10**40,
    "",
    "1",
    "UCB",
    [],
    {},
    [0, 0, 0],
]


def mutated(text, chance):
    """A state with one field changed, lost, moved or doubled, or with some of its bytes changed."""
    if chance.random() < 0.3:
        data = bytearray(text.encode())
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(data))
            data[place : place + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
        return bytes(data)
    state = json.loads(text)
    holders, node = [], state
    while isinstance(node, dict | list) and node:
        key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        holders.append((node, key))
        node = node[key]
    holder, key = chance.choice(holders)
    kind = chance.random()
    if kind < 0.15:
        del holder[key]
    elif kind < 0.3 and isinstance(holder, list):
        holder.insert(key, chance.choice(VALUES))
    elif kind < 0.5:
        other, other_key = chance.choice(holders)
        holder[key] = json.loads(json.dumps(other[other_key]))
    else:
        holder[key] = chance.choice(VALUES)
    return json.dumps(state)


def test_ten_thousand_mutated_states_load_or_raise_a_value_error():
    chance = random.Random(2024)
    texts = []
    for policy in POLICIES:
        agent = explored(policy, fitting(policy, robai.Bernoulli([0.9, 0.3, 0.2])), 60)
        texts.append(agent.to_json())
    loaded = 0
    for i in range(10_000):
        text = mutated(texts[i % len(texts)], chance)
        try:
            agent = robai.Agent.from_json(text)
        except ValueError:
            continue
        loaded += 1
        assert robai.Agent.from_json(agent.to_json()).to_json() == agent.to_json()
        agent.summary()
        try:
            for _ in range(5):
                agent.update(agent.select(), 1.0)
        except (HorizonReached, ValueError):
            pass  # at the end of its rounds, or a family without the reward 1
        assert (agent.pulls >= 0).all()
    assert 500 < loaded < 9500


# ---- all at once


class Experiments(RuleBasedStateMachine):
    """Selections, late and early answers, batches, aggregates and restarts, in any order."""

    @initialize(
        policy=st.sampled_from([p for p in POLICIES if not isinstance(p, robai.TrackAndStop)]),
        seed=st.integers(0, 100),
    )
    def begin(self, policy, seed):
        self.arms = ["a", "b"] if isinstance(policy, TWO_ARMED) else ["a", "b", "c"]
        self.agent = robai.Agent(policy, self.arms, 400, reward="bernoulli", rng=seed)
        self.pulls = dict.fromkeys(self.arms, 0)
        self.sums = dict.fromkeys(self.arms, 0)
        self.handed = dict.fromkeys(self.arms, 0)
        self.commitment = None

    def answered(self, arm, n, total):
        self.pulls[arm] += n
        self.sums[arm] += total
        self.handed[arm] = max(0, self.handed[arm] - n)

    @rule()
    def select(self):
        try:
            self.handed[self.agent.select()] += 1
        except HorizonReached:
            assert self.agent.rounds >= 400
            assert not self.agent.committed

    @rule(n=st.integers(1, 40))
    def select_batch(self, n):
        try:
            arms = self.agent.select_batch(n)
        except (HorizonReached, ValueError):
            assert self.agent.rounds + n > 400
        else:
            assert len(arms) == n
            for arm in arms:
                self.handed[arm] += 1

    @rule(data=st.data(), reward=st.integers(0, 1))
    def update(self, data, reward):
        arm = data.draw(st.sampled_from(self.arms))
        self.agent.update(arm, reward)
        self.answered(arm, 1, reward)

    @precondition(lambda self: sum(self.handed.values()))
    @rule(data=st.data(), share=st.floats(0, 1))
    def update_batch(self, data, share):
        pending = [arm for arm in self.arms for _ in range(self.handed[arm])]
        arms = data.draw(st.permutations(pending))[: max(1, round(share * len(pending)))]
        rewards = [(7 * i + len(arms)) % 3 == 0 for i in range(len(arms))]
        self.agent.update_batch(arms, rewards)
        for arm, reward in zip(arms, rewards, strict=True):
            self.answered(arm, 1, reward)

    @rule(data=st.data(), n=st.integers(0, 50))
    def update_counts(self, data, n):
        arm, total = data.draw(st.sampled_from(self.arms)), data.draw(st.integers(0, n))
        self.agent.update_counts(arm, n, total, total - total**2 / n if n else 0.0)  # of zeros and ones
        self.answered(arm, n, total)

    @rule(data=st.data(), bad=st.sampled_from([0.5, float("nan"), -1.0]))
    def refused(self, data, bad):
        before = self.agent.to_json()
        with pytest.raises(ValueError, match="reward must be"):
            self.agent.update(data.draw(st.sampled_from(self.arms)), bad)
        assert self.agent.to_json() == before

    @rule()
    def restart(self):
        state, straight = self.agent.to_json(), self.agent
        ahead = 50 if straight.committed else min(50, straight.horizon - straight.rounds)
        if ahead > 0:
            restored = robai.Agent.from_json(state)
            assert straight.select_batch(ahead) == restored.select_batch(ahead)
            assert straight.to_json() == restored.to_json()
        self.agent = robai.Agent.from_json(state)

    @invariant()
    def counts_equal_history(self):
        agent = self.agent
        assert agent.pulls.tolist() == list(self.pulls.values())
        assert agent.sums.tolist() == list(self.sums.values())
        assert agent.pending.tolist() == list(self.handed.values())
        assert agent.rounds == sum(self.pulls.values()) + sum(self.handed.values())

    @invariant()
    def commitment_is_absorbing(self):
        now = (self.agent.committed_arm, self.agent.commit_time, self.agent.commit_reason)
        if self.commitment is not None:
            assert now == self.commitment
        elif self.agent.committed:
            self.commitment = now


TestExperiments = Experiments.TestCase
TestExperiments.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
