from typing import final

from robai._core.families import Family
from robai._core.protocols import Exploration

@final
class RoundRobin(Exploration): ...

@final
class Thompson(Exploration):
    family: Family
    def __init__(self, n_arms: int, family: Family) -> None: ...

@final
class Tracking(Exploration):
    family: Family
    cumulative: bool
    def __init__(self, n_arms: int, family: Family, cumulative: bool) -> None: ...
