from typing import final

from robai._core.engine import Batch

class Thinned(Batch):
    width: float
    busy: float
    plain: int

@final
class GaussianThinned(Thinned): ...

@final
class PositiveThinned(Thinned):
    many: int
    surely: float
