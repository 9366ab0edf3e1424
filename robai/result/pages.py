"""The pages of `Result.report`, `Comparison.report` and `Sweep.report`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from robai._base.spec import as_text
from robai._base.text import number, percent
from robai._base.version import VERSION
from robai.report import figures, html
from robai.report.figures import Colours
from robai.report.html import Section, Tile
from robai.result.analysis import difference
from robai.result.charts import (
    ABOUT,
    cells,
    commitment_chart,
    final_rows,
    pulls_chart,
    regret_chart,
    scaling_charts,
    tradeoff_chart,
    wrong_rows,
)
from robai.result.identification_text import horizon_text
from robai.result.text import mean_text

if TYPE_CHECKING:
    from robai.result.identification import Identification
    from robai.result.result import Result
    from robai.result.runs import Runs


def results_page(results: list[Result], title: str | None) -> str:
    """Of one policy, or of several on the same bandit."""
    first, colours = results[0], Colours(result.label for result in results)
    name = title or (first.label if len(results) == 1 else "Policies compared")
    top = [
        html.tiles(_tiles(results)),
        figures.chart(regret_chart(results, colours), hero=True),
    ]
    numbers = Section("numbers", "Numbers", "Numbers", [regret_table(results)])
    more = Section("runs", "The runs", "The same runs, in other ways", [details(results, colours)])
    lead = f"{_bandit(first)}, {first.horizon:,} rounds."
    return html.page(name, top, [numbers, more, made(results)], lead=lead)


def sweep_page(cells_: Mapping[tuple[str, str, int], Result], title: str | None) -> str:
    """Of policies, on bandits, over horizons: a section a bandit, with its longest horizon drawn."""
    labels, bandits, horizons = (list(dict.fromkeys(each)) for each in zip(*cells_, strict=True))
    colours, sections = Colours(labels), []
    for place, bandit in enumerate(bandits):
        own = [result for (_, name, _), result in cells_.items() if name == bandit]
        longest = [result for result in own if result.horizon == max(horizons)]
        parts = [
            html.paragraph(_bandit(own[0]), "lead"),
            figures.chart(regret_chart(longest, colours, f"Regret, T = {max(horizons):,}"), hero=place == 0),
        ]
        if len(horizons) > 1:
            caption = "Bands are 95 % intervals. A level curve grows like log T."
            scaled = scaling_charts(own, colours, caption=caption)
            parts.append(html.beside(figures.chart(each) for each in scaled))
        parts += [
            regret_table([result for result in own if result.horizon == rounds], f"T = {rounds:,}")
            for rounds in horizons
        ]
        sections.append(Section(f"bandit-{place}", bandit, bandit, parts))
    tiles = [
        Tile(f"{len(labels):,}", "policies"),
        Tile(f"{len(bandits):,}", "bandits"),
        Tile(f"{len(horizons):,}", "horizons"),
        Tile(f"{next(iter(cells_.values())).runs:,}", "runs of each"),
    ]
    return html.page(title or "A sweep", [html.tiles(tiles)], [*sections, made(list(cells_.values()))])


def _bandit(result: Runs) -> str:
    return as_text(result.meta["bandit"]) if "bandit" in result.meta else f"{result.n_arms:,} arms"


def _tiles(results: list[Result]) -> list[Tile]:
    """Who has the least regret, who commits first, how often that was wrong, and of how much this is."""
    best = min(results, key=lambda result: result.regret[-1])
    alike = [
        result.label
        for result in results
        if result is not best and not difference(result, best, "regret", "auto", 0.95).low > 0.0
    ]
    label = f"has the smallest mean regret, {mean_text(best.digest().regret)}"
    if len(results) == 1:
        label = f"mean regret {mean_text(best.digest().regret)}"
    if alike:
        label += f"; not told from {', '.join(alike)}, 95 %"
    tiles = [Tile(best.label, label, "text")]
    committed = [
        (median, result) for result in results if (median := result.digest().commit_median) is not None
    ]
    if committed:
        median, first = min(committed, key=lambda each: each[0])
        who = "commits first" if len(committed) > 1 else "commits"
        tiles.append(Tile(first.label, f"{who}, at round {median:,.0f} in the median", "text"))
    if wrongs := [wrong for result in results if (wrong := result.digest().wrong) is not None]:
        worst = max(wrongs, key=lambda each: each.high)
        count, of = sum(each.count for each in wrongs), sum(each.committed for each in wrongs)
        label = f"of {of:,} commitments wrong; at most {percent(worst.high)} of any policy's (95 %)"
        tiles.append(Tile(f"{count:,}", label, "text"))
    runs = {result.runs for result in results}
    tiles.append(Tile(f"{max(runs):,}", f"runs{' of each policy' * (len(results) > 1)}", "text"))
    return tiles


def regret_table(results: Sequence[Result], caption: str = "") -> str:
    rows = [
        {"policy": result.label, "runs": f"{result.runs:,}", "regret": mean_text(result.digest().regret)}
        | cells(result)
        for result in results
    ]
    shown = without_empty(rows)
    numbers = [
        column for column in shown[0] if column not in ("policy", *[name for name in ABOUT if "," in name])
    ]
    text = "; ".join(filter(None, (caption, "± is the standard error of the mean")))
    return html.table(shown, caption=text, numbers=numbers, about=ABOUT)


def without_empty(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Rows without the columns that say nothing of any policy: of commitments, where none commits."""
    said = [column for column in rows[0] if any(row[column] not in ("-", "0 %") for row in rows)]
    return [{column: row[column] for column in said} for row in rows]


def details(results: Sequence[Result], colours: Colours) -> str:
    """Commitments, arms and the spread of the runs."""
    drawn = []
    if any(result.commitments.any() for result in results):
        drawn.append(figures.chart(commitment_chart(results, colours)))
        if len(results) > 1:
            drawn.append(figures.chart(tradeoff_chart(results, colours)))
    if wrong := wrong_rows(results, colours):
        caption = "Probability that a commitment is wrong, with its exact 95 % interval; no dot if none was."
        drawn.append(figures.rows("Wrong commitments", wrong, caption=caption, log=True, percents=True))
    log = all(result.digest().quantiles[0] > 0.0 for result in results)
    caption = "The line has 90 % of the runs, the bar the middle half; the dot is the mean."
    drawn.append(
        figures.rows("Final regret of the runs", final_rows(results, colours), caption=caption, log=log)
    )
    if pulls := pulls_chart(results, colours):
        drawn.append(figures.chart(pulls))
    return html.beside(drawn)


def made(results: Sequence[Result | Identification]) -> Section:
    """How the numbers came about."""
    rows = [
        {
            "name": result.label,
            "policy": as_text(result.meta.get("policy", result.label)),
            "bandit": _bandit(result),
            "T": horizon_text(result.horizon),
            "runs": f"{result.runs:,}",
            "engine": str(result.meta.get("engine", "-")),
            "seconds": number(result.meta["seconds"]) if "seconds" in result.meta else "-",
        }
        for result in results
    ]
    first = results[0].meta
    entries = {
        "seed (rng)": ", ".join(map(str, first.get("entropy", ["unknown"]))),
        "robai": str(first.get("robai", VERSION)),
        "NumPy, in its core": str(first.get("numpy", "unknown")),
        "made on": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
    }
    table = html.table(rows, numbers=("T", "runs", "seconds"))
    return Section("made", "How it was made", "How it was made", [html.definitions(entries), table])
