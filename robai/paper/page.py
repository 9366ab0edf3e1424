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
from robai.paper.study import Growing, Varying
from robai.plotting.style import QUANTITIES, mean_of
from robai.report import figures, html
from robai.report.figures import Chart, Colours, Level
from robai.report.html import Finding, Section, Tile
from robai.result.charts import means_chart, scaling_charts
from robai.result.pages import without_empty
from robai.result.text import count_text
from robai.theory import lai_robbins

_ABOUT = {
    "apart by": "Our number minus the one beside it, in standard errors of the difference.",
    "verdict": (
        "Matched: the 95 % interval of the difference is within {:g} % of the number beside ours, and the "
        "difference within 5 standard errors. Not matched: beyond either. Not decided: more runs would tell."
    ),
    "regret / log T, paper": "What regret divided by log T is said to come to, as T grows.",
    "measured slope": "Regret gained for each unit of log T between the two horizons ± its standard error.",
    "between T": "The two horizons between which growth was measured.",
    "commitment, paper": "The order of the commitment time that is stated.",
    "T_c / log T": "Mean commitment time divided by log T at both horizons: level if it is of that order.",
    "T_c / log² T": "Mean commitment time divided by log² T at both horizons: level if it is of that order.",
    "p, if T_c grows like log^p T": "Near 1 for a commitment time of order log T, near 2 for log² T.",
    "confidence, paper": "The order of the probability of a wrong commitment that is stated.",
    "wrong commitments, 95 % interval": (
        "How many of the commitments at the shorter horizon were wrong, and the exact (Clopper-Pearson) "
        "interval of the probability of that."
    ),
}


def page(
    reproduction: Reproduction, versions: Mapping[str, str], files: Mapping[str, str] | None = None
) -> str:
    """The report as one page of HTML; `files` are those beside it, by what they are called."""
    study, verdicts = reproduction.study, reproduction.verdicts
    colours = Colours(study.labels)
    scale = "a quick look with few runs" if reproduction.quick else "full scale"
    seconds = reproduction.seconds
    duration = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
    top = [html.tiles(_tiles(verdicts))] if verdicts else []
    if hero := _hero(reproduction, colours):
        top.append(figures.chart(hero, hero=True))
    top.append(html.paragraph(f"This is {scale}, played in {duration}. {headline(verdicts)}", "lead"))
    sections = list(_sections(reproduction, colours, versions, files or {}))
    title = study.title[0].upper() + study.title[1:]
    return html.page(title, top, sections, lead=study.source)


def _tiles(verdicts: list[Verdict]) -> list[Tile]:
    found: list[str] = [verdict.result for verdict in verdicts]
    return [
        Tile(str(found.count(word)), label, word if word in found else "none")
        for word, label in (("holds", "claims hold"), ("fails", "fail"), ("not decided", "not decided"))
    ]


def _hero(reproduction: Reproduction, colours: Colours) -> Chart | None:
    """The first figure of what was played."""
    study = reproduction.study
    for played in reproduction.played(study.figures):
        return _chart(played, colours)
    if study.growing and reproduction.growth:
        return _scaling(reproduction, study.growing, colours)[0]
    return None


def _chart(played: Played, colours: Colours) -> Chart:
    size = played.experiment.size(played.first)
    return played.experiment.chart(played.results, colours, f"{played.experiment.title}, {size}")


def _sections(
    reproduction: Reproduction, colours: Colours, versions: Mapping[str, str], files: Mapping[str, str]
) -> Iterator[Section]:
    study = reproduction.study
    if reproduction.verdicts:
        claims = html.cards(_claims(reproduction))
        about = html.paragraph(
            "A claim holds if the 95 % interval of its number is on its side, fails if it is wholly on the "
            "other, and is not decided else: more runs would tell."
        )
        yield Section("claims", "Claims", "Claims", [about, claims, _links(files, "numbers/claims")])
    played = list(reproduction.played(study.figures))
    for place, each in enumerate(played):
        title = each.experiment.title
        yield Section(each.name, title.split(":")[0], title, _figure(each, colours, files, drawn=place > 0))
    if played:
        parts = [html.paragraph(study.about), html.definitions(study.notes)]
        yield Section("differences", "Notes", "Where numbers differ, and why", parts)
    if study.growing and reproduction.growth:
        growing = study.growing
        table = html.table(growth_rows(growing, reproduction.growth), numbers=_GROWTH_NUMBERS, about=_ABOUT)
        charts = (figures.chart(each) for each in _scaling(reproduction, growing, colours))
        parts = [html.beside(charts), table, html.paragraph(growing.note)]
        parts.append(_links(files, "figures/scaling", f"numbers/{growing.name}"))
        yield Section(growing.name, growing.title.split(",")[0], growing.title, parts)
    if study.varying and any(reproduction.played(study.varying.experiments)):
        varying = study.varying
        charts = (figures.chart(each) for each in _variation(reproduction, varying, colours))
        parts = [html.beside(charts), _links(files, f"figures/{varying.name}")]
        yield Section(varying.name, varying.name.capitalize(), varying.title, parts)
    made = {
        "seed of every simulation (rng)": str(reproduction.entropy),
        "made on": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        **versions,
    }
    rows = _made_rows(reproduction)
    simulations = html.table(rows, numbers=("T", "runs", "seconds"))
    parts = [html.definitions(made), html.folded(f"All {len(rows)} simulations", [simulations])]
    if files:
        parts.append(html.folded(f"All {len(files)} files beside this page", [html.links(files)]))
    yield Section("made", "How it was made", "How it was made", parts)


def _links(files: Mapping[str, str], *starts: str) -> str:
    """The files whose names begin so, and go on with an ending or a dash."""
    ends = tuple(start + mark for start in starts for mark in (".", "-"))
    return html.links({name: to for name, to in files.items() if name.startswith(ends)})


def headline(verdicts: list[Verdict]) -> str:
    """How many claims hold, in a sentence; nothing if none was checked."""
    if not verdicts:
        return ""
    held, failed = (sum(verdict.result == word for verdict in verdicts) for word in ("holds", "fails"))
    if held == len(verdicts):
        return f"All {held} claims hold."
    left = len(verdicts) - held - failed
    more = [f"{failed} fail{'s' * (failed == 1)}"] * (failed > 0)
    more += [f"{left} {'is' if left == 1 else 'are'} not decided"] * (left > 0)
    return f"{held} of {len(verdicts)} claims hold, {', '.join(more)}."


def _claims(reproduction: Reproduction) -> Iterator[str]:
    """A card a claim, wherever it was checked."""
    titles = {
        each.experiment.name: each.experiment.title
        for each in reproduction.played(reproduction.study.figures)
    }
    growing = reproduction.study.growing
    for (claim, criterion), group in groupby(
        reproduction.verdicts, key=lambda each: (each.claim, each.criterion)
    ):
        findings = (
            Finding(
                each.result,
                titles.get(each.experiment, each.experiment).split(":")[0],
                each.experiment if each.experiment in titles else growing.name if growing else "claims",
                each.numbers,
            )
            for each in group
        )
        yield html.card(claim, f"Taken to mean: {criterion}", findings)


def _figure(played: Played, colours: Colours, files: Mapping[str, str], *, drawn: bool) -> list[str]:
    """Table and figures of an experiment; the first is drawn unless the page begins with it."""
    experiment = played.experiment
    rows = without_empty([experiment.row(result) for result in played.results.values()])
    caption = f"{experiment.size(played.first)}; ± is the standard error of the mean"
    numbers = [column for column in rows[0] if not column.endswith(("policy", "verdict", "interval"))]
    about = {**_ABOUT, **experiment.about, "verdict": _ABOUT["verdict"].format(100 * experiment.tolerance)}
    about |= dict.fromkeys(experiment.beside, "A number from elsewhere: see the notes.")
    first = [figures.chart(_chart(played, colours))] if drawn else []
    where = "" if drawn else " The figure is at the top of the page."
    name = played.name
    return [
        html.paragraph(f"{experiment.bandit!r}.{where}"),
        *first,
        html.table(rows, caption=caption, numbers=numbers, about=about),
        html.folded("More of the same runs", [experiment.details(played.results, colours)]),
        _links(files, f"figures/{name}", f"numbers/{name}", f"arrays/{name}"),
    ]


def _scaling(reproduction: Reproduction, growing: Growing, colours: Colours) -> list[Chart]:
    """Regret and commitment over horizons."""
    drawn = {name: growing.experiments[name] for name in growing.drawn}
    results = [result for played in reproduction.played(drawn) for result in played.results.values()]
    if not results:
        return []
    bound = lai_robbins(drawn[growing.drawn[0]].bandit)
    return scaling_charts(results, colours, bound, growing.caption)


def _variation(reproduction: Reproduction, varying: Varying, colours: Colours) -> Iterator[Chart]:
    """Regret and commitment against the parameter."""
    experiment, policy = varying.reference
    level = reproduction.results.get(experiment)
    for quantity, text in QUANTITIES.items():
        curves = {
            played.experiment.title: [
                (value, mean_of(result, quantity))
                for value, result in zip(varying.values, played.results.values(), strict=True)
            ]
            for played in reproduction.played(varying.experiments)
        }
        known = level is not None and quantity == "regret"
        line = Level(policy, mean_of(level[0][policy], quantity).value) if level and known else None
        axes = (varying.parameter, text)
        yield means_chart(curves, colours, text.capitalize(), axes, line, caption=varying.caption)


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
