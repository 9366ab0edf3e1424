"""The file of a store, as any number of threads and processes share it: SQLite, and a lock of our own."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from robai._base.locks import lock, unlocking
from robai._core.turns import Cache, Turns, call_all, end

Sync = Literal["normal", "full"]

APPLICATION = 0x726F6261  # "roba", in the header of the file
VERSION = 1
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


class Database:
    """An open file.

    The lock is a file of our own. That of SQLite starves those who wait for it, and versions of SQLite below
    3.51.3 can lose changes when two connections write and checkpoint at the same instant
    (https://sqlite.org/wal.html): with this one only one of them ever does.
    """

    def __init__(self, path: str | os.PathLike[str], sync: Sync, timeout: float, writable: bool) -> None:
        self.path, self.writable = os.path.realpath(path), writable  # one lock for all names of a file
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
                    call_all(self._let_go)
            self._check(connection)
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.OperationalError):
                raise OSError(errno.EIO, f"SQLite: {error}", self.path) from error
            if isinstance(error, sqlite3.DatabaseError):
                raise ValueError(f"{self.path} is not a store of robai: {error}") from error
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        application = _pragma(connection, "application_id")
        new = not tables and not application
        ours = new or application == APPLICATION  # a copy can have lost the mode
        if ours and connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
            raise ValueError(f"{self.path} is where SQLite cannot write ahead: a store needs a local disk")
        if new:
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
        with self.lock:
            if self.mine and self._process == os.getpid():
                raise RuntimeError(f"{self.path} cannot be closed in the middle of a call")
            self._closed = True
            self._end()

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
    """Close both, the connection while nobody else writes: its end may be a checkpoint.

    An abandoned store may be collected in the middle of a transaction of this thread, which would wait for
    itself. Then that connection is open too, and the end of this one no checkpoint.
    """
    if os.getpid() != process:  # they are the parent's
        return

    def wait() -> None:
        if guard >= 0:
            with contextlib.suppress(TimeoutError):
                _wait(guard, 0.0 if any(log.mine for log in list(_LOGS)) else timeout, "")

    end(connection, wait, ((os.close, (guard,)),) if guard >= 0 else ())


# SQLite has its locks written down in memory, of which a child gets a copy, but not the locks: what it wrote
# could be lost. So nobody is in a transaction while this process is forked, and no file is open.
_LOGS: weakref.WeakSet[Database] = weakref.WeakSet()
_held: list[Database] = []


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
