"""The policies of the paper: explore optimistically, commit pessimistically."""

from __future__ import annotations

from typing import ClassVar

from robai import families, rules
from robai._base.spec import Field, parameter, spec
from robai.families import FamilyLike
from robai.policies.base import BasePolicy, Parts
from robai.rules.parameters import FAMILY, GAP, GUARD, INFLATION, KL, SIGMA, Sigma


@spec
class EOCP(BasePolicy):
    """Explore optimistically, then commit pessimistically (the paper, Algorithm 1).

    Plays the largest m + sigma sqrt(2 l / N), l = log T + inflation sqrt(log T), for
    T_c = 8 K l sigma^2 / gap^2 + K rounds, then for ever the arm with the largest
    m - sigma sqrt(2 l / N). For Gaussian arms, with a gap no larger than the smallest true one
    and inflation = 4 sqrt 2, regret is asymptotically optimal, the commitment time O(log T)
    and the probability of a wrong commitment O(1/T) (Theorem 1).

    Parameters
    ----------
    gap : float
        A lower bound on the gap between the best mean and the second.
    inflation : float
        c in l = log T + c sqrt(log T). 1 is what the authors' experiments with two arms use;
        `robai.theory.INFLATION`, 4 sqrt 2, is the value of the theorems.
    sigma : float, one an arm, or None
        Standard deviation (sub-Gaussian parameter) of the rewards; if None the smallest known to hold.
    """

    instead: ClassVar[str] = "KLEOCP(kl)"
    gap: float = parameter(GAP)
    inflation: float = parameter(INFLATION, default=1.0)
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(
            rules.UpperBound(inflation=self.inflation, sigma=self.sigma),
            rules.KnownGap(self.gap, self.inflation, self.sigma),
            rules.LowerBound(self.inflation, self.sigma),
        )


@spec
class EOCPUG(BasePolicy):
    """EOCP with an unknown gap (the paper, Algorithm 2).

    As `EOCP`, but exploration ends when one arm has N_a - l N_b > 1 for every other arm b.
    Asymptotically optimal regret, a commitment time of O(log^2 T) (not O(log T): the price of
    not knowing the gap) and a wrong commitment with probability O(1/T) (Theorem 2).
    """

    instead: ClassVar[str] = "KLEOCPUG()"
    inflation: float = parameter(INFLATION, default=1.0)
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(
            rules.UpperBound(inflation=self.inflation, sigma=self.sigma),
            rules.Imbalance(self.inflation),
            rules.LowerBound(self.inflation, self.sigma),
        )


@spec
class KLEOCP(BasePolicy):
    """EOCP with the bounds of KL-UCB (the paper, Algorithm 3).

    Plays the largest q with N d(m, q) <= l for T_c = 4 K l / kl + K rounds, then for ever the
    arm with the largest lower bound. (The algorithm prints kl^2; the proof, and the claim that
    the commitment time is O(log T / kl), need kl.) Optimal regret for one-parameter exponential
    families, commitment in O(log T), wrong with probability O(1/T) (Theorem 4).

    Parameters
    ----------
    kl : float
        A lower bound on KL_min, see `robai.theory.kl_min`.
    inflation : float
        c in l = log T + c sqrt(log T).
    family : family, name or None
        Whose divergence d; that of the rewards if None. "bernoulli" serves any reward in [0, 1].
    """

    kl: float = parameter(KL)
    inflation: float = parameter(INFLATION, default=1.0)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def parts(self) -> Parts:
        return Parts(
            rules.KLUpperBound(inflation=self.inflation, family=self.family),
            rules.KnownDivergence(self.kl, self.inflation),
            rules.KLLowerBound(self.inflation, self.family),
        )


@spec
class KLEOCPUG(BasePolicy):
    """KL bounds with the adaptive stop of EOCP-UG, guarded by a likelihood ratio.

    Exploration ends when the imbalance rule fires and, for the arm a with the largest mean,
    min over b of N_a d(m_a, m_ab) + N_b d(m_b, m_ab) >= guard log T.

    guard = 0 is what the paper remarks in passing. It is not safe for Bernoulli arms with means
    near 1: an arm that starts with a run of successes keeps an index of 1, starves the others
    and ends exploration. Means 0.95 and 0.9 at T = 1e5 then give 3.8 % wrong commitments, means
    0.9, 0.8, 0.5 and 0.1 at T = 5e4 0.9 %; with the default they give about 0.01 %, at hardly any
    price elsewhere. No theorem covers either version.

    Parameters
    ----------
    inflation : float
        c in l = log T + c sqrt(log T).
    guard : float
        The likelihood ratio that is asked for, in units of log T.
    family : family, name or None
        Whose divergence d; that of the rewards if None.
    """

    inflation: float = parameter(INFLATION, default=1.0)
    guard: float = parameter(GUARD, default=0.7)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def parts(self) -> Parts:
        stop: rules.Stopping = rules.Imbalance(self.inflation)
        if self.guard > 0.0:
            stop = stop & rules.LikelihoodRatio(share=self.guard, family=self.family)
        return Parts(
            rules.KLUpperBound(inflation=self.inflation, family=self.family),
            stop,
            rules.KLLowerBound(self.inflation, self.family),
        )
