"""What a publication says about its experiments, checked against numbers.

A claim is a function under the sentence that it checks: it takes the results of an experiment, one argument
for each of its horizons, and returns whether the inequality holds, and the numbers in it.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from robai._base.intervals import normal_quantile
from robai.paper.growth import ends, slope
from robai.result import Comparison, Result

Check = Callable[..., tuple[bool, str]]


class Claim(NamedTuple):
    """A sentence of a publication, the inequality that it is taken for, and the experiments it speaks of."""

    text: str
    criterion: str
    experiments: tuple[str, ...]
    check: Check


class Verdict(NamedTuple):
    """A claim, where it was checked, and what came out."""

    claim: str
    criterion: str
    experiment: str
    holds: bool
    numbers: str

    @property
    def result(self) -> str:
        return "holds" if self.holds else "does not hold"


def check(claims: Iterable[Claim], results: Mapping[str, Sequence[Any]]) -> list[Verdict]:
    """Every claim about every experiment that was played."""
    verdicts = []
    for claim in claims:
        for name in claim.experiments:
            if name in results:
                holds, numbers = claim.check(*results[name])
                verdicts.append(Verdict(claim.text, claim.criterion, name, bool(holds), numbers))
    return verdicts


def regret_ratio(result: Result, other: Result) -> tuple[float, float, float]:
    """Mean regret in units of another policy's, with its 95 % interval, from runs that share their seeds."""
    ratio = float(result.regret[-1] / other.regret[-1])
    if result.runs != other.runs or result.runs == 1:
        return ratio, math.nan, math.nan
    residual = result.final_regret - ratio * other.final_regret
    error = residual.std(ddof=1) / math.sqrt(result.runs) / other.regret[-1]
    z = normal_quantile(0.95)
    return ratio, ratio - z * error, ratio + z * error


def regret_after(result: Result, rounds: float) -> float:
    """The part of the final regret that comes after some round, or the next one that was recorded."""
    before = result.regret[np.searchsorted(result.times, rounds)]
    return float(1.0 - before / result.regret[-1])


def regrets(results: Comparison) -> dict[str, float]:
    """Mean final regret of every policy."""
    return {label: float(result.regret[-1]) for label, result in results.items()}


def below(label: str, *others: str) -> Check:
    """Less regret than each of some others, by more than their paired 95 % intervals."""

    def holds(*played: Comparison) -> tuple[bool, str]:
        results = played[-1]
        ratios = {other: regret_ratio(results[label], results[other]) for other in others}
        shares = (
            f"{100 * ratio:.1f} % of {other}'s ({100 * low:.1f} to {100 * high:.1f} %)"
            for other, (ratio, low, high) in ratios.items()
        )
        numbers = f"{regrets(results)[label]:.1f}, {', '.join(shares)}"
        return all(high < 1.0 for _, _, high in ratios.values()), numbers

    return holds


def slope_near(label: str, constant: float, tolerance: float) -> Check:
    """Regret per log T, between the two horizons that `robai.paper.growth` takes, near a constant."""

    def holds(*played: Comparison) -> tuple[bool, str]:
        short, long = ends(results[label] for results in played)
        found = slope(short, long)
        away = found.value / constant - 1.0
        numbers = f"{found.value:.2f} ± {found.sem:.2f} for {constant:.4g}, {100.0 * away:+.1f} %"
        return abs(away) <= tolerance, numbers

    return holds
