from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from robai._core.ledger import Rewards
from robai._core.lock import Lock
from robai._core.protocols import Started
from robai._core.rng import Stream

# arm, answers, pulls, sums, squares
_Committed = tuple[int, int, list[int], list[float], list[float] | None]

class HorizonReached(RuntimeError): ...

@final
class Player:
    horizon: int
    stream: Stream
    rules: Started
    lock: Lock
    commitment: _Committed | None
    def __new__(
        cls,
        rules: Started,
        n_arms: int,
        horizon: int,
        rewards: Rewards,
        stream: Stream,
        own: Any = None,
        squares: bool = False,
        sigma: NDArray[np.float64] | None = None,
    ) -> Self: ...
    def restore(
        self,
        pulls: list[int],
        sums: list[float],
        squares: list[float],
        pending: list[int],
        alarms: list[int],
        commitment: _Committed | None,
    ) -> None: ...
    def select(self) -> int: ...
    def select_batch(self, n: int) -> NDArray[np.int64]: ...
    def ask(self) -> tuple[int, bool]: ...
    def hand_out(self, arm: int, count: int = 1) -> None: ...
    def commit(self, arm: int) -> None: ...
    def drop(self, arm: int, count: int = 1) -> None: ...
    def spend(self, count: int) -> None: ...
    def update(self, arm: int, reward: float) -> None: ...
    def update_counts(self, arm: int, n: int, total: float, squares: float | None = None) -> None: ...
    def update_batch(self, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> None: ...
    def state(
        self,
    ) -> tuple[
        list[int],
        list[float],
        list[float] | None,
        list[int],
        list[int],
        tuple[int, ...],
        dict[str, Any],
        _Committed | None,
    ]: ...
    @property
    def pulls(self) -> NDArray[np.int64]: ...
    @property
    def sums(self) -> NDArray[np.float64]: ...
    @property
    def squares(self) -> NDArray[np.float64] | None: ...
    @property
    def alarms(self) -> list[int]: ...
    @property
    def pending(self) -> NDArray[np.int64]: ...
    @property
    def rounds(self) -> int: ...
