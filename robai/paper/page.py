"""The page of a report, and its tables as people read them: rows of texts by the names of their columns."""

import math
import time
from collections.abc import Iterator, Mapping
from itertools import groupby

from robai._base.spec import as_text
from robai.paper.claims import Verdict
from robai.paper.experiments import fixed_text
from robai.paper.growth import Growth
from robai.paper.reproduction import Played, Reproduction, scientific
from robai.paper.study import Growing
from robai.report import html
from robai.report.html import Section
from robai.result.text import count_text


def page(reproduction: Reproduction, pictures: Mapping[str, bytes], versions: Mapping[str, str]) -> str:
    """The report as one page of HTML."""
    study = reproduction.study
    scale = "a quick look with few runs" if reproduction.quick else "full scale"
    seconds = reproduction.seconds
    duration = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
    introduction = (
        f"This is {scale}, played in {duration}. {headline(reproduction.verdicts)} Parameters, versions and "
        "seed are at the end; figures, numbers and arrays are in the files beside this page."
    )
    parts = [html.paragraph(study.source), html.paragraph(introduction)]
    return html.page(f"robai: {study.title}", parts, list(_sections(reproduction, pictures, versions)))


def _sections(
    reproduction: Reproduction, pictures: Mapping[str, bytes], versions: Mapping[str, str]
) -> Iterator[Section]:
    study = reproduction.study
    if reproduction.verdicts:
        yield Section("claims", "Claims", "Claims", [html.table(_claim_rows(reproduction.verdicts))])
    figures = list(reproduction.played(study.figures))
    for played in figures:
        title = played.experiment.title
        yield Section(played.name, title.split(":")[0], title, _figure(played, pictures))
    if figures:
        parts = [html.paragraph(study.about), html.definitions(study.notes)]
        yield Section("differences", "Notes", "Where numbers differ, and why", parts)
    if study.growing and reproduction.growth:
        growing, text = study.growing, "regret and commitment time against the horizon"
        parts = [
            html.table(growth_rows(growing, reproduction.growth), numbers=_GROWTH_NUMBERS),
            html.paragraph(growing.note),
            html.picture(pictures["scaling"], text, growing.caption),
        ]
        yield Section(growing.name, growing.title.split(",")[0], growing.title, parts)
    if study.varying and any(reproduction.played(study.varying.experiments)):
        varying, text = study.varying, f"regret and commitment time against {study.varying.parameter}"
        parts = [html.picture(pictures[varying.name], text, varying.caption)]
        yield Section(varying.name, varying.name.capitalize(), varying.title, parts)
    made = {
        "seed of every simulation (rng)": str(reproduction.entropy),
        "made on": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        **versions,
    }
    simulations = html.table(_made_rows(reproduction), numbers=("T", "runs", "seconds"))
    yield Section("made", "How it was made", "How it was made", [html.definitions(made), simulations])


def headline(verdicts: list[Verdict]) -> str:
    """How many claims hold, in a sentence; nothing if none was checked."""
    if not verdicts:
        return ""
    held = sum(verdict.holds for verdict in verdicts)
    if held == len(verdicts):
        return f"All {held} claims hold."
    return f"{held} of {len(verdicts)} claims hold, {len(verdicts) - held} do not."


def _claim_rows(verdicts: list[Verdict]) -> list[dict[str, str]]:
    """One a verdict; a claim that is checked in several experiments is spelt out once."""
    return [
        {
            "claim": "" if place else each.claim,
            "taken to mean": "" if place else each.criterion,
            "experiment": each.experiment,
            "result": each.result,
            "numbers": each.numbers,
        }
        for _, group in groupby(verdicts, key=lambda verdict: verdict.claim)
        for place, each in enumerate(group)
    ]


def _figure(played: Played, pictures: Mapping[str, bytes]) -> list[str]:
    experiment = played.experiment
    rows = _without_empty([experiment.row(result) for result in played.results.values()])
    size = experiment.size(played.first)
    caption = "± is the standard error of the mean"
    if experiment.beside:
        caption += (
            "; “apart by” counts standard errors of the difference; “matched” is within 5 of them and within "
            "4 %, “undecided” if that takes 2 standard errors of ours"
        )
    first, *others = (
        html.picture(pictures[f"{played.name}{each.suffix}"], f"{each.text}, {size}", each.caption)
        for each in experiment.pictures
    )
    numbers = [column for column in rows[0] if not column.endswith(("policy", "verdict", "interval"))]
    table = html.table(rows, caption=caption, numbers=numbers)
    return [html.paragraph(f"{experiment.bandit!r}, {size}."), first, table, *others]


def _without_empty(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Rows without the columns that say nothing of any policy: of commitments, where none commits."""
    said = [column for column in rows[0] if any(row[column] not in ("-", "0 %") for row in rows)]
    return [{column: row[column] for column in said} for row in rows]


def growth_rows(growing: Growing, growths: list[Growth]) -> list[dict[str, str]]:
    """What is stated beside what was measured."""
    stated = growing.stated
    return [
        {
            "policy": growth.policy,
            "bandit": growth.bandit,
            "between T": ", ".join(map(scientific, growth.horizons)),
            "regret / log T, paper": f"{growth.constant:.3g}",
            "measured slope": fixed_text(growth.slope),
            "commitment, paper": stated[growth.policy].commitment,
            "T_c / log T": _per_log(growth, 1),
            "T_c / log² T": _per_log(growth, 2),
            "p, if T_c grows like log^p T": fixed_text(growth.exponent),
            "confidence, paper": stated[growth.policy].confidence,
            "wrong commitments, 95 % interval": count_text(growth.wrong if growth.wrong.committed else None),
        }
        for growth in growths
    ]


_GROWTH_NUMBERS = (
    "regret / log T, paper",
    "measured slope",
    "T_c / log T",
    "T_c / log² T",
    "p, if T_c grows like log^p T",
)
GROWTH_ON_A_TERMINAL = (
    "policy",
    "bandit",
    "between T",
    "regret / log T, paper",
    "measured slope",
    "p, if T_c grows like log^p T",
    "wrong commitments, 95 % interval",
)


def _per_log(growth: Growth, power: int) -> str:
    if growth.commitments is None:
        return "-"
    pairs = zip(growth.commitments, growth.horizons, strict=True)
    return ", ".join(f"{mean.value / math.log(horizon) ** power:.3g}" for mean, horizon in pairs)


def _made_rows(reproduction: Reproduction) -> list[dict[str, str]]:
    return [
        {
            "section": section,
            "name": result.label,
            "policy": as_text(result.meta["policy"]),
            "bandit": as_text(result.meta["bandit"]),
            "T": scientific(result.horizon),
            "runs": f"{result.runs:,}",
            "seconds": f"{result.meta['seconds']:.2f}",
        }
        for section, _, result in reproduction.simulations()
    ]
