"""The parts that policies are made of: how to explore, when to stop, which arm to commit to.

Rules are descriptions, like policies: starting one makes its compiled twin for a game, that
is a number of arms, a horizon and a reward family. Stopping rules combine with `&` and `|`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from robai import families, theory
from robai._checks import inflating, positive, probability, scale, wideness
from robai._core import bounds as _bounds
from robai._core import commitment as _commitment
from robai._core import optimism as _optimism
from robai._core import sampling_policies as _sampling
from robai._core import staged_policies as _staged
from robai._core import stopping as _stopping
from robai._core import tracking_policies as _tracking
from robai._spec import Spec, choice, optional, parameter, whole

LEVELS = ("horizon", "ratio", "round", "++")
LONGEST = 2**62


@dataclass(frozen=True)
class Game:
    """What a rule is started for."""

    n_arms: int
    horizon: int
    family: families.Family | None
    support: tuple[float, float]

    def family_for(self, rule: str, family: families.Family | None) -> families.Family:
        """The family that a rule works with: its own, or that of the rewards."""
        if family is None:
            if self.family is None:
                raise ValueError(f"{rule} needs a reward family, and these rewards have none: pass family=")
            return self.family
        low, high = family.support
        if self.support[0] < low or self.support[1] > high:
            raise ValueError(
                f"family={family!r} is for rewards in [{low:g}, {high:g}], "
                f"but these are in [{self.support[0]:g}, {self.support[1]:g}]"
            )
        return family


def family_or_none(name: str, value: Any) -> families.Family | None:
    return None if value is None else families.as_family(value)


def _stopping_rule(name: str, value: Any) -> Stopping:
    if not isinstance(value, Stopping):
        raise TypeError(f"{name} must be a stopping rule, got {value!r}")
    return value


def _level(rule: UpperBound | KLUpperBound, game: Game) -> _bounds.Level:
    if rule.level == "ratio":
        return _bounds.RatioLevel(game.horizon)
    if rule.level == "round":
        return _bounds.RoundLevel()
    if rule.level == "++":
        return _bounds.PlusPlusLevel(game.horizon, game.n_arms)
    return _bounds.FixedLevel(theory.exploration(game.horizon, rule.inflation))


class Exploration(Spec):
    """How to explore."""

    leaps: ClassVar[bool] = False  # does it pull the arm with the largest index


class Stopping(Spec):
    """When to stop."""

    # Does it know, while one arm is pulled, at which round it could fire next? If not it has to be
    # asked after every round, and the leap engine has nothing to leap over.
    leaps: ClassVar[bool] = False

    def __and__(self, other: Stopping) -> Both:
        return Both(self, other)

    def __or__(self, other: Stopping) -> Either:
        return Either(self, other)


class Commitment(Spec):
    """Which arm to commit to."""


@dataclass(frozen=True)
class UpperBound(Exploration):
    """The arm with the largest m + sigma sqrt(2 f / N).

    The level f is log T + inflation sqrt(log T) for "horizon", log(T/N) for "ratio", log t for
    "round" and log+(y (1 + log+(y)^2)) with y = T / (K N) for "++".
    """

    leaps: ClassVar[bool] = True
    level: str = parameter(choice(*LEVELS), "horizon")
    inflation: float = parameter(inflating, 0.0)
    sigma: float = parameter(scale, 1.0)

    def _bounds(self, game: Game) -> _bounds.Bounds:
        return _bounds.GaussianBounds(_level(self, game), self.sigma)

    def _start(self, game: Game):
        return _optimism.optimism(game.n_arms, self._bounds(game))


@dataclass(frozen=True)
class KLUpperBound(Exploration):
    """The arm with the largest q such that N d(m, q) <= f; levels f as for `UpperBound`."""

    leaps: ClassVar[bool] = True
    level: str = parameter(choice(*LEVELS), "horizon")
    inflation: float = parameter(inflating, 0.0)
    family: families.Family | None = parameter(family_or_none, None)

    def _bounds(self, game: Game) -> _bounds.Bounds:
        family = game.family_for(type(self).__name__, self.family)
        if isinstance(family, families.Gaussian):  # n (q - m)^2 / (2 sigma^2) <= f, solved for q
            return _bounds.GaussianBounds(_level(self, game), family.sigma)
        return _bounds.DivergenceBounds(_level(self, game), family._core())

    def _start(self, game: Game):
        return _optimism.optimism(game.n_arms, self._bounds(game))


@dataclass(frozen=True)
class WideBound(Exploration):
    """The arm with the largest m + alpha w(N): the exploration of UCB_alpha, see `Separation`."""

    leaps: ClassVar[bool] = True
    alpha: float = parameter(wideness, 2.0)
    delta: float | None = parameter(optional(probability), None)
    sigma: float = parameter(scale, 1.0)

    def _start(self, game: Game):
        bounds = _bounds.GaussianBounds(_iterated_level(self, game), self.alpha * self.sigma)
        # w(1) is not defined: log^2(n) must be above delta / 3.
        return _optimism.optimism(game.n_arms, bounds, 2)


def _delta(rule: Any, game: Game) -> float:
    return 1.0 / game.horizon if rule.delta is None else rule.delta


def _iterated_level(rule: WideBound | Separation, game: Game) -> _bounds.Level:
    return _bounds.IteratedLevel(_delta(rule, game))


@dataclass(frozen=True)
class PosteriorSampling(Exploration):
    """The arm with the largest draw from its posterior (Jeffreys' prior)."""

    family: families.Family | None = parameter(family_or_none, None)

    def _start(self, game: Game):
        family = game.family_for(type(self).__name__, self.family)
        return _sampling.Thompson(game.n_arms, family._core())


@dataclass(frozen=True)
class RoundRobin(Exploration):
    """All arms in turn."""

    def _start(self, game: Game):
        return _sampling.RoundRobin()


@dataclass(frozen=True)
class Tracking(Exploration):
    """The arm that lags most behind the proportions w* of the current estimate.

    Garivier and Kaufmann (2016); "C" tracks the sum of the proportions, "D" the last ones.
    """

    tracking: str = parameter(choice("C", "D"), "C")
    family: families.Family | None = parameter(family_or_none, None)

    def _start(self, game: Game):
        family = game.family_for(type(self).__name__, self.family)
        return _tracking.Tracking(game.n_arms, family._core(), self.tracking == "C")


@dataclass(frozen=True)
class Elimination(Exploration):
    """The arms still in doubt in turn, until one is left.

    radius "paper": after every pull an arm is dropped when its m + r is below the best arm's
    m - r, r = sigma sqrt(2 log(1/delta) / N). radius "even-dar": after every sweep an arm is
    dropped when its mean is 2 alpha below the best, alpha = sigma sqrt(2 log(4 K n^2/delta) / n).
    """

    delta: float | None = parameter(optional(probability), None)
    radius: str = parameter(choice("paper", "even-dar"), "paper")
    sigma: float = parameter(scale, 1.0)

    def _start(self, game: Game):
        delta = _delta(self, game)
        if self.radius == "even-dar":
            return _staged.SweepElimination(game.n_arms, delta, self.sigma)
        bounds = _bounds.GaussianBounds(_bounds.FixedLevel(-math.log(delta)), self.sigma)
        return _staged.BoundElimination(game.n_arms, bounds)


@dataclass(frozen=True)
class DoubleExplore(Exploration):
    """The stages of DETC: two arms."""

    sigma: float = parameter(scale, 1.0)

    def _start(self, game: Game):
        _two_arms("DETC", game)
        return _staged.DoubleExplore(game.horizon, self.sigma)


@dataclass(frozen=True)
class DoubleExploreK(Exploration):
    """The stages of DETC-K."""

    sigma: float = parameter(scale, 1.0)

    def _start(self, game: Game):
        return _staged.DoubleExploreK(game.n_arms, game.horizon, self.sigma)


def _two_arms(name: str, game: Game) -> None:
    if game.n_arms != 2:
        raise ValueError(f"{name} is defined for two arms only, got {game.n_arms}")


@dataclass(frozen=True)
class Never(Stopping):
    """Explore to the horizon, or until the exploration says itself that it is done."""

    leaps: ClassVar[bool] = True

    def _start(self, game: Game):
        return _stopping.Never()


@dataclass(frozen=True)
class FixedRound(Stopping):
    """When `round` rounds have been played."""

    leaps: ClassVar[bool] = True
    round: int = parameter(whole(1, LONGEST))

    def _start(self, game: Game):
        return _stopping.FixedRound(self.round)


@dataclass(frozen=True)
class KnownGap(Stopping):
    """When T_c = 8 K l sigma^2 / gap^2 + K rounds have been played: EOCP."""

    leaps: ClassVar[bool] = True
    gap: float = parameter(positive)
    inflation: float = parameter(inflating, 1.0)
    sigma: float = parameter(scale, 1.0)

    def _start(self, game: Game):
        rounds = theory.commit_round_eocp(
            game.n_arms, self.gap, game.horizon, inflation=self.inflation, sigma=self.sigma
        )
        return _stopping.FixedRound(math.floor(min(rounds, LONGEST)))


@dataclass(frozen=True)
class KnownDivergence(Stopping):
    """When T_c = 4 K l / kl + K rounds have been played: KL-EOCP."""

    leaps: ClassVar[bool] = True
    kl: float = parameter(positive)
    inflation: float = parameter(inflating, 1.0)

    def _start(self, game: Game):
        rounds = theory.commit_round_kl_eocp(game.n_arms, self.kl, game.horizon, inflation=self.inflation)
        return _stopping.FixedRound(math.floor(min(rounds, LONGEST)))


@dataclass(frozen=True)
class Imbalance(Stopping):
    """When one arm has more than l times the pulls of every other, plus one: EOCP-UG."""

    leaps: ClassVar[bool] = True
    inflation: float = parameter(inflating, 1.0)

    def _start(self, game: Game):
        return _stopping.Imbalance(theory.exploration(game.horizon, self.inflation))


@dataclass(frozen=True)
class Separation(Stopping):
    """When m - w(N) of the arm with the largest mean is above m + w(N) of all others: UCB_alpha.

    w(n) = sigma sqrt((2/n) log(3 log^2(n) / delta)), delta = 1/T by default.
    """

    delta: float | None = parameter(optional(probability), None)
    sigma: float = parameter(scale, 1.0)

    def _start(self, game: Game):
        return _stopping.Separation(_bounds.GaussianBounds(_iterated_level(self, game), self.sigma))


@dataclass(frozen=True)
class MeanGap(Stopping):
    """When |m_1 - m_2| >= sigma sqrt(8 log(T/t) / t), at even t: BAI-ETC, two arms in turn."""

    sigma: float = parameter(scale, 1.0)

    def _start(self, game: Game):
        _two_arms("BAI-ETC", game)
        return _stopping.MeanGap(self.sigma)


@dataclass(frozen=True)
class LikelihoodRatio(Stopping):
    """When the likelihood ratio of the arm with the largest mean, against every other, is large.

    min over b of N_a d(m_a, m_ab) + N_b d(m_b, m_ab) >= threshold, m_ab the pooled mean. The
    threshold is share * log T if a share is given, else log((1 + log t) / delta) as in
    Track-and-Stop, with delta = 1/T by default.
    """

    share: float | None = parameter(optional(positive), None)
    delta: float | None = parameter(optional(probability), None)
    family: families.Family | None = parameter(family_or_none, None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.share is not None and self.delta is not None:
            raise ValueError(f"share and delta exclude each other, got {self.share!r} and {self.delta!r}")

    def _start(self, game: Game):
        family = game.family_for(type(self).__name__, self.family)._core()
        if self.share is not None:
            return _stopping.LikelihoodRatio(family, self.share * math.log(game.horizon), False)
        return _stopping.LikelihoodRatio(family, -math.log(_delta(self, game)), True)


@dataclass(frozen=True)
class Both(Stopping):
    """When two rules fire at the same round."""

    first: Stopping = parameter(_stopping_rule)
    second: Stopping = parameter(_stopping_rule)

    @property
    def leaps(self) -> bool:
        return self.first.leaps or self.second.leaps

    def _start(self, game: Game):
        return _stopping.Both(self.first._start(game), self.second._start(game))


@dataclass(frozen=True)
class Either(Stopping):
    """When the first of two rules fires."""

    first: Stopping = parameter(_stopping_rule)
    second: Stopping = parameter(_stopping_rule)

    @property
    def leaps(self) -> bool:
        return self.first.leaps and self.second.leaps

    def _start(self, game: Game):
        return _stopping.Either(self.first._start(game), self.second._start(game))


@dataclass(frozen=True)
class LowerBound(Commitment):
    """The arm with the largest m - sigma sqrt(2 l / N)."""

    inflation: float = parameter(inflating, 1.0)
    sigma: float = parameter(scale, 1.0)

    def _start(self, game: Game, explore: Any):
        bounds = UpperBound(inflation=self.inflation, sigma=self.sigma)._bounds(game)
        return _commitment.LargestLower(game.n_arms, bounds)


@dataclass(frozen=True)
class KLLowerBound(Commitment):
    """The arm with the largest lower bound q: the smallest q <= m with N d(m, q) <= l."""

    inflation: float = parameter(inflating, 1.0)
    family: families.Family | None = parameter(family_or_none, None)

    def _start(self, game: Game, explore: Any):
        bounds = KLUpperBound(inflation=self.inflation, family=self.family)._bounds(game)
        return _commitment.LargestLower(game.n_arms, bounds)


@dataclass(frozen=True)
class LargestMean(Commitment):
    """The arm with the largest mean."""

    def _start(self, game: Game, explore: Any):
        return _commitment.LargestMean(game.n_arms)


@dataclass(frozen=True)
class MostPulled(Commitment):
    """The arm pulled most often."""

    def _start(self, game: Game, explore: Any):
        return _commitment.MostPulled(game.n_arms)


@dataclass(frozen=True)
class Recommended(Commitment):
    """The arm that an exploration in stages recommends: elimination, DETC, DETC-K."""

    def _start(self, game: Game, explore: Any):
        return _commitment.Recommended(explore)


# Explorations that end by themselves and recommend an arm.
STAGED = (Elimination, DoubleExplore, DoubleExploreK)
