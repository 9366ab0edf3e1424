"""A module that was compiled against other declarations of the core is not imported."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.extensions import build_cython

import robai
from robai._core import abi

CORE = Path(robai.get_include()) / "robai" / "_core"
ABI = int(re.search(r"ABI = (\d+)", (CORE / "protocols.pxd").read_text())[1])


def test_there_is_one_number():
    assert hasattr(abi, f"Abi{ABI}")
    for suffix in ("pxd", "pyx"):
        source = CORE / f"abi.{suffix}"
        if source.exists():
            assert set(re.findall(r"Abi(\d+)", source.read_text())) == {str(ABI)}


def test_whatever_is_declared_asks_for_it():
    """What can be subclassed is in a file that cimports, itself or by others, abi.pxd."""
    cimport = re.compile(r"^from robai\._core(?:\.(\w+) cimport| cimport (\w+))", re.M)

    def reached(name):
        yield name
        for first, second in cimport.findall((CORE / f"{name}.pxd").read_text()):
            yield from reached(first or second)

    for name in ("rng", "families", "protocols", "bounds", "explore_index", "engine"):
        assert "abi" in reached(name)


def test_another_number_has_both_in_its_error():
    with pytest.raises(
        ImportError, match=rf"compiled for ABI 7 of robai's core, .* has ABI {ABI}: compile it again"
    ):
        _ = abi.Abi7
    with pytest.raises(AttributeError, match="nothing"):
        _ = abi.nothing


def imported(folder, before=""):
    search = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{before}import moss; print(moss.MossLevel(100, 2).share)"],
        cwd=folder, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": search},
    )  # fmt: skip


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """Declarations of another number, with a larger class that has one more method."""
    other = tmp_path_factory.mktemp("other") / "robai" / "_core"
    other.mkdir(parents=True)
    for package in (other, other.parent):
        (package / "__init__.py").touch()
    for path in CORE.glob("*.pxd"):
        text = (
            path.read_text().replace(f"Abi{ABI}", f"Abi{ABI + 1}").replace(f"ABI = {ABI}", f"ABI = {ABI + 1}")
        )
        if path.name == "levels.pxd":
            more = "    cdef double more\n    cdef int other(self)\n    cdef double at("
            assert text.count("    cdef double at(") == 1
            text = text.replace("    cdef double at(", more)
        (other / path.name).write_text(text)
    return other.parents[1]


def test_a_rule_for_other_declarations(other, tmp_path):
    build_cython(tmp_path, include=str(other))
    found = imported(tmp_path)
    assert found.returncode == 1
    last = found.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: this module was compiled for ABI {ABI + 1} of robai's core")
    assert last.endswith(f"has ABI {ABI}: compile it again")


def test_a_rule_for_these_declarations(tmp_path):
    build_cython(tmp_path)
    assert imported(tmp_path).stdout == "50.0\n"


def test_a_rule_with_static_classes_is_refused_by_a_core_that_has_none(tmp_path):
    """As that of a wheel of the stable ABI."""
    if "static_classes" not in vars(abi):
        pytest.skip("this is such a core, and the rule could not be compiled as the page says")
    build_cython(tmp_path)
    found = imported(tmp_path, before="from robai._core import abi; del abi.static_classes; ")
    assert found.returncode == 1
    assert "ImportError: this robai is of the stable ABI" in found.stderr.splitlines()[-1]
    assert "CYTHON_USE_TYPE_SPECS=1" in found.stderr
