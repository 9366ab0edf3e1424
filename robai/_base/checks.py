"""Argument checks: one function a kind, every message names the argument and its value."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

# float() takes these too, but none of them is meant as a number.
_NOT_NUMBERS = (str, bytes, bytearray, memoryview, bool, np.bool_, np.complexfloating)


def whole(name: str, value: Any, low: int, high: int) -> int:
    """An integer, or a float that is one (1e6), between two bounds."""
    rounded = _float(name, value, "an integer")
    try:
        number = operator.index(value)
    except TypeError:
        if not rounded.is_integer():
            raise ValueError(f"{name} must be a whole number, got {value!r}") from None
        number = int(rounded)
    if not low <= number <= high:
        raise ValueError(f"{name} must be from {low:,} to {high:,}, got {value!r}")
    return number


def _float(name: str, value: Any, kind: str) -> float:
    """float(value), but only of real numbers; infinite if it is too large."""
    if isinstance(value, _NOT_NUMBERS) or getattr(value, "ndim", 0) > 0:
        raise TypeError(f"{name} must be {kind}, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {kind}, got {value!r}") from None


def real(name: str, value: Any) -> float:
    """A finite float."""
    number = _float(name, value, "a number")
    if not math.isfinite(number):
        raise _wrong(name, value, "finite")
    return number


def _wrong(name: str, value: Any, what: str) -> ValueError:
    return ValueError(f"{name} must be {what}, got {value!r}")


def positive(name: str, value: Any) -> float:
    number = real(name, value)
    if number <= 0.0:
        raise _wrong(name, value, "above 0")
    return number


def at_least(name: str, value: Any, low: float) -> float:
    number = real(name, value)
    if number < low:
        raise _wrong(name, value, f"at least {low:g}")
    return number


def between(name: str, value: Any, low: float, high: float) -> float:
    number = real(name, value)
    if not low <= number <= high:
        raise _wrong(name, value, f"from {low:g} to {high:g}")
    return number


def scale(name: str, value: Any) -> float:
    """A standard deviation: its square is a double, also times that of another, and so is its inverse."""
    return between(name, value, 1e-100, 1e100)


def scales(name: str, value: Any) -> float | tuple[float, ...]:
    """A standard deviation, or one an arm."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        return scale(name, value)
    scales = tuple(scale(f"{name}[{arm}]", each) for arm, each in enumerate(value))
    if not scales:
        raise ValueError(f"{name} must be one number, or one an arm, got none")
    return scales


def wideness(name: str, value: Any) -> float:
    """How many times wider than another a bound is: above 1."""
    number = scale(name, value)
    if number <= 1.0:
        raise _wrong(name, value, "above 1")
    return number


def inflating(name: str, value: Any) -> float:
    """c in l = log T + c sqrt(log T): l and l times 10^18 pulls are doubles with room to spare."""
    return between(name, value, 0.0, 1e280)


def probability(name: str, value: Any) -> float:
    """Strictly between 0 and 1."""
    number = real(name, value)
    if not 0.0 < number < 1.0:
        raise _wrong(name, value, "between 0 and 1")
    return number


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}{nearest(value, choices)}")
    return value


def nearest(value: Any, choices: Iterable[str]) -> str:
    """'; did you mean ...?' or nothing."""
    close = difflib.get_close_matches(str(value), list(choices), n=3)
    return f"; did you mean {' or '.join(close)}?" if close else ""
