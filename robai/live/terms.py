"""For how long an experiment waits for answers, and what silence means."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

from robai._base import checks


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
        seconds = math.inf if window == math.inf else checks.positive("window", window)
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
        return cls.of(math.inf if data.get("window") == "inf" else data.get("window"), data.get("missing"))
