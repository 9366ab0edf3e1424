from typing import final

import numpy as np
from numpy.typing import NDArray

from robai._core.families import Family
from robai._core.protocols import Exploration

@final
class RoundRobin(Exploration): ...

@final
class Thompson(Exploration):
    family: Family
    def __init__(self, n_arms: int, family: Family) -> None: ...

@final
class Tracking(Exploration):
    family: Family
    cumulative: bool
    def __init__(self, n_arms: int, family: Family, cumulative: bool) -> None: ...

def weights(family: Family, means: NDArray[np.float64]) -> NDArray[np.float64]: ...
