"""Figures of what `robai.identify` returns; `robai.plotting` offers them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from robai._base.counted import Counted
from robai._base.intervals import normal_quantile
from robai._base.text import percent
from robai.plotting.curves import distribution
from robai.plotting.labels import Curve, add_legend, label_points, name_curves
from robai.plotting.rows import arm_names, draw_rates, name_rows
from robai.plotting.style import GREY, MOST_ARMS, as_identifications, axes, log_x, set_limits, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robai.result import Identification

_WIDE = 0.5  # of the distance between two arms, for the marks of all policies


def plot_stopping_time(
    found: Identification | Iterable[Identification],
    ax: Axes | None = None,
    *,
    legend: bool = True,
    **line: Any,
) -> Axes:
    """The share of runs that have stopped against rounds, the distribution of the stopping time.

    A circle marks the mean; a triangle, if runs did not stop, what it is at least. The dashed line is
    T* kl(delta, 1 - delta): the mean of a policy that errs with probability delta at most is not below it.

    Parameters
    ----------
    found : Identification or sequence of Identification
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
    >>> found = robai.identify(robai.TTUCB(), robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
    >>> [text.get_text() for text in plot_stopping_time(found).texts]
    ['lower bound of the mean']
    """
    found, ax = as_identifications(found), axes(ax)
    budgets = len({each.budget for each in found}) > 1
    stopped = [each.stopping_time[each.finished] for each in found]
    lower = {known.lower for each in found if (known := each.complexity) is not None and known.lower}
    ends = [float(end) for times in stopped if len(times) for end in (times.min(), times.max())]
    if not ends:
        ends = [1.0, float(min(each.rounds for each in found))]
    first, last = max(min(ends), 1.0), max(ends)
    middles, paths = [], []
    for each, times, own in zip(found, stopped, styles(found, "linestyle", ax=ax), strict=True):
        rounds, share = distribution(Counted.of(times), each.runs, int(last))
        label = _label(each, budgets)
        style: dict[str, Any] = own | {"label": label} | line
        (curve,) = ax.step(rounds, share, where="post", **style)
        colour = curve.get_color()
        middle = float(np.median(times)) if len(times) else first
        middles.append(Curve(label, middle, share[-1] / 2.0, colour))
        mean = each.time().mean
        height = share[np.searchsorted(rounds, mean, side="right") - 1]
        mark: dict[str, Any] = {"color": colour, "markerfacecolor": "white", "zorder": 3}
        ax.plot([mean], [height], ">" if each.unfinished else "o", **mark)
        paths.append((np.repeat(rounds, 2)[1:], np.repeat(share, 2)[:-1]))
    for bound in lower:
        ax.axvline(bound, color=GREY, linewidth=0.8, linestyle="--")
        how: dict[str, Any] = {"ha": "center", "va": "bottom", "color": GREY, "fontsize": "small"}
        ax.text(bound, 1.01, "lower bound of the mean", transform=ax.get_xaxis_transform(), **how)
    ax.set(ylim=(-0.03, 1.03), xlabel="round; circle: mean", ylabel="share of runs that have stopped")
    edges = [first, last, *lower]
    set_limits(ax, "x", 0.8 * min(edges), 1.25 * max(edges))
    log_x(ax)
    # Names beside the curves would run over the dashed line.
    direct = not lower and ax.get_legend() is None
    if legend and not (direct and label_points(ax, middles, paths)):
        add_legend(ax, named={text.get_text() for text in ax.texts}, loc="best")
    return ax


def _label(found: Identification, budgets: bool) -> str:
    label = found.label + (f", budget {found.budget:,}" if budgets else "")
    share = found.unfinished / found.runs
    return label + (f", {percent(share)} unfinished" if share else "")


def plot_proportions(
    found: Identification | Iterable[Identification], ax: Axes | None = None, *, legend: bool = True
) -> Axes:
    """The share of the rounds of a run that went to each arm, on average, with 95 % intervals, beside w*.

    w*, the grey bars, are the proportions of an optimal policy for small delta. More than seven arms are in
    the order of their means, as are arms if every run had means of its own.

    Parameters
    ----------
    found : Identification or sequence of Identification
        What to draw.
    ax : matplotlib Axes, or None
        Where to draw; a new figure if None.
    legend : bool
        Whether to name policies.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import robai
    >>> policies = [robai.TTUCB(), robai.Uniform()]
    >>> found = robai.identify(policies, robai.Gaussian([1, 0, 0]), delta=0.1, runs=100, rng=0)
    >>> [label.get_text() for label in plot_proportions(found.values()).get_xticklabels()]
    ['arm 0', 'arm 1', 'arm 2']
    """
    found, ax = as_identifications(found), axes(ax)
    first, budgets = found[0], len({each.budget for each in found}) > 1
    ranked = first.n_arms > MOST_ARMS and not first.own_means
    order = np.argsort(first.gaps, kind="stable") if ranked else np.arange(first.n_arms)
    places = np.arange(first.n_arms) + 1.0
    optimal = first.proportions().optimal
    if optimal is not None:
        ax.bar(places, optimal[order], 1.5 * _WIDE, color="0.88", zorder=0, label="optimal, w*")
    shifts = _WIDE * (np.arange(len(found)) - (len(found) - 1) / 2.0) / max(len(found), 2)
    for each, shift, style in zip(found, shifts, styles(found, "marker"), strict=True):
        shares, sem, _ = each.proportions()
        known: dict[str, Any] = {"yerr": normal_quantile(0.95) * sem[order]} if each.runs > 1 else {}
        known |= {"linestyle": "", "markersize": 5, "label": _label(each, budgets)}
        ax.errorbar(places + shift, shares[order], **known, **style)
    if first.n_arms > MOST_ARMS:
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("arm, by the rank of its mean")
    else:
        ax.set_xticks(places, arm_names(first))
    ax.set_ylabel("share of the rounds")
    set_limits(ax, "y", 0.0, None)
    return add_legend(ax, loc="upper right") if legend else ax


def plot_error(
    found: Identification | Iterable[Identification],
    ax: Axes | None = None,
    *,
    confidence: float = 0.95,
    legend: bool = True,
) -> Axes:
    """How often a run fails, recommending a wrong arm or none, with its exact (Clopper-Pearson) interval.

    Of several budgets it is drawn against the budget, with a curve a policy. Else every policy has a row, and
    there is a line at delta. An arrow is the interval of a policy that never failed.

    Parameters
    ----------
    found : Identification or sequence of Identification
        What to draw.
    ax : matplotlib Axes, or None
        Where to draw; a new figure if None.
    confidence : float
        Of the interval.
    legend : bool
        Whether to name curves.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Bernoulli([0.7, 0.5, 0.1])
    >>> found = robai.identify(robai.SequentialHalving(), bandit, budget=[50, 100, 200], runs=100, rng=0)
    >>> plot_error(found.values()).get_xlabel()
    'budget, rounds'
    """
    found, ax = as_identifications(found), axes(ax)
    what = "a wrong arm" if not any(each.unfinished for each in found) else "a wrong arm, or of no stop"
    what = f"probability of {what}, {100.0 * confidence:g} % interval"
    if len({each.budget for each in found}) > 1:
        return _by_budget(found, ax, confidence, what, legend)
    goals = {each.delta: "delta" for each in found if each.delta is not None}
    draw_rates(ax, found, [each.failure(confidence) for each in found], goals, "")
    ax.set_xlabel(what)
    return name_rows(ax, [each.label for each in found])


def _by_budget(found: list[Identification], ax: Axes, confidence: float, what: str, legend: bool) -> Axes:
    fresh, curves = not ax.has_data(), []
    labels = list(dict.fromkeys(each.label for each in found))
    least = 1.0
    for label, style in zip(labels, styles(labels, "linestyle", "marker", ax=ax), strict=True):
        own = sorted((each for each in found if each.label == label), key=lambda each: each.budget or 0)
        rounds = [each.budget or 0 for each in own]
        rates = [each.failure(confidence) for each in own]
        # On a logarithmic axis 0 has no place: an arrow points to it from the upper end.
        never = np.array([rate.count == 0 for rate in rates])
        low, high = np.array([(rate.low, rate.high) for rate in rates]).T
        height = np.where(never, high, [rate.rate for rate in rates])
        low = np.where(never, 0.5 * height, low)
        bars: dict[str, Any] = {"yerr": [height - low, high - height], "uplims": never, "capsize": 2}
        ax.errorbar(rounds, height, **bars, markersize=5, linewidth=1, label=label, **style)
        least = min(least, float(low.min()))
        curves.append(Curve(label, float(rounds[-1]), float(height[-1]), style["color"]))
    ax.set_yscale("log")
    ax.set(xlabel="budget, rounds", ylabel=what)
    set_limits(ax, "y", least / 1.5, 1.0)
    ax.margins(x=0.05)
    log_x(ax)
    return name_curves(ax, curves, fresh, loc="lower left") if legend else ax
