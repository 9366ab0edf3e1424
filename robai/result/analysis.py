"""What is computed of the runs of a result, or of two results, beyond their means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai._base import checks
from robai._base.intervals import Mean, normal_quantile
from robai.families import Family
from robai.result.digest import mean_over
from robai.result.text import mean_text

if TYPE_CHECKING:
    from robai.result.result import Result

Floats = NDArray[np.float64]
Quantity = Literal["regret", "commitment"]

_SEED = ("entropy", "spawn_key", "bandit")  # of `meta`: where they agree, run r had the same generator


class Difference(NamedTuple):
    """How much larger a quantity is on average, with the ends of a confidence interval.

    Attributes
    ----------
    mean : float
        Of one policy minus that of the other.
    sem : float
        Its standard error, NaN if there was one run only.
    low, high : float
        Ends of the confidence interval.
    runs : int
        How many runs of each it is of.
    paired : bool
        Whether run r of one was compared with run r of the other, which had the same seed.

    Examples
    --------
    >>> import robai
    >>> policies = [robai.EOCPUG(), robai.UCB()]
    >>> played = robai.compare(policies, robai.Gaussian([0.7, 0.2]), 10**4, 1000, rng=0)
    >>> found = played.difference("UCB()", "EOCPUG()", quantity="regret", confidence=0.99)
    >>> round(found.mean, 2), [round(end, 2) for end in found.interval], found.paired
    (5.78, [4.44, 7.11], True)
    """

    mean: float
    sem: float
    low: float
    high: float
    runs: int
    paired: bool

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the confidence interval."""
        return self.low, self.high

    def __str__(self) -> str:
        how = "pairs of runs with the same seed" if self.paired else "runs of each, taken as independent"
        ends = f"{self.low:,.4g} to {self.high:,.4g}"
        return f"{mean_text(Mean(self.mean, self.sem))}, {ends}, {self.runs:,} {how}"


def difference(
    one: Result, other: Result, quantity: Quantity, paired: bool | Literal["auto"], confidence: float
) -> Difference:
    checks.one_of("quantity", quantity, get_args(Quantity))
    z = normal_quantile(confidence)
    pairs = _pairs(one, other, paired)
    mean, sem = _contrast(one, other, quantity, 1.0, pairs)
    return Difference(mean, sem, mean - z * sem, mean + z * sem, min(one.runs, other.runs), pairs)


def relative(one: Result, other: Result, confidence: float = 0.95) -> Difference:
    """By which part of the other's mean regret one's is larger: a ratio of means, minus 1.

    Its error is that of the linearised ratio, from pairs of runs if they have the same seeds.
    """
    pairs, z = _pairs(one, other, "auto"), normal_quantile(confidence)
    base = float(other.regret[-1])
    if base == 0.0:
        raise ValueError(f"a part of the regret of {other.label!r} is undefined, because it has none")
    ratio = float(one.regret[-1]) / base
    sem = _contrast(one, other, "regret", ratio, pairs).sem / base
    low, high = ratio - 1.0 - z * sem, ratio - 1.0 + z * sem
    return Difference(ratio - 1.0, sem, low, high, min(one.runs, other.runs), pairs)


def each_run(result: Result, quantity: Quantity) -> Floats:
    """Final regret, or the round of commitment; a run that never commits counts as the horizon."""
    if quantity == "regret":
        return result.final_regret
    return np.where(result.committed, result.commit_time, result.horizon).astype(np.float64)


def same_runs(one: Result, other: Result) -> bool:
    """Whether run r of both had the same seed, for every r."""
    known = all(name in one.meta and one.meta[name] == other.meta.get(name) for name in _SEED)
    first = one.meta.get("first_run", 0) == other.meta.get("first_run", 0)
    return known and first and one.runs == other.runs


def _pairs(one: Result, other: Result, paired: bool | Literal["auto"]) -> bool:
    if not (isinstance(paired, bool) or paired == "auto"):
        raise ValueError(f"paired must be True, False or 'auto', got {paired!r}")
    if paired is True and one.runs != other.runs:
        raise ValueError(
            f"paired must be False or 'auto' for different numbers of runs, {one.runs:,} of {one.label!r} "
            f"and {other.runs:,} of {other.label!r}, got True"
        )
    return same_runs(one, other) and one.single and other.single if paired == "auto" else paired


def _contrast(one: Result, other: Result, quantity: Quantity, factor: float, paired: bool) -> Mean:
    """The mean of a quantity of one minus factor times that of the other, and its standard error."""
    for result in (one, other):
        if quantity == "commitment" and not result.commitments.any():
            raise ValueError(f"quantity must be 'regret' for {result.label!r}, no run of which committed")
    x, y = (
        each.regret if quantity == "regret" else each.capped_time for each in (one.digest(), other.digest())
    )
    sem = math.hypot(x.sem, factor * y.sem)
    if paired:
        sem = mean_over(each_run(one, quantity) - factor * each_run(other, quantity)).sem
    return Mean(x.value - factor * y.value, sem)


def quantiles(result: Result, q: ArrayLike) -> Floats:
    levels = np.asarray(q, dtype=np.float64)
    if not ((levels >= 0.0) & (levels <= 1.0)).all():
        raise ValueError(f"q must be between 0 and 1, got {q!r}")
    found: Floats = np.quantile(_curves(result, "quantiles"), levels, axis=0)
    return found


def area(result: Result, log: bool) -> float:
    times = np.log(result.times) if log else result.times.astype(np.float64)
    if len(times) == 1:
        return float(result.regret[0])
    return float(np.trapezoid(result.regret, times) / (times[-1] - times[0]))


def normalised(result: Result, constant: float | None) -> Floats:
    scale = checks.positive("constant", lai_robbins(result) if constant is None else constant)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(result.times > 1, result.regret / (scale * np.log(result.times)), np.nan)


def lai_robbins(result: Result) -> float:
    """The constant of the bandit that a result is of, as far as its `meta` says what the rewards were."""
    from robai.theory import lai_robbins  # which is not loaded with the package

    try:
        return lai_robbins(result.means, family=family_of(result.meta))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"constant must be given for {result.label!r}, got None: {error}") from error


def family_of(meta: dict[str, Any]) -> Family:
    """Of the rewards of the bandit in `meta`; a KeyError, TypeError or ValueError if it does not tell."""
    bandit = dict(meta["bandit"])
    if (family := bandit.get("family")) is not None:
        return Family.from_dict(family)
    parameters = {name: value for name, value in bandit.items() if name not in ("type", "means")}
    return Family.from_dict({"type": bandit["type"], **parameters})  # one of robai's own


def slope(result: Result, since: float) -> Mean:
    x, rows = _since(result, since, "slope")
    curves = _curves(result, "slope")[:, rows]
    return mean_over(curves @ _least_squares(x))


def log_slope(result: Result, since: float) -> Mean:
    x, rows = _since(result, since, "log_slope")
    curves, mean = _curves(result, "log_slope")[:, rows], result.regret[rows]
    if not mean.all():
        first = result.times[rows][mean > 0.0]
        raise ValueError(
            f"since must be a round from which on there is regret, {first[0] if len(first) else 'none'} "
            f"for {result.label!r}, got {since!r}"
        )
    weights = _least_squares(x)
    # The logarithm of a mean, to first order: what a run adds to it is its share of the mean.
    return Mean(float(np.log(mean) @ weights), mean_over((curves / mean) @ weights).sem)


def regret_at(result: Result, t: int) -> Mean:
    t = checks.whole("t", t, 1, result.horizon)
    place = int(np.searchsorted(result.times, t))
    if result.times[place] != t:
        nearest = " and ".join(f"{each:,}" for each in result.times[max(place - 1, 0) : place + 1])
        raise ValueError(
            f"t must be a recorded round of {result.label!r}, the nearest are {nearest}, got {t!r}"
        )
    return Mean(float(result.regret[place]), float(result.regret_sem[place]))


def half_of_regret(result: Result) -> int:
    return result._regrets().half()


def _curves(result: Result, what: str) -> Floats:
    if result.curves is None:
        raise ValueError(
            f"{what} needs the regret of every run of {result.label!r}: simulate with curves=True"
            + ("" if result.single else " and keep='runs'")
        )
    return result.curves


def _since(result: Result, since: Any, what: str) -> tuple[Floats, NDArray[np.bool_]]:
    """Log rounds from `since` on, and which of the recorded ones they are."""
    rows = result.times >= checks.at_least("since", since, 1.0)
    if rows.sum() < 2:
        raise ValueError(f"since must leave {what} two recorded rounds at least, got {since!r}")
    return np.log(result.times[rows]), rows


def _least_squares(x: Floats) -> Floats:
    """What the heights of points at x are multiplied by, for their sum to be the slope of the line."""
    centred = x - x.mean()
    weights: Floats = centred / (centred @ centred)
    return weights
