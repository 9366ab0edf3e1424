"""The numbers that are read off an identification."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Errors(NamedTuple):
    """How many of the runs that stopped recommend an arm that is not the best, with an exact interval.

    Attributes
    ----------
    count : int
        Runs that recommend a wrong arm.
    finished : int
        Runs that stopped.
    rate : float
        The first as a share of the second; NaN if that is 0.
    low, high : float
        Ends of the Clopper-Pearson interval.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Bernoulli([0.6, 0.5, 0.4])
    >>> robai.identify(robai.SequentialHalving(), bandit, budget=100, runs=1000, rng=0).error().rate
    0.233
    """

    count: int  # type: ignore[assignment]  # instead of tuple.count, which nobody asks for here
    finished: int
    rate: float
    low: float
    high: float


class Failures(NamedTuple):
    """How many of all runs recommend a wrong arm, or none, with an exact interval.

    Attributes
    ----------
    count : int
        Runs that recommend a wrong arm, or did not stop.
    runs : int
        All runs.
    rate : float
        The first as a share of the second.
    low, high : float
        Ends of the Clopper-Pearson interval.

    Examples
    --------
    >>> import robai
    >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
    >>> found.failure().high < 0.1
    True
    """

    count: int  # type: ignore[assignment]
    runs: int
    rate: float
    low: float
    high: float


class Time(NamedTuple):
    """The stopping time.

    Runs that did not stop count with the rounds that they were given. If there are any, the mean is
    `at_least` so large; so is a quantile, if it is that number of rounds.

    Attributes
    ----------
    mean : float
        On average over the runs.
    sem : float
        Its standard error.
    early, median, late : float
        The rounds by which 10, 50 and 90 % had stopped.
    at_least : bool
        Whether there are runs that did not stop.

    Examples
    --------
    >>> import robai
    >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
    >>> time = found.time()
    >>> time.early < time.median < time.late, time.at_least
    (True, False)
    """

    mean: float
    sem: float
    early: float
    median: float
    late: float
    at_least: bool


class Complexity(NamedTuple):
    """How hard the bandit is, by Garivier and Kaufmann (2016).

    Attributes
    ----------
    time : float
        The characteristic time T*.
    weights : ndarray of float
        The proportions w* of an optimal policy.
    lower : float or None
        T* kl(delta, 1 - delta), which no policy that errs with probability delta at most, on every
        bandit, is below on average; None without a delta.
    first_order : float or None
        T* log(1/delta), to which it comes for small delta; None without a delta.

    Examples
    --------
    >>> import robai
    >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
    >>> round(found.complexity.time, 3), round(found.complexity.lower, 1), round(found.time().mean, 1)
    (8.0, 14.1, 29.1)
    """

    time: float
    weights: Floats
    lower: float | None
    first_order: float | None


class Proportions(NamedTuple):
    """Which share of its rounds went to each arm, on average over the runs.

    Attributes
    ----------
    shares : ndarray of float
        One an arm.
    sem : ndarray of float
        Their standard errors.
    optimal : ndarray of float, or None
        The proportions w* of an optimal policy, where they are known.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Gaussian([1.0, 0.5, 0.0])
    >>> found = robai.identify(robai.Uniform(), bandit, delta=0.1, runs=100, rng=0)
    >>> shares, sem, optimal = found.proportions()
    >>> shares.round(2).tolist(), optimal.round(2).tolist()
    ([0.34, 0.33, 0.33], [0.47, 0.46, 0.07])
    """

    shares: Floats
    sem: Floats
    optimal: Floats | None
