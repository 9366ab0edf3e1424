"""Where the names of curves and points are written: beside them if there is room, else in a legend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robai.plotting.style import spread

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

Floats = NDArray[np.float64]

_MARK = "_robai"  # attribute of what was written here, to find it again at the next call on the same axes
_WIDEST = 0.5  # of the width of axes, for a layout that makes room beside them


class Curve(NamedTuple):
    """Where a drawn curve ends, and what it is called."""

    label: str
    x: float
    y: float
    colour: Any


def name_curves(
    ax: Axes, curves: list[Curve], fresh: bool, handles: Sequence[Artist] = (), loc: str = "upper left"
) -> Axes:
    """Name curves at their ends if all fit there and the axes were `fresh`, else in a legend.

    Names that an earlier call wrote at the ends are moved to make room for the new ones, and stay there if
    there is none. The legend also has the handles; if it has nothing else, and there is room, it is above the
    axes, where no curve is.
    """
    before = [text for text in ax.texts if isinstance(getattr(text, _MARK, None), Curve)]
    known = [getattr(text, _MARK) for text in before]
    if (fresh or before) and _fit_at_the_end(ax, [*known, *curves]):
        for text in before:
            text.remove()
        _label_ends(ax, [*known, *curves])
        known += curves
    return add_legend(ax, handles, {curve.label for curve in known}, loc)


def add_legend(
    ax: Axes, extra: Sequence[Artist] = (), named: Iterable[str] = (), loc: str = "upper left"
) -> Axes:
    """A legend of all that is not named otherwise, and of what an earlier one had in addition."""
    old: list[Artist] = getattr(ax.get_legend(), _MARK, [])
    # One of each text; the same band or dot explains those of all calls.
    extra = list({str(handle.get_label()): handle for handle in [*old, *extra]}.values())
    drawn = [
        handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True) if label not in named
    ]
    if not (drawn or extra):
        return ax
    place: dict[str, Any] = {"loc": loc}
    if not drawn and _fits_above(ax, len(extra)):
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0}
    handles = [*drawn, *extra]
    tall = len(handles) * _distance(ax) > 0.6
    legend = ax.legend(handles=handles, frameon=False, fontsize="x-small" if tall else "small", **place)
    setattr(legend, _MARK, extra)
    return ax


def _fit_at_the_end(ax: Axes, curves: list[Curve]) -> bool:
    """Is there room for the names to the right of the axes, or is it made: in height and in width?"""
    if not curves or len(curves) * _distance(ax) > 1.0:
        return not curves
    frame = ax.get_window_extent()
    needed = max(text_width(curve.label) for curve in curves) * _pixels(ax) + 0.05 * frame.width
    if ax.figure.get_layout_engine() is not None:
        return bool(needed <= _WIDEST * frame.width)
    beside = [
        other for other in _others(ax) if other.x0 >= frame.x1 and other.y0 < frame.y1 and frame.y0 < other.y1
    ]
    ticks = 5.0 * _pixels(ax) * font_size()  # of the axes to the right, and its label
    return bool(frame.x1 + needed <= min([ax.figure.bbox.x1, *(other.x0 - ticks for other in beside)]))


def _fits_above(ax: Axes, lines: int) -> bool:
    if ax.figure.get_layout_engine() is not None:
        return True
    frame = ax.get_window_extent()
    above = [other for other in _others(ax) if other.y0 >= frame.y1]
    needed = 1.6 * lines * font_size() * _pixels(ax)
    # What is beside may be overlapped by a wide legend.
    alone = not any(other.x0 >= frame.x1 for other in _others(ax))
    return bool(alone and frame.y1 + needed <= min([ax.figure.bbox.y1, *(other.y0 for other in above)]))


def _others(ax: Axes) -> list[Bbox]:
    return [other.get_window_extent() for other in ax.figure.axes if other is not ax]


def _distance(ax: Axes) -> float:
    """Between the names of two curves, as a part of the height of the axes."""
    return float(1.3 * font_size() * _pixels(ax) / ax.get_window_extent().height)


def _label_ends(ax: Axes, curves: list[Curve]) -> None:
    """Write the name of each curve at the right of the axes, level with its end.

    Names of curves that end close to each other are moved apart; a thin line leads to each.
    """
    to_axes = ax.transData + ax.transAxes.inverted()
    ax.get_ylim()  # limits are settled lazily, and the transform does not ask for them
    wanted = np.array([to_axes.transform((curve.x, curve.y))[1] for curve in curves])
    for curve, place in zip(curves, spread(wanted, _distance(ax), 0.0, 1.0), strict=True):
        text = _annotate(
            ax, curve, (1.04, place), textcoords="axes fraction", va="center", arrowprops=_leader(curve)
        )
        setattr(text, _MARK, curve)


def _leader(curve: Curve) -> dict[str, Any]:
    """A thin line from a name to what it names."""
    # patchA: cutting the line at the text takes longer than all the rest of the label
    return {
        "arrowstyle": "-",
        "color": curve.colour,
        "linewidth": 0.7,
        "relpos": (0, 0.5),
        "patchA": None,
        "shrinkA": 2,
        "shrinkB": 0,
    }


def label_points(ax: Axes, points: list[Curve], drawn: Iterable[Sequence[Any]] = ()) -> bool:
    """Write the name of each point near it, where it covers least; whether there is such a place for all.

    If there is none, for names would cover each other, a point or too much of a line, nothing is written.
    `drawn` are lines, as pairs of xs and ys. A name that is not beside its point has a thin line to it.
    """
    ax.get_xlim()  # as in _label_ends
    ax.get_ylim()
    size = font_size() * _pixels(ax)
    centres = np.array([ax.transData.transform((point.x, point.y)) for point in points]).reshape(-1, 2)
    taken: list[Any] = [text.get_window_extent().extents for text in ax.texts if hasattr(text, _MARK)]
    avoided = np.concatenate([centres, *(_dots(ax, *line) for line in drawn)])
    chosen = []
    for point, centre in zip(points, centres, strict=True):
        width = text_width(point.label) * _pixels(ax)
        place = _best_place(ax, width, centre, np.array(taken).reshape(-1, 4), avoided, centres)
        if place is None:
            return False
        taken.append(place.box + 0.4 * size * np.array([-1, 0, 1, 0]))
        avoided = np.concatenate([avoided, place.leader[4:]])  # near the point all its neighbours' lines are
        chosen.append(place)
    for point, place in zip(points, chosen, strict=True):
        hold = (0.5 - 0.5 * place.right, 0.5 if place.right else float(place.offset[1] < 0.0))
        arrow = _leader(point) | {"relpos": hold} if len(place.leader) else None
        side = {"ha": ("center", "left", "right")[place.right], "va": "center"}
        text = _annotate(ax, point, place.offset, textcoords="offset points", arrowprops=arrow, **side)
        setattr(text, _MARK, True)
    return True


class _Place(NamedTuple):
    """Of a name: from its point, in points; to which side; its box, and its thin line as dots, in pixels."""

    offset: tuple[float, float]
    right: int
    box: Floats  # x and y of its lower left and upper right corners
    leader: Floats


_GAP = 7.0  # points between a point and its name
_SIDES = np.array([(shift, right) for shift in (1.0, 3.0, 6.0, 10.0) for right in (1, -1)] + [(0.0, 0)])
_LINES = np.array([0, 1, -1, 2, -2, 3, -3, 4, -4, 6, -6, 8, -8])  # up from the point
_MOST_COVERED = 8  # dots of lines under a name


def _best_place(
    ax: Axes, width: float, centre: Floats, taken: Floats, avoided: Floats, points: Floats
) -> _Place | None:
    """Where a name covers least; None if it covers too much wherever it is."""
    pixels = _pixels(ax)
    size = font_size() * pixels
    lines = np.repeat(_LINES, len(_SIDES))
    shifts, right = np.tile(_SIDES, (len(_LINES), 1)).T
    offsets = np.column_stack([shifts * right * _GAP, lines * 1.2 * font_size()])
    middle = centre + offsets * pixels + np.column_stack([0.5 * right * width, 0.0 * right])
    half = 0.5 * np.array([width, 1.15 * size])
    boxes = np.concatenate([middle - half, middle + half], axis=1)
    frame = ax.get_window_extent().extents
    allowed = (boxes[:, :2] >= frame[:2]).all(axis=1) & (boxes[:, 2:] <= frame[2:]).all(axis=1)
    for other in taken:
        allowed &= (boxes[:, 2:] < other[:2]).any(axis=1) | (boxes[:, :2] > other[2:]).any(axis=1)
    covered = _inside(avoided, boxes).sum(axis=1)
    covered += _MOST_COVERED * _inside(points, boxes + 2.0 * pixels * np.array([-1, -1, 1, 1])).sum(axis=1)
    # A line begins at the side of the name that is nearest to the point.
    hold = np.column_stack(
        [middle[:, 0] - right * half[0], middle[:, 1] - (right == 0) * np.sign(lines) * half[1]]
    )
    leaders = centre + np.linspace(0.0, 1.0, 12)[:, np.newaxis] * (hold - centre)[:, np.newaxis, :]
    far = np.abs(offsets).sum(axis=1) > 2.5 * _GAP
    inner = taken + 0.45 * size * np.array([1, 1, -1, -1])
    inside = _inside(leaders.reshape(-1, 2), inner).any(axis=0)  # of any other name
    crossed = far * inside.reshape(len(boxes), -1).sum(axis=1)
    cost = covered + _MOST_COVERED * crossed + 1.5 * np.abs(lines) + 0.8 * shifts + 0.1 * (right < 1)
    cost[~allowed | (covered > _MOST_COVERED)] = np.inf
    best = int(np.argmin(cost))
    if np.isinf(cost[best]):
        return None
    x, y = offsets[best].tolist()
    return _Place((x, y), int(right[best]), boxes[best], leaders[best] if far[best] else np.empty((0, 2)))


def _inside(points: Floats, boxes: Floats) -> NDArray[np.bool_]:
    """Which points are in which boxes, boxes x points."""
    low, high = boxes[:, np.newaxis, :2], boxes[:, np.newaxis, 2:]
    return np.asarray(((points >= low) & (points <= high)).all(axis=2))


def _dots(ax: Axes, xs: Any, ys: Any) -> Floats:
    """Pixels along a line, some five apart; of a line that goes beyond the axes, those inside."""
    ends = ax.transData.transform(np.column_stack([xs, ys]))
    lengths = np.abs(np.diff(ends, axis=0)).max(axis=1, initial=0.0)
    total = np.concatenate([[0.0], np.cumsum(lengths)])
    places = np.linspace(0.0, total[-1], 2 + int(min(total[-1], 1e4) / 5.0))
    return np.column_stack([np.interp(places, total, ends[:, axis]) for axis in (0, 1)])


def font_size() -> float:
    from matplotlib import rcParams

    return 0.9 * float(rcParams["font.size"])


def _pixels(ax: Axes) -> float:
    """In a point."""
    return float(ax.figure.dpi / 72.0)


def text_width(label: str) -> float:
    """Of a name, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=font_size())
    width: float = text_to_path.get_text_width_height_descent(label, font, False)[0]
    return width


def _annotate(ax: Axes, curve: Curve, place: tuple[float, float], **how: Any) -> Annotation:
    """Write the name of a curve in its colour, dark enough to be read as text on white."""
    from matplotlib.colors import to_rgb

    ink = tuple(0.7 * channel for channel in to_rgb(curve.colour))
    how |= {"color": ink, "fontsize": font_size(), "annotation_clip": False}
    return ax.annotate(curve.label, (curve.x, curve.y), place, **how)
