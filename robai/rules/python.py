"""An exploration written in Python, and what it is shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from robai._base.spec import Kind, parameter, spec
from robai._core import protocols
from robai.rules.explore import Exploration
from robai.rules.game import Game

_Number = TypeVar("_Number", np.int64, np.float64)


class Commit(NamedTuple):
    """Returned by `select` to play one arm for ever.

    Attributes
    ----------
    arm : int
        Its number.

    Examples
    --------
    >>> import robai
    >>> class TenEach:
    ...     def select(self, state):
    ...         done = state.pulls.min() >= 10
    ...         return robai.Commit(int(state.means.argmax())) if done else int(state.pulls.argmin())
    ...
    ...     def update(self, arm, reward):
    ...         pass
    >>> robai.simulate(TenEach(), robai.Gaussian([3, 0, 0]), 1000, 5, rng=0).commit_time.tolist()
    [30, 30, 30, 30, 30]
    """

    arm: int


@dataclass
class State:
    """What `select` is shown.

    Attributes
    ----------
    horizon : int or float
        Rounds in all; a float above 10^18, to which nothing is played.
    n_arms : int
        Number of arms; they are called 0, 1, ...
    rng : numpy.random.Generator
        What to draw from.
    t : int
        Rounds so far; in an agent with late rewards, answered and pending ones.
    pulls : ndarray of int
        Rewards received from each arm, read-only.
    sums : ndarray of float
        Their sums, read-only.
    pending : ndarray of int
        Pulls of each arm that have no reward yet; all 0 in a simulation.

    Examples
    --------
    A policy can be tried without a bandit:

    >>> import robai
    >>> state = robai.custom.State(horizon=1000, n_arms=2, rng=np.random.default_rng(0), t=4)
    >>> state.show(pulls=np.array([3, 1]), sums=np.array([2.0, 1.0]), pending=np.array([0, 0]))
    >>> state.means.round(3).tolist()
    [0.667, 1.0]
    """

    horizon: int | float
    n_arms: int
    rng: np.random.Generator
    t: int = 0
    pulls: NDArray[np.int64] = field(init=False)
    sums: NDArray[np.float64] = field(init=False)
    pending: NDArray[np.int64] = field(init=False)

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean reward of each arm, NaN where there is none yet."""
        with np.errstate(invalid="ignore"):
            return self.sums / self.pulls

    def show(self, pulls: NDArray[np.int64], sums: NDArray[np.float64], pending: NDArray[np.int64]) -> None:
        """Set what is seen of the rewards.

        Parameters
        ----------
        pulls, sums, pending : ndarray
            One entry an arm; what is shown are read-only views of them.

        Examples
        --------
        >>> import robai
        >>> state = robai.custom.State(horizon=1000, n_arms=2, rng=np.random.default_rng(0))
        >>> state.show(np.array([3, 0]), np.array([2.0, 0.0]), np.array([0, 1]))
        >>> state.means.round(3).tolist()
        [0.667, nan]
        """
        self.pulls, self.sums, self.pending = _read_only(pulls), _read_only(sums), _read_only(pending)


def _read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    view = array.view()
    view.flags.writeable = False
    return view


class PythonPolicy(Protocol):
    """What a policy written in Python must offer.

    Examples
    --------
    >>> import robai
    >>> class RoundRobin:
    ...     def select(self, state):
    ...         return state.t % state.n_arms
    ...
    ...     def update(self, arm, reward):
    ...         pass
    >>> robai.simulate(RoundRobin(), robai.Gaussian([1, 0]), 10, 2, rng=0).pulls.tolist()
    [[5, 5], [5, 5]]
    """

    def select(self, state: State) -> int | Commit:
        """The arm for the next round.

        Parameters
        ----------
        state : State
            What is seen of the game.

        Returns
        -------
        int or Commit
            The number of an arm, or `Commit(arm)` to play it for ever.

        Examples
        --------
        >>> class Leader:
        ...     def select(self, state):
        ...         return state.t if state.t < state.n_arms else int(state.means.argmax())
        ...
        ...     def update(self, arm, reward):
        ...         pass
        >>> Leader().select(State(horizon=1000, n_arms=2, rng=np.random.default_rng(0), t=1))
        1
        """
        ...

    def update(self, arm: int, reward: float) -> None:
        """Take the reward of a pull; `state` has counts and sums already.

        Parameters
        ----------
        arm : int
            Its number.
        reward : float
            What it paid.

        Examples
        --------
        >>> class Remembering:
        ...     def __init__(self):
        ...         self.seen = []
        ...
        ...     def select(self, state):
        ...         return 0
        ...
        ...     def update(self, arm, reward):
        ...         self.seen.append(reward)
        >>> policy = Remembering()
        >>> policy.update(0, 1.0)
        >>> policy.seen
        [1.0]
        """
        ...


def has_its_methods(value: Any) -> bool:
    """Whether it is an object with `select` and `update`."""
    methods = (getattr(value, name, None) for name in ("select", "update"))
    return not isinstance(value, type) and all(map(callable, methods))


def _with_its_methods(name: str, value: Any) -> PythonPolicy:
    if not has_its_methods(value):
        raise TypeError(
            f"{name} must be a policy of robai.policies, or an object with select(state) and "
            f"update(arm, reward), got {value!r}"
        )
    policy: PythonPolicy = value
    return policy


WRITTEN = Kind(_with_its_methods, "an object with select(state) and update(arm, reward)")


@spec
class PythonExploration(Exploration):
    """An object with `select(state)` and `update(arm, reward)`, as `robai.custom` describes them.

    `Policy(explore=...)` makes one of the object. The stopping rule is asked before it, as soon as every arm
    has the rewards that the rule needs, one as a rule: `select` decides on the initial pulls too.

    Examples
    --------
    >>> import robai
    >>> class RoundRobin:
    ...     def select(self, state):
    ...         return state.t % state.n_arms
    ...
    ...     def update(self, arm, reward):
    ...         pass
    >>> isinstance(robai.Policy(explore=RoundRobin()).explore, PythonExploration)
    True
    """

    rule: PythonPolicy = parameter(WRITTEN)

    def __repr__(self) -> str:  # not by that of the user's object, which may hold its address
        return f"{type(self.rule).__name__}()"

    def label(self) -> str:
        return repr(self)

    def to_dict(self) -> dict[str, Any]:
        return {"type": "PythonExploration", "name": type(self.rule).__name__}

    def start(self, game: Game) -> protocols.Exploration:
        return protocols.Exploration()
