"""Numbers and tables as people read them."""

import math
from collections.abc import Sequence


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


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: first and last column to the left, numbers to the right."""
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)),
                row[-1],
            ]
        ).rstrip()
        for row in rows
    ]
