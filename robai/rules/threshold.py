"""What a likelihood ratio has to reach for the arm with the largest mean to be wrong at most with delta."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np

from robai import families
from robai._base import checks
from robai._base.spec import Kind, choice
from robai._core import stopping, thresholds
from robai._core.protocols import Evidence
from robai.rules.game import Game

Threshold = Literal["practical", "pair", "garivier-kaufmann", "kaufmann-koolen", "mixture", "proved"]
THRESHOLD = Kind(
    choice(Threshold),
    "of likelihood ratios: practical or pair, without a theorem, or one with a proof, proved the lowest",
)
# Those of confidence bounds; a likelihood ratio compares two arms, and its proofs say nothing of bounds.
BoundsThreshold = Literal["practical", "lucb", "proved"]
BOUNDS_THRESHOLD = Kind(
    choice(BoundsThreshold),
    "of bounds: practical, without a theorem, or lucb, which is what is proved",
)
RACING_THRESHOLD = Kind(
    lambda name, value: checks.one_of(
        name, value, dict.fromkeys(get_args(Threshold) + get_args(BoundsThreshold))
    ),
    "of racing: with test=kl one of bounds, with test=likelihood one of likelihood ratios",
)
SeparationThreshold = Literal["iterated", "practical", "lucb", "proved"]
SEPARATION_THRESHOLD = Kind(
    choice(SeparationThreshold),
    "of bounds: iterated, as of UCB_alpha, practical, without a theorem, or lucb, which is what is proved",
)


class Started(NamedTuple):
    """The compiled threshold, and whether it is for the mixture in place of the ratio."""

    core: thresholds.Threshold
    mixture: bool


def threshold_of(name: Threshold, family: families.Family, game: Game, delta: float) -> Started:
    """The threshold of that name; a ValueError if it is not proved for what rewards are taken for."""
    proved = _proved(family, game)
    if name == "proved" and proved:
        name = proved[0]
    if name == "practical":
        return Started(thresholds.PracticalThreshold(delta), mixture=False)
    if name == "pair":
        return Started(thresholds.PairThreshold(delta, game.n_arms), mixture=False)
    if name not in proved:
        instead = f"use {' or '.join(map(repr, proved))}" if proved else "'practical' is without a proof"
        raise ValueError(f"threshold={name!r} is not proved for {_rewards(family, game)}: {instead}")
    if name == "garivier-kaufmann":
        return Started(thresholds.UnionThreshold(delta, game.n_arms), mixture=False)
    return _started(family, name == "mixture", _base(family, name == "mixture", (game.n_arms - 1) / delta))


def _base(family: families.Family, mixture: bool, odds: float) -> float:
    """What is asked for besides what depends on counts; wrong with probability 1 / odds for two arms."""
    level = math.log(odds)
    if not mixture:
        return 2.0 * _calibration(family)(level / 2.0)
    # The mixtures of two arms of unknown variance are martingales, each in what is seen of its own arm up to
    # scale, but not together: P(XY >= x) <= (1 + log x) / x for independent X, Y with tails 1/x, instead of
    # Ville's.
    return _inverse(1.0 + level) - 1.0 if estimates(family) else level


def _started(family: families.Family, mixture: bool, base: float) -> Started:
    if mixture:
        return Started(thresholds.FixedThreshold(base), mixture=True)
    return Started(thresholds.CountThreshold(base, isinstance(family, families.Gaussian)), mixture=False)


class Certainty:
    """How sure it is that the arm with the largest mean is the best one, at any time, whatever is pulled.

    That is the smallest delta for which the lowest threshold with a proof is reached. There may have been
    more `rivals` than there are.
    """

    def __init__(self, family: families.Family, game: Game, rivals: int | None = None) -> None:
        self._family, self._rivals = family, game.n_arms - 1 if rivals is None else rivals
        if not (proved := _proved(family, game)):
            raise ValueError(f"no certificate is proved for {_rewards(family, game)}")
        self._mixture = "mixture" in proved
        threshold = _started(family, self._mixture, base=0.0).core
        self._rule = stopping.LikelihoodRatio(
            game.n_arms, family._core(game.n_arms), threshold, self._mixture
        )

    def delta(self, evidence: Evidence) -> float:
        """The smallest delta, 1 where nothing is known."""
        if not evidence.pulls.all():
            return 1.0
        if not (found := self.found(evidence)) > 0.0:
            return 1.0
        delta = self._rivals * math.exp(-self._surprise(found))
        return min(1.0, max(delta, sys.float_info.min))  # a bound that is rounded to 0 would be wrong

    def found(self, evidence: Evidence) -> float:
        """What `asked` is compared with; every arm must have been pulled."""
        (report,) = self._rule.report(evidence)
        return report.value - report.asked

    def asked(self, delta: float) -> float:
        """What is found where the certificate is delta."""
        return _base(self._family, self._mixture, self._rivals / delta)

    def _surprise(self, found: float) -> float:
        """The level of which it is the threshold: the inverse of `_base`."""
        if self._mixture:
            return found - math.log1p(found) if estimates(self._family) else found
        calibration, low, high = _calibration(self._family), 0.0, found / 2.0  # C(x) >= x
        if calibration(low) >= found / 2.0:
            return 0.0
        for _ in range(60):
            middle = (low + high) / 2.0
            low, high = (middle, high) if calibration(middle) < found / 2.0 else (low, middle)
        return 2.0 * low


def estimates(family: families.Family) -> bool:
    """Is the variance unknown?"""
    return isinstance(family, families.Gaussian) and family.sigma is None


def _calibration(family: families.Family) -> Callable[[float], float]:
    return gaussian_calibration if isinstance(family, families.Gaussian) else exponential_calibration


def check_bounds_proved(name: str, family: families.Family, game: Game) -> None:
    """A ValueError if the bounds of KL-LUCB are not proved for what rewards are taken for.

    They hold where the exponentials of sums that the family has are supermartingales for the rewards as well,
    as for the thresholds above, and not if the variance is unknown.
    """
    unknown = estimates(family)
    if unknown or not _proved(family, game):
        rewards = "an unknown variance" if unknown else _rewards(family, game)
        raise ValueError(f"threshold={name!r} is not proved for {rewards}: 'practical' is without a proof")


def _rewards(family: families.Family, game: Game) -> str:
    """What they are and what they are taken for, in words."""
    if family == game.family:
        return f"rewards of {family!r}"
    rewards = "any rewards" if game.family is None else f"rewards of {game.family!r}"
    return f"{rewards}, taken for those of {family!r}"


def _own(family: families.Family, game: Game) -> bool:
    """Are rewards what they are taken for, or of a member of that family that varies less.

    Members of one family vary in the same order at every mean; 1/2 is one of all.
    """
    rewards = game.family
    if rewards is None or not (
        isinstance(rewards, type(family))
        or {type(rewards), type(family)} == {families.Exponential, families.Gamma}
    ):
        return False
    return family.covers(rewards, np.full(game.n_arms, 0.5))


def _sub_gaussian(family: families.Gaussian, game: Game) -> bool:
    """Are rewards known to be so for the sigma that is told."""
    if family.sigma is None or game.proxy is None:
        return False
    told, known = (families.one_an_arm(sigma, game.n_arms) for sigma in (family.sigma, game.proxy))
    return bool((told >= known * (1.0 - 1e-12)).all())


def _proved(family: families.Family, game: Game) -> list[Threshold]:
    """The thresholds with a proof for rewards of a family, or taken for these; the lowest first.

    The mixture is at most what a bet on the rewards wins also if they are any in the range of Bernoulli ones
    (Hoeffding, 1963), or sub-Gaussian where they are taken for normal ones: a supermartingale suffices.
    """
    own = _own(family, game)
    match family:
        case families.Bounded():
            return ["mixture"]
        case families.Bernoulli():
            return ["mixture", "garivier-kaufmann", "kaufmann-koolen"] if own else ["mixture"]
        case families.Gaussian(sigma=None) | families.Binomial() if not own:
            return []
        case families.Gaussian(sigma=None):
            return ["mixture"]
        case families.Gaussian():
            return (
                ["mixture", "kaufmann-koolen"] if own else ["mixture"] if _sub_gaussian(family, game) else []
            )
        case families.Binomial():
            return ["mixture", "kaufmann-koolen"]
    return ["kaufmann-koolen"] if own else []


def gaussian_calibration(x: float) -> float:
    """C_G(x) = min over lambda in (1/2, 1) of (g(lambda) + x) / lambda, Kaufmann and Koolen (2021).

    g(lambda) = 2 lambda - 2 lambda log(4 lambda) + log zeta(2 lambda) - log(1 - lambda) / 2

    >>> [round(gaussian_calibration(x), 4) for x in (0.5, 1.0, 5.0, 20.0)]
    [1.9641, 2.5071, 6.7573, 22.2033]
    """

    def cost(share: float) -> float:
        g = 2 * share - 2 * share * math.log(4 * share) + math.log(_zeta(2 * share)) - math.log(1 - share) / 2
        return (g + x) / share

    return cost(_least(cost, 0.5 + 1e-9, 1.0 - 1e-12))


def exponential_calibration(x: float) -> float:
    """C_exp(x) = 2 h~((h^-1(1 + x) + log(2 zeta(2))) / 2), Kaufmann and Koolen (2021).

    h(u) = u - log u for u >= 1, and h~(y) is the least z (y - log log z) for 1 < z <= 3/2.

    >>> [round(exponential_calibration(x), 4) for x in (0.5, 1.0, 5.0, 20.0)]
    [8.0148, 9.1045, 15.1914, 32.9148]
    """
    y = (_inverse(1 + x) + math.log(math.pi**2 / 3)) / 2
    if y >= _h(1 / math.log(1.5)):
        w = _inverse(y)
        return 2 * math.exp(1 / w) * w
    return 3 * (y - math.log(math.log(1.5)))


def _h(u: float) -> float:
    return u - math.log(u)


def _inverse(y: float) -> float:
    """The u >= 1 with u - log u = y."""
    u = y + math.log(max(y, 1.0)) + 1.0  # above the root, from where Newton's method falls to it
    for _ in range(100):
        step = (_h(u) - y) / (1.0 - 1.0 / u) if u > 1.0 else 0.0
        u = max(u - step, 1.0)
        if abs(step) <= 1e-15 * u:
            break
    return u


def _zeta(s: float) -> float:
    """Riemann's zeta function for s > 1, by the sum of Euler and Maclaurin."""
    n = 20.0
    tail = n / (s - 1) + 1 / 2 + s / (12 * n) - s * (s + 1) * (s + 2) / (720 * n**3)
    return math.fsum(math.pow(k, -s) for k in range(1, 20)) + math.pow(n, -s) * tail


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one minimum is least, by golden sections."""
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(100):
        first, second = high - ratio * (high - low), low + ratio * (high - low)
        if function(first) < function(second):
            high = second
        else:
            low = first
    return (low + high) / 2
