from typing import final

from robai._core.coins import Coins
from robai._core.engine import Batch

@final
class GaussianLeaps(Batch): ...

@final
class PositiveLeaps(Coins): ...
