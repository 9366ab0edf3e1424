"""The page of `Identification.report` and `Identifications.report`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robai._base import verdicts
from robai._base.counted import Counted
from robai._base.intervals import Mean, normal_quantile
from robai._base.spec import as_text
from robai._base.text import percent
from robai.plotting.style import MOST_ARMS
from robai.report import figures, html
from robai.report.figures import Chart, Colours, Level, Row, Series
from robai.report.html import Section, Tile
from robai.result.charts import GREY, by_arm, stepped
from robai.result.identification_text import asked
from robai.result.pages import made, without_empty
from robai.result.text import arm_names, mean_text

if TYPE_CHECKING:
    from robai.result.identification import Identification

ABOUT = {
    "runs": "How many independent runs the numbers are of.",
    "budget": "Rounds that a run was given to use up.",
    "stopping time": (
        "Rounds until a run stopped, the mean ± its standard error. Runs that did not stop count with the "
        "rounds that they were given."
    ),
    "median": "Rounds by which half of the runs had stopped.",
    "mean / lower bound": (
        "The mean in units of T* kl(delta, 1 - delta), below which no policy that errs with probability "
        "delta at most is on average."
    ),
    "unfinished": "Runs that did not stop in the rounds that they were given.",
    "wrong or unfinished, 95 % interval": (
        "Runs that recommend a wrong arm, or none, and the exact (Clopper-Pearson) interval of the "
        "probability of that."
    ),
    "at most delta": (
        "Whether the probability of a wrong arm, or of no stop, is at most delta: it holds if the 95 % "
        "interval is below delta, and fails if it is above."
    ),
}


def identifications_page(found: list[Identification], title: str | None) -> str:
    first, colours = found[0], Colours(each.label for each in found)
    bandit = first.meta.get("bandit")
    budgets = len({each.budget for each in found}) > 1
    name = title or ("Finding the best arm" if len(found) > 1 else f"{first.label}: finding the best arm")
    hero = failure_chart(found, colours) if budgets else stopping_chart(found, colours)
    what = "several budgets" if budgets else asked(first)
    lead = f"{'' if bandit is None else f'{as_text(bandit)}, '}{what}, {first.runs:,} runs of each."
    top = [
        html.tiles(_tiles(found, budgets)),
        figures.chart(hero, hero=True),
    ]
    numbers = Section("numbers", "Numbers", "Numbers", [_table(found, budgets)])
    drawn = [] if budgets else details(found, colours)
    more = (
        [Section("runs", "The runs", "The same runs, in other ways", [html.beside(drawn)])] if drawn else []
    )
    return html.page(name, top, [numbers, *more, made(found)], lead=lead)


def _tiles(found: list[Identification], budgets: bool) -> list[Tile]:
    first, tiles = found[0], []
    if budgets:
        largest = max(each.budget or 0 for each in found)
        last = min((each for each in found if each.budget == largest), key=lambda each: each.failure().rate)
        failure = last.failure()
        label = f"fails least with a budget of {largest:,}: {percent(failure.rate)}"
        tiles.append(Tile(last.label, f"{label} ({percent(failure.low)} to {percent(failure.high)})", "text"))
    else:
        fastest = min(found, key=lambda each: each.time().mean)
        spent = fastest.time()
        who = "stops first, after" if len(found) > 1 else "stops after"
        label = f"{who} {mean_text(Mean(spent.mean, spent.sem))} rounds on average"
        tiles.append(Tile(fastest.label, label, "text"))
        known = first.complexity
        if known is not None and known.lower:
            label = "rounds is the least possible mean, T* kl(delta, 1 - delta)"
            tiles.append(Tile(f"{known.lower:,.0f}", label, "text"))
    if first.delta is not None:
        words: list[verdicts.Word] = [keeps_to(each) for each in found]
        word = verdicts.together(words)
        label = f"that a run is wrong, or does not stop, with probability at most {first.delta:g}"
        if word != "holds" and len(found) > 1:
            which = [each.label for each, own in zip(found, words, strict=True) if own == word]
            label += f": {', '.join(which)}"
        tiles.append(Tile(word, label, f"text {word.replace('not decided', 'open')}"))
    lost = sum(each.unfinished for each in found)
    if lost:
        tiles.append(Tile(f"{lost:,}", f"of {sum(each.runs for each in found):,} runs did not stop", "text"))
    return tiles


def keeps_to(found: Identification) -> verdicts.Word:
    """Whether it errs with probability delta at most."""
    failure = found.failure()
    return verdicts.within((failure.low, failure.high), most=found.delta or 0.0)


def _table(found: list[Identification], budgets: bool) -> str:
    rows = []
    for each in found:
        row = {"policy": each.label} | ({"budget": f"{each.budget:,}"} if budgets else {})
        row |= {"runs": f"{each.runs:,}", "stopping time": mean_text(Mean(each.time().mean, each.time().sem))}
        row |= cells(each)
        if each.delta is not None:
            row["at most delta"] = keeps_to(each)
        rows.append(row)
    shown = without_empty(rows)
    wide = ("policy", "wrong or unfinished, 95 % interval", "at most delta")
    numbers = [column for column in shown[0] if column not in wide]
    return html.table(shown, caption="± is the standard error of the mean", numbers=numbers, about=ABOUT)


def cells(found: Identification) -> dict[str, str]:
    """What a table says of a policy, beside its mean time."""
    time, complexity, failure = found.time(), found.complexity, found.failure()
    lower = None if complexity is None else complexity.lower
    return {
        "median": f"{time.median:,.0f}",
        "mean / lower bound": f"{time.mean / lower:.2f}" if lower else "-",
        "unfinished": f"{found.unfinished:,}",
        "wrong or unfinished, 95 % interval": f"{failure.count:,} of {failure.runs:,}, "
        f"{percent(failure.low)} to {percent(failure.high)}",
    }


def stopping_chart(found: Sequence[Identification], colours: Colours, title: str = "When they stop") -> Chart:
    lower = {known.lower for each in found if (known := each.complexity) is not None and known.lower}
    stopped = [each.stopping_time[each.finished] for each in found if each.finished.any()]
    first = min((int(times.min()) for times in stopped), default=1)
    last = max((int(times.max()) for times in stopped), default=found[0].rounds)
    series = []
    for each in found:
        times, mean = each.stopping_time[each.finished], each.time().mean
        height = float((times <= mean).sum()) / each.runs
        marks = [(mean, height)] if mean <= last else []
        drawn = stepped(each, Counted.of(times), last, colours(each.label), marks)
        series.append(drawn)
    return Chart(
        title,
        "round",
        "share of the runs",
        series,
        "Share of the runs that have stopped, with its exact 95 % interval; the dot is the mean.",
        kind="steps",
        log_x=True,
        least=0.8 * min([max(first, 1.0), *lower]),
        share=True,
        verticals=[Level("lower bound of the mean", each) for each in sorted(lower)],
    )


def failure_chart(found: Sequence[Identification], colours: Colours) -> Chart:
    """Against the budget; where no run failed, at the upper end of the interval."""
    series = []
    for label in dict.fromkeys(each.label for each in found):
        own = sorted((each for each in found if each.label == label), key=lambda each: each.budget or 0)
        rates = [each.failure() for each in own]
        budgets = [float(each.budget or 0) for each in own]
        heights = [rate.rate if rate.count else rate.high for rate in rates]
        series.append(
            Series(
                label,
                budgets,
                heights,
                colours(label),
                low=[rate.low if rate.count else rate.high / 2 for rate in rates],
                high=[rate.high for rate in rates],
                marks=list(zip(budgets, heights, strict=True)),
            )
        )
    return Chart(
        "How often they fail",
        "budget, rounds",
        "probability of a wrong arm",
        series,
        "With exact 95 % intervals. Where no run failed the curve is at the upper end.",
        log_x=True,
        log_y=True,
        at="budget",
    )


def proportions_chart(found: Sequence[Identification], colours: Colours) -> Chart:
    first, z = found[0], normal_quantile(0.95)
    ranked = first.n_arms > MOST_ARMS
    order = (
        np.argsort(first.gaps, kind="stable") if ranked and not first.own_means else np.arange(first.n_arms)
    )
    names = arm_names(first) if not ranked else [f"rank {place}" for place in range(1, first.n_arms + 1)]

    def shares(each: Identification) -> list[tuple[float, float]]:
        own, sem, _ = each.proportions()
        reach = np.nan_to_num(z * sem)
        return [(float(own[arm]), float(reach[arm])) for arm in order]

    series = by_arm([each.label for each in found], map(shares, found), names, colours)
    if (optimal := first.proportions().optimal) is not None:
        texts = [f"{name} {percent(share)}" for name, share in zip(names, optimal[order], strict=True)]
        places = [arm + 0.62 for arm in range(first.n_arms)]
        series.append(Series("optimal, w*", places, optimal[order], GREY, texts=texts))
    return Chart(
        "Which arms are played",
        "arm, by the rank of its mean" if ranked else "arm",
        "share of the rounds",
        series,
        "On average over the runs, with 95 % intervals, beside the proportions of an optimal policy for "
        "small delta.",
        kind="points",
        names=() if ranked else names,
    )


def failure_rows(found: Sequence[Identification], colours: Colours) -> str:
    rows = []
    for each in found:
        failure = each.failure()
        text = f"{failure.count:,} of {failure.runs:,}, at most {percent(failure.high)}"
        rows.append(Row(each.label, colours(each.label), text, failure.rate, failure.low, failure.high))
    goals = [Level("delta", delta) for delta in {each.delta for each in found if each.delta is not None}]
    caption = "Probability of a wrong arm, or of no stop, with its exact 95 % interval; no dot if none was."
    return figures.rows("Wrong, or unfinished", rows, caption=caption, log=True, goals=goals, percents=True)


def details(found: Sequence[Identification], colours: Colours) -> list[str]:
    drawn = [failure_rows(found, colours)]
    if found[0].n_arms <= 50:
        drawn.append(figures.chart(proportions_chart(found, colours)))
    return drawn
