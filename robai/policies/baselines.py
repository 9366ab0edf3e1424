"""The policies that the paper compares with."""

from __future__ import annotations

from typing import ClassVar

from robai import families, rules
from robai._base.spec import Field, parameter, spec
from robai.families import FamilyLike
from robai.policies.base import BasePolicy, Parts
from robai.rules.parameters import (
    ALPHA,
    DELTA,
    FAMILY,
    KL_LEVEL,
    PRIOR,
    RADIUS,
    SIGMA,
    TRACKING,
    UCB_LEVEL,
    ZETA,
    KLLevel,
    Prior,
    Radius,
    Sigma,
    Tracked,
    UCBLevel,
)
from robai.rules.threshold import THRESHOLD, Threshold


@spec
class UCB(BasePolicy):
    """The arm with the largest m + sigma sqrt(2 f / N); never commits.

    Regret is O(log T) for sigma-sub-Gaussian rewards. It has the optimal constant for Gaussian ones with
    level "anytime", and, proved for two arms, "ratio".

    Parameters
    ----------
    level
        "horizon": f = log T, the paper's baseline. "ratio": f = log(T/N), Garivier, Kaufmann and
        Lattimore (2016). "round": f = log t, UCB1 of Auer, Cesa-Bianchi and Fischer (2002), whose
        rewards in [0, 1] have sigma = 1 here. "anytime": f = log(1 + t log(t)^2), asymptotically optimal for
        Gaussian rewards without a horizon (Lattimore and Szepesvari, 2020, Algorithm 6). Or a function,
        `robai.rules.Level`.

    Examples
    --------
    >>> import robai
    >>> policies, bandit = [robai.UCB(), robai.UCB(level="ratio")], robai.Gaussian([0.7, 0.2])
    >>> played = robai.compare(policies, bandit, 10**6, 1000, rng=0)
    >>> {label: round(result.regret[-1].item(), 1) for label, result in played.items()}
    {'UCB()': 52.4, "UCB(level='ratio')": 36.9}
    """

    instead: ClassVar[str] = "KLUCB()"
    level: UCBLevel | rules.Level = parameter(UCB_LEVEL, default="horizon")
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(rules.UpperBound(self.level, 0.0, self.sigma), rules.Never(), rules.LargestMean())


@spec
class KLUCB(BasePolicy):
    """The arm with the largest q such that N d(m, q) <= f; never commits.

    Garivier and Cappe (2011), Cappe et al. (2013): asymptotically optimal regret for
    one-parameter exponential families.

    Parameters
    ----------
    level
        "horizon": f = log T, the paper's baseline. "round": f = log t. "loglog": f = log t + 3 log max(1, log
        t), which is what is proved to be optimal without a horizon; Garivier and Cappe recommend "round" in
        practice. "plus": f = log+(t/N), their KL-UCB+, a heuristic. "ratio": f = log(T/N), KL-UCB-H+. "++":
        f = log+(y (1 + log+(y)^2)), y = T/(K N), optimal and minimax (Menard and Garivier, 2017). Or a
        function, `robai.rules.Level`.

    Examples
    --------
    >>> import robai
    >>> policies, bandit = [robai.UCB(), robai.KLUCB()], robai.Bernoulli([0.05, 0.02])
    >>> played = robai.compare(policies, bandit, 10**5, 100, rng=0)
    >>> {label: round(result.regret[-1].item()) for label, result in played.items()}
    {'UCB()': 122, 'KLUCB()': 23}
    """

    level: KLLevel | rules.Level = parameter(KL_LEVEL, default="horizon")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def parts(self) -> Parts:
        return Parts(rules.KLUpperBound(self.level, 0.0, self.family), rules.Never(), rules.LargestMean())


@spec
class UCBV(BasePolicy):
    """The arm with the largest m + s sqrt(2 f / N) + 3 b f / N, f = zeta log t; never commits.

    For rewards in an interval of length b whose variances s^2 may be small: regret in O((sigma_a^2 / gap_a +
    b) log T) for zeta > 1 (Audibert, Munos and Szepesvari, 2009). With zeta < 1 it can be polynomial in T.

    Parameters
    ----------
    zeta
        f = zeta log t; 1 is what is played, its theorem is for more.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Beta([0.52, 0.5], concentration=100.0)
    >>> played = robai.compare([robai.UCB(), robai.UCBV()], bandit, 10**5, 20, rng=0)
    >>> {label: round(result.regret[-1].item()) for label, result in played.items()}
    {'UCB()': 147, 'UCBV()': 42}
    """

    instead: ClassVar[str] = "KLUCB()"
    zeta: float = parameter(ZETA, default=1.0)

    def parts(self) -> Parts:
        return Parts(rules.BernsteinBound("round", zeta=self.zeta), rules.Never(), rules.LargestMean())


@spec
class ThompsonSampling(BasePolicy):
    """The arm with the largest draw from its posterior; never commits.

    Jeffreys' prior of the family (Korda, Kaufmann and Munos, 2013): asymptotically optimal
    regret. Every arm is pulled once first where the prior alone is improper. Of Gaussian rewards with an
    unknown variance it is the prior 1/sigma in (mu, sigma^2), after four pulls (Honda and Takemura, 2014):
    Jeffreys' has polynomial regret there.

    Parameters
    ----------
    family
        Whose posterior; that of the rewards if None.
    prior
        "jeffreys", or "uniform", Beta(1, 1), of Bernoulli rewards alone (Kaufmann, Korda and Munos, 2012:
        asymptotically optimal, too).

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Bernoulli([0.7, 0.2])
    >>> played = robai.compare([robai.KLUCB(), robai.ThompsonSampling()], bandit, 10**4, 100, rng=0)
    >>> {label: round(result.regret[-1].item(), 1) for label, result in played.items()}
    {'KLUCB()': 8.0, 'ThompsonSampling()': 5.7}
    """

    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)
    prior: Prior = parameter(PRIOR, default="jeffreys")

    def parts(self) -> Parts:
        return Parts(rules.PosteriorSampling(self.family, self.prior), rules.Never(), rules.LargestMean())


@spec
class BAIETC(BasePolicy):
    """Explore both arms in turn, commit when their means differ by sigma sqrt(8 log(T/t) / t).

    Garivier, Kaufmann and Lattimore (2016). Two arms. For Gaussian rewards regret is 4/gap log T, twice the
    optimum, and the commitment in O(log T).

    Examples
    --------
    >>> import robai
    >>> played = robai.simulate(robai.BAIETC(), robai.Gaussian([0.7, 0.2]), 10**6, 1000, rng=0)
    >>> played.digest().commit_median, round(played.regret[-1].item(), 1), played.wrong_commit().count
    (242.0, 65.1, 0)
    """

    instead: ClassVar[str] = "KLEOCPUG()"
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(rules.RoundRobin(), rules.MeanGap(self.sigma), rules.LargestMean())


@spec
class DETC(BasePolicy):
    """Double explore-then-commit with an unknown gap, T_1 = log^2 T.

    Jin, Xu, Xiao and Gu (2021). Two arms. For Gaussian rewards regret is asymptotically optimal; the
    commitment takes at least log^2 T rounds.

    Examples
    --------
    >>> import robai
    >>> played = robai.simulate(robai.DETC(), robai.Gaussian([0.7, 0.2]), 10**6, 100, rng=0)
    >>> played.digest().commit_median, round(played.regret[-1].item(), 1), played.wrong_commit().count
    (326.5, 70.8, 0)
    """

    instead: ClassVar[str] = "KLEOCPUG()"
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(rules.DoubleExplore(self.sigma), rules.Never(), rules.Recommended())


@spec
class DETCK(BasePolicy):
    """Double explore-then-commit for any number of arms, as the paper's appendix runs it.

    Jin, Xu, Xiao and Gu (2021).

    Examples
    --------
    >>> import robai
    >>> played = robai.simulate(robai.DETCK(), robai.Gaussian([0.7, 0.2, 0.2]), 10**5, 100, rng=0)
    >>> played.digest().commit_median, round(played.regret[-1].item(), 1), played.wrong_commit().count
    (677.0, 181.1, 0)
    """

    instead: ClassVar[str] = "KLEOCPUG()"
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(rules.DoubleExploreK(self.sigma), rules.Never(), rules.Recommended())


@spec
class UCBAlpha(BasePolicy):
    """The arm with the largest m + alpha w(N); commits when m -+ w separate the best arm.

    w(n) = sigma sqrt((2/n) log(3 log^2(n) / delta)). Degenne, Nedelec, Calauzenes and Perchet
    (2019). For Gaussian rewards commitment in O(log T) with regret at most 2 alpha^2/gap log T.

    Parameters
    ----------
    alpha
        Above 1; near 1 it explores like UCB and stops late, a large one explores uniformly.

    Examples
    --------
    >>> import robai
    >>> policies = [robai.UCBAlpha(alpha) for alpha in (1.5, 4.0)]
    >>> played = robai.compare(policies, robai.Gaussian([0.7, 0.2]), 10**5, 100, rng=0)
    >>> {label: result.digest().commit_median for label, result in played.items()}
    {'UCBAlpha(alpha=1.5)': 4684.0, 'UCBAlpha(alpha=4.0)': 1189.0}
    """

    instead: ClassVar[str] = "KLLUCB()"
    alpha: float = parameter(ALPHA, default=2.0)
    delta: float | None = parameter(DELTA, default=None)
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(
            rules.WideBound(self.alpha, self.delta, self.sigma),
            rules.Separation(self.delta, self.sigma),
            rules.LargestMean(),
        )


@spec
class TrackAndStop(BasePolicy):
    """Track the proportions that identify the best arm fastest, stop by a likelihood ratio, commit.

    Garivier and Kaufmann (2016); TAS-ETC in the paper. The proportions are those of the current estimate,
    solved for again in every round, or with more than ten arms whenever 1 % more rounds have been played. A
    mean on the edge of its domain (no success yet, or no failure) is taken to be 1/(2N + 2) inside.

    Parameters
    ----------
    tracking
        "D" tracks the last proportions, which stops earlier; "C" the sum of all so far, which are projected
        onto those of at least 1 / (2 sqrt(K^2 + t)).
    threshold
        Of the likelihood ratio, see `rules.LikelihoodRatio`. "practical", log((1 + log t) / delta), has no
        theorem; "proved" has, and takes about three times as long at delta = 0.1.

    Examples
    --------
    >>> import robai
    >>> policies, bandit = [robai.TrackAndStop(), robai.Uniform()], robai.Bernoulli([0.7, 0.5, 0.1])
    >>> found = robai.identify(policies, bandit, delta=0.1, runs=100, rng=0)
    >>> {label: round(each.time().mean) for label, each in found.items()}
    {'TrackAndStop()': 148, 'Uniform()': 249}
    """

    delta: float | None = parameter(DELTA, default=None)
    tracking: Tracked = parameter(TRACKING, default="D")
    threshold: Threshold = parameter(THRESHOLD, default="practical")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def parts(self) -> Parts:
        return Parts(
            rules.Tracking(self.tracking, self.family),
            rules.LikelihoodRatio(delta=self.delta, family=self.family, threshold=self.threshold),
            rules.LargestMean(),
        )


@spec
class ActionElimination(BasePolicy):
    """Pull the arms still in doubt in turn, drop the hopeless, commit to the last one.

    Even-Dar, Mannor and Mansour (2006). With "even-dar" a commitment is wrong with probability delta at most,
    for all sigma-sub-Gaussian rewards; "paper" has no such proof.

    Parameters
    ----------
    radius
        "paper": m +- sigma sqrt(2 log(1/delta) / N), after every pull. "even-dar": m +- alpha_n,
        alpha_n = sigma sqrt(2 log(4 K n^2 / delta) / n), after every sweep.

    Examples
    --------
    >>> import robai
    >>> policies = [robai.ActionElimination(), robai.ActionElimination(radius="even-dar")]
    >>> found = robai.identify(policies, robai.Gaussian([1.0, 0.5, 0.0]), delta=0.1, runs=100, rng=0)
    >>> [(round(each.time().mean), each.failure().count) for each in found.values()]
    [(152, 0), (1234, 0)]
    """

    instead: ClassVar[str] = "Racing()"
    delta: float | None = parameter(DELTA, default=None)
    radius: Radius = parameter(RADIUS, default="paper")
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(
            rules.Elimination(self.delta, self.radius, self.sigma), rules.Never(), rules.Recommended()
        )
