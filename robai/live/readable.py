"""What an agent of a store shows: how it stands, and how it went."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robai._base.files import check_writable
from robai._base.text import printable
from robai.live.alarms import date
from robai.live.changes import Changeable
from robai.live.course import Earlier, Retired
from robai.live.log import Kind
from robai.live.standing import Label
from robai.live.timeline import Timeline, timeline

if TYPE_CHECKING:
    from robai.live.store import Store


class Readable(Changeable[Label]):
    """An agent of a store that can be looked at."""

    def refresh(self) -> None:
        """Read what other processes have added; close windows that are due.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     with robai.Store(f"{folder}/live.db") as another:
        ...         ticket = another.open("prices").ticket()
        ...     before = agent.rounds
        ...     agent.refresh()
        ...     before, agent.rounds
        (0, 1)
        """
        if self._log.writable:
            self._change(self._refresh)
        else:
            self._log.transact(self._operate, (self._need_it, ()), self._cache)

    def _refresh(self) -> None:
        self._need_it()
        if self._is_due():
            self._now()
            self._write([(Kind.TICK, None, None, None, None)])

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a page of how it went: means with their bounds and shares of the rounds, over all rounds.

        It has the sentence, alarms and differences of `summary` as well, and what happened when. It is of
        what the file says at this moment. Events are repeated for it, some 5 seconds for a million, while
        nobody waits. If the first ones were compacted away, it begins later, and says so.

        Parameters
        ----------
        path : path
            Exactly where; no suffix is added.
        title : str or None
            Of the page; the name of the experiment if None.

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     agent.update_batch(agent.select_batch(50), [0, 1] * 25)
        ...     agent.report(f"{folder}/page.html")
        ...     "page.html" in os.listdir(folder)
        True
        """
        check_writable(path)  # known before events are repeated
        super().report(path, title=title)

    def _page(self, title: str | None) -> str:
        from robai.live.page import stored_page

        with type(self._store).reader(self._store.path) as reader:
            read = type(self)(reader, self._written, self._own)
            told = reader._log.transact(read._operate, (read._timeline, ()), read._cache)
            return stored_page(read, told, title)

    def _timeline(self) -> Timeline:
        return timeline(self._log, self._written.number, self._terms, self._spec, self._own)

    @property
    def store(self) -> Store:
        """Where it is kept."""
        return self._store

    @property
    def created(self) -> float:
        """When it was created, in seconds of the store's clock."""
        return self._written.created

    @property
    def last_event(self) -> float | None:
        """When something happened last, as far as this process has read; None if nothing has."""
        return None if math.isinf(time := self._known.time) else time

    def _dates(self) -> str:
        last = self.last_event
        happened = "nothing has happened yet" if last is None else f"last event {date(last)}"
        return f"created {date(self.created)}, {happened}"

    @property
    def due(self) -> bool:
        """Whether windows have closed by now that the file, which is what is shown, has as open.

        The next ticket, answer or `refresh` that is written closes them. Who only reads cannot.
        """
        due: bool = self._log.transact(self._operate, (self._is_due, ()), self._cache)
        return due

    def _is_due(self) -> bool:
        return self._course.is_due(self._store._time(), self._log)

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

    def _dropped(self) -> list[int]:
        return list(map(int, self.dropped))

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

    @property
    def alarms(self) -> list[str]:
        """What has contradicted the assumptions, in sentences, the gravest first. It changes nothing.

        Arms that are answered unequally often, answers that become rarer, rewards that drift, and such as
        vary more than the assumed sigma allows.
        """
        with self._lock:
            now = self._known
            return [*now.alarms.sentences(now.labels), *super().alarms]

    def _history(self) -> list[str]:
        said = [
            f"It had committed to {each.arm!r} after {each.commit_time:,} rewards: {each.commit_reason}. "
            f"That was taken back ({date(each.time)}): {printable(each.reason)}."
            for each in self.earlier
        ]
        dropped = [f"{n:,} of {arm!r}" for arm, n in zip(self.labels, self.dropped, strict=True) if n]
        if dropped:
            said.append(f"Windows that closed without an answer: {', '.join(dropped)}.")
        if self.retired:
            arms = (f"{label!r} after {counts.pulls:,} rewards" for label, counts in self.retired.items())
            said.append(f"Retired: {', '.join(arms)}.")
        return said
