"""What functions of the user's go by: their names in pickles, files and other processes."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from support import extensions

import robai
from robai import rules

GAUSSIAN = robai.Gaussian([0.7, 0.2, 0.5])
MOSS_LEVEL = rules.Level("support.extensions:moss_level", name="MOSS")
MOSS_INDEX = rules.Index("support.extensions:moss_index", name="MOSS")
AFTER_100 = rules.Stop("support.extensions:after_100", name="100 rounds")


def test_they_are_specifications():
    assert rules.Level("support.extensions:moss_level", name="MOSS") == MOSS_LEVEL
    assert rules.Level("support.extensions:moss_level", name="MOSS", grows=True) != MOSS_LEVEL
    assert hash(robai.UCB(level=MOSS_LEVEL)) == hash(robai.UCB(level=copy.deepcopy(MOSS_LEVEL)))
    assert robai.UCB(level=MOSS_LEVEL).label() == "UCB(level=MOSS)"
    pointer = rules.Index(extensions.moss_index, name="MOSS")
    assert pointer == rules.Index(extensions.moss_index, name="MOSS")
    assert copy.deepcopy(pointer) == pointer
    assert hash(pointer) == hash(copy.copy(pointer))
    assert "compiled" in repr(pointer)
    with pytest.raises(TypeError, match="explore must be an exploration rule"):
        robai.Policy(explore=MOSS_LEVEL)


@pytest.mark.parametrize(
    "policy",
    [robai.UCB(level=MOSS_LEVEL), robai.Policy(MOSS_INDEX, AFTER_100 & rules.Never())],
    ids=["level", "index and stop"],
)
def test_names_are_pickled_and_described(policy):
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert type(policy).from_dict(policy.to_dict()) == policy


@pytest.mark.parametrize("rule", [MOSS_LEVEL, MOSS_INDEX, AFTER_100], ids=repr)
def test_names_are_pickled_after_they_were_described(rule):
    rule.brief()
    assert pickle.loads(pickle.dumps(rule)) == rule


POINTERS = [
    robai.UCB(level=rules.Level(extensions.moss_level, name="MOSS")),
    robai.Policy(rules.Index(extensions.moss_index, name="MOSS")),
    robai.Policy(robai.UCB(), rules.Imbalance() & rules.Stop(extensions.after_100, name="MOSS")),
]
KINDS = ["Level", "Index", "Stop"]


@pytest.mark.parametrize(("policy", "kind"), list(zip(POINTERS, KINDS, strict=True)), ids=KINDS)
def test_addresses_are_not(policy, kind, tmp_path):
    why = f"{kind} 'MOSS' needs a function that goes by a name, .*package.module:object"
    with pytest.raises(ValueError, match=f"pickling {why}"):
        pickle.dumps(policy)
    with pytest.raises(ValueError, match=f"checkpoint=.* with {why}"):
        robai.simulate(policy, GAUSSIAN, 100, 10, checkpoint=tmp_path / "checkpoint")
    assert not (tmp_path / "checkpoint").exists()
    agent = robai.Agent(policy, 3, 1000, reward=robai.families.Gaussian(1.0), rng=0)
    with pytest.raises(ValueError, match=f"saving {why}"):
        agent.save(tmp_path / "agent.json")
    with ProcessPoolExecutor(1) as pool, pytest.raises(ValueError, match=f"pickling {why}"):
        robai.simulate(policy, GAUSSIAN, 100, 10, executor=pool)
    # The numbers themselves can be saved, and say what was played.
    result = robai.simulate(policy, GAUSSIAN, 100, 10, rng=0)
    result.save(tmp_path / "result")
    assert "compiled" in str(robai.Result.load(next(tmp_path.glob("result*"))).meta["policy"])


@pytest.mark.parametrize(
    "policy", [robai.UCB(level=MOSS_LEVEL), robai.Policy(MOSS_INDEX, AFTER_100)], ids=repr
)
def test_names_go_anywhere(policy, tmp_path):
    here = robai.simulate(policy, GAUSSIAN, 200, 100, rng=0)
    with ProcessPoolExecutor(2) as pool:
        assert robai.simulate(policy, GAUSSIAN, 200, 100, rng=0, executor=pool) == here
    for _ in range(2):
        assert robai.simulate(policy, GAUSSIAN, 200, 100, rng=0, checkpoint=tmp_path / "checkpoint") == here
    agent = robai.Agent(policy, 3, 200, reward=robai.families.Gaussian(1.0), rng=0)
    for reward in np.random.default_rng(0).normal(size=150):
        agent.update(agent.select(), reward)
    agent.save(tmp_path / "agent.json")
    again = robai.load(tmp_path / "agent.json")
    assert again.to_json() == agent.to_json()
    assert [again.select() for _ in range(20)] == [agent.select() for _ in range(20)]


def test_a_file_does_not_choose_what_is_run(tmp_path):
    agent = robai.Agent(robai.Policy(MOSS_INDEX), 3, 200, reward="bernoulli", rng=0)
    text = agent.to_json().replace("support.extensions:moss_index", "antigravity:fly")
    with pytest.raises(
        ValueError, match="field policy: 'antigravity:fly' is code to be run, which a file cannot"
    ):
        robai.Agent.from_json(text)
    assert "antigravity" not in __import__("sys").modules


@pytest.mark.parametrize(
    "policy", [POINTERS[1], robai.Policy(MOSS_INDEX, AFTER_100)], ids=["address", "name"]
)
def test_a_store_brings_an_agent_back(policy, tmp_path):
    options = {"reward": robai.families.Gaussian(1.0), "rng": 0, "exist_ok": True}
    with robai.Store(tmp_path / "live.db") as store:
        agent = store.create("moss", policy, 3, 200, **options)
        for reward in np.random.default_rng(0).normal(size=120):
            agent.update(agent.select(), reward)
        sums, committed = agent.sums.tolist(), agent.committed_arm
    with robai.Store(tmp_path / "live.db") as store:
        again = store.create("moss", policy, 3, 200, **options)
        assert again.sums.tolist() == sums
        assert again.committed_arm == committed
        assert store.check() == []
