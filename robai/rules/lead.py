"""How LeadCommit explores."""

from __future__ import annotations

from typing import ClassVar

from robai import families
from robai._base.spec import Field, Pairs, parameter, spec
from robai._core import explore_lead, protocols
from robai._core.thresholds import HorizonThreshold, PairThreshold
from robai.families import FamilyLike
from robai.rules.explore import Exploration
from robai.rules.game import Game
from robai.rules.parameters import BAR, DELTA, EXPONENT, FACTOR, FAMILY, Bar


@spec
class Lead(Exploration):
    """The arm with the largest mean, L, and the arms in doubt in proportions that the evidence sets.

    The evidence against b is the likelihood ratio Z_b = N_L d(m_L, m) + N_b d(m_b, m), m the pooled mean. L
    is played while N_L < (1 + factor Z_b^exponent) N_b for every b in doubt, else the one for which the
    right-hand side, its claim, is smallest. Ties, of means or of claims, are broken uniformly.

    An arm is in doubt while Z_b is below a bar: log(T / (N_L + N_b)) if level is "ratio", log(T / min(N_L,
    N_b)) if "pulls", log T if "horizon"; with delta it is log((K-1) (1 + log(N_L + N_b)) / delta), and no T.
    That is where `LikelihoodRatio` with the same level (or with delta and threshold="pair") stops. With
    another stopping rule exploration may go on when no arm is in doubt: then L is played, until one is again.

    Parameters
    ----------
    level
        Of the bar, see above.
    delta
        The probability of error that the bar is for, in place of the level.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(Lead(), robai.rules.LikelihoodRatio(level="ratio"))
    >>> robai.simulate(policy, robai.Gaussian([0.7, 0.2]), 10**5, 1000, rng=0).digest().commit_median
    316.0
    """

    exclusive: ClassVar[Pairs] = (("level", "delta"),)
    exponent: float = parameter(EXPONENT, default=0.5)
    factor: float = parameter(FACTOR, default=2.0)
    level: Bar = parameter(BAR, default="ratio")
    delta: float | None = parameter(DELTA, default=None)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def start(self, game: Game) -> protocols.Exploration:
        family = game.family_for(self)._core(game.n_arms)
        bar = (
            HorizonThreshold(game.horizon, self.level)
            if self.delta is None
            else PairThreshold(self.delta, game.n_arms)
        )
        return explore_lead.Lead(game.n_arms, family, bar, self.exponent, self.factor)
