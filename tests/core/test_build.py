"""The slow builds of setup.py find what they are for: a planted module is built by its settings."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PLANTED = """
from libc.stdint cimport int64_t

cdef double read(const double[::1] values, Py_ssize_t place) noexcept nogil:
    return values[place]

def value_at(const double[::1] values, Py_ssize_t place):
    return read(values, place)

def twice(int64_t number):
    return 2 * number
"""

TESTS = """
import numpy as np
import pytest
from robai._core.planted import value_at

@pytest.mark.parametrize("place", [-1, 0, 2, 3])
def test_reading(place):
    value_at(np.zeros(3), place)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="compilers differ in what they can check")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with the setup.py of this one and a single module of the core, which has errors."""
    pytest.importorskip("Cython")
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "setup.py", folder)
    core = folder / "robai" / "_core"
    core.mkdir(parents=True)
    for package in (folder / "robai", core):
        (package / "__init__.py").touch()
    (core / "planted.pyx").write_text(PLANTED)
    (folder / "test_planted.py").write_text(TESTS)
    return folder


def run(project, *command, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ROBAI_")}
    return subprocess.run(
        [sys.executable, *command], cwd=project, capture_output=True, text=True,
        env=environment | {"PYTHONPATH": str(project)} | variables,
    )  # fmt: skip


def checks_indices(project, **variables):
    """Does a build with these variables check indices? It must not matter what was built there before."""
    made = run(project, "setup.py", "--name", **variables)
    assert made.returncode == 0, made.stderr
    return "__Pyx_RaiseBufferIndexError(" in (project / "robai" / "_core" / "planted.c").read_text()


def test_indices_are_checked_where_that_is_asked_for(project):
    assert not checks_indices(project)
    assert checks_indices(project, ROBAI_DEBUG="1")
    assert not checks_indices(project, ROBAI_DEBUG="0")
    assert checks_indices(project, ROBAI_DEBUG="1")
    assert not checks_indices(project, ROBAI_DEBUG="")


def test_only_what_has_changed_is_made_again(project):
    core = project / "robai" / "_core"
    assert not checks_indices(project)
    os.utime(core / "planted.pyx", (1000, 1000))
    os.utime(core / "planted.c", (2000, 2000))  # older than Cython, as in an isolated build
    assert "Cythonizing" not in run(project, "setup.py", "--name").stdout
    os.utime(core / "planted.pyx", (3000, 3000))
    assert "Cythonizing" in run(project, "setup.py", "--name").stdout


def test_the_slow_builds_find_what_they_are_for(project):
    built = run(project, "setup.py", "build_ext", "--inplace", ROBAI_DEBUG="1", ROBAI_SANITIZE="undefined")
    assert built.returncode == 0, built.stderr

    # An index error in code that cannot raise is only printed; it has to fail a test all the same.
    tests = run(
        project, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", ".", "test_planted.py"
    )
    assert "2 failed, 2 passed" in tests.stdout, tests.stdout
    assert "test_reading[-1]" in tests.stdout
    assert "test_reading[3]" in tests.stdout

    overflow = run(project, "-c", "from robai._core.planted import twice; twice(2**62)")
    assert overflow.returncode != 0
    assert "signed integer overflow" in overflow.stderr
