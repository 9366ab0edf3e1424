"""The page of `Agent.report`: how an experiment stands, and of one in a store how it went."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from robai._base.spec import as_text
from robai._base.version import VERSION
from robai.live import differences, monitor
from robai.live.alarms import date
from robai.live.differences import Difference
from robai.live.monitor import Row
from robai.plotting.style import COLOURS
from robai.report import figures, html
from robai.report.figures import Chart, Colours, Level, Series
from robai.report.html import Section, Tile

if TYPE_CHECKING:
    from robai.live.readable import Readable
    from robai.live.standing import Standing
    from robai.live.timeline import Timeline

MOST_ARMS = len(COLOURS)  # drawn over time
_WIDEST = 3.0  # of a band, in units of its last width: what was not known at first would hide all else
_MOST_POINTS = 50
_ABOUT_BANDS = (
    "A band is between the bounds that the policy compares, from where it is at most "
    f"{_WIDEST:.0f} times as wide as at the end."
)
ABOUT = {
    "pulls": "Rewards that count.",
    "pending": "Rounds that wait for their reward.",
    "share": "Of all rounds: answered, pending and given up.",
    "mean": "Of the rewards that count.",
    "lower": "The bound that the policy compares, or of the same level on the other side.",
    "upper": "The bound that the policy compares, or of the same level on the other side.",
    "low": "An interval that may be looked at at any time: what the true difference is at least.",
    "high": "What the true difference is at most.",
}


def page(agent: Standing[Any], title: str | None) -> str:
    """Of what an agent has in memory: how things stand, as it does not know how they came about."""
    return _page(agent, title or agent._experiment.policy.label(), "An experiment in memory", None, {})


def stored_page(agent: Readable[Any], found: Timeline, title: str | None) -> str:
    """With the course over time, by the events of the store."""
    terms = {
        "window": "none" if agent.window is None else f"{agent.window:g} s",
        "missing answers": "do not count" if agent.missing is None else f"count as {agent.missing:g}",
        "delta of the certificate": "none" if agent.delta is None else f"{agent.delta:.3g}",
        "created": date(agent.created),
        "last event": "-" if agent.last_event is None else date(agent.last_event),
    }
    lead = f"{agent._experiment.policy.label()}, {agent._dates()}"
    return _page(agent, title or agent.name, lead, found, terms)


def _page(agent: Standing[Any], title: str, lead: str, found: Timeline | None, terms: dict[str, str]) -> str:
    rows, seen = agent.table(), monitor.seen(agent)
    top = [html.tiles(_tiles(agent, rows)), html.paragraph(monitor.sentence(agent))]
    top += [html.paragraph(text[0].upper() + text[1:]) for text in (*agent._history(), *agent.alarms)]
    charts = _points(rows) if found is None else list(_courses(found, rows))
    compared = differences.shown(agent, seen)
    charts += _apart(compared) if compared else []
    if charts:
        top.append(figures.chart(charts[0], hero=True))
    parts = [html.beside(map(figures.chart, charts[1:]))] if charts[1:] else []
    parts.append(_table([Row._fields, *map(monitor.texts, rows)], " ".join(monitor.about_bounds(agent))))
    if compared:
        parts.append(_table(differences.texts(compared), differences.heading(compared, seen)))
    sections = [Section("arms", "Arms", "The arms", parts)]
    if found is not None and (told := _told(found)):
        sections.append(Section("events", "Events", "What happened", told))
    made = {
        "policy": as_text(agent._experiment.policy.to_dict()),
        "rewards": as_text(agent._experiment.family.to_dict()),
        **terms,
        "robai": VERSION,
        "made on": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
    }
    sections.append(Section("made", "How it was made", "How it was made", [html.definitions(made)]))
    return html.page(title, top, sections, lead=f"{lead}.")


def _tiles(agent: Standing[Any], rows: list[Row]) -> list[Tile]:
    tiles, best = [], monitor.leading(rows)
    if agent.committed:
        label = f"is what it committed to, after {agent.commit_time:,} rewards"
        tiles.append(Tile(str(agent.committed_arm), label, "text"))
    elif best is not None:
        sure = "" if (delta := agent.certificate()) == 1.0 else f"; certificate {delta:.2g}"
        tiles.append(Tile(str(best.arm), f"has the largest mean, {best.mean:.4g}{sure}", "text"))
    pending = int(agent.pending.sum())
    tiles.append(Tile(f"{agent.rounds:,}", f"of {agent.horizon:,} rounds, {pending:,} pending", "text"))
    alarms = len(agent.alarms)
    tiles.append(Tile(str(alarms), f"alarm{'s' * (alarms != 1)}", f"text {'fails' if alarms else 'none'}"))
    return tiles


def _table(rows: list[tuple[str, ...]], caption: str) -> str:
    heading, *cells = rows
    numbers = [name for name in heading if name not in ("arm", "status", "verdict")]
    listed = [dict(zip(heading, each, strict=True)) for each in cells]
    return html.table(listed, caption=caption, numbers=numbers, about=ABOUT)


# ---- figures


def _courses(found: Timeline, rows: list[Row]) -> Iterator[Chart]:
    """Means and shares of every arm by rounds; means as they stand if all rewards came in one round."""
    curves: dict[Any, list[tuple[int, Row]]] = {}
    for rounds, look in found.looks.items():
        for row in look:
            curves.setdefault(row.arm, []).append((rounds, row))
    colours = Colours(map(str, range(len(curves))))
    places = {arm: colours(str(place)) for place, arm in enumerate(curves)}
    most = sorted(curves, key=lambda arm: curves[arm][-1][1].pulls, reverse=True)[:MOST_ARMS]
    drawn = [arm for arm in curves if arm in most]
    verticals = tuple(Level(each.what, each.rounds) for each in found.happened)
    some = f" Of the {len(curves):,} arms those with the most rewards." if len(curves) > len(drawn) else ""
    known = {arm: [(rounds, row) for rounds, row in curves[arm] if row.mean is not None] for arm in drawn}
    means = [_band(str(arm), points, places[arm]) for arm, points in known.items() if points]
    if len({rounds for each in means for rounds in each.x}) < 2:
        yield from _points(rows)
    else:
        bands = [low for each in means for low in each.low or () if math.isfinite(low)]
        caption = _ABOUT_BANDS * bool(bands) + some
        yield Chart("Means", "round", "mean reward", means, caption, verticals=verticals)
    shares = [
        Series(str(arm), [r for r, _ in curves[arm]], [row.share for _, row in curves[arm]], places[arm])
        for arm in drawn
    ]
    if shares:
        caption = "Of all rounds until then, with those that are pending or given up." + some
        yield Chart(
            "Shares", "round", "share of the rounds", shares, caption, verticals=verticals, share=True
        )


def _band(label: str, points: list[tuple[int, Row]], look: dict[str, Any]) -> Series:
    """The means of an arm, with the bounds where these are not too wide to be drawn."""
    ends = [(_number(row.lower), _number(row.upper)) for _, row in points]
    widest = _WIDEST * (ends[-1][1] - ends[-1][0])
    drawn = [(low, high) if high - low <= widest else (math.nan, math.nan) for low, high in ends]
    low, high = zip(*drawn, strict=True)
    means = [_number(row.mean) for _, row in points]
    return Series(label, [rounds for rounds, _ in points], means, look, low=low, high=high)


def _points(rows: list[Row]) -> list[Chart]:
    """The means as they stand."""
    known = [row for row in rows if row.mean is not None][:_MOST_POINTS]
    if not known:
        return []
    series = Series(
        "mean",
        range(1, len(known) + 1),
        [_number(row.mean) for row in known],
        {"colour": 0, "dash": False},
        low=[_number(row.lower) for row in known],
        high=[_number(row.upper) for row in known],
        texts=[f"{row.arm}: {row.mean:.4g} of {row.pulls:,} rewards" for row in known],
    )
    bounded = any(row.lower is not None or row.upper is not None for row in known)
    caption = "With the bounds that the policy compares." if bounded else ""
    if len(rows) > _MOST_POINTS:
        caption += f" The first {_MOST_POINTS} arms with rewards."
    names = [str(row.arm) for row in known]
    return [Chart("Means", "arm", "mean reward", [series], caption, kind="points", names=names)]


def _apart(compared: list[Difference]) -> list[Chart]:
    """The differences, with their intervals."""
    series = Series(
        f"mean of {compared[0].arm} less that of the arm",
        range(1, len(compared) + 1),
        [each.estimate for each in compared],
        {"colour": 0, "dash": False},
        low=[each.low for each in compared],
        high=[each.high for each in compared],
        texts=[f"{each.other}: {each.low:.4g} to {each.high:.4g}" for each in compared],
    )
    caption = "Intervals that are right at all times, all together."
    names = [str(each.other) for each in compared]
    level = (Level("no difference", 0.0),)
    return [
        Chart("Differences", "arm", "difference", [series], caption, kind="points", names=names, levels=level)
    ]


def _number(value: float | None) -> float:
    return math.nan if value is None else value


# ---- what happened


def _told(found: Timeline) -> list[str]:
    parts = []
    if found.start is not None:
        parts.append(
            html.paragraph(
                f"The events before {date(found.start.time)} were compacted away: what is shown begins in "
                f"round {found.start.rounds:,}."
            )
        )
    if found.happened:
        rows = [
            {"when": date(each.time), "round": f"{each.rounds:,}", "what": each.what}
            for each in found.happened
        ]
        parts.append(html.table(rows, numbers=("round",)))
    return parts
