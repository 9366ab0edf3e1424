"""For how long an experiment waits for answers, what silence means, and what it was created for."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

from robai._base import checks
from robai._base.json import parse
from robai.live import state

SHORTEST_WINDOW = 1e-3  # seconds: a time and a window later are two doubles in any year


class Terms(NamedTuple):
    """`window` is in seconds, None if there are no windows; `missing` the reward that silence is, or None."""

    window: float | None = None
    missing: float | None = None

    @classmethod
    def of(cls, window: Any, missing: Any) -> Self:
        """The arguments of `Store.create`, checked but for the range of rewards."""
        if window is None:
            if missing is not None:
                raise ValueError(f"missing needs a window, got missing={missing!r} and window=None")
            return cls()
        seconds = math.inf if window == math.inf else checks.at_least("window", window, SHORTEST_WINDOW)
        if missing is not None and seconds == math.inf:
            raise ValueError(f"missing needs a window that closes, got missing={missing!r} and window=inf")
        return cls(seconds, None if missing is None else checks.real("missing", missing))

    @property
    def ends(self) -> bool:
        """Whether windows close."""
        return self.window is not None and math.isfinite(self.window)

    def in_time(self, handed_out: float, answered: float) -> bool:
        """The same comparison as that by which windows close."""
        return self.window is None or handed_out > answered - self.window

    def to_dict(self) -> dict[str, Any]:
        return {"window": "inf" if self.window == math.inf else self.window, "missing": self.missing}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """What `to_dict` gave; a ValueError that says which field is wrong."""
        window = state.field(data, "window", lambda value: math.inf if value == "inf" else value)
        terms = state.field(data, "window", lambda _: cls.of(window, None))
        return state.field(data, "missing", lambda value: cls.of(terms.window, value))


def specification(text: str) -> tuple[dict[str, Any], Terms]:
    """What an experiment was created for: its agent at the beginning, and its terms."""
    spec = parse(text)
    if not isinstance(spec, dict):
        raise ValueError(f"this is not the specification of an experiment but {str(spec)[:40]!r}")
    agent = state.field(spec, "agent", state.mapping)
    state.field(agent, "policy", state.mapping)
    return agent, Terms.from_dict(spec)
