"""What the figures share: axes, colours and line styles, direct labels, the numbers behind a point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robai._base.intervals import Mean
from robai._base.text import printable

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robai.result import Result

# Okabe and Ito's colours, told apart with any colour vision; line styles and markers serve print in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
GREY = "#666666"

_MISSING = 'plotting needs matplotlib: pip install "robai[plot]"'


def axes(ax: Axes | None) -> Axes:
    """The given axes, or those of a new figure that pyplot knows, so that a notebook shows it."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(_MISSING) from error
    return plt.subplots(layout="constrained")[1]


def new_figure(width: float, height: float) -> Figure:
    """A figure that pyplot does not know, to be written to a file."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(_MISSING) from error
    return Figure(figsize=(width, height), layout="constrained")


def as_results(results: Result | Iterable[Result]) -> list[Result]:
    """The results to draw: anything with a Result's arrays."""
    listed = list(results) if isinstance(results, Iterable) else [results]
    for result in listed:
        if not hasattr(result, "final_regret"):
            raise TypeError(f"results must be Result objects, got {result!r}")
    if not listed:
        raise ValueError("results must hold at least one Result, got none")
    return [
        result if (name := literal(result.label)) == result.label else replace(result, label=name)
        for result in listed
    ]


def literal(name: str) -> str:
    """A name that Matplotlib draws as it is: not as a formula, and not left out of the legend."""
    return " " * name.startswith("_") + printable(name).replace("$", r"\$")


def styles(*kinds: Literal["linestyle", "marker"]) -> Iterator[dict[str, Any]]:
    """Colour, and line style or marker as asked for, of one curve after another."""
    cycles = {"color": COLOURS, "linestyle": LINES, "marker": MARKERS}
    for i in count():
        yield {kind: cycles[kind][i % len(cycles[kind])] for kind in ("color", *kinds)}


def log_x(ax: Axes) -> None:
    """A logarithmic x axis, its limits settled: ticks at powers of ten, or at 1, 2 and 5 if those are few.

    Plain text, which is drawn many times faster than the default's mathematical notation.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    axis = ax.xaxis
    low, high = axis.get_view_interval()
    superscript = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    if high < 100.0 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    else:
        axis.set_major_formatter(
            FuncFormatter(lambda value, _: "10" + f"{math.log10(value):.0f}".translate(superscript))
        )
    axis.set_minor_locator(NullLocator())


Quantity = Literal["regret", "commitment"]
QUANTITIES: dict[Quantity, str] = {"regret": "mean regret", "commitment": "mean commitment time"}


def mean_of(result: Result, quantity: Quantity) -> Mean:
    """Final regret, or the round of commitment; a run that never commits counts as the horizon."""
    digest = result.digest()
    return digest.regret if quantity == "regret" else digest.capped_time


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

    The legend also has the handles; if it has nothing else it is above the axes, where no curve is.
    """
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0}
    if not (fresh and _label_ends(ax, curves)):
        handles, place = [*ax.get_legend_handles_labels()[0], *handles], {"loc": loc}
    if handles:
        ax.legend(handles=handles, frameon=False, fontsize="small", **place)
    return ax


def _label_ends(ax: Axes, curves: list[Curve]) -> bool:
    """Write the name of each curve at the right of the axes, level with its end, if all of them fit.

    Names of curves that end close to each other are moved apart; a thin line leads to each.
    """
    height = ax.get_window_extent().height * 72.0 / ax.figure.dpi
    distance = 1.3 * _font_size() / height
    if len(curves) * distance > 1.0:
        return False
    to_axes = ax.transData + ax.transAxes.inverted()
    ax.get_ylim()  # limits are settled lazily, and the transform does not ask for them
    wanted = np.array([to_axes.transform((curve.x, curve.y))[1] for curve in curves])
    for curve, place in zip(curves, spread(wanted, distance, 0.0, 1.0), strict=True):
        arrow = {"arrowstyle": "-", "color": curve.colour, "linewidth": 0.7, "relpos": (0, 0.5)}
        # patchA: cutting the line at the text takes longer than all the rest of the label
        arrow |= {"patchA": None, "shrinkA": 2, "shrinkB": 0}
        _annotate(ax, curve, (1.04, place), textcoords="axes fraction", va="center", arrowprops=arrow)
    return True


def spread(wanted: NDArray[np.float64], distance: float, low: float, high: float) -> NDArray[np.float64]:
    """The places nearest to the wanted ones (least squares) that are `distance` apart, from low to high.

    In units in which neighbours may touch this is isotonic regression, by pooling adjacent violators.
    """
    order = np.argsort(wanted, kind="stable")
    steps = distance * np.arange(len(wanted))
    pools: list[list[float]] = []
    for value in wanted[order] - steps:
        pools.append([value])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    level = np.array([np.mean(pool) for pool in pools for _ in pool])
    places = np.empty(len(wanted))
    places[order] = np.clip(level, low, high - distance * (len(wanted) - 1)) + steps
    return places


def label_points(ax: Axes, points: list[Curve]) -> None:
    """Write the name of each point beside it: on the first of four sides where it covers nothing."""
    from matplotlib.transforms import Bbox

    def box(x: float, y: float, width: float, height: float) -> Bbox:
        return Bbox.from_bounds(x - width / 2, y - height / 2, width, height)

    pixels = ax.figure.dpi / 72.0
    gap, height = 7.0 * pixels, 1.2 * _font_size() * pixels
    ax.get_xlim()  # as in _label_ends
    ax.get_ylim()
    centres = [ax.transData.transform((point.x, point.y)) for point in points]
    frame = ax.get_window_extent()
    taken = [box(x, y, gap, gap) for x, y in centres]
    for point, (x, y) in zip(points, centres, strict=True):
        width = 0.6 * _font_size() * len(point.label) * pixels  # a letter is about this wide
        sides = {
            (right, up): box(x + right * (gap + width / 2), y + up * (gap + height / 2), width, height)
            for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1))
        }
        fitting = (
            side
            for side, own in sides.items()
            if frame.x0 <= own.x0 and own.x1 <= frame.x1 and not own.count_overlaps(taken)
        )
        right, up = next(fitting, (1, 0))
        taken.append(sides[right, up])
        aligned = {"ha": ("center", "left", "right")[right], "va": ("center", "bottom", "top")[up]}
        white = {"color": "white", "pad": 0.5, "alpha": 0.8}
        _annotate(ax, point, (7 * right, 7 * up), textcoords="offset points", **aligned, bbox=white)


def _font_size() -> float:
    from matplotlib import rcParams

    return 0.9 * float(rcParams["font.size"])


def _annotate(ax: Axes, curve: Curve, place: tuple[float, float], **how: Any) -> None:
    """Write the name of a curve in its colour, dark enough to be read as text on white."""
    from matplotlib.colors import to_rgb

    ink = tuple(0.7 * channel for channel in to_rgb(curve.colour))
    how |= {"color": ink, "fontsize": _font_size(), "annotation_clip": False}
    ax.annotate(curve.label, (curve.x, curve.y), place, **how)
