"""Policies written in Python: to try an idea against the built-in policies before writing Cython.

Any object with two methods will do.

>>> import robai
>>> class EpsilonGreedy:
...     def __init__(self, epsilon):
...         self.epsilon = epsilon
...
...     def select(self, state):  # -> the number of an arm
...         if state.t < state.n_arms:
...             return state.t
...         if state.rng.random() < self.epsilon:
...             return int(state.rng.integers(state.n_arms))
...         return int(state.means.argmax())
...
...     def update(self, arm, reward):
...         pass  # `state` has the counts and sums already
>>> bandit = robai.Bernoulli([0.7, 0.2])
>>> robai.simulate(EpsilonGreedy(0.1), bandit, horizon=1000, runs=20, rng=0).label
'EpsilonGreedy'

`select` may return `Commit(arm)`, which ends the exploration. Stopping and commitment can be compiled rules.

>>> mixed = robai.Policy(EpsilonGreedy(0.1), stop=robai.EOCPUG(), commit=robai.rules.LowerBound())
>>> robai.simulate(mixed, bandit, horizon=1000, runs=20, rng=0).committed.all().item()
True

Every run, and every agent, works
on a deep copy of the object, so it starts as it was handed in. Draw from `state.rng` only: a run
then depends on its seed alone.
"""

from __future__ import annotations

import copy
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robai import rules
from robai._base.spec import parameter, spec
from robai._core.rng import Stream
from robai.policies.base import BasePolicy, Parts
from robai.rules.python import WRITTEN, Commit, PythonExploration, PythonPolicy, State

if TYPE_CHECKING:
    from robai._core.player import Player

__all__ = ["Commit", "CustomPolicy", "PythonPolicy", "State"]


@spec
class CustomPolicy(BasePolicy):
    """A policy written in Python among the others; robai makes one of an object with `select` and `update`.

    Examples
    --------
    >>> class First:
    ...     def select(self, state):
    ...         return 0
    ...
    ...     def update(self, arm, reward):
    ...         pass
    >>> CustomPolicy(First()).parts()
    Parts(explore=First(), stop=Never(), commit=LargestMean())
    """

    policy: PythonPolicy = parameter(WRITTEN)

    def label(self) -> str:
        return type(self.policy).__name__

    def __repr__(self) -> str:  # not by that of the user's object, which may hold its address
        return f"CustomPolicy({self.label()})"

    def to_dict(self) -> dict[str, Any]:
        return {"type": "CustomPolicy", "name": self.label()}

    def parts(self) -> Parts:
        return Parts(PythonExploration(self.policy), rules.Never(), rules.LargestMean())


def written(policy: BasePolicy) -> PythonPolicy | None:
    """The object that explores, if it is written in Python."""
    explore = policy._parts.explore
    return explore.rule if isinstance(explore, PythonExploration) else None


def ask(rule: PythonPolicy, game: rules.Game, stream: Stream) -> Asked:
    """A copy of the user's object, for a run or an agent."""
    rng = np.random.Generator(stream)  # type: ignore[arg-type]  # it asks for a capsule and a lock only
    return Asked(copy.deepcopy(rule), State(game.horizon, game.n_arms, rng), type(rule).__name__)


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
