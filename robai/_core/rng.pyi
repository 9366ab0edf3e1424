from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

NUMPY: str
RUNS_PER_BLOCK: int

def seed_block(
    entropy: Sequence[int], spawn_key: Sequence[int], block: int
) -> NDArray[np.uint64]: ...  # runs x 4

class Stream:
    capsule: Any  # of a bitgen_t, as numpy.random.Generator asks for
    lock: Any
    state: tuple[int, ...]  # four words
    def __new__(cls, state: Sequence[int] | NDArray[np.uint64]) -> Self: ...
