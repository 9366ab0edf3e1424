"""Figures of a page: curves that answer to the pointer, and rows that are drawn by the page itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal, NamedTuple

from robai._base.text import number
from robai.plotting.style import COLOURS
from robai.report import html

Numbers = Iterable[float]


class Colours:
    """A colour for every name of a page; where they come again, with dashes."""

    def __init__(self, names: Iterable[str]) -> None:
        self._places = {name: place for place, name in enumerate(dict.fromkeys(names))}

    def place(self, name: str) -> int:
        return self._places.setdefault(name, len(self._places))

    def __call__(self, name: str) -> dict[str, Any]:
        again, place = divmod(self.place(name), len(COLOURS))
        return {"colour": place, "dash": again % 2 == 1}


@dataclass(frozen=True)
class Series:
    """A curve, or points; `low` and `high` are the ends of intervals, `left` and `right` those across.

    `marks` are places on a curve; `texts`, of points, say what the pointer finds there.
    """

    label: str
    x: Numbers
    y: Numbers
    look: Mapping[str, Any]
    low: Numbers | None = None
    high: Numbers | None = None
    left: Numbers | None = None
    right: Numbers | None = None
    marks: Sequence[tuple[float, float]] = ()
    texts: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        arrays = {name: getattr(self, name) for name in ("x", "y", "low", "high", "left", "right")}
        return {
            "label": self.label,
            **self.look,
            **{
                name: [_short(each) for each in values]
                for name, values in arrays.items()
                if values is not None
            },
            "marks": [[_short(x), _short(y)] for x, y in self.marks],
            "texts": list(self.texts),
        }


class Level(NamedTuple):
    """A line to compare with."""

    label: str
    value: float


@dataclass(frozen=True)
class Chart:
    """Series over a common axis.

    Attributes
    ----------
    title : what is drawn
    x, y : what is on the axes
    caption : how to read it
    kind : how series are drawn
    log_x, log_y : logarithmic axes
    names : of the places 1, 2, ... on the x axis
    levels, verticals : lines to compare with
    least : where the x axis begins, if not with the series
    at : what a place on the x axis is called; `whole`, that it is a whole number
    share : the y axis is from 0 to 1
    """

    title: str
    x: str
    y: str
    series: Sequence[Series]
    caption: str = ""
    kind: Literal["line", "steps", "points"] = "line"
    log_x: bool = False
    log_y: bool = False
    names: Sequence[str] = ()
    levels: Sequence[Level] = field(default=())
    verticals: Sequence[Level] = field(default=())
    least: float | None = None
    at: str = "round"
    whole: bool = True
    share: bool = False

    def text(self) -> str:
        """The figure in words: how every series ends, or all of its points."""
        said = []
        for each in self.series:
            if self.kind == "points":
                said.append(f"{each.label}: {'; '.join(each.texts)}")
            else:
                x, y = list(each.x), list(each.y)
                said.append(f"{each.label} ends with {number(y[-1])} at {number(x[-1])}" if x else each.label)
        return f"{self.title}: {self.y} against {self.x}. {'. '.join(said)}."

    def to_json(self) -> str:
        names = ("x", "y", "kind", "log_x", "log_y", "least", "at", "whole", "share")
        found = {name: getattr(self, name) for name in names} | {
            "names": list(self.names) or None,
            "levels": [{"label": each.label, "value": _short(each.value)} for each in self.levels],
            "verticals": [{"label": each.label, "value": _short(each.value)} for each in self.verticals],
            "series": [each.to_json() for each in self.series],
        }
        # What would end the element that it is in is written in another way.
        return json.dumps(found, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _short(value: Any) -> float | int | None:
    """Five digits, which is more than can be seen."""
    value = float(value)
    if not math.isfinite(value):
        return None
    short = float(f"{value:.5g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def chart(drawn: Chart, *, hero: bool = False, files: Mapping[str, str] | None = None) -> str:
    """A figure; `files` are its drawings and numbers beside the page."""
    text, where = escape(drawn.text()), " Its drawing is among the files below." if files else ""
    return (
        f'<figure class="chart{" hero" * hero}"><div class="head"><h3>{escape(drawn.title)}</h3>'
        '<div class="tools"><button type="button" data-zoom="all">whole range</button>'
        '<button type="button" data-zoom="in" aria-label="Zoom in">+</button>'
        '<button type="button" data-zoom="out" aria-label="Zoom out">−</button></div></div>'  # noqa: RUF001
        '<div class="legend" role="group" aria-label="Curves: press to hide or show"></div>'
        f'<div class="plot" role="img" tabindex="0" aria-label="{text}"></div>'
        f"<noscript><p>This figure needs JavaScript.{where} In words: {text}</p></noscript>"
        f'<script type="application/json">{drawn.to_json()}</script>'
        f"<figcaption>{html.prose(drawn.caption)}{html.links(files or {})}</figcaption></figure>"
    )


class Row(NamedTuple):
    """A value of a policy with an interval, and perhaps one within; None if there is nothing to draw."""

    label: str
    look: Mapping[str, Any]
    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    inner: tuple[float, float] | None = None
    more: str = ""


def rows(
    title: str,
    listed: Sequence[Row],
    *,
    caption: str = "",
    log: bool = False,
    percents: bool = False,
    goals: Sequence[Level] = (),
) -> str:
    """A figure with a row a policy, on a common axis."""
    ends = [end for row in listed for end in (row.value, row.low, row.high) if end is not None]
    ends += [goal.value for goal in goals]
    scale = _Scale([end for end in ends if end > 0.0 or not log], log)
    drawn = "".join(_row(row, scale, goals) for row in listed)
    ticks = "".join(
        f'<span style="left:{place:.2f}%"{_last(place)}>{100 * value:g} %</span>'
        if percents
        else f'<span style="left:{place:.2f}%"{_last(place)}>{value:,.6g}</span>'
        for place, value in scale.ticks()
    )
    more = " ".join(f"Dashed: {goal.label} = {goal.value:g}." for goal in goals)
    text = html.prose(" ".join(filter(None, (caption, more))))
    return (
        f'<figure><h3>{escape(title)}</h3><div class="rows">{drawn}</div>'
        f'<div class="scale" aria-hidden="true">{ticks}</div><figcaption>{text}</figcaption></figure>'
    )


def _last(place: float) -> str:
    return ' class="last"' if place > 92.0 else ""


def _row(row: Row, scale: _Scale, goals: Sequence[Level]) -> str:
    own = f"--own:var(--c{row.look['colour']})"
    parts = "".join(f'<i class="goal" style="left:{scale(goal.value):.2f}%"></i>' for goal in goals)
    for kind, ends in (("thin", (row.low, row.high)), ("thick", row.inner or (None, None))):
        if ends[0] is not None and ends[1] is not None:
            left, right = scale(ends[0]), scale(ends[1])
            parts += f'<i class="{kind}" style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
    if row.value is not None and (row.value > 0.0 or not scale.log):
        parts += f'<i class="dot" style="left:{scale(row.value):.2f}%"></i>'
    about = f' data-about="{escape(row.more)}" tabindex="0"' if row.more else ""
    return (
        f'<div class="row"{about}><span>{escape(row.label)}</span><span class="is">{escape(row.text)}</span>'
        f'<div class="track" aria-hidden="true" style="{own}">{parts}</div></div>'
    )


class _Scale:
    """From numbers to percents of the width."""

    def __init__(self, ends: list[float], log: bool) -> None:
        self.log = log
        low, high = (min(ends), max(ends)) if ends else (0.1, 1.0)
        if log:
            self._low, self._high = math.log10(low) - 0.15, math.log10(high) + 0.05
        else:
            self._low, self._high = min(low, 0.0), high or 1.0

    def __call__(self, value: float) -> float:
        place = (math.log10(value) if value > 0.0 else self._low) if self.log else value
        return 100.0 * min(max((place - self._low) / (self._high - self._low), 0.0), 1.0)

    def ticks(self) -> list[tuple[float, float]]:
        """Powers of ten, or round numbers; about four."""
        if self.log and self._high - self._low > 1.2:
            powers = range(math.ceil(self._low), math.floor(self._high) + 1)
            values = [10.0**power for power in powers[:: max(1, math.ceil(len(powers) / 5))]]
        elif self.log:
            values = [
                step * 10.0**power
                for power in range(math.floor(self._low), math.ceil(self._high) + 1)
                for step in (1.0, 2.0, 5.0)
                if self._low <= math.log10(step) + power <= self._high
            ]
        else:
            width = self._high - self._low
            step = 10.0 ** math.floor(math.log10(width / 3.0))
            step *= max(size for size in (1.0, 2.0, 5.0) if size * step <= width / 3.0)
            first = math.ceil(self._low / step - 1e-9)
            values = [step * place for place in range(first, math.floor(self._high / step + 1e-9) + 1)]
        return [(self(value), value) for value in values]
