"""What a publication says about its experiments, checked against numbers.

A claim is a function under the sentence that it checks: it takes the results of an experiment, one argument
for each of its horizons, and returns whether the inequality holds, by 95 % intervals, and the numbers in it.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robai._base import verdicts
from robai._base.intervals import Mean, clopper_pearson, normal_quantile
from robai._base.text import percent
from robai._base.verdicts import Interval, Word
from robai.bandits import Bandit
from robai.confidence import wrong_commit
from robai.paper.growth import ends, slope
from robai.policies.base import BasePolicy
from robai.result import Comparison, Result

Check = Callable[..., tuple[Word, str]]


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
    result: Word
    numbers: str


def check(claims: Iterable[Claim], results: Mapping[str, Sequence[Any]]) -> list[Verdict]:
    """Every claim about every experiment that was played."""
    found = []
    for claim in claims:
        for name in claim.experiments:
            if name in results:
                found.append(Verdict(claim.text, claim.criterion, name, *claim.check(*results[name])))
    return found


class Ratio(NamedTuple):
    """Of two means, with the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def interval(self) -> Interval:
        return self.low, self.high


def ratio_of_means(own: NDArray[Any], other: NDArray[Any]) -> Ratio:
    """From runs that share their seeds, by the delta method; no interval if they are not as many."""
    value = float(own.mean() / other.mean())
    if len(own) != len(other) or len(own) == 1:
        return Ratio(value, math.nan, math.nan)
    residual = own - value * other
    reach = normal_quantile(0.95) * float(residual.std(ddof=1)) / math.sqrt(len(own)) / float(other.mean())
    return Ratio(value, value - reach, value + reach)


def regret_ratio(result: Result, other: Result) -> Ratio:
    """Mean regret in units of another policy's."""
    return ratio_of_means(result.final_regret, other.final_regret)


def around(mean: Mean) -> Interval:
    """The 95 % interval of a mean."""
    reach = normal_quantile(0.95) * mean.sem
    return mean.value - reach, mean.value + reach


def share_of(chosen: NDArray[np.bool_]) -> Interval:
    """The exact 95 % interval of the probability of what was seen in some runs."""
    return clopper_pearson(int(chosen.sum()), len(chosen))


def recorded(result: Result, place: int) -> Mean:
    """Mean regret at one of the rounds at which it was recorded."""
    return Mean(float(result.regret[place]), float(result.regret_sem[place]))


def regret_after(result: Result, rounds: float) -> Ratio:
    """The part of the final regret that comes after some round, or the next one that was recorded.

    The errors of both means are added up, as if they were perfectly correlated: how they are is not recorded.
    """
    place = int(np.searchsorted(result.times, rounds))
    before, final = float(result.regret[place]), float(result.regret[-1])
    value = 1.0 - before / final
    error = (float(result.regret_sem[place]) + before / final * float(result.regret_sem[-1])) / final
    reach = normal_quantile(0.95) * error
    return Ratio(value, value - reach, value + reach)


def described(result: Result) -> tuple[BasePolicy, Bandit] | None:
    """The policy and the bandit that were played, where that is known."""
    policy, bandit = (result.meta.get(name) for name in ("policy", "bandit"))
    if not (isinstance(policy, dict) and isinstance(bandit, dict)):
        return None
    return BasePolicy.from_dict(policy), Bandit.from_dict(bandit)


def wrong_commitments(result: Result) -> tuple[Interval, str]:
    """The 95 % interval of the probability of a wrong commitment, and in words.

    An estimate where there are two arms and what was played is known; else those that were seen.
    """
    wrong = result.wrong_commit()
    seen = wrong[-2:], f"{wrong.count} of {wrong.committed:,}, at most {percent(wrong.high)}"
    game = None if result.n_arms > 2 else described(result)
    if game is None:
        return seen
    try:
        found = wrong_commit(*game, result.horizon, relative_error=0.1, rng=0, max_runs=10**5)
    except ValueError:  # NotCovered, or a policy that is not estimated
        return seen
    return (found.low, found.high), f"{found.probability:.2g} ({found.low:.2g} to {found.high:.2g})"


def regrets(results: Comparison) -> dict[str, float]:
    """Mean final regret of every policy."""
    return {label: float(result.regret[-1]) for label, result in results.items()}


def below(label: str, *others: str) -> Check:
    """Less regret than each of some others, by more than their paired 95 % intervals."""

    def holds(*played: Comparison) -> tuple[Word, str]:
        results = played[-1]
        ratios = {other: regret_ratio(results[label], results[other]) for other in others}
        shares = (
            f"{100 * ratio:.1f} % of {other}'s ({100 * low:.1f} to {100 * high:.1f} %)"
            for other, (ratio, low, high) in ratios.items()
        )
        numbers = f"{regrets(results)[label]:.1f}, {', '.join(shares)}"
        return verdicts.together(verdicts.below(each.interval, 1.0) for each in ratios.values()), numbers

    return holds


def slope_near(label: str, constant: float, tolerance: float) -> Check:
    """Regret per log T, between the two horizons that `robai.paper.growth` takes, near a constant."""

    def holds(*played: Comparison) -> tuple[Word, str]:
        short, long = ends(results[label] for results in played)
        found = slope(short, long)
        away = found.value / constant - 1.0
        numbers = f"{found.value:.2f} ± {found.sem:.2f} for {constant:.4g}, {100.0 * away:+.1f} %"
        return verdicts.within(
            around(found), (1.0 - tolerance) * constant, (1.0 + tolerance) * constant
        ), numbers

    return holds
