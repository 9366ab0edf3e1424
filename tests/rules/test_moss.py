"""MOSS compiled against the installed package, by numba and by C: the reference's arms, and the leaps."""

import ctypes
import importlib.util
import math
import sys

import numpy as np
import pytest
from support.examples import arms_played
from support.extensions import block, build_c, build_cython, moss, reference_arms
from support.laws import assert_same_law

import robai
from robai import rules

BANDITS = [robai.Gaussian([0.7, -0.2, 0.1]), robai.Bernoulli([0.7, 0.2, 0.5])]


@pytest.fixture(scope="module")
def cython(tmp_path_factory):
    library = build_cython(tmp_path_factory.mktemp("moss"))
    spec = importlib.util.spec_from_file_location("moss", library)
    names = {"__name__": "moss_rule"}
    with pytest.MonkeyPatch.context() as patch:
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, "moss", module)
        patch.setitem(sys.modules, "moss_rule", module)  # where dataclasses look for the rule
        spec.loader.exec_module(module)
        exec(block("moss_rule.py"), names)
    return robai.Policy(explore=names["MossBound"](sigma=1.0))


@pytest.fixture(scope="module")
def level():
    numba = pytest.importorskip("numba")

    @numba.cfunc(rules.Level.signature)
    def moss_level(pulls, t, horizon, arms):
        return 2 * math.log(max(horizon / (arms * pulls), 1.0))

    return robai.UCB(level=rules.Level(moss_level, name="MOSS"), sigma=1.0)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    library = ctypes.CDLL(str(build_c(tmp_path_factory.mktemp("libmoss"))))
    return robai.Policy(explore=rules.Index(library.moss_index, name="MOSS"))


@pytest.mark.parametrize("bandit", BANDITS, ids=repr)
@pytest.mark.parametrize("way", ["cython", "level", "index"])
def test_the_arms_are_those_of_the_reference(way, bandit, request):
    policy = request.getfixturevalue(way)
    result = robai.simulate(policy, bandit, 400, 6, rng=3, times=range(1, 401), curves=True, engine="step")
    for run in range(6):
        assert arms_played(result, run) == reference_arms(moss, bandit, 400, 3, run)


@pytest.mark.parametrize("way", ["cython", "level", "index"])
def test_an_agent_plays_the_same(way, request):
    policy, bandit = request.getfixturevalue(way), BANDITS[1]
    agent = robai.Agent(policy, 3, 200, reward="bernoulli", rng=0)
    other = robai.Agent(robai.Policy(explore=InPython()), 3, 200, reward="bernoulli", rng=0)
    generator = np.random.default_rng(0)
    for _ in range(200):
        arm = agent.select()
        assert arm == other.select()
        reward = float(generator.random() < bandit.means[arm])
        agent.update(arm, reward)
        other.update(arm, reward)
    assert (agent.pulls > 1).all()


class InPython:
    """MOSS in Python, with the ties of the compiled rules."""

    def select(self, state):
        if state.t < state.n_arms:
            return state.t
        share = np.maximum(state.horizon / (state.n_arms * state.pulls), 1.0)
        indices = state.means + np.sqrt(4 / state.pulls * np.log(share))
        best = np.flatnonzero(indices == indices.max())
        return int(best[0 if len(best) == 1 else int(state.rng.random() * len(best))])

    def update(self, arm, reward):
        pass


@pytest.mark.parametrize("bandit", [robai.Gaussian([1.0, 0.0, 0.6]), robai.Bernoulli([0.7, 0.2])], ids=repr)
@pytest.mark.parametrize("way", ["cython", "level"])
def test_levels_leap_and_have_the_law_of_the_step_engine(way, bandit, request):
    policy = request.getfixturevalue(way)
    leap = robai.simulate(policy, bandit, 5000, 2000, rng=1)
    step = robai.simulate(policy, bandit, 5000, 2000, rng=2, engine="step")
    assert leap.meta["engine"] == "leap"
    assert_same_law(leap.final_regret, step.final_regret)
    assert_same_law(leap.pulls[:, 1].astype(float), step.pulls[:, 1].astype(float))


def test_an_index_does_not_leap(index):
    bandit = BANDITS[0]
    assert robai.simulate(index, bandit, 100, 1).meta["engine"] == "step"
    with pytest.raises(ValueError, match="a Level leaps"):
        robai.simulate(index, bandit, 100, 1, engine="leap")


def test_the_printed_regret(level):
    """Measured by an independent program: Gaussian (.7, .2), T = 10^4, 1,500 runs, 34.89 +- .35."""
    result = robai.simulate(level, robai.Gaussian([0.7, 0.2]), 10**4, 4000, rng=0)
    assert abs(result.regret[-1] - 34.89) < 5 * math.hypot(result.regret_sem[-1], 0.35)
