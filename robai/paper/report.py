"""The report of `robai reproduce`: one page with figures, tables and claims, and the numbers behind them."""

import csv
import io
import json
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robai import plotting
from robai._base.directory import MANIFEST
from robai._base.spec import as_text
from robai._base.version import VERSION
from robai.paper.claims import Verdict
from robai.paper.experiments import FIGURES, INFLATIONS, SECTIONS, SENSITIVITY, TABLE
from robai.paper.page import page
from robai.paper.reproduction import Growth, Reproduction
from robai.plotting.style import QUANTITIES, new_figure
from robai.result import Comparison
from robai.result.digest import record
from robai.theory import lai_robbins

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_files(reproduction: Reproduction, directory: Path) -> None:
    """Write index.html, figures (PNG, SVG), numbers (CSV), arrays (.npz) and report.json."""
    for name in ("figures", "numbers", "arrays"):
        (directory / name).mkdir()
    pictures = {}
    for name, figure in _draw(reproduction).items():
        if layout := figure.get_layout_engine():
            layout.execute(figure)
            figure.set_layout_engine("none")  # once is enough for both formats
        pictures[name] = _svg(figure, name)
        (directory / "figures" / f"{name}.svg").write_bytes(pictures[name])
        figure.savefig(directory / "figures" / f"{name}.png", dpi=150)
    found = summary(reproduction)
    for name, data in _numbers(reproduction, found).items():
        (directory / "numbers" / f"{name}.csv").write_bytes(data)
    for experiments in SECTIONS.values():
        for played in reproduction.played(experiments):
            saved = played.results if len(played.results) > 1 else played.first
            saved.save(directory / "arrays" / f"{played.name}.npz")
    (directory / "index.html").write_text(page(reproduction, pictures, found["versions"]), encoding="utf-8")
    files = sorted(each.relative_to(directory).as_posix() for each in directory.rglob("*") if each.is_file())
    (directory / MANIFEST).write_text(json.dumps(found | {"files": files}, indent=1, allow_nan=False))


def summary(reproduction: Reproduction) -> dict[str, Any]:
    """What a script would read: claims, and a record of every simulation."""
    import matplotlib as mpl

    return {
        "quick": reproduction.quick,
        "entropy": str(reproduction.entropy),
        "seconds": reproduction.seconds,
        "versions": {
            "robai": VERSION,
            "numpy": np.__version__,
            "matplotlib": mpl.__version__,
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
        },
        "claims": [verdict._asdict() for verdict in reproduction.verdicts],
        "table1": [_growth_record(growth) for growth in reproduction.table],
        "simulations": [
            {"section": section} | record(result) for section, result in reproduction.simulations()
        ],
    }


def _growth_record(growth: Growth) -> dict[str, Any]:
    first, second = growth.commitments or (None, None)
    return {
        "policy": growth.policy,
        "horizon_short": growth.horizons[0],
        "horizon_long": growth.horizons[1],
        "slope": growth.slope.value,
        "slope_sem": growth.slope.sem,
        "constant": growth.constant,
        "commit_time_short": first and first.value,
        "commit_time_long": second and second.value,
        "commit_exponent": growth.exponent and growth.exponent.value,
        "commit_exponent_sem": growth.exponent and growth.exponent.sem,
        "wrong_commits": growth.wrong.count,
        "committed": growth.wrong.committed,
        "wrong_commit_high": growth.wrong.high,
    }


def _numbers(reproduction: Reproduction, found: dict[str, Any]) -> dict[str, bytes]:
    numbers = {"claims": csv_bytes(Verdict._fields, reproduction.verdicts)}
    for name in ("simulations", "table1"):
        if records := found[name]:
            texts = (
                [as_text(it) if isinstance(it, dict) else it for it in each.values()] for each in records
            )
            numbers[name] = csv_bytes(records[0], texts)
    for played in reproduction.played(FIGURES):
        rounds = (
            (label, *row)
            for label, result in played.results.items()
            for row in zip(result.times, result.regret, result.regret_sem, strict=True)
        )
        numbers[f"{played.name}-regret"] = csv_bytes(("policy", "round", "regret", "regret_sem"), rounds)
    return numbers


def csv_bytes(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()


def _draw(reproduction: Reproduction) -> "dict[str, Figure]":
    """Every figure of the report, by name."""
    figures: dict[str, Figure] = {}
    for played in reproduction.played(FIGURES):
        figures[played.name] = new_figure(7.5, 4.5)
        bound = lai_robbins(played.experiment.bandit)
        ax = played.results.plot(figures[played.name].subplots(), lower_bound=bound)
        ax.set_title(f"{played.experiment.title}, {played.first.runs:,} runs", pad=36)
        figures[f"{played.name}-details"] = _details(played.results)
    if reproduction.table:
        figures["scaling"] = _scaling(reproduction)
    if any(reproduction.played(SENSITIVITY)):
        figures["sensitivity"] = _sensitivity(reproduction)
    return figures


def _details(results: Comparison) -> "Figure":
    figure = new_figure(11, 4 + 1.2 * len(results))
    axes = figure.subplot_mosaic([["commitment", "tradeoff"], ["wrong", "pulls"], ["final", "final"]])
    results.plot_commitment(axes["commitment"])
    results.plot_tradeoff(axes["tradeoff"])
    results.plot_wrong_commit(axes["wrong"])
    results.plot_pulls(axes["pulls"])
    results.plot_final_regret(axes["final"])
    return figure


def _scaling(reproduction: Reproduction) -> "Figure":
    """Regret and commitment over horizons, for the policies of figure 1, left, in their colours there."""
    experiment = FIGURES["fig1-gaussian"]
    rows = {label: TABLE[label] for label in experiment.policies}
    results = [played.first for played in reproduction.played(rows)]
    figure = new_figure(11, 4)
    left, right = figure.subplots(1, 2)
    plotting.plot_scaling(results, left, lower_bound=lai_robbins(experiment.bandit))
    plotting.plot_scaling(results, right, quantity="commitment")
    return figure


def _sensitivity(reproduction: Reproduction) -> "Figure":
    figure = new_figure(11, 4)
    results = {
        played.experiment.title: list(played.results.values()) for played in reproduction.played(SENSITIVITY)
    }
    gaussian = reproduction.results.get("fig1-gaussian")
    for ax, quantity in zip(figure.subplots(1, 2), QUANTITIES, strict=True):
        plotting.plot_parameter(
            results,
            INFLATIONS,
            ax,
            name="c in l = log T + c sqrt(log T)",
            quantity=quantity,
            reference=gaussian[0]["UCB"] if gaussian and quantity == "regret" else None,
        )
    return figure


def _svg(figure: "Figure", name: str) -> bytes:
    """The same bytes for the same drawing: no date, and identifiers from the name."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
