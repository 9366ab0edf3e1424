"""Policies written in Python: to try an idea against the built-in policies before writing Cython.

Any object with two methods will do::

    class EpsilonGreedy:
        def __init__(self, epsilon):
            self.epsilon = epsilon

        def select(self, state):                    # -> the number of an arm
            if state.t < state.n_arms:
                return state.t
            if state.rng.random() < self.epsilon:
                return int(state.rng.integers(state.n_arms))
            return int(state.means.argmax())

        def update(self, arm, reward):
            pass                                    # `state` has the counts and sums already

    robai.simulate(EpsilonGreedy(0.1), robai.Bernoulli([0.7, 0.2]), horizon=1000, runs=100, rng=0)

`select` may return `Commit(arm)`, which ends the exploration. Every run, and every agent, works
on a deep copy of the object, so it starts as it was handed in. Draw from `state.rng` only: a run
then depends on its seed alone.
"""

from __future__ import annotations

import copy
import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from robai._base.spec import Kind, parameter, spec
from robai._core.protocols import Commitment, Exploration, Started
from robai._core.rng import Stream
from robai._core.stopping import Never
from robai.policies.base import BasePolicy, Parts

if TYPE_CHECKING:
    from robai._core.player import Player
    from robai.rules import Game

__all__ = ["Commit", "CustomPolicy", "PythonPolicy", "State", "as_policy"]

_Number = TypeVar("_Number", np.int64, np.float64)


class Commit(NamedTuple):
    """Returned by `select` to play one arm for ever."""

    arm: int


class PythonPolicy(Protocol):
    """What a policy written in Python must offer."""

    def select(self, state: State) -> int | Commit: ...

    def update(self, arm: int, reward: float) -> None: ...


@dataclass
class State:
    """What `select` is shown.

    Attributes
    ----------
    t : rounds so far; in an agent with late rewards, answered and pending ones
    horizon : rounds in all
    n_arms : number of arms; they are called 0, 1, ...
    pulls : rewards received from each arm, read-only
    sums : their sums, read-only
    pending : pulls of each arm that have no reward yet; all 0 in a simulation
    rng : the generator to draw from
    """

    horizon: int
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
        self.pulls, self.sums, self.pending = _read_only(pulls), _read_only(sums), _read_only(pending)


def _read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    view = array.view()
    view.flags.writeable = False
    return view


def _with_its_methods(name: str, value: Any) -> PythonPolicy:
    if not (callable(getattr(value, "select", None)) and callable(getattr(value, "update", None))):
        raise TypeError(
            f"{name} must be a policy of robai.policies, or an object with select(state) and "
            f"update(arm, reward), got {value!r}"
        )
    policy: PythonPolicy = value
    return policy


@spec
class CustomPolicy(BasePolicy):
    """A policy written in Python among the others."""

    policy: PythonPolicy = parameter(Kind(_with_its_methods, "the object"))

    def label(self) -> str:
        return type(self.policy).__name__

    def __repr__(self) -> str:  # not by that of the user's object, which may hold its address
        return f"CustomPolicy({self.label()})"

    def to_dict(self) -> dict[str, Any]:
        return {"type": "CustomPolicy", "name": self.label()}

    def parts(self) -> Parts:
        raise TypeError(f"{self.label()} is written in Python and has no parts")

    def start(self, game: Game) -> Started:
        return Started(Exploration(), Never(), Commitment(), 0)

    def _ask(self, game: Game, stream: Stream) -> Asked:
        rng = np.random.Generator(stream)  # type: ignore[arg-type]  # it asks for a capsule and a lock only
        state = State(game.horizon, game.n_arms, rng)
        return Asked(copy.deepcopy(self.policy), state, self.label())


def as_policy(value: Any) -> BasePolicy:
    """A policy of robai as it is, an object with `select` and `update` as a CustomPolicy."""
    if isinstance(value, BasePolicy):
        return value
    if isinstance(value, type):
        raise TypeError(f"policy must be a policy, got {value!r}; call it to make one")
    return CustomPolicy(value)


@dataclass
class Asked:
    """A started policy: a copy of the user's object, and what it is shown."""

    policy: PythonPolicy
    state: State
    label: str

    def select(self, player: Player) -> tuple[int, bool]:
        """The arm for the next round of an agent, and whether it is a commitment."""
        self.state.t = player.rounds
        self.state.show(player.pulls, player.sums, player.pending)
        return self.choose()

    def choose(self) -> tuple[int, bool]:
        answer = self.policy.select(self.state)
        arm = answer.arm if isinstance(answer, Commit) else answer
        try:
            number = operator.index(arm)
        except TypeError:
            raise TypeError(
                f"{self.label}.select must return the number of an arm, or Commit(arm), got {answer!r}"
            ) from None
        if not 0 <= number < self.state.n_arms:
            raise ValueError(
                f"{self.label}.select must return an arm from 0 to {self.state.n_arms - 1}, got {answer!r}"
            )
        return number, isinstance(answer, Commit)

    def update(self, arm: int, reward: float) -> None:
        self.policy.update(arm, reward)
