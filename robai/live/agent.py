"""Agent: a policy that runs a live experiment, one user at a time, and survives a restart."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai._base.files import write_atomically
from robai._core.player import Player
from robai._core.rng import Stream, seed_block
from robai._play.assumptions import warn_of_assumptions
from robai._play.seeds import Rng, Seed
from robai.custom import PythonPolicy
from robai.live import state
from robai.live.standing import Label, Standing
from robai.live.state import Experiment, RewardLike
from robai.policies.base import BasePolicy
from robai.result.figures import Reported


class Agent(Standing[Label], Reported):
    """A policy in an experiment that is going on.

    `select` hands out an arm, `update` takes its reward, in any order and with any delay.

    Pulls that were handed out and have no reward yet are pending. They count in the initial round robin,
    and the exploration treats them as if their rewards were the mean of the arm so far, so that a batch
    spreads over the arms. Stopping and commitment look at rewards that have arrived, and at nothing else.
    The stopping rule is asked by `select`, never by an update. With immediate rewards the arms are exactly
    those that `robai.simulate` plays; that is also what the theorems are about. Late rewards delay the
    commitment and add to the regret; so do a large first batch, or much data of a poor arm from elsewhere,
    for policies that wait until one arm has l times the pulls of every other (EOCPUG, KLEOCPUG). Policies
    that stop at a fixed round (EOCP, KLEOCP) count data from elsewhere as rounds: with much of it for one
    arm only they would commit before they have compared, so give them none, or as much for every arm.

    The commitment is irrevocable: later rewards are recorded for monitoring and never change it. Threads
    may share an agent. An error that a call raises has changed nothing. Ctrl-C, which can come at any
    moment, finds a call not made or made in full: `rounds` and `pulls` tell.

    An agent lives in memory, until `save`. Experiments that have to survive a crash, that several processes
    serve, or whose answers can be lost or come twice, are kept in a `Store`.

    Parameters
    ----------
    policy : policy or object with `select(state)` and `update(arm, reward)`
        One of `robai.policies`, or your own (see `robai.custom`).
    arms : sequence of str, int or float, or int
        The names of the arms, or how many there are; they are then called 0, 1, ...
    horizon : int
        The number of rounds: pulls answered or pending. After the last one `select` returns the
        committed arm, or raises `HorizonReached` if there is none.
    reward : str or family
        Which rewards are valid: "bernoulli" 0 or 1, "bounded" from 0 to 1, "gaussian" any finite
        number, of unknown variance, ..., or a family of `robai.families`: Bounded(0, 1000), Binomial(10),
        Gaussian(2.5), whose standard deviation is known.
    rng : None, int, SeedSequence or Generator
        The seed of the draws.

    Examples
    --------
    >>> import robai
    >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], horizon=10_000, reward="bernoulli", rng=0)
    >>> while not agent.committed:
    ...     arm = agent.select()
    ...     agent.update(arm, arm == "B")  # "B" always pays
    >>> agent.committed_arm, agent.commit_time
    ('B', 233)
    """

    def __init__(
        self,
        policy: BasePolicy | PythonPolicy,
        arms: Iterable[Label] | int,
        horizon: int | float,
        *,
        reward: RewardLike,
        rng: Rng = None,
    ) -> None:
        experiment, seed = Experiment(policy, arms, horizon, reward), Seed.of(rng)
        warn_of_assumptions(
            [(experiment.policy.label(), experiment.policy, experiment.game, None)], stacklevel=2
        )
        self._begin(experiment, experiment.player(Stream(seed_block(seed.entropy, seed.spawn_key, 0)[0])))

    def _begin(self, experiment: Experiment, player: Player) -> None:
        self._experiment, self._player = experiment, player
        self._labels = experiment.labels
        self._numbers = {label: number for number, label in enumerate(experiment.labels)}

    # ---- rounds

    def select(self) -> Label:
        """The arm for the next round; after the commitment always that one, also beyond the horizon.

        Returns
        -------
        label
            What the arm is called, or its number.

        Raises
        ------
        HorizonReached
            If all rounds have been handed out and the policy has not committed.

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.UCB(), ["A", "B"], 3, reward="bounded", rng=0)
        >>> [agent.select() for _ in range(3)]
        ['A', 'B', 'A']
        >>> agent.select()
        Traceback (most recent call last):
        robai._core.player.HorizonReached: all 3 rounds have been handed out and the policy has not committed
        """
        return self._labels[self._player.select()]

    def select_batch(self, n: int) -> NDArray[np.int64] | list[Label]:
        """The arms for the next `n` rounds: those that `n` calls of `select` would give.

        Parameters
        ----------
        n : int
            How many. If fewer rounds are left, nothing is handed out and a ValueError says how many are.

        Returns
        -------
        ndarray of int, or list
            An array if the arms are numbered, a list of labels if they have names.

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.KLEOCPUG(), 3, 1000, reward="bernoulli", rng=0)
        >>> agent.select_batch(6)
        array([0, 1, 2, 0, 1, 2])
        """
        arms = self._player.select_batch(n)
        return arms if self._experiment.numbered else [self._labels[arm] for arm in arms.tolist()]

    def update(self, arm: Label, reward: float) -> None:
        """Record the reward of a pull.

        Answers may come in any order and at any time, and need no token: the number of pending
        pulls of the arm falls by one. With none pending the reward counts all the same, which is
        how data from elsewhere gives a warm start.

        Parameters
        ----------
        arm : label
            Which arm; a KeyError if there is no such arm.
        reward : float
            A ValueError if it is not a possible one.

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], 1000, reward="bernoulli", rng=0)
        >>> agent.update(agent.select(), 1)
        >>> agent.pulls.tolist(), agent.sums.tolist()
        ([1, 0], [1.0, 0.0])
        """
        try:
            number = self._numbers[arm]  # not by `_number`: a call takes as long as a look-up
        except (KeyError, TypeError):
            raise self._unknown(arm) from None
        self._player.update(number, reward)

    def update_counts(self, arm: Label, n: int, total: float, squares: float | None = None) -> None:
        """Record many rewards of an arm by their sum.

        Parameters
        ----------
        arm : label
            Which arm.
        n : int
            How many rewards.
        total : float
            What they sum to.
        squares : float or None
            The sum of their squared deviations from their own mean, which must be given where the policy
            estimates the variance.

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], 10_000, reward="bernoulli", rng=0)
        >>> agent.update_counts("A", n=1000, total=120)
        >>> agent.pulls.tolist()
        [1000, 0]
        """
        self._player.update_counts(self._number(arm), n, total, squares)

    def update_batch(self, arms: Iterable[Label] | NDArray[np.integer[Any]], rewards: ArrayLike) -> None:
        """Record many rewards, or none if one is invalid; fastest with arrays and numbered arms.

        Parameters
        ----------
        arms : sequence of labels
            Which arm each reward is of.
        rewards : sequence of float
            As many.

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.KLEOCPUG(), 2, 10_000, reward="bernoulli", rng=0)
        >>> arms = agent.select_batch(100)
        >>> agent.update_batch(arms, arms == 0)
        >>> agent.sums.tolist()
        [50.0, 0.0]
        """
        self._player.update_batch(*self._pairs(arms, rewards))

    def _pairs(self, arms: Any, rewards: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Numbers of arms and rewards, as many of each."""
        try:
            values = np.asarray(rewards)
            if values.dtype.kind not in "biufO":  # NumPy would make numbers of strings
                raise TypeError
            values = np.ascontiguousarray(values, dtype=np.float64)
        except OverflowError:
            raise ValueError("rewards must be finite, got one that a double cannot hold") from None
        except (TypeError, ValueError):
            raise TypeError(f"rewards must be numbers, got {brief(rewards)}") from None
        numbers = self._numbers_of(arms)
        if values.shape != numbers.shape:
            shapes = f"{len(numbers)} and shape {values.shape}"
            raise ValueError(f"arms and rewards must be of the same length, got {shapes}")
        return numbers, values

    def _number(self, arm: Any) -> int:
        try:
            return self._numbers[arm]
        except (KeyError, TypeError):  # a TypeError if it cannot be a label at all
            raise self._unknown(arm) from None

    def _unknown(self, arm: Any) -> KeyError:
        return KeyError(f"there is no arm {brief(arm)}; the arms are {brief(self._labels)}")

    def _numbers_of(self, arms: Any) -> NDArray[np.int64]:
        """Arm numbers as an array; those of numbered arms are yet to be checked."""
        if self._experiment.numbered:
            numbers = np.asarray(arms)
            if numbers.ndim == 1 and numbers.dtype.kind in "iu":
                return np.ascontiguousarray(numbers, dtype=np.int64)
        if isinstance(arms, str | bytes) or not isinstance(arms, Iterable):
            raise TypeError(f"arms must be a sequence of arms, got {arms!r}")
        return np.array([self._number(arm) for arm in arms], dtype=np.int64)

    # ---- as a page

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a page of how it stands: the sentence, alarms, the means with their bounds, and differences.

        One file of HTML that needs no others, in which figures answer to the pointer. A crash leaves the old
        file or the new one. How it came about is known where events are, in a `Store`.

        Parameters
        ----------
        path : path
            Exactly where; no suffix is added.
        title : str or None
            Of the page; the policy if None.

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], 10_000, reward="bernoulli", rng=0)
        >>> agent.update_batch(["A", "B", "B"], [0, 1, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     agent.report(os.path.join(folder, "page.html"))
        ...     os.listdir(folder)
        ['page.html']
        """
        super().report(path, title=title)

    def _page(self, title: str | None) -> str:
        from robai.live.page import page

        with self._lock:
            return page(self, title)

    # ---- durable state

    def to_json(self) -> str:
        """Everything, the generator included: the agent that `from_json` makes goes on exactly alike.

        Returns
        -------
        str

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.ThompsonSampling(), 2, 1000, reward="bernoulli", rng=0)
        >>> again = robai.Agent.from_json(agent.to_json())
        >>> agent.select_batch(50).tolist() == again.select_batch(50).tolist()
        True
        """
        with self._lock:
            return state.encode(self._experiment, self._player)

    @classmethod
    def from_json(cls, text: str | bytes) -> Agent[Any]:
        """The agent that `to_json` described; a ValueError says which field is wrong. Runs no code.

        Parameters
        ----------
        text : str or bytes
            What `to_json` returned.

        Returns
        -------
        Agent

        Examples
        --------
        >>> import robai
        >>> text = robai.Agent(robai.KLUCB(), ["A", "B"], 1000, reward="poisson", rng=0).to_json()
        >>> robai.Agent.from_json(text)
        <Agent KLUCB(): 2 arms, round 0 of 1,000, exploring>
        """
        agent = cls.__new__(cls)
        agent._begin(*state.decode(text))
        return agent

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json` to a file; a crash leaves the old file or the new one. See `robai.load`.

        Parameters
        ----------
        path : path
            Where.

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> agent = robai.Agent(robai.KLUCB(), ["A", "B"], 1000, reward="poisson", rng=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     agent.save(os.path.join(folder, "agent.json"))
        ...     os.listdir(folder)
        ['agent.json']
        """
        write_atomically(path, self.to_json().encode())

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return type(self).from_json, (self.to_json(),)


def load(path: str | os.PathLike[str]) -> Agent[Any]:
    """The agent that `Agent.save` wrote to a file; it goes on exactly as if it had never stopped.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    Agent

    Raises
    ------
    ValueError
        If the file is damaged: it says which field is wrong. Nothing in it is executed.

    Examples
    --------
    >>> import os, tempfile
    >>> import robai
    >>> agent = robai.Agent(robai.KLUCB(), ["A", "B"], 1000, reward="poisson", rng=0)
    >>> agent.update("A", 7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     agent.save(os.path.join(folder, "agent.json"))
    ...     robai.load(os.path.join(folder, "agent.json")).sums.tolist()
    [7.0, 0.0]
    """
    try:
        return Agent.from_json(Path(path).read_bytes())
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
