from typing import final

from robai._core.bounds import Bounds
from robai._core.protocols import Exploration

class Optimism(Exploration):
    bounds: Bounds

@final
class SteadyOptimism(Optimism):
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...

@final
class KineticOptimism(Optimism):
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...

@final
class GrowingOptimism(Optimism):
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...

@final
class AdaOptimism(Optimism):
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...

@final
class FullOptimism(Exploration):
    bounds: Bounds
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...

def optimism(n_arms: int, bounds: Bounds) -> Exploration: ...
