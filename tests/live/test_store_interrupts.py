"""Exceptions at any moment of a call, and a kill: the file has all that was acknowledged, once."""

import contextlib
import fcntl
import os
import random
import signal
import sys
import threading
import time

import pytest
from support.interruptions import AtInstruction, Interruption, interrupted_at_random
from support.shops import WINDOWS, Shop, Told, is_held

import robai
from robai.live import recorded

pytestmark = pytest.mark.usefixtures("no_collections")


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
