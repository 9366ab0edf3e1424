"""An agent whose state is in a store: every call is a transaction, and memory a cache of the file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai._base import checks
from robai._core.player import HorizonReached, Player
from robai._core.turns import Cache
from robai.live import course, state
from robai.live.agent import Agent
from robai.live.course import LARGEST_REWARD, Course, Earlier, Retired
from robai.live.log import MOST_EXPERIMENTS, Event, Kind, Written
from robai.live.standing import Label
from robai.live.state import Experiment
from robai.policies.base import BasePolicy

if TYPE_CHECKING:
    from robai.live.store import Store

LONGEST_KEY = 200  # bytes
LONGEST_REASON = 10_000
_SNAPSHOT = 2000  # events between two snapshots at least: as long as it takes to repeat in a few milliseconds
_SHARE = 20  # bytes of a snapshot for which another event is waited
Row = tuple[Kind, int | None, int | None, float | None, str | None]


class Ticket(NamedTuple):
    """A pull that was handed out, and is to be answered.

    Attributes
    ----------
    id : int
        For the answer; it fits a URL.
    arm : label
        Which arm.
    key : str or None
        Whom it was handed out to, if that was said.

    Examples
    --------
    >>> import tempfile
    >>> import robai
    >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
    ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
    ...     agent.ticket("user 7").arm
    'A'
    """

    id: int
    arm: Any
    key: str | None


class AnswerConflict(ValueError):
    """Two different answers to one ticket, of which the first counts.

    Attributes
    ----------
    ticket : int
        Its id.
    first, second : float
        The rewards.
    """

    def __init__(self, ticket: int, first: float, second: float) -> None:
        super().__init__(
            f"ticket {ticket} was answered by {first!r}, and now by {second!r}; the first counts"
        )
        self.ticket, self.first, self.second = ticket, first, second

    def __reduce__(self) -> tuple[Any, tuple[int, float, float]]:
        return type(self), (self.ticket, self.first, self.second)


class StoredAgent(Agent[Label]):
    """An agent of a `Store`; see there."""

    def __init__(self, store: Store, found: Written, policy: BasePolicy | None) -> None:
        self._store, self._log = store, store._log
        self.name, self._written, self._own = found.name, found, policy
        self._spec = json.loads(found.spec)
        self._terms = store._terms(self._spec)
        self._cache = Cache()
        self._course: Course  # as the cache says
        self._since, self._pause = 0, _SNAPSHOT

    @property
    def _known(self) -> Course:
        """What the file says, also after an error or Ctrl-C."""
        if not self._cache.valid and not self._log.mine:
            self._log.transact(self._catch_up, (), self._cache)
        return self._course

    @property
    def _experiment(self) -> Experiment:  # type: ignore[override]  # of the course, here and below
        return self._known.experiment

    @property
    def _player(self) -> Player:  # type: ignore[override]
        return self._known.player

    @property
    def _labels(self) -> tuple[Label, ...]:  # type: ignore[override]
        return self._experiment.labels

    @property
    def _numbers(self) -> dict[Any, int]:  # type: ignore[override]
        return self._known.numbers

    # ---- transactions

    def _change(self, operation: Callable[..., Any], *arguments: Any) -> Any:
        if not self._log.writable:
            raise RuntimeError(f"{self._log.path} was opened to be read, by Store.reader")
        return self._log.transact(self._operate, (operation, arguments), self._cache)

    def _operate(self, operation: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        self._catch_up()
        return operation(*arguments)

    def _catch_up(self) -> None:
        """Memory is what the file says."""
        if self._cache.valid:
            for event in self._log.events(self._written.number, self._course.seq):
                if event.seq != self._course.seq + 1:  # those before it were compacted away
                    self._cache.valid = False
                    break
                self._cache.valid = False
                self._course.repeat(event, self._log)
                self._since += 1
            else:
                self._cache.valid = True
        if not self._cache.valid:
            self._course = course.opened(
                self._log, self._written.number, self._terms, self._spec["agent"], self._own
            )
            newest = self._log.snapshot(self._written.number)
            self._since = self._course.seq - (newest[0] if newest else 0)
            self._cache.valid = True

    def _now(self) -> Course:
        """The state to be changed, at this moment: after this an error means that it is read again."""
        self._cache.valid = False
        self._course.begin(max(self._store._time(), self._course.time), self._log)
        return self._course

    def _write(self, rows: Sequence[Row]) -> None:
        """Add what has been done to the file, at the end of a change."""
        now, number = self._course, self._written.number
        events = [Event(seq, now.time, *row) for seq, row in enumerate(rows, start=now.seq + 1)]
        try:
            self._log.append(number, events)
        except sqlite3.IntegrityError as error:
            if "FOREIGN KEY" not in str(error):
                raise
            raise KeyError(f"experiment {self.name!r} was deleted") from None
        now.seq += len(events)
        self._since += len(events)
        if self._since >= self._pause and self._own is None:
            text = now.to_json()
            self._log.put_snapshot(number, now.seq, text)
            self._since, self._pause = 0, max(_SNAPSHOT, len(text) // _SHARE)

    # ---- handing out

    def _deal(self, n: int, kind: Kind, keys: Sequence[str | None]) -> list[Row]:
        """The arms of so many rounds, handed out, with the commitment before them if there is one now."""
        rows: list[Row] = []
        now = self._course
        for done in range(n):
            try:
                arm, commits = now.ask()
            except HorizonReached:
                if done == 0:
                    raise
                left = f"n must be at most {done}, the rounds left before the horizon, got {n}"
                raise ValueError(left) from None
            if commits:
                now.commit(arm)
                rows.append((Kind.COMMIT, arm, None, None, json.dumps(now.player.commitment)))
            now.hand_out(arm)
            rows.append((kind, arm, None, None, keys[done]))
        return rows

    def ticket(self, key: str | None = None) -> Ticket:
        """The arm for the next round, with an id to answer it by.

        Parameters
        ----------
        key : str or None
            Whom it is for, at most 200 bytes. With a key seen before it is the very same ticket: the same arm
            for the same user, for ever. So a call of which one does not know whether it went through can be
            made again. Keys are kept in the file: hash what is personal.

        Returns
        -------
        Ticket

        Raises
        ------
        HorizonReached
            If all rounds have been handed out and the policy has not committed.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     agent.ticket("ann").arm, agent.ticket("bob").arm, agent.ticket("ann").arm
        ('A', 'B', 'A')
        """
        [ticket] = self._change(self._tickets, [_key(key)])
        return ticket

    def tickets(self, n: int | None = None, *, keys: Sequence[str] | None = None) -> list[Ticket]:
        """Many tickets at once, which is much faster than one by one: all or none.

        Parameters
        ----------
        n : int or None
            How many.
        keys : sequence of str or None
            Or for whom.

        Returns
        -------
        list of Ticket

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     [ticket.arm for ticket in agent.tickets(3)], len(agent.tickets(keys=["ann", "bob"]))
        (['A', 'B', 'A'], 2)
        """
        if (n is None) == (keys is None):
            raise TypeError(f"either n or keys must be given, got n={n!r} and keys={brief(keys)}")
        if keys is None:
            return self._change(self._tickets, [None] * checks.whole("n", n, 1, state.MOST_ARMS))
        if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
            raise TypeError(f"keys must be a sequence of strings, got {brief(keys)}")
        asked = [_key(key, f"keys[{place}]") for place, key in enumerate(keys)]
        if None in asked:
            raise TypeError(f"keys[{asked.index(None)}] must be a string, got None")
        return self._change(self._tickets, asked) if asked else []

    def _tickets(self, keys: list[str | None]) -> list[Ticket]:
        known: dict[str, Ticket] = {}
        for key in filter(None, keys):
            found = self._log.find_key(self._written.number, key)
            if found is not None:
                known[key] = self._ticket(*found, key)
        wanted = [key for key in keys if key is None]
        wanted += [key for key in dict.fromkeys(filter(None, keys)) if key not in known]
        fresh: list[Ticket] = []
        if wanted:
            seq = self._now().seq
            rows = self._deal(len(wanted), Kind.TICKET, wanted)
            self._write(rows)
            for place, (kind, arm, _, _, key) in enumerate(rows, start=seq + 1):
                if kind is Kind.TICKET:
                    ticket = self._ticket(place, arm, key)
                    fresh.append(ticket)
                    if key is not None:
                        known[key] = ticket
        unnamed = (ticket for ticket in fresh if ticket.key is None)
        return [next(unnamed) if key is None else known[key] for key in keys]

    def _ticket(self, seq: int, arm: Any, key: str | None) -> Ticket:
        return Ticket(seq * MOST_EXPERIMENTS + self._written.number, self._course.labels[arm], key)

    def select(self) -> Label:
        """The arm for the next round, of an experiment without a window; see `Agent.select`.

        Returns
        -------
        label

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0).select()
        'A'
        """
        self._need_no_window("select", "ticket")
        return self._change(self._select)

    def _select(self) -> Any:
        self._now()
        rows = self._deal(1, Kind.SELECT, [None])
        self._write(rows)
        return self._course.labels[rows[-1][1]]  # type: ignore[index]  # of an arm

    def select_batch(self, n: int) -> NDArray[np.int64] | list[Label]:
        """The arms for the next `n` rounds; see `Agent.select_batch`.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        ndarray of int, or list

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     agent.select_batch(3)
        ['A', 'B', 'A']
        """
        self._need_no_window("select_batch", "tickets")
        arms = self._change(self._select_batch, checks.whole("n", n, 1, state.MOST_ARMS))
        numbered = self._course.labels == list(range(len(self._course.labels)))
        return np.array(arms) if numbered else [self._course.labels[arm] for arm in arms]

    def _select_batch(self, n: int) -> list[Any]:
        self._now()
        rows = self._deal(n, Kind.SELECT_BATCH, [None] * n)
        chosen = [arm for kind, arm, *_ in rows if kind is not Kind.COMMIT]
        before = next((place for place, row in enumerate(rows) if row[0] is Kind.COMMIT), None)
        parts = [chosen] if before is None else [chosen[:before], chosen[before:]]
        merged = [row for row in rows if row[0] is Kind.COMMIT]
        for place, part in ((2 * i, part) for i, part in enumerate(parts)):
            if part:
                merged.insert(place, (Kind.SELECT_BATCH, None, None, None, json.dumps(part)))
        self._write(merged)
        return chosen

    def _need_no_window(self, method: str, instead: str) -> None:
        if self._terms.window is not None:
            raise TypeError(
                f"{method} is for experiments without a window: {self.name!r} has one of "
                f"{self._terms.window:g} s, and takes {instead}"
            )

    # ---- answers

    def answer(self, ticket: Ticket | int, reward: float) -> str:
        """The reward of a ticket; the same call again changes nothing.

        Parameters
        ----------
        ticket : Ticket or int
            Which one, or its id; a KeyError if there is no such ticket in this experiment.
        reward : float
            A ValueError if it is not a possible one, an `AnswerConflict` if the ticket had another.

        Returns
        -------
        str
            "counted"; "held", until the window closes; "repeated", if it was known; or "late", if the window
            has closed: recorded, and not counted.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     ticket = agent.ticket()
        ...     agent.answer(ticket, 1), agent.answer(ticket.id, 1), agent.pulls.tolist()
        ('counted', 'repeated', [1, 0])
        """
        [outcome] = self._change(self._answers, [(self._event_of(ticket), self._reward("reward", reward))])
        return outcome

    def answers(self, pairs: Iterable[tuple[Ticket | int, float]]) -> list[str]:
        """Many answers at once: all or none.

        Parameters
        ----------
        pairs : sequence of (ticket, reward)
            As for `answer`.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     agent.answers([(ticket, 1) for ticket in agent.tickets(3)])
        ['counted', 'counted', 'counted']
        """
        given = []
        for place, pair in enumerate(pairs):
            try:
                ticket, reward = pair
            except (TypeError, ValueError):
                raise TypeError(f"pairs[{place}] must be a ticket and a reward, got {brief(pair)}") from None
            given.append((self._event_of(ticket), self._reward(f"pairs[{place}]: reward", reward)))
        return self._change(self._answers, given) if given else []

    def _answers(self, given: list[tuple[int, float]]) -> list[str]:
        outcomes: list[str] = []
        fresh: dict[int, tuple[int, int, float]] = {}  # by ticket: its place among `given`, arm and reward
        for place, (seq, reward) in enumerate(given):
            found = self._log.find(self._written.number, seq)
            if found is None and 0 < seq < (self._log.first(self._written.number) or 0):
                outcomes.append("late")  # it was compacted away
                continue
            if found is None or found.kind != Kind.TICKET:
                raise KeyError(f"experiment {self.name!r} has no ticket {self._id(seq)}")
            first = fresh[seq][2] if seq in fresh else found.value
            if first is None:
                fresh[seq] = place, found.arm, reward
            elif first != reward:
                raise AnswerConflict(self._id(seq), first, reward)
            outcomes.append("repeated")
        if fresh:
            now = self._now()
            for seq, (place, arm, reward) in fresh.items():
                outcomes[place] = now.answer(seq, arm, reward)
            self._write([(Kind.ANSWER, arm, seq, reward, None) for seq, (_, arm, reward) in fresh.items()])
        return outcomes

    def _id(self, seq: int) -> int:
        return seq * MOST_EXPERIMENTS + self._written.number

    def _event_of(self, ticket: Any) -> int:
        number = ticket.id if isinstance(ticket, Ticket) else ticket
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise TypeError(f"ticket must be a ticket or its id, got {brief(ticket)}")
        seq, experiment = divmod(int(number), MOST_EXPERIMENTS)
        if experiment != self._written.number or not 0 < seq < 2**39:
            raise KeyError(f"{number} is not a ticket of experiment {self.name!r}")
        return seq

    def _reward(self, name: str, value: Any) -> float:
        """A reward that can be, now and when its window closes."""
        if isinstance(value, bool | np.bool_):
            value = float(value)
        number = checks.real(name, value)
        valid = self._experiment.rewards
        if not (valid.possible(1.0, number) and abs(number) <= LARGEST_REWARD):
            raise ValueError(f"{name} must be {valid}, got {value!r}")
        return number

    def update(self, arm: Label, reward: float) -> None:
        """A reward without a ticket, of an experiment without a window; see `Agent.update`.

        Parameters
        ----------
        arm : label
            Which arm.
        reward : float
            A ValueError if it is not a possible one.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     agent.update(agent.select(), 1)
        """
        self._need_no_window("update", "answer")
        self._change(self._update, arm, self._reward("reward", reward))

    def _update(self, label: Any, reward: float) -> None:
        arm = self._number(label)
        self._now().count(arm, reward)
        self._write([(Kind.UPDATE, arm, None, reward, None)])

    def update_batch(self, arms: Iterable[Label] | NDArray[np.integer[Any]], rewards: ArrayLike) -> None:
        """Many rewards, or none if one is invalid; see `Agent.update_batch`.

        Parameters
        ----------
        arms : sequence of labels
            Which arm each reward is of.
        rewards : sequence of float
            As many.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     agent.update_batch(["A", "B"], [1, 0])
        """
        self._need_no_window("update_batch", "answers")
        numbers, values = self._pairs(arms, rewards)
        listed = [self._reward(f"rewards[{place}]", each) for place, each in enumerate(values.tolist())]
        self._change(self._update_batch, numbers.tolist(), listed)

    def _update_batch(self, arms: list[int], rewards: list[float]) -> None:
        for place, arm in enumerate(arms):
            if not 0 <= arm < len(self._course.labels):
                last = len(self._course.labels) - 1
                raise KeyError(f"arms[{place}] is {arm!r}; the arms are 0 to {last}")
        if arms:
            self._now().update_batch(arms, rewards)
            self._write([(Kind.UPDATE_BATCH, None, None, None, json.dumps([arms, rewards]))])

    def update_counts(self, arm: Label, n: int, total: float, squares: float | None = None) -> None:
        """Many rewards of an arm by their sum, of an experiment without a window; see `Agent.update_counts`.

        Parameters
        ----------
        arm : label
            Which arm.
        n : int
            How many rewards.
        total : float
            What they sum to.
        squares : float or None
            The sum of their squared deviations from their own mean.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 10_000, reward="bernoulli", rng=0)
        ...     agent.update_counts("A", 1000, 120)
        """
        self._need_no_window("update_counts", "answer")
        count, value = checks.whole("n", n, 0, state.MOST_PULLS), checks.real("total", total)
        deviations = None if squares is None else checks.at_least("squares", squares, 0.0)
        if abs(value) > count * LARGEST_REWARD or (deviations or 0.0) > count * LARGEST_REWARD**2:
            raise ValueError(f"total must be a sum of rewards within {LARGEST_REWARD:g}, got {total!r}")
        self._change(self._update_counts, arm, value, count, deviations)

    def _update_counts(self, label: Any, total: float, n: int, squares: float | None) -> None:
        arm = self._number(label)
        self._now().update_counts(arm, total, n, squares)
        self._write([(Kind.UPDATE_COUNTS, arm, None, total, json.dumps([n, squares]))])

    # ---- changes by people

    def extend(self, horizon: int) -> None:
        """Go on for longer: a larger horizon, before a commitment.

        From the next decision on levels are those of the new horizon. The certificate keeps its delta; the
        theorems of a policy are about a horizon that was fixed before, and say nothing of one that was moved
        because of what had been seen.

        Parameters
        ----------
        horizon : int
            The number of rounds in all.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     agent.extend(1000)
        ...     agent.horizon
        1000
        """
        self._change(self._extend, horizon)

    def _extend(self, horizon: Any) -> None:
        self._need_no_commitment("extend")
        rounds = checks.whole("horizon", horizon, self.horizon + 1, 10**18)
        self._course.check_changeable("another horizon")
        self._now().extend(rounds)
        self._write([(Kind.EXTEND, None, None, float(rounds), None)])

    def add_arm(self, label: Label) -> None:
        """One more arm, which is handed out first, as it has no pulls; before a commitment.

        The certificate counts all arms there have ever been, so it holds for the new one as well. It comes
        later than the others: where rewards change with time it is compared with other times.

        Parameters
        ----------
        label : str, int or float
            What it is called; not what another arm is or was called.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     agent.add_arm("C")
        ...     agent.labels
        ('A', 'B', 'C')
        """
        self._change(self._add_arm, label)

    def _add_arm(self, label: Any) -> None:
        self._need_no_commitment("add_arm")
        *_, name = state.labels_of([*self._course.labels, label])
        self._course.check_changeable("another arm")
        self._now().add_arm(name)
        self._write([(Kind.ADD_ARM, None, None, None, json.dumps(name))])

    def retire_arm(self, label: Label) -> None:
        """Hand an arm out no more, and compare it no more; before a commitment.

        Its tickets can still be answered. The certificate goes on to count it: what it says is that no wrong
        arm is committed to *of those that are left*. Who retires the best arm has lost it.

        Parameters
        ----------
        label : str, int or float
            Which arm; two must be left.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B", "C"], 100, reward="bernoulli", rng=0)
        ...     agent.retire_arm("B")
        ...     agent.labels, agent.retired
        (('A', 'C'), {'B': Retired(pulls=0, total=0.0, pending=0)})
        """
        self._change(self._retire_arm, label)

    def _retire_arm(self, label: Any) -> None:
        self._need_no_commitment("retire_arm")
        arm = self._number(label)
        if arm in self._course.retired:
            raise ValueError(f"arm {label!r} is retired already")
        if len(self.labels) <= 2:
            raise ValueError(f"two arms must be left, and there are no more than {list(self.labels)}")
        self._course.check_changeable("one arm less")
        self._now().retire_arm(arm)
        self._write([(Kind.RETIRE_ARM, arm, None, None, None)])

    def reopen(self, reason: str) -> None:
        """Take the commitment back, and go on; for people who decide so.

        The old commitment stays in the file and in the summary. What made the policy stop has to be refuted
        by new rewards before it may stop the experiment again, and about that second commitment the theorems
        say nothing. The certificate is about all time: its delta covers both commitments together, and
        where it is still reached the next call commits again.

        Parameters
        ----------
        reason : str
            Why, for those who read the summary.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.KLEOCPUG(), ["A", "B"], 10**4, reward="bernoulli", rng=0)
        ...     while not agent.committed:
        ...         agent.update_batch(arms := agent.select_batch(10), [arm == "B" for arm in arms])
        ...     agent.reopen("prices of A have changed")
        ...     agent.committed, agent.earlier[0].arm
        (False, 'B')
        """
        if not isinstance(reason, str) or not 0 < len(reason) <= LONGEST_REASON:
            raise ValueError(
                f"reason must be a text of 1 to {LONGEST_REASON:,} characters, got {brief(reason)}"
            )
        self._change(self._reopen, reason)

    def _reopen(self, reason: str) -> None:
        if not self.committed:
            raise ValueError(f"experiment {self.name!r} has not committed: there is nothing to take back")
        self._course.check_changeable("taking a commitment back")
        now = self._now()
        why = self.commit_reason or ""
        arm: Any = self.committed_arm
        earlier = Earlier(arm, self.commit_time or 0, why, reason, now.time)
        now.reopen(earlier)
        self._write([(Kind.REOPEN, None, None, None, json.dumps(earlier))])

    def _need_no_commitment(self, method: str) -> None:
        if self.committed:
            raise ValueError(
                f"{method} comes too late: experiment {self.name!r} has committed to {self.committed_arm!r}; "
                "reopen it first"
            )

    # ---- looking

    def refresh(self) -> None:
        """Read what other processes have added; close windows that are due.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     agent.refresh()
        """
        if self._log.writable:
            self._change(self._refresh)
        else:
            self._log.transact(self._catch_up, (), self._cache)

    def _refresh(self) -> None:
        if self._course.is_due(self._store._time(), self._log):
            self._now()
            self._write([(Kind.TICK, None, None, None, None)])

    @property
    def _lock(self) -> Any:
        return self._log.lock

    @property
    def store(self) -> Store:
        """Where it is kept."""
        return self._store

    @property
    def window(self) -> float | None:
        """How many seconds answers are waited for, None if there are no windows."""
        return self._terms.window

    @property
    def missing(self) -> float | None:
        """The reward that a ticket without an answer counts as, None if it is dropped."""
        return self._terms.missing

    @property
    def delta(self) -> float | None:
        """The chance of a wrong commitment that the certificate may take, None without windows."""
        return self._experiment.delta

    @property
    def dropped(self) -> NDArray[np.int64]:
        """Windows of every arm that closed without an answer, and count as nothing."""
        with self._lock:
            now = self._known
            return np.array([now.dropped[arm] for arm in now.active], dtype=np.int64)

    @property
    def retired(self) -> Mapping[Any, Retired]:
        """The counts of arms that are not handed out any more."""
        with self._lock:
            now = self._known
            return {now.labels[arm]: counts for arm, counts in now.retired.items()}

    @property
    def earlier(self) -> tuple[Earlier, ...]:
        """Commitments that were taken back."""
        return tuple(self._known.earlier)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        # A copy that is in no store: what is in one is opened there.
        return Agent.from_json, (self.to_json(),)


def _key(key: Any, name: str = "key") -> str | None:
    if key is None:
        return None
    if not isinstance(key, str):
        raise TypeError(f"{name} must be a string, got {brief(key)}")
    try:
        length = len(key.encode())
    except UnicodeEncodeError:
        raise ValueError(f"{name} must be text, got {brief(key)}, which has no bytes") from None
    if not 0 < length <= LONGEST_KEY:
        raise ValueError(f"{name} must be of 1 to {LONGEST_KEY} bytes, got {length:,}")
    return key
