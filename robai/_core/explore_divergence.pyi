from typing import final

from robai._core.bounds import Bounds
from robai._core.explore_index import Optimism
from robai._core.families import Family

@final
class MinimumDivergence(Optimism):
    family: Family
    def __init__(self, n_arms: int, bounds: Bounds, family: Family) -> None: ...
