"""Policies for small regret that are no part of the paper; none of them commits."""

from __future__ import annotations

from typing import ClassVar

from robai import families, rules
from robai._base.spec import Field, parameter, spec
from robai.families import FamilyLike
from robai.policies.base import BasePolicy, Parts
from robai.rules.parameters import ANYTIME, ANYTIME_ALPHA, FAMILY, SIGMA, Sigma


@spec
class MOSS(BasePolicy):
    """The arm with the largest m + sigma sqrt(2 f / N), f = 2 log+(T / (K N)); never commits.

    Audibert and Bubeck (2009): minimax, regret O(sqrt(K T)) whatever the means. It is not asymptotically
    optimal: with a gap that stays, UCB has less. Rewards in [0, 1] have sigma = 1/2, with which this is the
    printed index m + sqrt(log+(T / (K N)) / N).

    Parameters
    ----------
    anytime : bool
        Without a horizon: f = (1 + alpha) log+(t / (K N)), Degenne and Perchet (2016), minimax at every t.
    alpha : float
        Of the anytime version; 1.35 is what its authors play.
    sigma : float, one an arm, or None
        Standard deviation (sub-Gaussian parameter) of the rewards; if None the smallest known to hold.
    """

    instead: ClassVar[str] = "KLUCB(level='++')"
    anytime: bool = parameter(ANYTIME, default=False)
    alpha: float = parameter(ANYTIME_ALPHA, default=1.35)
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        explore: rules.Optimism = rules.UpperBound("moss", sigma=self.sigma)
        if self.anytime:
            explore = rules.AnytimeMoss(self.alpha, self.sigma)
        return Parts(explore, rules.Never(), rules.LargestMean())


@spec
class IMED(BasePolicy):
    """The arm with the smallest N d(m, M) + log N, where M is the largest mean; never commits.

    Indexed minimum empirical divergence of Honda and Takemura (2015): asymptotically optimal regret, proved there
    for rewards bounded from above with the least divergence from an empirical distribution. Here d is that of
    a one-parameter exponential family between means, which for Bernoulli rewards is the same. It needs neither the
    horizon nor the round. No theorem is known to us for a variance that has to be estimated, and IMED refuses it.

    Parameters
    ----------
    family : family, name or None
        Whose divergence d; that of the rewards if None. "bernoulli" serves any reward in [0, 1].
    """

    instead: ClassVar[str] = "KLUCB()"
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def parts(self) -> Parts:
        return Parts(rules.MinimumDivergence(self.family), rules.Never(), rules.LargestMean())
