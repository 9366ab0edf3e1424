from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from robai._core.engine import Batch
from robai._core.protocols import Stopping

@final
class Watch(Stopping):
    def __init__(self, rule: Stopping, best: int) -> None: ...

class Tilted(Batch): ...

@final
class WithoutNoise(Tilted):
    read: NDArray[np.int64]  # runs x arms
    def __init__(
        self, *args: Any, lengths: NDArray[np.int64], shifts: NDArray[np.float64], caps: NDArray[np.int64]
    ) -> None: ...

@final
class Mixed(Tilted):
    log_weight: NDArray[np.float64]  # of every run
    explained: NDArray[np.float64]  # by each component
    explained_sides: NDArray[np.float64]
    def __init__(self, *args: Any, mixture: Any, limit: int) -> None: ...
