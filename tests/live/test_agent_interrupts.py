"""Exceptions at any moment of a call: memory and journal stay in step, or the agent refuses to go on."""

import os
import random
import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from support.agents import agent_for, twins
from support.examples import POLICIES, fitting

import robai
from robai._core.player import Player

ARGUMENTS = {"arms": 3, "horizon": 10**6, "reward": "bernoulli", "rng": 3}
AGAIN = "make it again from its journal"


class Interruption(BaseException):
    """As KeyboardInterrupt, but certainly ours."""


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


def opened(path, policy, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a torn last line, which was not acknowledged
        return robai.Agent(policy, **{**ARGUMENTS, "journal": path, **options})


def known(agent):
    """What can be seen of an agent, also of one that refuses to be saved."""
    return agent.pulls.tolist(), agent.sums.tolist(), agent.pending.tolist(), agent.committed_arm


def assert_in_step(agent, path, policy, selected, updated):
    """The journal is readable and has all that was acknowledged, and one more change at most."""
    if agent is not None:
        agent.journal.close()
    again = opened(path, policy)
    handed = int(again.pulls.sum() + again.pending.sum())
    assert 0 <= handed - selected <= 1
    assert 0 <= again.pulls.sum() - updated <= 1
    if agent is not None:
        assert known(again) == known(agent)
        if not isinstance(policy, Told):
            assert again.to_json() == agent.to_json()
    again.update(again.select(), 1)
    again.journal.close()


def play(agent, policy, path, interrupted, rounds=10**9):
    """`while True: update(select(), 1)` until it is interrupted, then on, as in a notebook."""
    selected = updated = 0
    try:
        interrupted()
        for _ in range(rounds):
            arm = agent.select()
            selected += 1
            agent.update(arm, 1)
            updated += 1
    except Interruption:
        pass
    finally:
        sys.settrace(None)
    end = "on"
    try:
        for _ in range(3):
            arm = agent.select()
            selected += 1
            agent.update(arm, 1)
            updated += 1
    except RuntimeError as error:
        assert AGAIN in str(error)  # noqa: PT017
        end, agent = "again", None
    assert_in_step(agent, path, policy, selected, updated)
    return end


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
def test_a_thousand_interrupts_at_random_moments(tmp_path):
    chance = random.Random(5)
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(Interruption()))
    ends = []
    try:
        for i in range(1000):
            policy = robai.ThompsonSampling() if i % 2 else robai.KLEOCPUG()
            path = tmp_path / f"{i}"
            agent = opened(path, policy)
            ends.append(
                play(
                    agent,
                    policy,
                    path,
                    lambda: signal.setitimer(signal.ITIMER_REAL, 1e-6 + 1e-3 * chance.random()),
                )
            )
            del agent
            path.unlink()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert set(ends) == {"on", "again"}


class AtInstruction:
    """Interrupts the n-th bytecode of the package that is run once it has begun."""

    def __init__(self, number):
        self.left, self.before = number, sys.gettrace()

    def begin(self):
        sys.settrace(self.trace)

    def trace(self, frame, event, argument):
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_code.co_filename != __file__:
            self.left -= 1
            if self.left == 0:
                raise Interruption
        return self.trace


@pytest.mark.parametrize("policy", [robai.KLEOCPUG(), robai.ActionElimination(), Told()], ids=repr)
def test_an_interrupt_at_every_single_instruction(tmp_path, policy):
    """Every bytecode of two rounds in turn, also those that no timer would reach."""
    ends, number = [], 0
    while True:
        number += 1
        path, moment = tmp_path / f"{number}", AtInstruction(number)
        end = play(opened(path, policy), policy, path, moment.begin, rounds=2)
        if moment.left > 0:
            break  # the two rounds have fewer
        ends.append(end)
        path.unlink()
    assert len(ends) > 300
    assert set(ends) == {"on", "again"}


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


def test_a_disk_that_is_full_hands_out_nothing_and_commits_to_nothing(tmp_path, monkeypatch):
    agent = due(journal=tmp_path / "journal")

    def full(file, data):
        raise OSError(28, "No space left on device")

    before = known(agent)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            agent.select()
    assert known(agent) == before
    for call in (agent.select, agent.to_json, lambda: agent.update(0, 1), lambda: agent.select_batch(3)):
        with pytest.raises(RuntimeError, match=AGAIN):
            call()
    again = robai.Agent(
        robai.EOCPUG(), **{**ARGUMENTS, "reward": robai.families.Gaussian(1.0)}, journal=tmp_path / "journal"
    )
    assert known(again) == before


@pytest.mark.parametrize("call", ["select", "select_batch", "update"])
def test_a_policy_that_draws_and_then_raises(tmp_path, call):
    def played(agent):
        for _ in range(7):
            agent.update(agent.select(), 1)
        return agent

    error = ArithmeticError("mine")
    for journal in (None, tmp_path / "journal"):
        agent, calm = played(opened(journal, Told(error))), played(opened(None, Told()))
        before = known(agent)
        with pytest.raises(ArithmeticError, match="mine"):
            {
                "select": agent.select,
                "select_batch": lambda: agent.select_batch(5),  # noqa: B023
                "update": lambda: agent.update(0, 0),  # noqa: B023
            }[call]()
        assert known(agent) == before
        if journal is None:  # it goes on with the draws that it would have had
            agent.update(0, 1)
            calm.update(0, 1)
            assert [agent.select() for _ in range(9)] == [calm.select() for _ in range(9)]
        else:
            with pytest.raises(RuntimeError, match=AGAIN):
                agent.update(0, 1)
            again = opened(journal, Told(error))
            assert known(again) == before


def test_a_signal_handler_may_look_and_save_but_not_change(tmp_path, monkeypatch):
    agent, calm = opened(tmp_path / "journal", robai.KLEOCPUG()), opened(None, robai.KLEOCPUG())
    refused, states, write = [], [calm.to_json()], os.write

    def handler():
        for call in (agent.select, lambda: agent.update(0, 1), lambda: agent.update_counts(0, 1, 1)):
            with pytest.raises(RuntimeError, match="in the middle of another call") as error:
                call()
            refused.append(error)
        agent.summary()
        assert robai.Agent.from_json(agent.to_json()).to_json() == agent.to_json()
        assert agent.to_json() in states

    def interrupted(file, data):
        handler()
        return write(file, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupted)
        for step in range(40):
            arm = calm.select()
            states.append(calm.to_json())
            assert agent.select() == arm
            agent.update(arm, step % 2)
            calm.update(arm, step % 2)
            states.append(calm.to_json())
    assert len(refused) == 40 * 2 * 3
    assert_in_step(agent, tmp_path / "journal", robai.KLEOCPUG(), 40, 40)


def test_a_policy_cannot_change_the_agent_that_asks_it():
    class Meddling(Told):
        def select(self, state):
            agents[0].update(0, 1)

    agents = []
    agents.append(opened(None, Meddling()))
    with pytest.raises(RuntimeError, match="in the middle of another call"):
        agents[0].select()
    assert agents[0].rounds == 0


# ---- journals


def test_a_journal_is_for_one_agent(tmp_path):
    journal = robai.Journal(tmp_path / "journal")
    agent = opened(journal, robai.KLEOCPUG())
    with pytest.raises(RuntimeError, match="belongs to another agent"):
        opened(journal, robai.KLEOCPUG())
    agent.update(agent.select(), 1)  # the first one goes on
    closed = robai.Journal(tmp_path / "other")
    closed.close()
    with pytest.raises(RuntimeError, match="closed"):
        opened(closed, robai.KLEOCPUG())
    del agent


def test_a_journal_that_is_moved_away_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, away = tmp_path / "journal", tmp_path / "away"
    agent = opened("journal", robai.KLEOCPUG())
    agent.update(agent.select(), 1)
    monkeypatch.chdir("/")  # which is none of its business
    agent.update(agent.select(), 1)
    before = agent.to_json()
    path.rename(away)
    for replaced in (False, True):
        if replaced:
            path.write_bytes(away.read_bytes())
        for call in (agent.select, lambda: agent.update(0, 1), lambda: agent.select_batch(2)):
            with pytest.raises(RuntimeError, match=r"not there any more|another file now"):
                call()
        assert agent.to_json() == before
    away.rename(path)
    agent.update(agent.select(), 1)
    assert_in_step(agent, path, robai.KLEOCPUG(), 3, 3)


# ---- what used to crash the interpreter


def test_counts_that_do_not_fit_are_refused():
    (agent,) = twins(1)
    player = agent._player
    for counts in (
        ([1], [1.0], [0.0], [0], None),
        ([1] * 3, [1.0] * 3, [0.0] * 3, [0] * 2, None),
        ([1] * 3, [1.0] * 3, [0.0] * 2, [0] * 3, None),
        ([1] * 3, [1.0] * 3, [0.0] * 3, [0] * 3, (7, 3, [1] * 3, [1.0] * 3, None)),
        ([1] * 3, [1.0] * 3, [0.0] * 3, [0] * 3, (-1, 3, [1] * 3, [1.0] * 3, None)),
    ):
        with pytest.raises(ValueError, match=r"there must be 3|no arm"):
            player.restore(*counts)
    for number in (-1, 3, 2**62):
        with pytest.raises(IndexError):
            player.update(number, 1.0)
    assert agent.rounds == 0


def test_an_agent_that_was_never_made_is_an_exception():
    class Forgetful(robai.Agent):
        def __init__(self):
            pass

    for agent in (robai.Agent.__new__(robai.Agent), Forgetful()):
        for call in (agent.select, lambda: agent.update(0, 1), agent.summary, agent.to_json):  # noqa: B023
            with pytest.raises(AttributeError):
                call()
    with pytest.raises(TypeError):
        Player.__new__(Player)


# ---- threads, forks and long calls


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("journal", [False, True])
def test_a_child_forked_beside_a_busy_thread_does_not_hang(tmp_path, journal):
    agent = opened(tmp_path / "journal" if journal else None, Told())
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
    assert set(answers) <= ({1} if journal else {0, 1})  # in the middle of a change, or of a journal: refused


def test_waiting_for_another_thread_can_be_interrupted():
    entered, leave = threading.Event(), threading.Event()

    class Slow(Told):
        def __deepcopy__(self, memo):
            return self

        def select(self, state):
            entered.set()
            leave.wait(20)
            return 0

    agent = opened(None, Slow())
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
        agent, moment = opened(None, robai.KLEOCPUG()), AtInstruction(number)
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
