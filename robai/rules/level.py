"""Levels of confidence bounds: how wide they are at round t, for N pulls."""

from __future__ import annotations

import math
from typing import Any

from robai._base import checks
from robai._core import levels
from robai.rules.game import Game
from robai.rules.pointer import Level


def exploration(horizon: float, inflation: float = 1.0) -> float:
    """The level l = log T + inflation * sqrt(log T) of the confidence bounds.

    Theorems theo:optimalfixed, theo:optimalug and theo:optimalklfixed ask for log T + O(sqrt(log T));
    `robai.theory.INFLATION` is the value of their finite-time versions.

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


def iterated_level(rule: Any, game: Game) -> levels.Level:
    """The level of w(N), the width of UCB_alpha."""
    return levels.IteratedLevel(delta_of(rule, game))
