from typing import final

from robai._core.bounds import Bounds
from robai._core.protocols import Exploration

@final
class Tournament:
    def __init__(self, count: int) -> None: ...

class Elimination(Exploration):
    def __init__(self, n_arms: int) -> None: ...

@final
class BoundElimination(Elimination):
    bounds: Bounds
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...

class Sweeps(Elimination): ...

@final
class SweepElimination(Sweeps):
    delta: float
    sigma: float
    def __init__(self, n_arms: int, delta: float, sigma: float) -> None: ...

@final
class DoubleExplore(Exploration):
    horizon: float
    sigma: float
    first_length: float
    def __init__(self, horizon: float, sigma: float) -> None: ...

@final
class DoubleExploreK(Exploration):
    horizon: float
    sigma: float
    length: float
    def __init__(self, n_arms: int, horizon: float, sigma: float) -> None: ...
