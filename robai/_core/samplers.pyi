from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from robai._core.families import Sampler

@final
class Empirical(Sampler):
    def __init__(self, samples: Sequence[NDArray[np.float64]]) -> None: ...

@final
class Beta(Sampler):
    concentration: float
    def __init__(self, concentration: float) -> None: ...

class Drawn(Sampler): ...

@final
class PythonDraws(Drawn):
    def __init__(
        self, draw: Callable[[int, int, np.random.Generator], Any], low: float, high: float
    ) -> None: ...

@final
class CompiledDraws(Drawn):
    def __init__(self, draw: int, low: float, high: float) -> None: ...
