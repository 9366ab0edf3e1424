"""What the figures share: axes, colours and line styles, direct labels, the numbers behind a point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robai._base.intervals import Mean
from robai._base.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

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
    hidden = " " if name.startswith("_") else ""
    return hidden + printable(name).replace("$", r"\$")


def line_styles() -> Iterator[dict[str, Any]]:
    for i in count():
        yield {"color": COLOURS[i % len(COLOURS)], "linestyle": LINES[i % len(LINES)]}


def marker_styles() -> Iterator[dict[str, Any]]:
    for i in count():
        yield {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}


def log_ticks(axis: Axis) -> None:
    """Ticks of a logarithmic axis whose limits are settled: powers of ten, or 1, 2 and 5 if those are few.

    Plain text, which is drawn many times faster than the default's mathematical notation.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

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


def label_ends(ax: Axes, curves: list[Curve]) -> bool:
    """Write the name of each curve at the right of the axes, level with its end, if all of them fit.

    Names of curves that end close to each other are moved apart; a thin line leads to each.
    """
    from matplotlib import rcParams

    size = rcParams["font.size"] * 0.9
    height = ax.get_window_extent().height * 72.0 / ax.figure.dpi
    distance = 1.3 * size / height
    if len(curves) * distance > 1.0:
        return False
    to_axes = ax.transData + ax.transAxes.inverted()
    ax.get_ylim()  # limits are settled lazily, and the transform does not ask for them
    wanted = np.array([to_axes.transform((curve.x, curve.y))[1] for curve in curves])
    for curve, place in zip(curves, spread(wanted, distance, 0.0, 1.0), strict=True):
        _annotate(
            ax,
            curve,
            (1.04, place),
            textcoords="axes fraction",
            va="center",
            fontsize=size,
            arrowprops={
                "arrowstyle": "-",
                "color": curve.colour,
                "linewidth": 0.7,
                "relpos": (0, 0.5),
                "patchA": None,  # cutting the line at the text takes longer than all the rest of the label
                "shrinkA": 2,
                "shrinkB": 0,
            },
        )
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
    level = np.concatenate([np.full(len(pool), np.mean(pool)) for pool in pools])
    places = np.empty(len(wanted))
    places[order] = np.clip(level, low, high - distance * (len(wanted) - 1)) + steps
    return places


def label_points(ax: Axes, points: list[Curve]) -> None:
    """Write the name of each point beside it: on the first of four sides where it covers nothing."""
    from matplotlib import rcParams

    size = rcParams["font.size"] * 0.9
    pixels = ax.figure.dpi / 72.0
    gap, height = 7.0 * pixels, 1.2 * size * pixels
    ax.get_xlim()  # as in label_ends
    ax.get_ylim()
    centres = [ax.transData.transform((point.x, point.y)) for point in points]
    frame = ax.get_window_extent()
    taken = [(x - gap / 2, y - gap / 2, x + gap / 2, y + gap / 2) for x, y in centres]
    for point, (x, y) in zip(points, centres, strict=True):
        width = 0.6 * size * len(point.label) * pixels  # a letter is about this wide
        sides = {
            ("left", "center"): (x + gap, y - height / 2, x + gap + width, y + height / 2),
            ("right", "center"): (x - gap - width, y - height / 2, x - gap, y + height / 2),
            ("center", "bottom"): (x - width / 2, y + gap, x + width / 2, y + gap + height),
            ("center", "top"): (x - width / 2, y - gap - height, x + width / 2, y - gap),
        }
        fitting = (
            side
            for side, box in sides.items()
            if frame.x0 <= box[0] and box[2] <= frame.x1 and not any(_overlap(box, other) for other in taken)
        )
        ha, va = next(fitting, ("left", "center"))
        taken.append(sides[ha, va])
        offset = ({"left": 7, "right": -7, "center": 0}[ha], {"bottom": 7, "top": -7, "center": 0}[va])
        how = {"textcoords": "offset points", "ha": ha, "va": va, "fontsize": size}
        _annotate(ax, point, offset, **how, bbox={"color": "white", "pad": 0.5, "alpha": 0.8})


def _annotate(ax: Axes, curve: Curve, place: tuple[float, float], **how: Any) -> Annotation:
    return ax.annotate(
        curve.label,
        (curve.x, curve.y),
        place,
        color=_ink(curve.colour),
        annotation_clip=False,
        **how,
    )


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _ink(colour: Any) -> tuple[float, ...]:
    """The colour dark enough to be read as text on white."""
    from matplotlib.colors import to_rgb

    return tuple(0.7 * channel for channel in to_rgb(colour))
