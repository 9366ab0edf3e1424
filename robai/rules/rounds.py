"""When to stop: at a round that is known beforehand."""

from __future__ import annotations

import math
from typing import ClassVar

from robai._base import checks
from robai._base.spec import parameter, spec
from robai._core import protocols, stopping
from robai.rules.game import Game
from robai.rules.level import exploration
from robai.rules.parameters import GAP, INFLATION, KL, ROUND, SIGMA, Sigma
from robai.rules.stop import Stopping

_AFTER_ALL = 2**63 - 1  # a round that no game comes to


def commit_round_eocp(
    n_arms: float, gap: float, horizon: float, *, inflation: float = 1.0, sigma: float = 1.0
) -> float:
    """EOCP's last round of exploration, T_c = 8 A l sigma^2 / gap^2 + A, a real number.

    Algorithm 1, line 1 (alg:fixed). The policy explores up to floor(T_c), and never past T.

    Parameters
    ----------
    n_arms : float
        A, the number of arms.
    gap : float
        What the policy is told.
    horizon : float
        T, the number of rounds.
    inflation : float
        c in l = log T + c sqrt(log T).
    sigma : float
        Standard deviation of the rewards.

    Returns
    -------
    float

    Examples
    --------
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

    Parameters
    ----------
    n_arms : float
        A, the number of arms.
    kl : float
        What the policy is told.
    horizon : float
        T, the number of rounds.
    inflation : float
        c in l = log T + c sqrt(log T).

    Returns
    -------
    float

    Examples
    --------
    >>> round(commit_round_kl_eocp(2, 0.534111, 10**6), 1)
    264.6
    """
    arms, level = checks.at_least("n_arms", n_arms, 2), exploration(horizon, inflation)
    return arms * (4 * level / checks.positive("kl", kl) + 1)


def commit_round_etc(gap: float, horizon: float, *, sigma: float = 1.0) -> int:
    """The last round of exploration of ETC on two arms, 2 ceil(2 sigma^2 W(T^2 D^4 / (32 pi)) / gap^2).

    D = gap / sigma; W is Lambert's function, w exp(w) = x. Half of it, n pulls of each arm, is where n gap +
    T gap P(the worse mean is the larger) is smallest: Garivier, Kaufmann and Lattimore (2016), FB-ETC.

    Parameters
    ----------
    gap : float
        What the policy is told.
    horizon : float
        T, the number of rounds.
    sigma : float
        Standard deviation of the rewards.

    Returns
    -------
    int

    Examples
    --------
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


@spec
class FixedRound(Stopping):
    """When so many rounds have been played.

    Parameters
    ----------
    round
        How many.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.UCB(), FixedRound(100))
    >>> robai.simulate(policy, robai.Gaussian([1, 0]), 1000, 3, rng=0).commit_time.tolist()
    [100, 100, 100]
    """

    round: int = parameter(ROUND)

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.FixedRound(self.round)


@spec
class Budget(Stopping):
    """When the horizon is reached: what has been pulled until then is what there is to choose by.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.UCB(), Budget(), robai.rules.MostPulled())
    >>> robai.identify(policy, robai.Gaussian([1, 0]), budget=100, runs=1000, rng=0).error().count
    0
    """

    budgeted: ClassVar[bool] = True

    def start(self, game: Game) -> protocols.Stopping:
        return stopping.FixedRound(game.rounds)


@spec
class KnownGap(Stopping):
    """When T_c = 8 K l sigma^2 / gap^2 + K rounds have been played: EOCP.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.UCB(), KnownGap(0.5))
    >>> robai.simulate(policy, robai.Gaussian([0.7, 0.2]), 10**6, 3, rng=0).commit_time.tolist()
    [1124, 1124, 1124]
    """

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
    """When T_c = 4 K l / kl + K rounds have been played: KL-EOCP.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.KLUCB(), KnownDivergence(0.5))
    >>> robai.simulate(policy, robai.Bernoulli([0.7, 0.2]), 10**6, 3, rng=0).commit_time.tolist()
    [282, 282, 282]
    """

    kl: float = parameter(KL)
    inflation: float = parameter(INFLATION, default=1.0)

    def start(self, game: Game) -> protocols.Stopping:
        rounds = commit_round_kl_eocp(game.n_arms, self.kl, game.horizon, inflation=self.inflation)
        return stopping.FixedRound(math.floor(min(rounds, _AFTER_ALL)))


@spec
class FixedDesign(Stopping):
    """When 2 n rounds have been played, n = ceil(2 sigma^2 W(T^2 gap^4 / (32 pi sigma^4)) / gap^2): ETC.

    Two arms in turn; W is Lambert's function.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(robai.rules.RoundRobin(), FixedDesign(0.5))
    >>> robai.simulate(policy, robai.Gaussian([0.7, 0.2]), 10**6, 3, rng=0).commit_time.tolist()
    [280, 280, 280]
    """

    instead: ClassVar[str] = "KnownDivergence"
    gap: float = parameter(GAP)
    sigma: Sigma = parameter(SIGMA, default=None)

    def start(self, game: Game) -> protocols.Stopping:
        game.need_two_arms("ETC")
        return stopping.FixedRound(commit_round_etc(self.gap, game.horizon, sigma=game.scale(self)))
