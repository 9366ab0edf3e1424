from typing import final

from numpy.typing import ArrayLike

from robai._core.families import Family

class Level:
    grows: bool
    first: int
    fallible: bool
    def complaint(self) -> str | None: ...

@final
class FixedLevel(Level):
    value: float
    def __init__(self, value: float) -> None: ...

@final
class RatioLevel(Level):
    horizon: float
    def __init__(self, horizon: float) -> None: ...

@final
class PlusPlusLevel(Level):
    share: float
    def __init__(self, horizon: float, n_arms: float) -> None: ...

@final
class RoundLevel(Level):
    zeta: float
    def __init__(self, zeta: float = 1.0) -> None: ...

@final
class IteratedLevel(Level):
    delta: float
    def __init__(self, delta: float) -> None: ...

class Bounds:
    level: Level
    initial_pulls: int
    moments: int
    fallible: bool
    opaque: bool
    def complaint(self) -> str | None: ...

@final
class GaussianBounds(Bounds):
    def __init__(self, level: Level, sigma: ArrayLike) -> None: ...  # of each arm

@final
class DivergenceBounds(Bounds):
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
