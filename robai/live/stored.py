"""The agent of a store: tickets that are answered once, keys that stick, windows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from reprlib import repr as brief
from typing import Any, NamedTuple

import numpy as np

from robai._base import checks
from robai.live import state
from robai.live.log import MOST_EXPERIMENTS, Kind
from robai.live.readable import Readable
from robai.live.standing import Label

LONGEST_KEY = 200  # bytes


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


class StoredAgent(Readable[Label]):
    """An agent of a `Store`, which alone makes it, by `create` and `open`.

    It has all that an `Agent` has, and shows what the last call or `refresh` of this process has read.
    `to_json`, `save` and pickling give copies that are in no store.

    Parameters
    ----------
    store : Store
        Where it is kept.
    found : Written
        What the file says of its beginning.
    policy : policy or None
        One that data cannot bring back, if it is.

    Attributes
    ----------
    name : str
        What the experiment is called.

    Examples
    --------
    >>> import tempfile
    >>> import robai
    >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
    ...     store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
    <Agent UCB(): 2 arms, round 0 of 100, exploring>
    """

    # ---- handing out

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
        wanted: dict[str, None] = {}
        for key in keys:
            if key is not None and key not in known and key not in wanted:
                found = self._log.find_key(self._written.number, key)
                if found is None:
                    wanted[key] = None
                else:
                    known[key] = self._ticket(*found, key)
        fresh: list[Ticket] = []
        handed = [*([None] * keys.count(None)), *wanted]
        if handed:
            seq = self._now().seq
            rows = self._deal(len(handed), Kind.TICKET, handed)
            self._write(rows)
            for place, (kind, arm, _, _, key) in enumerate(rows, start=seq + 1):
                if kind is Kind.TICKET:
                    fresh.append(self._ticket(place, arm, key))
        known |= {ticket.key: ticket for ticket in fresh if ticket.key is not None}
        unnamed = (ticket for ticket in fresh if ticket.key is None)
        return [next(unnamed) if key is None else known[key] for key in keys]

    def _ticket(self, seq: int, arm: Any, key: str | None) -> Ticket:
        return Ticket(seq * MOST_EXPERIMENTS + self._written.number, self._course.labels[arm], key)

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
        if not isinstance(pairs, Iterable):
            raise TypeError(f"pairs must be a sequence, got {brief(pairs)}")
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
