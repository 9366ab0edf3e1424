"""Alarms of a live experiment: what its rewards and answers say against the assumptions of all statements.

Classical tests at scheduled looks, n = 64, 128, 256, ..., the k-th at level alpha / (k (k + 1)): in sum alpha
for ever. Each of the three kinds rings without a cause in about alpha of the experiments, by the normal
approximation. An alarm never stops an experiment and never changes a decision. That of an assumed sigma is in
the core, as agents without a store have it too.

    missing by arm      chi-square(K - 1) over the shares of answers among the tickets of each arm, looked at
                        when the windows of n tickets have closed
    missing over time   whether a ticket was answered: first half of n tickets against second, any arm
    drift of an arm     its rewards: first half of n against second, at alpha / K
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self

from robai._base import checks
from robai._base.text import percent

FIRST = 64  # a power of two: the first half is what was seen at the look before
FEWEST = 5.0  # answers that are expected of an arm that is compared, and missing ones
MOST = 2**60
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMES = -62135596800.0, 253402300799.0  # the years 1 to 9999


class Drift(NamedTuple):
    """What a drift was seen by: the means of the first half of n values and of the second, and when."""

    n: int
    first: float
    second: float
    time: float


class Unequal(NamedTuple):
    """What unequal shares of answers were seen by: the tickets of each arm with a closed window, and when."""

    closed: list[int]
    answered: list[int]
    time: float


class Halves:
    """The mean of values as they come, and of their first half."""

    __slots__ = ("drift", "half", "mean", "n", "squares")

    def __init__(self) -> None:
        self.n, self.mean, self.squares, self.half = 0, 0.0, 0.0, 0.0
        self.drift: Drift | None = None

    def add(self, value: float) -> bool:
        """One more; whether it is time to look."""
        self.n = n = self.n + 1
        apart = value - self.mean
        self.mean = mean = self.mean + apart / n
        self.squares += apart * (value - mean)
        return not n & (n - 1)

    def look(self, alpha: float, time: float) -> None:
        """Whether the two halves have the same mean: a normal test, by the variance within both."""
        n, first, second = self.n, self.half, 2.0 * self.mean - self.half
        self.half = self.mean
        if n >= FIRST and self.drift is None and first != second:
            apart = first - second
            within = (self.squares - 0.25 * n * apart * apart) / (n - 2)
            z = abs(apart) / math.sqrt(4.0 * within / n) if within > 0.0 else math.inf
            if math.erfc(z / math.sqrt(2.0)) <= _level(alpha, n):
                self.drift = Drift(n, first, second, time)

    def to_dict(self) -> dict[str, Any]:
        state = {name: getattr(self, name) for name in ("n", "mean", "squares", "half")}
        return state | {"drift": None if self.drift is None else self.drift._asdict()}

    @classmethod
    def from_dict(cls, name: str, data: Any) -> Self:
        _keys(name, data, ("n", "mean", "squares", "half", "drift"))
        made = cls()
        made.n = checks.whole(f"{name}.n", data["n"], 0, MOST)
        made.mean, made.half = (checks.real(f"{name}.{each}", data[each]) for each in ("mean", "half"))
        made.squares = checks.at_least(f"{name}.squares", data["squares"], 0.0)
        if (drift := data["drift"]) is not None:
            name = f"{name}.drift"
            _keys(name, drift, Drift._fields)
            n = checks.whole(f"{name}.n", drift["n"], FIRST, max(made.n, FIRST))
            if n & (n - 1) or n > made.n:
                raise ValueError(f"{name}.n must be a power of two, not above n, got {n}")
            first, second = (checks.real(f"{name}.{each}", drift[each]) for each in ("first", "second"))
            made.drift = Drift(n, first, second, checks.between(f"{name}.time", drift["time"], *TIMES))
        return made


class Alarms:
    """The alarms of an experiment, told of every counted reward and of every closed window.

    Times are POSIX seconds.

    Parameters
    ----------
    n_arms : int
        How many arms there are.
    alpha : float
        In how many experiments each of the three may ring without a cause.

    Examples
    --------
    >>> alarms = Alarms(2)
    >>> for n in range(2048):
    ...     alarms.closed(n % 2, answered=n % 2 == 0 or n % 10 < 8, time=1.7e9 + 60 * n)
    >>> (sentence,) = alarms.sentences(["A", "B"])
    >>> sentence[: sentence.index(" (2023")]
    "ATTENTION: some arms are answered more often than others: 100 % of 64 for 'A', 81 % of 64 for 'B'"
    """

    def __init__(self, n_arms: int, alpha: float = 0.01) -> None:
        self._alpha = checks.probability("alpha", alpha)
        self._rewards = [Halves() for _ in range(checks.whole("n_arms", n_arms, 1, MOST))]
        self._closed, self._answered = [0] * n_arms, [0] * n_arms
        self._tickets = Halves()
        self._unequal: Unequal | None = None

    def add_arm(self) -> None:
        """One more arm."""
        self._rewards.append(Halves())
        self._closed.append(0)
        self._answered.append(0)
        if self._unequal is not None:
            self._unequal.closed.append(0)
            self._unequal.answered.append(0)

    def reward(self, arm: int, value: float, time: float) -> None:
        """A reward that was counted, in the order of counting."""
        rewards = self._rewards[arm]
        if rewards.add(value):
            rewards.look(self._alpha / len(self._rewards), time)

    def closed(self, arm: int, answered: bool, time: float) -> None:
        """A ticket whose window has closed."""
        self._closed[arm] += 1
        self._answered[arm] += answered
        if self._tickets.add(float(answered)):
            self._tickets.look(self._alpha, time)
            if self._tickets.n >= FIRST and self._unequal is None and self._differ():
                self._unequal = Unequal(self._closed.copy(), self._answered.copy(), time)

    def _differ(self) -> bool:
        """The chi-square test of equal shares, of arms of which enough is expected."""
        share = sum(self._answered) / self._tickets.n
        counts = [
            (n, answered)
            for n, answered in zip(self._closed, self._answered, strict=True)
            if n * min(share, 1.0 - share) >= FEWEST
        ]
        share = sum(answered for _, answered in counts) / max(sum(n for n, _ in counts), 1)
        if len(counts) < 2 or not 0.0 < share < 1.0:
            return False
        apart = sum((answered - n * share) ** 2 / n for n, answered in counts) / (share * (1.0 - share))
        return _tail(apart, len(counts) - 1) <= _level(self._alpha, self._tickets.n)

    def sentences(self, labels: Sequence[Any]) -> list[str]:
        """What has rung, with the numbers by which it did and the date, the gravest first.

        Parameters
        ----------
        labels : sequence
            What the arms are called.

        Returns
        -------
        list of str
        """
        said = []
        if (unequal := self._unequal) is not None:
            shares = ", ".join(
                f"{percent(answered / n)} of {n:,} for {label!r}"
                for label, n, answered in zip(labels, unequal.closed, unequal.answered, strict=True)
                if n
            )
            said.append(
                f"ATTENTION: some arms are answered more often than others: {shares} "
                f"({date(unequal.time)}). No certificate, interval or commitment can be trusted until it is "
                "known why"
            )
        if (drift := self._tickets.drift) is not None:
            said.append(
                f"answers have become {'rarer' if drift.second < drift.first else 'more frequent'}: "
                f"{_share(drift.first)} of the first {drift.n // 2:,} tickets whose window closed, "
                f"{_share(drift.second)} of the next {drift.n // 2:,} ({date(drift.time)})"
            )
        for label, rewards in zip(labels, self._rewards, strict=True):
            if (drift := rewards.drift) is not None:
                said.append(
                    f"the rewards of {label!r} have changed: mean {drift.first:.4g} of the first "
                    f"{drift.n // 2:,}, {drift.second:.4g} of the next {drift.n // 2:,} "
                    f"({date(drift.time)}); statements are about one mean for all time"
                )
        return said

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "alpha": self._alpha,
            "rewards": [each.to_dict() for each in self._rewards],
            "closed": self._closed.copy(),
            "answered": self._answered.copy(),
            "tickets": self._tickets.to_dict(),
            "unequal": None if self._unequal is None else deepcopy(self._unequal._asdict()),
        }

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """What `to_dict` described; an error says which field is wrong."""
        _keys("alarms", data, ("alpha", "rewards", "closed", "answered", "tickets", "unequal"))
        rewards = data["rewards"]
        if not isinstance(rewards, list) or not rewards:
            raise TypeError(f"rewards must be a list with an entry for each arm, got {str(rewards)[:40]!r}")
        made = cls(len(rewards), data["alpha"])
        made._rewards = [Halves.from_dict(f"rewards[{i}]", each) for i, each in enumerate(rewards)]
        most = [MOST] * len(rewards)
        made._closed = _counts("closed", data["closed"], most)
        made._answered = _counts("answered", data["answered"], made._closed)
        made._tickets = Halves.from_dict("tickets", data["tickets"])
        if made._tickets.n != (tickets := sum(made._closed)):
            raise ValueError(f"tickets.n must be {tickets}, the sum of closed, got {made._tickets.n}")
        if (unequal := data["unequal"]) is not None:
            _keys("unequal", unequal, Unequal._fields)
            closed = _counts("unequal.closed", unequal["closed"], made._closed)
            answered = _counts("unequal.answered", unequal["answered"], closed)
            time = checks.between("unequal.time", unequal["time"], *TIMES)
            made._unequal = Unequal(closed, answered, time)
        return made


def _level(alpha: float, n: int) -> float:
    """Of the look at n, the k-th."""
    k = n.bit_length() - FIRST.bit_length() + 1
    return alpha / (k * (k + 1))


def _tail(x: float, degrees: int) -> float:
    """P(chi-square >= x): Q(a + 1, y) = Q(a, y) + y^a exp(-y) / Gamma(a + 1), from 0 or 1/2 on.

    >>> round(_tail(10.0, 2), 6), round(_tail(3.841459, 1), 6), round(_tail(16.918978, 9), 6)
    (0.006738, 0.05, 0.05)
    """
    if not x > 0.0:
        return 1.0
    y, odd = 0.5 * x, degrees % 2
    terms = (
        math.exp((i + 0.5 * odd) * math.log(y) - y - math.lgamma(i + 0.5 * odd + 1.0))
        for i in range(degrees // 2)
    )
    return math.fsum(terms) + (math.erfc(math.sqrt(y)) if odd else 0.0)


def _share(mean: float) -> str:
    return percent(min(max(mean, 0.0), 1.0))  # a mean of zeros and ones may be rounded


def date(time: float) -> str:
    return f"{EPOCH + timedelta(seconds=time):%Y-%m-%d %H:%M} UTC"


def _keys(name: str, data: Any, expected: Sequence[str]) -> None:
    if not isinstance(data, dict) or set(data) != set(expected):
        raise ValueError(f"{name} must be an object with {list(expected)}, got {str(data)[:40]!r}")


def _counts(name: str, data: Any, most: Sequence[int]) -> list[int]:
    if not isinstance(data, list) or len(data) != len(most):
        raise TypeError(f"{name} must be a list of {len(most)} entries, got {str(data)[:40]!r}")
    return [checks.whole(f"{name}[{i}]", data[i], 0, most[i]) for i in range(len(most))]
