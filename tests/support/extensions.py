"""Rules compiled outside the package, as docs/extending.md shows them."""

import functools
import math
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support import reference

from robai import rules
from robai._core import probes
from robai._core.rng import seed_block

TEXT = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()


def block(name):
    """The program of that name on the page."""
    return re.search(rf"<!-- {re.escape(name)} -->\n```\w+\n(.*?)```", TEXT, re.S)[1]


def build_c(folder):
    """Compile moss_index.c as the page says; the library's path."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler, cc")
    (folder / "moss_index.c").write_text(block("moss_index.c"))
    built = subprocess.run(block("moss_index.sh"), shell=True, cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder / "libmoss.so"


def build_cython(folder, include=None):
    """Compile moss.pyx as the page says, against the installed package or another one; once a session."""
    pytest.importorskip("Cython", reason="Cython is not installed")
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler, cc")
    name, content = _built(include)
    (folder / name).write_bytes(content)
    return folder / name


@functools.cache
def _built(include):
    setup = block("setup.py")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "moss.pyx").write_text(block("moss.pyx"))
        (folder / "setup.py").write_text(
            setup.replace("robai.get_include()", repr(include)) if include else setup
        )
        build = subprocess.run(
            [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
            cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        assert build.returncode == 0, build.stderr
        [library] = [path for path in folder.glob("moss*") if path.suffix in (".so", ".pyd")]
        return library.name, library.read_bytes()


def moss(x, a):
    """The index of MOSS, in the state of a reference run."""
    return x.mean(a) + math.sqrt(4 / x.n[a] * reference.log_plus(x.horizon / (x.K * x.n[a])))


def reference_arms(index, bandit, horizon, seed, run):
    """The arms of a run of `simulate(rng=seed)` that pulls the largest index."""
    stream = probes.Draws(seed_block((seed,), (), 0)[run])
    x, arms = reference.State(bandit, horizon, stream), []
    for t in range(horizon):
        arm = t if t < x.K else x.argmax([index(x, a) for a in range(x.K)])
        x.pull(arm)
        arms.append(arm)
    return arms


# Functions that other processes can import; compiled in the sense that they have an address.


@rules.Level.ctypes_signature
def moss_level(pulls, t, horizon, arms):
    return 2 * math.log(max(horizon / (arms * pulls), 1.0))


@rules.Index.ctypes_signature
def moss_index(pulls, total, squares, t, horizon, arms):
    return total / pulls + math.sqrt(4 / pulls * math.log(max(horizon / (arms * pulls), 1.0)))


@rules.Stop.ctypes_signature
def after_100(arms, t, horizon, pulls, sums, squares):
    return t >= 100


def plain(pulls, t, horizon, arms):
    return 1.0
