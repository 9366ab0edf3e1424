"""Figures with a curve or a point a policy; `robai.plotting` offers them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from robai._base import checks
from robai._base.counted import Counted
from robai._base.intervals import Mean, normal_quantile
from robai._base.text import percent
from robai.plotting.labels import Curve, add_legend, label_points, name_curves
from robai.plotting.style import (
    GREY,
    as_results,
    axes,
    log_x,
    mean_of,
    set_limits,
    styles,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from robai.result import Result

_MOST_STEPS = 400  # of a distribution function; more are not seen, and make a vector graphic heavy
_COLUMN = "_robai_column"  # attribute of axes that have a column of policies that never commit
LIMIT = "Lai-Robbins, as T grows"
_FEW = 30  # runs that carry half the regret: with fewer, the mean is not nearly normal


def plot_regret(
    results: Result | Iterable[Result],
    ax: Axes | None = None,
    *,
    band: Literal["mean"] | tuple[float, float] = "mean",
    confidence: float = 0.95,
    lower_bound: float | None = None,
    legend: bool = True,
    **line: Any,
) -> Axes:
    """Mean cumulative regret against rounds, with a confidence band of the mean.

    A dot marks the median commitment time of the runs that committed. One run alone has no band, and is drawn
    as the staircase that it is. Where a handful of runs carry half the regret, the legend says so: a normal
    band is then too narrow above and too wide below.

    Parameters
    ----------
    results : Result or sequence of Result
        What to draw, a curve each.
    ax : matplotlib Axes, or None
        Where to draw; a new figure if None.
    band : "mean" or (float, float)
        "mean" for the confidence band, or two levels, as (0.1, 0.9), for the quantiles of the runs between
        which it lies; these need `simulate(curves=True)`.
    confidence : float
        Of the band of the mean.
    lower_bound : float or None
        The constant of `robai.theory.lai_robbins`, for a line of the slope that regret comes to as rounds go
        on. It ends where the lowest curve does; at any one round regret may be below constant log t.
    legend : bool
        Whether to name curves, bands and dots.
    **line
        For `Axes.plot`, of all curves alike.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import robai
    >>> played = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0, curves=True)
    >>> ax = plot_regret(played, band=(0.1, 0.9))
    >>> ax.get_legend().get_texts()[-1].get_text()
    '10 to 90 % of the runs'
    """
    results, z, ax = as_results(results), normal_quantile(confidence), axes(ax)
    bands = [_band(result, band, z) for result in results]
    fresh = not ax.has_data()
    curves = []
    for result, own, ends in zip(results, styles(results, "linestyle", ax=ax), bands, strict=True):
        style: dict[str, Any] = own | {"label": result.label} | line
        if result.runs == 1:
            style = {"drawstyle": "steps-post"} | style
        (mean,) = ax.plot(result.times, result.regret, **style)
        colour = mean.get_color()
        curves.append(Curve(result.label, result.horizon, result.regret[-1], colour))
        if ends is not None:
            ax.fill_between(result.times, *ends, color=colour, alpha=0.2, linewidth=0.0)
        median = result.digest().commit_median
        if median is not None:
            dot: dict[str, Any] = {"color": colour, "markeredgecolor": "white", "zorder": 3, "clip_on": False}
            ax.plot([median], [height_at(result, median)], "o", **dot)
    if lower_bound is not None:
        curves.append(_limit_line(ax, results, checks.positive("lower_bound", lower_bound)))
    ax.margins(x=0)
    mean_of_runs = any(result.runs > 1 for result in results)
    ax.set(xlabel="round", ylabel="mean " * mean_of_runs + "cumulative regret")
    set_limits(ax, "y", 0.0, None)
    log_x(ax)
    return name_curves(ax, curves, fresh, explained(results, band, confidence)) if legend else ax


def _band(result: Result, band: Any, z: float) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    if isinstance(band, str):
        checks.one_of("band", band, ["mean"])
        low, high = result.regret - z * result.regret_sem, result.regret + z * result.regret_sem
        return (low, high) if result.runs > 1 else None
    ends = result.quantiles(_levels(band))
    return ends[0], ends[1]


def _levels(band: Any) -> tuple[float, float]:
    try:
        low, high = (checks.between("band", each, 0.0, 1.0) for each in band)
    except TypeError as error:
        raise TypeError(f'band must be "mean" or two levels, as (0.1, 0.9), got {band!r}') from error
    if not low < high:
        raise ValueError(f"band must be two increasing levels, got {band!r}")
    return low, high


def height_at(result: Result, median: float) -> float:
    """Of the curve at a round, so that a dot lies on the line."""
    if result.runs == 1:
        place = int(np.searchsorted(result.times, median, side="right"))
        return float(result.regret[max(place - 1, 0)])
    # in log rounds, as the axis is
    return float(np.interp(np.log(max(median, 1.0)), np.log(result.times), result.regret))


def _limit_line(ax: Axes, results: list[Result], constant: float) -> Curve:
    x, y = limit_of(results, constant)
    ax.plot(x, y, color=GREY, linewidth=0.8, label=LIMIT)
    return Curve(LIMIT, x[-1], y[-1], GREY)


def limit_of(results: list[Result], constant: float) -> tuple[list[float], list[float]]:
    """The ends of a line of slope `constant` in log t to the end of the lowest curve, over its last half.

    The bound is on the slope in the long run; drawn from the first round on, as constant log t, it would be
    above curves that do not contradict it.
    """
    lowest = min(results, key=lambda result: result.regret[-1])
    end, height = lowest.horizon, float(lowest.regret[-1])
    first = max(np.sqrt(end), end * np.exp(-height / constant))
    return [float(first), float(end)], [float(height - constant * np.log(end / first)), height]


def explained(results: list[Result], band: Any, confidence: float) -> list[Artist]:
    """Grey entries of a legend: one says what all the bands are, one what all the dots are."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Artist] = []
    if any(result.runs > 1 for result in results):
        text = f"{100.0 * confidence:g} % confidence interval of the mean"
        if not isinstance(band, str):
            text = "{:g} to {:g} % of the runs".format(*(100.0 * each for each in band))
        handles.append(Patch(color="grey", alpha=0.3, linewidth=0.0, label=text))
    if any(result.commitments.any() for result in results):
        dot: dict[str, Any] = {"color": "grey", "marker": "o", "markeredgecolor": "white", "linestyle": ""}
        handles.append(Line2D([], [], **dot, label="median commitment, of the runs that committed"))
    for result in results:
        # Of few runs, few carry half without any of them being odd.
        if (carriers := result.half_of_regret()) < min(_FEW, result.runs / 10) and result.regret[-1] > 0.0:
            text = f"{result.label}: {carriers} of {result.runs:,} runs carry half the regret"
            handles.append(Line2D([], [], linestyle="", label=text))
    return handles


def plot_commitment(
    results: Result | Iterable[Result], ax: Axes | None = None, *, legend: bool = True, **line: Any
) -> Axes:
    """The share of runs that have committed against rounds, the distribution of the commitment time.

    A dot, beside which is the name, marks the median of the runs that committed. A curve that ends below 1 is
    of a policy that does not always commit; its name says in how many runs it never does.

    Parameters
    ----------
    results : Result or sequence of Result
        What to draw, a curve each.
    ax : matplotlib Axes, or None
        Where to draw; a new figure if None.
    legend : bool
        Whether to name curves.
    **line
        For `Axes.plot`, of all curves alike.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import robai
    >>> policies = [robai.EOCPUG(), robai.UCB()]
    >>> played = robai.compare(policies, robai.Gaussian([1, 0]), 1000, 100, rng=0)
    >>> ax = plot_commitment(played.values())
    >>> sorted(text.get_text() for text in ax.texts)
    ['EOCPUG()', 'UCB(), never']
    """
    results, ax = as_results(results), axes(ax)
    medians, paths = [], []
    for result, own in zip(results, styles(results, "linestyle", ax=ax), strict=True):
        rounds, share = distribution(result._commit_times(), result.runs, result.horizon)
        label = result.label + _never(result)
        style: dict[str, Any] = own | {"label": label} | line
        (curve,) = ax.step(rounds, share, where="post", **style)
        middle = result.digest().commit_median
        if middle is None:
            medians.append(Curve(label, result.horizon**0.06, 0.0, curve.get_color()))
        else:
            medians.append(Curve(label, middle, share[-1] / 2.0, curve.get_color()))
            ax.plot(
                [middle], [share[-1] / 2.0], "o", color=curve.get_color(), markeredgecolor="white", zorder=3
            )
        paths.append((np.repeat(rounds, 2)[1:], np.repeat(share, 2)[:-1]))
    ax.margins(x=0)
    ax.set(ylim=(-0.03, 1.03), xlabel="round", ylabel="share of runs committed")
    log_x(ax)
    # A name beside its curve stays there when a second call adds others, so that the legend is of the others.
    if legend and not (ax.get_legend() is None and label_points(ax, medians, paths)):
        before = {text.get_text() for text in ax.texts}
        add_legend(ax, named=before)
    return ax


def distribution(
    times: Counted, runs: int, last: int, most: int = _MOST_STEPS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rounds, from the first to the last, and the share of all runs whose time has come by then."""
    rounds, share = times.values, np.cumsum(times.counts) / runs
    if len(rounds) > most:
        kept = np.unique(np.searchsorted(share, np.linspace(share[0], share[-1], most)))
        rounds, share = rounds[kept], share[kept]
    height = share[-1] if len(share) else 0.0
    return np.concatenate([[1], rounds, [last]]), np.concatenate([[0.0], share, [height]])


def _never(result: Result) -> str:
    never = 1.0 - result.digest().committed
    if never == 0.0:
        return ""
    return ", never" if never == 1.0 else f", {percent(never)} never"


def plot_tradeoff(
    results: Result | Iterable[Result],
    ax: Axes | None = None,
    *,
    confidence: float = 0.95,
    legend: bool = True,
) -> Axes:
    """Mean regret against mean commitment time, one point a policy, with confidence intervals of both means.

    A run that never commits counts as the horizon; policies of which no run does have a column of their own,
    at the right. Filled points are those that no other policy beats in both, the Pareto front.

    Parameters
    ----------
    results : Result or sequence of Result
        What to draw, a point each.
    ax : matplotlib Axes, or None
        Where to draw; a new figure if None.
    confidence : float
        Of the intervals.
    legend : bool
        Whether to name the points.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import robai
    >>> policies = [robai.EOCPUG(), robai.BAIETC(), robai.UCB()]
    >>> played = robai.compare(policies, robai.Gaussian([1, 0]), 1000, 100, rng=0)
    >>> plot_tradeoff(played.values()).get_title()
    'filled: no other policy is better in both'
    """
    results, z, ax = as_results(results), normal_quantile(confidence), axes(ax)
    means = [(mean_of(result, "commitment"), mean_of(result, "regret")) for result in results]
    front = [not any(_beats(other, own) for other in means) for own in means]
    column = _column(ax, results, means)
    points, steps = [], []
    paths: list[tuple[Any, Any]] = []
    for result, (rounds, regret), best, style in zip(
        results, means, front, styles(results, "marker", ax=ax), strict=True
    ):
        never = not result.commitments.any()
        x, y = column if never else rounds.value, regret.value
        wide, high = reach(rounds, z), reach(regret, z)
        errors: dict[str, Any] = {"yerr": high} if never else {"xerr": wide, "yerr": high}
        name = result.label if never else result.label + _never(result)
        style |= {"markerfacecolor": style["color"] if best else "white", "linestyle": "", "label": name}
        drawn = ax.errorbar(x, y, **errors if result.runs > 1 else {}, **style)
        drawn.lines[0].set_zorder(3)  # bars do not hide the points that they are of
        points.append(Curve(name, x, y, style["color"]))
        paths.append(([x, x], [y - high, y + high]))
        if not never:
            paths.append(([max(x - wide, x / 10.0), x + wide], [y, y]))
        if best:
            steps.append((x, y))
    xs, ys = map(np.array, zip(*sorted(steps), strict=True))
    ax.plot(xs, ys, color=GREY, linewidth=0.8, zorder=0, drawstyle="steps-post")
    paths.append((np.repeat(xs, 2)[1:], np.repeat(ys, 2)[:-1]))
    ax.margins(x=0.25, y=0.15)
    ax.set(xlabel="mean commitment time, rounds", ylabel="mean regret")
    set_limits(ax, "y", 0.0, None)
    log_x(ax)
    if not all(result.commitments.any() for result in results):
        setattr(ax, _COLUMN, column)
    if hasattr(ax, _COLUMN):
        _mark_column(ax, max(result.horizon for result in results), column)
    if legend and not label_points(ax, points, paths):
        add_legend(ax, loc="best")
    ax.set_title("filled: no other policy is better in both", fontsize="small", color=GREY)
    return ax


def reach(mean: Mean, z: float) -> float:
    """Of an interval, to either side; none of one run alone, which cannot tell."""
    return 0.0 if np.isnan(mean.sem) else z * mean.sem


def _column(ax: Axes, results: list[Result], means: list[tuple[Mean, Mean]]) -> float:
    """Where policies are drawn that never commit: beyond the last round, or where those before them are."""
    if (before := getattr(ax, _COLUMN, None)) is not None:
        return float(before)
    last = float(max(result.horizon for result in results))
    first = min(rounds.value for rounds, _ in means)
    return float(last * max(2.0, (last / first) ** 0.3))


def _mark_column(ax: Axes, last: int, column: float) -> None:
    """A line between rounds and the column of those who never commit, which has a tick of its own."""
    width = column / last
    set_limits(ax, "x", None, column * width**0.9)
    ax.axvline(last * width**0.25, color="0.8", linewidth=0.8, zorder=0)
    axis = ax.xaxis
    low, high = np.log(ax.get_xlim())
    near = column / np.exp(0.12 * (high - low))  # where a tick's label would run into that of the column
    places = [place for place in axis.get_majorticklocs() if ax.get_xlim()[0] <= place <= min(last, near)]
    ax.set_xticks([*places, column], [*axis.get_major_formatter().format_ticks(places), "never"])


def _beats(one: tuple[Mean, Mean], other: tuple[Mean, Mean]) -> bool:
    pairs = [(mine.value, its.value) for mine, its in zip(one, other, strict=True)]
    return all(mine <= its for mine, its in pairs) and any(mine < its for mine, its in pairs)
