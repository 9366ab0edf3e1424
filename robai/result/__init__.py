"""What a simulation returns: `Result` for one policy, `Comparison` for several on the same bandit."""

from robai.result.result import Comparison, Result, WrongCommit

__all__ = ["Comparison", "Result", "WrongCommit"]
