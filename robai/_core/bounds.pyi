from robai._core.families import Family

class Level:
    value: float
    grows: bool

class FixedLevel(Level):
    def __init__(self, value: float) -> None: ...

class RatioLevel(Level):
    horizon: float
    def __init__(self, horizon: float) -> None: ...

class PlusPlusLevel(Level):
    share: float
    def __init__(self, horizon: float, n_arms: float) -> None: ...

class RoundLevel(Level):
    def __init__(self) -> None: ...

class IteratedLevel(Level):
    delta: float
    def __init__(self, delta: float) -> None: ...

class Bounds:
    level: Level

class GaussianBounds(Bounds):
    sigma: float
    def __init__(self, level: Level, sigma: float) -> None: ...

class DivergenceBounds(Bounds):
    family: Family
    def __init__(self, level: Level, family: Family) -> None: ...
