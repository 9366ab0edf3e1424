from typing import final

from robai._core.bounds import Bounds
from robai._core.explore_stages import Elimination, Sweeps
from robai._core.families import Family
from robai._core.thresholds import Threshold

class Racing(Sweeps):
    def __init__(self, n_arms: int) -> None: ...

@final
class BoundRacing(Racing):
    bounds: Bounds
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...

@final
class RatioRacing(Racing):
    family: Family
    threshold: Threshold
    mixture: bool
    def __init__(self, n_arms: int, family: Family, threshold: Threshold, mixture: bool = False) -> None: ...

class Phases(Elimination):
    def __init__(self, n_arms: int) -> None: ...

@final
class Rejects(Phases):
    logbar: float
    def __init__(self, n_arms: int) -> None: ...

@final
class Halving(Phases):
    fresh: bool
    phases: int
    def __init__(self, n_arms: int, fresh: bool) -> None: ...
