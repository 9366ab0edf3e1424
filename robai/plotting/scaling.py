"""Figures of means against the horizon or a parameter; `robai.plotting` offers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from robai._base import checks
from robai._base.intervals import Mean, normal_quantile
from robai.plotting.curves import LIMIT, reach
from robai.plotting.labels import Curve, name_curves
from robai.plotting.style import (
    GREY,
    QUANTITIES,
    Quantity,
    as_results,
    axes,
    literal,
    log_x,
    mean_of,
    set_limits,
    styles,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robai.result import Result


def plot_scaling(
    results: Iterable[Result],
    ax: Axes | None = None,
    *,
    quantity: Quantity = "regret",
    lower_bound: float | None = None,
    predicted: Mapping[str, Mapping[float, float | None]] | None = None,
    confidence: float = 0.95,
    **line: Any,
) -> Axes:
    """Mean regret or mean commitment time, divided by log T, against the horizon T.

    Results of one label and several horizons make a curve: level where growth is log T, straight and rising
    where it is log^2 T.

    Parameters
    ----------
    results : sequence of Result
        What to draw.
    ax : matplotlib Axes, or None
        Where to draw; a new figure if None.
    quantity : {"regret", "commitment"}
        Policies that never commit have no curve in the latter.
    lower_bound : float or None
        The constant of `robai.theory.lai_robbins` adds the level that regret comes to as T grows.
    predicted : mapping from str to mappings from float to float, or None
        By label, a value for each horizon, None where there is none, as `robai.theory.predict` says: a dashed
        line in the colour of the label.
    confidence : float
        Of the intervals.
    **line
        For `Axes.errorbar`, of all curves alike.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import robai
    >>> played = robai.sweep(robai.EOCPUG(), robai.Gaussian([1, 0]), [10**3, 10**6], runs=100, rng=0)
    >>> plot_scaling(played.values(), quantity="commitment").get_ylabel()
    'mean commitment time / log T'
    """
    checks.one_of("quantity", quantity, QUANTITIES)
    if lower_bound is not None:
        checks.positive("lower_bound", lower_bound)
        if quantity != "regret":
            raise ValueError(
                f"lower_bound is of regret, and must be None for {quantity}, got {lower_bound!r}"
            )
    curves = over_horizons(as_results(results), quantity)
    ax = axes(ax)
    ax.set(xlabel="horizon T", ylabel=f"{QUANTITIES[quantity]} / log T")
    level = None if lower_bound is None else (LIMIT, lower_bound)
    for label in predicted or {}:
        if label not in curves:
            raise ValueError(f"predicted must be of labels that are drawn, got {label!r}")
    return _draw_means(ax, curves, confidence, level, line, logarithmic=True, dashed=predicted or {})


def over_horizons(results: Iterable[Result], quantity: Quantity) -> dict[str, list[tuple[float, Mean]]]:
    """Horizons, and means divided by log T, by label; of policies that never commit none in the latter."""
    listed = list(results)
    # one of every label, which keeps its colour even if its curve is empty
    curves: dict[str, list[tuple[float, Mean]]] = {result.label: [] for result in listed}
    for result in sorted(listed, key=lambda result: result.horizon):
        if result.horizon > 1 and (quantity == "regret" or result.commitments.any()):
            mean, scale = mean_of(result, quantity), np.log(result.horizon)
            curves[result.label].append((result.horizon, Mean(mean.value / scale, mean.sem / scale)))
    return curves


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

    Parameters
    ----------
    results : mapping from str to sequences of Result
        A sequence a curve, with one Result for each of `values`.
    values : sequence of float
        Of the parameter.
    ax : matplotlib Axes, or None
        Where to draw; a new figure if None.
    name : str
        Of the parameter.
    quantity : {"regret", "commitment"}
        What to draw.
    reference : Result or None
        A result that does not depend on the parameter adds a level line.
    confidence : float
        Of the intervals.
    **line
        For `Axes.errorbar`, of all curves alike.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import robai
    >>> bandit, levels = robai.Gaussian([1, 0]), [0.5, 1.0, 2.0]
    >>> played = [robai.simulate(robai.EOCPUG(inflation=c), bandit, 1000, 100, rng=0) for c in levels]
    >>> ax = plot_parameter({"EOCP-UG": played}, levels, name="inflation")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('inflation', 'mean regret')
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
    dashed: Mapping[str, Mapping[float, float | None]] = MappingProxyType({}),
) -> Axes:
    """Means with confidence intervals, joined by lines, and a level line to compare them with."""
    z, fresh = normal_quantile(confidence), not ax.has_data()
    ends = []
    for (label, points), own in zip(
        curves.items(), styles(curves, "linestyle", "marker", ax=ax), strict=True
    ):
        if not points:
            continue
        x = [place for place, _ in points]
        y = [mean.value for _, mean in points]
        errors = [reach(mean, z) for _, mean in points]
        style: dict[str, Any] = own | {"markersize": 4, "capsize": 2, "label": label} | line
        drawn = ax.errorbar(x, y, yerr=errors, **style)
        ends.append(Curve(label, x[-1], y[-1], drawn.lines[0].get_color()))
        known = sorted((place, value) for place, value in dashed.get(label, {}).items() if value is not None)
        heights = [value / np.log(place) for place, value in known]
        ax.plot([place for place, _ in known], heights, "--", color=ends[-1].colour, linewidth=0.8)
    if logarithmic:  # from now on: while it is, the limits of an axis with but one point are wrong
        log_x(ax)
    if level is not None:
        label, height = level
        ax.axhline(height, color=GREY, linewidth=0.8, label=label)
        ends.append(Curve(label, ax.get_xlim()[1], height, GREY))
    set_limits(ax, "y", 0.0, None)
    return name_curves(ax, ends, fresh, loc="best")
