"""Which arm to commit to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robai import families
from robai._base.checks import positive
from robai._base.spec import Spec, nonnegative, parameter
from robai._core import stopping
from robai.rules.explore import KLUpperBound, UpperBound
from robai.rules.game import Game, family_or_none


class Commitment(Spec):
    """Which arm to commit to."""


@dataclass(frozen=True)
class LowerBound(Commitment):
    """The arm with the largest m - sigma sqrt(2 l / N)."""

    inflation: float = parameter(nonnegative, 1.0)
    sigma: float = parameter(positive, 1.0)

    def _start(self, game: Game, explore: Any):
        bounds = UpperBound(inflation=self.inflation, sigma=self.sigma)._bounds(game)
        return stopping.LargestLower(game.n_arms, bounds)


@dataclass(frozen=True)
class KLLowerBound(Commitment):
    """The arm with the largest lower bound q: the smallest q <= m with N d(m, q) <= l."""

    inflation: float = parameter(nonnegative, 1.0)
    family: families.Family | None = parameter(family_or_none, None)

    def _start(self, game: Game, explore: Any):
        bounds = KLUpperBound(inflation=self.inflation, family=self.family)._bounds(game)
        return stopping.LargestLower(game.n_arms, bounds)


@dataclass(frozen=True)
class LargestMean(Commitment):
    """The arm with the largest mean."""

    def _start(self, game: Game, explore: Any):
        return stopping.LargestMean(game.n_arms)


@dataclass(frozen=True)
class MostPulled(Commitment):
    """The arm pulled most often."""

    def _start(self, game: Game, explore: Any):
        return stopping.MostPulled(game.n_arms)


@dataclass(frozen=True)
class Recommended(Commitment):
    """The arm that an exploration in stages recommends: elimination, DETC, DETC-K."""

    def _start(self, game: Game, explore: Any):
        return stopping.Recommended(explore)
