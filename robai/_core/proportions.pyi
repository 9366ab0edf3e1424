from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai._core.families import Family

@final
class Proportions:
    family: Family
    steps: int
    followed: bool
    def __init__(self, family: Family, n_arms: int) -> None: ...
    def of(self, means: ArrayLike) -> NDArray[np.float64]: ...
