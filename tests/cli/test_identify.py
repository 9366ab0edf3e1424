"""`robai identify` on the command line."""

import json

import pytest

import robai
from robai.cli import main

GAME = ["--bandit", "bernoulli", "--means", "0.8,0.3,0.2", "--runs", "40", "--rng", "1"]
BANDIT = robai.Bernoulli([0.8, 0.3, 0.2])


def run(capsys, *arguments):
    code = main(["identify", *arguments])
    return (code, *capsys.readouterr())


def test_one_policy_is_a_page_and_several_are_a_table(capsys):
    code, out, err = run(capsys, "--policy", "track-and-stop", *GAME, "--delta", "0.1")
    found = robai.identify(robai.TrackAndStop(), BANDIT, delta=0.1, runs=40, rng=1)
    assert (code, err) == (0, "")
    assert out.splitlines()[:-1] == found.summary().splitlines()[:-1]  # the last line has the seconds
    policies = ["--policy", "track-and-stop", "--policy", "action-elimination"]
    _, out, _ = run(capsys, *policies, *GAME, "--delta", "0.1")
    named = [robai.TrackAndStop(), robai.ActionElimination()]
    assert out.strip() == robai.identify(named, BANDIT, delta=0.1, runs=40, rng=1).summary()


def test_budgets_as_json(capsys):
    _, out, _ = run(capsys, "--policy", "ucb", *GAME, "--budget", "20", "--json")
    assert [each["budget"] for each in json.loads(out)] == [20]  # a list, also of one
    _, out, _ = run(capsys, "--policy", "ucb", *GAME, "--budget", "20,1e2", "--json")
    found = robai.identify(robai.UCB(), BANDIT, budget=[20, 100], runs=40, rng=1)
    records = json.loads(out)
    assert [each["budget"] for each in records] == [20, 100]
    assert [each["failure"] for each in records] == [each.failure().rate for each in found.values()]


def test_a_horizon_of_1e100_is_written_into_a_directory_again_and_again(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    arguments = ["--policy", "eocp-ug", "--means", "1,0", "--horizon", "1e100", "--runs", "10", "--rng", "0"]
    for _ in range(2):
        code, text, _ = run(capsys, *arguments, "--out", str(out))
        assert code == 0
        assert "horizon 1e100" in text
    found = robai.Identifications.load(out / "identification.npz")
    assert found["EOCPUG()"].horizon == 1e100
    report = json.loads((out / "report.json").read_text())
    assert report["identifications"][0]["horizon"] == 1e100
    assert sorted(report["files"]) == [
        *("error.png", "identification.npz", "proportions.png", "stopping-time.png", "summary.txt")
    ]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([], "one of delta, budget and horizon must be given, got none"),
        (["--delta", "0.1", "--budget", "9"], "delta and budget exclude each other"),
        (["--delta", "2"], "delta must be between 0 and 1, got 2.0"),
        (["--horizon", "1e200"], "horizon must be from 1 to 1e+100"),
        (["--delta", "0.1", "--policy", "ucb"], "UCB() never stops"),
        (["--delta", "0.1", "--gap", "1"], "--gap is a parameter of none of the policies"),
        (["--dleta", "0.1"], "no option of robai identify '--dleta'; did you mean --delta"),
    ],
)
def test_arguments_that_make_no_sense(capsys, asked, message):
    code, out, err = run(capsys, "--policy", "track-and-stop", *GAME, *asked)
    assert (code, out) == (2, "")
    assert message in err


def test_without_a_seed_the_one_used_is_told(capsys):
    _, out, _ = run(capsys, "--policy", "track-and-stop", *GAME[:-2], "--delta", "0.1")
    assert out.splitlines()[-1].startswith("to repeat: --rng ")
