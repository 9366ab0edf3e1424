"""Figures. Every function draws on `ax`, or on a new figure if None, and returns the Axes; none is shown."""

from collections.abc import Iterable
from itertools import cycle
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from robai.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart with any colour vision; the line styles serve print in grey.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_STYLES = ("-", "--", "-.", ":")


def plot_regret(
    results: Result | Iterable[Result], ax: "Axes | None" = None, *, confidence: float = 0.95, **line: Any
) -> "Axes":
    """Mean cumulative regret against rounds, with a confidence band of the mean.

    A dot marks the median commitment time of the runs that committed. One run alone has no band. `line` goes
    to `Axes.plot`, for all lines alike.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be strictly between 0 and 1, got {confidence!r}")
    results = [results] if isinstance(results, Result) else list(results)
    ax = _axes(ax)
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    for result, colour, style in zip(results, cycle(_COLOURS), cycle(_STYLES), strict=False):
        own = {"color": colour, "linestyle": style, "label": result.label}
        (mean,) = ax.plot(result.times, result.regret, **(own | line))
        if result.runs > 1:
            low, high = result.regret - z * result.regret_sem, result.regret + z * result.regret_sem
            ax.fill_between(result.times, low, high, color=mean.get_color(), alpha=0.2, linewidth=0.0)
        if result.committed.any():
            median = np.median(result.commit_time[result.committed])
            # in log rounds, as the axis is, so that the dot lies on the line
            height = np.interp(np.log(max(median, 1.0)), np.log(result.times), result.regret)
            ax.plot([median], [height], "o", color=mean.get_color(), markeredgecolor="white", zorder=3)
    ax.set_xscale("log")
    ax.set_xlabel("round")
    ax.set_ylabel("mean cumulative regret")
    _add_legend(ax, results, confidence)
    return ax


def _add_legend(ax: "Axes", results: list[Result], confidence: float) -> None:
    """A legend in which one grey entry says what all the bands are, and one what all the dots are."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = ax.get_legend_handles_labels()[0]
    if any(result.runs > 1 for result in results):
        text = f"{100.0 * confidence:g} % confidence interval of the mean"
        handles.append(Patch(color="grey", alpha=0.3, linewidth=0.0, label=text))
    if any(result.committed.any() for result in results):
        dot = {"color": "grey", "marker": "o", "markeredgecolor": "white", "linestyle": ""}
        handles.append(Line2D([], [], **dot, label="median commitment, of the runs that committed"))
    ax.legend(handles=handles, frameon=False)


def _axes(ax: "Axes | None") -> "Axes":
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('plotting needs matplotlib: pip install "robai[plot]"') from error
    return plt.subplots(layout="constrained")[1]
