"""Which arm to commit to."""

from __future__ import annotations

from typing import ClassVar

from robai import families
from robai._base.spec import Field, Part, parameter, spec
from robai._core import protocols, stopping
from robai._core.bounds import GaussianBounds
from robai.families import FamilyLike
from robai.rules.bernstein import bernstein_bounds
from robai.rules.game import Game
from robai.rules.level import horizon_level, kl_bounds
from robai.rules.parameters import FAMILY, INFLATION, SIGMA, Sigma


class Commitment(Part):
    """Which arm to commit to."""

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        """The compiled rule, for a game; `explore` is the exploration that it belongs to."""
        raise NotImplementedError


@spec
class LowerBound(Commitment):
    """The arm with the largest m - sigma sqrt(2 l / N)."""

    instead: ClassVar[str] = "KLLowerBound"
    inflation: float = parameter(INFLATION, default=1.0)
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        bounds = GaussianBounds(horizon_level(self, game), game.scales(self))
        return stopping.LargestLower(game.n_arms, bounds)


@spec
class KLLowerBound(Commitment):
    """The arm with the largest lower bound q: the smallest q <= m with N d(m, q) <= l."""

    inflation: float = parameter(INFLATION, default=1.0)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        return stopping.LargestLower(game.n_arms, kl_bounds(self, horizon_level(self, game), game))


@spec
class BernsteinLower(Commitment):
    """The arm with the largest m - s sqrt(2 l / N) - 3 b l / N, see `BernsteinBound`."""

    instead: ClassVar[str] = "KLLowerBound"
    inflation: float = parameter(INFLATION, default=1.0)

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        return stopping.LargestLower(game.n_arms, bernstein_bounds(self, game, horizon_level(self, game)))


@spec
class LargestMean(Commitment):
    """The arm with the largest mean."""

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        return stopping.LargestMean(game.n_arms)


@spec
class MostPulled(Commitment):
    """The arm pulled most often."""

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        return stopping.MostPulled(game.n_arms)


@spec
class Recommended(Commitment):
    """The arm that an exploration in stages recommends: elimination, DETC, DETC-K."""

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        return stopping.Recommended(explore)
