"""When rewards arrive, if not at once: the arguments `delay`, `batch`, `loss`, `window` and `missing`."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from robai._base import checks
from robai._core.late import DUE_BYTES
from robai._core.ledger import Rewards
from robai._core.protocols import Started
from robai.bandits import Bandit
from robai.policies.base import BasePolicy
from robai.rules import Game
from robai.rules.certificate import certified
from robai.rules.game import LONGEST_HORIZON

Delay: TypeAlias = int | tuple[Literal["geometric"], float]

_NO_WINDOW = 2**62  # rounds, as the core has it


@dataclass(frozen=True)
class Arrivals:
    """What is asked for, checked; the defaults are rewards that arrive at once."""

    delay: Delay = 0
    batch: int = 1
    loss: float = 0.0
    window: int | float | None = None
    missing: float | None = None

    @classmethod
    def of(
        cls, delay: Any = 0, batch: Any = 1, loss: Any = 0.0, window: Any = None, missing: Any = None
    ) -> Arrivals:
        """Every argument checked; `for_game` does the rest."""
        arrivals = cls(
            _delay(delay),
            checks.whole("batch", batch, 1, LONGEST_HORIZON),
            checks.between("loss", loss, 0.0, 1.0),
            None if window is None else _window(window),
            None if missing is None else checks.real("missing", missing),
        )
        if arrivals.loss == 1.0:
            raise ValueError(f"loss must be below 1, got {loss!r}")
        if arrivals.missing is not None and arrivals._closes is None:
            raise ValueError(
                "missing is what a reward counts as that has not come when its window closes, and window is "
                f"{window!r}: give it a number of rounds, or leave out missing, got {missing!r}"
            )
        least = 1 + (arrivals.delay if isinstance(arrivals.delay, int) else 0)
        if arrivals._closes is not None and arrivals._closes <= least:
            raise ValueError(
                f"window must be above {least:,}, the rounds that a reward takes at least, got {window!r}"
            )
        return arrivals

    @property
    def at_once(self) -> bool:
        return self == AT_ONCE

    @property
    def _closes(self) -> int | None:
        """After how many rounds windows close, if they do."""
        return None if self.window is None or self.window == math.inf else int(self.window)

    def check(self, policy: BasePolicy, bandit: Bandit, game: Game) -> None:
        """A ValueError if rewards of such a game cannot arrive so."""
        family, (low, high) = bandit.family, bandit.support
        rewards = Rewards(low, high, family is not None and family.whole)
        if self.missing is not None and not rewards.possible(1.0, self.missing):
            raise ValueError(f"missing must be a possible reward, {rewards}, got {self.missing!r}")
        try:
            self.started(policy, game)
        except ValueError as error:
            if self.window is None:
                raise
            raise ValueError(
                f"window must be None, because with a window a certificate can end the exploration, and for "
                f"these rewards there is none ({error}), got {self.window!r}"
            ) from None

    def started(self, policy: BasePolicy, game: Game) -> Started:
        """The rules that are played: those of a live experiment."""
        started = policy.start(game)
        return started if self.window is None else certified(started, game, 1.0 / game.horizon)

    def core(self, horizon: int) -> dict[str, Any]:
        """The same for `robai._core.late`."""
        random = not isinstance(self.delay, int)
        return {
            "delay": 0 if random else self.delay,
            "mean": self.delay[1] if isinstance(self.delay, tuple) else 0.0,
            "every": self.batch,
            "loss": self.loss,
            "window": _NO_WINDOW if self._closes is None else self._closes,
            "missing": self.missing,
            "most": self.under_way(horizon),
        }

    def under_way(self, horizon: int) -> int:
        """How many rewards can be under way at a time, and windows without one be open.

        Of random delays D, without a window: the number of rewards under way is a sum of independent events
        of probabilities P(D >= k), k = 0, 1, ..., whose mean is m = 1 + mean + batch at most. By Bernstein's
        inequality it is above m + 20 sqrt(m) + 300 with probability exp(-170) at most.
        """
        closes = self._closes
        if isinstance(self.delay, int):
            most = float(self.delay + self.batch)
            if closes is not None and (self.missing is not None or self.loss > 0.0 or most >= closes):
                most = float(closes)
        elif closes is not None:
            most = float(closes)
        else:
            mean = 1.0 + self.delay[1] + self.batch
            most = mean + 20.0 * math.sqrt(mean) + 300.0
        return int(min(most, horizon)) + 1

    def bytes(self, horizon: int) -> int:
        """Of memory that they take for every worker."""
        return DUE_BYTES * self.under_way(horizon)

    def to_dict(self) -> dict[str, Any]:
        """What is not as it is by default, as JSON values."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        changed = {name: value for name, value in given.items() if value != getattr(AT_ONCE, name)}
        if isinstance(self.delay, tuple):
            changed["delay"] = list(self.delay)
        return changed | ({"window": "inf"} if self.window == math.inf else {})

    def __str__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())


AT_ONCE = Arrivals()


def _delay(value: Any) -> Delay:
    if isinstance(value, str) or not isinstance(value, tuple | list):
        return checks.whole("delay", value, 0, LONGEST_HORIZON)
    if len(value) != 2 or value[0] != "geometric":
        raise ValueError(f"delay must be a number of rounds, or ('geometric', mean), got {value!r}")
    mean = checks.positive("delay[1]", value[1])
    return "geometric", checks.between("delay[1]", mean, 0.0, float(LONGEST_HORIZON))


def _window(value: Any) -> int | float:
    return math.inf if value == math.inf else checks.whole("window", value, 1, LONGEST_HORIZON)
