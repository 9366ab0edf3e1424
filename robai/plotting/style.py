"""What the figures share: axes, colours and line styles, the numbers behind a point, and places apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from robai._base.intervals import Mean
from robai._base.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robai.result import Identification, Result

# The first three are Okabe and Ito's. With any colour vision two of them are apart at least as far as the
# closest of theirs, and all stand out from white, 3:1. Those on a dark page have the same hues. Line styles
# and markers serve print in grey.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#A53C87",
    "#8769FF",
    "#000000",
    "#B40F00",
    "#2D694B",
    "#A587B4",
    "#691EB4",
    "#780F3C",
    "#2D3C69",
)
COLOURS_ON_DARK = (
    "#87C3FF",
    "#FF963C",
    "#00F0A5",
    "#E1A5C3",
    "#7869FF",
    "#E1F0F0",
    "#D24B00",
    "#2D875A",
    "#B44BC3",
    "#C387FF",
    "#F05A96",
    "#8796C3",
)
MOST_ARMS = 7  # that are told apart by colour
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
GREY = "#666666"

_places: ContextVar[Mapping[str, int] | None] = ContextVar("places", default=None)

_MISSING = 'plotting needs matplotlib: pip install "robai[plot]"'


def axes(ax: Axes | None) -> Axes:
    """The given axes, or those of a new figure that pyplot knows, so that a notebook shows it."""
    return new_shown_figure().subplots() if ax is None else ax


def new_shown_figure(*size: float) -> Figure:
    """A figure that pyplot knows, of a width and height in inches."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(_MISSING) from error
    return plt.figure(figsize=size or None, layout="constrained")


def new_figure(width: float, height: float) -> Figure:
    """A figure that pyplot does not know, to be written to a file."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(_MISSING) from error
    return Figure(figsize=(width, height), layout="constrained")


def as_results(results: Result | Iterable[Result]) -> list[Result]:
    """The results to draw: anything with a Result's curve."""
    return _listed(results, "Result", "regret_sem")


def as_identifications(found: Identification | Iterable[Identification]) -> list[Identification]:
    """The identifications to draw: anything with their arrays."""
    return _listed(found.values() if isinstance(found, Mapping) else found, "Identification", "stopping_time")


def _listed(results: Any, kind: str, array: str) -> list[Any]:
    listed = list(results) if isinstance(results, Iterable) else [results]
    for result in listed:
        if not hasattr(result, array):
            raise TypeError(f"results must be {kind} objects, got {result!r}")
    if not listed:
        raise ValueError(f"results must hold at least one {kind}, got none")
    return [
        result if (name := literal(result.label)) == result.label else replace(result, label=name)
        for result in listed
    ]


def literal(name: str) -> str:
    """A name that Matplotlib draws as it is: not as a formula, and not left out of the legend."""
    return " " * name.startswith("_") + printable(name).replace("$", r"\$")


@contextmanager
def one_colour_each(labels: Iterable[str]) -> Iterator[None]:
    """In all that is drawn inside, policies have the colours of their places here, in whichever figure."""
    token = _places.set({literal(label): place for place, label in enumerate(labels)})
    try:
        yield
    finally:
        _places.reset(token)


def styles(
    drawn: Iterable[Any], *kinds: Literal["linestyle", "marker"], ax: Axes | None = None
) -> Iterator[dict[str, Any]]:
    """Colour, and line style or marker as asked for, of results or labels, after the curves in `ax`."""
    places = _places.get() or {}
    for place, each in enumerate(drawn, 0 if ax is None else _curves_in(ax)):
        i = places.get(getattr(each, "label", each), place)
        again = i // len(COLOURS)  # so that a colour that comes again has another line style
        own = {
            "color": COLOURS[i % len(COLOURS)],
            "linestyle": LINES[(i + again) % len(LINES)],
            "marker": MARKERS[i % len(MARKERS)],
        }
        yield {kind: own[kind] for kind in ("color", *kinds)}


def _curves_in(ax: Axes) -> int:
    """How many curves there are in the axes already; level lines, which are grey, are none."""
    handles = ax.get_legend_handles_labels()[0]
    lines = [handle[0] if isinstance(handle, tuple) else handle for handle in handles]
    return sum(getattr(line, "get_color", lambda: None)() != GREY for line in lines)


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


def set_limits(ax: Axes, axis: Literal["x", "y"], *ends: float | None) -> None:
    """Set the lower and the upper end of an axis; None is where what is drawn ends, or as a user has set it.

    An end that was set by an earlier call on the same axes, before all was drawn, is not the user's.
    """
    own: dict[str, Any] = vars(ax).setdefault("_robai_limits", {})
    limits, set_both = (ax.get_xlim, ax.set_xlim) if axis == "x" else (ax.get_ylim, ax.set_ylim)
    if own.get(axis) == limits():
        ax.autoscale(axis=axis)
    if getattr(ax, f"get_{axis}scale")() == "log":  # which a user may have asked for: it has no 0
        ends = tuple(end if end is None or end > 0.0 else None for end in ends)
    set_both(*ends)
    own[axis] = limits()


Quantity = Literal["regret", "commitment"]
QUANTITIES: dict[Quantity, str] = {"regret": "mean regret", "commitment": "mean commitment time"}


def mean_of(result: Result, quantity: Quantity) -> Mean:
    """Final regret, or the round of commitment; a run that never commits counts as the horizon."""
    digest = result.digest()
    return digest.regret if quantity == "regret" else digest.capped_time


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
