"""How to explore."""

from __future__ import annotations

import ctypes
import math
from typing import Any, ClassVar

import numpy as np

from robai import families
from robai._base.spec import Field, Pairs, Part, parameter, spec
from robai._core import explore_divergence, explore_index, explore_sampling, explore_stages, protocols
from robai._core import families as _core_families
from robai._core.bounds import (
    Bounds,
    GaussianBounds,
    PosteriorBounds,
)
from robai._core.levels import (
    AdaLevel,
    AnytimeMossLevel,
    FixedLevel,
    QuantileLevel,
    RoundLevel,
    SurpriseLevel,
)
from robai._core.pointers import FunctionBounds, Present
from robai.families import FamilyLike
from robai.rules.bernstein import bernstein_bounds
from robai.rules.game import Game
from robai.rules.level import delta_of, kl_bounds, level_of, threshold_level
from robai.rules.parameters import (
    ALPHA,
    ANYTIME_ALPHA,
    CONFIDENCE,
    CONSTANT,
    DELTA,
    FAMILY,
    INFLATION,
    LEVEL,
    PRIOR,
    RADIUS,
    SIGMA,
    TRACKING,
    ZETA,
    Constant,
    LevelName,
    Prior,
    Radius,
    Sigma,
    Tracked,
)
from robai.rules.pointer import FUNCTION, GROWS, INITIAL_PULLS, MOMENTS, NAME, Function, Level, Pointed


class Exploration(Part):
    """How to explore."""

    budgeted: ClassVar[bool] = False  # is the horizon a budget, which it uses up whatever it sees

    def start(self, game: Game) -> protocols.Exploration:
        """The compiled rule, for a game."""
        raise NotImplementedError


class Optimism(Exploration):
    """The arm with the largest upper confidence bound, its index."""

    def bounds(self, game: Game) -> Bounds:
        """The bounds, for a game."""
        raise NotImplementedError

    def start(self, game: Game) -> protocols.Exploration:
        return explore_index.optimism(game.n_arms, self.bounds(game))


@spec
class UpperBound(Optimism):
    """The arm with the largest m + sigma sqrt(2 f / N).

    The level f is

    "horizon"  log T + inflation sqrt(log T)
    "ratio"    log+(T/N)
    "++"       log+(y (1 + log+(y)^2)), y = T / (K N)
    "moss"     2 log+(T / (K N))
    "round"    log t
    "plus"     log+(t/N)
    "loglog"   log t + 3 log max(1, log t)
    "anytime"  log(1 + t log(t)^2)

    or that of a `Level`; t is the round that is decided. Sources are in `UCB`, `KLUCB` and `MOSS`.
    """

    instead: ClassVar[str] = "KLUpperBound"
    exclusive: ClassVar[Pairs] = (("level", "inflation"),)
    level: LevelName | Level = parameter(LEVEL, default="horizon")
    inflation: float = parameter(INFLATION, default=0.0)
    sigma: Sigma = parameter(SIGMA, default=None)

    def bounds(self, game: Game) -> Bounds:
        return GaussianBounds(level_of(self, game), game.scales(self))


@spec
class AnytimeMoss(Optimism):
    """The arm with the largest m + sigma sqrt(2 f / N), f = (1 + alpha) log+(t / (K N)): MOSS-anytime."""

    instead: ClassVar[str] = "KLUpperBound"
    alpha: float = parameter(ANYTIME_ALPHA, default=1.35)
    sigma: Sigma = parameter(SIGMA, default=None)

    def bounds(self, game: Game) -> Bounds:
        return GaussianBounds(AnytimeMossLevel(self.alpha, game.n_arms), game.scales(self))


@spec
class KLUpperBound(Optimism):
    """The arm with the largest q such that N d(m, q) <= f; levels f as for `UpperBound`."""

    exclusive: ClassVar[Pairs] = (("level", "inflation"),)
    level: LevelName | Level = parameter(LEVEL, default="horizon")
    inflation: float = parameter(INFLATION, default=0.0)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def bounds(self, game: Game) -> Bounds:
        return kl_bounds(self, level_of(self, game), game)


@spec
class WideBound(Optimism):
    """The arm with the largest m + alpha w(N): the exploration of UCB_alpha, see `Separation`."""

    instead: ClassVar[str] = "KLUpperBound"
    alpha: float = parameter(ALPHA, default=2.0)
    delta: float | None = parameter(DELTA, default=None)
    sigma: Sigma = parameter(SIGMA, default=None)

    def bounds(self, game: Game) -> Bounds:
        return GaussianBounds(threshold_level("iterated", self, game), self.alpha * game.scales(self))


@spec
class BernsteinBound(Optimism):
    """The arm with the largest m + s sqrt(2 f / N) + 3 b f / N, for rewards in an interval of length b.

    s^2 is the variance of the arm's rewards. Audibert, Munos and Szepesvari (2009); constant "maurer-pontil"
    is the tighter bound of Maurer and Pontil (2009), with the unbiased variance and 7 b f / (3 (N - 1)). The
    level f is as for `UpperBound`, times zeta for "round".
    """

    instead: ClassVar[str] = "KLUpperBound"
    exclusive: ClassVar[Pairs] = (("level", "inflation"),)
    level: LevelName = parameter(LEVEL, default="horizon")
    inflation: float = parameter(INFLATION, default=0.0)
    zeta: float = parameter(ZETA, default=1.0)
    constant: Constant = parameter(CONSTANT, default="audibert")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.zeta != 1.0 and self.level != "round":
            raise ValueError(f"zeta must be 1 unless level is 'round', got {self.zeta!r} with {self.level!r}")

    def bounds(self, game: Game) -> Bounds:
        level = RoundLevel(self.zeta) if self.level == "round" else level_of(self, game)
        return bernstein_bounds(self, game, level, unbiased=self.constant == "maurer-pontil")


@spec
class MinimumDivergence(Exploration):
    """The arm with the smallest N d(m, M) + log N, where M is the largest mean: Honda and Takemura (2015)."""

    instead: ClassVar[str] = "KLUpperBound"
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def start(self, game: Game) -> protocols.Exploration:
        family = game.family_of_means(self)
        sigma = game.scales(family) if isinstance(family, families.Gaussian) else np.ones(game.n_arms)
        means = GaussianBounds(FixedLevel(0.0), sigma)
        return explore_divergence.MinimumDivergence(game.n_arms, means, family._core(game.n_arms))


@spec
class AdaBound(Optimism):
    """The arm with the largest m + sigma sqrt(2 f / N), f = log((x + e) sqrt(log(x + e))): AdaUCB.

    x = T / H, H = sum over arms b of min(N, sqrt(N N_b)).
    """

    instead: ClassVar[str] = "KLUpperBound"
    sigma: Sigma = parameter(SIGMA, default=None)

    def bounds(self, game: Game) -> Bounds:
        return GaussianBounds(AdaLevel(game.n_arms, game.horizon), game.scales(self))


@spec
class PosteriorQuantile(Optimism):
    """The arm with the largest 1 - 1 / (t log^c T) quantile of its posterior: Bayes-UCB.

    Posteriors are those of `PosteriorSampling`, every arm is pulled once first.
    """

    c: float = parameter(CONFIDENCE, default=0.0)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def bounds(self, game: Game) -> Bounds:
        family = game.family_for(self)
        surprise = SurpriseLevel(self.c, game.horizon)
        if isinstance(family, families.Gaussian) and family.sigma is not None:
            # m + z sigma / sqrt(N)
            return GaussianBounds(QuantileLevel(surprise), game.scales(family))
        return PosteriorBounds(surprise, family._core(game.n_arms))


@spec
class PosteriorSampling(Exploration):
    """The arm with the largest draw from its posterior: priors are those of `ThompsonSampling`."""

    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)
    prior: Prior = parameter(PRIOR, default="jeffreys")

    def start(self, game: Game) -> protocols.Exploration:
        family = game.family_for(self)
        core = family._core(game.n_arms)
        if self.prior == "uniform":
            if not isinstance(family, families.Bernoulli):
                raise ValueError(
                    f"prior='uniform' is Beta(1, 1) of Bernoulli rewards, got rewards of {family!r}: use "
                    "prior='jeffreys', or family='bernoulli' for rewards in [0, 1]"
                )
            core = _core_families.Bernoulli(1.0)
        return explore_sampling.Thompson(game.n_arms, core)


@spec
class RoundRobin(Exploration):
    """All arms in turn."""

    def start(self, game: Game) -> protocols.Exploration:
        return explore_sampling.RoundRobin()


@spec
class Tracking(Exploration):
    """The arm that lags most behind the proportions w* of the current estimate.

    Garivier and Kaufmann (2016); "D" tracks the last proportions, "C" their sum. Where the variance of
    Gaussian rewards is unknown, the proportions are those of equal variances.
    """

    tracking: Tracked = parameter(TRACKING, default="D")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def start(self, game: Game) -> protocols.Exploration:
        family = game.family_for(self)
        return explore_sampling.Tracking(game.n_arms, family._core(game.n_arms), self.tracking == "C")


@spec
class Elimination(Exploration):
    """The arms still in doubt in turn, until one is left.

    radius "paper": after every pull an arm is dropped when its m + r is below the best arm's
    m - r, r = sigma sqrt(2 log(1/delta) / N). radius "even-dar": after every sweep an arm is
    dropped when its mean is 2 alpha below the best, alpha = sigma sqrt(2 log(4 K n^2/delta) / n).
    """

    instead: ClassVar[str] = ""
    delta: float | None = parameter(DELTA, default=None)
    radius: Radius = parameter(RADIUS, default="paper")
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Exploration:
        delta = delta_of(self, game)
        if self.radius == "even-dar":
            return explore_stages.SweepElimination(game.n_arms, delta, game.scales(self).max())
        narrow = GaussianBounds(FixedLevel(-math.log(delta)), game.scales(self))
        return explore_stages.BoundElimination(game.n_arms, narrow)


@spec
class DoubleExplore(Exploration):
    """The stages of DETC: two arms."""

    instead: ClassVar[str] = ""
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Exploration:
        game.need_two_arms("DETC")
        return explore_stages.DoubleExplore(game.horizon, game.scale(self))


@spec
class DoubleExploreK(Exploration):
    """The stages of DETC-K."""

    instead: ClassVar[str] = ""
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Exploration:
        return explore_stages.DoubleExploreK(game.n_arms, game.horizon, game.scale(self))


@spec
class Index(Pointed, Exploration):
    """The arm with the largest index, a function of yours.

    An index must depend on its own arm, and on t if it `grows`: that of the arm that was pulled is computed
    anew, all of them if it grows. Every round is played; a `Level` leaps.

    Parameters
    ----------
    func : numba.cfunc, ctypes function, int or str
        double f(double pulls, double sum, double squares, double t, double horizon, double arms): the index
        of an arm with so many pulls, whose rewards have this sum and these squares of deviations from their
        mean, summed (NaN unless moments=2), before round t (1, 2, ...). Functions are as for `Level`.
    name : str
        What to call it, in labels and messages.
    initial_pulls : int
        How often every arm is pulled in turn before any index is computed.
    grows : bool
        Whether it depends on t.
    moments : 1 or 2
        2 to be given squares.

    Examples
    --------
    >>> Index.signature
    'float64(float64, float64, float64, float64, float64, float64)'
    >>> Index("my_rules:ucb_tuned", name="UCB1-tuned", grows=True, moments=2).label()
    'UCB1-tuned'
    >>> Index(max, name="largest")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: func must be a numba.cfunc, ...; write numba.cfunc(robai.rules.Index.signature)(max)
    """

    signature: ClassVar[str] = f"float64({', '.join(['float64'] * 6)})"
    ctypes_signature: ClassVar[Any] = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * 6)
    func: Function = parameter(FUNCTION)
    name: str = parameter(NAME, kw_only=True)
    initial_pulls: int = parameter(INITIAL_PULLS, default=1, kw_only=True)
    grows: bool = parameter(GROWS, default=False, kw_only=True)
    moments: int = parameter(MOMENTS, default=1, kw_only=True)

    def start(self, game: Game) -> protocols.Exploration:
        n_arms, level = game.n_arms, Present(self.grows)
        pulls, moments = self.initial_pulls, self.moments
        bounds = FunctionBounds(level, *self.func.resolve(), self.name, pulls, moments, game.horizon, n_arms)
        return explore_index.optimism(n_arms, bounds)
