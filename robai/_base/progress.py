"""Progress: tqdm's bar where it is installed, else a line that is written over; or the user's function."""

from __future__ import annotations

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
                line, started = Line(), time.monotonic()

                def report(done: int, total: int) -> None:
                    left = (time.monotonic() - started) * (total - done) / done
                    line.report(f"{label}: {done:,} of {total:,} runs, {left:.0f} s left", done == total)

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
