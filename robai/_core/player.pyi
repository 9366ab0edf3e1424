from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai._core.rng import Stream
from robai._policy import Started

class HorizonReached(RuntimeError): ...

class Player:
    labels: tuple[Any, ...]
    horizon: int
    stream: Stream
    rules: Started
    lock: Any
    log: Any
    commitment: tuple[int, int, list[int], list[float]] | None
    def __init__(
        self,
        rules: Started,
        labels: tuple[Any, ...],
        horizon: int,
        rewards: Any,
        stream: Stream,
        own: Any = None,
    ) -> None: ...
    def restore(
        self,
        pulls: list[int],
        sums: list[float],
        pending: list[int],
        commitment: tuple[int, int, list[int], list[float]] | None,
    ) -> None: ...
    def select(self) -> Any: ...
    def select_batch(self, n: int) -> Any: ...
    def update(self, arm: Any, reward: float) -> None: ...
    def update_counts(self, arm: Any, n: int, total: float) -> None: ...
    def update_batch(self, arms: Any, rewards: ArrayLike) -> None: ...
    @property
    def pulls(self) -> NDArray[np.int64]: ...
    @property
    def sums(self) -> NDArray[np.float64]: ...
    @property
    def pending(self) -> NDArray[np.int64]: ...
    @property
    def rounds(self) -> int: ...

def bounds_of(bounds: Any, n: float, total: float, t: float) -> tuple[float, float]: ...
