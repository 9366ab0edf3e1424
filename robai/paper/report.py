"""The report of `robai reproduce`: one page with figures, tables and claims, and the numbers behind them."""

import csv
import io
import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robai import plotting
from robai._base.directory import MANIFEST, replacing
from robai._base.spec import as_text
from robai._base.version import VERSION
from robai.paper.claims import Verdict
from robai.paper.experiments import FIGURES, INFLATIONS, SENSITIVITY, TABLE
from robai.paper.page import page
from robai.paper.reproduction import Growth, Reproduction, scientific
from robai.plotting.style import QUANTITIES, new_figure
from robai.result import Comparison, Result
from robai.result.digest import record
from robai.theory import lai_robbins

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_report(reproduction: Reproduction, path: str | os.PathLike[str]) -> Path:
    """Write a whole report, or nothing, to a directory; what was there is replaced only if it is a report."""
    with replacing(path) as directory:
        write_files(reproduction, directory)
    return Path(path)


def write_files(reproduction: Reproduction, directory: Path) -> None:
    """Write index.html, figures (PNG, SVG), numbers (CSV), arrays (.npz) and report.json."""
    for name in ("figures", "numbers", "arrays"):
        (directory / name).mkdir()
    pictures = {}
    for name, figure in draw(reproduction).items():
        if layout := figure.get_layout_engine():
            layout.execute(figure)
            figure.set_layout_engine("none")  # once is enough for both formats
        pictures[name] = _svg(figure, name)
        (directory / "figures" / f"{name}.svg").write_bytes(pictures[name])
        figure.savefig(directory / "figures" / f"{name}.png", dpi=150)
    for name, data in _numbers(reproduction).items():
        (directory / "numbers" / f"{name}.csv").write_bytes(data)
    for name, result in _arrays(reproduction).items():
        result.save(directory / "arrays" / f"{name}.npz")
    (directory / "index.html").write_text(page(reproduction, pictures, _versions()), encoding="utf-8")
    files = sorted(each.relative_to(directory).as_posix() for each in directory.rglob("*") if each.is_file())
    text = json.dumps(summary(reproduction) | {"files": files}, indent=1, allow_nan=False)
    (directory / MANIFEST).write_text(text)


def summary(reproduction: Reproduction) -> dict[str, Any]:
    """What a script would read: claims, and a record of every simulation."""
    return {
        "quick": reproduction.quick,
        "entropy": str(reproduction.entropy),
        "seconds": reproduction.seconds,
        "versions": _versions(),
        "claims": [verdict._asdict() for verdict in reproduction.verdicts],
        "table1": [_growth_record(growth) for growth in reproduction.table],
        "simulations": [
            {"section": section} | record(result)
            for section, results in reproduction.simulations().items()
            for result in results
        ],
    }


# Figures


def draw(reproduction: Reproduction) -> "dict[str, Figure]":
    """Every figure of the report, by name."""
    figures: dict[str, Figure] = {}
    for name, results in reproduction.figures.items():
        figures[name] = new_figure(7.5, 4.5)
        bound = lai_robbins(FIGURES[name].bandit)
        ax = results.plot(figures[name].subplots(), lower_bound=bound)
        ax.set_title(f"{FIGURES[name].title}, {results['EOCP'].runs:,} runs", pad=36)
        figures[f"{name}-details"] = _details(results)
    if reproduction.table:
        figures["scaling"] = _scaling(reproduction.table)
    if reproduction.sensitivity:
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


def _scaling(rows: list[Growth]) -> "Figure":
    """Regret and commitment over horizons, for the policies of figure 1, left."""
    order = list(FIGURES["fig1-gaussian"].policies)  # and so the colours, of the figure
    drawn = sorted((row for row in rows if row.policy in order), key=lambda row: order.index(row.policy))
    results = [result for row in drawn for result in row.results]
    figure = new_figure(11, 4)
    left, right = figure.subplots(1, 2)
    plotting.plot_scaling(results, left, lower_bound=lai_robbins(TABLE[drawn[0].policy].bandit))
    plotting.plot_scaling(results, right, quantity="commitment")
    return figure


def _sensitivity(reproduction: Reproduction) -> "Figure":
    figure = new_figure(11, 4)
    results = {name: list(own.values()) for name, own in reproduction.sensitivity.items()}
    gaussian: Mapping[str, Result] = reproduction.figures.get("fig1-gaussian", {})
    for ax, quantity in zip(figure.subplots(1, 2), QUANTITIES, strict=True):
        plotting.plot_parameter(
            results,
            INFLATIONS,
            ax,
            name="c in l = log T + c sqrt(log T)",
            quantity=quantity,
            reference=gaussian.get("UCB") if quantity == "regret" else None,
        )
    return figure


def _svg(figure: "Figure", name: str) -> bytes:
    """The same bytes for the same drawing: no date, and identifiers from the name."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


# Numbers


def csv_bytes(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def _numbers(reproduction: Reproduction) -> dict[str, bytes]:
    simulations = summary(reproduction)["simulations"]
    for each in simulations:
        each |= {"policy": as_text(each["policy"]), "bandit": as_text(each["bandit"])}
    numbers = {
        "simulations": csv_bytes(list(simulations[0]), [list(each.values()) for each in simulations]),
        "claims": csv_bytes(Verdict._fields, reproduction.verdicts),
    }
    for name, results in reproduction.figures.items():
        rows = [
            (label, *row)
            for label, result in results.items()
            for row in zip(result.times, result.regret, result.regret_sem, strict=True)
        ]
        numbers[f"{name}-regret"] = csv_bytes(("policy", "round", "regret", "regret_sem"), rows)
    if reproduction.table:
        records = [_growth_record(growth) for growth in reproduction.table]
        numbers["table1"] = csv_bytes(list(records[0]), [list(each.values()) for each in records])
    return numbers


def _arrays(reproduction: Reproduction) -> dict[str, Result | Comparison]:
    arrays: dict[str, Result | Comparison] = dict(reproduction.figures)
    for growth in reproduction.table:
        arrays |= {f"table1-{growth.policy}-{scientific(each.horizon)}": each for each in growth.results}
    return arrays | {SENSITIVITY[name].name: results for name, results in reproduction.sensitivity.items()}


def _growth_record(growth: Growth) -> dict[str, Any]:
    commitments, exponent = growth.commitments, growth.exponent
    first, second = commitments or (None, None)
    return {
        "policy": growth.policy,
        "horizon_short": growth.short.horizon,
        "horizon_long": growth.long.horizon,
        "slope": growth.slope.value,
        "slope_sem": growth.slope.sem,
        "constant": growth.constant,
        "commit_time_short": first and first.value,
        "commit_time_long": second and second.value,
        "commit_exponent": exponent and exponent.value,
        "commit_exponent_sem": exponent and exponent.sem,
        "wrong_commits": growth.wrong.count,
        "committed": growth.wrong.committed,
        "wrong_commit_high": growth.wrong.high,
    }


def _versions() -> dict[str, str]:
    import matplotlib as mpl

    return {
        "robai": VERSION,
        "numpy": np.__version__,
        "matplotlib": mpl.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
