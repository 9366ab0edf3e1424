from typing import final

class Level:
    grows: bool
    shared: bool
    first: int
    fallible: bool
    def value_at(self, n: float, t: float) -> float: ...
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
class LogLogLevel(Level):
    def __new__(cls) -> LogLogLevel: ...

@final
class AnytimeLevel(Level):
    def __new__(cls) -> AnytimeLevel: ...

@final
class PlusLevel(Level):
    def __new__(cls) -> PlusLevel: ...

@final
class MossLevel(Level):
    share: float
    def __init__(self, horizon: float, n_arms: float) -> None: ...

@final
class AnytimeMossLevel(Level):
    alpha: float
    n_arms: float
    def __init__(self, alpha: float, n_arms: float) -> None: ...

@final
class SurpriseLevel(Level):
    constant: float
    def __init__(self, c: float, horizon: float) -> None: ...

@final
class QuantileLevel(Level):
    surprise: SurpriseLevel
    def __init__(self, surprise: SurpriseLevel) -> None: ...

@final
class AdaLevel(Level):
    horizon: float
    def __init__(self, n_arms: int, horizon: float) -> None: ...

@final
class IteratedLevel(Level):
    delta: float
    def __init__(self, delta: float) -> None: ...

@final
class LilLevel(Level):
    factor: float
    stretch: float
    base: float
    def __init__(self, base: float, eps: float, beta: float) -> None: ...

@final
class PracticalLevel(Level):
    base: float
    def __init__(self, delta: float) -> None: ...

@final
class DivergenceLevel(Level):
    base: float
    def __init__(self, delta: float, n_arms: float) -> None: ...

@final
class HoeffdingLevel(Level):
    base: float
    def __init__(self, delta: float, n_arms: float) -> None: ...
