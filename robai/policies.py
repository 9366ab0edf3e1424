"""The policies: each is an exploration rule, a stopping rule and a commitment rule.

`parts()` shows the three:

>>> import robai
>>> robai.EOCPUG().parts().stop
Imbalance(inflation=1.0)

`POLICIES` lists them all by the name that the command line uses.
"""

from __future__ import annotations

from dataclasses import dataclass

from robai import families, rules
from robai._checks import inflating, positive, probability, scale, wideness
from robai._policy import BasePolicy, Parts, Policy
from robai._spec import choice, nonnegative, optional, parameter

__all__ = [
    "BAIETC",
    "DETC",
    "DETCK",
    "EOCP",
    "EOCPUG",
    "KLEOCP",
    "KLEOCPUG",
    "KLUCB",
    "POLICIES",
    "UCB",
    "ActionElimination",
    "Policy",
    "ThompsonSampling",
    "TrackAndStop",
    "UCBAlpha",
]


@dataclass(frozen=True)
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
    sigma : float
        Standard deviation (sub-Gaussian parameter) of the rewards.
    """

    gap: float = parameter(positive)
    inflation: float = parameter(inflating, 1.0)
    sigma: float = parameter(scale, 1.0)

    def parts(self) -> Parts:
        return Parts(
            rules.UpperBound(inflation=self.inflation, sigma=self.sigma),
            rules.KnownGap(self.gap, self.inflation, self.sigma),
            rules.LowerBound(self.inflation, self.sigma),
        )


@dataclass(frozen=True)
class EOCPUG(BasePolicy):
    """EOCP with an unknown gap (the paper, Algorithm 2).

    As `EOCP`, but exploration ends when one arm has N_a - l N_b > 1 for every other arm b.
    Asymptotically optimal regret, a commitment time of O(log^2 T) (not O(log T): the price of
    not knowing the gap) and a wrong commitment with probability O(1/T) (Theorem 2).
    """

    inflation: float = parameter(inflating, 1.0)
    sigma: float = parameter(scale, 1.0)

    def parts(self) -> Parts:
        return Parts(
            rules.UpperBound(inflation=self.inflation, sigma=self.sigma),
            rules.Imbalance(self.inflation),
            rules.LowerBound(self.inflation, self.sigma),
        )


@dataclass(frozen=True)
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

    kl: float = parameter(positive)
    inflation: float = parameter(inflating, 1.0)
    family: families.Family | None = parameter(rules.family_or_none, None)

    def parts(self) -> Parts:
        return Parts(
            rules.KLUpperBound(inflation=self.inflation, family=self.family),
            rules.KnownDivergence(self.kl, self.inflation),
            rules.KLLowerBound(self.inflation, self.family),
        )


@dataclass(frozen=True)
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

    inflation: float = parameter(inflating, 1.0)
    guard: float = parameter(nonnegative, 0.7)
    family: families.Family | None = parameter(rules.family_or_none, None)

    def parts(self) -> Parts:
        stop = rules.Imbalance(self.inflation)
        if self.guard > 0.0:
            stop = stop & rules.LikelihoodRatio(share=self.guard, family=self.family)
        return Parts(
            rules.KLUpperBound(inflation=self.inflation, family=self.family),
            stop,
            rules.KLLowerBound(self.inflation, self.family),
        )


@dataclass(frozen=True)
class UCB(BasePolicy):
    """The arm with the largest m + sigma sqrt(2 f / N); never commits.

    Parameters
    ----------
    level : str
        "horizon": f = log T, the paper's baseline. "ratio": f = log(T/N), Garivier, Kaufmann and
        Lattimore (2016). "round": f = log t, UCB1 of Auer, Cesa-Bianchi and Fischer (2002), whose
        rewards in [0, 1] have sigma = 1 here.
    sigma : float
        Standard deviation (sub-Gaussian parameter) of the rewards.
    """

    level: str = parameter(choice("horizon", "ratio", "round"), "horizon")
    sigma: float = parameter(scale, 1.0)

    def parts(self) -> Parts:
        return Parts(rules.UpperBound(self.level, 0.0, self.sigma), rules.Never(), rules.LargestMean())


@dataclass(frozen=True)
class KLUCB(BasePolicy):
    """The arm with the largest q such that N d(m, q) <= f; never commits.

    Garivier and Cappe (2011), Cappe et al. (2013): asymptotically optimal regret for
    one-parameter exponential families.

    Parameters
    ----------
    level : str
        "horizon": f = log T, the paper's baseline. "round": f = log t. "ratio": f = log(T/N),
        KL-UCB-H+. "++": f = log+(y (1 + log+(y)^2)), y = T/(K N), Menard and Garivier (2017).
    family : family, name or None
        Whose divergence d; that of the rewards if None. "bernoulli" serves any reward in [0, 1].
    """

    level: str = parameter(choice(*rules.LEVELS), "horizon")
    family: families.Family | None = parameter(rules.family_or_none, None)

    def parts(self) -> Parts:
        return Parts(rules.KLUpperBound(self.level, 0.0, self.family), rules.Never(), rules.LargestMean())


@dataclass(frozen=True)
class ThompsonSampling(BasePolicy):
    """The arm with the largest draw from its posterior; never commits.

    Jeffreys' prior of the family (Korda, Kaufmann and Munos, 2013): asymptotically optimal
    regret. Every arm is pulled once first where the prior alone is improper.

    Parameters
    ----------
    family : family, name or None
        Whose posterior; that of the rewards if None.
    """

    family: families.Family | None = parameter(rules.family_or_none, None)

    def parts(self) -> Parts:
        return Parts(rules.PosteriorSampling(self.family), rules.Never(), rules.LargestMean())


@dataclass(frozen=True)
class BAIETC(BasePolicy):
    """Explore both arms in turn, commit when |m_1 - m_2| >= sigma sqrt(8 log(T/t) / t).

    Garivier, Kaufmann and Lattimore (2016). Two arms. Regret 4/gap log T, twice the optimum;
    commitment in O(log T).
    """

    sigma: float = parameter(scale, 1.0)

    def parts(self) -> Parts:
        return Parts(rules.RoundRobin(), rules.MeanGap(self.sigma), rules.LargestMean())


@dataclass(frozen=True)
class DETC(BasePolicy):
    """Double explore-then-commit with an unknown gap, T_1 = log^2 T.

    Jin, Xu, Xiao and Gu (2021). Two arms. Asymptotically optimal regret; the commitment takes at
    least log^2 T rounds.
    """

    sigma: float = parameter(scale, 1.0)

    def parts(self) -> Parts:
        return Parts(rules.DoubleExplore(self.sigma), rules.Never(), rules.Recommended())


@dataclass(frozen=True)
class DETCK(BasePolicy):
    """Double explore-then-commit for any number of arms, as the paper's appendix runs it.

    Jin, Xu, Xiao and Gu (2021).
    """

    sigma: float = parameter(scale, 1.0)

    def parts(self) -> Parts:
        return Parts(rules.DoubleExploreK(self.sigma), rules.Never(), rules.Recommended())


@dataclass(frozen=True)
class UCBAlpha(BasePolicy):
    """The arm with the largest m + alpha w(N); commits when m -+ w separate the best arm.

    w(n) = sigma sqrt((2/n) log(3 log^2(n) / delta)). Degenne, Nedelec, Calauzenes and Perchet
    (2019). Commitment in O(log T) with regret at most 2 alpha^2/gap log T.

    Parameters
    ----------
    alpha : float
        Above 1; near 1 it explores like UCB and stops late, a large one explores uniformly.
    delta : float or None
        The probability of a wrong commitment that is aimed at; 1/T if None.
    sigma : float
        Standard deviation (sub-Gaussian parameter) of the rewards.
    """

    alpha: float = parameter(wideness, 2.0)
    delta: float | None = parameter(optional(probability), None)
    sigma: float = parameter(scale, 1.0)

    def parts(self) -> Parts:
        return Parts(
            rules.WideBound(self.alpha, self.delta, self.sigma),
            rules.Separation(self.delta, self.sigma),
            rules.LargestMean(),
        )


@dataclass(frozen=True)
class TrackAndStop(BasePolicy):
    """Track the proportions that identify the best arm fastest, stop by a likelihood ratio, commit.

    Garivier and Kaufmann (2016) with the threshold log((1 + log t) / delta); TAS-ETC in the
    paper. The proportions are those of the current estimate, solved for again in every round, or
    with more than ten arms whenever 1 % more rounds have been played. A mean on the edge of its
    domain (no success yet, or no failure) is taken to be 1/(2N + 2) inside.

    Parameters
    ----------
    delta : float or None
        The probability of a wrong commitment that is aimed at; 1/T if None.
    tracking : str
        "C" tracks the sum of the proportions so far, "D" the last ones.
    family : family, name or None
        Whose divergence; that of the rewards if None.
    """

    delta: float | None = parameter(optional(probability), None)
    tracking: str = parameter(choice("C", "D"), "C")
    family: families.Family | None = parameter(rules.family_or_none, None)

    def parts(self) -> Parts:
        return Parts(
            rules.Tracking(self.tracking, self.family),
            rules.LikelihoodRatio(delta=self.delta, family=self.family),
            rules.LargestMean(),
        )


@dataclass(frozen=True)
class ActionElimination(BasePolicy):
    """Pull the arms still in doubt in turn, drop the hopeless, commit to the last one.

    Even-Dar, Mannor and Mansour (2006).

    Parameters
    ----------
    delta : float or None
        The probability of a wrong commitment that is aimed at; 1/T if None.
    radius : str
        "paper": m +- sigma sqrt(2 log(1/delta) / N), after every pull. "even-dar": m +- alpha_n,
        alpha_n = sigma sqrt(2 log(4 K n^2 / delta) / n), after every sweep.
    sigma : float
        Standard deviation (sub-Gaussian parameter) of the rewards.
    """

    delta: float | None = parameter(optional(probability), None)
    radius: str = parameter(choice("paper", "even-dar"), "paper")
    sigma: float = parameter(scale, 1.0)

    def parts(self) -> Parts:
        return Parts(
            rules.Elimination(self.delta, self.radius, self.sigma), rules.Never(), rules.Recommended()
        )


POLICIES: dict[str, type[BasePolicy]] = {
    "eocp": EOCP,
    "eocp-ug": EOCPUG,
    "kl-eocp": KLEOCP,
    "kl-eocp-ug": KLEOCPUG,
    "ucb": UCB,
    "kl-ucb": KLUCB,
    "thompson": ThompsonSampling,
    "bai-etc": BAIETC,
    "detc": DETC,
    "detc-k": DETCK,
    "ucb-alpha": UCBAlpha,
    "track-and-stop": TrackAndStop,
    "action-elimination": ActionElimination,
}
