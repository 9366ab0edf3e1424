"""How to explore in stages, the last of which recommends an arm."""

from __future__ import annotations

import math
from typing import ClassVar

from robai._base.spec import parameter, spec
from robai._core import explore_stages, protocols
from robai._core.bounds import GaussianBounds
from robai._core.levels import FixedLevel
from robai.rules.explore import Exploration
from robai.rules.game import Game
from robai.rules.level import delta_of
from robai.rules.parameters import DELTA, RADIUS, SIGMA, Radius, Sigma


@spec
class Elimination(Exploration):
    """The arms still in doubt in turn, until one is left.

    radius "paper": after every pull an arm is dropped when its m + r is below the best arm's
    m - r, r = sigma sqrt(2 log(1/delta) / N). radius "even-dar": after every sweep an arm is
    dropped when its mean is 2 alpha below the best, alpha = sigma sqrt(2 log(4 K n^2/delta) / n).

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(Elimination(delta=0.01), commit=robai.rules.Recommended())
    >>> robai.simulate(policy, robai.Gaussian([1.0, 0.5, 0.0]), 10**4, 100, rng=0).digest().commit_median
    323.0
    """

    instead: ClassVar[str] = ""
    delta: float | None = parameter(DELTA, default=None)
    radius: Radius = parameter(RADIUS, default="paper")
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Exploration:
        delta = delta_of(self, game)
        if self.radius == "even-dar":
            return explore_stages.SweepElimination(game.n_arms, delta, game.scales(self).max())
        narrow = GaussianBounds(FixedLevel(-math.log(delta)), game.scales(self))
        return explore_stages.BoundElimination(game.n_arms, narrow)


@spec
class DoubleExplore(Exploration):
    """The stages of DETC: two arms.

    Examples
    --------
    >>> import robai
    >>> robai.DETC(sigma=0.5).parts().explore
    DoubleExplore(sigma=0.5)
    """

    instead: ClassVar[str] = ""
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Exploration:
        game.need_two_arms("DETC")
        return explore_stages.DoubleExplore(game.horizon, game.scale(self))


@spec
class DoubleExploreK(Exploration):
    """The stages of DETC-K.

    Examples
    --------
    >>> import robai
    >>> robai.DETCK(sigma=0.5).parts().explore
    DoubleExploreK(sigma=0.5)
    """

    instead: ClassVar[str] = ""
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Exploration:
        return explore_stages.DoubleExploreK(game.n_arms, game.horizon, game.scale(self))
