"""An agent whose state is in a store: every call is a transaction, and memory a cache of the file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai._base import checks
from robai._core.player import HorizonReached, Player
from robai._core.turns import Cache
from robai.live import course, state
from robai.live.agent import Agent
from robai.live.course import LARGEST_REWARD, Course
from robai.live.log import Event, Kind, Written
from robai.live.standing import Label
from robai.live.state import Experiment
from robai.live.terms import specification
from robai.policies.base import BasePolicy

if TYPE_CHECKING:
    from robai.live.store import Store

_SNAPSHOT = 2000  # events between two snapshots at least: as long as it takes to repeat in a few milliseconds
_SHARE = 20  # bytes of a snapshot for which another event is waited
_T = TypeVar("_T")
Row = tuple[Kind, int | None, int | None, float | None, str | None]


class Recorded(Agent[Label]):
    """An agent of a store, without tickets: the calls of `Agent`, in transactions."""

    def __init__(self, store: Store, found: Written, policy: BasePolicy | None) -> None:
        self._store, self._log = store, store._log
        self.name, self._written, self._own = found.name, found, policy
        self._spec, self._terms = specification(found.spec)
        self._cache = Cache()
        self._course: Course  # as the cache says
        self._next = 0  # before this event no snapshot is due

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

    @property
    def _lock(self) -> Any:
        return self._log.lock

    # ---- transactions

    def _change(self, operation: Callable[..., _T], *arguments: Any) -> _T:
        if not self._log.writable:
            raise RuntimeError(f"{self._log.path} was opened to be read, by Store.reader")
        result: _T = self._log.transact(self._operate, (operation, arguments), self._cache)
        return result

    def _operate(self, operation: Callable[..., _T], arguments: tuple[Any, ...]) -> _T:
        self._catch_up()
        return operation(*arguments)

    def _catch_up(self) -> None:
        """Memory is what the file says."""
        if self._cache.valid:
            for event in self._log.events(self._written.number, self._course.seq):
                if self._cache.valid and self._is_behind():
                    self._cache.valid = False
                    break
                self._cache.valid = False
                self._course.repeat(event, self._log)
            else:
                self._cache.valid = True
        if not self._cache.valid:
            self._need_it()
            self._course = course.opened(self._log, self._written.number, self._terms, self._spec, self._own)
            self._cache.valid = True

    def _is_behind(self) -> bool:
        """Whether what comes next was compacted away: an event, or one whose window is open here."""
        first = self._log.first(self._written.number) or 1
        return first > 1 + (self._course.matured if self._terms.ends else self._course.seq)

    def _need_it(self) -> None:
        if self._log.named(self.name) != self._written:
            raise KeyError(f"experiment {self.name!r} was deleted")

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
        if now.seq >= self._next and self._own is None:
            self._snapshot(now)

    def _snapshot(self, now: Course) -> None:
        """Add one to the file, unless another process has lately."""
        number = self._written.number
        last, text = self._log.snapshot(number) or (0, "")
        self._next = last + max(_SNAPSHOT, len(text) // _SHARE)
        if now.seq >= self._next:
            self._log.put_snapshot(number, now.seq, now.to_json())

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
                rows.append(
                    (Kind.COMMIT, arm, None, None, json.dumps(state.committed(now.player.commitment)))
                )
            now.hand_out(arm)
            rows.append((kind, arm, None, None, keys[done]))
        return rows

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

    def _select(self) -> Label:
        self._now()
        rows = self._deal(1, Kind.SELECT, [None])
        self._write(rows)
        label: Label = self._course.labels[rows[-1][1] or 0]
        return label

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
        ...     agent.pulls.tolist()
        [1, 0]
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
        ...     agent.sums.tolist()
        [1.0, 0.0]
        """
        self._need_no_window("update_batch", "answers")
        if isinstance(arms, Iterable) and not isinstance(arms, str | bytes | np.ndarray):
            arms = list(arms)
        self._change(self._update_batch, arms, rewards)

    def _update_batch(self, labels: Any, given: ArrayLike) -> None:
        numbers, values = self._pairs(labels, given)
        arms: list[int] = numbers.tolist()
        rewards = [self._reward(f"rewards[{place}]", each) for place, each in enumerate(values.tolist())]
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
        ...     agent.pulls.tolist()
        [1000, 0]
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

    def _reward(self, name: str, value: Any) -> float:
        """A reward that can be, now and when its window closes."""
        if isinstance(value, bool | np.bool_):
            value = float(value)
        number = checks.real(name, value)
        valid = self._experiment.rewards
        if not (valid.possible(1.0, number) and abs(number) <= LARGEST_REWARD):
            raise ValueError(f"{name} must be {valid}, got {value!r}")
        return number

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        # A copy that is in no store: what is in one is opened there.
        return Agent.from_json, (self.to_json(),)
