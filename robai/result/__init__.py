"""What a simulation returns: `Result` for one policy, `Comparison` for several on the same bandit."""

from robai._base.intervals import Mean
from robai.result.digest import Digest, WrongCommit
from robai.result.result import Comparison, Result

__all__ = ["Comparison", "Digest", "Mean", "Result", "WrongCommit"]
