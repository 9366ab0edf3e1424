"""Differences of means with intervals that may be looked at whenever one likes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from robai._base.text import align
from robai.live.reasons import Seen
from robai.rules.differences import Pair
from robai.rules.threshold import estimates

if TYPE_CHECKING:
    from robai.live.standing import Standing

ERROR = 0.05  # of all that a summary shows, together
SHOWN = 10  # rows of a summary


class Difference(NamedTuple):
    """The mean of an arm less that of another, and an interval for it.

    Attributes
    ----------
    arm, other : label
        Whose means.
    estimate : float
        The difference of the means so far; NaN if one of the two has no reward yet.
    low, high : float
        The ends of the interval, infinite where nothing is known yet.
    error : float
        The probability that the true difference is ever outside is this at most.
    proved : bool
        For all rewards that are what they were said to be. If not, their variance is estimated: then it is
        proved for normal ones, and approximate for others.

    Examples
    --------
    >>> import robai
    >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], 10_000, reward="bernoulli", rng=0)
    >>> agent.difference("A", "B")
    Difference(arm='A', other='B', estimate=nan, low=-inf, high=inf, error=0.05, proved=True)
    """

    arm: Any
    other: Any
    estimate: float
    low: float
    high: float
    error: float
    proved: bool


def difference(agent: Standing[Any], seen: Seen, a: int, b: int, error: float) -> Difference:
    family, names = agent._experiment.family, (seen.labels[a], seen.labels[b])
    if not (seen.pulls[a] and seen.pulls[b]):
        return Difference(*names, math.nan, -math.inf, math.inf, error, not estimates(family))
    low, high = Pair(family, (a, b), seen.pulls, seen.sums, seen.squares).interval(error)
    return Difference(*names, seen.mean(a) - seen.mean(b), low, high, error, not estimates(family))


def differences(agent: Standing[Any], seen: Seen, error: float, most: int) -> list[Difference]:
    """Of the leader and the other arms, at most so many, those against which there is the least evidence."""
    commitment = agent._player.commitment
    leader = seen.best if commitment is None else commitment[0]
    others = [arm for arm in range(len(seen.pulls)) if arm != leader]
    if len(others) > most:
        others = sorted(sorted(others, key=lambda arm: _evidence(agent, seen, leader, arm))[:most])
    pairs = agent._experiment.arms_ever * (agent._experiment.arms_ever - 1) / 2
    return [difference(agent, seen, leader, arm, error / pairs) for arm in others]


def _evidence(agent: Standing[Any], seen: Seen, leader: int, arm: int) -> float:
    if not (seen.pulls[leader] and seen.pulls[arm]):
        return math.inf  # nothing to show
    return Pair(agent._experiment.family, (leader, arm), seen.pulls, seen.sums, seen.squares).found()


def lines(agent: Standing[Any], seen: Seen) -> list[str]:
    """The part of a summary; none if nothing can be said yet."""
    found = shown(agent, seen)
    return ["", f"{heading(found, seen)}:", "", *align(texts(found))] if found else []


def shown(agent: Standing[Any], seen: Seen) -> list[Difference]:
    """What people are told; none if nothing can be said yet."""
    found = differences(agent, seen, ERROR, SHOWN)
    return [] if all(math.isinf(each.low) and math.isinf(each.high) for each in found) else found


def texts(found: list[Difference]) -> list[tuple[str, ...]]:
    """A table as people read it."""
    rows: list[tuple[str, ...]] = [("arm", "difference", "low", "high", "verdict")]
    for each in found:
        figures = (f"{end:.4g}" if math.isfinite(end) else "-" for end in each[2:5])
        verdict = "larger" if each.low > 0.0 else "smaller" if each.high < 0.0 else "open"
        rows.append((str(each.other), *figures, verdict))
    return rows


def heading(found: list[Difference], seen: Seen) -> str:
    """Whose differences, and how sure they are."""
    which = "every other arm" if len(seen.pulls) == len(found) + 1 else f"the {len(found)} closest arms"
    about = "" if found[0].proved else ", or about so if rewards are not normal"
    sure = f"all are right at all times with probability {100 * (1 - ERROR):.0f} %{about}"
    return f"the mean of {found[0].arm!r} less that of {which}; {sure}"
