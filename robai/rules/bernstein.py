"""Empirical Bernstein bounds, for a game."""

from __future__ import annotations

from typing import Any

from robai import families
from robai._core.bounds import BernsteinBounds, BinaryBernsteinBounds, Bounds
from robai._core.levels import Level
from robai.rules.game import Game


def bernstein_bounds(rule: Any, game: Game, level: Level, *, unbiased: bool = False) -> Bounds:
    """Those of rewards that are 0 or 1 need no squares, and leap."""
    if isinstance(game.family, families.Bernoulli) and not unbiased:
        return BinaryBernsteinBounds(level)
    return BernsteinBounds(level, game.length(rule), unbiased)
