from collections.abc import Sequence
from typing import NamedTuple, final

from robai._core.families import Family
from robai._core.protocols import Evidence, Exploration
from robai._core.thresholds import Threshold

class Standing(NamedTuple):
    evidence: float
    bar: float
    claim: float
    doubt: bool
    pulls_ahead: float
    rounds_ahead: float

@final
class Lead(Exploration):
    family: Family
    threshold: Threshold
    exponent: float
    factor: float
    def __init__(
        self, n_arms: int, family: Family, threshold: Threshold, exponent: float, factor: float
    ) -> None: ...
    def standings(self, evidence: Evidence, pending: Sequence[int]) -> tuple[int, dict[int, Standing]]: ...
