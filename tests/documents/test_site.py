"""What the site shows: scripts and notebooks run, and the reference has every public name."""

import importlib.util
import inspect
import json
import runpy
from importlib import import_module
from pathlib import Path

import pytest

import robai

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# The public modules, and that of what functions return.
MODULES = ["result", *(name for name in robai.__all__ if inspect.ismodule(getattr(robai, name)))]


@pytest.fixture
def figures(monkeypatch):
    """How many figures have been drawn; none is shown, and all are closed."""
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setenv("MPLBACKEND", "agg")
    plt.close("all")
    yield lambda: len(plt.get_fignums())
    plt.close("all")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs_and_draws(script, figures):
    assert script.read_text().startswith('"""\n')  # the title that the site shows
    runpy.run_path(str(script))
    assert figures() > 0


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_is_stored_without_outputs(notebook, figures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert not cell["outputs"]
            assert cell["execution_count"] is None
            exec("".join(cell["source"]), names)
    assert figures() > 0


def listed():
    """The names that the reference lists, with the page of each."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "_site" / "reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    lines = {page: reference.text(page).splitlines() for page in reference.MODULES}
    return [line.strip() for text in lines.values() for line in text if line.startswith("   robai.")]


def test_the_reference_has_every_public_name_once():
    found = listed()
    assert len(found) == len(set(found))
    paths = [each.rpartition(".") for each in found]
    things = {id(getattr(import_module(module), name)) for module, _, name in paths}
    for module in [robai, *(import_module(f"robai.{name}") for name in MODULES)]:
        for name in module.__all__:
            thing = getattr(module, name)
            assert inspect.ismodule(thing) or id(thing) in things, f"{module.__name__}.{name}"


def test_the_reference_has_a_page_of_every_public_module():
    index = (ROOT / "docs" / "reference" / "index.md").read_text().splitlines()
    assert set(MODULES) <= set(index)
