"""Levels of confidence bounds: how wide they are at round t, for N pulls."""

from __future__ import annotations

import math
from typing import Any

from robai import families
from robai._base import checks
from robai._core import bounds, levels
from robai.rules.bernstein import bernstein_bounds
from robai.rules.game import Game
from robai.rules.pointer import Level
from robai.rules.threshold import SeparationThreshold, check_bounds_proved


def exploration(horizon: float, inflation: float = 1.0) -> float:
    """The level l = log T + inflation * sqrt(log T) of the confidence bounds.

    Theorems theo:optimalfixed, theo:optimalug and theo:optimalklfixed ask for log T + O(sqrt(log T));
    `robai.theory.INFLATION` is the value of their finite-time versions.

    Parameters
    ----------
    horizon : float
        T, the number of rounds.
    inflation : float
        c in l = log T + c sqrt(log T).

    Returns
    -------
    float

    Examples
    --------
    >>> round(exploration(10**6), 4), round(exploration(10**6, 4 * math.sqrt(2)), 4)
    (17.5324, 34.8416)
    """
    log_horizon = math.log(checks.at_least("horizon", horizon, 2))
    return log_horizon + checks.inflating("inflation", inflation) * math.sqrt(log_horizon)


def level_of(rule: Any, game: Game) -> levels.Level:
    """The level f of a rule with `level` and `inflation`."""
    if isinstance(rule.level, Level):
        return rule.level.start(game)
    match rule.level:
        case "ratio":
            return levels.RatioLevel(game.horizon)
        case "round":
            return levels.RoundLevel()
        case "loglog":
            return levels.LogLogLevel()
        case "plus":
            return levels.PlusLevel()
        case "++":
            return levels.PlusPlusLevel(game.horizon, game.n_arms)
        case "anytime":
            return levels.AnytimeLevel()
        case "moss":
            return levels.MossLevel(game.horizon, game.n_arms)
    return horizon_level(rule, game)


def horizon_level(rule: Any, game: Game) -> levels.Level:
    """The level l of a rule with `inflation`."""
    return levels.FixedLevel(exploration(game.horizon, rule.inflation))


def delta_of(rule: Any, game: Game) -> float:
    """The probability of error that a rule aims at: 1/T unless it says another."""
    return 1.0 / game.horizon if rule.delta is None else rule.delta


def kl_bounds(rule: Any, level: levels.Level, game: Game) -> bounds.Bounds:
    """The bounds of a rule with a `family`."""
    family = game.family_for(rule)
    if isinstance(family, families.Gaussian):
        if family.sigma is None:
            return bounds.StudentBounds(level, family.variance)
        # n (q - m)^2 / (2 sigma^2) <= f, solved for q
        return bounds.GaussianBounds(level, game.scales(family))
    return bounds.DivergenceBounds(level, family._core(game.n_arms))


def threshold_level(name: SeparationThreshold, rule: Any, game: Game) -> levels.Level:
    """The level of a rule with `delta` and `bounds`, by the name of its threshold.

    A ValueError where that has no proof for these bounds.
    """
    delta = delta_of(rule, game)
    if name == "iterated":
        return levels.IteratedLevel(delta)
    if name == "practical":
        return levels.PracticalLevel(delta)
    if rule.bounds == "gaussian":
        return levels.HoeffdingLevel(delta, game.n_arms)
    if rule.bounds == "bernstein":
        raise ValueError(f"threshold={name!r} is proved for bounds 'kl' and 'gaussian', got 'bernstein'")
    check_bounds_proved(name, game.family_for(rule), game)
    return levels.DivergenceLevel(delta, game.n_arms)


def check_used(rule: Any) -> None:
    """A ValueError for what the `bounds` of a rule have no use for."""
    for name, kind in (("sigma", "gaussian"), ("family", "kl")):
        if getattr(rule, name) is not None and rule.bounds != kind:
            raise ValueError(
                f"{type(rule).__name__} takes {name} with bounds={kind!r}, "
                f"got {name}={getattr(rule, name)!r} and bounds={rule.bounds!r}"
            )


def bounds_of(rule: Any, level: levels.Level, game: Game) -> bounds.Bounds:
    """The bounds of a rule with `bounds`, `sigma` and `family`."""
    if rule.bounds == "bernstein":
        return bernstein_bounds(rule, game, level)
    if rule.bounds == "gaussian":
        return bounds.GaussianBounds(level, game.scales(rule))
    return kl_bounds(rule, level, game)
