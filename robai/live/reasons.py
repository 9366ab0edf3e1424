"""What a policy's rules see, in numbers and in words: its bounds, and why it stopped.

Everything is read off the compiled rules themselves, so that the numbers people are shown are
those that were compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from robai._core import explore_stages as _staged
from robai._core import stopping as _stopping
from robai._core.explore_index import Optimism
from robai._core.player import bounds_of
from robai._core.protocols import Started

Interval = tuple[float | None, float | None]
_UNKNOWN: Interval = (None, None)


@dataclass(frozen=True)
class Evidence:
    """The answered pulls of every arm at some moment; `labels` are the arms as people name them."""

    labels: tuple[Any, ...]
    horizon: int
    pulls: list[int]
    sums: list[float]

    @property
    def answered(self) -> int:
        return sum(self.pulls)

    @property
    def best(self) -> int:
        """The first arm with the largest mean."""
        return max(range(len(self.pulls)), key=self.mean)

    def mean(self, arm: int) -> float:
        return self.sums[arm] / self.pulls[arm]

    def others(self, arm: int) -> list[int]:
        return [other for other in range(len(self.pulls)) if other != arm]

    def bounds(self, bounds: Any, arm: int) -> tuple[float, float]:
        return bounds_of(bounds, self.pulls[arm], self.sums[arm], self.answered + 1)


# ---- bounds


def intervals(rules: Started, evidence: Evidence) -> list[Interval]:
    """The lower and upper bound of each arm that decide, None where a policy has no such bound.

    Those that end the exploration if there are any (separation, elimination); else the index
    of the exploration as the upper bound, and the lower bound by which it commits.
    """
    separation = _separation(rules.stop)
    if separation is not None:
        lower = upper = separation.bounds
    elif isinstance(rules.explore, _staged.BoundElimination):
        lower = upper = rules.explore.bounds
    else:
        upper = rules.explore.bounds if isinstance(rules.explore, Optimism) else None
        lower = rules.commit.bounds if isinstance(rules.commit, _stopping.LargestLower) else None

    def interval(arm: int) -> Interval:
        if evidence.pulls[arm] == 0:
            return _UNKNOWN
        if isinstance(rules.explore, _staged.SweepElimination):
            radius = _sweep_radius(rules.explore, len(evidence.pulls), evidence.pulls[arm])
            return evidence.mean(arm) - radius, evidence.mean(arm) + radius
        return (
            None if lower is None else evidence.bounds(lower, arm)[0],
            None if upper is None else evidence.bounds(upper, arm)[1],
        )

    return [interval(arm) for arm in range(len(evidence.pulls))]


def _separation(stop: Any) -> _stopping.Separation | None:
    if isinstance(stop, _stopping.Both | _stopping.Either):
        return _separation(stop.first) or _separation(stop.second)
    return stop if isinstance(stop, _stopping.Separation) else None


def _sweep_radius(rule: _staged.SweepElimination, n_arms: int, n: int) -> float:
    return rule.sigma * math.sqrt(2.0 * math.log(4.0 * n_arms * n * n / rule.delta) / n)


# ---- reasons


def reason(rules: Started, evidence: Evidence, arm: int) -> str:
    """Why exploration ended with this evidence, and why in favour of this arm."""
    fired, text = _stopped(rules.stop, evidence)
    if not fired:
        text = _ended(rules.explore, evidence, arm)
    return f"{text}; {_chosen(rules.commit, evidence, arm)}"


@singledispatch
def _stopped(rule: Any, evidence: Evidence) -> tuple[bool, str]:
    """Whether a stopping rule fires, and the numbers it compares."""
    return False, ""


@_stopped.register
def _(rule: _stopping.FixedRound, evidence: Evidence) -> tuple[bool, str]:
    text = f"{evidence.answered:,} rewards had arrived, and exploration was to end at {rule.round:,}"
    return evidence.answered >= rule.round, text


@_stopped.register
def _(rule: _stopping.Imbalance, evidence: Evidence) -> tuple[bool, str]:
    arm = max(range(len(evidence.pulls)), key=evidence.pulls.__getitem__)
    most, second = evidence.pulls[arm], max(evidence.pulls[other] for other in evidence.others(arm))
    text = (
        f"{evidence.labels[arm]!r} had {most:,} pulls, more than l = {rule.level:.4g} times "
        f"the {second:,} of any other arm, plus one"
    )
    return most - rule.level * second > 1.0, text


@_stopped.register
def _(rule: _stopping.Separation, evidence: Evidence) -> tuple[bool, str]:
    best = evidence.best
    lower = evidence.bounds(rule.bounds, best)[0]
    upper = max(evidence.bounds(rule.bounds, other)[1] for other in evidence.others(best))
    text = (
        f"the lower bound of {evidence.labels[best]!r}, {lower:.4g}, was above the upper bounds of "
        f"all others, at most {upper:.4g}"
    )
    return lower > upper, text


@_stopped.register
def _(rule: _stopping.MeanGap, evidence: Evidence) -> tuple[bool, str]:
    t = evidence.answered
    gap = abs(evidence.mean(0) - evidence.mean(1))
    asked = rule.sigma * math.sqrt(8.0 * max(math.log(evidence.horizon / t), 0.0) / t)
    return gap >= asked, f"the means differed by {gap:.4g}, and {asked:.4g} was enough after {t:,} rewards"


@_stopped.register
def _(rule: _stopping.LikelihoodRatio, evidence: Evidence) -> tuple[bool, str]:
    best = evidence.best
    asked = rule.base + (math.log(1.0 + math.log(evidence.answered)) if rule.anytime else 0.0)
    ratio = min(_likelihood_ratio(rule, evidence, best, other) for other in evidence.others(best))
    text = (
        f"the log likelihood ratio of {evidence.labels[best]!r} against every other arm was at least "
        f"{ratio:.4g}, and {asked:.4g} was enough"
    )
    return ratio >= asked, text


def _likelihood_ratio(rule: _stopping.LikelihoodRatio, evidence: Evidence, a: int, b: int) -> float:
    n, k = evidence.pulls[a], evidence.pulls[b]
    pooled = (evidence.sums[a] + evidence.sums[b]) / (n + k)
    return n * float(rule.family.elementwise("divergence", evidence.mean(a), pooled)) + k * float(
        rule.family.elementwise("divergence", evidence.mean(b), pooled)
    )


@_stopped.register
def _(rule: _stopping.Both, evidence: Evidence) -> tuple[bool, str]:
    (first, one), (second, other) = _stopped(rule.first, evidence), _stopped(rule.second, evidence)
    return first and second, f"{one}, and {other}"


@_stopped.register
def _(rule: _stopping.Either, evidence: Evidence) -> tuple[bool, str]:
    answers = [_stopped(each, evidence) for each in (rule.first, rule.second)]
    fired = [text for fires, text in answers if fires]
    return bool(fired), ", and ".join(fired)


@singledispatch
def _ended(rule: Any, evidence: Evidence, arm: int) -> str:
    """Why an exploration ended by itself."""
    return f"exploration ended after {evidence.answered:,} rewards"


@_ended.register
def _(rule: _staged.Elimination, evidence: Evidence, arm: int) -> str:
    runner_up = max(evidence.others(arm), key=evidence.mean)
    return (
        f"all other arms had been dropped, the best of them {evidence.labels[runner_up]!r} with mean "
        f"{evidence.mean(runner_up):.4g} of {evidence.pulls[runner_up]:,} pulls"
    )


@_ended.register
def _(rule: _staged.DoubleExplore, evidence: Evidence, arm: int) -> str:
    memory = rule.memory()
    favourite = memory["favourite"]
    other = 1 - favourite
    fresh = evidence.pulls[other] - memory["old_pulls"]
    mean = (evidence.sums[other] - memory["old_sum"]) / fresh
    return (
        f"{evidence.labels[favourite]!r} had mean {evidence.mean(favourite):.4g} of "
        f"{evidence.pulls[favourite]:,} pulls, and {fresh:,} fresh pulls of {evidence.labels[other]!r} had "
        f"mean {mean:.4g}, far enough away"
    )


@_ended.register
def _(rule: _staged.DoubleExploreK, evidence: Evidence, arm: int) -> str:
    memory = rule.memory()
    if memory["beaten"]:
        means = ", ".join(
            f"{label!r} {mean:.4g}"
            for label, mean in zip(evidence.labels, memory["fresh_means"], strict=True)
        )
        return f"a challenger held out, and over {rule.length:.4g} fresh pulls of every arm had means {means}"
    return (
        f"{evidence.labels[arm]!r} had mean {memory['mean']:.4g} of {math.ceil(rule.length):,} fresh pulls, "
        "and the fresh mean of every other arm was far enough below"
    )


@singledispatch
def _chosen(rule: Any, evidence: Evidence, arm: int) -> str:
    """Why a commitment rule chose an arm."""
    return f"{evidence.labels[arm]!r} was left"


@_chosen.register
def _(rule: _stopping.LargestLower, evidence: Evidence, arm: int) -> str:
    return f"{evidence.labels[arm]!r} had the largest lower bound, {evidence.bounds(rule.bounds, arm)[0]:.4g}"


@_chosen.register
def _(rule: _stopping.LargestMean, evidence: Evidence, arm: int) -> str:
    return f"{evidence.labels[arm]!r} had the largest mean, {evidence.mean(arm):.4g}"


@_chosen.register
def _(rule: _stopping.MostPulled, evidence: Evidence, arm: int) -> str:
    return f"{evidence.labels[arm]!r} had the most pulls, {evidence.pulls[arm]:,}"


@_chosen.register
def _(rule: _stopping.Recommended, evidence: Evidence, arm: int) -> str:
    mean, n = evidence.mean(arm), evidence.pulls[arm]
    return f"{evidence.labels[arm]!r} was left, with mean {mean:.4g} of {n:,} pulls"
