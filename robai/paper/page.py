"""The page of a report, and its tables as people read them: rows of texts by the names of their columns."""

import math
import time
from collections.abc import Iterator, Mapping
from itertools import groupby

from robai._base.intervals import Mean
from robai._base.spec import as_text
from robai._base.text import percent
from robai.paper.claims import Verdict
from robai.paper.experiments import DIFFERENCES, FIGURES, SENSITIVITY
from robai.paper.reproduction import Growth, Played, Reproduction, scientific
from robai.report import html
from robai.report.html import Section
from robai.result.text import count_text, mean_text, median_text
from robai.theory import table

_PAPER = (
    "Q. Zhang and L. Ying, “Fast and Regret Optimal Best Arm Identification: Fundamental Limits and "
    "Low-Complexity Algorithms”, NeurIPS 2023, arXiv 2309.00591."
)
_SCRIPTS_NOTE = (
    "The column “like the scripts” above is by a program that behaves like the authors' published MATLAB "
    "scripts (thumichzqn/fastROBAI, d678c1c), “clean elsewhere” by one that plays the paper as printed; both "
    "were written independently of this package. Where the first differs from ours, this is why:"
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
    scale = "a quick look with few runs" if reproduction.quick else "full scale"
    seconds = reproduction.seconds
    duration = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
    introduction = (
        f"This is {scale}, played in {duration}. {headline(reproduction.verdicts)} Parameters, versions and "
        "seed are at the end; figures, numbers and arrays are in the files beside this page."
    )
    parts = [html.paragraph(_PAPER), html.paragraph(introduction)]
    return html.page(title, parts, list(_sections(reproduction, pictures, versions)))


def _sections(
    reproduction: Reproduction, pictures: Mapping[str, bytes], versions: Mapping[str, str]
) -> Iterator[Section]:
    if reproduction.verdicts:
        yield Section("claims", "Claims", "Claims", [html.table(_claim_rows(reproduction.verdicts))])
    figures = list(reproduction.played(FIGURES))
    for played in figures:
        title = played.experiment.title
        yield Section(played.name, title.split(":")[0], title, _figure(played, pictures))
    if figures:
        parts = [html.paragraph(_SCRIPTS_NOTE), html.definitions(DIFFERENCES)]
        yield Section("differences", "The scripts", "Where the published scripts differ", parts)
    if reproduction.table:
        text = "regret and commitment time against the horizon"
        parts = [
            html.table(table_rows(reproduction.table), numbers=_TABLE_NUMBERS),
            html.paragraph(_TABLE_NOTE),
            html.picture(pictures["scaling"], text, _SCALING_NOTE),
        ]
        yield Section("table1", "Table 1", "Table 1, measured", parts)
    if any(reproduction.played(SENSITIVITY)):
        text = "regret and commitment time of EOCP and EOCP-UG against c"
        parts = [html.picture(pictures["sensitivity"], text, _SENSITIVITY_NOTE)]
        yield Section("sensitivity", "Sensitivity", "How much c matters", parts)
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
    rows = _figure_rows(played)
    size = f"T = {played.first.horizon:,}, {played.first.runs:,} runs"
    caption = "± is the standard error of the mean; “apart by” counts standard errors of the difference"
    return [
        html.paragraph(f"{played.experiment.bandit!r}, {size}."),
        html.picture(pictures[played.name], f"mean regret against rounds, {size}", _CURVES_NOTE),
        html.table(rows, caption=caption, numbers=list(rows[0])[1:-1]),
        html.picture(pictures[f"{played.name}-details"], "details of the same runs", _DETAILS_NOTE),
    ]


def _figure_rows(played: Played) -> list[dict[str, str]]:
    rows = []
    for label, result in played.results.items():
        clean, scripts = played.experiment.elsewhere.get(label, (None, None))
        digest = result.digest()
        rows.append(
            {
                "policy": label,
                "regret": mean_text(digest.regret),
                "clean elsewhere": _text(clean),
                "apart by": _apart(digest.regret, clean),
                "like the scripts": _text(scripts),
                "committed": percent(digest.committed),
                "median at": median_text(digest),
                "wrong commitments, 95 % interval": count_text(digest.wrong),
            }
        )
    return rows


def _apart(mean: Mean, other: Mean | None) -> str:
    if other is None:
        return "-"
    return f"{(mean.value - other.value) / math.hypot(mean.sem, other.sem):+.1f} s.e."


def table_rows(growths: list[Growth]) -> list[dict[str, str]]:
    """Table 1: what the paper states beside what was measured."""
    stated = {row.policy: row for row in table()}
    return [
        {
            "policy": growth.policy,
            "bandit": growth.bandit,
            "between T": ", ".join(map(scientific, growth.horizons)),
            "regret / log T, paper": f"{growth.constant:.3g}",
            "measured slope": _text(growth.slope),
            "commitment, paper": stated[growth.policy].commitment,
            "T_c / log T": _per_log(growth, 1),
            "T_c / log² T": _per_log(growth, 2),
            "p, if T_c grows like log^p T": _text(growth.exponent),
            "confidence, paper": stated[growth.policy].confidence,
            "wrong commitments, 95 % interval": count_text(growth.wrong if growth.wrong.committed else None),
        }
        for growth in growths
    ]


_TABLE_NUMBERS = (
    "regret / log T, paper",
    "measured slope",
    "T_c / log T",
    "T_c / log² T",
    "p, if T_c grows like log^p T",
)
TABLE_ON_A_TERMINAL = (
    "policy",
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


def _text(mean: Mean | None) -> str:
    if mean is None:
        return "-"
    digits = 3 if 0.0 < mean.sem < 0.005 else 2
    return f"{mean.value:.{digits}f} ± {mean.sem:.{digits}f}" if mean.sem > 0.0 else f"{mean.value:.2f}"


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
        for section, result in reproduction.simulations()
    ]
