"""Numbers and tables as people read them."""

import math
import textwrap
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Terminal(NamedTuple):
    """What tables are made for: by default anything, a file for instance."""

    width: float = math.inf
    colour: bool = False


_ANYTHING = Terminal()
_terminal = ContextVar("terminal", default=_ANYTHING)
_COLOURS = {"heading": "1", "best": "32", "warning": "33", "error": "31"}


@contextmanager
def shown_on(terminal: Terminal) -> Iterator[None]:
    """Tables in this block are made for a terminal."""
    token = _terminal.set(terminal)
    try:
        yield
    finally:
        _terminal.reset(token)


def painted(kind: str, text: str) -> str:
    """The text in the colour of its kind, where there are colours."""
    return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m" if _terminal.get().colour and text else text


def number(value: float) -> str:
    """Four significant digits or all before the point, and never an exponent."""
    return f"{value:,.{decimals(value, 4)}f}"


def percent(share: float) -> str:
    """To two digits of the distance to 0 or 1, whichever is nearer: 99.99 % never becomes 100 %."""
    return f"{100.0 * share:.{decimals(100.0 * min(share, abs(1.0 - share)), 2)}f} %"


def decimals(scale: float, significant: int) -> int:
    """Digits after the point that show so many significant digits of a number as large as `scale`."""
    return 0 if scale == 0.0 else min(15, max(0, significant - 1 - math.floor(math.log10(scale))))


def printable(text: str) -> str:
    """The text with its control characters, line breaks and the like written out: \\x1b clears no screen."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def wrapped(text: str, indent: int) -> str:
    """The text, which begins so far into a line, in lines that the terminal can show."""
    if math.isinf(width := _terminal.get().width):
        return text
    lines = textwrap.wrap(text, max(20, int(width) - indent), break_long_words=False, break_on_hyphens=False)
    return f"\n{'':{indent}}".join(lines)


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: first and last column to the left, numbers to the right."""
    rows = [tuple(map(printable, row)) for row in rows]
    return _lines(rows, [max(map(len, column)) for column in zip(*rows, strict=True)], len(rows[0]) - 1)


def table(rows: Sequence[Sequence[str]], best: Container[int] = ()) -> list[str]:
    """Lines of a table with a heading; `best` are the rows to be seen first.

    On a terminal that is too narrow the columns that do not fit follow below, with the first one again:
    nothing is left out.
    """
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for columns in _folds(widths, _terminal.get().width):
        cells = [[row[column] for column in columns] for row in rows]
        left = len(columns) - 1 if columns[-1] == len(widths) - 1 else 0
        heading, *rest = _lines(cells, [widths[column] for column in columns], left)
        lines += ["", painted("heading", heading)]
        lines += [painted("best", line) if row in best else line for row, line in enumerate(rest, 1)]
    return lines[1:]


def _folds(widths: Sequence[int], limit: float) -> list[list[int]]:
    """The columns of each part of a table, the first column in all of them."""
    folds, room = [[0]], limit - widths[0]
    for column, width in enumerate(widths[1:], 1):
        if 2 + width > room and len(folds[-1]) > 1:
            folds.append([0])
            room = limit - widths[0]
        folds[-1].append(column)
        room -= 2 + width
    return folds


def _lines(rows: Sequence[Sequence[str]], widths: Sequence[int], left: int) -> list[str]:
    return [
        "  ".join(
            cell.ljust(width) if column in (0, left) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
