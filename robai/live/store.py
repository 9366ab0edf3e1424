"""Store: live experiments in a file, for any number of processes."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args

from robai._base import checks
from robai._core.rng import Stream, seed_block
from robai._play.assumptions import warn_of_assumptions
from robai._play.seeds import Rng, Seed
from robai.custom import PythonPolicy
from robai.live import state
from robai.live.alarms import TIMES
from robai.live.care import first_needed, wrong
from robai.live.course import LARGEST_REWARD
from robai.live.database import Sync
from robai.live.log import Log, Written
from robai.live.standing import Label
from robai.live.state import Experiment, RewardLike
from robai.live.stored import StoredAgent
from robai.live.terms import Terms, specification
from robai.policies.base import BasePolicy

LONGEST_NAME = 200  # characters
LONGEST_TIMEOUT = 1e6  # seconds


class Store:
    """Live experiments in a file, each an agent that any number of processes may ask.

    The file is the state, and memory a cache of it: an operation that returned is in the file, whatever is
    killed; after any exception, Ctrl-C included, the next call works and sees what the file says; what two
    processes do at once happens one after the other. The file has to be on a local disk. It has the suffixes
    `-wal` and `-shm` of SQLite beside it while it is open, and always the lock, `-lock`.

    Parameters
    ----------
    path : path
        Of the file, which is made if there is none.
    sync : "normal" or "full"
        "full" loses nothing in a power cut either, and takes the time that the disk needs for every change;
        "normal" may lose some hundred of the last operations then, and nothing if a process is killed.
    timeout : float
        After how many seconds of waiting for other processes there is a TimeoutError, and nothing done.
    clock : function
        The time, in seconds; windows close by it. It may be any function, for tests and simulations.

    See Also
    --------
    Agent : The same experiment in memory.

    Examples
    --------
    >>> import tempfile
    >>> import robai
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = robai.Store(f"{folder.name}/live.db")
    >>> agent = store.create("prices", robai.KLEOCPUG(), ["A", "B"], 10**5, reward="bernoulli", rng=0)
    >>> ticket = agent.ticket("user 7")
    >>> agent.answer(ticket, 1)
    'counted'
    >>> agent.answer(ticket, 1)  # sent twice, counted once
    'repeated'
    >>> store.close()  # or the end of the process, whichever way
    >>> with robai.Store(f"{folder.name}/live.db") as store:
    ...     store.open("prices").pulls.tolist()
    [1, 0]
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        sync: Sync = "normal",
        timeout: float = 10.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._begin(path, sync, timeout, clock, writable=True)

    @classmethod
    def reader(cls, path: str | os.PathLike[str]) -> Store:
        """A store to look into: nothing can be changed by it, and nobody waits for it, nor it for anybody.

        Parameters
        ----------
        path : path
            Of the file.

        Returns
        -------
        Store
            Whose agents have summaries, tables and figures. Their changes raise a RuntimeError.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     with robai.Store.reader(f"{folder}/live.db") as reader:
        ...         looking = reader.open("prices")
        ...         arm = agent.select()
        ...         looking.refresh()
        ...         looking.rounds
        1
        """
        store = cls.__new__(cls)
        store._begin(path, "normal", 10.0, time.time, writable=False)
        return store

    def _begin(self, path: Any, sync: Any, timeout: Any, clock: Any, *, writable: bool) -> None:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise TypeError(f"path must be a path, got {path!r}")
        checks.one_of("sync", sync, get_args(Sync))
        seconds = checks.between("timeout", timeout, 0.0, LONGEST_TIMEOUT)
        if not callable(clock):
            raise TypeError(f"clock must be a function that returns seconds, got {clock!r}")
        self._clock = clock
        self._log = Log(path, sync, seconds, writable)
        self.path = Path(self._log.path)

    def _time(self) -> float:
        return checks.between("clock()", self._clock(), *TIMES)

    # ---- experiments

    def create(
        self,
        name: str,
        policy: BasePolicy | PythonPolicy,
        arms: Iterable[Label] | int,
        horizon: int | float,
        *,
        reward: RewardLike,
        rng: Rng = None,
        window: float | None = None,
        missing: float | None = None,
        delta: float | None = None,
        exist_ok: bool = False,
    ) -> StoredAgent[Label]:
        """Begin an experiment.

        Parameters
        ----------
        name : str
            What it is called.
        policy, arms, horizon, reward, rng
            As for `Agent`.
        window : float or None
            For how many seconds answers are waited for, math.inf for ever. With a window a certificate ends
            the experiment too: the arm with the largest mean is committed to when it is wrong with
            probability `delta` at most, however late rewards are; and `ticket` and `answer` are the only way
            in. None: no windows, and the policy's own stop alone.
        missing : float or None
            What silence means. None: nothing; answers count when they come, and a window that closes without
            one leaves no trace in the evidence: this assumes that neither loss nor delay depends on the
            reward. A number, 0.0 for what people either do or do not do: that reward; answers are held until
            their window closes, and then all count in the order of their tickets, which assumes nothing.
        delta : float or None
            The chance of a wrong commitment that the certificate may take; 1/horizon if None.
        exist_ok : bool
            If there is such an experiment, compare it and open it: what a service does when it starts.

        Returns
        -------
        StoredAgent

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> folder = tempfile.TemporaryDirectory()
        >>> with robai.Store(f"{folder.name}/live.db") as store:
        ...     options = {"reward": "bernoulli", "window": 3600.0, "missing": 0.0, "exist_ok": True}
        ...     for _ in range(2):
        ...         agent = store.create("buttons", robai.KLEOCPUG(), ["A", "B"], 10**5, **options)
        ...         agent.answer(agent.ticket(), 1)
        ...     agent.rounds, agent.pulls.tolist()
        'held'
        'held'
        (2, [0, 0])
        >>> folder.cleanup()
        """
        name = _name(name)
        terms, experiment = Terms.of(window, missing), Experiment(policy, arms, horizon, reward)
        if terms.window is not None:
            chance = 1.0 / experiment.horizon if delta is None else checks.probability("delta", delta)
            experiment = Experiment(policy, arms, horizon, reward, delta=chance)
        elif delta is not None:
            raise ValueError(f"delta needs a window, got delta={delta!r} and window=None")
        if terms.missing is not None and not (
            experiment.rewards.possible(1.0, terms.missing) and abs(terms.missing) <= LARGEST_REWARD
        ):
            raise ValueError(f"missing must be a reward, {experiment.rewards}, got {missing!r}")
        warn_of_assumptions(
            [(experiment.policy.label(), experiment.policy, experiment.game, None)], stacklevel=2
        )
        seed = Seed.of(rng)
        player = experiment.player(Stream(seed_block(seed.entropy, seed.spawn_key, 0)[0]))
        spec = {"agent": state.beginning(experiment, player), **terms.to_dict()}
        return self._agent(
            self._log.transact(self._create, (name, json.dumps(spec, allow_nan=False), bool(exist_ok))),
            experiment.policy,
        )

    def _create(self, name: str, spec: str, exist_ok: bool) -> Written:
        self._need_writable()
        found = self._log.named(name)
        if found is None:
            created = self._time()
            return Written(self._log.create(name, created, spec), name, created, spec)
        if not exist_ok:
            raise ValueError(f"{self.path} has an experiment {name!r} already; open it, or say exist_ok=True")
        known, asked = (_compared(text) for text in (found.spec, spec))
        for field, value in asked.items():
            if (was := known[field]) != value:
                raise ValueError(f"experiment {name!r} was created with {field} {was!r}, not {value!r}")
        return found

    def open(self, name: str) -> StoredAgent[Any]:
        """The agent of an experiment, as it stands.

        Parameters
        ----------
        name : str
            A KeyError with the nearest names if there is no such experiment.

        Returns
        -------
        StoredAgent

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     store.open("prices")
        <Agent UCB(): 2 arms, round 0 of 100, exploring>
        """
        found: Written = self._log.transact(self._found, (name,))
        agent, _ = specification(found.spec)
        try:
            BasePolicy.from_dict(agent["policy"])
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"the policy of experiment {name!r} has to be handed to create, with exist_ok=True: it is "
                f"written in Python, or compiled elsewhere ({error})"
            ) from None
        return self._agent(found, None)

    def _found(self, name: Any) -> Written:
        found = self._log.named(name) if isinstance(name, str) else None
        if found is None:
            near = checks.nearest(name, self._log.names())
            raise KeyError(f"{self.path} has no experiment {name!r}{near}")
        return found

    def _agent(self, found: Written, policy: BasePolicy | None) -> StoredAgent[Any]:
        known = state.policy_of(specification(found.spec)[0])
        agent: StoredAgent[Any] = StoredAgent(self, found, policy if known is None else None)
        agent._known  # noqa: B018 - read now, so that what is wrong with the file is known now
        return agent

    def names(self) -> list[str]:
        """The experiments, in the order in which they were created.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     store.names()
        ['prices']
        """
        return self._log.transact(self._log.names, ())

    def delete(self, name: str) -> None:
        """Delete an experiment with all that happened in it, for ever.

        Parameters
        ----------
        name : str
            Which one.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     store.delete("prices")
        ...     store.names()
        []
        """
        self._need_writable()
        self._log.transact(lambda: self._log.delete(self._found(name).number), ())

    def _need_writable(self) -> None:
        if not self._log.writable:
            raise RuntimeError(f"{self.path} was opened to be read, by Store.reader")

    # ---- care

    def check(self, name: str | None = None) -> list[str]:
        """What is wrong: with the file, and with the experiments in it, which are repeated from their events.

        It reads a copy of the moment, and keeps nobody waiting: some 2 seconds for a million events.

        Parameters
        ----------
        name : str or None
            Of one experiment; all if None.

        Returns
        -------
        list of str
            Sentences, none if all is well.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     store.check()
        []
        """
        sentences: list[str] = []
        with Store.reader(self.path) as reader:
            try:
                reader._log.transact(reader._check, (name, sentences))
            except sqlite3.DatabaseError as error:
                sentences.append(f"SQLite: {error}")
        return sentences

    def _check(self, name: str | None, sentences: list[str]) -> None:
        sentences += [f"SQLite: {text}" for text in self._log.damage()]
        for found in self._log.experiments() if name is None else [self._found(name)]:
            try:
                for text in wrong(self._log, found):
                    sentences.append(f"{found.name}: {text}")
            except (ValueError, sqlite3.DatabaseError) as error:
                sentences.append(f"{found.name}: {error}")

    def compact(self, name: str, *, before: float) -> int:
        """Delete the oldest events of an experiment; a snapshot says what they came to.

        What is needed stays: open windows, tickets without an answer, and all since the last snapshot but
        one. An answer to a ticket that is not there any more is "late", its key is forgotten, and nobody can
        tell any more what happened. So it is for very large files alone.

        Parameters
        ----------
        name : str
            Which experiment.
        before : float
            Events from this time on stay, in seconds of the store's clock.

        Returns
        -------
        int
            How many events were deleted.

        Examples
        --------
        >>> import tempfile, time
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 10**6, reward="bernoulli", rng=0)
        ...     for _ in range(3000):
        ...         agent.update(agent.select(), 0)
        ...     store.compact("prices", before=time.time())
        4000
        """
        self._need_writable()
        number = self.open(name)._written.number
        cut = self._log.transact(self._cut, (name, checks.real("before", before)))
        deleted = 0
        while part := self._log.transact(self._log.remove, (number, cut)):  # in parts: others want to go on
            deleted += part
        return deleted

    def _cut(self, name: str, before: float) -> int:
        return first_needed(self._log, self._found(name), before)

    def close(self) -> None:
        """Close the file; agents of the store can be asked nothing more.

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = robai.Store(f"{folder.name}/live.db")
        >>> store.close()
        >>> sorted(os.listdir(folder.name))
        ['live.db', 'live.db-lock']
        >>> folder.cleanup()
        """
        self._log.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({os.fspath(self.path)!r})"


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}")
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise ValueError(
            f"name must be 1 to {LONGEST_NAME} printable characters, with no blank at its ends, got {name!r}"
        )
    return name


def _compared(text: str) -> dict[str, Any]:
    """What two calls of `create` have to have in common."""
    agent, terms = specification(text)
    if (policy := state.policy_of(agent)) is not None:  # with parameters that an older version did not know
        agent["policy"] = policy.to_dict()
    known = {name: agent.get(name) for name in ("policy", "arms", "horizon", "reward")}
    return known | terms._asdict() | {"delta": agent.get("delta")}
