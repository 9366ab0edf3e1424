"""LeadCommit, the policy of this package."""

from __future__ import annotations

from typing import ClassVar

from robai import families, rules
from robai._base.spec import Field, Pairs, parameter, spec
from robai.families import FamilyLike
from robai.policies.base import BasePolicy, Parts
from robai.rules.parameters import BAR, DELTA, EXPONENT, FACTOR, FAMILY, Bar


@spec
class LeadCommit(BasePolicy):
    """Play the leader, and arms in doubt the less the more speaks against them; commit when none is left.

    L is the arm with the largest mean, Z_b = N_L d(m_L, m) + N_b d(m_b, m), m the pooled mean, the likelihood
    ratio that speaks against arm b, which is in doubt while Z_b is below its bar: log T - log(N_L + N_b),
    unless the level is another. After one pull of every arm L is played while N_L < (1 + factor Z_b^exponent)
    N_b for all b in doubt, else the arm for which the right-hand side is smallest. When no arm is in doubt,
    the rest of the rounds are L's. Any number of arms and any family.

    Proved, for rewards that are sigma-sub-Gaussian and the evidence of Gaussian ones, gaps that are fixed and
    a single best arm: a wrong commitment has probability O(1/T). With two arms of gap D and exponent e,
    regret is at most (2 sigma^2 / D) log T + O(log^(1-e) T + sqrt(log T)), the constant of Lai and Robbins,
    and the commitment is expected within O(log^(1+e) T) rounds: O(sqrt(log T)) and O(log^1.5 T) by default.
    We know of no published policy with these properties. Not proved: regret and commitment with more arms,
    and everything for other families. Measured: docs/lead-commit.md, weaknesses included.

    The error grows as gaps shrink, T times its probability about as 1/gap^2. Where many arms are nearly
    equal, or an error is dear, take level "pulls".

    Parameters
    ----------
    exponent
        e of the share 1 + factor Z^e, 0 < e <= 1. A larger one has less regret and commits later.
    factor
        Of that share; a larger one has less regret and commits later.
    level
        The bar: "ratio", log T - log(N_L + N_b); "pulls", log T - log min(N_L, N_b), with a lower error at
        1.1 to 1.8 times the regret; "horizon", log T, with an error near 1/T whatever the gap, at 1.2 to 4.6
        times the regret.
    delta
        Aim at this probability of error, whatever T: the bar is log((K-1) / delta) + log(1 + log(N_L + N_b)),
        practical and without a proof. It takes the place of the level.

    Examples
    --------
    >>> import robai
    >>> policies = [robai.LeadCommit(), robai.EOCPUG()]
    >>> played = robai.compare(policies, robai.Gaussian([0.7, 0.2]), 10**5, 1000, rng=0)
    >>> [(round(each.regret[-1].item(), 1), each.digest().commit_median) for each in played.values()]
    [(26.2, 316.0), (31.8, 972.0)]
    """

    exclusive: ClassVar[Pairs] = (("level", "delta"),)
    exponent: float = parameter(EXPONENT, default=0.5)
    factor: float = parameter(FACTOR, default=2.0)
    level: Bar = parameter(BAR, default="ratio")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)
    delta: float | None = parameter(DELTA, default=None)

    def parts(self) -> Parts:
        explore = rules.Lead(self.exponent, self.factor, self.level, self.delta, self.family)
        if self.delta is None:
            stop = rules.LikelihoodRatio(family=self.family, level=self.level)
        else:
            stop = rules.LikelihoodRatio(delta=self.delta, family=self.family, threshold="pair")
        return Parts(explore, stop, rules.LargestMean())
