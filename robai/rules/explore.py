"""How to explore."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from robai import families
from robai._base.checks import above, positive, probability
from robai._base.spec import Spec, choice, nonnegative, optional, parameter
from robai._core import bounds, explore_index, explore_sampling, explore_stages
from robai.rules.game import Game, family_or_none
from robai.rules.level import LEVELS, delta_of, iterated_level, level_of


class Exploration(Spec):
    """How to explore."""

    leaps: ClassVar[bool] = False  # does it pull the arm with the largest index


@dataclass(frozen=True)
class UpperBound(Exploration):
    """The arm with the largest m + sigma sqrt(2 f / N).

    The level f is log T + inflation sqrt(log T) for "horizon", log(T/N) for "ratio", log t for
    "round" and log+(y (1 + log+(y)^2)) with y = T / (K N) for "++".
    """

    leaps: ClassVar[bool] = True
    level: str = parameter(choice(*LEVELS), "horizon")
    inflation: float = parameter(nonnegative, 0.0)
    sigma: float = parameter(positive, 1.0)

    def _bounds(self, game: Game) -> bounds.Bounds:
        return bounds.GaussianBounds(level_of(self, game), self.sigma)

    def _start(self, game: Game):
        return explore_index.optimism(game.n_arms, self._bounds(game))


@dataclass(frozen=True)
class KLUpperBound(Exploration):
    """The arm with the largest q such that N d(m, q) <= f; levels f as for `UpperBound`."""

    leaps: ClassVar[bool] = True
    level: str = parameter(choice(*LEVELS), "horizon")
    inflation: float = parameter(nonnegative, 0.0)
    family: families.Family | None = parameter(family_or_none, None)

    def _bounds(self, game: Game) -> bounds.Bounds:
        family = game.family_for(type(self).__name__, self.family)
        if isinstance(family, families.Gaussian):  # n (q - m)^2 / (2 sigma^2) <= f, solved for q
            return bounds.GaussianBounds(level_of(self, game), family.sigma)
        return bounds.DivergenceBounds(level_of(self, game), family._core())

    def _start(self, game: Game):
        return explore_index.optimism(game.n_arms, self._bounds(game))


@dataclass(frozen=True)
class WideBound(Exploration):
    """The arm with the largest m + alpha w(N): the exploration of UCB_alpha, see `Separation`."""

    leaps: ClassVar[bool] = True
    alpha: float = parameter(lambda name, value: above(name, value, 1.0), 2.0)
    delta: float | None = parameter(optional(probability), None)
    sigma: float = parameter(positive, 1.0)

    def _start(self, game: Game):
        wide = bounds.GaussianBounds(iterated_level(self, game), self.alpha * self.sigma)
        # w(1) is not defined: log^2(n) must be above delta / 3.
        return explore_index.optimism(game.n_arms, wide, 2)


@dataclass(frozen=True)
class PosteriorSampling(Exploration):
    """The arm with the largest draw from its posterior (Jeffreys' prior)."""

    family: families.Family | None = parameter(family_or_none, None)

    def _start(self, game: Game):
        family = game.family_for(type(self).__name__, self.family)
        return explore_sampling.Thompson(game.n_arms, family._core())


@dataclass(frozen=True)
class RoundRobin(Exploration):
    """All arms in turn."""

    def _start(self, game: Game):
        return explore_sampling.RoundRobin()


@dataclass(frozen=True)
class Tracking(Exploration):
    """The arm that lags most behind the proportions w* of the current estimate.

    Garivier and Kaufmann (2016); "C" tracks the sum of the proportions, "D" the last ones.
    """

    tracking: str = parameter(choice("C", "D"), "C")
    family: families.Family | None = parameter(family_or_none, None)

    def _start(self, game: Game):
        family = game.family_for(type(self).__name__, self.family)
        return explore_sampling.Tracking(game.n_arms, family._core(), self.tracking == "C")


@dataclass(frozen=True)
class Elimination(Exploration):
    """The arms still in doubt in turn, until one is left.

    radius "paper": after every pull an arm is dropped when its m + r is below the best arm's
    m - r, r = sigma sqrt(2 log(1/delta) / N). radius "even-dar": after every sweep an arm is
    dropped when its mean is 2 alpha below the best, alpha = sigma sqrt(2 log(4 K n^2/delta) / n).
    """

    delta: float | None = parameter(optional(probability), None)
    radius: str = parameter(choice("paper", "even-dar"), "paper")
    sigma: float = parameter(positive, 1.0)

    def _start(self, game: Game):
        delta = delta_of(self, game)
        if self.radius == "even-dar":
            return explore_stages.SweepElimination(game.n_arms, delta, self.sigma)
        narrow = bounds.GaussianBounds(bounds.FixedLevel(-math.log(delta)), self.sigma)
        return explore_stages.BoundElimination(game.n_arms, narrow)


@dataclass(frozen=True)
class DoubleExplore(Exploration):
    """The stages of DETC: two arms."""

    sigma: float = parameter(positive, 1.0)

    def _start(self, game: Game):
        game.need_two_arms("DETC")
        return explore_stages.DoubleExplore(game.horizon, self.sigma)


@dataclass(frozen=True)
class DoubleExploreK(Exploration):
    """The stages of DETC-K."""

    sigma: float = parameter(positive, 1.0)

    def _start(self, game: Game):
        return explore_stages.DoubleExploreK(game.n_arms, game.horizon, self.sigma)


# Explorations that end by themselves and recommend an arm.
STAGED = (Elimination, DoubleExplore, DoubleExploreK)
