"""The numbers that are read off a result, each computed once: texts, tables and figures only format them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robai._base.intervals import Mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robai.result.result import Result

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class WrongCommit(NamedTuple):
    """How often a policy committed to an arm that is not the best, with the ends of an exact interval.

    Attributes
    ----------
    count : int
        Runs that committed to a wrong arm.
    committed : int
        Runs that committed.
    rate : float
        The first as a share of the second; NaN if that is 0.
    low, high : float
        Ends of the Clopper-Pearson interval.

    Examples
    --------
    >>> import robai
    >>> result = robai.simulate(robai.EOCPUG(), robai.Gaussian([0.7, 0.2]), 10**6, 1000, rng=0)
    >>> wrong = result.wrong_commit()
    >>> wrong.rate, round(wrong.high, 4)
    (0.0, 0.0037)
    """

    count: int  # type: ignore[assignment]  # instead of tuple.count, which nobody asks for here
    committed: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True)
class Digest:
    """A result in a few numbers; None where there is nothing to say.

    Attributes
    ----------
    regret : Mean
        Mean final regret and its standard error.
    quantiles : tuple of float
        Of final regret, at 5, 25, 50, 75 and 95 %.
    committed : float
        Share of the runs that committed.
    commit_time : Mean or None
        Mean round of commitment, of the runs that committed.
    commit_median : float or None
        Its median.
    capped_time : Mean
        Mean round of commitment, of all runs: one that never commits counts as the horizon.
    wrong : WrongCommit or None
        Wrong commitments with their 95 % interval; None if no run committed or several arms are best.
    shares : tuple of float
        Of the rounds that went to each arm; from the best to the worst if every run had means of its own.

    Examples
    --------
    >>> import robai
    >>> digest = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0).digest()
    >>> digest.committed, digest.commit_median, digest.quantiles[2], round(digest.shares[0], 3)
    (0.0, None, 11.0, 0.988)
    """

    regret: Mean
    quantiles: tuple[float, ...]
    committed: float
    commit_time: Mean | None
    commit_median: float | None
    capped_time: Mean
    wrong: WrongCommit | None
    shares: tuple[float, ...]

    @classmethod
    def of(cls, result: Result) -> Digest:
        """The digest of a result: what `Result.digest` returns.

        Parameters
        ----------
        result : Result
            What to read it off.

        Returns
        -------
        Digest

        Examples
        --------
        >>> import robai
        >>> result = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0)
        >>> Digest.of(result) == result.digest()
        True
        """
        committed = int(result.commitments.sum())
        time, median, capped = result._when()
        return cls(
            regret=Mean(float(result.regret[-1]), float(result.regret_sem[-1])),
            quantiles=result._quantiles(QUANTILES),
            committed=committed / result.runs,
            commit_time=time,
            commit_median=median,
            capped_time=capped,
            wrong=result.wrong_commit() if committed and result.best_arm is not None else None,
            shares=tuple(share.value for share in result._shares()),
        )


def mean_over(values: NDArray[Any]) -> Mean:
    """Their mean, and its standard error."""
    sem = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Mean(float(values.mean()), float(sem))


def record(result: Result) -> dict[str, Any]:
    """The numbers of a simulation that a script would read; None where there is nothing to say.

    Commitment times are of the runs that committed, as is the rate of wrong commitments.
    """
    digest = result.digest()
    return {
        "label": result.label,
        "policy": result.meta.get("policy"),
        "bandit": result.meta.get("bandit"),
        "horizon": result.horizon,
        "runs": result.runs,
        "regret": digest.regret.value,
        "regret_sem": None if math.isnan(digest.regret.sem) else digest.regret.sem,
        "committed": digest.committed,
        "commit_time_mean": digest.commit_time and digest.commit_time.value,
        "commit_time_median": digest.commit_median,
        "wrong_commits": digest.wrong and digest.wrong.count,
        "wrong_commit_rate": digest.wrong and digest.wrong.rate,
        "wrong_commit_low": digest.wrong and digest.wrong.low,
        "wrong_commit_high": digest.wrong and digest.wrong.high,
        "pull_shares": list(digest.shares),
        "engine": result.meta.get("engine"),
        "entropy": result.meta.get("entropy"),
        "seconds": result.meta.get("seconds"),
        **({"answers_median": _median_answers(result)} if result.single and result._late else {}),
    }


def _median_answers(result: Result) -> float:
    return float(np.median(result.answers[result.committed]))
