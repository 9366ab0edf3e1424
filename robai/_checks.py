"""Argument checks: one function a kind, every message names the argument and its value."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable
from typing import Any


def whole(name: str, value: Any, low: int, high: int) -> int:
    """An integer, or a float that is one (1e6), between two bounds."""
    number = value
    if isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if not isinstance(value, int):
        try:
            number = operator.index(value)
        except TypeError:
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise TypeError(f"{name} must be an integer, got {value!r}") from None
            if isinstance(value, str | bytes):
                raise TypeError(f"{name} must be an integer, got {value!r}") from None
            if not number.is_integer():
                raise ValueError(f"{name} must be a whole number, got {value!r}") from None
            number = int(number)
    if not low <= number <= high:
        raise ValueError(f"{name} must be from {low:,} to {high:,}, got {value!r}")
    return number


def real(name: str, value: Any) -> float:
    """A finite float."""
    if isinstance(value, str | bytes | bool):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def positive(name: str, value: Any) -> float:
    number = real(name, value)
    if not number > 0.0:
        raise ValueError(f"{name} must be above 0, got {value!r}")
    return number


def at_least(name: str, value: Any, low: float) -> float:
    number = real(name, value)
    if not number >= low:
        raise ValueError(f"{name} must be at least {low:g}, got {value!r}")
    return number


def above(name: str, value: Any, low: float) -> float:
    number = real(name, value)
    if not number > low:
        raise ValueError(f"{name} must be above {low:g}, got {value!r}")
    return number


def probability(name: str, value: Any) -> float:
    """Strictly between 0 and 1."""
    number = real(name, value)
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return number


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    choices = list(choices)
    if value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}{nearest(value, choices)}")
    return value


def nearest(value: Any, choices: Iterable[str]) -> str:
    """'; did you mean ...?' or nothing."""
    close = difflib.get_close_matches(str(value), list(choices), n=3)
    return f"; did you mean {' or '.join(close)}?" if close else ""
