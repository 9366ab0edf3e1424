"""Exceptions at any moment of a call, and killed processes: the file has all that was acknowledged, once."""

import contextlib
import fcntl
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from support.interruptions import AtInstruction, Interruption, interrupted_at_random

import robai
from robai.live import recorded

pytestmark = pytest.mark.usefixtures("no_collections")
WINDOWS = {"none": {}, "held": {"window": 50.0, "missing": 0.0}, "dropped": {"window": 50.0}}


def is_held(lock_file):
    """By whoever it may be."""
    try:
        fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(lock_file, fcntl.LOCK_UN)
    return False


class Shop:
    """An experiment, its clock, and what is known to have happened in it."""

    def __init__(self, path, policy, window="none"):
        self.path, self.policy, self.options = path, policy, WINDOWS[window]
        self.now, self.visitors, self.known = 0.0, 0, {}
        self.store = robai.Store(path, clock=lambda: self.now)
        self.agent = self.open(self.store)
        other = self.store.create("other", robai.UCB(), 3, 100, reward="bernoulli", rng=1, exist_ok=True)
        self.foreign = other.ticket("somebody")

    def open(self, store):
        return store.create(
            "shop", self.policy, 3, 10**6, reward="bernoulli", rng=3, exist_ok=True, **self.options
        )

    def serve(self, once):
        """A visitor; every call is made again until it comes back, by `once`."""
        self.visitors += 1
        self.now += 1.0
        key, reward = f"{self.visitors}", float(self.visitors % 3 == 0)
        ticket = once(lambda: self.agent.ticket(key))
        outcome = once(lambda: self.agent.answer(ticket, reward))
        assert outcome in ("repeated", "held" if self.options.get("missing") is not None else "counted")
        self.known[ticket.id] = ticket.arm, reward
        with pytest.raises(KeyError, match="not a ticket of experiment 'shop'"):
            self.agent.answer(self.foreign, 1)

    def assert_sound(self):
        """What memory and file say is what happened, each once."""
        assert len(self.known) == self.visitors
        with robai.Store(self.path, clock=lambda: self.now) as store:
            again = self.open(store)
            for agent in (self.agent, again):
                counts = agent.pulls + agent.pending
                assert counts.sum() == self.visitors == agent.rounds
                arms = [arm for arm, _ in self.known.values()]
                assert counts.tolist() == [arms.count(arm) for arm in range(3)]
            if not isinstance(self.policy, Told):
                assert again.to_json() == self.agent.to_json()
            assert again.sums.tolist() == self.agent.sums.tolist()
            if not self.options:
                told = [sum(reward for arm, reward in self.known.values() if arm == a) for a in range(3)]
                assert again.sums.tolist() == told
            assert store.check() == []

    def assert_free(self):
        """Nobody has the lock, and no transaction is open."""
        assert not self.store._log._connection.in_transaction
        assert not self.store._log.mine
        with open(f"{self.path}-lock") as file:
            assert not is_held(file)


class Told:
    """A policy in Python whose choices depend on all that it was told, and on its draws."""

    def __init__(self):
        self.sum = 0.0

    def select(self, state):
        return (int(state.rng.integers(state.n_arms)) + int(self.sum)) % state.n_arms

    def update(self, arm, reward):
        self.sum += reward + arm


def patient(shop, timer, interrupted=lambda: None):
    """What makes a call again, and each time with an interrupt to come, until it comes back."""

    def once(call):
        while True:
            try:
                timer()
                try:
                    return call()
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except Interruption:
                interrupted()
                shop.assert_free()

    return once


@pytest.mark.parametrize("window", WINDOWS)
def test_a_thousand_interrupts_at_random_moments(tmp_path, window, monkeypatch):
    monkeypatch.setattr(recorded, "_SNAPSHOT", 20)
    shop, chance = Shop(tmp_path / "live.db", robai.ThompsonSampling(), window), random.Random(5)
    with interrupted_at_random(chance) as (timer, seen):
        while len(seen) < 1000 // len(WINDOWS):
            shop.serve(patient(shop, timer))
    for _ in range(100):
        shop.serve(lambda call: call())
    shop.assert_sound()
    shop.store.close()


@pytest.mark.parametrize(
    ("policy", "window", "stride"),
    [
        (robai.KLEOCPUG(), "none", 1),
        (robai.KLEOCPUG(), "held", 1),
        (robai.ActionElimination(), "dropped", 1),
        (Told(), "none", 11),  # which is repeated from its beginning
    ],
    ids=["none", "held", "dropped", "python"],
)
def test_an_interrupt_at_every_single_instruction(tmp_path, policy, window, stride, monkeypatch):
    """Every bytecode of a ticket and its answer in turn, also those that no timer would reach."""
    monkeypatch.setattr(recorded, "_SNAPSHOT", 7)
    shop, number = Shop(tmp_path / "live.db", policy, window), 0
    for _ in range(60):
        shop.serve(lambda call: call())
    finished = False
    while not finished:
        number += stride
        moment = AtInstruction(number)

        def once(call, moment=moment):
            while True:
                try:
                    moment.begin()
                    try:
                        return call()
                    finally:
                        sys.settrace(moment.before)
                except Interruption:
                    shop.assert_free()

        shop.serve(once)
        finished = moment.left > 0  # the calls have fewer
    assert number > 200
    shop.assert_sound()


def test_nothing_is_written_without_the_lock(tmp_path, monkeypatch):
    """Whatever is sent to SQLite: between two statements of ours the lock file is ours."""
    path, seen = tmp_path / "live.db", []
    log = robai.live.log.Log
    connected = log._connected

    def locked():
        with open(f"{path}-lock") as file:
            return is_held(file)

    def traced(self):
        connection = connected(self)
        connection.set_trace_callback(lambda statement: seen.append((statement, locked())))
        return connection

    monkeypatch.setattr(log, "_connected", traced)
    monkeypatch.setattr(recorded, "_SNAPSHOT", 10)
    shop = Shop(path, robai.KLEOCPUG(), "held")
    for _ in range(100):
        shop.serve(lambda call: call())
    shop.store.compact("shop", before=shop.now)
    shop.store.delete("other")
    writing = [held for statement, held in seen if not statement.startswith(("SELECT", "PRAGMA"))]
    assert len(writing) > 600
    assert all(writing)
    assert all(held for _, held in seen)


def live_until_killed(path, diary, seed):
    """Serve visitors from the first one on that the diary does not know, interrupted all the time."""
    shop = Shop(path, robai.KLEOCPUG())
    shop.visitors = diary.read_text().count("served")
    with (
        open(f"{path}-lock") as lock_file,
        open(diary, "ab", buffering=0) as file,
        interrupted_at_random(random.Random(seed)) as (timer, _),
    ):

        def traced(statement):
            if not is_held(lock_file):  # and nobody else is at work
                file.write(f"without the lock: {statement}\n".encode())

        connection = shop.store._log._connection
        connection.execute("PRAGMA wal_autocheckpoint = 3")  # pages: inside of nearly every call
        connection.set_trace_callback(traced)
        while True:
            shop.serve(patient(shop, timer, lambda: file.write(b"interrupted\n")))
            file.write(b"served\n")


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_thousand_interrupts_and_kills_and_retries(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "_SNAPSHOT", 50)
    path, diary, chance, lives = tmp_path / "live.db", tmp_path / "diary", random.Random(7), 0
    diary.touch()
    while lives < 40 or diary.read_text().count("interrupted") < 1000:
        lives += 1
        if (process := os.fork()) == 0:
            signal.alarm(60)
            try:
                live_until_killed(path, diary, lives)
            except BaseException as error:
                diary.write_text(f"{diary.read_text()}{error!r}\n")
            os._exit(1)
        time.sleep(chance.uniform(0.0, 0.2))
        os.kill(process, signal.SIGKILL)
        assert os.waitpid(process, 0)[1] == signal.SIGKILL, diary.read_text()[-200:]
        with open(f"{path}-lock", "a") as lock_file:
            assert not is_held(lock_file)
    assert set(diary.read_text().splitlines()) == {"interrupted", "served"}
    served = diary.read_text().count("served")
    with robai.Store(path) as store:
        agent, last = store.open("shop"), float((served + 1) % 3 == 0)
        assert agent.rounds - served in (0, 1)  # one may not have been told
        assert agent.pulls.sum() - served in (0, 1)
        assert agent.sums.sum() == served // 3 + last * (agent.pulls.sum() - served)
        assert store.check() == []


def test_closing_is_done_under_the_lock(tmp_path):
    shop = Shop(tmp_path / "live.db", robai.KLEOCPUG())
    with open(f"{shop.path}-lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        thread = threading.Thread(target=shop.store.close)
        thread.start()
        thread.join(0.05)
        assert thread.is_alive()  # it waits
        fcntl.flock(file, fcntl.LOCK_UN)
        thread.join()


@pytest.mark.parametrize("what", ["opening", "closing"])
def test_an_interrupt_of_opening_or_closing_leaves_the_lock_free(tmp_path, what):
    path, number, finished = tmp_path / "live.db", 0, False
    robai.Store(path).close()
    with open(f"{path}-lock") as lock_file:
        while not finished:
            number += 3 if what == "opening" else 1
            store, moment = None if what == "opening" else robai.Store(path), AtInstruction(number)
            with contextlib.suppress(Interruption):
                try:
                    moment.begin()
                    if store is None:
                        store = robai.Store(path)
                    else:
                        store.close()
                finally:
                    sys.settrace(moment.before)
            assert not is_held(lock_file)
            if store is not None:
                store.close()  # which may be closed already
            finished = moment.left > 0
    assert number > 50


def test_a_signal_handler_may_look_but_not_change(tmp_path):
    shop = Shop(tmp_path / "live.db", robai.KLEOCPUG())
    refused, find = [], robai.live.log.Log.find_key

    def handler(*arguments):
        for call in (shop.agent.ticket, lambda: shop.agent.answer(shop.foreign.id - 1 + 1, 1)):
            with pytest.raises((RuntimeError, KeyError)) as error:
                call()
            refused.append(error.type)
        assert "exploring" in shop.agent.summary()
        return find(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(robai.live.log.Log, "find_key", handler)
        for _ in range(20):
            shop.serve(lambda call: call())
    assert refused.count(RuntimeError) == 20
    shop.assert_sound()


def test_a_policy_that_raises_leaves_everything_as_it_was(tmp_path):
    class Failing(Told):
        def update(self, arm, reward):
            super().update(arm, reward)
            if broken:
                raise ArithmeticError("mine")

    broken = []
    shop = Shop(tmp_path / "live.db", Failing())
    shop.serve(lambda call: call())
    before = shop.agent.pulls.tolist(), shop.agent.rounds
    ticket = shop.agent.ticket("next")
    broken.append(True)
    with pytest.raises(ArithmeticError, match="mine"):
        shop.agent.answer(ticket, 1)
    broken.clear()
    assert (shop.agent.pulls.tolist(), shop.agent.rounds - 1) == before
    assert shop.agent.answer(ticket, 1) == "counted"


def test_a_disk_that_is_full_changes_nothing(tmp_path):
    shop = Shop(tmp_path / "live.db", robai.KLEOCPUG())
    shop.serve(lambda call: call())
    before = shop.agent.to_json()
    connection = shop.store._log._connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Exception, match="full"):
        shop.agent.tickets(keys=[f"{key:0200d}" for key in range(1000)])
    shop.assert_free()
    assert shop.agent.to_json() == before
    connection.execute("PRAGMA max_page_count = 1000000")
    shop.serve(lambda call: call())
    shop.assert_sound()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_a_connection_of_its_own(tmp_path):
    shop = Shop(tmp_path / "live.db", robai.KLEOCPUG())
    done = threading.Event()

    def work():
        while not done.is_set():
            shop.serve(lambda call: call())

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for child in range(20):
            time.sleep(0.002)
            if (process := os.fork()) == 0:
                signal.alarm(20)
                with contextlib.suppress(BaseException):
                    shop.agent.ticket(f"child {child}")
                    os._exit(0)
                os._exit(1)
            assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    finally:
        done.set()
        thread.join()
    shop.agent.refresh()
    assert shop.agent.rounds == shop.visitors + 20
    assert shop.store.check() == []


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_what_a_child_writes_after_its_parent_has_closed_is_there(tmp_path):
    """Closing the last connection deletes what SQLite wrote ahead: a child must not write there."""
    shop = Shop(tmp_path / "live.db", robai.KLEOCPUG())
    shop.serve(lambda call: call())
    waiting, go = os.pipe()
    if (process := os.fork()) == 0:
        signal.alarm(20)
        with contextlib.suppress(BaseException):
            shop.agent.ticket("before")
            os.read(waiting, 1)
            for visitor in range(50):
                shop.agent.ticket(f"child {visitor}")
            os._exit(0)
        os._exit(1)
    time.sleep(0.05)
    shop.store.close()
    os.write(go, b"!")
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    os.close(waiting), os.close(go)
    with robai.Store(shop.path) as store:
        assert store.open("shop").rounds == 52
        assert store.check() == []


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_a_policy_that_forks_is_refused(tmp_path):
    class Forking(Told):
        def select(self, state):
            children.append(os.fork())
            return super().select(state)

    children = []
    shop = Shop(tmp_path / "live.db", Forking())
    try:
        ticket = shop.agent.ticket()
    except BaseException:
        with contextlib.suppress(BaseException):
            shop.store.close()  # its own, not the parent's
            os._exit(3)
        os._exit(5)
    if 0 in children:  # the child is in the middle of a transaction that is its parent's
        os._exit(4)
    assert ticket.arm in range(3)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [3]
    assert shop.store.check() == []


# ---- several processes, killed

# Starts workers, one for every line it reads: forks, because importing takes longer than the rest.
NURSERY = """
import os, sys, time
import robai.live

def work(path, folder, name, operations):
    acknowledged = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    store = robai.Store(path)
    options = {"reward": "bernoulli", "rng": 3, "exist_ok": True}
    agent = store.create("shop", robai.KLEOCPUG(), ["a", "b", "c"], 10**7, **options)
    longest = 0.0
    for visitor in range(operations // 2):
        key = f"{name} {visitor}"
        began = time.monotonic()
        ticket = agent.ticket(key)
        os.write(acknowledged, f"ticket {ticket.id} {ticket.arm}\\n".encode())
        outcome = agent.answer(ticket, visitor % 3 == 0)
        longest = max(longest, time.monotonic() - began)
        os.write(acknowledged, f"{outcome} {ticket.id} {visitor % 3 == 0:d} {longest:.3f}\\n".encode())
    os._exit(0)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        path, folder, name, operations = line.split()
        work(path, folder, name, int(operations))
    print(child, flush=True)
"""


def kill_at_random(tmp_path, operations, lives):
    """Three workers on one experiment; killed ones are begun again, with other visitors."""
    path, folder, chance = tmp_path / "live.db", tmp_path / "acknowledged", random.Random(1)
    folder.mkdir()
    nursery = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", NURSERY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    begun, kills, running = 0, 0, []

    def begin():
        nonlocal begun
        begun += 1
        print(path, folder, begun, operations, file=nursery.stdin, flush=True)
        running.append(int(nursery.stdout.readline()))

    def done():
        lines = (each.read_bytes().count(b"\n") for each in folder.iterdir())
        return sum(lines)

    with nursery:
        for _ in range(3):
            begin()
        for life in range(lives):
            limit = time.monotonic() + 300.0
            while done() < (life + 1) * operations // lives:
                assert time.monotonic() < limit, "the workers do not get on"
                time.sleep(1e-3)
            time.sleep(chance.random() * 1e-2)
            os.kill(running.pop(chance.randrange(3)), signal.SIGKILL)
            kills += 1
            begin()
        for victim in running:
            os.kill(victim, signal.SIGKILL)
        nursery.stdin.close()
    assert kills == lives
    return path, [line.split() for each in folder.iterdir() for line in each.read_text().splitlines()], begun


def assert_all_there_once(path, lines, begun):
    tickets = {int(id_): arm for word, id_, arm, *_ in lines if word == "ticket"}
    answers = {int(id_): float(reward) for word, id_, reward, *_ in lines if word != "ticket"}
    assert {word for word, *_ in lines} == {"ticket", "counted"}
    assert len(tickets) + len(answers) == len(lines)
    with robai.Store(path) as store:
        agent = store.open("shop")
        assert 0 <= agent.rounds - len(tickets) <= begun  # each life may have ended before it could say so
        assert 0 <= agent.pulls.sum() - len(answers) <= begun
        for id_, arm in tickets.items():
            found = store._log.find(agent._written.number, id_ >> 24)
            assert agent.labels[found.arm] == arm
            if id_ in answers:
                assert found.value == answers[id_]
        assert store.check() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_three_processes_killed_at_random_lose_nothing(tmp_path):
    assert_all_there_once(*kill_at_random(tmp_path, operations=3000, lives=20))


@pytest.mark.slow
def test_three_processes_killed_at_random_lose_nothing_of_a_hundred_thousand_operations(tmp_path):
    path, lines, begun = kill_at_random(tmp_path, operations=100_000, lives=200)
    assert_all_there_once(path, lines, begun)
    print("longest pair of operations:", max(float(line[3]) for line in lines if len(line) > 3), "s")
