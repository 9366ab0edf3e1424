from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from robai._core.rng import Stream

class Evidence:
    def __new__(
        cls, pulls: Sequence[int], sums: Sequence[float], horizon: int, squares: Sequence[float] | None = None
    ) -> Self: ...
    @property
    def pulls(self) -> NDArray[np.int64]: ...
    @property
    def sums(self) -> NDArray[np.float64]: ...
    def add(self, arm: int, reward: float) -> None: ...

class Exploration:
    initial_pulls: int
    concludes: bool
    discerns: bool
    impatient: bool
    midway: bool
    slow: bool
    prepares: bool
    leaps: bool
    fallible: bool
    moments: int
    absolute: bool
    def complaint(self) -> str | None: ...
    def memory(self) -> dict[str, Any]: ...
    def remember(self, memory: Mapping[str, Any], pulls: Sequence[int]) -> None: ...

class Stopping:
    initial_pulls: int
    leaps: bool
    foresees: bool
    moments: int
    absolute: bool
    def fires_on(self, evidence: Evidence) -> bool: ...
    def report(self, evidence: Evidence) -> list[Report]: ...

class Commitment:
    moments: int
    def choose_on(self, evidence: Evidence, stream: Stream) -> int: ...
    def score_of(self, evidence: Evidence, arm: int) -> float: ...

class Report(NamedTuple):
    rule: Stopping
    fires: bool
    value: float
    asked: float
    arm: int
    rival: int

class Started(NamedTuple):
    explore: Exploration
    stop: Stopping
    commit: Commitment
    initial_pulls: int
    @property
    def moments(self) -> int: ...

def intervals(rules: Started, evidence: Evidence) -> list[tuple[float | None, float | None]]: ...
