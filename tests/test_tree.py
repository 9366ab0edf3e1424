"""The tree, where import-linter cannot see it: it reads Python, and compiled modules do not exist for it."""

import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "robai"
CORE = [path for path in (PACKAGE / "_core").iterdir() if path.suffix in (".pyx", ".pxd", ".pyi", ".py")]
IMPORT = re.compile(r"^\s*(?:from\s+(robai[\w.]*)\s+c?import\s+\(?([\w, ]*)|c?import\s+(robai[\w.]*))", re.M)


def imported(path):
    """The modules of robai that a file imports or cimports."""
    for package, names, module in IMPORT.findall(path.read_text()):
        if package in ("robai", "robai._core", "robai._base"):
            yield from (f"{package}.{name}" for name in re.findall(r"\w+", names))
        else:
            yield package or module


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.name)
def test_the_core_imports_the_core_and_checks(path):
    for module in imported(path):
        assert module.startswith("robai._core.") or module.startswith("robai._base.checks")


def test_the_core_has_no_cycle():
    edges = {}
    for path in CORE:  # a .pxd and its .pyx are one module
        edges.setdefault(path.stem, set()).update(
            module.split(".")[2] for module in imported(path) if module.startswith("robai._core.")
        )
    order = list(graphlib.TopologicalSorter({name: to - {name} for name, to in edges.items()}).static_order())
    assert order.index("rng") < order.index("engine") < order.index("leap")


def test_the_top_is_what_simulate_needs():
    assert len(list(PACKAGE.glob("*.py"))) <= 12


@pytest.mark.parametrize("suffix", ["py", "pyx", "pxd", "pyi"])
def test_no_file_is_two_things(suffix):
    for path in PACKAGE.rglob(f"*.{suffix}"):
        assert len(path.read_text().splitlines()) <= 450, path


def test_import_robai_loads_what_simulate_needs():
    code = (
        "import sys, numpy; before = set(sys.modules); import robai; "
        "robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 100, 1); print(*set(sys.modules) - before)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "robai.simulation" in loaded
    rooms = {name.split(".")[1] for name in loaded if name.startswith("robai.")}
    assert not rooms & {"cli", "live", "paper", "plotting", "report", "theory"}
    assert not {"argparse", "csv", "html", "numpy.ma", "statistics"} & set(loaded)
