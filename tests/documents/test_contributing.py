"""The worked example of CONTRIBUTING.md is compiled, started and compared with its reference."""

import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import reference

import robai
from robai._core.rng import seed_block

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()

BUILD = """
import sys
import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
sys.argv = ["setup.py", "build_ext", "--inplace", "--quiet"]
extension = Extension("moss", ["moss.pyx"], include_dirs=[numpy.get_include()])
setup(ext_modules=cythonize([extension], include_path=[{include!r}], language_level=3, quiet=True))
"""


def block(name):
    return re.search(rf"<!-- {re.escape(name)} -->\n```\w+\n(.*?)```", TEXT, re.S)[1]


@pytest.fixture
def moss_bound(tmp_path, monkeypatch):
    pytest.importorskip("Cython")
    (tmp_path / "moss.pyx").write_text(block("moss.pyx"))
    script = BUILD.format(include=robai.get_include())
    build = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    monkeypatch.syspath_prepend(tmp_path)
    names = {"__name__": "example"}
    exec(block("moss.py"), names)
    return names["MossBound"]


def test_the_package_has_the_declarations_of_its_core():
    core = Path(robai.get_include()) / "robai" / "_core"
    declared = {path.name for path in (ROOT / "robai" / "_core").glob("*.pxd")}
    assert "protocols.pxd" in declared
    assert declared == {path.name for path in core.glob("*.pxd")}


def test_the_example_plays_its_reference(moss_bound, monkeypatch):
    names = {"math": math, "log_plus": reference.log_plus}
    exec(block("reference"), names)
    monkeypatch.setitem(
        reference.POLICIES,
        robai.Policy,
        lambda policy: (reference.over_arms(names["moss"]), reference.never, None, 1),
    )
    policy = robai.Policy(explore=moss_bound(sigma=1.0))
    bandit = robai.Bernoulli([0.7, 0.2, 0.5])
    result = robai.simulate(policy, bandit, 400, 4, rng=0, times=range(1, 401), curves=True, engine="step")
    for run, state in enumerate(seed_block((0,), (), 0)[:4]):
        arms, *_ = reference.play(policy, bandit, 400, state)
        assert np.cumsum(result.gaps[arms]) == pytest.approx(result.curves[run])


def test_the_example_leaps(moss_bound):
    policy = robai.Policy(explore=moss_bound(sigma=1.0))
    step, leap = (
        robai.simulate(policy, robai.Gaussian([1.0, 0.0]), 10**4, 1000, rng=1, engine=engine)
        for engine in ("step", "leap")
    )
    error = math.hypot(step.regret_sem[-1], leap.regret_sem[-1])
    assert abs(step.regret[-1] - leap.regret[-1]) < 5 * error
