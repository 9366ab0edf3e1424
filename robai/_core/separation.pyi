from typing import final

from robai._core.bounds import Bounds
from robai._core.protocols import Stopping

@final
class Separation(Stopping):
    bounds: Bounds
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...
