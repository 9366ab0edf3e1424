"""Policies for small regret that the paper does not play: indices, and two that are told the gap."""

from __future__ import annotations

from typing import ClassVar

from robai import families, rules
from robai._base.spec import Field, parameter, spec
from robai.families import FamilyLike
from robai.policies.base import BasePolicy, Parts
from robai.rules.parameters import ANYTIME, ANYTIME_ALPHA, CONFIDENCE, FAMILY, GAP, SIGMA, Sigma


@spec
class MOSS(BasePolicy):
    """The arm with the largest m + sigma sqrt(2 f / N), f = 2 log+(T / (K N)); never commits.

    Audibert and Bubeck (2009): minimax, regret O(sqrt(K T)) whatever the means. It is not asymptotically
    optimal: as T grows, with fixed gaps, its constant is twice that of UCB. Rewards in [0, 1] have sigma =
    1/2, with which this is the printed index m + sqrt(log+(T / (K N)) / N).

    Parameters
    ----------
    anytime
        Without a horizon: f = (1 + alpha) log+(t / (K N)), Degenne and Perchet (2016), minimax at every t.
    alpha
        Of the anytime version; 1.35 is what its authors play.

    Examples
    --------
    >>> import robai
    >>> policies, bandit = [robai.MOSS(), robai.MOSS(anytime=True)], robai.Gaussian([0.1, 0.0])
    >>> played = robai.compare(policies, bandit, 10**4, 1000, rng=0)
    >>> {label: round(result.regret[-1].item()) for label, result in played.items()}
    {'MOSS()': 83, 'MOSS(anytime=True)': 85}
    """

    instead: ClassVar[str] = "KLUCB(level='++')"
    anytime: bool = parameter(ANYTIME, default=False)
    alpha: float = parameter(ANYTIME_ALPHA, default=1.35)
    sigma: Sigma = parameter(SIGMA, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.anytime and "alpha" in dict(self._changed()):
            raise ValueError(f"alpha is for MOSS(anytime=True), got alpha={self.alpha:g} and anytime=False")

    def parts(self) -> Parts:
        explore: rules.Optimism = rules.UpperBound("moss", sigma=self.sigma)
        if self.anytime:
            explore = rules.AnytimeMoss(self.alpha, self.sigma)
        return Parts(explore, rules.Never(), rules.LargestMean())


@spec
class AdaUCB(BasePolicy):
    """The arm with the largest m + sigma sqrt(2 f / N), f = log((x + e) sqrt(log(x + e))); never commits.

    x = T / H with H = sum over arms b of min(N, sqrt(N N_b)). Lattimore (2018): for Gaussian rewards
    asymptotically optimal, minimax up to a constant, and never more than a constant worse than UCB.

    Examples
    --------
    >>> import robai
    >>> policies, bandit = [robai.AdaUCB(), robai.UCB()], robai.Gaussian([0.7, 0.2])
    >>> played = robai.compare(policies, bandit, 10**5, 1000, rng=0)
    >>> {label: round(result.regret[-1].item()) for label, result in played.items()}
    {'AdaUCB()': 31, 'UCB()': 44}
    """

    instead: ClassVar[str] = "KLUCB()"
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(rules.AdaBound(self.sigma), rules.Never(), rules.LargestMean())


@spec
class BayesUCB(BasePolicy):
    """The arm with the largest 1 - 1 / (t log^c T) quantile of its posterior; never commits.

    Kaufmann, Cappe and Garivier (2012). Posteriors are those of `ThompsonSampling`, under Jeffreys' prior,
    after one pull of every arm at least. For Bernoulli rewards and the uniform prior it is proved to be
    asymptotically optimal if c >= 5; the authors play c = 0, the default here.

    Parameters
    ----------
    c
        The power of log T; 0 needs no horizon.
    family
        Whose posterior; that of the rewards if None.

    Examples
    --------
    >>> import robai
    >>> policies, bandit = [robai.BayesUCB(), robai.KLUCB()], robai.Bernoulli([0.7, 0.2])
    >>> played = robai.compare(policies, bandit, 10**4, 100, rng=0)
    >>> {label: round(result.regret[-1].item(), 1) for label, result in played.items()}
    {'BayesUCB()': 6.1, 'KLUCB()': 8.0}
    """

    c: float = parameter(CONFIDENCE, default=0.0)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def parts(self) -> Parts:
        return Parts(rules.PosteriorQuantile(self.c, self.family), rules.Never(), rules.LargestMean())


@spec
class ETC(BasePolicy):
    """Explore both arms in turn for a number of rounds fixed by the gap, then commit to the larger mean.

    n = ceil(2 sigma^2 W(T^2 gap^4 / (32 pi sigma^4)) / gap^2) pulls of each arm, W Lambert's function: FB-ETC
    of Garivier, Kaufmann and Lattimore (2016). Two arms. Regret 4/gap log T for Gaussian arms of this gap,
    eight times the optimum of policies that know it.

    Parameters
    ----------
    gap
        The difference between the two means.

    Examples
    --------
    >>> import robai
    >>> played = robai.simulate(robai.ETC(gap=0.5), robai.Gaussian([0.7, 0.2]), 10**6, 1000, rng=0)
    >>> int(played.commit_time[0]), round(played.regret[-1].item(), 1)
    (280, 70.0)
    """

    instead: ClassVar[str] = "KLEOCP(kl)"
    gap: float = parameter(GAP)
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(rules.RoundRobin(), rules.FixedDesign(self.gap, self.sigma), rules.LargestMean())


@spec
class SPRTETC(BasePolicy):
    """Explore both arms in turn until a sequential probability ratio test decides, then commit.

    It ends when (t/2) gap abs(m_1 - m_2) >= sigma^2 log(T gap^2 / sigma^2), at even t: Garivier, Kaufmann and
    Lattimore (2016). Two arms. Regret 1/gap log T for Gaussian arms of this gap, the least of policies that
    pull both arms alike until they commit, and twice the optimum of all that know the gap.

    Parameters
    ----------
    gap
        The difference between the two means.

    Examples
    --------
    >>> import robai
    >>> played = robai.simulate(robai.SPRTETC(gap=0.5), robai.Gaussian([0.7, 0.2]), 10**6, 1000, rng=0)
    >>> played.digest().commit_median, round(played.regret[-1].item(), 1)
    (96.0, 26.1)
    """

    instead: ClassVar[str] = "KLEOCPUG()"
    gap: float = parameter(GAP)
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(rules.RoundRobin(), rules.SPRT(self.gap, self.sigma), rules.LargestMean())


@spec
class IMED(BasePolicy):
    """The arm with the smallest N d(m, M) + log N, where M is the largest mean; never commits.

    Indexed minimum empirical divergence of Honda and Takemura (2015): asymptotically optimal regret, proved
    there for rewards bounded from above with the least divergence from an empirical distribution. Here d is
    that of a one-parameter exponential family between means, which for Bernoulli rewards is the same. It
    needs neither the horizon nor the round. An unknown variance of Gaussian rewards is refused: there d is no
    function of two means.

    Examples
    --------
    >>> import robai
    >>> policies, bandit = [robai.IMED(), robai.KLUCB()], robai.Bernoulli([0.7, 0.2])
    >>> played = robai.compare(policies, bandit, 10**5, 100, rng=0)
    >>> {label: round(result.regret[-1].item(), 1) for label, result in played.items()}
    {'IMED()': 7.6, 'KLUCB()': 9.8}
    """

    instead: ClassVar[str] = "KLUCB()"
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def parts(self) -> Parts:
        return Parts(rules.MinimumDivergence(self.family), rules.Never(), rules.LargestMean())
