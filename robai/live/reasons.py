"""Why a policy committed, or has not yet, in words.

The numbers are the rules' own: what they compared at the moment of the commitment, or remember of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from robai._base.text import align
from robai._core import (
    bounds,
    commitment,
    explore_lead,
    explore_pairs,
    explore_stages,
    levels,
    pointers,
    separation,
    stopping,
)
from robai._core.protocols import Evidence, Started, intervals
from robai.custom import written

if TYPE_CHECKING:
    from robai.live.standing import Standing


class Seen(NamedTuple):
    """The answered pulls of every arm at some moment; `labels` are the arms as people name them."""

    labels: tuple[Any, ...]
    horizon: int
    pulls: list[int]
    sums: list[float]
    squares: list[float] | None

    @property
    def evidence(self) -> Evidence:
        """The same, as rules see it."""
        return Evidence(self.pulls, self.sums, self.horizon, self.squares)

    @property
    def best(self) -> int:
        """The first arm with the largest mean, of those with a reward."""
        return max(range(len(self.pulls)), key=lambda arm: self.mean(arm) if self.pulls[arm] else -math.inf)

    def mean(self, arm: int) -> float:
        return self.sums[arm] / self.pulls[arm]

    def share(self, arm: int) -> str:
        return f"mean {self.mean(arm):.4g} of {self.pulls[arm]:,} pulls"


# Levels that depend on the pulls of the arm and on the round, and on nothing else.
_KNOWN = (
    *(levels.FixedLevel, levels.RatioLevel, levels.RoundLevel, levels.LogLogLevel, levels.PlusLevel),
    *(levels.PlusPlusLevel, levels.AnytimeLevel, levels.MossLevel, levels.IteratedLevel),
    *(levels.PracticalLevel, levels.HoeffdingLevel, levels.DivergenceLevel),
)

# What a stopping rule compared: `value` with `asked`, `arm` with its closest `rival`.
_STOPPED = {
    stopping.FixedRound: "{value:,.0f} rewards had arrived, and exploration was to end at {asked:,.0f}",
    stopping.Imbalance: "{arm!r} had {value:,.0f} pulls, more than {asked:,.1f}: l = {rule.level:.4g} times "
    "the {rival_pulls:,} of {rival!r}, the most of any other arm, plus one",
    stopping.Dominance: "{arm!r} had {value:,.0f} pulls, at least {asked:,.1f}: {rule.factor:.4g} times "
    "those of all others together, plus one",
    separation.Separation: "the lower bound of {arm!r}, {value:.4g}, was above the upper bounds of all "
    "others, at most {asked:.4g} of {rival!r}",
    stopping.MeanGap: "the means differed by {value:.4g}, and {asked:.4g} was enough",
    stopping.SPRT: "half of the rounds times the difference of the means was {value:.4g}, and {asked:.4g} "
    "was enough for the gap {rule.gap:.4g}",
    stopping.LikelihoodRatio: "the log likelihood ratio of {arm!r} against every other arm was at least "
    "{value:.4g}, that against {rival!r}, and {asked:.4g} was enough",
    pointers.FunctionStop: "the function {rule.name!r} said so",
}

_MIXTURE = (
    "the logarithm of the mixture likelihood ratio of {arm!r} against every other arm was at "
    "least {value:.4g}, that against {rival!r}, and {asked:.4g} was enough"
)
_COMPARED = "its stopping rule looked at {value:.4g}, and {asked:.4g} was enough"  # one from elsewhere

# By what a commitment rule chose an arm.
_CHOSEN = {
    commitment.LargestLower: "the largest lower bound, {:.4g}",
    commitment.LargestMean: "the largest mean, {:.4g}",
    commitment.MostPulled: "the most pulls, {:,.0f}",
}


def reason(agent: Standing[Any]) -> str | None:
    """Why exploration ended, and why in favour of this arm; None if it has not."""
    rule, rules, committed = written(agent._experiment.policy), agent._player.rules, agent._player.commitment
    if committed is None:
        return None
    arm, _, pulls, sums, squares = committed
    seen = Seen(agent.labels, agent.horizon, pulls, sums, squares)
    if rule is not None and not (min(pulls) >= rules.initial_pulls and rules.stop.fires_on(seen.evidence)):
        return f"{type(rule).__name__} returned Commit({arm})"
    stopped = [
        _text(report.rule).format(
            **report._asdict()
            | {"arm": seen.labels[report.arm], "rival": seen.labels[report.rival]}
            | {"rival_pulls": seen.pulls[report.rival]}
        )
        for report in rules.stop.report(seen.evidence)
        if rules.stop.fires_on(seen.evidence)
    ]
    why = ", and ".join(stopped) or _ended(rules, seen, arm)
    return f"{why}; {_chosen(rules.commit, seen, arm)}; {_certified(agent, seen, arm)}"


def _text(rule: Any) -> str:
    return _MIXTURE if getattr(rule, "mixture", False) else _STOPPED.get(type(rule), _COMPARED)


def certificate(agent: Standing[Any], seen: Seen) -> float:
    """Of the arm that had the largest mean at some moment."""
    return agent._experiment.certainty.delta(seen.evidence)


def _certified(agent: Standing[Any], seen: Seen, arm: int) -> str:
    delta, leader = certificate(agent, seen), repr(seen.labels[seen.best])
    if delta == 1.0:
        return f"no certificate that {leader} is the best arm"
    return f"by its certificate {leader} is not the best arm with probability {delta:.2g} at most"


# Bounds of which one of level f is wrong with probability exp(-f) at most, at a given number of pulls.
_EXPONENTIAL = (bounds.GaussianBounds, bounds.DivergenceBounds, bounds.StudentBounds)


def level(rules: Started, seen: Seen) -> float | None:
    """The least level of the bounds that are shown, if it says how often they are wrong."""
    explore, stop, commit = (getattr(rule, "bounds", None) for rule in _own(rules)[:3])
    of = [stop] if stop else [each for each in (explore, commit) if each]  # the stop's take the others' place
    if not of or not all(type(each) in _EXPONENTIAL and type(each.level) in _KNOWN for each in of):
        return None
    t = sum(seen.pulls) + 1
    found = [each.level.value_at(n, t) for each in of for n in seen.pulls if n >= each.initial_pulls]
    return min(found) if found and min(found) > 0.0 else None


def _own(rules: Started) -> Started:
    """Those of the policy alone, without what a window or a reopening has put around them."""
    stop, commit = rules.stop, rules.commit
    if isinstance(stop, stopping.Held):
        stop = stop.stop
    if isinstance(commit, commitment.Certified) and isinstance(stop, stopping.Either):
        stop, commit = stop.first, commit.other
    return rules._replace(stop=stop, commit=commit)


def _chosen(rule: Any, seen: Seen, arm: int) -> str:
    if isinstance(rule, commitment.Certified):
        if rule.certificate.fires_on(seen.evidence):
            label, mean = seen.labels[arm], seen.mean(arm)
            return f"the certificate chose {label!r}, which had the largest mean, {mean:.4g}"
        rule = rule.other
    if type(rule) not in _CHOSEN:
        return f"{seen.labels[arm]!r} was left, with {seen.share(arm)}"
    score = rule.score_of(seen.evidence, arm)
    return f"{seen.labels[arm]!r} had {_CHOSEN[type(rule)].format(score)}"


def _ended(rules: Started, seen: Seen, arm: int) -> str:
    """Why an exploration in stages ended by itself."""
    rule, memory = rules.explore, rules.explore.memory()
    if isinstance(rule, explore_stages.DoubleExplore):
        favourite, other = memory["favourite"], 1 - memory["favourite"]
        fresh = seen.pulls[other] - memory["old_pulls"]
        mean = (seen.sums[other] - memory["old_sum"]) / fresh
        return (
            f"{seen.labels[favourite]!r} had {seen.share(favourite)}, and {fresh:,} fresh pulls of "
            f"{seen.labels[other]!r} had mean {mean:.4g}, far enough away"
        )
    if isinstance(rule, explore_stages.DoubleExploreK) and memory["beaten"]:
        means = zip(seen.labels, memory["fresh_means"], strict=True)
        listed = ", ".join(f"{label!r} {mean:.4g}" for label, mean in means)
        return (
            f"a challenger held out, and over {rule.length:.4g} fresh pulls of every arm had means {listed}"
        )
    if isinstance(rule, explore_stages.DoubleExploreK):
        return (
            f"{seen.labels[arm]!r} had mean {memory['mean']:.4g} of {math.ceil(rule.length):,} fresh pulls, "
            "and the fresh mean of every other arm was far enough below"
        )
    others = [other for other in range(len(seen.pulls)) if other != arm]
    if isinstance(rule, explore_pairs.GapIndex):
        bounds = intervals(rules, seen.evidence)
        rival = max(others, key=lambda other: bounds[other][1] or -math.inf)
        return (
            f"the lower bound of {seen.labels[arm]!r}, {bounds[arm][0]:.4g}, was not below the upper bound "
            f"of any other arm, at most {bounds[rival][1]:.4g} of {seen.labels[rival]!r}"
        )
    runner_up = max(others, key=seen.mean)
    return (
        f"all other arms had been dropped, the best of them {seen.labels[runner_up]!r} "
        f"with {seen.share(runner_up)}"
    )


def doubts(rule: Any, seen: Seen, pending: list[int]) -> list[str]:
    """Which arms keep a rule that asks for evidence against each from a commitment, and for how long."""
    if not isinstance(rule, explore_lead.Lead) or max(seen.pulls) == 0:
        return []
    leader, standings = rule.standings(seen.evidence, pending)
    lead = repr(seen.labels[leader])
    rows = [("arm", "evidence", "bar", "claim", "pulls ahead", "status")]
    equal = []
    for arm, each in standings.items():
        bar, ahead = _finite(each.bar, ".4g"), _finite(each.pulls_ahead, ",.0f")
        status = "in doubt" if each.doubt else "cleared"
        rows.append((str(seen.labels[arm]), f"{each.evidence:.4g}", bar, f"{each.claim:,.1f}", ahead, status))
        if each.doubt and each.rounds_ahead > seen.horizon / 2:  # the bar would be below log 2 by then
            asked = f"{each.bar:.4g} is asked for" if math.isfinite(each.bar) else "all rounds are played"
            equal.append(
                f"{lead} and {seen.labels[arm]!r} cannot be told apart at their present means: the evidence "
                f"is {each.evidence:.4g}, and {asked}"
            )
    return ["", f"{lead} leads with {seen.share(leader)}:", "", *align(rows), *equal]


def _finite(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "-"
