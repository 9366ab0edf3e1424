"""The report of `robai reproduce`: one page with figures, tables and claims, and the numbers behind them."""

import csv
import io
import json
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from robai import plotting
from robai._base.directory import MANIFEST
from robai._base.spec import as_text
from robai._base.version import VERSION
from robai.paper.claims import Verdict
from robai.paper.growth import Growth
from robai.paper.page import page
from robai.paper.reproduction import Reproduction
from robai.paper.study import Growing, Varying
from robai.plotting.style import QUANTITIES, new_figure, one_colour_each
from robai.theory import lai_robbins

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_files(reproduction: Reproduction, directory: Path) -> None:
    """Write index.html, figures (PNG, SVG), numbers (CSV), arrays (.npz) and report.json."""
    for name in ("figures", "numbers", "arrays"):
        (directory / name).mkdir()
    with one_colour_each(reproduction.study.labels):
        drawn = _draw(reproduction)
    for name, figure in drawn.items():
        if layout := figure.get_layout_engine():
            layout.execute(figure)
            figure.set_layout_engine("none")  # once is enough for both formats
        (directory / "figures" / f"{name}.svg").write_bytes(_svg(figure, name))
        figure.savefig(directory / "figures" / f"{name}.png", dpi=150)
    found = summary(reproduction)
    for name, data in _numbers(reproduction, found).items():
        (directory / "numbers" / f"{name}.csv").write_bytes(data)
    for experiments in reproduction.study.sections.values():
        for played in reproduction.played(experiments):
            saved = played.results if len(played.results) > 1 else played.first
            saved.save(directory / "arrays" / f"{played.name}.npz")
    files = sorted(each.relative_to(directory).as_posix() for each in directory.rglob("*") if each.is_file())
    text = page(reproduction, found["versions"], {name: quote(name) for name in [*files, MANIFEST]})
    (directory / "index.html").write_text(text, encoding="utf-8")
    files = sorted([*files, "index.html"])
    (directory / MANIFEST).write_text(json.dumps(found | {"files": files}, indent=1, allow_nan=False))


def summary(reproduction: Reproduction) -> dict[str, Any]:
    """What a script would read: claims, and a record of every simulation."""
    import matplotlib as mpl

    growing = reproduction.study.growing
    return {
        "study": reproduction.study.name,
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
        **({growing.name: [_growth_record(growth) for growth in reproduction.growth]} if growing else {}),
        "simulations": [
            {"section": section} | experiment.record(result)
            for section, experiment, result in reproduction.simulations()
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
    growing = reproduction.study.growing
    for name in ("simulations", *([growing.name] if growing else [])):
        if records := found[name]:
            texts = (
                [as_text(it) if isinstance(it, dict) else it for it in each.values()] for each in records
            )
            numbers[name] = csv_bytes(records[0], texts)
    for played in reproduction.played(reproduction.study.figures):
        experiment = played.experiment
        name = f"{played.name}-{experiment.quantity.replace(' ', '-')}"
        numbers[name] = csv_bytes(*experiment.numbers(played.results))
    return numbers


def csv_bytes(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()


def _draw(reproduction: Reproduction) -> "dict[str, Figure]":
    """Every figure of the report, by name."""
    study = reproduction.study
    figures = {
        f"{played.name}{picture.suffix}": figure
        for played in reproduction.played(study.figures)
        for picture, figure in zip(
            played.experiment.pictures, played.experiment.draw(played.results), strict=True
        )
    }
    if study.growing and reproduction.growth:
        figures["scaling"] = _scaling(reproduction, study.growing)
    if study.varying and any(reproduction.played(study.varying.experiments)):
        figures[study.varying.name] = _variation(reproduction, study.varying)
    return figures


def _scaling(reproduction: Reproduction, growing: Growing) -> "Figure":
    """Regret and commitment over horizons."""
    drawn = {name: growing.experiments[name] for name in growing.drawn}
    results = [result for played in reproduction.played(drawn) for result in played.results.values()]
    figure = new_figure(11, 4)
    left, right = figure.subplots(1, 2)
    plotting.plot_scaling(results, left, lower_bound=lai_robbins(drawn[growing.drawn[0]].bandit))
    plotting.plot_scaling(results, right, quantity="commitment")
    return figure


def _variation(reproduction: Reproduction, varying: Varying) -> "Figure":
    figure = new_figure(11, 4)
    results = {
        played.experiment.title: list(played.results.values())
        for played in reproduction.played(varying.experiments)
    }
    experiment, policy = varying.reference
    level = reproduction.results.get(experiment)
    for ax, quantity in zip(figure.subplots(1, 2), QUANTITIES, strict=True):
        plotting.plot_parameter(
            results,
            varying.values,
            ax,
            name=varying.parameter,
            quantity=quantity,
            reference=level[0][policy] if level and quantity == "regret" else None,
        )
    return figure


def _svg(figure: "Figure", name: str) -> bytes:
    """The same bytes for the same drawing: no date, and identifiers from the name."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
