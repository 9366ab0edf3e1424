from typing import final

from robai._core.bounds import Bounds
from robai._core.protocols import Commitment, Exploration, Stopping

class Scored(Commitment):
    def __init__(self, n_arms: int) -> None: ...

@final
class LargestLower(Scored):
    bounds: Bounds
    def __init__(self, n_arms: int, bounds: Bounds) -> None: ...

@final
class LargestMean(Scored): ...

@final
class MostPulled(Scored): ...

@final
class Recommended(Commitment):
    exploration: Exploration
    def __init__(self, exploration: Exploration) -> None: ...

@final
class Certified(Commitment):
    certificate: Stopping
    other: Commitment
    def __init__(self, certificate: Stopping, other: Commitment) -> None: ...
