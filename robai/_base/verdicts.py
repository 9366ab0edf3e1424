"""Whether a statement about an unknown number holds, by an interval in which the number is taken to be.

It holds if all of the interval agrees with it, fails if none does, and is not decided else: for want of runs,
or because an end of the interval is unknown (NaN).
"""

import math
from collections.abc import Iterable
from typing import Literal

Word = Literal["holds", "fails", "not decided"]
Interval = tuple[float, float]


def within(interval: Interval, least: float = -math.inf, most: float = math.inf) -> Word:
    """Of "at least, and at most".

    >>> within((0.0, 0.0092), most=0.001), within((0.0, 0.0005), most=0.001)
    ('not decided', 'holds')
    """
    low, high = interval
    if least <= low and high <= most:
        return "holds"
    return "fails" if high < least or low > most else "not decided"


def below(interval: Interval, bound: float) -> Word:
    """Of "less than"."""
    low, high = interval
    return "holds" if high < bound else "fails" if low >= bound else "not decided"


def above(interval: Interval, bound: float) -> Word:
    """Of "more than"."""
    low, high = interval
    return "holds" if low > bound else "fails" if high <= bound else "not decided"


def together(words: Iterable[Word]) -> Word:
    """Of several statements at once.

    >>> together(["holds", "not decided"]), together(["holds", "not decided", "fails"])
    ('not decided', 'fails')
    """
    found = set(words)
    return "fails" if "fails" in found else "not decided" if "not decided" in found else "holds"
