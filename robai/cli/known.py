"""What is known of each policy on a bandit: bounds that hold at the horizon, and limits as it grows.

docs/policies.md has the sources. Limits are of regret, of the round of commitment and of the probability
that it is wrong, to leading order and as upper bounds. UCB at the levels of this package has the constant of
Lai and Robbins by a union over the pulls s of the best arm, after which its index is below its mean by eps
with probability exp(-f - eps sqrt(2 s f) - s eps^2 / 2) at most; KL-UCB at level log T or log(T/N) likewise,
with exp(-f - s d).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robai import families, kl, policies, rules, theory
from robai.bandits import Bandit, Bernoulli, Gaussian
from robai.policies.base import BasePolicy


class Answer(NamedTuple):
    """A number; or an order, such as O(log T); or the reason why there is neither."""

    value: float | None = None
    order: str = ""
    reason: str = ""


Answers = tuple[Answer, Answer, Answer]  # regret, round of commitment, wrong commitment

_LIL = "its constants, heuristic or not, are below those of its theorem"
NEVER = Answer(reason="it never commits")
BUDGET = Answer(order="T, its budget")
_UNPROVED = Answer(reason="no bound at a finite horizon is computed for it")
_SMALL = Answer(order="O(1/T)")
_TOO_LARGE = "numbers become too large, or too small, for it"
_PRACTICAL = Answer(reason="its threshold has no proof: threshold=proved has one")


def _none(reason: str) -> Answers:
    answer = Answer(reason=reason)
    return answer, answer, answer


class Setting:
    """A policy on a bandit with a single best arm, and what formulas are made of."""

    def __init__(self, policy: BasePolicy, bandit: Bandit, horizon: int) -> None:
        self.policy: Any = policy
        self.bandit, self.horizon, self.log = bandit, horizon, math.log(horizon)
        self.all_gaps = np.array(bandit.gaps)
        self.gaps: NDArray[np.float64] = np.sort(self.all_gaps[self.all_gaps > 0])
        self.parameters = {each.name: getattr(policy, each.name) for each in fields(policy)}

    @property
    def never_commits(self) -> bool:
        parts = self.policy.parts()
        return isinstance(parts.stop, rules.Never) and not isinstance(parts.commit, rules.Recommended)

    @cached_property
    def sigmas(self) -> NDArray[np.float64]:
        """Of each arm: what the policy assumes, of which the rewards have to be sub-Gaussian."""
        sigma, proxy = self.parameters.get("sigma"), self.bandit.proxy
        if proxy is None:
            raise ValueError("its theorems are for sub-Gaussian rewards")
        least = families.one_an_arm(proxy, self.bandit.n_arms)
        assumed = least if sigma is None else families.one_an_arm(sigma, self.bandit.n_arms)
        if np.any(assumed < least):
            raise ValueError("its sigma is below that of the rewards, for which nothing is proved")
        return assumed

    @property
    def sigma(self) -> float:
        return float(self.sigmas.max())

    @property
    def delta(self) -> float:
        delta: float | None = self.parameters.get("delta")
        return 1 / self.horizon if delta is None else delta

    @property
    def asked(self) -> float:
        """log 1/delta, which is log T unless a delta is given."""
        return -math.log(self.delta)

    def sub_gaussian(self, multiple: float = 1.0) -> Answer:
        """So many times the sum of 2 sigma^2 / gap, times log T."""
        worse = self.all_gaps > 0
        return Answer(float(np.sum(2 * multiple * self.sigmas[worse] ** 2 / self.all_gaps[worse])) * self.log)

    def lai_robbins(self) -> Answer:
        """The constant of the family of the rewards, times log T."""
        self.own_family()
        return Answer(theory.lai_robbins(self.bandit) * self.log)

    def own_family(self) -> None:
        if self.parameters.get("family") not in (None, self.bandit.family):
            raise ValueError("its theorems are for the family of the rewards, and it assumes another")

    def told(self) -> float:
        """The gap that the policy is told."""
        gap: float = self.policy.gap
        if gap > self.gaps[0] * (1 + 1e-9):
            raise ValueError(f"the gap that it is told is above the smallest of the bandit, {self.gaps[0]:g}")
        return gap

    def pair_errors(self, pulls: float) -> float:
        """Sum over arms of the probability that their mean is the largest of two, with so many pulls."""
        return float(np.sum(np.exp(-pulls * self.gaps**2 / (4 * self.sigma**2))))

    def complexity(self) -> float:
        """H_2 for rewards in [0, 1], whose sigma is 1/2: the largest i / gap_i^2 in the order of the gaps."""
        gaps = np.concatenate([self.gaps[:1], self.gaps])
        return float(np.max(np.arange(1, gaps.size + 1) / gaps**2)) * 4 * self.sigma**2


def limits(setting: Setting) -> Answers:
    """As T grows."""
    regret, commit, wrong = _given(_LIMITS[type(setting.policy)], setting)
    if setting.never_commits:
        return regret, NEVER, NEVER
    if setting.parameters.get("delta") is not None:
        cost = f"delta does not fall with T: wrong commitments may cost {setting.delta:g} gap T"
        return Answer(reason=cost), commit, Answer(reason=cost)
    return regret, commit, wrong


def bounds(setting: Setting) -> Answers:
    """At this T, proved."""
    found = _given(_BOUNDS.get(type(setting.policy), lambda _: _none(_UNPROVED.reason)), setting)
    return (found[0], NEVER, NEVER) if setting.never_commits else found


def _given(known: Callable[[Setting], Answers], setting: Setting) -> Answers:
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            regret, commit, wrong = known(setting)
    except ValueError as error:  # a condition of a theorem
        return _none(str(error))
    except ArithmeticError:
        return _none(_TOO_LARGE)
    return _finite(regret), _finite(commit), _finite(wrong)


def _finite(answer: Answer) -> Answer:
    return answer if answer.value is None or math.isfinite(answer.value) else Answer(reason=_TOO_LARGE)


def _eocp(s: Setting) -> Answers:
    if s.policy.inflation == 0.0:
        return _none("its theorem needs an inflation above 0")
    rounds = 8 * s.bandit.n_arms * (s.sigma / s.told()) ** 2 * s.log
    return s.sub_gaussian(), Answer(rounds), _SMALL


def _eocp_ug(s: Setting) -> Answers:
    if s.policy.bounds == "bernstein":
        return _none("no theorem covers bounds=bernstein")
    late = float(np.sum(8 * (s.sigma / s.gaps) ** 2)) * s.log**2
    if s.policy.inflation == 0.0:
        return _none("its theorem needs an inflation above 0")
    commit = Answer(late)
    least = 4.0  # T exp(-(sqrt(l) - 2)^2), in the proof of theorem theo:optimalug, is bounded
    if isinstance(s.bandit, Gaussian) and s.bandit.n_arms == 2 and np.all(s.sigmas == s.bandit.sigma):
        least = max(0.0, 2 - math.sqrt(2) * float(s.gaps[0]) / s.sigma)  # which is exact
    if s.policy.inflation < least:
        why = f"wrong commitments are O(1/T), which regret needs, from inflation {least:.3g} on"
        return Answer(reason=why), commit, Answer(reason=why)
    return s.sub_gaussian(), commit, _SMALL


def _kl_eocp(s: Setting) -> Answers:
    if s.policy.inflation == 0.0:
        return _none("its theorem needs an inflation above 0")
    if s.policy.kl > theory.kl_min(s.bandit) * (1 + 1e-9):
        return _none("the kl that it is told is above that of the bandit")
    return s.lai_robbins(), Answer(4 * s.bandit.n_arms * s.log / s.policy.kl), _SMALL


def _lead_commit(s: Setting) -> Answers:
    s.own_family()
    if not isinstance(s.bandit, Gaussian):
        return _none("its theorem is for Gaussian evidence: measured only for other families")
    wrong = _SMALL
    if s.bandit.n_arms > 2:
        reason = Answer(reason="regret and commitment of more than two arms are measured only")
        return reason, reason, wrong
    share = 2 + s.policy.factor * s.log**s.policy.exponent
    return s.sub_gaussian(), Answer(share * 2 * (s.sigma / float(s.gaps[0])) ** 2 * s.log), wrong


def _kl_ucb(s: Setting) -> Answers:
    if s.policy.level in ("round", "plus"):
        return _none(f"level={s.policy.level} is a heuristic of its authors")
    return s.lai_robbins(), NEVER, NEVER


def _only(kind: type, regret: Callable[[Setting], Answer], why: str) -> Callable[[Setting], Answers]:
    return lambda s: (regret(s), NEVER, NEVER) if isinstance(s.bandit, kind) else _none(why)


def _etc(s: Setting) -> Answers:
    rounds = 8 * (s.sigma / s.told()) ** 2 * s.log
    return (
        Answer(rounds / 2 * float(s.gaps[0])),
        Answer(rounds),
        _SMALL if isinstance(s.bandit, Gaussian) else Answer(order="~O(1/T)"),
    )


def _sprt_etc(s: Setting) -> Answers:
    rounds = 2 * s.sigma**2 * s.log / (s.told() * float(s.gaps[0]))
    return Answer(rounds / 2 * float(s.gaps[0])), Answer(rounds), _SMALL


def _bai_etc(s: Setting) -> Answers:
    return s.sub_gaussian(2.0), Answer(8 * (s.sigma / float(s.gaps[0])) ** 2 * s.log), Answer(order="~O(1/T)")


def _elimination(s: Setting) -> Answers:
    """An arm is dropped when its gap is twice the radius, sqrt(2 log(1/delta) / N) sigma."""
    pulls = 8 * (s.sigma / s.gaps) ** 2 * s.asked
    regret, rounds = float(np.sum(pulls * s.gaps)), float(np.sum(pulls) + pulls.max())
    return Answer(regret), Answer(rounds), _SMALL


def _track_and_stop(s: Setting) -> Answers:
    s.own_family()
    weights, time = theory.weights(s.bandit)
    regret = float(np.sum(weights * s.all_gaps)) * time * s.asked
    return _with_threshold(s, Answer(regret), Answer(time * s.asked))


def _top_two(s: Setting) -> Answers:
    s.own_family()
    if s.policy.beta != 0.5:
        return _with_threshold(s, Answer(order="O(log T)"), Answer(order="O(log T)"))
    rounds = 2 * theory.weights(s.bandit)[1] * s.asked
    return _with_threshold(s, Answer(order="O(log T)"), Answer(rounds))


def _uniform(s: Setting) -> Answers:
    s.own_family()
    if s.policy.stop == "budget":
        return _budget(s)
    means, best = np.array(s.bandit.means), int(np.argmax(s.bandit.means))
    others = np.delete(means, best)
    middle = (means[best] + others) / 2
    top = np.full_like(middle, means[best])
    costs = kl.divergence(s.bandit, top, middle) + kl.divergence(s.bandit, others, middle)
    pulls = s.asked / float(np.min(costs))
    return _with_threshold(s, Answer(pulls * float(s.gaps.sum())), Answer(pulls * s.bandit.n_arms))


def _with_threshold(s: Setting, regret: Answer, rounds: Answer) -> Answers:
    """Regret needs that wrong commitments are rare, for which the threshold has to have a proof."""
    if has_proof(s.policy):
        return regret, rounds, _SMALL
    return _PRACTICAL, rounds, _PRACTICAL


def has_proof(policy: Any) -> bool:
    return getattr(policy, "threshold", "proved") not in ("practical", "pair")


def _pairs(s: Setting) -> Answers:
    return _with_threshold(s, Answer(order="O(log T)"), Answer(order="O(log T)"))


def _budget(s: Setting) -> Answers:
    return Answer(order="O(T)"), BUDGET, Answer(order="exp(-O(T))")


_INDEX = (Answer(order="O(log T)"), NEVER, NEVER)
_LIMITS: dict[type[BasePolicy], Callable[[Setting], Answers]] = {
    policies.EOCP: _eocp,
    policies.EOCPUG: _eocp_ug,
    policies.KLEOCP: _kl_eocp,
    policies.KLEOCPUG: lambda s: _none(
        "nothing is proved of it: a remark of the paper, with a guard, measured"
    ),
    policies.LeadCommit: _lead_commit,
    policies.UCB: lambda s: (s.sub_gaussian(), NEVER, NEVER),
    policies.KLUCB: _kl_ucb,
    policies.UCBV: lambda s: _INDEX if s.policy.zeta > 1 else _none("its theorem is for zeta above 1"),
    policies.MOSS: lambda s: (
        s.sub_gaussian(1 + s.policy.alpha if s.policy.anytime else 2.0),
        NEVER,
        NEVER,
    ),
    policies.IMED: _only(Bernoulli, Setting.lai_robbins, "its theorem is for Bernoulli rewards"),
    policies.AdaUCB: _only(Gaussian, Setting.sub_gaussian, "its theorem is for Gaussian rewards"),
    policies.BayesUCB: lambda s: _none(
        "its theorem is for a uniform prior and c >= 5; the prior here is Jeffreys'"
    ),
    policies.ThompsonSampling: lambda s: (s.lai_robbins(), NEVER, NEVER),
    policies.BAIETC: _bai_etc,
    policies.ETC: _etc,
    policies.SPRTETC: _sprt_etc,
    policies.DETC: lambda s: (s.sub_gaussian(), Answer(order="log^2 T at least"), _SMALL),
    policies.DETCK: lambda s: (
        s.sub_gaussian(),
        Answer(order="log^2 T at least"),
        Answer(reason="measured only"),
    ),
    policies.UCBAlpha: lambda s: (
        s.sub_gaussian(s.policy.alpha**2),
        Answer(order="O(log T)"),
        Answer(order="~O(1/T)"),
    ),
    policies.TrackAndStop: _track_and_stop,
    policies.ActionElimination: _elimination,
    policies.Uniform: _uniform,
    policies.KLLUCB: _pairs,
    policies.LUCB: _pairs,
    policies.UGapE: _pairs,
    policies.LilUCB: lambda s: (Answer(reason=_LIL), Answer(order="O(log T)"), Answer(reason=_LIL)),
    policies.TopTwo: _top_two,
    policies.TTTS: _top_two,
    policies.T3C: _top_two,
    policies.TTUCB: _top_two,
    policies.EBTCI: _top_two,
    policies.Racing: _pairs,
    policies.SequentialHalving: _budget,
    policies.SuccessiveRejects: _budget,
}


def _theorems(name: str) -> Callable[[Setting], Answers]:
    """Those of the paper, by the names of `robai.theory`; each says by itself which condition fails."""

    def bounds(s: Setting) -> Answers:
        if s.parameters.get("bounds") == "bernstein":
            return _none("no theorem covers bounds=bernstein")
        s.own_family()
        given = {"bandit": s.bandit, "n_arms": s.bandit.n_arms, "horizon": s.horizon, **s.parameters}
        if "sigma" in given and given["sigma"] is None:
            given["sigma"] = s.bandit.proxy
        found = (f"regret_bound_{name}", f"commit_round_{name}", f"wrong_commit_bound_{name}")
        regret, commit, wrong = (theorem(getattr(theory, each), given) for each in found)
        return regret, commit, wrong

    return bounds


def theorem(function: Callable[..., Any], given: dict[str, Any]) -> Answer:
    """What it says of those of its parameters that are given, by their names."""
    names = [name for name in inspect.signature(function).parameters if name in given]
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            value = function(**{name: given[name] for name in names})
            if isinstance(value, theory.CommitRound):
                value = value.expected
            elif isinstance(value, theory.RegretBound):
                value = value.total
    except ValueError as error:
        return Answer(reason=str(error))
    except ArithmeticError:
        value = math.inf
    return _finite(Answer(float(value)))


def _etc_bounds(s: Setting) -> Answers:
    gap, rounds = float(s.gaps[0]), theory.commit_round_etc(s.policy.gap, s.horizon, sigma=s.sigma)
    wrong = s.pair_errors(rounds / 2)
    if isinstance(s.bandit, Gaussian):  # for which it is exact
        scale = float(np.sqrt(np.sum(np.square(families.one_an_arm(s.bandit.sigma, 2)))))
        wrong = math.erfc(gap * math.sqrt(rounds / 4) / scale) / 2
    return (
        Answer(gap * (rounds / 2 + max(0, s.horizon - rounds) * wrong)),
        Answer(float(rounds)),
        Answer(wrong),
    )


def _sprt_bounds(s: Setting) -> Answers:
    """Of exp of minus the likelihood ratio, a supermartingale: Ville's inequality."""
    return _UNPROVED, _UNPROVED, Answer((s.sigma / s.told()) ** 2 / s.horizon)


def _moss_bounds(s: Setting) -> Answers:
    """Lattimore and Szepesvari (2020), theorem 9.1, times sigma."""
    if s.policy.anytime:
        return _none(_UNPROVED.reason)
    minimax = 39 * s.sigma * math.sqrt(s.bandit.n_arms * s.horizon) + float(s.gaps.sum())
    return Answer(minimax), NEVER, NEVER


def _confidence_bounds(s: Setting) -> Answers:
    """delta, or 1/T, if the threshold has a proof; one that does not hold here is refused at the start."""
    if isinstance(s.policy, policies.ActionElimination) and s.policy.radius == "paper":
        return _UNPROVED, _UNPROVED, Answer(reason="its radius has no proof: radius=even-dar has one")
    if isinstance(s.policy, policies.Uniform) and s.policy.stop == "budget":
        return _uniform_bounds(s)
    return _UNPROVED, _UNPROVED, Answer(s.delta) if has_proof(s.policy) else _PRACTICAL


def _uniform_bounds(s: Setting) -> Answers:
    pulls = s.horizon / s.bandit.n_arms
    regret = Answer(math.ceil(pulls) * float(s.gaps.sum()))
    return regret, BUDGET, Answer(s.pair_errors(math.floor(pulls)))


def _rejects_bounds(s: Setting) -> Answers:
    """Audibert, Bubeck and Munos (2010), theorem 2."""
    arms = s.bandit.n_arms
    logbar = 0.5 + sum(1 / arm for arm in range(2, arms + 1))
    wrong = arms * (arms - 1) / 2 * math.exp(-(s.horizon - arms) / (logbar * s.complexity()))
    return _UNPROVED, BUDGET, Answer(wrong)


def _halving_bounds(s: Setting) -> Answers:
    """Karnin, Koren and Somekh (2013), theorem 4.1."""
    if not s.policy.fresh:
        wrong = Answer(reason="its theorem is for fresh=true")
    else:
        rounds = math.log2(s.bandit.n_arms)
        wrong = Answer(3 * rounds * math.exp(-s.horizon / (8 * rounds * s.complexity())))
    return _UNPROVED, BUDGET, wrong


_BOUNDS: dict[type[BasePolicy], Callable[[Setting], Answers]] = {
    policies.EOCP: _theorems("eocp"),
    policies.EOCPUG: _theorems("eocp_ug"),
    policies.KLEOCP: _theorems("kl_eocp"),
    policies.ETC: _etc_bounds,
    policies.SPRTETC: _sprt_bounds,
    policies.MOSS: _moss_bounds,
    policies.SuccessiveRejects: _rejects_bounds,
    policies.SequentialHalving: _halving_bounds,
    **dict.fromkeys(
        (
            *(policies.TrackAndStop, policies.ActionElimination, policies.Uniform, policies.Racing),
            *(policies.KLLUCB, policies.LUCB, policies.UGapE, policies.TopTwo, policies.TTTS, policies.T3C),
            *(policies.TTUCB, policies.EBTCI),
        ),
        _confidence_bounds,
    ),
}
