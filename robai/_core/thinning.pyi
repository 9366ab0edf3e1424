from typing import final

from robai._core.coins import Coins

class Thinned(Coins):
    width: float
    busy: float
    plain: int

@final
class GaussianThinned(Thinned): ...

@final
class PositiveThinned(Thinned):
    many: int
    surely: float
