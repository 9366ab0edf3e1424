"""Figures with a row a policy; `robai.plotting` offers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from robai._base.intervals import normal_quantile
from robai._base.text import percent
from robai.plotting.curves import reach
from robai.plotting.labels import Curve, name_curves
from robai.plotting.style import COLOURS, GREY, MARKERS, MOST_ARMS, as_results, axes, literal, log_x, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robai.result import Result, WrongCommit
    from robai.result.identification_numbers import Failures
    from robai.result.runs import Runs


def plot_wrong_commit(
    results: Result | Iterable[Result], ax: Axes | None = None, *, confidence: float = 0.95
) -> Axes:
    """How often a commitment is wrong, with its exact (Clopper-Pearson) interval, and 1/T for comparison.

    An arrow is the interval of a policy that was never wrong: it says how rare errors are known to be.

    Parameters
    ----------
    results : Result or sequence of Result
        What to draw, a row each.
    ax : matplotlib Axes, or None
        Where to draw; a new figure if None.
    confidence : float
        Of the interval.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import robai
    >>> policies, bandit = [robai.KLEOCPUG(), robai.KLEOCPUG(guard=0)], robai.Bernoulli([0.95, 0.9])
    >>> ax = plot_wrong_commit(robai.compare(policies, bandit, 10**5, 1000, rng=0).values())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['KLEOCPUG()', 'KLEOCPUG(guard=0.0)']
    """
    results, ax = as_results(results), axes(ax)
    goals = {1.0 / result.horizon: "1/T" for result in results}
    draw_rates(ax, results, [result.wrong_commit(confidence) for result in results], goals, "never commits")
    ax.set_xlabel(f"probability of a wrong commitment, {100.0 * confidence:g} % interval")
    return name_rows(ax, [result.label for result in results])


def draw_rates(
    ax: Axes,
    drawn: Sequence[Runs],
    rates: Sequence[WrongCommit | Failures],
    goals: Mapping[float, str],
    nothing: str,
) -> None:
    """A row for the rate of each of some results, with its interval, and lines at the goals.

    `nothing` is written where there was nothing to count.
    """
    ends = [end for _, of, _, low, high in rates if of for end in (low, high) if end > 0.0]
    ax.set_xlim(min([*ends, *goals]) / 5.0, min(1.0, 3.0 * max([*ends, *goals])))
    log_x(ax)
    write = partial(ax.text, ha="center", color=GREY)
    for row, ((count, of, rate, low, high), style) in enumerate(
        zip(rates, styles(drawn, "marker"), strict=True)
    ):
        if of == 0:
            white = {"color": "white", "pad": 1.0}  # for the line at a goal not to run through it
            write(0.5, row, nothing, transform=ax.get_yaxis_transform(), va="center", bbox=white)
        elif count == 0:
            arrow = {"arrowstyle": "->", "color": style["color"], "shrinkA": 0}
            ax.annotate("", xytext=(high, row), xy=(ax.get_xlim()[0] * 1.3, row), arrowprops=arrow)
            ax.plot([high], [row], "|", color=style["color"], markersize=10)
        else:
            ax.plot([low, high], [row, row], "-|", color=style["color"], markersize=10)
            ax.plot([rate], [row], linestyle="", **style)
    for goal, name in sorted(goals.items()):
        ax.axvline(goal, color=GREY, linewidth=0.8, linestyle="--")
        write(goal, 1.01, name, transform=ax.get_xaxis_transform(), va="bottom")


def plot_pulls(results: Result | Iterable[Result], ax: Axes | None = None, *, legend: bool = True) -> Axes:
    """Share of the rounds that went to each arm, on average over the runs, with 95 % intervals.

    Up to seven arms have a colour each and every policy a row. More arms are shown by the rank of their mean,
    with a curve a policy: the best arm, which has most rounds, is in its name. So are
    arms if every run had means of its own.

    Parameters
    ----------
    results : Result or sequence of Result
        What to draw.
    ax : matplotlib Axes, or None
        Where to draw; a new figure if None.
    legend : bool
        Whether to name arms, or curves.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Empirical({"old": [0, 0, 1], "new": [1, 0, 1, 1]})
    >>> ax = plot_pulls(robai.simulate(robai.UCB(), bandit, 1000, 20, rng=0))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['old', 'new (best)']
    """
    results, ax = as_results(results), axes(ax)
    if results[0].n_arms > MOST_ARMS:
        return _pulls_by_rank(results, ax, legend)
    best = np.flatnonzero(results[0].gaps == 0.0) if not results[0].own_means else np.array([0])
    names = arm_names(results[0])
    shares = [shares_of_rounds(result) for result in results]
    for arm in range(results[0].n_arms):
        means = [each[arm] for each in shares]
        is_best = arm in best
        ax.errorbar(
            [mean for mean, _ in means],
            range(len(results)),
            xerr=[error for _, error in means],
            linestyle="",
            marker=MARKERS[arm],
            color=COLOURS[arm],
            markerfacecolor=None if is_best else "none",
            alpha=0.8,
            label=f"{names[arm]} (best)" if is_best else names[arm],
        )
    log_x(ax)
    ax.set_xlabel("share of the rounds")
    if legend:
        above: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0}
        ax.legend(frameon=False, fontsize="small", ncols=4, columnspacing=1, handletextpad=0.2, **above)
    return name_rows(ax, [result.label for result in results])


def shares_of_rounds(result: Result) -> list[tuple[float, float]]:
    """Mean share of the rounds, and half the width of its 95 % interval, of every arm."""
    return [(share.value, reach(share, normal_quantile(0.95))) for share in result._shares()]


def _pulls_by_rank(results: list[Result], ax: Axes, legend: bool) -> Axes:
    fresh, curves = not ax.has_data(), []
    gaps = np.arange(results[0].n_arms) if results[0].own_means else results[0].gaps  # or ranks already
    order = np.argsort(gaps, kind="stable")
    best = int((gaps == 0).sum())
    ranks = np.arange(best, results[0].n_arms) + 1
    for result, style in zip(results, styles(results, "linestyle", "marker", ax=ax), strict=True):
        shares = np.array(shares_of_rounds(result))[order]
        (share, error), won = shares[best:].T, percent(shares[:best, 0].sum())
        label = f"{result.label}, best arm {won}"
        if len(ranks):
            ax.errorbar(ranks, share, yerr=error, markersize=3, linewidth=1, label=label, **style)
            curves.append(Curve(label, float(ranks[-1]), float(share[-1]), style["color"]))
    ax.set_yscale("log")
    ax.locator_params(axis="x", integer=True)
    ax.set(xlabel="arm, by the rank of its mean", ylabel="share of the rounds")
    return name_curves(ax, curves, fresh, loc="upper right") if legend else ax


def plot_final_regret(results: Result | Iterable[Result], ax: Axes | None = None) -> Axes:
    """Final regret of the runs: 5 to 95 % as a thin line, the middle half as a thick one, median and mean.

    A mean far to the right of the median is made by a few runs with a very large regret; the largest is the
    cross.

    Parameters
    ----------
    results : Result or sequence of Result
        What to draw, a row each.
    ax : matplotlib Axes, or None
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import robai
    >>> policies = [robai.EOCPUG(), robai.UCB()]
    >>> played = robai.compare(policies, robai.Gaussian([1, 0]), 1000, 100, rng=0)
    >>> [label.get_text() for label in plot_final_regret(played.values()).get_yticklabels()]
    ['EOCPUG()', 'UCB()']
    """
    results, ax = as_results(results), axes(ax)
    counted = [result._regrets() for result in results]
    for row, (result, style) in enumerate(zip(results, styles(results, "marker"), strict=True)):
        low, quarter, median, three_quarters, high = result.digest().quantiles
        draw = partial(ax.plot, color=style["color"])
        draw([low, high], [row, row], linewidth=1.2)
        draw([quarter, three_quarters], [row, row], linewidth=7, alpha=0.5, solid_capstyle="butt")
        draw([median], [row], "|", markersize=14)
        draw([result.regret[-1]], [row], "o", markeredgecolor="white")
        draw([counted[row].values[-1]], [row], "x", markersize=5)
    if all(regrets.values[0] > 0.0 for regrets in counted):
        log_x(ax)
    ax.set_xlabel("final regret: 5, 25, 50, 75, 95 %; dot: mean; cross: largest")
    return name_rows(ax, [result.label for result in results])


def arm_names(result: Runs) -> list[str]:
    """As they are drawn; by rank if every run had means of its own."""
    if result.own_means:
        return [f"rank {rank}" for rank in range(1, result.n_arms + 1)]
    return [literal(name) for name in result.names or (f"arm {arm}" for arm in range(result.n_arms))]


def name_rows(ax: Axes, names: list[str]) -> Axes:
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", color="0.93", zorder=0)
    return ax
