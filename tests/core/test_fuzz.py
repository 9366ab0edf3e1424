"""The fuzz plays everything there is, and finds what it is for: planted errors."""

import math
import os
import subprocess
import sys
import time
import warnings
from dataclasses import fields
from types import SimpleNamespace

import fuzz
import numpy as np
import pytest
from support.fuzz_cases import COMMITMENTS, EXPLORATIONS, STOPPINGS, Case, random_case, reproduction

import robai
from robai import rules
from robai.bandits import BANDITS
from robai.policies import POLICIES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGALRM")

CASE = Case(robai.EOCPUG(sigma=1.0), robai.Gaussian([0.7, 0.2]), 300, rng=5)
simulate = robai.simulate


def made(count, seed=0):
    return [random_case(seed, number) for number in range(count)]


# ---- cases


def kinds_in(value):
    """The classes of a specification and of its parts."""
    yield type(value)
    for each in fields(value):
        if hasattr(getattr(value, each.name), "label"):
            yield from kinds_in(getattr(value, each.name))


def test_every_rule_is_among_those_that_are_combined():
    rules_ = [getattr(rules, name) for name in rules.__all__]
    bases = rules.Exploration, rules.Stopping, rules.Commitment
    made = {kind for kind in rules_ if isinstance(kind, type) and issubclass(kind, bases)}
    others = {
        *bases,
        rules.Optimism,
        rules.PythonExploration,
    }  # bases, and what a user's object is wrapped in
    assert {*EXPLORATIONS, *STOPPINGS, *COMMITMENTS} == made - others


def test_everything_is_played():
    cases = made(2000)
    kinds = {kind for case in cases for kind in kinds_in(case.policy)}
    assert kinds >= {*POLICIES.values(), robai.Policy, *EXPLORATIONS, *STOPPINGS, *COMMITMENTS}
    assert kinds >= {rules.Level, rules.Index, rules.Stop}
    assert {type(case.bandit) for case in cases} == {*BANDITS.values(), robai.Empirical, robai.Instances}
    assert {case.engines for case in cases} == {("step",), ("leap",), ("step", "leap")}
    assert {case.bandit.n_arms for case in cases} >= {2, 100, 1000}
    assert max(case.horizon for case in cases) > 10**15


def test_cases_depend_on_the_seed_and_their_number_alone():
    assert made(50) == made(50)
    assert made(50) != made(50, seed=1)


def test_the_script_of_a_failure_plays_the_case(capsys):
    for case in made(60):
        names = {}
        exec(reproduction(case, 2, 1).split("for engine", 1)[0], names)
        assert (names["policy"], names["bandit"]) == (case.policy, case.bandit)
    exec(reproduction(CASE, 2, 1), {})
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[::2]] == ["step", "leap"]


# ---- laws


def test_samples_of_one_law_differ_no_more_often_than_said():
    rng = np.random.default_rng(0)
    for draw in (rng.normal, rng.standard_cauchy, lambda size: rng.poisson(0.05, size)):
        chances = np.array([fuzz.chance(draw(size=200), draw(size=200)) for _ in range(1000)])
        for level in (0.3, 0.1, 0.03):
            assert (chances <= level).mean() <= level
    assert fuzz.chance(np.zeros(9), np.zeros(9)) == 1.0


@pytest.mark.parametrize(
    "other",
    [
        lambda rng: rng.normal(0.4, 1.0, 1000),
        lambda rng: rng.normal(0.0, 2.0, 1000),  # the same mean
        lambda rng: rng.normal(0.0, 1.0, 1000) + 1e6 * (rng.random(1000) < 0.1),
    ],
)
def test_samples_of_two_laws_are_told_apart(other):
    rng = np.random.default_rng(0)
    assert fuzz.chance(rng.normal(0.0, 1.0, 1000), other(rng)) < fuzz.CERTAIN


def test_rare_and_large_values_are_seen():
    rng = np.random.default_rng(0)
    few, none = np.where(rng.random(4000) < 0.02, 1e9, rng.random(4000)), rng.random(4000)
    assert fuzz.chance(few, none) < fuzz.CERTAIN


def test_engines_that_agree():
    assert fuzz.examine(CASE, patience=100.0) == fuzz.Outcome("compared")
    assert fuzz.examine(Case(robai.BAIETC(sigma=1.0), CASE.bandit, 300, rng=5), 100.0).kind == "played"


def test_engines_that_differ(monkeypatch):
    def planted(policy, *arguments, engine, **options):
        policy = robai.EOCPUG(sigma=1.1) if engine == "leap" else policy
        return simulate(policy, *arguments, engine=engine, **options)

    monkeypatch.setattr(robai, "simulate", planted)
    outcome = fuzz.examine(CASE, patience=100.0)
    assert outcome.kind == "failed"
    assert outcome.text.startswith("the engines differ in the ")


# ---- results that cannot be


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("pulls", lambda pulls: pulls + 1),
        ("pulls", lambda pulls: pulls + 10**6 * np.array([1, -1])),
        ("pulls", lambda pulls: pulls[:, ::-1]),
        ("final_regret", lambda regret: regret * 1.001),
        ("final_regret", lambda regret: regret * np.nan),
        ("regret", lambda regret: regret * np.inf),
        ("regret", lambda regret: regret[::-1]),
        ("regret_sem", lambda error: error * np.nan),
        ("commit_time", lambda time: np.full_like(time, 300)),
        ("commit_time", lambda time: np.full_like(time, 1)),
        ("commit_time", lambda time: np.full_like(time, -1)),
        ("committed_arm", lambda arm: np.full_like(arm, 2)),
        ("committed_arm", lambda arm: np.full_like(arm, -1)),
        ("committed_arm", lambda arm: 1 - arm),
    ],
)
def test_a_result_that_cannot_be(name, change, monkeypatch):
    def planted(*arguments, **options):
        result = simulate(*arguments, **options)
        parts = ("pulls", "final_regret", "regret", "regret_sem", "commit_time", "committed_arm", "meta")
        values = {part: getattr(result, part) for part in parts}
        assert (values["commit_time"] > 0).all()
        return SimpleNamespace(**values | {name: change(values[name])})

    monkeypatch.setattr(robai, "simulate", planted)
    assert fuzz.examine(CASE, patience=100.0).kind == "failed"


# ---- what else can happen


def refuses(progress, **_):
    raise ValueError("sigma must be at most 1e100, got 1e308")


def refuses_late(progress, **_):
    progress(1, 2)
    raise ValueError("values must be finite")


def overflows(**_):
    raise OverflowError("math range error")


def warns(**_):
    warnings.warn("overflow encountered in square", RuntimeWarning, stacklevel=1)


def prints_an_error(**_):
    class Errs:
        def __del__(self):
            raise IndexError("out of bounds")

    Errs()
    raise ValueError("and then something else is wrong")


def sleeps(**_):
    time.sleep(1000.0)


@pytest.mark.parametrize(
    ("simulate", "kind", "text"),
    [
        (refuses, "refused", "sigma must be"),
        (refuses_late, "failed", "only after it was played"),
        (overflows, "failed", "OverflowError: math range error"),
        (warns, "failed", "RuntimeWarning: overflow"),
        (prints_an_error, "failed", "IndexError('out of bounds')"),
        (sleeps, "slow", "robai.EOCPUG(inflation=1.0, sigma=1.0, bounds='gaussian')"),
    ],
)
def test_what_else_can_happen(simulate, kind, text, monkeypatch):
    monkeypatch.setattr(robai, "simulate", lambda *_, **options: simulate(**options))
    outcome = fuzz.examine(CASE, patience=0.1)
    assert (outcome.kind, text in outcome.text) == (kind, True)


def test_a_policy_that_cannot_be_made(monkeypatch):
    def overflows(self):
        raise OverflowError("math range error")

    for kind in POLICIES.values():
        monkeypatch.setattr(kind, "__post_init__", overflows)
    outcomes = [fuzz.examine_number(0, number, 0.1) for number in range(5)]
    assert "failed" in {outcome.kind for outcome in outcomes}
    assert all("math range error\n" in outcome.text and "(**{" in outcome.text
               for outcome in outcomes if outcome.kind == "failed")  # fmt: skip


# ---- the child


def test_a_child_answers():
    child = fuzz.Child(math.sqrt, limit=500.0)
    assert [child(4.0), child(9.0)] == [2.0, 3.0]
    child.close()


def test_a_child_that_hangs_or_dies():
    with pytest.raises(fuzz.Died, match=r"could not be interrupted, for 0\.5 s"):
        fuzz.Child(time.sleep, limit=0.5)(1000.0)
    dying = fuzz.Child(os._exit, limit=500.0)
    for status in (3, 4):  # a new one each time
        with pytest.raises(fuzz.Died, match=f"status {status}"):
            dying(status)


# ---- the command


def test_the_command():
    options = ["--seed", "0", "--cases", "12", "--seconds", "1000", "--patience", "50"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, fuzz.__file__, *options], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("12 cases of seed 0: ")


def test_the_command_explains_itself(capsys):
    with pytest.raises(SystemExit, match="0"):
        fuzz.main(["--help"])
    assert "--seconds" in capsys.readouterr().out


def test_failures_are_printed_and_counted(monkeypatch, capsys):
    class Planted:
        def __init__(self, *_):
            pass

        def __call__(self, seed, number, patience):
            if number == 4:
                raise fuzz.Died("it did not end")
            return fuzz.Outcome("failed", "planted") if number == 5 else fuzz.Outcome("played")

        def close(self):
            pass

    monkeypatch.setattr(fuzz, "Child", Planted)
    assert fuzz.main(["--seed", "0", "--first", "3", "--cases", "2", "--seconds", "1000"]) == 1
    assert fuzz.main(["--seed", "0", "--first", "5", "--cases", "1", "--seconds", "1000"]) == 1
    assert fuzz.main(["--seed", "0", "--first", "6", "--cases", "9", "--seconds", "1000"]) == 0
    printed = capsys.readouterr().out
    assert "case 4 of seed 0 failed: it did not end\n\nimport numpy" in printed
    assert "case 5 of seed 0 failed: planted" in printed
    assert "1 by one, 0 refused, 0 interrupted; 1 failures" in printed
    assert "9 by one, 0 refused, 0 interrupted; 0 failures" in printed
