"""The file of a store: who may have it when, what it must not be, and who only looks."""

import copy
import gc
import os
import pickle
import shutil
import sqlite3
import tempfile
import threading
import weakref

import pytest
from support.stores import Clock, events, forget, frequent_snapshots, locked, made, sql

import robai
from robai import Agent, Store
from robai.live import database


def work(agent, rounds=30):
    """Some of every kind."""
    for step in range(rounds):
        agent.answer(agent.ticket(f"{agent.rounds}"), step % 3 == 0)
    if agent.window is None:
        agent.update_batch(agent.select_batch(9)[:7], [1, 0, 1, 0, 1, 0, 1])
        agent.update(agent.select(), 1)
        agent.update_counts("b", 10, 4)


# ---- the lock


def test_no_call_waits_longer_than_the_timeout(tmp_path):
    store = Store(tmp_path / "db", timeout=0.05)
    agent = store.create("it", robai.KLEOCPUG(), 3, 1000, reward="bernoulli", rng=0)
    ticket = agent.ticket()
    before = events(agent)
    with Store.reader(tmp_path / "db") as reader:
        looking = reader.open("it")
        with locked(tmp_path / "db"):
            for call in (
                agent.select,
                agent.ticket,
                lambda: agent.answer(ticket, 1),
                agent.refresh,
                lambda: agent.extend(2000),
                lambda: store.create("other", robai.UCB(), 3, 100, reward="bernoulli"),
                lambda: store.open("it"),
                lambda: store.delete("it"),
                lambda: store.compact("it", before=0.0),
                lambda: Store(tmp_path / "db", timeout=0.0),
            ):
                with pytest.raises(TimeoutError, match=r"has held the lock for 0(\.05)? s; nothing was done"):
                    call()
            assert agent.rounds == 1
            looking.refresh()  # who only looks waits for nobody
            assert reader.names() == ["it"]
            assert looking.rounds == 1
            assert store.check() == []
    assert events(agent) == before
    assert agent.answer(ticket, 1) == "counted"


# ---- other files


def other_program(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE visits(page)")
    connection.close()


def newer(path):
    with made(path).store:
        pass
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()


def text(path):
    path.write_text("not a database, and longer than the header of one: " * 100)


def halved(path):
    with made(path).store as store:
        work(store.open("it"))
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (other_program, ValueError, "is not a store of robai but an SQLite file of another program"),
        (newer, ValueError, "was written by a newer robai: version 2 of stores, not 1"),
        (text, ValueError, "is not a store of robai: file is not a database"),
        (halved, ValueError, "is not a store of robai: database disk image is malformed"),
        (lambda path: path.mkdir(), OSError, "SQLite: (unable to open database file|disk I/O error)"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
@pytest.mark.parametrize("opened", [Store, Store.reader])
def test_what_is_no_store_is_left_alone(tmp_path, make, error, match, opened):
    path = tmp_path / "db"
    make(path)
    before = path.is_file() and path.read_bytes()
    with pytest.raises(error, match=match):
        opened(path).names()
    assert (path.is_file() and path.read_bytes()) == before


def test_a_directory_that_is_not_there(tmp_path):
    for opened in (Store, Store.reader):
        with pytest.raises(FileNotFoundError):
            opened(tmp_path / "nowhere" / "db")
    with pytest.raises(FileNotFoundError, match="there is no such store"):
        Store.reader(tmp_path / "db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and users")
def test_a_directory_that_may_not_be_written_to():
    folder = tempfile.mkdtemp()
    try:
        os.chmod(folder, 0o555)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                if os.getuid() == 0:
                    os.setuid(65534)
                Store(f"{folder}/db")
            except PermissionError:
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert os.listdir(folder) == []
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("how", ["replaced", "removed"])
def test_a_file_that_is_another_one_now(tmp_path, how):
    path, agent = tmp_path / "db", made(tmp_path / "db")
    agent.ticket()
    made(tmp_path / "other")
    if how == "replaced":
        os.replace(tmp_path / "other", path)
    else:
        path.unlink()
    before = path.exists() and path.read_bytes()
    match = "is another file now" if how == "replaced" else "is not there any more"
    for call in (agent.ticket, agent.refresh, agent.store.names, lambda: agent.store.open("it")):
        with pytest.raises(RuntimeError, match=match):
            call()
    assert agent.rounds == 1
    assert (path.exists() and path.read_bytes()) == before


def test_all_names_of_a_file_have_one_lock(tmp_path):
    made(tmp_path / "db").select()
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(tmp_path / "db")
    assert made(link).rounds == 1
    assert os.listdir(tmp_path / "elsewhere") == ["link"]


def test_a_closed_store(tmp_path):
    agent = made(tmp_path / "db")
    ticket = agent.ticket()
    with agent.store as store:
        assert repr(store) == f"Store({os.fspath(tmp_path / 'db')!r})"
    store.close()
    for call in (agent.ticket, lambda: agent.answer(ticket, 1), agent.refresh, store.names):
        with pytest.raises(RuntimeError, match="db is closed"):
            call()
    assert sorted(os.listdir(tmp_path)) == ["db", "db-lock"]
    again = made(tmp_path / "db")
    assert again.answer(ticket, 1) == "counted"


def test_nobody_begins_while_a_store_is_being_closed(tmp_path, monkeypatch):
    """There would be no connection any more in the middle, and the lock that of another file."""
    errors, waited, disconnect = [], [], database._disconnect

    def begin():
        try:
            store.names()
        except RuntimeError as error:
            errors.append(str(error))

    def disconnected(*arguments):
        thread.start()
        thread.join(0.1)
        waited.append(thread.is_alive())
        disconnect(*arguments)

    thread = threading.Thread(target=begin)
    monkeypatch.setattr(database, "_disconnect", disconnected)
    store = made(tmp_path / "db").store
    store.close()
    thread.join()
    assert waited == [True]
    assert errors == [f"{store.path} is closed"]


def test_a_store_that_is_collected_in_the_middle_of_a_call_does_not_wait_for_it(tmp_path, monkeypatch):
    def clock():
        gc.collect()
        return 0.0

    pauses, agent, abandoned = [], made(tmp_path / "db", clock=clock), made(tmp_path / "db").store
    abandoned.itself = abandoned
    monkeypatch.setattr(database.time, "sleep", pauses.append)
    collected = weakref.ref(abandoned)
    del abandoned
    agent.ticket()
    assert collected() is None
    assert pauses == []


# ---- readers


def test_readers_see_what_others_do_and_change_nothing(tmp_path):
    clock = Clock()
    agent = made(tmp_path / "db", window=50.0, clock=clock)
    work(agent)
    open_tickets = agent.tickets(5)
    with Store.reader(tmp_path / "db") as reader:
        looking = reader.open("it")
        assert looking.to_json() == agent.to_json()
        before = looking.summary()
        work(agent)
        assert looking.summary() == before  # until it looks again
        looking.refresh()
        assert looking.summary() == agent.summary() != before
        assert looking.table() == agent.table()
        written = {path: path.read_bytes() for path in (tmp_path / "db", tmp_path / "db-wal")}
        clock.now += 100.0
        looking.refresh()  # windows are closed by those who write
        assert (looking.pending.sum(), looking.dropped.sum()) == (5, 0)
        for call in (
            looking.ticket,
            lambda: looking.answer(open_tickets[0], 1),
            lambda: looking.answers([(open_tickets[0], 1)]),
            lambda: looking.tickets(keys=["0"]),
            lambda: looking.extend(10**6),
            lambda: looking.retire_arm("c"),
            lambda: reader.create("it", robai.KLEOCPUG(), 3, 10, reward="bernoulli", exist_ok=True),
            lambda: reader.delete("it"),
            lambda: reader.compact("it", before=0.0),
        ):
            with pytest.raises(RuntimeError, match=r"was opened to be read, by Store\.reader"):
                call()
        assert reader.check() == []
        assert {path: path.read_bytes() for path in written} == written
        agent.refresh()
        looking.refresh()
        assert (looking.pending.sum(), looking.dropped.sum()) == (0, 5)
    plain = made(tmp_path / "db", name="plain").store
    with Store.reader(tmp_path / "db") as reader:
        for method, *arguments in (
            ("select",),
            ("select_batch", 2),
            ("update", "a", 1),
            ("update_counts", "a", 1, 1),
        ):
            with pytest.raises(RuntimeError, match="was opened to be read"):
                getattr(reader.open("plain"), method)(*arguments)
    assert plain.open("plain").rounds == 0


def test_an_open_reader_keeps_nobody_waiting(tmp_path):
    agent = made(tmp_path / "db")
    with Store.reader(tmp_path / "db") as reader:
        log = reader._log
        count, ticket = log.transact(lambda: (len(log.names()), agent.ticket()), ())
        assert (count, ticket.arm) == (1, "a")  # handed out in the middle of a transaction that reads
        assert agent.rounds == 1


# ---- policies in Python


class Fickle:
    """Remembers what it was told, and draws."""

    def __init__(self):
        self.told = []

    def select(self, state):
        if len(self.told) < 6 or self.told[-1][1] < 1:
            return int(state.rng.integers(state.n_arms))
        return self.told[-1][0]

    def update(self, arm, reward):
        self.told.append((arm, reward))


def test_policies_in_python_come_back_by_repetition(tmp_path):
    def arms(agent, first, last):
        found = []
        for step in range(first, last):
            ticket = agent.ticket()
            found.append(ticket.arm)
            agent.answer(ticket, step % 4 != 0)
        return found

    straight = arms(made(tmp_path / "db", Fickle(), name="straight"), 0, 60)
    with frequent_snapshots(10):
        first = made(tmp_path / "db", Fickle())
        found = arms(first, 0, 30)
        second = made(tmp_path / "db", Fickle())
        found += arms(second, 30, 40) + arms(first, 40, 50)
        forget(first)
        assert found + arms(first, 50, 60) == straight
        with pytest.raises(ValueError, match="has to be handed to create, with exist_ok=True: it is"):
            first.store.open("it")
        with pytest.raises(TypeError, match="Fickle is written in Python and its state is unknown"):
            first.to_json()
        assert first.store.check() == []
    with pytest.raises(ValueError, match="created with policy"):
        made(tmp_path / "db", robai.UCB())


# ---- copies


@pytest.mark.parametrize(
    "copied",
    [
        lambda agent, path: Agent.from_json(agent.to_json()),
        lambda agent, path: (agent.save(path), robai.load(path))[1],
        lambda agent, path: pickle.loads(pickle.dumps(agent)),
        lambda agent, path: copy.copy(agent),
        lambda agent, path: copy.deepcopy(agent),
    ],
    ids=["to_json", "save", "pickle", "copy", "deepcopy"],
)
def test_copies_are_in_no_store(tmp_path, copied):
    agent = made(tmp_path / "db", robai.ThompsonSampling())
    work(agent)
    before = events(agent)
    other = copied(agent, tmp_path / "agent.json")
    assert type(other) is Agent
    assert other.to_json() == agent.to_json()
    arms = other.select_batch(50)
    assert agent.rounds == other.rounds - 50
    assert events(agent) == before
    assert agent.select_batch(50) == arms


# ---- what is deleted, and what is kept


def test_a_deleted_experiment_is_not_there(tmp_path):
    agent, looking = made(tmp_path / "db"), Store.reader(tmp_path / "db").open("it")
    ticket = agent.ticket()
    with made(tmp_path / "db").store as store:
        store.delete("it")
        with pytest.raises(KeyError, match="has no experiment 'it'"):
            store.delete("it")
        assert store.names() == []
        again = made(tmp_path / "db")  # of the same name
        again.tickets(3)
    for call in (agent.refresh, agent.ticket, agent.select, lambda: agent.answer(ticket, 1), looking.refresh):
        with pytest.raises(KeyError):
            call()
    with pytest.raises(KeyError, match="experiment 'it' was deleted"):
        agent.rounds  # noqa: B018
    with pytest.raises(KeyError, match="is not a ticket of experiment 'it'"):
        again.answer(ticket, 1)
    assert again.rounds == 3
    assert again.store.check() == []
    assert sql(again, "SELECT DISTINCT experiment FROM events") == [(again._written.number,)]


def test_snapshots_of_several_processes_are_as_far_apart(tmp_path):
    with frequent_snapshots(20):
        agents = [made(tmp_path / "db") for _ in range(3)]
        for step in range(100):
            agents[step % 3].answer(agents[(step + 1) % 3].ticket(), 1)
        (newest, _), (before, _) = agents[0]._log.snapshots(agents[0]._written.number)
        assert newest - before == 20


def test_snapshots(tmp_path):
    clock = Clock()
    with frequent_snapshots(20):
        agent = made(tmp_path / "db", robai.ThompsonSampling(), window=40.0, missing=0.0, clock=clock)
        for step in range(200):
            clock.now += 1.0
            ticket = agent.ticket()
            if step % 3:
                agent.answer(ticket, step % 2)
            newest = [seq for seq, _ in agent._log.snapshots(agent._written.number)]
            assert len(newest) <= 2
            assert not newest or newest[0] > agent._course.seq - 20
            if step % 10 == 9:
                state = agent._course.to_json()
                forget(agent)
                assert agent.rounds == step + 1
                assert agent._course.to_json() == state
        sql(agent, "DELETE FROM snapshots")
        forget(agent)
        assert agent.rounds == 200  # from the first event
        assert agent._course.to_json() == state
        assert agent.store.check() == []
