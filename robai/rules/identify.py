"""How to explore in order to identify the best arm."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from robai import families
from robai._base.spec import Field, parameter, spec
from robai._core import explore_pairs, explore_phases, protocols
from robai._core.bounds import Bounds, GaussianBounds
from robai._core.levels import LilLevel, RoundLevel
from robai.families import FamilyLike
from robai.rules.explore import Exploration, Optimism
from robai.rules.game import Game
from robai.rules.level import bounds_of, check_used, delta_of, kl_bounds, threshold_level
from robai.rules.parameters import (
    ANY_BOUNDS,
    BETA,
    CHALLENGER,
    DELTA,
    FAMILY,
    FRESH,
    HEURISTIC,
    LEADER,
    SIGMA,
    TEST,
    AnyBounds,
    Challenger,
    Leader,
    Sigma,
    Test,
)
from robai.rules.threshold import (
    BOUNDS_THRESHOLD,
    RACING_THRESHOLD,
    THRESHOLD,
    BoundsThreshold,
    Threshold,
    threshold_of,
)


@spec
class ByBounds(Exploration):
    """What explorations by upper and lower bounds share."""

    delta: float | None = parameter(DELTA, default=None)
    threshold: BoundsThreshold = parameter(BOUNDS_THRESHOLD, default="practical")
    bounds: AnyBounds = parameter(ANY_BOUNDS, default="kl")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)
    sigma: Sigma = parameter(SIGMA, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_used(self)

    def bounds_for(self, game: Game) -> Bounds:
        """The compiled bounds, for a game.

        Parameters
        ----------
        game : Game
            The number of arms, the horizon and what the rewards are.

        Returns
        -------
        compiled bounds

        Examples
        --------
        >>> game = Game.of(2, 1000, families.Bernoulli())
        >>> type(LeaderChallenger(delta=0.1).bounds_for(game)).__name__
        'DivergenceBounds'
        """
        return bounds_of(self, threshold_level(self.threshold, self, game), game)


@spec
class LeaderChallenger(ByBounds):
    """The arm with the largest mean, then that with the largest upper bound among the others: LUCB, KL-LUCB.

    Bounds and thresholds are those of `Separation`. Both arms are chosen before either is pulled, and the
    stopping rule is asked after the second.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(LeaderChallenger(), robai.TrackAndStop())
    >>> found = robai.identify(policy, robai.Bernoulli([0.7, 0.5, 0.1]), delta=0.1, runs=100, rng=0)
    >>> round(found.time().mean)
    153
    """

    instead: ClassVar[str] = "LeaderChallenger(bounds='kl')"

    def start(self, game: Game) -> protocols.Exploration:
        return explore_pairs.LeaderChallenger(game.n_arms, self.bounds_for(game))


@spec
class GapIndex(ByBounds):
    """The arm J whose lower bound is closest to the largest upper bound of the others, or that of the latter.

    B_a = max over b != a of U_b - L_a; J has the smallest, u the largest upper bound of the others. The one
    with fewer pulls is pulled, u if both have as many, until B_J <= 0, which recommends J: UGapE. Bounds and
    thresholds are those of `Separation`.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(GapIndex(bounds="gaussian"), commit=robai.rules.Recommended())
    >>> found = robai.identify(policy, robai.Gaussian([1.0, 0.5, 0.0]), delta=0.1, runs=100, rng=0)
    >>> round(found.time().mean)
    267
    """

    instead: ClassVar[str] = "GapIndex(bounds='kl')"

    def start(self, game: Game) -> protocols.Exploration:
        return explore_pairs.GapIndex(game.n_arms, self.bounds_for(game))


@spec
class IteratedBound(Optimism):
    """The arm with the largest m + c sigma sqrt(2 (1 + eps) log(log((1 + eps) N) / d) / N): lil'UCB.

    c = (1 + beta) (1 + sqrt(eps)). Jamieson, Malloy, Nowak and Bubeck (2014). Heuristic: eps = 0, beta = 1/2,
    d = delta / 5. Else eps = 0.01, beta = 1, d = (eps delta / (5 (2 + eps)))^(1 / (1 + eps)).

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(IteratedBound(), robai.rules.LikelihoodRatio())
    >>> found = robai.identify(policy, robai.Gaussian([1.0, 0.5, 0.0]), delta=0.1, runs=100, rng=0)
    >>> round(found.time().mean)
    262
    """

    instead: ClassVar[str] = "KLUpperBound"
    delta: float | None = parameter(DELTA, default=None)
    sigma: Sigma = parameter(SIGMA, default=None)
    heuristic: bool = parameter(HEURISTIC, default=True)

    def bounds(self, game: Game) -> Bounds:
        base = math.log(5.0) - math.log(delta_of(self, game))
        if self.heuristic:
            return GaussianBounds(LilLevel(base, 0.0, 0.5), game.scales(self))
        eps = 0.01
        base = (base + math.log((2.0 + eps) / eps)) / (1.0 + eps)
        return GaussianBounds(LilLevel(base, eps, 1.0), game.scales(self))


@spec
class TopTwo(Exploration):
    """The leader I, or a challenger: arms between which the choice is open.

    leader "thompson": the largest of one posterior draw of every arm. "ucb": the largest q with
    N d(m, q) <= 2 log t. "empirical": the largest mean.

    challenger "resample": the largest of new posterior draws, drawn until it is another arm (10,000 times at
    most, then "transport"). "transport": the smallest W_j, the likelihood ratio N_I d(m_I, m_Ij) + N_j d(m_j,
    m_Ij) if m_I > m_j, else 0. "penalised": the smallest W_j + log N_j.

    A leader that was drawn is pulled with probability beta. Another one is pulled if that has happened in at
    most a share beta of the rounds that it led, this one included.

    Examples
    --------
    >>> import robai
    >>> policies = [robai.Policy(TopTwo(beta=beta), robai.TrackAndStop()) for beta in (0.3, 0.5)]
    >>> found = robai.identify(policies, robai.Gaussian([1.0, 0.5, 0.0]), delta=0.01, runs=100, rng=0)
    >>> [each.proportions().shares[0].round(1).item() for each in found.values()]
    [0.3, 0.5]
    """

    leader: Leader = parameter(LEADER, default="thompson")
    challenger: Challenger = parameter(CHALLENGER, default="transport")
    beta: float = parameter(BETA, default=0.5)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def start(self, game: Game) -> protocols.Exploration:
        family = game.family_for(self)
        return explore_pairs.TopTwo(
            game.n_arms,
            family._core(game.n_arms),
            kl_bounds(self, RoundLevel(2.0), game) if self.leader == "ucb" else None,
            self.leader == "empirical",
            self.challenger == "resample",
            self.challenger == "penalised",
            self.beta,
        )


@spec
class Racing(Exploration):
    """The arms still in doubt in turn; after every sweep the worst of them is dropped if it is clearly so.

    test "kl": when its upper bound is below the lower bound of the best; thresholds "practical", "lucb" and
    "proved", which are those of `Separation`. test "likelihood": when the likelihood ratio of the two is
    above a threshold of `LikelihoodRatio`. Their proofs carry over: the best arm is dropped only if a bound
    fails, or if the likelihood ratio of a worse arm against it is above its threshold, at some time,
    whatever is pulled.

    Examples
    --------
    >>> import robai
    >>> robai.Racing(test="likelihood").parts().explore
    Racing(delta=None, threshold='practical', test='likelihood', family=None)
    """

    bounds: ClassVar[AnyBounds] = "kl"
    delta: float | None = parameter(DELTA, default=None)
    threshold: Threshold | BoundsThreshold = parameter(RACING_THRESHOLD, default="practical")
    test: Test = parameter(TEST, default="kl")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = BOUNDS_THRESHOLD if self.test == "kl" else THRESHOLD
        kind.check(f"threshold of test={self.test!r}", self.threshold)

    def start(self, game: Game) -> protocols.Exploration:
        name: Any = self.threshold  # one of the test's
        if self.test == "kl":
            bounds = bounds_of(self, threshold_level(name, self, game), game)
            return explore_phases.BoundRacing(game.n_arms, bounds)
        family = game.family_for(self)
        threshold = threshold_of(name, family, game, delta_of(self, game))
        core = family._core(game.n_arms)
        return explore_phases.RatioRacing(game.n_arms, core, threshold.core, threshold.mixture)


@spec
class Halving(Exploration):
    """ceil(log2 K) phases of as many rounds: the arms left are pulled in turn, and the better half stays.

    Each is pulled floor(T / (left ceil(log2 K))) times. The means by which they are compared are those of all
    their rewards, or of the phase alone if `fresh`.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(Halving(), commit=robai.rules.Recommended())
    >>> robai.identify(policy, robai.Gaussian([1, 0, 0, 0]), budget=80, runs=1, rng=0).pulls.tolist()
    [[30, 10, 30, 10]]
    """

    budgeted: ClassVar[bool] = True
    fresh: bool = parameter(FRESH, default=False)

    def start(self, game: Game) -> protocols.Exploration:
        return explore_phases.Halving(game.n_arms, self.fresh)


@spec
class Rejects(Exploration):
    """K - 1 phases, in which the arms left are pulled in turn; the one with the smallest mean is dropped.

    After phase k each of them has ceil((T - K) / (logbar K (K + 1 - k))) pulls, logbar K = 1/2 + the sum of
    1/i over i = 2, ..., K.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(Rejects(), commit=robai.rules.Recommended())
    >>> robai.identify(policy, robai.Gaussian([1, 0, 0, 0]), budget=80, runs=1, rng=0).pulls.tolist()
    [[24, 12, 24, 16]]
    """

    budgeted: ClassVar[bool] = True

    def start(self, game: Game) -> protocols.Exploration:
        return explore_phases.Rejects(game.n_arms)
