import numpy as np
from numpy.typing import NDArray

DIGIT_BITS: int
SUM_DIGITS: int
SQUARE_DIGITS: int

def carry(digits: NDArray[np.int64]) -> None: ...
def add_exactly(rows: NDArray[np.float64], sums: NDArray[np.int64], squares: NDArray[np.int64]) -> None: ...
