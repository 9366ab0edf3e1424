from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai._core.families import Sampler
from robai._core.protocols import Commitment, Exploration, Stopping

TAPE_LENGTH: int

class Batch:
    regret: NDArray[np.float64]  # runs x times
    commit_time: NDArray[np.int64]
    committed_arm: NDArray[np.int64]
    pulls: NDArray[np.int64]  # runs x arms
    def __init__(
        self,
        explore: Exploration,
        stop: Stopping,
        commit: Commitment,
        initial_pulls: int,
        rewards: Sampler,
        means: ArrayLike,
        times: Sequence[int],
        states: NDArray[np.uint64],
        common: bool = False,
    ) -> None: ...
    @property
    def finished(self) -> int: ...
    def drop_the_rest(self) -> int: ...
    def advance(self, budget: float) -> bool: ...

def accumulate(
    count: int, mean: NDArray[np.float64], squares: NDArray[np.float64], rows: NDArray[np.float64]
) -> int: ...
