from typing import final

from robai._core.bounds import Bounds
from robai._core.levels import Level
from robai._core.protocols import Stopping

@final
class FunctionLevel(Level):
    name: str
    def __init__(
        self, address: int, owner: object, name: str, grows: bool, horizon: float, n_arms: float
    ) -> None: ...
    def value(self, n: float, t: float) -> float: ...

@final
class Present(Level):
    def __init__(self, grows: bool) -> None: ...

@final
class FunctionBounds(Bounds):
    name: str
    def __init__(
        self,
        level: Present,
        address: int,
        owner: object,
        name: str,
        initial_pulls: int,
        moments: int,
        horizon: float,
        n_arms: float,
    ) -> None: ...

@final
class FunctionStop(Stopping):
    name: str
    def __init__(self, address: int, owner: object, name: str, moments: int) -> None: ...
