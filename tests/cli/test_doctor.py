"""`robai doctor`: the facts are those of this machine, and what computes wrongly fails."""

import json
import platform
import sys

import Cython
import numpy as np
import pytest

import robai
from robai.cli import doctor, main


def test_all_checks_pass_here(capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:8]] == [
        *("robai", "Python", "NumPy", "Cython", "compiler", "system", "cores", "extras"),
    ]
    assert lines[-1].startswith("all 25 checks passed in ")


def test_facts_and_checks_as_json(capsys):
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["robai"] == robai.__version__
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["gil"] is getattr(sys, "_is_gil_enabled", lambda: True)()
    assert found["cython"].split(".")[:2] == Cython.__version__.split(".")[:2]
    assert found["compiler"]
    if sys.platform == "linux":
        assert "-ffp-contract=off" in found["flags"]
    assert 1 <= found["cores_usable"] <= found["cores"]
    assert found["passed"] is True
    assert all(each["passed"] for each in found["checks"])


def test_a_bound_that_is_wrong_in_the_tenth_digit_fails(capsys, monkeypatch):
    monkeypatch.setattr(doctor.kl, "upper", lambda *arguments: robai.kl.lower(*arguments) * (1 + 1e-10))
    monkeypatch.setattr(doctor, "simulate", pytest.fail)
    monkeypatch.setattr(doctor, "_STEPPED", ())
    monkeypatch.setattr(doctor, "_PLAYED", ())
    checks = []
    for check in doctor._checks():
        checks.append(check)
        if len(checks) == 9:
            break
    assert [check.passed for check in checks] == [True, *[False, True] * 4]


def test_what_fails_is_shown_with_both_numbers(capsys, monkeypatch):
    checks = [
        doctor.Check("one", 1, 1),
        doctor.Check("pulls", [3, 4], [3, 5]),
        doctor.Check("regret", 2.5, 2.0, 0.25),
        doctor.Check("nothing", float("nan"), 2.0, 0.25),
    ]
    monkeypatch.setattr(doctor, "_checks", lambda: iter(checks))
    assert main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[8:11] == [
        "failed: pulls: [3, 4] instead of [3, 5]",
        "failed: regret: 2.5 instead of 2.0 within 0.25",
        "failed: nothing: nan instead of 2.0 within 0.25",
    ]
    assert lines[-1].startswith("3 of 4 checks failed in ")


@pytest.mark.parametrize(
    ("files", "cores", "memory"),
    [
        ({"cpu.max": "150000 100000\n", "memory.max": "2147483648\n"}, 1.5, 2**31),
        ({"cpu.max": "max 100000\n", "memory.max": "max\n"}, None, None),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5, None),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None, None),
        ({"memory/memory.limit_in_bytes": "9223372036854771712\n"}, None, None),
        ({}, None, None),
    ],
)
def test_limits_of_control_groups(tmp_path, monkeypatch, files, cores, memory):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(doctor, "_GROUPS", tmp_path)
    assert (doctor._cgroup_cores(), doctor._cgroup_memory()) == (cores, memory)
