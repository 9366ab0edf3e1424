"""Levels of confidence bounds: how wide they are at round t, for N pulls."""

from __future__ import annotations

from typing import Any

from robai import theory
from robai._core import bounds
from robai.rules.game import Game


def level_of(rule: Any, game: Game) -> bounds.Level:
    """The level f of a rule with `level` and `inflation`."""
    if rule.level == "ratio":
        return bounds.RatioLevel(game.horizon)
    if rule.level == "round":
        return bounds.RoundLevel()
    if rule.level == "++":
        return bounds.PlusPlusLevel(game.horizon, game.n_arms)
    return bounds.FixedLevel(theory.exploration(game.horizon, rule.inflation))


def delta_of(rule: Any, game: Game) -> float:
    """The probability of error that a rule aims at: 1/T unless it says another."""
    return 1.0 / game.horizon if rule.delta is None else rule.delta


def iterated_level(rule: Any, game: Game) -> bounds.Level:
    """The level of w(N), the width of UCB_alpha."""
    return bounds.IteratedLevel(delta_of(rule, game))
