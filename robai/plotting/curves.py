"""Figures with a curve or a point a policy; `robai.plotting` offers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robai._base import checks
from robai._base.intervals import Mean, normal_quantile
from robai._base.text import percent
from robai.plotting.style import (
    GREY,
    QUANTITIES,
    Curve,
    Quantity,
    as_results,
    axes,
    label_points,
    literal,
    log_x,
    mean_of,
    name_curves,
    styles,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from robai.result import Result

_MOST_STEPS = 400  # of a distribution function; more are not seen, and make a vector graphic heavy


def plot_regret(
    results: Result | Iterable[Result],
    ax: Axes | None = None,
    *,
    confidence: float = 0.95,
    lower_bound: float | None = None,
    **line: Any,
) -> Axes:
    """Mean cumulative regret against rounds, with a confidence band of the mean.

    A dot marks the median commitment time of the runs that committed. One run alone has no band.
    `lower_bound`, the constant of `robai.theory.lai_robbins`, adds the line that regret cannot stay below as
    rounds go on; at any one round it may. `line` goes to `Axes.plot`, for all curves alike.
    """
    results, z, ax = as_results(results), normal_quantile(confidence), axes(ax)
    fresh = not ax.has_data()
    curves = []
    for result, own in zip(results, styles("linestyle"), strict=False):
        style: dict[str, Any] = own | {"label": result.label} | line
        (mean,) = ax.plot(result.times, result.regret, **style)
        colour = mean.get_color()
        curves.append(Curve(result.label, result.horizon, result.regret[-1], colour))
        if result.runs > 1:
            low, high = result.regret - z * result.regret_sem, result.regret + z * result.regret_sem
            ax.fill_between(result.times, low, high, color=colour, alpha=0.2, linewidth=0.0)
        median = result.digest().commit_median
        if median is not None:
            # in log rounds, as the axis is, so that the dot lies on the line
            height = np.interp(np.log(max(median, 1.0)), np.log(result.times), result.regret)
            ax.plot([median], [height], "o", color=colour, markeredgecolor="white", zorder=3, clip_on=False)
    if lower_bound is not None:
        constant = checks.positive("lower_bound", lower_bound)
        last = max(result.horizon for result in results)
        limit = Curve(f"{constant:.3g} log t, the limit", last, constant * np.log(last), GREY)
        ax.plot([1, last], [0, limit.y], color=GREY, linewidth=0.8, label=limit.label)
        curves.append(limit)
    ax.margins(x=0)
    ax.set(ylim=(0.0, None), xlabel="round", ylabel="mean cumulative regret")
    log_x(ax)
    return name_curves(ax, curves, fresh, _band_and_dot(results, confidence))


def _band_and_dot(results: list[Result], confidence: float) -> list[Artist]:
    """Grey entries of a legend: one says what all the bands are, one what all the dots are."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Artist] = []
    if any(result.runs > 1 for result in results):
        text = f"{100.0 * confidence:g} % confidence interval of the mean"
        handles.append(Patch(color="grey", alpha=0.3, linewidth=0.0, label=text))
    if any(result.committed.any() for result in results):
        dot: dict[str, Any] = {"color": "grey", "marker": "o", "markeredgecolor": "white", "linestyle": ""}
        handles.append(Line2D([], [], **dot, label="median commitment, of the runs that committed"))
    return handles


def plot_commitment(results: Result | Iterable[Result], ax: Axes | None = None, **line: Any) -> Axes:
    """The share of runs that have committed against rounds, the distribution of the commitment time.

    A curve that ends below 1 is of a policy that does not always commit; its name says in how many runs it
    never does. `line` goes to `Axes.plot`, for all curves alike.
    """
    results, ax = as_results(results), axes(ax)
    fresh = not ax.has_data()
    curves = []
    for result, own in zip(results, styles("linestyle"), strict=False):
        rounds, share = _distribution(result)
        label = result.label + _never(result)
        style: dict[str, Any] = own | {"label": label} | line
        (curve,) = ax.step(rounds, share, where="post", **style)
        curves.append(Curve(label, result.horizon, share[-1], curve.get_color()))
    ax.margins(x=0)
    ax.set(ylim=(-0.03, 1.03), xlabel="round", ylabel="share of runs committed")
    log_x(ax)
    return name_curves(ax, curves, fresh)


def _distribution(result: Result) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Rounds, from the first to the horizon, and the share of all runs that have committed by then."""
    rounds, counts = np.unique(result.commit_time[result.committed], return_counts=True)
    share = np.cumsum(counts) / result.runs
    if len(rounds) > _MOST_STEPS:
        kept = np.unique(np.searchsorted(share, np.linspace(share[0], share[-1], _MOST_STEPS)))
        rounds, share = rounds[kept], share[kept]
    last = share[-1] if len(share) else 0.0
    return np.concatenate([[1], rounds, [result.horizon]]), np.concatenate([[0.0], share, [last]])


def _never(result: Result) -> str:
    never = 1.0 - result.digest().committed
    if never == 0.0:
        return ""
    return ", never" if never == 1.0 else f", {percent(never)} never"


def plot_tradeoff(
    results: Result | Iterable[Result], ax: Axes | None = None, *, confidence: float = 0.95
) -> Axes:
    """Mean regret against mean commitment time, one point a policy, with confidence intervals of both means.

    A run that never commits counts as the horizon. Filled points are those that no other policy beats in
    both, the Pareto front.
    """
    results, z, ax = as_results(results), normal_quantile(confidence), axes(ax)
    means = [(mean_of(result, "commitment"), mean_of(result, "regret")) for result in results]
    front = [not any(_beats(other, own) for other in means) for own in means]
    points = []
    for result, (rounds, regret), best, style in zip(results, means, front, styles("marker"), strict=False):
        errors: dict[str, Any] = {"xerr": z * rounds.sem, "yerr": z * regret.sem} if result.runs > 1 else {}
        style |= {"markerfacecolor": style["color"] if best else "white", "linestyle": "", "capsize": 2}
        ax.errorbar(rounds.value, regret.value, **errors, **style)
        points.append(Curve(result.label + _never(result), rounds.value, regret.value, style["color"]))
    steps = sorted(
        (rounds.value, regret.value) for (rounds, regret), best in zip(means, front, strict=True) if best
    )
    ax.plot(*zip(*steps, strict=True), color=GREY, linewidth=0.8, zorder=0, drawstyle="steps-post")
    ax.margins(x=0.25, y=0.15)
    ax.set(ylim=(0.0, None), xlabel="mean commitment time, rounds", ylabel="mean regret")
    log_x(ax)
    label_points(ax, points)
    ax.set_title("filled: no other policy is better in both", fontsize="small", color=GREY)
    return ax


def _beats(one: tuple[Mean, Mean], other: tuple[Mean, Mean]) -> bool:
    pairs = [(mine.value, its.value) for mine, its in zip(one, other, strict=True)]
    return all(mine <= its for mine, its in pairs) and any(mine < its for mine, its in pairs)


def plot_scaling(
    results: Iterable[Result],
    ax: Axes | None = None,
    *,
    quantity: Quantity = "regret",
    lower_bound: float | None = None,
    confidence: float = 0.95,
    **line: Any,
) -> Axes:
    """Mean regret or mean commitment time, divided by log T, against the horizon T.

    Results of one label and several horizons make a curve: level where growth is log T, straight and rising
    where it is log^2 T. `quantity` is "regret" or "commitment"; policies that never commit have no curve in
    the latter. `lower_bound`, the constant of `robai.theory.lai_robbins`, adds a level line.
    """
    checks.one_of("quantity", quantity, QUANTITIES)
    listed = as_results(results)
    # one of every label, which keeps its colour even if its curve is empty
    curves: dict[str, list[tuple[float, Mean]]] = {result.label: [] for result in listed}
    for result in sorted(listed, key=lambda result: result.horizon):
        if result.horizon > 1 and (quantity == "regret" or result.committed.any()):
            mean, scale = mean_of(result, quantity), np.log(result.horizon)
            curves[result.label].append((result.horizon, Mean(mean.value / scale, mean.sem / scale)))
    ax = axes(ax)
    ax.set(xlabel="horizon T", ylabel=f"{QUANTITIES[quantity]} / log T")
    level = None if lower_bound is None else (f"{lower_bound:.3g}, the limit", lower_bound)
    return _draw_means(ax, curves, confidence, level, line, logarithmic=True)


def plot_parameter(
    results: Mapping[str, Sequence[Result]],
    values: Sequence[float],
    ax: Axes | None = None,
    *,
    name: str = "parameter",
    quantity: Quantity = "regret",
    reference: Result | None = None,
    confidence: float = 0.95,
    **line: Any,
) -> Axes:
    """Mean regret or mean commitment time against a parameter.

    `results` has a sequence a curve, with one Result for each of `values`. `quantity` is "regret" or
    "commitment"; `reference`, a result that does not depend on the parameter, adds a level line.
    """
    checks.one_of("quantity", quantity, QUANTITIES)
    curves = {
        literal(label): [
            (value, mean_of(result, quantity)) for value, result in zip(values, own, strict=True)
        ]
        for label, own in results.items()
    }
    ax = axes(ax)
    level = None if reference is None else (literal(reference.label), mean_of(reference, quantity).value)
    ax.set(xlabel=name, ylabel=QUANTITIES[quantity])
    return _draw_means(ax, curves, confidence, level, line, logarithmic=False)


def _draw_means(
    ax: Axes,
    curves: Mapping[str, list[tuple[float, Mean]]],
    confidence: float,
    level: tuple[str, float] | None,
    line: dict[str, Any],
    *,
    logarithmic: bool,
) -> Axes:
    """Means with confidence intervals, joined by lines, and a level line to compare them with."""
    z, fresh = normal_quantile(confidence), not ax.has_data()
    ends = []
    for (label, points), own in zip(curves.items(), styles("linestyle", "marker"), strict=False):
        if not points:
            continue
        x = [place for place, _ in points]
        y = [mean.value for _, mean in points]
        errors = [0.0 if np.isnan(mean.sem) else z * mean.sem for _, mean in points]
        style: dict[str, Any] = own | {"markersize": 4, "capsize": 2, "label": label} | line
        drawn = ax.errorbar(x, y, yerr=errors, **style)
        ends.append(Curve(label, x[-1], y[-1], drawn.lines[0].get_color()))
    if logarithmic:  # from now on: while it is, the limits of an axis with but one point are wrong
        log_x(ax)
    if level is not None:
        label, height = level
        ax.axhline(height, color=GREY, linewidth=0.8, label=label)
        ends.append(Curve(label, ax.get_xlim()[1], height, GREY))
    ax.set_ylim(bottom=0.0)
    return name_curves(ax, ends, fresh, loc="best")
