from typing import final

from numpy.typing import ArrayLike

from robai._core.families import Family
from robai._core.levels import Level

class Bounds:
    level: Level
    initial_pulls: int
    moments: int
    fallible: bool
    opaque: bool
    convex: bool
    crosses: bool
    def complaint(self) -> str | None: ...

@final
class GaussianBounds(Bounds):
    def __init__(self, level: Level, sigma: ArrayLike) -> None: ...  # of each arm

@final
class DivergenceBounds(Bounds):
    family: Family
    def __init__(self, level: Level, family: Family) -> None: ...

@final
class PosteriorBounds(Bounds):
    family: Family
    def __init__(self, level: Level, family: Family) -> None: ...

@final
class StudentBounds(Bounds):
    own: bool
    common: bool
    def __init__(self, level: Level, variance: str) -> None: ...

@final
class BernsteinBounds(Bounds):
    length: float
    unbiased: bool
    def __init__(self, level: Level, length: float, unbiased: bool) -> None: ...

@final
class BinaryBernsteinBounds(Bounds):
    def __new__(cls, level: Level) -> BinaryBernsteinBounds: ...
