"""The file of a store: experiments, their events and snapshots of what these came to, in SQLite.

Events are only ever added. An agent asks for six things, and knows nothing of SQLite: a transaction, the
events after one, to add some, to find a ticket, and for a snapshot to be kept and given back.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from robai._base.locks import lock, unlocking
from robai._core.turns import Cache, Turns

Sync = Literal["normal", "full"]

APPLICATION = 0x726F6261  # "roba", in the header of the file
VERSION = 1
MOST_EXPERIMENTS = 2**24
_PAUSES = 1e-4, 1e-3  # seconds between two looks at the lock, the first and the longest
_T = TypeVar("_T")

# One answer a ticket, one ticket a key: the file itself sees to it. Numbers of deleted experiments are not
# given out again, as tickets have them.
_SCHEMA = """
CREATE TABLE experiments(
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL, created REAL NOT NULL,
    spec TEXT NOT NULL);
CREATE TABLE events(
    experiment INTEGER NOT NULL REFERENCES experiments, seq INTEGER NOT NULL, time REAL NOT NULL,
    kind INTEGER NOT NULL, arm INTEGER, ticket INTEGER, value REAL, data, PRIMARY KEY(experiment, seq)
    ) WITHOUT ROWID;
CREATE UNIQUE INDEX answers ON events(experiment, ticket) WHERE kind = 4;
CREATE UNIQUE INDEX keys ON events(experiment, data) WHERE kind = 3 AND data IS NOT NULL;
CREATE TABLE snapshots(
    experiment INTEGER NOT NULL REFERENCES experiments, seq INTEGER NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY(experiment, seq)) WITHOUT ROWID;
"""
_EVENTS = "SELECT seq, time, kind, arm, ticket, value, data FROM events WHERE experiment = ?"
_APPEND = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_FIND = """
SELECT t.seq, t.kind, t.arm, t.time, a.value, a.time FROM events t
LEFT JOIN events a ON a.experiment = t.experiment AND a.ticket = t.seq AND a.kind = 4
WHERE t.experiment = ?"""
_TICKET = f"{_FIND} AND t.seq = ?"
_AFTER = f"{_FIND} AND t.seq > ? ORDER BY t.seq LIMIT ?"
_KEY = "SELECT seq, arm FROM events WHERE experiment = ? AND data = ? AND kind = 3"
_UNANSWERED = """
SELECT min(seq) FROM events t WHERE experiment = ? AND kind = 3 AND NOT EXISTS (
    SELECT 1 FROM events a WHERE a.experiment = t.experiment AND a.ticket = t.seq AND a.kind = 4)"""


class Kind(IntEnum):
    """What an event is; the numbers are those of files."""

    SELECT = 1
    UPDATE = 2
    TICKET = 3
    ANSWER = 4
    COMMIT = 5
    SELECT_BATCH = 6
    UPDATE_BATCH = 7
    UPDATE_COUNTS = 8
    EXTEND = 9
    ADD_ARM = 10
    RETIRE_ARM = 11
    REOPEN = 12
    TICK = 13


class Event(NamedTuple):
    """A row; `ticket` is the event of the ticket that is answered."""

    seq: int
    time: float
    kind: int
    arm: int | None = None
    ticket: int | None = None
    value: float | None = None
    data: str | None = None


class Found(NamedTuple):
    """An event, a ticket if its kind says so, and the answer to it, if there is one."""

    seq: int
    kind: int
    arm: int
    time: float
    value: float | None
    answered: float | None  # when


class Written(NamedTuple):
    """An experiment of the file."""

    number: int
    name: str
    created: float
    spec: str


class Log:
    """An open file.

    The lock is a file of our own. That of SQLite starves those who wait for it, and versions of SQLite below
    3.51.3 can lose changes when two connections write and checkpoint at the same instant
    (https://sqlite.org/wal.html): with this one only one of them ever does.
    """

    def __init__(self, path: str | os.PathLike[str], sync: Sync, timeout: float, writable: bool) -> None:
        self.path, self.writable = os.path.abspath(path), writable
        self._sync, self._timeout = sync, timeout
        self._turns, self._closed = Turns(), False
        self._connect()
        self._status = self._identity()
        _LOGS.add(self)

    # ---- the file

    def _connect(self) -> None:
        guard, self._process = -1, os.getpid()
        try:
            if self.writable:
                guard = os.open(f"{self.path}-lock", os.O_RDWR | os.O_CREAT, 0o666)
            self._guard, self._let_go = guard, unlocking(guard) if self.writable else ()
            self._connection = self._connected()
        except BaseException:
            if guard >= 0:
                os.close(guard)
            raise
        self._end = weakref.finalize(self, _disconnect, self._process, self._connection, guard, self._timeout)

    def disconnect(self) -> None:
        """Before a fork: no connection may be in two processes. It is made again when it is asked for."""
        if not self._turns.mine:  # by a policy, say, that forks
            self._end()

    def _identity(self) -> tuple[int, int]:
        status = os.stat(self.path)
        return status.st_dev, status.st_ino

    def _connected(self) -> sqlite3.Connection:
        """A connection to the file, which is made if there is none."""
        if not self.writable and not os.path.exists(self.path):
            raise FileNotFoundError(errno.ENOENT, "there is no such store", self.path)
        where = self.path if self.writable else f"{Path(self.path).as_uri()}?mode=ro"
        connection = None
        try:
            connection = sqlite3.connect(
                where,
                isolation_level=None,
                check_same_thread=False,
                uri=not self.writable,
                timeout=self._timeout,
            )
            if self.writable:
                try:
                    _wait(self._guard, self._timeout, self.path)
                    self._prepare(connection)
                finally:
                    for function, arguments in self._let_go:
                        function(*arguments)
            self._check(connection)
        except sqlite3.OperationalError as error:
            raise OSError(errno.EIO, f"SQLite: {error}", self.path) from error
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path} is not a store of robai: {error}") from error
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables and not _pragma(connection, "application_id"):
            if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
                raise ValueError(
                    f"{self.path} is where SQLite cannot write ahead: a store needs a local disk"
                )
            script = f"{_SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
            connection.executescript(f"BEGIN IMMEDIATE; {script} COMMIT;")
        connection.execute(f"PRAGMA synchronous = {self._sync}")
        connection.execute("PRAGMA foreign_keys = ON")

    def _check(self, connection: sqlite3.Connection) -> None:
        if _pragma(connection, "application_id") != APPLICATION:
            raise ValueError(f"{self.path} is not a store of robai but an SQLite file of another program")
        if (version := _pragma(connection, "user_version")) != VERSION:
            raise ValueError(
                f"{self.path} was written by a newer robai: version {version} of stores, not {VERSION}"
            )

    def close(self) -> None:
        if self._end.alive:
            self._turns.take(lambda: (self._connection, "BEGIN", _no_wait, ()), _no_wait, ())
            self._end()
        self._closed = True

    # ---- transactions

    @property
    def lock(self) -> Any:
        """Held by the thread whose turn it is."""
        return self._turns.lock

    @property
    def mine(self) -> bool:
        """Whether this thread is in the middle of a transaction."""
        return self._turns.mine

    def transact(
        self, operation: Callable[..., _T], arguments: tuple[Any, ...], cache: Cache | None = None
    ) -> _T:
        """Do it alone, of all threads and processes, and in full or not at all."""
        return self._turns.take(
            self._begin if self.writable else self._begin_reading, operation, arguments, cache
        )

    def _begin(self) -> Any:
        self._ready()
        return self._connection, "BEGIN IMMEDIATE", self._wait, self._let_go

    def _begin_reading(self) -> Any:
        self._ready()
        return self._connection, "BEGIN", _no_wait, ()

    def _wait(self) -> None:
        _wait(self._guard, self._timeout, self.path)

    def _ready(self) -> None:
        if self._closed:
            raise RuntimeError(f"{self.path} is closed")
        try:
            same = self._identity() == self._status
        except OSError as error:
            raise RuntimeError(f"{self.path} is not there any more: {error}") from None
        if not same:
            raise RuntimeError(f"{self.path} is another file now; the store was moved or replaced")
        if not self._end.alive:
            self._connect()
        elif self._process != os.getpid():
            raise RuntimeError(
                f"this process was forked in the middle of a transaction of {self.path}: it has no store"
            )

    # ---- experiments

    def experiments(self) -> list[Written]:
        rows = self._connection.execute("SELECT id, name, created, spec FROM experiments ORDER BY id")
        return [Written(*row) for row in rows.fetchall()]

    def names(self) -> list[str]:
        return [
            name
            for (name,) in self._connection.execute("SELECT name FROM experiments ORDER BY id").fetchall()
        ]

    def named(self, name: str) -> Written | None:
        query = "SELECT id, name, created, spec FROM experiments WHERE name = ?"
        row = self._connection.execute(query, (name,)).fetchone()
        return None if row is None else Written(*row)

    def create(self, name: str, created: float, spec: str) -> int:
        query = "INSERT INTO experiments(name, created, spec) VALUES (?, ?, ?)"
        number = self._connection.execute(query, (name, created, spec)).lastrowid
        if number is None or number >= MOST_EXPERIMENTS:
            raise ValueError(f"{self.path} has had {MOST_EXPERIMENTS - 1:,} experiments, which is the most")
        return number

    def delete(self, experiment: int) -> None:
        for table, column in (("events", "experiment"), ("snapshots", "experiment"), ("experiments", "id")):
            self._connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (experiment,))

    # ---- what an agent asks for

    def events(self, experiment: int, after: int = 0) -> Iterator[Event]:
        """Those after one, in order; read some at a time, so that no query stays open."""
        count = 16
        while True:
            query = f"{_EVENTS} AND seq > ? ORDER BY seq LIMIT {count}"
            rows = self._connection.execute(query, (experiment, after)).fetchall()
            yield from map(Event._make, rows)
            if len(rows) < count:
                return
            after, count = rows[-1][0], 1024

    def append(self, experiment: int, events: Sequence[Event]) -> None:
        """Add events, all or none; a sqlite3.IntegrityError if one is there that can be there only once."""
        if len(events) == 1:
            self._connection.execute(_APPEND, (experiment, *events[0]))
        else:
            self._connection.executemany(_APPEND, [(experiment, *event) for event in events])

    def find(self, experiment: int, seq: int) -> Found | None:
        """The event of that number, if there is one, with the answer to it."""
        row = self._connection.execute(_TICKET, (experiment, seq)).fetchone()
        return None if row is None else Found._make(row)

    def find_key(self, experiment: int, key: str) -> tuple[int, int] | None:
        """The event and the arm of the ticket with a key."""
        found: tuple[int, int] | None = self._connection.execute(_KEY, (experiment, key)).fetchone()
        return found

    def scan(self, experiment: int, after: int) -> Iterator[Found]:
        """The events after one, in order, tickets with their answers. Mostly the first one is enough."""
        count = 2
        while True:
            rows = self._connection.execute(_AFTER, (experiment, after, count)).fetchall()
            yield from map(Found._make, rows)
            if len(rows) < count:
                return
            after, count = rows[-1][0], min(4 * count, 1024)

    def snapshots(self, experiment: int) -> list[tuple[int, str]]:
        """The number of the last event, and the state; the newest first."""
        query = "SELECT seq, state FROM snapshots WHERE experiment = ? ORDER BY seq DESC"
        return self._connection.execute(query, (experiment,)).fetchall()

    def snapshot(self, experiment: int) -> tuple[int, str] | None:
        """The newest."""
        query = "SELECT seq, state FROM snapshots WHERE experiment = ? ORDER BY seq DESC LIMIT 1"
        found: tuple[int, str] | None = self._connection.execute(query, (experiment,)).fetchone()
        return found

    def put_snapshot(self, experiment: int, seq: int, state: str) -> None:
        """Keep it, and the one before it."""
        newest = "SELECT max(seq) FROM snapshots WHERE experiment = ?1"
        self._connection.execute(
            f"DELETE FROM snapshots WHERE experiment = ?1 AND seq < ({newest})", (experiment,)
        )
        self._connection.execute(
            "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (experiment, seq, state)
        )

    # ---- care

    def first(self, experiment: int) -> int | None:
        """The number of the first event that is left."""
        return self._one("SELECT min(seq) FROM events WHERE experiment = ?", experiment)

    def count(self, experiment: int) -> int:
        return self._one("SELECT count(*) FROM events WHERE experiment = ?", experiment) or 0

    def unanswered(self, experiment: int) -> int | None:
        """The first ticket without an answer."""
        return self._one(_UNANSWERED, experiment)

    def since(self, experiment: int, time: float) -> int | None:
        """The first event that is not before a time. Times never decrease, so it is found by halving."""
        first, last = self.first(experiment), self.last(experiment)
        if first is None or last is None:
            return None
        last += 1
        while first < last:
            middle = (first + last) // 2
            (at,) = self._connection.execute(
                "SELECT time FROM events WHERE experiment = ? AND seq = ?", (experiment, middle)
            ).fetchone()
            first, last = (middle + 1, last) if at < time else (first, middle)
        return first

    def last(self, experiment: int) -> int | None:
        return self._one("SELECT max(seq) FROM events WHERE experiment = ?", experiment)

    def remove(self, experiment: int, before: int) -> int:
        """Delete some of the events before one; how many."""
        query = (
            "DELETE FROM events WHERE experiment = ? AND seq IN "
            "(SELECT seq FROM events WHERE experiment = ? AND seq < ? ORDER BY seq LIMIT 5000)"
        )
        return self._connection.execute(query, (experiment, experiment, before)).rowcount

    def damage(self) -> list[str]:
        """What SQLite finds wrong with the file."""
        found = [text for (text,) in self._connection.execute("PRAGMA integrity_check").fetchall()]
        return [] if found == ["ok"] else found

    def _one(self, query: str, experiment: int) -> int | None:
        found: int | None = self._connection.execute(query, (experiment,)).fetchone()[0]
        return found


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    value: int = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value


def _no_wait() -> None:
    """What readers do."""


def _wait(guard: int, timeout: float, path: str) -> None:
    """Lock the guard, or a TimeoutError."""
    pause, until = _PAUSES[0], None
    while True:
        try:
            return lock(guard)
        except BlockingIOError:
            now = time.monotonic()
            until = now + timeout if until is None else until
            if now >= until:
                raise TimeoutError(
                    errno.ETIMEDOUT,
                    f"another process has held the lock for {timeout:g} s; nothing was done",
                    path,
                ) from None
            time.sleep(min(pause, until - now))
            pause = min(2.0 * pause, _PAUSES[1])


def _disconnect(process: int, connection: sqlite3.Connection, guard: int, timeout: float) -> None:
    """Close both, the connection while nobody else writes: its end may be a checkpoint."""
    if os.getpid() != process:  # they are the parent's
        return
    try:
        if guard >= 0:
            with contextlib.suppress(TimeoutError):
                _wait(guard, timeout, "")
        connection.close()
    finally:
        if guard >= 0:
            os.close(guard)


# SQLite has its locks written down in memory, of which a child gets a copy, but not the locks: what it wrote
# could be lost. So nobody is in a transaction while this process is forked, and no file is open.
_LOGS: weakref.WeakSet[Log] = weakref.WeakSet()
_held: list[Log] = []


def _before_fork() -> None:
    for log in list(_LOGS):
        log.lock.__enter__()
        _held.append(log)
        log.disconnect()


def _after_fork() -> None:
    while _held:
        _held.pop().lock.__exit__()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
