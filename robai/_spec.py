"""Specifications: frozen dataclasses whose parameters are checked when they are made.

    @dataclass(frozen=True)
    class UCB(Spec):
        sigma: float = parameter(positive, 1.0)

Policies, rules and families are specifications: comparable, hashable, picklable, and never
changed by being used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, field, fields
from typing import Any

from robai import _checks

Check = Callable[[str, Any], Any]


def parameter(check: Check, default: Any = MISSING) -> Any:
    """A field that is replaced by check(name, value), which raises if the value is not allowed."""
    return field(default=default, metadata={"check": check})


def optional(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def choice(*names: str) -> Check:
    return lambda name, value: _checks.one_of(name, value, names)


def whole(low: int, high: int) -> Check:
    return lambda name, value: _checks.whole(name, value, low, high)


def between(low: float, high: float) -> Check:
    return lambda name, value: _checks.between(name, value, low, high)


def nonnegative(name: str, value: Any) -> float:
    return _checks.at_least(name, value, 0.0)


class Spec:
    """Checks the parameters of a frozen dataclass."""

    def __post_init__(self) -> None:
        for each in fields(self):
            if "check" in each.metadata:
                value = each.metadata["check"](each.name, getattr(self, each.name))
                object.__setattr__(self, each.name, value)

    def label(self) -> str:
        """The name with the parameters that are not at their default."""
        changed = [
            f"{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)
            if getattr(self, each.name) != each.default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"
