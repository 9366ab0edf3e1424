"""Where the names of curves and points are written: beside them if there is room, else in a legend."""

from __future__ import annotations

import itertools
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
    centres = [ax.transData.transform((point.x, point.y)) for point in points]
    taken = [text.get_window_extent() for text in ax.texts if hasattr(text, _MARK)]
    avoided = np.concatenate([np.array(centres).reshape(-1, 2), *(_dots(ax, *line) for line in drawn)])
    chosen: list[_Place] = []
    for point, centre in zip(points, centres, strict=True):
        place = _best_place(ax, text_width(point.label) * _pixels(ax), centre, taken, avoided, centres)
        if place is None:
            return False
        taken.append(place.box.expanded(1.0 + 0.8 * font_size() * _pixels(ax) / place.box.width, 1.0))
        avoided = np.concatenate([avoided, place.leader[4:]])  # near the point all its neighbours' lines are
        chosen.append(place)
    for point, place in zip(points, chosen, strict=True):
        arrow = _leader(point) | {"relpos": place.hold} if len(place.leader) else None
        side = {"ha": ("center", "left", "right")[place.right], "va": "center"}
        text = _annotate(ax, point, place.offset, textcoords="offset points", arrowprops=arrow, **side)
        setattr(text, _MARK, True)
    return True


class _Place(NamedTuple):
    """Of a name: from its point, in points; to which side; its box, and its thin line as dots, in pixels."""

    offset: tuple[float, float]
    right: int
    box: Bbox
    leader: Floats

    @property
    def hold(self) -> tuple[float, float]:
        """Where on its box the line begins."""
        return (0.5 - 0.5 * self.right, 0.5) if self.right else (0.5, 0.0 if self.offset[1] > 0.0 else 1.0)


_GAP = 7.0  # points between a point and its name
_LINES = (0, 1, -1, 2, -2, 3, -3, 4, -4, 6, -6, 8, -8)  # up from the point
_SHIFTS = (1.0, 3.0, 6.0, 10.0)  # gaps to the side
_MOST_COVERED = 8  # dots of lines under a name


def _best_place(
    ax: Axes, width: float, centre: Floats, taken: list[Bbox], avoided: Floats, points: list[Floats]
) -> _Place | None:
    """Where a name covers least; None if it covers too much wherever it is."""
    from matplotlib.transforms import Bbox

    pixels, frame = _pixels(ax), ax.get_window_extent()
    height = 1.15 * font_size() * pixels
    found: list[tuple[float, _Place]] = []
    sides = [*itertools.product(_SHIFTS, (1, -1)), (0.0, 0)]
    for lines, (shift, right) in itertools.product(_LINES, sides):
        x, y = shift * right * _GAP, lines * 1.2 * font_size()
        middle = centre[0] + x * pixels + 0.5 * right * width, centre[1] + y * pixels
        box = Bbox.from_bounds(middle[0] - 0.5 * width, middle[1] - 0.5 * height, width, height)
        inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
        covered = _count(box, avoided) + _count(box.padded(2.0 * pixels), np.array(points)) * _MOST_COVERED
        if not inside or covered > _MOST_COVERED or box.count_overlaps(taken):
            continue
        place = _Place((x, y), right, box, np.empty((0, 2)))
        if abs(x) + abs(y) > 2.5 * _GAP:
            hold = np.array(box.min) + np.array(place.hold) * (np.array(box.max) - box.min)
            place = place._replace(leader=np.linspace(centre, hold, 12))
            crossed = sum(_count(other.padded(-0.45 * font_size() * pixels), place.leader) for other in taken)
            covered += _MOST_COVERED * crossed
        found.append((covered + 1.5 * abs(lines) + 0.8 * shift + 0.1 * (right < 1), place))
    return min(found, key=lambda each: each[0])[1] if found else None


def _count(box: Bbox, points: Floats) -> int:
    low, high = box.min, box.max
    return int(((points >= low) & (points <= high)).all(axis=1).sum())


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
