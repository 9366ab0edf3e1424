"""The policies of the paper: explore optimistically, commit pessimistically."""

from __future__ import annotations

from typing import ClassVar

from robai import families, rules
from robai._base.spec import Field, Pairs, parameter, spec
from robai.families import FamilyLike
from robai.policies.base import BasePolicy, Parts
from robai.rules.parameters import BOUNDS, FAMILY, GAP, GUARD, INFLATION, KL, SIGMA, BoundsName, Sigma


@spec
class EOCP(BasePolicy):
    """Explore optimistically, then commit pessimistically (the paper, Algorithm 1).

    Plays the largest m + sigma sqrt(2 l / N), l = log T + inflation sqrt(log T), for T_c = 8 K l sigma^2 /
    gap^2 + K rounds, then for ever the arm with the largest m - sigma sqrt(2 l / N). For Gaussian arms, with
    a gap no larger than the smallest true one and inflation = 4 sqrt 2, regret is asymptotically optimal, the
    commitment time O(log T) and the probability of a wrong commitment O(1/T) (theorem theo:optimalfixed). For
    two Gaussian arms and a gap below sqrt(2) times the true one that probability is O(1/T) for every
    inflation.

    Parameters
    ----------
    inflation
        c in l = log T + c sqrt(log T). 1 is what the authors' experiments with two arms use;
        `robai.theory.INFLATION`, 4 sqrt 2, is the value of the theorems.

    Examples
    --------
    >>> import robai
    >>> played = robai.simulate(robai.EOCP(gap=0.5), robai.Gaussian([0.7, 0.2]), 10**6, 1000, rng=0)
    >>> int(played.commit_time[0]), round(played.regret[-1].item(), 1), played.wrong_commit().count
    (1124, 38.0, 0)
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

    As `EOCP`, but exploration ends when one arm has N_a - l N_b > 1 for every other arm b. Asymptotically
    optimal regret and a commitment time of O(log^2 T), not O(log T): the price of not knowing the gap
    (theorem theo:optimalug).

    A wrong commitment has probability O(1/T) for the inflation of the theorem's proof, 4 sqrt 2. For two
    Gaussian arms it has exactly if inflation >= 2 - sqrt(2) gap / sigma: with 1, the default and what the
    paper's experiments use, for gaps of at least 0.707 sigma, with 2 for all. Below, T times that probability
    grows, but slowly: from 0.72 at T = 10^4 to 0.89 at 10^16 for inflation 1 and gap sigma / 2.

    Parameters
    ----------
    bounds
        "gaussian", or "bernstein" for rewards in an interval: bounds by their variances, see
        `rules.BernsteinBound`, and exploration ends only when those at level 0.7 log T are separate, too. No
        theorem covers it; it commits once 3 (high - low) l / N is well below the gap.

    Examples
    --------
    >>> import robai
    >>> played = robai.simulate(robai.EOCPUG(), robai.Gaussian([0.7, 0.2]), 10**6, 1000, rng=0)
    >>> played.digest().commit_median, round(played.regret[-1].item(), 1), played.wrong_commit().count
    (1410.0, 40.6, 0)
    """

    instead: ClassVar[str] = "KLEOCPUG()"
    exclusive: ClassVar[Pairs] = (("bounds", "sigma"),)
    inflation: float = parameter(INFLATION, default=1.0)
    sigma: Sigma = parameter(SIGMA, default=None)
    bounds: BoundsName = parameter(BOUNDS, default="gaussian")

    def parts(self) -> Parts:
        if self.bounds == "bernstein":
            return Parts(
                rules.BernsteinBound(inflation=self.inflation),
                rules.Imbalance(self.inflation) & rules.Separation(bounds="bernstein", share=0.7),
                rules.BernsteinLower(self.inflation),
            )
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
    the commitment time is O(log T / kl), need kl.) For one-parameter exponential families, with kl at
    most KL_min and inflation = 4 sqrt 2, regret is asymptotically optimal, the commitment time O(log T)
    and the probability of a wrong commitment O(1/T) (theorem theo:optimalklfixed). The default is 1.

    Parameters
    ----------
    inflation
        c in l = log T + c sqrt(log T). `robai.theory.INFLATION`, 4 sqrt 2, is the value of the theorem.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Bernoulli([0.7, 0.2])
    >>> played = robai.simulate(robai.KLEOCP(kl=robai.theory.kl_min(bandit)), bandit, 10**6, 1000, rng=0)
    >>> int(played.commit_time[0]), round(played.regret[-1].item(), 1), played.wrong_commit().count
    (264, 8.6, 0)
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
    min over b of N_a d(m_a, m_ab) + N_b d(m_b, m_ab) >= guard log T. It commits to that arm. While N_a N_b <=
    M, b the best arm, it is wrong with probability 4 (K-1) sqrt(M) T^-guard at most if rewards are in [0, 1];
    (K-1) (1 + y) sqrt(M) T^-guard, y = guard log T - log(M) / 2 >= 0, if they are Gaussian.

    guard = 0 is what the paper remarks in passing, and commits to the largest lower bound. Its wrong
    commitments are not O(1/T): two Bernoulli arms have them with probability (1 - mu_1) mu_2^(l + 2) at
    least, which falls more slowly than 1/T if mu_2 > 1/e. An arm that starts with a run of successes keeps an
    index of 1, starves the others and ends exploration. Means 0.95 and 0.9 at T = 1e5 give 3.9 %.

    guard = 0.7, the default, has no theorem. T times the probability of a wrong commitment was 2 to 5 for
    these means, and growing, at horizons up to 1e8, below 0.3 on the others that were tried.

    guard = 1 had at most 0.13, falling with T, in all settings tried. With inflation = 2 it commits in less
    than half the time: `KLEOCPUG.safe()`.

    Examples
    --------
    >>> import robai
    >>> policies, bandit = [robai.KLEOCPUG(guard=0), robai.KLEOCPUG()], robai.Bernoulli([0.95, 0.9])
    >>> played = robai.compare(policies, bandit, 10**5, 1000, rng=0)
    >>> [each.wrong_commit().count for each in played.values()]
    [42, 0]
    """

    inflation: float = parameter(INFLATION, default=1.0)
    guard: float = parameter(GUARD, default=0.7)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def parts(self) -> Parts:
        explore = rules.KLUpperBound(inflation=self.inflation, family=self.family)
        stop = rules.Imbalance(self.inflation)
        if self.guard == 0.0:
            return Parts(explore, stop, rules.KLLowerBound(self.inflation, self.family))
        guard = rules.LikelihoodRatio(share=self.guard, family=self.family)
        return Parts(explore, stop & guard, rules.LargestMean())

    @classmethod
    def safe(cls, family: FamilyLike | None = None) -> KLEOCPUG:
        """For where a wrong commitment is dear: inflation 2 and guard 1.

        The imbalance rule then holds when the likelihood ratio is about log T, and T times the probability of
        a wrong commitment falls with T in all settings tried. At T = 1e5 it had 1.4 to 1.5 times the regret
        of the default, and committed 2.1 to 2.3 times as late. That is measured; what is proved of a guard is
        said above, and with `rules.Certificate` as the guard it is P(wrong) <= 1/T.

        Parameters
        ----------
        family : family, name or None
            Whose divergence is used, that of the rewards if None.

        Returns
        -------
        KLEOCPUG

        Examples
        --------
        >>> import robai
        >>> robai.KLEOCPUG.safe()
        KLEOCPUG(inflation=2.0, guard=1.0, family=None)
        >>> played = robai.simulate(robai.KLEOCPUG.safe(), robai.Bernoulli([0.95, 0.9]), 10**5, 400, rng=0)
        >>> played.wrong_commit().count, round(played.regret[-1].item(), 1)
        (0, 27.6)
        """
        return cls(inflation=2.0, guard=1.0, family=family)
