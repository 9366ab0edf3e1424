"""Policies for small regret that are no part of the paper; none of them commits."""

from __future__ import annotations

from typing import ClassVar

from robai import rules
from robai._base.spec import parameter, spec
from robai.policies.base import BasePolicy, Parts
from robai.rules.parameters import ANYTIME, ANYTIME_ALPHA, SIGMA, Sigma


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
