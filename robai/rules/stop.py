"""When to stop. Rules combine with `&` and `|`."""

from __future__ import annotations

import ctypes
import itertools
import math
from typing import Any, ClassVar

from robai import families
from robai._base import checks
from robai._base.spec import Field, Kind, Pairs, Part, optional, parameter, spec
from robai._core import protocols, stopping, thresholds
from robai._core.levels import FixedLevel
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
    KL,
    ROUND,
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

_AFTER_ALL = 2**63 - 1  # a round that no game comes to


def commit_round_eocp(
    n_arms: float, gap: float, horizon: float, *, inflation: float = 1.0, sigma: float = 1.0
) -> float:
    """EOCP's last round of exploration, T_c = 8 A l sigma^2 / gap^2 + A, a real number.

    Algorithm 1, line 1 (alg:fixed). The policy explores up to floor(T_c), and never past T.

    >>> round(commit_round_eocp(2, 0.5, 10**6), 1)
    1124.1
    """
    arms, level = checks.at_least("n_arms", n_arms, 2), exploration(horizon, inflation)
    ratio = checks.scale("sigma", sigma) / checks.positive("gap", gap)
    return arms * (8 * level * ratio * ratio + 1)


def commit_round_kl_eocp(n_arms: float, kl: float, horizon: float, *, inflation: float = 1.0) -> float:
    """KL-EOCP's last round of exploration, T_c = 4 A l / kl + A, a real number.

    Algorithm 3 (alg:klfixed). Erratum: the box prints kl^2; the proof, the commitment time O(log T / kl) and
    the Gaussian case, where it must be EOCP's with kl = gap^2 / 2, have kl.

    >>> round(commit_round_kl_eocp(2, 0.534111, 10**6), 1)
    264.6
    """
    arms, level = checks.at_least("n_arms", n_arms, 2), exploration(horizon, inflation)
    return arms * (4 * level / checks.positive("kl", kl) + 1)


def commit_round_etc(gap: float, horizon: float, *, sigma: float = 1.0) -> int:
    """The last round of exploration of ETC on two arms, 2 ceil(2 sigma^2 W(T^2 D^4 / (32 pi)) / gap^2).

    D = gap / sigma; W is Lambert's function, w exp(w) = x. Half of it, n pulls of each arm, is where n gap +
    T gap P(the worse mean is the larger) is smallest: Garivier, Kaufmann and Lattimore (2016), FB-ETC.

    >>> commit_round_etc(0.5, 10**6)
    280
    """
    log_ratio = math.log(checks.positive("gap", gap)) - math.log(checks.scale("sigma", sigma))
    log_x = 2 * math.log(checks.at_least("horizon", horizon, 2)) + 4 * log_ratio - math.log(32 * math.pi)
    log_pulls = math.log(2) + _log_lambert(log_x) - 2 * log_ratio
    return min(2 * max(math.ceil(math.exp(min(log_pulls, 44.0))), 1), _AFTER_ALL)  # 44: beyond it anyway


def _log_lambert(log_x: float) -> float:
    """log W(x): w + log w = log x."""
    if log_x < -40.0:
        return log_x  # to all digits
    w = math.log1p(math.exp(log_x)) if log_x < 1.0 else log_x
    for _ in range(8):  # Newton's steps; the left hand side is concave
        w *= (1.0 + log_x - math.log(w)) / (1.0 + w)
    return math.log(w)


class Stopping(Part):
    """When to stop."""

    budgeted: ClassVar[bool] = False  # as of explorations

    def start(self, game: Game) -> protocols.Stopping:
        """The compiled rule, for a game."""
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
    """Explore to the horizon, or until the exploration says itself that it is done."""

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.Never()


@spec
class FixedRound(Stopping):
    """When `round` rounds have been played."""

    round: int = parameter(ROUND)

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.FixedRound(self.round)


@spec
class Budget(Stopping):
    """When the horizon is reached: what has been pulled until then is what there is to choose by."""

    budgeted: ClassVar[bool] = True

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.FixedRound(game.rounds)


@spec
class KnownGap(Stopping):
    """When T_c = 8 K l sigma^2 / gap^2 + K rounds have been played: EOCP."""

    instead: ClassVar[str] = "KnownDivergence"
    gap: float = parameter(GAP)
    inflation: float = parameter(INFLATION, default=1.0)
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Stopping:
        sigma = float(game.scales(self).max())
        rounds = commit_round_eocp(game.n_arms, self.gap, game.horizon, inflation=self.inflation, sigma=sigma)
        return stopping.FixedRound(math.floor(min(rounds, _AFTER_ALL)))


@spec
class KnownDivergence(Stopping):
    """When T_c = 4 K l / kl + K rounds have been played: KL-EOCP."""

    kl: float = parameter(KL)
    inflation: float = parameter(INFLATION, default=1.0)

    def start(self, game: Game) -> protocols.Stopping:
        rounds = commit_round_kl_eocp(game.n_arms, self.kl, game.horizon, inflation=self.inflation)
        return stopping.FixedRound(math.floor(min(rounds, _AFTER_ALL)))


@spec
class Imbalance(Stopping):
    """When one arm has more than l times the pulls of every other, plus one: EOCP-UG."""

    inflation: float = parameter(INFLATION, default=1.0)

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.Imbalance(exploration(game.horizon, self.inflation))


@spec
class Dominance(Stopping):
    """When one arm has `factor` times the pulls of all others together, plus one: lil'UCB.

    The factor is 1 + 10/K unless another is given.
    """

    factor: float | None = parameter(DOMINANCE, default=None)

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.Dominance(1.0 + 10.0 / game.n_arms if self.factor is None else self.factor)


@spec
class Separation(Stopping):
    """When the lower bound of the arm with the largest mean is above the upper bounds of all others.

    bounds "gaussian": m +- sigma sqrt(2 f / N). "bernstein": those of `BernsteinBound`. "kl": the q on
    either side of m with N d(m, q) = f. The level f is share * log T if a share is given, else it aims at
    an error of delta, 1/T by default:

    "iterated"   log(3 log^2(N) / delta): UCB_alpha
    "practical"  log((1 + log t) / delta); no theorem
    "lucb"       bounds "kl": b + log b, b = log(405.5 K t^1.1 / delta), Kaufmann and Kalyanakrishnan (2013);
                 bounds "gaussian": log(5 K t^4 / (4 delta)), Kalyanakrishnan et al. (2012)
    "proved"     the same

    With the last two the arm is wrong with probability delta at most, whichever arms were pulled.
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
            return stopping.Separation(bounds_of(self, FixedLevel(self.share * math.log(game.horizon)), game))
        return stopping.Separation(bounds_of(self, threshold_level(self.threshold, self, game), game))


@spec
class MeanGap(Stopping):
    """When |m_1 - m_2| >= sigma sqrt(8 log(T/t) / t), at even t: BAI-ETC, two arms in turn."""

    instead: ClassVar[str] = "LikelihoodRatio"
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Stopping:
        game.need_two_arms("BAI-ETC")
        return stopping.MeanGap(game.horizon, game.scale(self))


@spec
class FixedDesign(Stopping):
    """When 2 n rounds have been played, n = ceil(2 sigma^2 W(T^2 gap^4 / (32 pi sigma^4)) / gap^2): ETC.

    Two arms in turn; W is Lambert's function.
    """

    instead: ClassVar[str] = "KnownDivergence"
    gap: float = parameter(GAP)
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Stopping:
        game.need_two_arms("ETC")
        return stopping.FixedRound(commit_round_etc(self.gap, game.horizon, sigma=game.scale(self)))


@spec
class SPRT(Stopping):
    """When (t/2) gap |m_1 - m_2| >= sigma^2 log(T gap^2 / sigma^2), at even t: SPRT-ETC, two arms in turn."""

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
    delta, 1/T by default:

    "practical"          log((1 + log t) / delta), of Garivier and Kaufmann's experiments; no theorem
    "pair"               log((K-1) (1 + log(N_a + N_b)) / delta); no theorem
    "garivier-kaufmann"  log(2 t (K-1) / delta), their Theorem 10; Bernoulli rewards
    "kaufmann-koolen"    2 C(log((K-1) / delta) / 2) + r(N_a) + r(N_b), Kaufmann and Koolen (2021); any family
                         but bounded rewards and an unknown variance
    "mixture"            log((K-1) / delta), for likelihoods averaged over a prior; Bernoulli, binomial,
                         bounded and Gaussian rewards, also of unknown variance
    "proved"             "mixture" where it holds, as it stops earliest, else "kaufmann-koolen"

    With the last four the arm is wrong with probability delta at most, whichever arms were pulled.
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
            return stopping.LikelihoodRatio(
                core, thresholds.FixedThreshold(self.share * math.log(game.horizon))
            )
        if self.level is not None:
            return stopping.LikelihoodRatio(core, thresholds.HorizonThreshold(game.horizon, self.level))
        threshold = threshold_of(self.threshold, family, game, delta_of(self, game))
        return stopping.LikelihoodRatio(core, threshold.core, threshold.mixture)


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
    name : str
        What to call it, in labels and messages.
    moments : 1 or 2
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
    """When two rules fire at the same round."""

    first: Stopping = parameter(RULE)
    second: Stopping = parameter(RULE)

    def label(self) -> str:
        return f"({self.first.label()} & {self.second.label()})"

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.Both(self.first.start(game), self.second.start(game))


@spec
class Either(Stopping):
    """When the first of two rules fires."""

    first: Stopping = parameter(RULE)
    second: Stopping = parameter(RULE)

    def label(self) -> str:
        return f"({self.first.label()} | {self.second.label()})"

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.Either(self.first.start(game), self.second.start(game))
