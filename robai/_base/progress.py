"""A progress bar: tqdm where it is installed, else a plain line; or the user's own function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any


class Progress:
    """Reports how many of `total` runs are done."""

    def __init__(self, wanted: bool | Callable[[int, int], Any], total: int, label: str) -> None:
        if not (isinstance(wanted, bool) or callable(wanted)):
            raise TypeError(f"progress must be True, False or a function of (done, total), got {wanted!r}")
        self._report: Callable[[int, int], Any] | None = wanted if callable(wanted) else None
        self._total = total
        self._close: Callable[[], Any] = lambda: None
        if wanted is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                line = PlainLine(label)
                self._report, self._close = line.report, line.close
            else:
                bar = tqdm(total=total, desc=label, unit="run", dynamic_ncols=True)
                self._report = lambda done, total: bar.update(done - bar.n)
                self._close = bar.close

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def update(self, done: int) -> None:
        if self._report is not None:
            self._report(done, self._total)


class PlainLine:
    """A line on standard error, rewritten a few times a second."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._started = time.monotonic()
        self._next = 0.0

    def report(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next and done < total:
            return
        self._next = now + 0.2
        left = (now - self._started) * (total - done) / done
        print(f"\r{self._label}: {done:,} of {total:,} runs, {left:.0f} s left ", end="", file=sys.stderr)
        sys.stderr.flush()

    def close(self) -> None:
        print(file=sys.stderr)
