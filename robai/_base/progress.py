"""Progress: tqdm's bar where it is installed, else a line that is written over; or the user's function."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any


class Progress:
    """Reports how many of `total` runs are done."""

    def __init__(self, wanted: bool | Callable[[int, int], Any], total: int, label: str) -> None:
        self._total = total
        self._report: Callable[[int, int], Any] | None = wanted if callable(wanted) else None
        self._close: Callable[[], Any] = lambda: None
        if wanted is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                line, started, left = Line(), time.monotonic(), TimeLeft(total)

                def report(done: int, total: int) -> None:
                    text = left.text(done, time.monotonic() - started)
                    line.report(f"{label}: {done:,} of {total:,} runs{text}", done == total)

                self._report, self._close = report, line.close
            else:
                bar = tqdm(total=total, desc=label, unit="run", dynamic_ncols=True)
                self._report, self._close = lambda done, total: bar.update(done - bar.n), bar.close

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def update(self, done: int) -> None:
        if self._report is not None:
            self._report(done, self._total)


class TimeLeft:
    """How long work will still take, by what it took so far, said so that it never climbs.

    `total` is all of the work, in units that take about as long each. Where some take longer than those
    before, what is said stands still until it is true again.
    """

    def __init__(self, total: float) -> None:
        self._total, self._said = total, math.inf

    def seconds(self, done: float, elapsed: float) -> float | None:
        """None while too little is done to tell: a fiftieth, and a second."""
        if self._total <= 0.0 or done < 0.02 * self._total or elapsed < 1.0:
            return None
        self._said = min(self._said, elapsed * max(self._total - done, 0.0) / done)
        return self._said

    def text(self, done: float, elapsed: float) -> str:
        """As it goes behind what is being done."""
        left = self.seconds(done, elapsed)
        if left is None or done >= self._total:
            return ""
        return f", {left / 60.0:.0f} min left" if left >= 90.0 else f", {math.ceil(left)} s left"


class Line:
    """A line on standard error, written over a few times a second until one is final; or final ones alone."""

    def __init__(self, *, rewritten: bool = True) -> None:
        self._rewritten = rewritten
        self._next, self._width = 0.0, 0

    def report(self, text: str, final: bool) -> None:
        now = time.monotonic()
        if final or (self._rewritten and now >= self._next):
            start = "\r" if self._width else ""
            print(start + text.ljust(self._width), end="\n" if final else "", file=sys.stderr, flush=True)
            self._next, self._width = now + 0.2, 0 if final else len(text)

    def close(self) -> None:
        """Ends a line that is not final, so that what is printed next has its own."""
        if self._width:
            print(file=sys.stderr)
            self._width = 0
