"""The programs of docs/extending.md that need a compiler or files; the others are run with all pages."""

import os
import re
import subprocess
import sys

import pytest
from support.extensions import TEXT, block, build_c, build_cython

import robai
from robai import rules

EXAMPLES = {
    "moss_index.c",
    "moss_index.sh",
    "libmoss.py",
    "my_rules.py",
    "pool.py",
    "moss.pyx",
    "setup.py",
    "moss_rule.py",
}


def run(folder, *command):
    search = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": search},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_every_block_of_the_page_is_known():
    assert set(re.findall(r"<!-- (\S+) -->\n```", TEXT)) == EXAMPLES
    fenced = re.findall(r"^```(\w+)$", TEXT, re.M)
    assert len(fenced) - fenced.count("python") == len(EXAMPLES)


def test_a_library_of_c(tmp_path):
    build_c(tmp_path)
    shown = "print(robai.simulate(moss, robai.Gaussian([0.7, 0.2]), 1000, 10, rng=0).meta['engine'])"
    assert run(tmp_path, "-c", block("libmoss.py") + shown) == "step\n"


def test_a_named_function_in_a_pool(tmp_path):
    pytest.importorskip("numba")
    for name in ("my_rules.py", "pool.py"):
        (tmp_path / name).write_text(block(name))
    assert "UCB(level=MOSS)" in run(tmp_path, "pool.py")


def test_a_rule_of_cython(tmp_path):
    build_cython(tmp_path)
    shown = "print(robai.simulate(moss, robai.Gaussian([0.7, 0.2]), 10**12, 10, rng=0).meta['engine'])"
    assert run(tmp_path, "-c", block("moss_rule.py") + shown) == "leap\n"


def test_the_signatures_are_those_of_the_classes():
    for name, kind in (("level", rules.Level), ("index", rules.Index), ("stop", rules.Stop)):
        declared = re.search(rf"(\w+) {name}\(([^)]*)\)", TEXT)
        c_types = [declared[1], *(each.rsplit(" ", 1)[0].strip() for each in declared[2].split(","))]
        names = {"float64": "double", "int64": "int64_t"}
        found = re.findall(r"CPointer\(\w+\)|\w+", kind.signature)
        assert c_types == [
            f"const {names[each[9:-1]]}*" if each.startswith("CPointer") else names[each] for each in found
        ]


def test_the_page_names_what_there_is():
    for name in re.findall(r"`rules\.(\w+)", TEXT):
        assert hasattr(rules, name), name
    assert robai.get_include()
