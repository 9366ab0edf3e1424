"""Odd command lines: each ends with a result or with one sentence, and none with a traceback."""

import itertools
import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robai.bandits import BANDITS, Gaussian
from robai.cli import main
from robai.cli.options import PARAMETERS
from robai.policies import POLICIES

NUMBERS = [
    *("0", "-1", "1", "16", "5e-324", "1e-160", "1e15", "1e160", "1e300", "1e308", "-1e308", "1e999"),
    *("nan", "inf", "-inf"),
]
WORDS = [
    "",
    " ",
    "-0",
    "x",
    "1,2",
    "9" * 400,
    "None",
    "\x1b[2J",
    "é",
    "\udc80",
    "--",
    "-",
    "=",
    ":",
    "²",
    "0x10",
]
GAME = {"--means": "0.7,0.2", "--horizon": "50", "--runs": "2", "--rng": "1"}
PLAN = {"--means": "0.7,0.2", "--horizon": "1e4", "--runs": "2"}
BY_GAP = {"--arms": "3", "--gap": "0.5", "--horizon": "1e4", "--runs": "2"}
NEEDED = {"eocp": {"--gap": "0.5"}, "kl-eocp": {"--kl": "0.5"}}
NEEDED_BY_BANDIT = {"binomial": ":n=5", "gamma": ":shape=2", "negative-binomial": ":r=2"}


def flat(options):
    return list(itertools.chain(*options.items()))


def ends_well(capsys, arguments):
    """Ended with a result on standard output, or without and with a short text on standard error."""
    code = main(arguments)
    out, err = capsys.readouterr()
    assert code in (0, 1, 2), arguments
    assert (out == "") == (code > 0), arguments
    assert "Traceback" not in err
    assert "\x1b" not in out + err
    if code:
        (line,) = (line for line in err.splitlines() if not line.startswith("robai: warning: "))
        assert line.startswith("robai: error: ")
    return code


@pytest.fixture(autouse=True)
def nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert os.listdir() == []


@pytest.mark.parametrize("policy", POLICIES)
def test_parameters_of_policies(capsys, policy):
    for parameter, value in itertools.product(PARAMETERS, NUMBERS):
        options = GAME | NEEDED.get(policy, {}) | {f"--{parameter}": value}
        ends_well(capsys, ["simulate", "--policy", policy, *flat(options)])


@pytest.mark.parametrize("bandit", BANDITS)
def test_means_and_parameters_of_bandits(capsys, bandit):
    for value in NUMBERS:
        odd = {"--bandit": bandit + NEEDED_BY_BANDIT.get(bandit, ""), "--means": f"0.5,{value}"}
        ends_well(capsys, ["simulate", "--policy", "kl-ucb", *flat(GAME | odd)])
        ends_well(capsys, ["plan", *flat(PLAN | odd)])
        for parameter in ("sigma", "n", "shape", "r"):
            odd = {"--bandit": f"{bandit}:{parameter}={value}"}
            ends_well(capsys, ["plan", *flat(PLAN | odd)])


OPTIONS = [
    *(("simulate", {"--policy": "ucb"} | GAME, option) for option in ("--policy", "--bandit", "--means")),
    *(("simulate", {"--policy": "ucb"} | GAME, option) for option in ("--horizon", "--rng", "--engine")),
    *(
        ("compare", {"--policy": "ucb"} | GAME, option)
        for option in ("--workers", "--plot", "--kl", "--level")
    ),
    *(("simulate", {"--policy": "ucb"} | GAME, option) for option in ("--delay", "--batch", "--loss")),
    *(
        ("compare", {"--policy": "ucb"} | GAME | {"--window": "9"}, option)
        for option in ("--window", "--missing")
    ),
    *(("plan", PLAN, option) for option in ("--means", "--horizon", "--gap", "--bandit", "--rng", "--arms")),
    *(("plan", BY_GAP, option) for option in ("--arms", "--horizon", "--gap", "--sigma", "--inflation")),
    *(("reproduce", {"--out": "missing/x"}, option) for option in ("--only", "--rng", "--workers")),
]


@pytest.mark.parametrize(("command", "options", "option"), OPTIONS)
def test_options(capsys, command, options, option):
    for value in NUMBERS + WORDS:
        for more in ([], ["--json"], *([["--simulate"]] if command == "plan" else [])):
            ends_well(capsys, [command, *flat(options | {option: value}), *more])


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_words(data, capsys, monkeypatch):
    for module in ("robai.cli.simulation", "robai.cli.plan"):
        monkeypatch.setattr(f"{module}.compare", refuse)
    monkeypatch.setattr("robai.paper.reproduction.reproduce", refuse)
    options = [
        f"--{name}" for name in (*PARAMETERS, "policy", "means", "horizon", "runs", "arms", "json", "out")
    ]
    words = ["ucb", "eocp:gap=0.5", "bernoulli", "0.7,0.2", "100", "-h", "-x", "--help", "--simulate"]
    command = data.draw(
        st.sampled_from(["simulate", "compare", "plan", "policies", "reproduce", "", "--version"])
    )
    rest = data.draw(st.lists(st.sampled_from(options + words + NUMBERS + WORDS), max_size=10))
    ends_well(capsys, [command, *rest])


def refuse(*_, **__):
    raise ValueError("it would have been played")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulat"], "there is no command 'simulat'; did you mean simulate?"),
        (["polices", "--json"], "did you mean policies?"),
        (["simulate", "--polcy", "ucb"], "no option of robai simulate '--polcy'; did you mean --policy"),
        (["plan", "--arm=3"], "no option of robai plan '--arm'; did you mean --arms"),
        (["plan", "--zzz"], "no option of robai plan '--zzz'; see `robai plan --help`"),
    ],
)
def test_unknown_names_get_a_suggestion(capsys, arguments, message):
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(message, line)


@pytest.mark.parametrize("means", ["-1,0", "-.5,-1e3", "-1e3,-2", "-0,-1"])
@pytest.mark.parametrize("form", ["{0} {1}", "{0}={1}"])
def test_means_may_begin_with_a_minus(capsys, means, form):
    given = form.format("--means", means).split()
    assert main(["simulate", "--policy", "ucb", *given, *flat(GAME)[2:], "--json"]) == 0
    bandit = Gaussian(map(float, means.split(",")))
    assert json.loads(capsys.readouterr().out)["bandit"] == bandit.to_dict()


def test_negative_numbers_reach_the_checks_of_their_options(capsys):
    assert main(["simulate", "--policy", "ucb", "--sigma", "-1e5", *flat(GAME)]) == 2
    assert "sigma must be from 1e-100 to 1e+100, got -100000.0" in capsys.readouterr().err


def test_help_is_not_taken_for_a_value(capsys):
    assert main(["simulate", "--json", "-h"]) == 0


@pytest.mark.parametrize(
    "encoding",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "ascii:strict"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_a_terminal_without_plus_minus_still_shows_the_result(encoding):
    command = [sys.executable, "-m", "robai", "compare", "--policy", "ucb", "--policy", "kl-ucb", *flat(GAME)]
    done = subprocess.run(command, capture_output=True, env=os.environ | encoding, check=False)
    sign = b"\xb1" if "latin-1" in encoding.values() else b"+-"
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"* smallest mean regret; " + sign + b" is the standard error" in done.stdout


def test_plan_of_many_arms_is_readable(capsys):
    assert main(["plan", "--arms", "2e4", "--gap", "0.5", "--horizon", "1e9"]) == 0
    out = capsys.readouterr().out
    assert len(out) < 3000
    assert ", 20,000 arms, horizon 1,000,000,000" in out


@pytest.mark.parametrize(
    ("arms", "horizon", "message"),
    [
        ("1e6", "1e9", "arms must be from 2 to 100,000, got 1000000"),
        ("1e4", "1e3", "horizon must be at least the number of arms, 10,000, got 1000"),
    ],
)
def test_plan_refuses_more_arms_than_make_sense(capsys, arms, horizon, message):
    assert main(["plan", "--arms", arms, "--gap", "0.5", "--horizon", horizon]) == 2
    assert message in capsys.readouterr().err


def test_plan_writes_no_number_that_nobody_can_read(capsys):
    assert main(["plan", "--arms", "3", "--gap", "0.5", "--horizon", "1e4", "--sigma", "1e50"]) == 0
    limits = capsys.readouterr().out.partition("limits for any policy")[2]
    assert "e+10" in limits
    assert max(map(len, limits.splitlines())) < 100
