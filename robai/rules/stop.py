"""When to stop. Rules combine with `&` and `|`."""

from __future__ import annotations

import ctypes
import itertools
import math
from typing import Any, ClassVar

from robai import families
from robai._base.spec import Field, Kind, Pairs, Part, optional, parameter, spec
from robai._core import protocols, separation, stopping, thresholds
from robai._core.levels import FixedLevel, Level
from robai._core.pointers import FunctionStop
from robai.families import FamilyLike
from robai.rules.game import Game
from robai.rules.level import bounds_of, check_used, delta_of, exploration, threshold_level
from robai.rules.parameters import (
    ANY_BOUNDS,
    BAR,
    DELTA,
    DOMINANCE,
    FAMILY,
    GAP,
    INFLATION,
    SHARE,
    SIGMA,
    AnyBounds,
    Bar,
    Sigma,
)
from robai.rules.pointer import FUNCTION, MOMENTS, NAME, Function, Pointed
from robai.rules.threshold import (
    SEPARATION_THRESHOLD,
    THRESHOLD,
    SeparationThreshold,
    Threshold,
    threshold_of,
)


class Stopping(Part):
    """When to stop; rules combine with `&`, when both fire, and ``|``, when one does.

    Examples
    --------
    >>> from robai import rules
    >>> (rules.Imbalance() & rules.LikelihoodRatio(share=0.5) | rules.FixedRound(1000)).label()
    '((Imbalance() & LikelihoodRatio(share=0.5)) | FixedRound(round=1000))'
    """

    budgeted: ClassVar[bool] = False  # as of explorations

    def start(self, game: Game) -> protocols.Stopping:
        """The compiled rule, for a game.

        Parameters
        ----------
        game : Game
            The number of arms, the horizon and what the rewards are.

        Returns
        -------
        compiled stopping rule

        Examples
        --------
        >>> game = Game.of(2, 1000, families.Gaussian(1.0))
        >>> type(Imbalance().start(game)).__name__
        'Imbalance'
        """
        raise NotImplementedError

    def __and__(self, other: Stopping) -> Both:
        return Both(self, other)

    def __or__(self, other: Stopping) -> Either:
        return Either(self, other)


def _stopping_rule(name: str, value: Any) -> Stopping:
    if not isinstance(value, Stopping):
        raise TypeError(f"{name} must be a stopping rule, got {value!r}")
    return value


RULE = Kind(_stopping_rule, "a stopping rule")


@spec
class Never(Stopping):
    """Explore to the horizon, or until the exploration says itself that it is done.

    Examples
    --------
    >>> import robai
    >>> robai.UCB().parts().stop
    Never()
    """

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.Never()


@spec
class Imbalance(Stopping):
    """When one arm has more than l times the pulls of every other, plus one: EOCP-UG.

    Examples
    --------
    >>> import robai
    >>> policies = [robai.Policy(robai.UCB(), Imbalance(inflation=c)) for c in (0.0, 1.0, 2.0)]
    >>> played = robai.compare(policies, robai.Gaussian([0.7, 0.2]), 10**5, 1000, rng=0)
    >>> [each.digest().commit_median for each in played.values()]
    [533.5, 749.0, 966.0]
    """

    inflation: float = parameter(INFLATION, default=1.0)

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.Imbalance(exploration(game.horizon, self.inflation))


@spec
class Dominance(Stopping):
    """When one arm has so many times the pulls of all others together, plus one: lil'UCB.

    Parameters
    ----------
    factor
        How many times; 1 + 10/K unless another is given.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.UCB(), Dominance(9.0), robai.rules.MostPulled())
    >>> robai.simulate(policy, robai.Gaussian([1, 0, 0]), 10**4, 100, rng=0).digest().commit_median
    221.0
    """

    factor: float | None = parameter(DOMINANCE, default=None)

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.Dominance(1.0 + 10.0 / game.n_arms if self.factor is None else self.factor)


@spec
class Separation(Stopping):
    """When the lower bound of the arm with the largest mean is above the upper bounds of all others.

    bounds "gaussian": m +- sigma sqrt(2 f / N). "bernstein": those of `BernsteinBound`. "kl": the q on
    either side of m with N d(m, q) = f. The level f is share * log T if a share is given, else it aims at
    an error of delta, 1/T by default::

        "iterated"   log(3 log^2(N) / delta): UCB_alpha
        "practical"  log((1 + log t) / delta); no theorem
        "lucb"       bounds "kl": b + log b, b = log(405.5 K t^1.1 / delta), Kaufmann and
                     Kalyanakrishnan (2013); bounds "gaussian": log(5 K t^4 / (4 delta)),
                     Kalyanakrishnan et al. (2012)
        "proved"     the same

    With the last two the arm is wrong with probability delta at most, whichever arms were pulled.

    Parameters
    ----------
    share
        f is so many times log T.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.KLUCB(), Separation(bounds="kl", threshold="practical"))
    >>> robai.simulate(policy, robai.Bernoulli([0.7, 0.2]), 10**4, 100, rng=0).wrong_commit().count
    0
    """

    instead: ClassVar[str] = "LikelihoodRatio"
    exclusive: ClassVar[Pairs] = (("share", "delta"), ("share", "threshold"))
    delta: float | None = parameter(DELTA, default=None)
    sigma: Sigma = parameter(SIGMA, default=None)
    bounds: AnyBounds = parameter(ANY_BOUNDS, default="gaussian")
    share: float | None = parameter(SHARE, default=None)
    threshold: SeparationThreshold = parameter(SEPARATION_THRESHOLD, default="iterated")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_used(self)

    def start(self, game: Game) -> protocols.Stopping:
        if self.share is not None:
            level: Level = FixedLevel(self.share * math.log(game.horizon))
        else:
            level = threshold_level(self.threshold, self, game)
        return separation.Separation(game.n_arms, bounds_of(self, level, game))


@spec
class MeanGap(Stopping):
    """When the means of two arms in turn differ by sigma sqrt(8 log(T/t) / t), at even t: BAI-ETC.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.rules.RoundRobin(), MeanGap())
    >>> robai.simulate(policy, robai.Gaussian([0.7, 0.2]), 10**6, 100, rng=0).digest().commit_median
    236.0
    """

    instead: ClassVar[str] = "LikelihoodRatio"
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Stopping:
        game.need_two_arms("BAI-ETC")
        return stopping.MeanGap(game.horizon, game.scale(self))


@spec
class SPRT(Stopping):
    """When (t/2) gap abs(m_1 - m_2) >= sigma^2 log(T gap^2 / sigma^2), at even t: SPRT-ETC, two arms in turn.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.rules.RoundRobin(), SPRT(0.5))
    >>> robai.simulate(policy, robai.Gaussian([0.7, 0.2]), 10**6, 100, rng=0).digest().commit_median
    101.0
    """

    instead: ClassVar[str] = "LikelihoodRatio"
    gap: float = parameter(GAP)
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Stopping:
        game.need_two_arms("SPRT-ETC")
        return stopping.SPRT(self.gap, game.scale(self), game.horizon)


@spec
class LikelihoodRatio(Stopping):
    """When the likelihood ratio of the arm with the largest mean, against every other, is large.

    min over b of N_a d(m_a, m_ab) + N_b d(m_b, m_ab) >= threshold, m_ab the pooled mean. The threshold is
    share * log T if a share is given; if a level is, log(T / (N_a + N_b)) for "ratio", log(T / min(N_a, N_b))
    for "pulls", log T for "horizon", while rounds are left: that of LeadCommit. Else it aims at an error of
    delta, 1/T by default::

        "practical"          log((1 + log t) / delta), of Garivier and Kaufmann's experiments; no theorem
        "pair"               log((K-1) (1 + log(N_a + N_b)) / delta); no theorem
        "garivier-kaufmann"  log(2 t (K-1) / delta), their Theorem 10; Bernoulli rewards
        "kaufmann-koolen"    2 C(log((K-1) / delta) / 2) + r(N_a) + r(N_b), Kaufmann and Koolen (2021); any
                             family but bounded rewards and an unknown variance
        "mixture"            log((K-1) / delta), for likelihoods averaged over a prior; Bernoulli, binomial,
                             bounded and Gaussian rewards, also of unknown variance
        "proved"             "mixture" where it holds, as it stops earliest, else "kaufmann-koolen"

    With the last four the arm is wrong with probability delta at most, whichever arms were pulled.

    Parameters
    ----------
    share
        The threshold is so many times log T.
    level
        The threshold is log T less a logarithm of pulls, see above.

    Examples
    --------
    >>> import robai
    >>> stops = [LikelihoodRatio(), LikelihoodRatio(threshold="proved")]
    >>> policies = {stop.label(): robai.Policy(robai.UCB(), stop) for stop in stops}
    >>> found = robai.identify(policies, robai.Gaussian([1, 0]), delta=0.1, horizon=10**4, runs=100, rng=0)
    >>> [round(each.time().mean) for each in found.values()]
    [67, 806]
    """

    exclusive: ClassVar[Pairs] = (
        ("share", "level"),
        *itertools.product(("share", "level"), ("delta", "threshold")),
    )
    share: float | None = parameter(SHARE, default=None)
    delta: float | None = parameter(DELTA, default=None)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)
    threshold: Threshold = parameter(THRESHOLD, default="practical")
    level: Bar | None = parameter(Kind(optional(BAR.check), BAR.about), default=None)

    def start(self, game: Game) -> protocols.Stopping:
        family = game.family_for(self)
        core = family._core(game.n_arms)
        if self.share is not None:
            fixed = thresholds.FixedThreshold(self.share * math.log(game.horizon))
            return stopping.LikelihoodRatio(game.n_arms, core, fixed)
        if self.level is not None:
            falling = thresholds.HorizonThreshold(game.horizon, self.level)
            return stopping.LikelihoodRatio(game.n_arms, core, falling)
        threshold = threshold_of(self.threshold, family, game, delta_of(self, game))
        return stopping.LikelihoodRatio(game.n_arms, core, threshold.core, threshold.mixture)


@spec
class Stop(Pointed, Stopping):
    """When a function of yours says so.

    It is asked after every round, unless it is joined by `&` to a rule that knows its next round.

    Parameters
    ----------
    func : numba.cfunc, ctypes function, int or str
        int64_t f(int64_t arms, int64_t t, int64_t horizon, const int64_t* pulls, const double* sums, const
        double* squares): 0 to go on. t is the number of rounds played, and a horizon above 2^62
        counts as that; `squares` are those of deviations from each arm's mean, summed (NULL unless
        moments=2). Functions are as for `Level`.
    name
        What to call it, in labels and messages.
    moments
        2 to be given squares.

    Examples
    --------
    >>> Stop.signature
    'int64(int64, int64, int64, CPointer(int64), CPointer(float64), CPointer(float64))'
    >>> (Imbalance() & Stop("my_rules:enough", name="enough")).second.name
    'enough'
    """

    signature: ClassVar[str] = (
        "int64(int64, int64, int64, CPointer(int64), CPointer(float64), CPointer(float64))"
    )
    ctypes_signature: ClassVar[Any] = ctypes.CFUNCTYPE(
        *[ctypes.c_int64] * 4,
        *(ctypes.POINTER(each) for each in (ctypes.c_int64, ctypes.c_double, ctypes.c_double)),
    )
    func: Function = parameter(FUNCTION)
    name: str = parameter(NAME, kw_only=True)
    moments: int = parameter(MOMENTS, default=1, kw_only=True)

    def start(self, game: Game) -> protocols.Stopping:
        return FunctionStop(*self.func.resolve(), self.name, self.moments)


@spec
class Both(Stopping):
    """When two rules fire at the same round.

    Examples
    --------
    >>> from robai import rules
    >>> rules.Imbalance() & rules.FixedRound(1000)
    Both(first=Imbalance(inflation=1.0), second=FixedRound(round=1000))
    """

    first: Stopping = parameter(RULE)
    second: Stopping = parameter(RULE)

    def label(self) -> str:
        return f"({self.first.label()} & {self.second.label()})"

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.Both(self.first.start(game), self.second.start(game))


@spec
class Either(Stopping):
    """When the first of two rules fires.

    Examples
    --------
    >>> from robai import rules
    >>> rules.Imbalance() | rules.FixedRound(1000)
    Either(first=Imbalance(inflation=1.0), second=FixedRound(round=1000))
    """

    first: Stopping = parameter(RULE)
    second: Stopping = parameter(RULE)

    def label(self) -> str:
        return f"({self.first.label()} | {self.second.label()})"

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.Either(self.first.start(game), self.second.start(game))
