from typing import Self, final

from robai._core.protocols import Exploration

@final
class Rewards:
    def __init__(self, low: float, high: float, whole: bool) -> None: ...

@final
class Ledger:
    def __new__(cls, n_arms: int, horizon: int, exploration: Exploration, initial_pulls: int) -> Self: ...
