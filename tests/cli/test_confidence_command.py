"""`robai confidence`."""

import json

import robai
from robai.cli import main

ASKED = ["confidence", "--policy", "eocp-ug", "--means", "0.7,0.2", "--relative-error", "0.1", "--rng", "3"]


def test_it_prints_what_the_function_returns(capsys):
    assert main([*ASKED, "--horizon", "100,1e12", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    bandit = robai.Gaussian([0.7, 0.2])
    for T, record in zip((100, 10**12), printed, strict=True):
        found = robai.wrong_commit(robai.EOCPUG(), bandit, T, relative_error=0.1, rng=3)
        assert record["refused"] is None
        assert {name: getattr(found, name) for name in record if name not in ("refused", "rng")} == {
            name: value for name, value in record.items() if name not in ("refused", "rng")
        }


def test_a_row_for_each_policy_and_horizon(capsys):
    assert main([*ASKED, "--policy", "ucb", "--horizon", "100,1000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[-4:]] == [
        ["EOCPUG()", "100"],
        ["EOCPUG()", "1,000"],
        ["UCB()", "100"],
        ["UCB()", "1,000"],
    ]
    assert "refused: no laws were found" in lines[-1]
    assert lines[2].split() == [
        "policy",
        "horizon",
        "wrong",
        "95",
        "%",
        "interval",
        "T",
        "x",
        "wrong",
        "runs",
    ]


def test_wrong_arguments_are_one_line(capsys):
    assert main([*ASKED, "--horizon", "1"]) == 2
    assert "horizon must be" in capsys.readouterr().err


def test_a_figure(tmp_path, capsys):
    file = tmp_path / "certainty.svg"
    assert main([*ASKED, "--policy", "ucb", "--horizon", "100,1e6", "--plot", str(file)]) == 0
    assert "EOCPUG()" in file.read_text()
    assert main([*ASKED, "--horizon", "100", "--plot", str(tmp_path / "certainty.txt")]) == 2
    assert "--plot" in capsys.readouterr().err
