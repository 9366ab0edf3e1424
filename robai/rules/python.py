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
    """Returned by `select` to play one arm for ever."""

    arm: int


@dataclass
class State:
    """What `select` is shown.

    Attributes
    ----------
    t : rounds so far; in an agent with late rewards, answered and pending ones
    horizon : rounds in all; a float above 10^18, to which nothing is played
    n_arms : number of arms; they are called 0, 1, ...
    pulls : rewards received from each arm, read-only
    sums : their sums, read-only
    pending : pulls of each arm that have no reward yet; all 0 in a simulation
    rng : the generator to draw from
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
        self.pulls, self.sums, self.pending = _read_only(pulls), _read_only(sums), _read_only(pending)


def _read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    view = array.view()
    view.flags.writeable = False
    return view


class PythonPolicy(Protocol):
    """What a policy written in Python must offer."""

    def select(self, state: State) -> int | Commit: ...

    def update(self, arm: int, reward: float) -> None: ...


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
