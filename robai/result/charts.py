"""The figures of a page about regret, which `robai.result.pages` arranges, and the cells of its tables.

They have the numbers of `robai.plotting`'s, in the page's own form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robai._base.counted import Counted
from robai._base.intervals import Mean, clopper_pearson, normal_quantile
from robai._base.text import number, percent
from robai.plotting.curves import LIMIT, distribution, height_at, limit_of
from robai.plotting.rows import shares_of_rounds
from robai.plotting.scaling import over_horizons
from robai.plotting.style import MOST_ARMS, QUANTITIES, Quantity, mean_of
from robai.report.figures import Chart, Colours, Level, Row, Series
from robai.result.text import arm_names, count_text, mean_text, median_text

if TYPE_CHECKING:
    from robai.result.result import Result
    from robai.result.runs import Runs

GREY: dict[str, Any] = {"colour": None, "dash": False}
_STEPS = 100  # of a distribution function
_MOST_ARMS_DRAWN = 50

ABOUT = {
    "runs": "How many independent runs the numbers are of.",
    "regret": "Cumulative pseudo-regret at the horizon, the mean of all runs ± its standard error.",
    "committed": "Share of the runs that committed to an arm before the horizon.",
    "median at": "Round by which half of the runs that committed had done so.",
    "wrong commitments, 95 % interval": (
        "How many of the runs that committed chose an arm that is not the best, and the exact "
        "(Clopper-Pearson) interval of the probability of that."
    ),
}
"""The columns of `cells` and their like, explained."""


def cells(result: Result) -> dict[str, str]:
    """What a table says of the commitments of a policy."""
    digest = result.digest()
    return {
        "committed": percent(digest.committed),
        "median at": median_text(digest),
        "wrong commitments, 95 % interval": count_text(digest.wrong),
    }


def regret_chart(
    results: Sequence[Result], colours: Colours, title: str = "Regret", lower_bound: float | None = None
) -> Chart:
    z = normal_quantile(0.95)
    series = []
    for result in results:
        median = result.digest().commit_median
        series.append(
            Series(
                result.label,
                result.times,
                result.regret,
                colours(result.label),
                low=None if result.runs == 1 else result.regret - z * result.regret_sem,
                high=None if result.runs == 1 else result.regret + z * result.regret_sem,
                marks=() if median is None else [(median, height_at(result, median))],
            )
        )
    caption = "Mean over the runs; the band is its 95 % interval." if results[0].runs > 1 else "One run."
    if any(result.commitments.any() for result in results):
        caption += " A dot is the median commitment."
    if lower_bound is not None:
        series.append(Series(LIMIT, *limit_of(list(results), lower_bound), GREY))
        caption += (
            " The grey line has the slope of Lai and Robbins, a limit as rounds go on, no bound before."
        )
    return Chart(title, "round", "cumulative regret", series, caption, log_x=True)


def commitment_chart(results: Sequence[Result], colours: Colours) -> Chart:
    times = [result._commit_times() for result in results]
    first = min(each.values[0] for each in times if len(each.values))
    return Chart(
        "When they commit",
        "round",
        "share of the runs",
        [
            stepped(result, each, result.horizon, colours(result.label))
            for result, each in zip(results, times, strict=True)
        ],
        "Share of the runs that have committed, with its exact 95 % interval; a curve that ends below 1 is "
        "of a policy that does not always commit.",
        kind="steps",
        log_x=True,
        least=0.8 * float(first),
        share=True,
    )


def stepped(
    result: Runs, times: Counted, last: int, look: dict[str, Any], marks: Any = (), label: str = ""
) -> Series:
    """The distribution function of some rounds, among all runs."""
    rounds, share = distribution(times, result.runs, last, _STEPS)
    ends = [clopper_pearson(int(count), result.runs) for count in np.rint(share * result.runs)]
    low, high = zip(*ends, strict=True)
    return Series(label or result.label, rounds, share, look, low=low, high=high, marks=marks)


def tradeoff_chart(results: Sequence[Result], colours: Colours) -> Chart:
    z = normal_quantile(0.95)
    series = []
    for result in results:
        rounds, regret = mean_of(result, "commitment"), mean_of(result, "regret")
        when = f"commits at {mean_text(rounds)}" if result.commitments.any() else "never commits"
        series.append(
            Series(
                result.label,
                [rounds.value],
                [regret.value],
                colours(result.label),
                low=[regret.value - z * regret.sem],
                high=[regret.value + z * regret.sem],
                left=[rounds.value - z * rounds.sem],
                right=[rounds.value + z * rounds.sem],
                texts=[f"regret {mean_text(regret)}, {when}"],
            )
        )
    caption = "Bars are 95 % intervals; a run that never commits counts as the horizon."
    return Chart(
        "Regret and commitment",
        "mean commitment time, rounds",
        "mean regret",
        series,
        caption,
        kind="points",
        log_x=True,
    )


def pulls_chart(results: Sequence[Result], colours: Colours) -> Chart | None:
    """None of so many arms that nobody could tell them apart."""
    first = results[0]
    if first.n_arms > _MOST_ARMS_DRAWN:
        return None
    ranked = first.n_arms > MOST_ARMS or first.own_means
    order = np.argsort(first.gaps, kind="stable") if not first.own_means else np.arange(first.n_arms)
    names = [f"rank {place}" for place in range(1, first.n_arms + 1)] if ranked else arm_names(first)
    arms = order.tolist() if ranked else list(range(first.n_arms))
    found = ([shares_of_rounds(result)[arm] for arm in arms] for result in results)
    series = by_arm([result.label for result in results], found, names, colours)
    return Chart(
        "Which arms are played",
        "arm, by the rank of its mean" if ranked else "arm",
        "share of the rounds",
        series,
        "On average over the runs, with 95 % intervals.",
        kind="points",
        log_y=True,
        names=() if first.n_arms > MOST_ARMS else names,
    )


def by_arm(
    labels: Sequence[str],
    found: Iterator[list[tuple[float, float]]],
    names: Sequence[str],
    colours: Colours,
) -> list[Series]:
    """Shares, with half the widths of their intervals, of every arm by policy; side by side."""
    apart = 0.5 / max(len(labels), 2)
    return [
        Series(
            label,
            [arm + 1 + apart * (place - (len(labels) - 1) / 2) for arm in range(len(names))],
            [share for share, _ in shares],
            colours(label),
            low=[share - reach for share, reach in shares],
            high=[share + reach for share, reach in shares],
            texts=[f"{name} {percent(share)}" for name, (share, _) in zip(names, shares, strict=True)],
        )
        for place, (label, shares) in enumerate(zip(labels, found, strict=True))
    ]


def final_rows(results: Sequence[Result], colours: Colours) -> list[Row]:
    rows = []
    for result in results:
        low, quarter, median, three_quarters, high = result.digest().quantiles
        ends = f"90 % of the runs from {number(low)} to {number(high)}"
        rows.append(
            Row(
                result.label,
                colours(result.label),
                mean_text(result.digest().regret),
                float(result.regret[-1]),
                low,
                high,
                (quarter, three_quarters),
                f"{result.label}: {ends}, half from {number(quarter)} to {number(three_quarters)}, median "
                f"{number(median)}, largest {number(float(result._regrets().values[-1]))}",
            )
        )
    return rows


def wrong_rows(results: Sequence[Result], colours: Colours) -> list[Row]:
    """Of the policies that commit, where one arm is the best."""
    rows = []
    for result in results:
        if (wrong := result.digest().wrong) is not None:
            said = f"{wrong.count:,} of {wrong.committed:,}, at most {percent(wrong.high)}"
            rows.append(Row(result.label, colours(result.label), said, wrong.rate, wrong.low, wrong.high))
    return rows


def means_chart(
    curves: dict[str, list[tuple[float, Mean]]],
    colours: Colours,
    title: str,
    axes: tuple[str, str],
    level: Level | None = None,
    *,
    log_x: bool = False,
    caption: str = "",
) -> Chart:
    """Means against a number, joined by lines, with their 95 % intervals."""
    z = normal_quantile(0.95)
    series = [
        Series(
            label,
            [place for place, _ in points],
            [mean.value for _, mean in points],
            colours(label),
            low=[mean.value - z * mean.sem for _, mean in points],
            high=[mean.value + z * mean.sem for _, mean in points],
            marks=[(place, mean.value) for place, mean in points],
        )
        for label, points in curves.items()
        if points
    ]
    at = axes[0].split()[0]
    levels = () if level is None else (level,)
    return Chart(title, *axes, series, caption, log_x=log_x, levels=levels, at=at, whole=log_x)


def scaling_charts(
    results: Sequence[Result], colours: Colours, lower_bound: float | None = None, caption: str = ""
) -> list[Chart]:
    """Regret and commitment time, divided by log T, against the horizon T."""
    charts = []
    quantities: tuple[Quantity, ...] = ("regret", "commitment")
    for quantity in quantities:
        curves = over_horizons(results, quantity)
        level = Level(LIMIT, lower_bound) if lower_bound is not None and quantity == "regret" else None
        title = f"{QUANTITIES[quantity].capitalize()} / log T"
        axes = ("horizon T", f"{QUANTITIES[quantity]} / log T")
        if any(curves.values()):
            charts.append(means_chart(curves, colours, title, axes, level, log_x=True, caption=caption))
    return charts
