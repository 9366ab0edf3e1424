from typing import Self, final

@final
class Rewards:
    def __init__(self, low: float, high: float, whole: bool) -> None: ...

@final
class Ledger:
    def __new__(cls, n_arms: int, horizon: int, concludes: bool, initial_pulls: int) -> Self: ...
