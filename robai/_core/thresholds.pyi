from typing import final

class Threshold: ...

@final
class FixedThreshold(Threshold):
    value: float
    def __init__(self, value: float) -> None: ...

@final
class PracticalThreshold(Threshold):
    base: float
    def __init__(self, delta: float) -> None: ...

@final
class UnionThreshold(Threshold):
    base: float
    def __init__(self, delta: float, n_arms: float) -> None: ...

@final
class CountThreshold(Threshold):
    base: float
    gaussian: bool
    def __init__(self, base: float, gaussian: bool) -> None: ...

@final
class PairThreshold(Threshold):
    base: float
    def __init__(self, delta: float, n_arms: float) -> None: ...

@final
class HorizonThreshold(Threshold):
    horizon: float
    def __init__(self, horizon: float, level: str) -> None: ...
