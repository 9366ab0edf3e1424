import json
import math
import re
import subprocess
import sys

import pytest

import robai
from robai.cli import _COMMANDS, main
from robai.policies import POLICIES

GAME = ["--means", "0.7,0.2", "--horizon", "1e3", "--runs", "20", "--rng", "1"]
EOCP = ["--policy", "eocp", "--gap", "0.5"]


def run(capsys, *arguments):
    code = main(arguments)
    return (code, *capsys.readouterr())


def refused(capsys, *arguments):
    """The one sentence on standard error of a command that exits with 2."""
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("robai: error: ")
    return line


def test_simulate_prints_the_summary_of_the_same_simulation(capsys):
    code, out, err = run(capsys, "simulate", *EOCP, *GAME)
    result = robai.simulate(robai.EOCP(0.5), robai.Gaussian([0.7, 0.2]), 1000, 20, rng=1)
    assert code == 0
    assert err == ""
    assert out.splitlines()[:6] == result.summary().splitlines()[:6]


def test_without_a_seed_the_one_used_is_told(capsys):
    _, out, _ = run(capsys, "simulate", *EOCP, *GAME[:-2])
    seed = out.splitlines()[-1].removeprefix("to repeat: --rng ")
    _, first, _ = run(capsys, "simulate", *EOCP, *GAME[:-2], "--rng", seed)
    assert out.splitlines()[:10] == first.splitlines()[:10]


def test_simulate_as_json(capsys):
    code, out, _ = run(capsys, "simulate", *EOCP, *GAME, "--json")
    record = json.loads(out)
    result = robai.simulate(robai.EOCP(0.5), robai.Gaussian([0.7, 0.2]), 1000, 20, rng=1)
    assert code == 0
    assert record["regret"] == result.regret[-1]
    assert record["policy"] == {"type": "EOCP", "gap": 0.5, "inflation": 1.0, "sigma": None}
    assert record["wrong_commits"] == 0
    assert record["wrong_commit_high"] == pytest.approx(result.wrong_commit().high)
    assert len(record["pull_shares"]) == 2


LATE = ["--delay", "geometric:20", "--batch", "4", "--loss", "0.1", "--window", "60", "--missing", "0"]


def test_late_rewards(capsys):
    coins = ["--policy", "kl-eocp-ug", "--bandit", "bernoulli", "--means", "0.9,0.2", *GAME[2:]]
    way = {"delay": ("geometric", 20), "batch": 4, "loss": 0.1, "window": 60, "missing": 0}
    result = robai.simulate(robai.KLEOCPUG(), robai.Bernoulli([0.9, 0.2]), 1000, 20, rng=1, **way)
    _, out, _ = run(capsys, "simulate", *coins, *LATE)
    assert out.splitlines()[:8] == result.summary().splitlines()[:8]
    assert "rewards     delay geometric 20, batch 4, loss 0.1, window 60, missing 0" in out
    _, out, _ = run(
        capsys, "compare", *coins, "--policy", "kl-ucb", "--delay", "7", "--window", "inf", "--json"
    )
    late = robai.simulate(
        robai.KLUCB(), robai.Bernoulli([0.9, 0.2]), 1000, 20, rng=1, delay=7, window=math.inf
    )
    assert json.loads(out)[1]["regret"] == late.regret[-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--delay", "geometric:x"],
            "argument --delay: must be rounds, or geometric:MEAN, got 'geometric:x'",
        ),
        (["--delay", "exp:3"], "delay must be a number of rounds, or ('geometric', mean), got ('exp', 3.0)"),
        (["--window", "2.5"], "argument --window: must be a whole number such as 1e6, got '2.5'"),
        (["--missing", "0"], "missing is what a reward counts as that has not come when its window closes"),
        (["--loss", "1"], "loss must be below 1, got 1.0"),
    ],
)
def test_late_rewards_that_make_no_sense(capsys, options, message):
    assert message in refused(capsys, "simulate", *EOCP, *GAME, *options)


def test_compare_gives_each_policy_the_parameters_it_has(capsys):
    several = ["--policy", "eocp", "--policy", "eocp:gap=0.4,inflation=0.2", "--policy", "ucb"]
    _, out, _ = run(capsys, "compare", *several, "--gap", "0.5", "--sigma", "2", *GAME, "--json")
    records = json.loads(out)
    assert [each["policy"] for each in records] == [
        {"type": "EOCP", "gap": 0.5, "inflation": 1.0, "sigma": 2.0},
        {"type": "EOCP", "gap": 0.4, "inflation": 0.2, "sigma": 2.0},
        {"type": "UCB", "level": "horizon", "sigma": 2.0},
    ]
    assert records[0]["bandit"] == {"type": "Gaussian", "means": [0.7, 0.2], "sigma": 2.0}
    assert records[2]["commit_time_mean"] is None


def test_compare_prints_a_table(capsys):
    code, out, _ = run(capsys, "compare", "--policy", "ucb", "--policy", "eocp-ug", *GAME)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[2:5]] == ["policy", "UCB()", "EOCPUG()"]


def test_bandits_take_parameters_after_a_colon(capsys):
    game = ["--means", "2,1", "--horizon", "100", "--runs", "3", "--json"]
    _, out, _ = run(capsys, "simulate", "--policy", "kl-ucb", "--bandit", "binomial:n=5", *game)
    assert json.loads(out)["bandit"] == {"type": "Binomial", "means": [2.0, 1.0], "n": 5}
    assert "bandit binomial needs n" in refused(
        capsys, "simulate", "--policy", "kl-ucb", "--bandit", "binomial", *game
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "ecop", *GAME], "there is no policy 'ecop'; did you mean eocp?"),
        (["--policy", "eocp", *GAME], "policy eocp needs gap, the lower bound on the gap"),
        (["--policy", "ucb", "--gap", "1", *GAME], "--gap is a parameter of none of the policies ucb"),
        (["--policy", "ucb:lvel=ratio", *GAME], "there is no parameter of ucb 'lvel'; did you mean level?"),
        (["--policy", "ucb:level", *GAME], "must be a name, or name:parameter=value"),
        (["--policy", "ucb:level=high", *GAME], "level must be one of 'horizon', 'ratio', 'round'"),
        (["--policy", "eocp:gap=0", *GAME], "gap must be above 0"),
        (["--policy", "ucb", "--bandit", "bernouli", *GAME], "did you mean bernoulli"),
        (["--policy", "ucb", *GAME[:-2], "--engine", "steps"], "engine must be one of"),
        (["--policy", "ucb", "--means", "1,2", "--horizon", "1", "--runs", "1"], "horizon must be at least"),
    ],
)
def test_wrong_input_is_one_sentence(capsys, arguments, message):
    assert message in refused(capsys, "simulate", *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a command is needed: simulate, compare"),
        (["simulate", *EOCP], "required: --means"),
        (["simulate", *EOCP, "--means", "a,b", "--horizon", "10", "--runs", "1"], "must be numbers such as"),
        (["simulate", *EOCP, "--means", "1,2", "--horizon", "1.5", "--runs", "1"], "must be a whole number"),
        (["simulate", *EOCP, "--means", "1,2", "--horizon", "inf", "--runs", "1"], "must be a whole number"),
    ],
)
def test_wrong_usage_exits_with_two(capsys, arguments, message):
    assert message in refused(capsys, *arguments)


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_sentence_said_once(capsys):
    code, _, err = run(capsys, "simulate", "--policy", "ucb", "--means", "1,1", *GAME[2:])
    assert code == 0
    assert err == "robai: warning: arms 0, 1 are all best: regret is defined, a wrong commitment is not\n"


def test_help_tells_the_thresholds_of_all_policies(capsys):
    assert main(["simulate", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for kind in (
        "of likelihood ratios: practical or pair",
        "of bounds: practical",
        "of racing: with test=kl",
    ):
        assert text.count(kind) == 1


@pytest.mark.parametrize("command", [[], *([each] for each in _COMMANDS)])
def test_help_has_examples(capsys, command):
    assert main([*command, "--help"]) == 0
    assert re.search(r"examples:\n  .*robai ", capsys.readouterr().out)


def test_policies_lists_all(capsys):
    _, out, _ = run(capsys, "policies")
    assert [line.split()[0] for line in out.splitlines()[::2]] == list(POLICIES)
    _, out, _ = run(capsys, "policies", "--json")
    listed = json.loads(out)
    assert listed["eocp"]["needs"] == ["gap"]
    assert listed["eocp"]["defaults"] == {"inflation": 1.0, "sigma": None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--arms", "2"], "plan needs --arms and --gap, or --means"),
        (["--arms", "1", "--gap", "1"], "arms must be from 2"),
        (["--arms", "3", "--means", "1,2"], "--arms is 3, but --means has 2"),
        (["--means", "1,2", "--gap", "3"], "gap must be at most the smallest gap of the means, 1, got 3"),
        (["--means", "1,1"], "means must have a unique largest one"),
        (["--bandit", "bernoulli", "--arms", "2", "--gap", "0.1"], "--bandit bernoulli needs --means"),
    ],
)
def test_plan_refuses_what_it_cannot_plan(capsys, arguments, message):
    assert message in refused(capsys, "plan", *arguments, "--horizon", "1e4")


def test_an_interruption_is_no_traceback(capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("robai.cli.simulation.compare", interrupted)
    assert run(capsys, "simulate", *EOCP, *GAME) == (130, "", "robai: interrupted\n")


def test_missing_matplotlib_is_one_sentence(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = run(capsys, "simulate", *EOCP, *GAME, "--plot", str(tmp_path / "x.png"))
    assert code == 1
    assert err == 'robai: error: plotting needs matplotlib: pip install "robai[plot]"\n'


def test_runs_as_a_module_and_through_a_pipe_that_closes():
    command = [sys.executable, "-m", "robai", "policies"]
    assert subprocess.run(command, capture_output=True, check=True).stdout.startswith(b"eocp ")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
