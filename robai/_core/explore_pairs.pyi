from typing import final

from robai._core.bounds import Bounds
from robai._core.families import Family
from robai._core.protocols import Exploration

@final
class Contest:
    n_arms: int
    bounds: Bounds
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...

@final
class LeaderChallenger(Exploration):
    bounds: Bounds
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...

@final
class GapIndex(Exploration):
    bounds: Bounds
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...

@final
class TopTwo(Exploration):
    family: Family
    bounds: Bounds | None
    empirical: bool
    resamples: bool
    penalised: bool
    share: float
    def __init__(
        self,
        n_arms: int,
        family: Family,
        bounds: Bounds | None,
        empirical: bool,
        resamples: bool,
        penalised: bool,
        share: float,
    ) -> None: ...
