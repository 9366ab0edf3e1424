"""Exceptions at any moment of a call: it was made, or it was not."""

import itertools
import os
import random
import signal
import sys
import threading
import time

import numpy as np
import pytest
from support.agents import agent_for
from support.examples import POLICIES, fitting
from support.interruptions import AtInstruction, Interruption, interrupted_at_random

import robai

pytestmark = pytest.mark.usefixtures("no_collections")
ARGUMENTS = {"arms": 3, "horizon": 10**6, "reward": "bernoulli", "rng": 3}


class Told:
    """A policy in Python whose choices depend on all that it was told, and on its draws."""

    def __init__(self, error=None):
        self.sum, self.error = 0.0, error

    def select(self, state):
        draw = int(state.rng.integers(state.n_arms))
        if self.error is not None and state.pulls.sum() == 7:
            raise self.error
        return (draw + int(self.sum)) % state.n_arms

    def update(self, arm, reward):
        if self.error is not None and reward == 0:
            raise self.error
        self.sum += reward + arm


def known(agent):
    """What can be seen of an agent."""
    return agent.pulls.tolist(), agent.sums.tolist(), agent.pending.tolist(), agent.committed_arm


def play(agent, begin, rounds):
    """`update(select(), 1)` until it is interrupted, then on, as in a notebook."""
    selected = updated = 0
    try:
        begin()
        for _ in range(rounds):
            arm = agent.select()
            selected += 1
            agent.update(arm, 1)
            updated += 1
    except Interruption:
        pass
    finally:
        sys.settrace(None)
    for _ in range(3):
        agent.update(agent.select(), 1)
    assert 0 <= agent.rounds - selected - 3 <= 1
    assert 0 <= agent.pulls.sum() - updated - 3 <= 1
    if not isinstance(agent.policy, Told):
        assert robai.Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
def test_a_thousand_interrupts_at_random_moments():
    with interrupted_at_random(random.Random(5)) as (timer, seen):
        while len(seen) < 1000:
            policy = robai.ThompsonSampling() if len(seen) % 2 else robai.KLEOCPUG()
            agent = robai.Agent(policy, **ARGUMENTS)
            play(agent, timer, 10**9)


@pytest.mark.parametrize("policy", [robai.KLEOCPUG(), robai.ActionElimination(), Told()], ids=repr)
def test_an_interrupt_at_every_single_instruction(policy):
    """Every bytecode of two rounds in turn, also those that no timer would reach."""
    for number in itertools.count(1):
        moment = AtInstruction(number)
        play(robai.Agent(policy, **ARGUMENTS), moment.begin, rounds=2)
        if moment.left > 0:
            break  # the two rounds have fewer
    assert number > 30


# ---- what is refused changes nothing


def due(**options):
    """An agent that commits at the next selection."""
    agent = robai.Agent(robai.EOCPUG(), **{**ARGUMENTS, "reward": robai.families.Gaussian(1.0), **options})
    for arm, count, total in ((0, 10_000, 50_000.0), (1, 10, 0.0), (2, 10, 0.0)):
        agent.update_counts(arm, count, total)
    return agent


def test_a_batch_that_memory_cannot_hold_commits_to_nothing():
    agent = due()
    before = agent.to_json()
    with pytest.raises(MemoryError):
        agent.select_batch(2**58)
    assert agent.to_json() == before
    assert agent.select() == agent.committed_arm == 0


@pytest.mark.parametrize("call", ["select", "select_batch", "update"])
def test_a_policy_that_draws_and_then_raises(call):
    def played(agent):
        for _ in range(7):
            agent.update(agent.select(), 1)
        return agent

    error = ArithmeticError("mine")
    agent, calm = (played(robai.Agent(policy, **ARGUMENTS)) for policy in (Told(error), Told()))
    before = known(agent)
    with pytest.raises(ArithmeticError, match="mine"):
        {
            "select": agent.select,
            "select_batch": lambda: agent.select_batch(5),
            "update": lambda: agent.update(0, 0),
        }[call]()
    assert known(agent) == before
    agent.update(0, 1)  # it goes on with the draws that it would have had
    calm.update(0, 1)
    assert [agent.select() for _ in range(9)] == [calm.select() for _ in range(9)]


def test_a_policy_cannot_change_the_agent_that_asks_it():
    class Meddling(Told):
        def select(self, state):
            agents[0].update(0, 1)

    agents = []
    agents.append(robai.Agent(Meddling(), **ARGUMENTS))
    with pytest.raises(RuntimeError, match="in the middle of another call"):
        agents[0].select()
    assert agents[0].rounds == 0


def test_an_agent_that_was_never_made_is_an_exception():
    class Forgetful(robai.Agent):
        def __init__(self):
            pass

    for agent in (robai.Agent.__new__(robai.Agent), Forgetful()):
        for call in (agent.select, lambda: agent.update(0, 1), agent.summary, agent.to_json):  # noqa: B023
            with pytest.raises(AttributeError):
                call()


# ---- threads, forks and long calls


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_beside_a_busy_thread_does_not_hang():
    agent = robai.Agent(Told(), **ARGUMENTS)
    done = threading.Event()

    def work():
        while not done.is_set():
            agent.update(agent.select(), 1)

    thread = threading.Thread(target=work)
    thread.start()
    answers = []
    try:
        for _ in range(20):
            time.sleep(0.002)
            child = os.fork()
            if child == 0:
                signal.alarm(10)
                try:
                    agent.select()
                    os._exit(0)
                except RuntimeError as error:
                    os._exit(1 if "forked" in str(error) else 2)
            answers.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    finally:
        done.set()
        thread.join()
    assert set(answers) <= {0, 1}  # in the middle of a change: refused


def test_waiting_for_another_thread_can_be_interrupted():
    entered, leave = threading.Event(), threading.Event()

    class Slow(Told):
        def __deepcopy__(self, memo):
            return self

        def select(self, state):
            entered.set()
            leave.wait(20)
            return 0

    agent = robai.Agent(Slow(), **ARGUMENTS)
    thread = threading.Thread(target=agent.select)
    thread.start()
    entered.wait(20)
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(Interruption()))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(Interruption):
            agent.update(0, 1)
    finally:
        signal.signal(signal.SIGALRM, before)
        still_waiting = thread.is_alive()
        leave.set()
        thread.join()
    assert still_waiting
    assert agent.pending.tolist() == [1, 0, 0]


@pytest.mark.parametrize("policy", [p for p in POLICIES if not isinstance(p, robai.TrackAndStop)], ids=repr)
def test_a_long_batch_can_be_interrupted_and_then_was_none(policy):
    bandit = fitting(policy, robai.Bernoulli([0.9, 0.3, 0.2]))
    agent = agent_for(policy, bandit, 10**12, rng=4)
    for arm in range(bandit.n_arms):
        agent.update_batch([arm] * 20, [1.0] * (10 + arm) + [0.0] * (10 - arm))
    agent.select_batch(30)
    before = agent.to_json()
    again = robai.Agent.from_json(before)
    handler = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(Interruption()))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(Interruption):
            agent.select_batch(10**9)
    finally:
        signal.signal(signal.SIGALRM, handler)
    assert agent.to_json() == before
    assert np.array_equal(agent.select_batch(200), again.select_batch(200))
    assert agent.to_json() == again.to_json()


def test_a_long_batch_after_the_commitment_can_be_interrupted_too():
    agent = due()
    assert agent.select() == agent.committed_arm
    before = agent.to_json()
    handler = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(Interruption()))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with pytest.raises(Interruption):
            agent.select_batch(3 * 10**8)
    finally:
        signal.signal(signal.SIGALRM, handler)
    assert agent.to_json() == before
    assert agent.select_batch(3 * 2**20 + 1).tolist() == [agent.committed_arm] * (3 * 2**20 + 1)
    assert agent.pending.tolist() == [3 * 2**20 + 2, 0, 0]


def test_an_interrupt_finds_a_call_made_in_full_or_not_at_all():
    """Every bytecode of the package in one call of select and one of update, in turn."""
    outcomes, number = set(), 0
    while True:
        number += 1
        agent, moment = robai.Agent(robai.KLEOCPUG(), **ARGUMENTS), AtInstruction(number)
        raised = False
        try:
            moment.begin()
            agent.update(agent.select(), 1)
        except Interruption:
            raised = True
        finally:
            sys.settrace(None)
        if not raised:
            break
        outcomes.add((int(agent.pulls.sum()), int(agent.pending.sum())))
    assert outcomes <= {(0, 0), (0, 1), (1, 0)}
    assert (0, 1) in outcomes


def test_many_arms_are_handed_out_without_a_look_at_all_of_them():
    agent = robai.Agent(robai.UCB(), 300_000, 10**9, reward="bernoulli")
    assert np.array_equal(agent.select_batch(600_000), np.tile(np.arange(300_000), 2))
    agent.update_counts(0, 5, 3)  # more than others have been handed out
    assert agent.select_batch(3).tolist() == [1, 2, 3]
