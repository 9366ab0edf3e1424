from typing import Any

import numpy as np
from numpy.typing import NDArray

from robai._core.engine import Batch

DUE_BYTES: int

class Late(Batch):
    answers: NDArray[np.int64]
    def __init__(
        self,
        *batch: Any,
        delay: int,
        mean: float,
        every: int,
        loss: float,
        window: int,
        missing: float | None,
        most: int,
    ) -> None: ...
