"""What is in the file of a store: experiments, their events, and snapshots of what these came to.

Events are only ever added. An agent asks for six things, and knows nothing of SQLite: a transaction, the
events after one, to add some, to find a ticket, and for a snapshot to be kept and given back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from robai.live.database import Database

MOST_EXPERIMENTS = 2**24

_EVENTS = """
SELECT seq, time, kind, arm, ticket, value, data FROM events
WHERE experiment = ? AND seq > ? ORDER BY seq LIMIT ?"""
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


class Log(Database):
    """The experiments of a file."""

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
        """Those after one, in order."""
        return map(Event._make, self._rows(_EVENTS, experiment, after, 16))

    def _rows(self, query: str, experiment: int, after: int, count: int) -> Iterator[tuple[Any, ...]]:
        """Some at a time, so that no query stays open, and more each time."""
        while True:
            rows = self._connection.execute(query, (experiment, after, count)).fetchall()
            yield from rows
            if len(rows) < count:
                return
            after, count = rows[-1][0], min(4 * count, 1024)

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
        return map(Found._make, self._rows(_AFTER, experiment, after, 2))

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
