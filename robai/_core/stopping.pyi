from typing import final

from robai._core.families import Family
from robai._core.protocols import Stopping
from robai._core.thresholds import Threshold

@final
class Never(Stopping): ...

@final
class FixedRound(Stopping):
    round: int
    def __init__(self, round: int) -> None: ...

@final
class Imbalance(Stopping):
    level: float
    def __init__(self, level: float) -> None: ...

@final
class Dominance(Stopping):
    factor: float
    def __init__(self, factor: float) -> None: ...

@final
class MeanGap(Stopping):
    horizon: float
    sigma: float
    def __init__(self, horizon: float, sigma: float) -> None: ...

@final
class SPRT(Stopping):
    gap: float
    sigma: float
    def __init__(self, gap: float, sigma: float, horizon: float) -> None: ...

@final
class LikelihoodRatio(Stopping):
    family: Family
    threshold: Threshold
    mixture: bool
    def __init__(self, n_arms: int, family: Family, threshold: Threshold, mixture: bool = False) -> None: ...

class Pair(Stopping):
    first: Stopping
    second: Stopping
    def __init__(self, first: Stopping, second: Stopping) -> None: ...

@final
class Both(Pair):
    def __init__(self, first: Stopping, second: Stopping) -> None: ...

@final
class Either(Pair):
    def __init__(self, first: Stopping, second: Stopping) -> None: ...

@final
class Held(Stopping):
    stop: Stopping
    held: bool
    def __init__(self, stop: Stopping) -> None: ...
