"""How to explore."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

import numpy as np

from robai import families
from robai._base.spec import Field, Pairs, Part, parameter, spec
from robai._core import explore_divergence, explore_index, protocols
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
from robai.rules.level import kl_bounds, level_of, threshold_level
from robai.rules.parameters import (
    ALPHA,
    ANYTIME_ALPHA,
    CONFIDENCE,
    CONSTANT,
    DELTA,
    FAMILY,
    INFLATION,
    LEVEL,
    SIGMA,
    ZETA,
    Constant,
    LevelName,
    Sigma,
)
from robai.rules.pointer import FUNCTION, GROWS, INITIAL_PULLS, MOMENTS, NAME, Function, Level, Pointed


class Exploration(Part):
    """How to explore.

    Examples
    --------
    >>> import robai
    >>> isinstance(robai.UCB().parts().explore, Exploration)
    True
    """

    budgeted: ClassVar[bool] = False  # is the horizon a budget, which it uses up whatever it sees

    def start(self, game: Game) -> protocols.Exploration:
        """The compiled rule, for a game.

        Parameters
        ----------
        game : Game
            The number of arms, the horizon and what the rewards are.

        Returns
        -------
        compiled exploration

        Examples
        --------
        >>> from robai import rules
        >>> game = Game.of(2, 1000, families.Gaussian(1.0))
        >>> rules.UpperBound().start(game).initial_pulls
        1
        """
        raise NotImplementedError


class Optimism(Exploration):
    """The arm with the largest upper confidence bound, its index.

    Examples
    --------
    >>> import robai
    >>> isinstance(robai.KLUCB().parts().explore, Optimism)
    True
    """

    def bounds(self, game: Game) -> Bounds:
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
        >>> game = Game.of(2, 1000, families.Gaussian(1.0))
        >>> type(KLUpperBound().bounds(game)).__name__
        'GaussianBounds'
        """
        raise NotImplementedError

    def start(self, game: Game) -> protocols.Exploration:
        return explore_index.optimism(game.n_arms, self.bounds(game))


@spec
class UpperBound(Optimism):
    """The arm with the largest m + sigma sqrt(2 f / N).

    The level f, where t is the round that is decided, is one of these, or that of a `Level`. Sources are in
    `UCB`, `KLUCB` and `MOSS`. ::

        "horizon"  log T + inflation sqrt(log T)
        "ratio"    log+(T/N)
        "++"       log+(y (1 + log+(y)^2)), y = T / (K N)
        "moss"     2 log+(T / (K N))
        "round"    log t
        "plus"     log+(t/N)
        "loglog"   log t + 3 log max(1, log t)
        "anytime"  log(1 + t log(t)^2)

    Parameters
    ----------
    level
        f, see above.
    inflation
        c in f = log T + c sqrt(log T), of the level "horizon" alone.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(UpperBound("++"))
    >>> round(robai.simulate(policy, robai.Gaussian([0.7, 0.2]), 10**5, 1000, rng=0).regret[-1].item())
    41
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
    """The arm with the largest m + sigma sqrt(2 f / N), f = (1 + alpha) log+(t / (K N)): MOSS-anytime.

    Parameters
    ----------
    alpha
        From 0 to 100.

    Examples
    --------
    >>> import robai
    >>> robai.MOSS(anytime=True).parts().explore
    AnytimeMoss(alpha=1.35, sigma=None)
    """

    instead: ClassVar[str] = "KLUpperBound"
    alpha: float = parameter(ANYTIME_ALPHA, default=1.35)
    sigma: Sigma = parameter(SIGMA, default=None)

    def bounds(self, game: Game) -> Bounds:
        return GaussianBounds(AnytimeMossLevel(self.alpha, game.n_arms), game.scales(self))


@spec
class KLUpperBound(Optimism):
    """The arm with the largest q such that N d(m, q) <= f; levels f as for `UpperBound`.

    Parameters
    ----------
    level
        f, see `UpperBound`.
    inflation
        c in f = log T + c sqrt(log T), of the level "horizon" alone.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(KLUpperBound(inflation=1.0))
    >>> round(robai.simulate(policy, robai.Poisson([5, 3]), 10**4, 100, rng=0).regret[-1].item())
    50
    """

    exclusive: ClassVar[Pairs] = (("level", "inflation"),)
    level: LevelName | Level = parameter(LEVEL, default="horizon")
    inflation: float = parameter(INFLATION, default=0.0)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def bounds(self, game: Game) -> Bounds:
        return kl_bounds(self, level_of(self, game), game)


@spec
class WideBound(Optimism):
    """The arm with the largest m + alpha w(N): the exploration of UCB_alpha, see `Separation`.

    Parameters
    ----------
    alpha
        Above 1.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(WideBound(alpha=1.5), robai.rules.Separation())
    >>> policy.parts() == robai.UCBAlpha(alpha=1.5).parts()
    True
    """

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

    Parameters
    ----------
    level
        f, see `UpperBound`.
    inflation
        c in f = log T + c sqrt(log T), of the level "horizon" alone.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Beta([0.7, 0.2], concentration=100.0)
    >>> policies = [robai.Policy(BernsteinBound(constant=each)) for each in ("audibert", "maurer-pontil")]
    >>> played = robai.compare(policies, bandit, 10**4, 20, rng=0)
    >>> [round(each.regret[-1].item(), 1) for each in played.values()]
    [28.8, 23.1]
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
    """The arm with the smallest N d(m, M) + log N, where M is the largest mean: Honda and Takemura (2015).

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(MinimumDivergence(), robai.EOCPUG())
    >>> robai.simulate(policy, robai.Bernoulli([0.7, 0.2]), 10**5, 100, rng=0).digest().commit_median
    49.0
    """

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

    Examples
    --------
    >>> import robai
    >>> robai.Policy(AdaBound()).parts() == robai.AdaUCB().parts()
    True
    """

    instead: ClassVar[str] = "KLUpperBound"
    sigma: Sigma = parameter(SIGMA, default=None)

    def bounds(self, game: Game) -> Bounds:
        return GaussianBounds(AdaLevel(game.n_arms, game.horizon), game.scales(self))


@spec
class PosteriorQuantile(Optimism):
    """The arm with the largest 1 - 1 / (t log^c T) quantile of its posterior: Bayes-UCB.

    Posteriors are those of `PosteriorSampling`, every arm is pulled once first.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(PosteriorQuantile(c=5.0))
    >>> round(robai.simulate(policy, robai.Bernoulli([0.7, 0.2]), 10**4, 20, rng=0).regret[-1].item(), 1)
    16.2
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
    name
        What to call it, in labels and messages.
    initial_pulls
        How often every arm is pulled in turn before any index is computed.
    grows
        Whether it depends on t.
    moments
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
