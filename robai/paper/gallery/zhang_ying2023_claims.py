"""What Zhang and Ying say about their experiments."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from robai._base import verdicts
from robai._base.intervals import Mean
from robai._base.text import percent
from robai._base.verdicts import Word
from robai.paper.claims import (
    Check,
    Claim,
    around,
    described,
    recorded,
    regret_after,
    regret_ratio,
    regrets,
    share_of,
    wrong_commitments,
)
from robai.policies import Policy
from robai.result import Comparison, Result
from robai.rules import MostPulled
from robai.simulation import simulate


def _commit_times(result: Result) -> NDArray[np.int64]:
    """The rounds of commitment; the horizon where a run never commits."""
    return np.where(result.committed, result.commit_time, result.horizon)


CLAIMS: list[Claim] = []

_TWO = ("fig1-gaussian", "fig1-bernoulli")
_FOUR = ("fig2-gaussian", "fig2-bernoulli")


def _claim(text: str, criterion: str, experiments: tuple[str, ...]) -> Callable[[Check], Check]:
    def add(check: Check) -> Check:
        CLAIMS.append(Claim(text, criterion, experiments, check))
        return check

    return add


@_claim("EOCP reduces the final regret of UCB by 20 %", "at least 20 % below", _TWO + _FOUR)
def _below_ucb(results: Comparison) -> tuple[Word, str]:
    ratio, low, high = regret_ratio(results["EOCP"], results["UCB"])
    numbers = f"{100 * (1 - ratio):.1f} % below ({100 * (1 - high):.1f} to {100 * (1 - low):.1f} %)"
    return verdicts.within((low, high), most=0.8), numbers


@_claim("EOCP and EOCP-UG stop exploring at approximately 1000 rounds", "median between 500 and 2000", _TWO)
def _near_a_thousand(results: Comparison) -> tuple[Word, str]:
    rounds = {name: _commit_times(results[name]) for name in ("EOCP", "EOCP-UG")}
    numbers = ", ".join(f"{name} {np.median(each):,.0f}" for name, each in rounds.items())
    # A median is in an interval if no more than half of the runs are on either side of it.
    sides = (share_of(side) for each in rounds.values() for side in (each < 500, each > 2000))
    return verdicts.together(verdicts.within(each, most=0.5) for each in sides), f"median {numbers}"


@_claim(
    "Not knowing the gap does little harm: EOCP-UG is close to EOCP",
    "regret at most 1.1 times EOCP's",
    _TWO + _FOUR,
)
def _gap_is_not_needed(results: Comparison) -> tuple[Word, str]:
    ratio, low, high = regret_ratio(results["EOCP-UG"], results["EOCP"])
    times = [results[name].digest().capped_time.value for name in ("EOCP-UG", "EOCP")]
    rounds = f"commitment at {times[0]:,.0f} and {times[1]:,.0f}"
    return verdicts.within(
        (low, high), most=1.1
    ), f"regret {ratio:.3f} times ({low:.3f} to {high:.3f}), {rounds}"


def _above(*names: str) -> Check:
    def holds(results: Comparison) -> tuple[Word, str]:
        found = regrets(results)
        bar = max(found["EOCP"], found["UCB"])
        numbers = ", ".join(f"{name} {found[name]:.1f}" for name in names)
        ratios = (regret_ratio(results[name], results[other]) for name in names for other in ("EOCP", "UCB"))
        above = verdicts.together(verdicts.above(each.interval, 1.0) for each in ratios)
        return above, f"{numbers}; EOCP and UCB at most {bar:.1f}"

    return holds


_claim("BAI-ETC and DETC have a high regret", "above EOCP and UCB", _TWO)(_above("BAI-ETC", "DETC"))
_claim("TAS-ETC and DETC-K have a high regret with four arms", "above EOCP and UCB", _FOUR)(
    _above("TAS-ETC", "DETC-K")
)


@_claim("Action elimination has an even larger one", "the largest of all", _FOUR)
def _elimination_is_the_largest(results: Comparison) -> tuple[Word, str]:
    others = regrets(results)
    own = others.pop("Action elimination")
    ratios = (regret_ratio(results["Action elimination"], results[name]) for name in others)
    above = verdicts.together(verdicts.above(each.interval, 1.0) for each in ratios)
    return above, f"{own:.1f}, others at most {max(others.values()):.1f}"


@_claim(
    "KL-EOCP and KL-UCB are much better on Bernoulli arms",
    "at most half the regret of EOCP and UCB",
    ("fig1-bernoulli", "fig2-bernoulli"),
)
def _kl_is_far_below(results: Comparison) -> tuple[Word, str]:
    ratios = {name: regret_ratio(results[f"KL-{name}"], results[name]) for name in ("EOCP", "UCB")}
    numbers = ", ".join(f"KL-{name} {percent(ratio.value)} of {name}" for name, ratio in ratios.items())
    return verdicts.together(verdicts.within(each.interval, most=0.5) for each in ratios.values()), numbers


@_claim(
    "EOCP and EOCP-UG accumulate regret more quickly than UCB in exploration",
    "more regret than UCB at the median round of EOCP's commitment",
    _TWO,
)
def _above_ucb_early(results: Comparison) -> tuple[Word, str]:
    place = int(np.searchsorted(results["UCB"].times, np.median(_commit_times(results["EOCP"]))))
    ucb = recorded(results["UCB"], place)
    found = {name: recorded(results[name], place) for name in ("EOCP", "EOCP-UG")}
    numbers = ", ".join(f"{name} {mean.value:.1f}" for name, mean in found.items())
    apart = (around(Mean(own.value - ucb.value, own.sem + ucb.sem)) for own in found.values())
    word = verdicts.together(verdicts.above(each, 0.0) for each in apart)
    return word, f"after round {results['UCB'].times[place]:,}: {numbers}; UCB {ucb.value:.1f}"


def _goes_on(explorer: str, committer: str) -> Check:
    def holds(results: Comparison) -> tuple[Word, str]:
        commits = results[committer]
        rounds = float(np.median(_commit_times(commits)))
        after = regret_after(results[explorer], rounds)
        going_on = (_commit_times(commits) > rounds) | (commits.committed_arm != commits.best_arm)
        added = share_of(going_on)
        word = verdicts.together(
            [verdicts.within(after.interval, least=0.1), verdicts.within(added, most=0.01)]
        )
        later = f"{100 * after.value:.1f} % ({100 * after.low:.1f} to {100 * after.high:.1f} %)"
        return word, (
            f"after round {rounds:,.0f}: {explorer} {later}, "
            f"{committer} in {going_on.sum():,} of {commits.runs:,} runs, at most {percent(added[1])}"
        )

    return holds


_claim(
    "UCB over-explores: its regret grows when EOCP has committed",
    "at least 10 % of UCB's regret comes later, and at most 1 % of EOCP's runs add to theirs",
    _TWO + _FOUR,
)(_goes_on("UCB", "EOCP"))
_claim(
    "KL-UCB over-explores as well: it goes on when KL-EOCP has committed",
    "at least 10 % of KL-UCB's regret comes later, and at most 1 % of KL-EOCP's runs add to theirs",
    ("fig1-bernoulli", "fig2-bernoulli"),
)(_goes_on("KL-UCB", "KL-EOCP"))


@_claim("The policies commit to the best arm in almost all runs", "wrong in at most 0.1 %", _TWO + _FOUR)
def _right_arm(results: Comparison) -> tuple[Word, str]:
    wrongs = {name: wrong_commitments(results[name]) for name in results if "EOCP" in name}
    numbers = "; ".join(f"{name} {words}" for name, (_, words) in wrongs.items())
    return verdicts.together(verdicts.within(interval, most=1e-3) for interval, _ in wrongs.values()), numbers


@_claim(
    "EOCP-UG may as well commit to the arm that was pulled most often",
    "another arm than the largest lower bound in at most 0.1 % of the runs",
    _TWO + _FOUR,
)
def _most_pulled(results: Comparison) -> tuple[Word, str]:
    """On runs of its own, the same for both: those of the figures forget the pulls before a commitment."""
    played = results["EOCP-UG"]
    game = described(played)
    if game is None:
        return "not decided", "what was played is not known"
    policy, bandit = game
    explore, stop, _ = policy.parts()
    both = policy, Policy(explore, stop, MostPulled())
    arms = [simulate(each, bandit, played.horizon, 4000, rng=0, times=1).committed_arm for each in both]
    other = arms[0] != arms[1]
    word = verdicts.within(share_of(other), most=1e-3)
    return word, f"{other.sum()} of {len(other):,}, at most {percent(share_of(other)[1])}"
