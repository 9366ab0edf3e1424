"""The page of a report, and its tables as people read them."""

import math
import time
from collections.abc import Iterator, Mapping

from robai._base.intervals import Mean
from robai._base.spec import as_text
from robai._base.text import percent
from robai.paper.claims import Verdict
from robai.paper.experiments import DIFFERENCES, FIGURES, TABLE, UNKNOWN, Experiment
from robai.paper.reproduction import Growth, Reproduction, duration, scientific
from robai.report import html
from robai.result import Comparison
from robai.result.text import count_text, mean_text, median_text
from robai.theory import table

CLAIMS_HEADER = ("claim", "taken to mean", "experiment", "result", "numbers")
TABLE_HEADER = (
    "policy",
    "bandit",
    "between T",
    "regret / log T, paper",
    "measured slope",
    "commitment, paper",
    "T_c / log T",
    "T_c / log² T",
    "p, if T_c grows like log^p T",
    "confidence, paper",
    "wrong commitments, 95 % interval",
)
_FIGURE_HEADER = (
    "policy",
    "regret",
    "clean elsewhere",
    "apart by",
    "like the scripts",
    "committed",
    "median at",
    "wrong commitments, 95 % interval",
)


_MADE_HEADER = ("section", "name", "policy", "bandit", "T", "runs", "seconds")

_PAPER = (
    "Q. Zhang and L. Ying, “Fast and Regret Optimal Best Arm Identification: Fundamental Limits and "
    "Low-Complexity Algorithms”, NeurIPS 2023, arXiv 2309.00591"
)
_TABLE_NOTE = (
    "Both columns of regret are per unit of log T: the paper's is the limit as T grows, ours the slope "
    "between two horizons. EOCP and KL-EOCP are told a lower bound on the gap, which the limit of Lai and "
    "Robbins does not allow for: they can, and do, stay below it. The paper's constant of UCB_alpha is an "
    "upper bound, far from tight. A commitment time of order log T has T_c / log T level and p near 1, one "
    "of order log² T has T_c / log² T level and p near 2. Wrong commitments are counted at the shorter "
    "horizon, where they are likelier; what the paper proves, O(1/T), is far below what so many runs can "
    "show."
)
_SCALING_NOTE = (
    "Left: regret divided by log T. Right: commitment time divided by log T; EOCP's is level, as O(log T) "
    "says, EOCP-UG's rises in a straight line, as O(log² T) does."
)
_SENSITIVITY_NOTE = (
    "The theorems take c = 4 sqrt 2 = 5.66, the right end; the experiments of the paper 1 for two arms and "
    "0.2 for four. At the right end EOCP's regret is above UCB's on this bandit and horizon."
)
_CURVES_NOTE = (
    "Mean regret of every policy. The thin line is the Lai-Robbins constant times log t: a limit as t "
    "grows, not a bound at any one round."
)
_DETAILS_NOTE = (
    "From left to right, top to bottom: share of runs that have committed; regret against commitment time; "
    "how often a commitment was wrong; share of the rounds that went to each arm; final regret of the runs."
)


def page(reproduction: Reproduction, pictures: Mapping[str, bytes], versions: Mapping[str, str]) -> str:
    """The report as one page of HTML."""
    title = "robai: the paper's experiments, reproduced"
    return html.page(title, _parts(title, reproduction, pictures, versions))


def _parts(
    title: str, reproduction: Reproduction, pictures: Mapping[str, bytes], versions: Mapping[str, str]
) -> Iterator[str]:
    verdicts = reproduction.verdicts
    yield html.heading(title, 1)
    yield html.paragraph(_PAPER + ".")
    scale = "a quick look with few runs" if reproduction.quick else "full scale"
    yield html.paragraph(
        f"This is {scale}, played in {duration(reproduction.seconds)}. {headline(verdicts)} Parameters, "
        "versions and seed are at the end; figures, numbers and arrays are in the files beside this page."
    )
    yield html.contents(_contents(reproduction))
    if verdicts:
        yield html.heading("Claims", name="claims")
        yield html.table(CLAIMS_HEADER, claim_rows(verdicts))
    for name, results in reproduction.figures.items():
        yield from _experiment(FIGURES[name], results, pictures)
    if reproduction.figures:
        yield html.heading("Where the published scripts differ", name="differences")
        yield html.paragraph(
            "The column “like the scripts” above is by a program that behaves like the authors' published "
            "MATLAB scripts (thumichzqn/fastROBAI, d678c1c), “clean elsewhere” by one that plays the paper "
            "as printed; both were written independently of this package. Where the first differs from "
            "ours, this is why:"
        )
        yield html.definitions(DIFFERENCES)
    if reproduction.table:
        yield html.heading("Table 1, measured", name="table1")
        yield html.table(TABLE_HEADER, table_rows(reproduction.table), numbers=(3, 4, 6, 7, 8))
        yield html.paragraph(_TABLE_NOTE)
        yield html.picture(
            pictures["scaling"], "regret and commitment time against the horizon", _SCALING_NOTE
        )
    if reproduction.sensitivity:
        yield html.heading("How much c matters", name="sensitivity")
        text = "regret and commitment time of EOCP and EOCP-UG against c"
        yield html.picture(pictures["sensitivity"], text, _SENSITIVITY_NOTE)
    yield html.heading("How it was made", name="made")
    yield html.definitions(
        [
            ("seed of every simulation (rng)", str(reproduction.entropy)),
            ("made on", time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())),
            *versions.items(),
        ]
    )
    yield html.table(_MADE_HEADER, _made_rows(reproduction), numbers=(4, 5, 6))


def headline(verdicts: list[Verdict]) -> str:
    """How many claims hold, in a sentence; nothing if none was checked."""
    if not verdicts:
        return ""
    held = sum(verdict.holds for verdict in verdicts)
    if held == len(verdicts):
        return f"All {held} claims hold."
    return f"{held} of {len(verdicts)} claims hold, {len(verdicts) - held} do not."


def _contents(reproduction: Reproduction) -> Iterator[tuple[str, str]]:
    if reproduction.figures:
        yield "claims", "Claims"
        for name in reproduction.figures:
            yield name, FIGURES[name].title.split(":")[0]
        yield "differences", "The scripts"
    if reproduction.table:
        yield "table1", "Table 1"
    if reproduction.sensitivity:
        yield "sensitivity", "Sensitivity"
    yield "made", "How it was made"


def _experiment(experiment: Experiment, results: Comparison, pictures: Mapping[str, bytes]) -> Iterator[str]:
    yield html.heading(experiment.title, name=experiment.name)
    size = f"T = {experiment.horizon:,}, {next(iter(results.values())).runs:,} runs"
    yield html.paragraph(f"{experiment.bandit!r}, {size}.")
    yield html.picture(pictures[experiment.name], f"mean regret against rounds, {size}", _CURVES_NOTE)
    caption = "± is the standard error of the mean; “apart by” counts standard errors of the difference"
    yield html.table(_FIGURE_HEADER, _figure_rows(experiment, results), caption=caption, numbers=range(1, 7))
    yield html.picture(pictures[f"{experiment.name}-details"], "details of the same runs", _DETAILS_NOTE)


def claim_rows(verdicts: list[Verdict]) -> list[tuple[str, ...]]:
    """One a verdict; a claim that is checked in several experiments is spelt out once."""
    names = [verdict.claim for verdict in verdicts]
    first = [place == names.index(name) for place, name in enumerate(names)]
    return [
        (
            *((each.claim, each.criterion) if is_first else ("", "")),
            each.experiment,
            "holds" if each.holds else "does not hold",
            each.numbers,
        )
        for each, is_first in zip(verdicts, first, strict=True)
    ]


def table_rows(rows: list[Growth]) -> list[tuple[str, ...]]:
    """Table 1: what the paper states beside what was measured."""
    stated = {row.policy: row for row in table()}
    return [
        (
            growth.policy,
            type(TABLE[growth.policy].bandit).__name__,
            f"{scientific(growth.short.horizon)}, {scientific(growth.long.horizon)}",
            f"{growth.constant:.3g}",
            _text(growth.slope),
            stated[growth.policy].commitment,
            *(_per_log(growth, power) for power in (1, 2)),
            _text(growth.exponent) if growth.exponent else "-",
            stated[growth.policy].confidence,
            count_text(growth.short.digest().wrong),
        )
        for growth in rows
    ]


def _per_log(growth: Growth, power: int) -> str:
    if growth.commitments is None:
        return "-"
    pairs = zip(growth.commitments, (growth.short, growth.long), strict=True)
    return ", ".join(f"{mean.value / math.log(result.horizon) ** power:.3g}" for mean, result in pairs)


def _text(mean: Mean) -> str:
    digits = 3 if 0.0 < mean.sem < 0.005 else 2
    return f"{mean.value:.{digits}f} ± {mean.sem:.{digits}f}" if mean.sem > 0.0 else f"{mean.value:.2f}"


def _figure_rows(experiment: Experiment, results: Comparison) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for label, result in results.items():
        clean, scripts = experiment.elsewhere[label]
        digest = result.digest()
        apart = (digest.regret.value - clean.regret) / math.hypot(digest.regret.sem, clean.sem)
        rows.append(
            (
                label,
                mean_text(digest.regret),
                "-" if clean == UNKNOWN else f"{clean.regret:.2f} ± {clean.sem:.2f}",
                "-" if clean == UNKNOWN else f"{apart:+.1f} s.e.",
                f"{scripts.regret:.2f} ± {scripts.sem:.2f}",
                percent(digest.committed),
                median_text(digest),
                count_text(digest.wrong),
            )
        )
    return rows


def _made_rows(reproduction: Reproduction) -> list[tuple[str, ...]]:
    return [
        (
            section,
            result.label,
            as_text(result.meta["policy"]),
            as_text(result.meta["bandit"]),
            scientific(result.horizon),
            f"{result.runs:,}",
            f"{result.meta['seconds']:.2f}",
        )
        for section, results in reproduction.simulations().items()
        for result in results
    ]
