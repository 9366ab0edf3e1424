"""A figure of how likely wrong commitments are; `robai.plotting` offers it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from robai.plotting.labels import Curve, name_curves
from robai.plotting.style import axes, log_x, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robai.confidence import WrongCommitEstimate


def plot_confidence(estimates: Iterable[WrongCommitEstimate], ax: Axes | None = None, **line: Any) -> Axes:
    """T times the probability of a wrong commitment against the horizon T, both logarithmic.

    Estimates of one policy and several horizons make a curve: level where the error is of order 1/T, falling
    where it is smaller.

    Parameters
    ----------
    estimates : sequence of WrongCommitEstimate
        What to draw, with 95 % intervals.
    ax : matplotlib Axes, or None
        Where to draw; a new figure if None.
    **line
        For `Axes.errorbar`, of all curves alike.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Gaussian([0.7, 0.2])
    >>> found = [robai.wrong_commit(robai.EOCPUG(), bandit, T, rng=0) for T in (10**4, 10**8)]
    >>> plot_confidence(found).get_ylabel()
    'T x probability of a wrong commitment'
    """
    curves: dict[str, list[WrongCommitEstimate]] = {}
    for each in sorted(estimates, key=lambda each: each.horizon):
        curves.setdefault(each.policy, []).append(each)
    if not curves:
        raise ValueError("estimates must hold at least one estimate, got none")
    ax, ends = axes(ax), []
    fresh = not ax.has_data()
    ax.set(xlabel="horizon T", ylabel="T x probability of a wrong commitment", yscale="log")
    for (label, found), own in zip(curves.items(), styles(curves, "linestyle", "marker", ax=ax), strict=True):
        x, y = [float(each.horizon) for each in found], [each.scaled for each in found]
        low = [each.scaled - each.horizon * each.low for each in found]
        high = [each.horizon * each.high - each.scaled for each in found]
        style: dict[str, Any] = own | {"markersize": 4, "capsize": 2, "label": label} | line
        drawn = ax.errorbar(x, y, yerr=[low, high], **style)
        ends.append(Curve(label, x[-1], y[-1], drawn.lines[0].get_color()))
    log_x(ax)
    return name_curves(ax, ends, fresh, loc="best")
