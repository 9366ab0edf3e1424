"""Forked and killed processes: the file has all that was acknowledged, once."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from support.shops import Shop, Told

import robai


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
