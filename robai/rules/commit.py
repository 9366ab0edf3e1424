"""Which arm to commit to."""

from __future__ import annotations

from typing import ClassVar

from robai import families
from robai._base.spec import Field, Part, parameter, spec
from robai._core import commitment, protocols
from robai._core.bounds import GaussianBounds
from robai.families import FamilyLike
from robai.rules.bernstein import bernstein_bounds
from robai.rules.game import Game
from robai.rules.level import horizon_level, kl_bounds
from robai.rules.parameters import FAMILY, INFLATION, SIGMA, Sigma


class Commitment(Part):
    """Which arm to commit to.

    Examples
    --------
    >>> import robai
    >>> isinstance(robai.EOCP(gap=0.5).parts().commit, Commitment)
    True
    """

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        """The compiled rule, for a game.

        Parameters
        ----------
        game : Game
            The number of arms, the horizon and what the rewards are.
        explore : compiled exploration
            That it belongs to.

        Returns
        -------
        compiled commitment

        Examples
        --------
        >>> from robai import rules
        >>> game = Game.of(2, 1000, families.Gaussian(1.0))
        >>> type(LowerBound().start(game, rules.UpperBound().start(game))).__name__
        'LargestLower'
        """
        raise NotImplementedError


@spec
class LowerBound(Commitment):
    """The arm with the largest m - sigma sqrt(2 l / N).

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.UCB(), robai.rules.FixedRound(100), LowerBound())
    >>> robai.simulate(policy, robai.Gaussian([1, 0]), 1000, 1000, rng=0).wrong_commit().count
    0
    """

    instead: ClassVar[str] = "KLLowerBound"
    inflation: float = parameter(INFLATION, default=1.0)
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        bounds = GaussianBounds(horizon_level(self, game), game.scales(self))
        return commitment.LargestLower(game.n_arms, bounds)


@spec
class KLLowerBound(Commitment):
    """The arm with the largest lower bound q: the smallest q <= m with N d(m, q) <= l.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.KLUCB(), robai.rules.FixedRound(100), KLLowerBound())
    >>> robai.simulate(policy, robai.Bernoulli([0.7, 0.2]), 1000, 1000, rng=0).wrong_commit().count
    0
    """

    inflation: float = parameter(INFLATION, default=1.0)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        return commitment.LargestLower(game.n_arms, kl_bounds(self, horizon_level(self, game), game))


@spec
class BernsteinLower(Commitment):
    """The arm with the largest m - s sqrt(2 l / N) - 3 b l / N, see `BernsteinBound`.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.UCBV(), robai.rules.FixedRound(500), BernsteinLower())
    >>> bandit = robai.Beta([0.7, 0.2], concentration=10.0)
    >>> robai.simulate(policy, bandit, 1000, 100, rng=0).wrong_commit().count
    0
    """

    instead: ClassVar[str] = "KLLowerBound"
    inflation: float = parameter(INFLATION, default=1.0)

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        return commitment.LargestLower(game.n_arms, bernstein_bounds(self, game, horizon_level(self, game)))


@spec
class LargestMean(Commitment):
    """The arm with the largest mean.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.rules.RoundRobin(), robai.rules.FixedRound(20), LargestMean())
    >>> robai.simulate(policy, robai.Gaussian([1, 0]), 1000, 1000, rng=0).wrong_commit().count
    19
    """

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        return commitment.LargestMean(game.n_arms)


@spec
class MostPulled(Commitment):
    """The arm pulled most often.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.UCB(), robai.EOCPUG(), MostPulled())
    >>> robai.simulate(policy, robai.Gaussian([1, 0]), 10**4, 1000, rng=0).wrong_commit().count
    0
    """

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        return commitment.MostPulled(game.n_arms)


@spec
class Recommended(Commitment):
    """The arm that an exploration in stages recommends: elimination, DETC, DETC-K.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.rules.Elimination(), commit=Recommended())
    >>> robai.simulate(policy, robai.Gaussian([1, 0]), 10**4, 1000, rng=0).wrong_commit().count
    0
    """

    def start(self, game: Game, explore: protocols.Exploration) -> protocols.Commitment:
        return commitment.Recommended(explore)
