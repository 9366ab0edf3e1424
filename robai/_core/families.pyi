from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai._core.rng import Stream

class Sampler:
    leaps: bool
    slow: bool
    def rewards(self, arm: int, mean: float, count: int, stream: Stream) -> NDArray[np.float64]: ...

class Family(Sampler):
    low: float
    high: float
    prior_pulls: int
    moments: int
    def elementwise(
        self, which: Literal["divergence", "upper", "lower"], p: ArrayLike, x: ArrayLike
    ) -> NDArray[np.float64]: ...

@final
class Gaussian(Family):
    def __init__(self, sigma: ArrayLike) -> None: ...  # of each arm

@final
class Bernoulli(Family):
    prior: float
    def __init__(self, prior: float = 0.5) -> None: ...

@final
class Binomial(Family):
    n: float
    def __init__(self, n: float) -> None: ...

@final
class Poisson(Family): ...

@final
class Gamma(Family):
    shape: float
    def __init__(self, shape: float = 1.0) -> None: ...

@final
class NegativeBinomial(Family):
    r: float
    def __init__(self, r: float) -> None: ...

@final
class Bounded(Family):
    length: float
    def __init__(self, low: float, high: float) -> None: ...

@final
class UnknownVariance(Family):
    own: bool
    common: bool
    def __init__(self, variance: str) -> None: ...
