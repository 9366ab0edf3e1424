"""Threads that share policies, bandits and an agent: with the GIL, and where Python has none."""

import copy
import subprocess
import sys
import sysconfig
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.examples import fitting

import robai

THREADS = 6


def at_once(function):
    """What the function returns for 0, 1, ..., called by as many threads, which begin together."""
    barrier = threading.Barrier(THREADS)

    def called(number):
        barrier.wait()
        return function(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(called, range(THREADS)))


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_no_module_of_the_core_turns_the_gil_on():
    """In a process of its own: modules of other packages may."""
    program = """
        import importlib, pathlib, sys, robai._core
        for path in pathlib.Path(robai._core.__file__).parent.glob("*.so"):
            importlib.import_module("robai._core." + path.name.split(".")[0])
        print(len([name for name in sys.modules if name.startswith("robai._core.")]), sys._is_gil_enabled())
        """
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program)]
    loaded, gil = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(loaded) > 20
    assert gil == "False"


def test_simulations_at_once_are_those_one_after_the_other(policy):
    """Calls share the specifications and what these remember; nothing is remembered when they begin."""
    bandit = fitting(policy, robai.Gaussian([0.7, 0.2, 0.1]))

    def played(number):
        return robai.simulate(policy, bandit, 200, 20, rng=number % 2, workers=2)

    alone = [played(number) for number in range(THREADS)]
    policy, bandit = (type(each)(**dict(each._parameters())) for each in (policy, bandit))
    assert at_once(played) == alone


def test_tables_at_once_are_those_one_after_the_other():
    bandit = robai.Bernoulli([0.7, 0.2])

    def compared(number):
        table = robai.compare([robai.KLEOCPUG(), robai.UCB()], bandit, 10**4, 50, rng=number)
        level = robai.kl.upper("bernoulli", 0.1 * number, 0.3)
        return table.summary(), level, robai.theory.limits.lai_robbins(bandit)

    assert at_once(compared) == [compared(number) for number in range(THREADS)]


@pytest.mark.parametrize("kind", [robai.KLEOCPUG, robai.LeadCommit, robai.ActionElimination], ids=str)
def test_what_threads_did_to_an_agent_can_be_repeated_by_one(tmp_path, kind):
    """The store has the order in which things came to pass; an agent that repeats it is the same."""
    store = robai.Store(tmp_path / "live.db")
    agent = store.create("threads", kind(), ["a", "b", "c"], 10**5, reward="bernoulli", rng=0)

    def commitment():
        return [agent.committed_arm, agent.commit_time, agent.commit_reason]

    def hammer(number):
        seen = []
        for step in range(300):
            if number == 0:
                seen.extend(commitment())
                assert "a" in agent.summary()
                copy.copy(agent).select_batch(3)
            elif step % 50 == 0:
                arms = agent.select_batch(20)
                agent.update_batch(arms, [arm == "b" for arm in arms])
            else:
                arm = agent.select()
                agent.update(arm, arm == "b")
        return seen

    assert set(at_once(hammer)[0]) <= {None, *commitment()}
    assert agent.committed_arm == "b"
    assert agent.pulls.sum() == agent.rounds == (THREADS - 1) * (294 + 6 * 20)
    before = agent.to_json()
    assert store.check() == []
    store.close()
    with robai.Store(tmp_path / "live.db") as store:
        assert store.open("threads").to_json() == before
