"""Policies that identify the best arm, with a given confidence or within a given budget."""

from __future__ import annotations

from typing import ClassVar

from robai import families, rules
from robai._base.spec import Field, Pairs, parameter, spec
from robai.families import FamilyLike
from robai.policies.base import BasePolicy, Parts
from robai.rules.parameters import (
    BETA,
    CHALLENGER,
    DELTA,
    FAMILY,
    FRESH,
    HEURISTIC,
    LEADER,
    SIGMA,
    STOP,
    TEST,
    Challenger,
    Leader,
    Sigma,
    Test,
    UniformStop,
)
from robai.rules.threshold import (
    BOUNDS_THRESHOLD,
    RACING_THRESHOLD,
    THRESHOLD,
    BoundsThreshold,
    Threshold,
)


@spec
class Uniform(BasePolicy):
    """All arms in turn; commits to the largest mean when a likelihood ratio is large, or at the horizon.

    What other policies are to be compared with. Wrong with probability delta at most if the threshold is one
    with a proof. Within a budget B the error falls exponentially in B / K times the smallest gap squared.

    Parameters
    ----------
    threshold
        Of the likelihood ratio, see `rules.LikelihoodRatio`. "practical" has no theorem; "proved" has.
    stop
        "likelihood": by the likelihood ratio. "budget": at the horizon, without delta and threshold; it has
        no use for the family, which is taken as by all policies with one.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Bernoulli([0.7, 0.5, 0.1])
    >>> found = robai.identify(robai.Uniform(threshold="proved"), bandit, delta=0.1, runs=100, rng=0)
    >>> found.proportions().shares.round(2).tolist(), found.failure().count
    ([0.34, 0.33, 0.33], 0)
    """

    exclusive: ClassVar[Pairs] = (("stop", "delta"), ("stop", "threshold"))
    delta: float | None = parameter(DELTA, default=None)
    threshold: Threshold = parameter(THRESHOLD, default="practical")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)
    stop: UniformStop = parameter(STOP, default="likelihood")

    def parts(self) -> Parts:
        stop: rules.Stopping = rules.Budget()
        if self.stop == "likelihood":
            stop = rules.LikelihoodRatio(delta=self.delta, family=self.family, threshold=self.threshold)
        return Parts(rules.RoundRobin(), stop, rules.LargestMean())


@spec
class KLLUCB(BasePolicy):
    """Pulls the best arm and its most promising rival, until their confidence bounds are separate.

    In pairs: the arm with the largest mean, and among the others that with the largest q such that N d(m,
    q) <= f. Commits to the former when the smallest such q of it is above those of all others. Kaufmann and
    Kalyanakrishnan (2013), for one-parameter exponential families.

    Parameters
    ----------
    threshold
        "practical": f = log((1 + log t) / delta), without a theorem. "lucb", or "proved": f = b + log b, b =
        log(405.5 K t^1.1 / delta), for which their theorem says that a commitment is wrong with probability
        delta at most (constants from memory). For known variances only. Thresholds of likelihood ratios are
        none of bounds.

    Examples
    --------
    >>> import robai
    >>> policies = [robai.KLLUCB(), robai.KLLUCB(threshold="proved")]
    >>> found = robai.identify(policies, robai.Bernoulli([0.7, 0.5, 0.1]), delta=0.1, runs=100, rng=0)
    >>> [(round(each.time().mean), each.failure().count) for each in found.values()]
    [(406, 0), (2006, 0)]
    """

    delta: float | None = parameter(DELTA, default=None)
    threshold: BoundsThreshold = parameter(BOUNDS_THRESHOLD, default="practical")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def parts(self) -> Parts:
        return Parts(
            rules.LeaderChallenger(self.delta, self.threshold, "kl", self.family),
            rules.Separation(self.delta, bounds="kl", threshold=self.threshold, family=self.family),
            rules.LargestMean(),
        )


@spec
class LUCB(BasePolicy):
    """KL-LUCB with the bounds m +- sigma sqrt(2 f / N), f = log(5 K t^4 / (4 delta)).

    Kalyanakrishnan, Tewari, Auer and Stone (2012). A commitment is wrong with probability delta at most for
    all sigma-sub-Gaussian rewards; the price is a time several times that of `KLLUCB`.

    Examples
    --------
    >>> import robai
    >>> policies, bandit = [robai.LUCB(), robai.KLLUCB()], robai.Gaussian([1.0, 0.5, 0.0])
    >>> found = robai.identify(policies, bandit, delta=0.1, runs=100, rng=0)
    >>> {label: round(each.time().mean) for label, each in found.items()}
    {'LUCB()': 2408, 'KLLUCB()': 244}
    """

    instead: ClassVar[str] = "KLLUCB()"
    delta: float | None = parameter(DELTA, default=None)
    sigma: Sigma = parameter(SIGMA, default=None)

    def parts(self) -> Parts:
        return Parts(
            rules.LeaderChallenger(self.delta, "lucb", "gaussian", sigma=self.sigma),
            rules.Separation(self.delta, self.sigma, threshold="lucb"),
            rules.LargestMean(),
        )


@spec
class UGapE(BasePolicy):
    """Pulls the arm that is closest to being the best for sure, or its rival, whichever has fewer pulls.

    That is J with the smallest B_a = max over b != a of U_b - L_a; its rival has the largest upper bound of
    the others. Commits to J when B_J <= 0. Gabillon, Ghavamzadeh and Lazaric (2012), with the bounds of
    KL-LUCB in place of theirs. Wrong with probability delta at most with threshold "lucb", for the same
    reason as `KLLUCB`: some bound has failed.

    Parameters
    ----------
    threshold
        As for `KLLUCB`.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Bernoulli([0.7, 0.5, 0.1])
    >>> found = robai.identify(robai.UGapE(), bandit, delta=0.1, runs=100, rng=0)
    >>> round(found.time().mean), found.failure().count
    (374, 0)
    """

    delta: float | None = parameter(DELTA, default=None)
    threshold: BoundsThreshold = parameter(BOUNDS_THRESHOLD, default="practical")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def parts(self) -> Parts:
        return Parts(
            rules.GapIndex(self.delta, self.threshold, "kl", self.family), rules.Never(), rules.Recommended()
        )


@spec
class LilUCB(BasePolicy):
    """An index by the law of the iterated logarithm; commits when one arm has most of the pulls: lil'UCB.

    The arm with the largest m + c sigma sqrt(2 (1 + eps) log(log((1 + eps) N) / d) / N), c = (1 + beta) (1
    + sqrt(eps)), is pulled, until one has N_a >= 1 + lambda times the pulls of all others together.
    Jamieson, Malloy, Nowak and Bubeck (2014): of order log(1/delta) sum of 1/gap^2 + sum of log log(1/gap) /
    gap^2 rounds, without a factor log K.

    Parameters
    ----------
    heuristic
        True: eps = 0, beta = 1/2, lambda = 1 + 10/K, d = delta / 5, which the authors recommend and which
        has no theorem. False: eps = 0.01, beta = 1, lambda = 9, d = (eps delta / (5 (2 + eps)))^(1 / (1 +
        eps)), from memory of their experiments; their theorem, as remembered, asks for a lambda a little
        above 9.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Gaussian([1.0] + [0.0] * 49)
    >>> found = robai.identify(robai.LilUCB(), bandit, delta=0.1, runs=100, rng=0)
    >>> round(found.time().mean), found.failure().count
    (1807, 0)
    """

    instead: ClassVar[str] = "KLLUCB()"
    delta: float | None = parameter(DELTA, default=None)
    sigma: Sigma = parameter(SIGMA, default=None)
    heuristic: bool = parameter(HEURISTIC, default=True)

    def parts(self) -> Parts:
        return Parts(
            rules.IteratedBound(self.delta, self.sigma, self.heuristic),
            rules.Dominance(None if self.heuristic else 9.0),
            rules.MostPulled(),
        )


@spec
class TopTwo(BasePolicy):
    """A leader or a challenger, each in half of the rounds, until a likelihood ratio is large.

    As delta falls, mean stopping times are asymptotically the shortest for which the best arm has the share
    beta of the pulls, at most twice the shortest of all for beta = 1/2 (proved for the four combinations
    that have names, as remembered: Russo, 2016; Shang et al., 2020; Jourdan et al., 2022). That a
    commitment is wrong with probability delta at most is a matter of the threshold alone.

    Parameters
    ----------
    leader
        "thompson": the largest of one posterior draw of every arm. "ucb": the largest index of KL-UCB, at the
        level 2 log t. "empirical": the largest mean.
    challenger
        "resample": the largest of new posterior draws, until it is not the leader. "transport": the arm
        with the smallest likelihood ratio against the leader. "penalised": the same with log N added to the
        ratio.
    beta
        The share of rounds in which the leader is pulled: with that probability if it was drawn, else
        counted.
    threshold
        Of the likelihood ratio, see `rules.LikelihoodRatio`. "practical" has no theorem; "proved" has.

    Examples
    --------
    >>> import robai
    >>> policies = [robai.TopTwo(), robai.TopTwo(threshold="proved")]
    >>> found = robai.identify(policies, robai.Bernoulli([0.7, 0.5, 0.1]), delta=0.1, runs=100, rng=0)
    >>> [(round(each.time().mean), each.failure().count) for each in found.values()]
    [(162, 0), (372, 0)]
    """

    delta: float | None = parameter(DELTA, default=None)
    leader: Leader = parameter(LEADER, default="thompson")
    challenger: Challenger = parameter(CHALLENGER, default="transport")
    beta: float = parameter(BETA, default=0.5)
    threshold: Threshold = parameter(THRESHOLD, default="practical")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def parts(self) -> Parts:
        return Parts(
            rules.TopTwo(self.leader, self.challenger, self.beta, self.family),
            rules.LikelihoodRatio(delta=self.delta, family=self.family, threshold=self.threshold),
            rules.LargestMean(),
        )


@spec
class TTTS(TopTwo):
    """Top-two Thompson sampling: the leader and the challenger are the best of posterior draws.

    Russo (2016); see `TopTwo`. The surer it is the more draws it takes to find a challenger, about the
    inverse of the posterior probability of one: for a small delta use `T3C`.

    Examples
    --------
    >>> import robai
    >>> found = robai.identify(robai.TTTS(), robai.Gaussian([1.0, 0.5, 0.0]), delta=0.1, runs=100, rng=0)
    >>> round(found.time().mean), found.proportions().shares.round(2).tolist()
    (133, [0.48, 0.39, 0.13])
    """

    challenger: Challenger = parameter(CHALLENGER, default="resample")


@spec
class T3C(TopTwo):
    """Top-two Thompson sampling whose challenger has the smallest likelihood ratio against the leader.

    Shang, de Heide, Kaufmann, Menard and Valko (2020); the defaults of `TopTwo`.

    Examples
    --------
    >>> import robai
    >>> found = robai.identify(robai.T3C(), robai.Gaussian([1.0, 0.5, 0.0]), delta=1e-6, runs=100, rng=0)
    >>> round(found.time().mean), round(found.complexity.lower)
    (543, 474)
    """


@spec
class TTUCB(TopTwo):
    """The arm with the largest index of KL-UCB, or the closest to it by the likelihood ratio.

    Jourdan and Degenne (2023), whose bonus and whose way to count are from memory; see `TopTwo`.

    Examples
    --------
    >>> import robai
    >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1.0, 0.5, 0.0]), delta=0.1, runs=100, rng=0)
    >>> round(found.time().mean), found.proportions().shares.round(2).tolist()
    (138, [0.47, 0.4, 0.13])
    """

    leader: Leader = parameter(LEADER, default="ucb")


@spec
class EBTCI(TopTwo):
    """The arm with the largest mean, or the closest to it by the likelihood ratio plus log N: EB-TCI.

    Jourdan, Degenne, Baudry, de Heide and Kaufmann (2022); see `TopTwo`. Without log N it starves arms.

    Examples
    --------
    >>> import robai
    >>> found = robai.identify(robai.EBTCI(), robai.Gaussian([1.0, 0.5, 0.0]), delta=0.1, runs=100, rng=0)
    >>> round(found.time().mean), found.proportions().shares.round(2).tolist()
    (125, [0.49, 0.37, 0.14])
    """

    leader: Leader = parameter(LEADER, default="empirical")
    challenger: Challenger = parameter(CHALLENGER, default="penalised")


@spec
class Racing(BasePolicy):
    """Pulls the arms still in doubt in turn; after every sweep the worst is dropped if that is safe.

    test "kl" is KL-Racing, Kaufmann and Kalyanakrishnan (2013), "likelihood" Chernoff-Racing, Garivier and
    Kaufmann (2016), which is faster. An arm that is dropped does not come back, so that a run without the
    best arm may have to tell others apart that are very close, or never ends: errors show as late
    commitments, too.

    Parameters
    ----------
    threshold
        "practical", log((1 + log t) / delta), has no theorem, and its errors were 4.8 % for delta = 0.1
        where arms were close and the test by likelihood. "proved" is wrong with probability delta at most.
        Others are those of `KLLUCB` for test "kl", and of `rules.LikelihoodRatio` for "likelihood".
    test
        "kl": the upper bound of the worst is below the lower bound of the best. "likelihood": their
        likelihood ratio is above the threshold.

    Examples
    --------
    >>> import robai
    >>> policies = [robai.Racing(threshold="proved", test=test) for test in ("kl", "likelihood")]
    >>> found = robai.identify(policies, robai.Bernoulli([0.7, 0.5, 0.1]), delta=0.1, runs=100, rng=0)
    >>> [(round(each.time().mean), each.failure().count) for each in found.values()]
    [(2011, 0), (408, 0)]
    """

    delta: float | None = parameter(DELTA, default=None)
    threshold: Threshold | BoundsThreshold = parameter(RACING_THRESHOLD, default="practical")
    test: Test = parameter(TEST, default="kl")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.parts()  # whose threshold has to be one of the test's

    def parts(self) -> Parts:
        explore = rules.Racing(self.delta, self.threshold, self.test, self.family)
        return Parts(explore, rules.Never(), rules.Recommended())


@spec
class SequentialHalving(BasePolicy):
    """For a budget of T rounds: log2 K phases of as many pulls, after each of which the better half stays.

    Karnin, Koren and Somekh (2013). In a phase the arms left have floor(T / (left ceil(log2 K))) pulls each.
    With fresh=True the recommended arm is wrong with probability 3 log2(K) exp(-T / (8 log2(K) H_2)) at most,
    H_2 = max over i > 1 of i / gap_i^2, for rewards in [0, 1]. By all rewards of an arm together there
    were fewer errors, without a theorem. With less than K ceil(log2 K) rounds the last phases are shorter.

    Parameters
    ----------
    fresh
        Whether arms are compared by their rewards of the present phase alone.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Bernoulli([0.7] + [0.5] * 7)
    >>> found = robai.identify(robai.SequentialHalving(), bandit, budget=[400, 800], runs=1000, rng=0)
    >>> [each.error().rate for each in found.values()]
    [0.069, 0.012]
    """

    fresh: bool = parameter(FRESH, default=False)

    def parts(self) -> Parts:
        return Parts(rules.Halving(self.fresh), rules.Never(), rules.Recommended())


@spec
class SuccessiveRejects(BasePolicy):
    """For a budget of T rounds: K - 1 phases, after each of which the arm with the smallest mean is dropped.

    Audibert, Bubeck and Munos (2010). After phase k the arms left have ceil((T - K) / (logbar K (K + 1 -
    k))) pulls each, logbar K = 1/2 + 1/2 + 1/3 + ... + 1/K. Wrong with probability K (K - 1) / 2 exp(-(T -
    K) / (logbar K H_2)) at most, H_2 = max over i > 1 of i / gap_i^2, for rewards in [0, 1].

    Examples
    --------
    >>> import robai
    >>> policies = [robai.SuccessiveRejects(), robai.Uniform(stop="budget")]
    >>> found = robai.identify(policies, robai.Bernoulli([0.7, 0.5, 0.1]), budget=60, runs=1000, rng=0)
    >>> {label: each.error().rate for label, each in found.items()}
    {'SuccessiveRejects()': 0.086, "Uniform(stop='budget')": 0.09}
    """

    def parts(self) -> Parts:
        return Parts(rules.Rejects(), rules.Never(), rules.Recommended())
