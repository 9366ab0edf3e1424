"""What a simulation returns: a `Result` for one policy, a `Comparison` for several, a `Sweep` for many."""

from robai._base.intervals import Mean
from robai.result.analysis import Difference
from robai.result.comparison import Comparison
from robai.result.digest import Digest, WrongCommit
from robai.result.identification import Identification
from robai.result.identifications import Identifications
from robai.result.kept import Summary
from robai.result.result import Result
from robai.result.sweep import Sweep

__all__ = [
    "Comparison",
    "Difference",
    "Digest",
    "Identification",
    "Identifications",
    "Mean",
    "Result",
    "Summary",
    "Sweep",
    "WrongCommit",
]
