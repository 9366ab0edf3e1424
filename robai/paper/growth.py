"""How fast regret and commitment time grow with log T, measured between two horizons."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robai._base.intervals import Mean
from robai.bandits import Bandit
from robai.result import Result, WrongCommit
from robai.result.digest import mean_over
from robai.theory import Asymptotics


class Growth(NamedTuple):
    """What is stated of a policy, and what was measured between two horizons."""

    policy: str
    bandit: str
    horizons: tuple[int, int]
    constant: float  # what the slope is said to tend to
    slope: Mean  # regret gained for each unit of log T
    commitments: tuple[Mean, Mean] | None  # mean times at the two horizons; None if runs never commit
    exponent: Mean | None  # the p at which those times grow like log^p T
    wrong: WrongCommit  # at the shorter horizon, where errors are the likelier

    @classmethod
    def of(cls, stated: Asymptotics, bandit: Bandit, results: Iterable[Result]) -> "Growth":
        """From results of one policy over several horizons."""
        short, long = ends(results)
        commit = short.committed.any() and long.committed.any()
        return cls(
            policy=long.label,
            bandit=f"{type(bandit).__name__} {bandit.means}",
            horizons=(short.horizon, long.horizon),
            constant=stated.constant(bandit, sigma=1.0),
            slope=slope(short, long),
            commitments=(short.digest().capped_time, long.digest().capped_time) if commit else None,
            exponent=exponent(short, long) if commit else None,
            wrong=short.wrong_commit(),
        )


def ends(results: Iterable[Result]) -> tuple[Result, Result]:
    """That of the longest horizon, after that of the shortest one from which log T at most doubles."""
    by_horizon = sorted(results, key=lambda result: result.horizon)
    long = by_horizon[-1]
    return next(result for result in by_horizon if result.horizon**2 >= long.horizon), long


def exponent(short: Result, long: Result) -> Mean:
    """The p at which mean commitment times grow like log^p T."""
    first, second = short.digest().capped_time, long.digest().capped_time
    scale = math.log(math.log(long.horizon) / math.log(short.horizon))
    error = math.hypot(first.sem / first.value, second.sem / second.value)
    return Mean(math.log(second.value / first.value) / scale, error / scale)


def gained(short: Result, long: Result) -> NDArray[np.float64]:
    """Regret gained for each unit of log T, run by run, because both horizons share their seeds."""
    return (long.final_regret - short.final_regret) / math.log(long.horizon / short.horizon)


def slope(short: Result, long: Result) -> Mean:
    """The mean of what is gained."""
    return mean_over(gained(short, long))
