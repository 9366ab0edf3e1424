"""The recipes of docs/cluster.md run, with the same numbers as threads; the page shows them as they are."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "examples" / "cluster"
PAGE = (ROOT / "docs" / "cluster.md").read_text()
# The module that it needs, and what comes before and after its name on the command line.
COMMANDS = {
    "processes": (None, [], [[]]),
    "array_job": (None, [], [["0"], ["1"], ["collect"]]),
    "loky_pool": ("joblib", [], [[]]),
    "dask_cluster": ("distributed", [], [[]]),
    "ray_cluster": ("ray", [], [[]]),
    "mpi_ranks": ("mpi4py", ["-m", "mpi4py.futures"], [[]]),
}
# More ranks than cores, and in a container as root.
MPI = ("rmaps_base_oversubscribe", "ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_recipe_finds_what_threads_find(name, tmp_path):
    module, before, calls = COMMANDS[name]
    if module is not None and importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    start = [sys.executable]
    if name == "mpi_ranks":
        if shutil.which("mpiexec") is None:
            pytest.skip("there is no mpiexec")
        start = ["mpiexec", "-n", "3", *start]
    settings = os.environ | {f"OMPI_{'MCA_' * each.islower()}{each}": "1" for each in MPI}
    settings.pop("PYTHONSAFEPATH")  # a recipe imports its experiment from beside it
    for after in calls:
        ran = subprocess.run(
            [*start, *before, str(RECIPES / f"{name}.py"), *after],
            cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
    assert "\nThompsonSampling()  1,000  " in ran.stdout  # which `check` prints when all is equal


def test_the_check_of_the_recipes_can_fail(monkeypatch):
    monkeypatch.syspath_prepend(str(RECIPES))
    import experiment

    monkeypatch.setitem(experiment.GAME, "runs", 20)
    played = experiment.play(workers=1)
    monkeypatch.setitem(experiment.GAME, "rng", 1)
    with pytest.raises(AssertionError):
        experiment.check(played)


def test_the_page_shows_the_recipes_as_they_are():
    shown = dict(re.findall(r"<!-- (\w+)\.py -->\n```py\n(.*?)```", PAGE, re.S))
    assert shown.keys() == COMMANDS.keys() | {"experiment"} == {path.stem for path in RECIPES.glob("*.py")}
    for name, text in shown.items():
        written = (RECIPES / f"{name}.py").read_text()
        assert written.endswith(f'"""\n\n{text}'), name
    assert len(re.findall(r"^```py$", PAGE, re.M)) == len(shown)
