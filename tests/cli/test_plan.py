"""The rows of `robai plan`, each computed another way."""

import json
import math
import re

import pytest

from robai import theory
from robai.cli import main

LOG = math.log(10**6)
LEVEL = LOG + math.sqrt(LOG)


@pytest.fixture
def plan(capsys):
    def planned(*arguments):
        assert main(["plan", *arguments]) == 0
        return capsys.readouterr().out

    return planned


def rows(text):
    return {row[0]: row[1:] for row in (re.split(r"\s{2,}", line) for line in text.splitlines())}


def escape(pulls, level=LEVEL):
    """Lemma (a): how likely a mean ever leaves its bound on one side."""
    return min(pulls, math.e * level * math.log(pulls) + math.e) * math.exp(-level)


def test_every_row_of_two_gaussian_arms(plan):
    """By the formulas of the paper, for a gap of 0.5 and sigma 1."""
    found = rows(plan("--arms", "2", "--gap", "0.5", "--horizon", "1e6"))
    eocp, ug = 16 * LEVEL / 0.25 + 2, 8 * (LEVEL + 1) ** 2 / 0.25 + 2 * (LEVEL + 2)
    assert found["EOCP commits at round"][0] == f"{eocp:,.0f}"
    late = escape(10**6) + math.exp(-LEVEL)
    assert found["EOCP-UG commits before round, on average"][0] == f"{ug + 10**6 * late:,.0f}"
    n = eocp - 2
    shared = (2 * LEVEL + math.sqrt(4 * math.pi * LEVEL) + 2) / 0.5 + 0.5
    wrong = 2 * math.exp(-LEVEL) + escape(n) + escape(n + 1)
    assert found["EOCP wrong commitment"][0] == f"{wrong:.1e}"
    assert found["EOCP regret"][0] == f"{shared + 0.5 * (n * escape(n) + 10**6 * wrong):,.0f}"
    pulls, asked = 2 * LOG / 0.25, math.log(10**6 / 2.4) / LOG
    limits = {
        "regret, as T grows (Lai and Robbins)": f"{4 * LOG:.2f}",
        "commitment round with so little regret, gap known": f"{pulls / (1 - asked / 4):.1f}",
        "commitment round with so little regret, gap unknown": f"{pulls / (1 - asked):,.0f}",
        "rounds to find the best arm with error 1/T, as T grows": f"{32 * LOG:.1f}",
    }
    assert {name: found[name][0] for name in limits} == limits


def test_what_bernstein_bounds_need(plan):
    """More pulls than 3 b l / gap, b the length of the range of the rewards; no range, no row."""
    row = "Bernstein bounds need pulls of an arm, 3 b l / gap"
    size = ["--bandit", "binomial:n=10", "--means", "7,2,1", "--horizon", "1e6"]
    assert rows(plan(*size))[row][0] == f"{3 * 10 * LEVEL / 5:,.0f}"
    assert rows(plan(*size, "--gap", "0.5"))[row][0] == f"{3 * 10 * LEVEL / 0.5:,.0f}"
    planned = json.loads(plan(*size, "--json"))["bounds"]
    assert planned[0]["bernstein_pulls"] == pytest.approx(6 * LEVEL)
    assert row not in rows(plan("--arms", "2", "--gap", "0.5", "--horizon", "1e6"))


def test_json_has_the_numbers_of_the_theorems(plan):
    size = ["--bandit", "bernoulli", "--means", "0.7,0.2", "--horizon", "1e6", "--sigma", "0.5"]
    planned = json.loads(plan(*size, "--json"))
    bandit, scale = [0.7, 0.2], {"family": "bernoulli", "inflation": 1.0}
    one = planned["bounds"][0]
    assert one["level"] == pytest.approx(LEVEL)
    late = theory.commit_round_eocp_ug(bandit, 10**6, sigma=0.5, **scale)
    assert one["EOCP-UG"]["commit_round"] == pytest.approx(late.rounds + 10**6 * late.probability)
    for name, bound in (("EOCP", theory.regret_bound_eocp), ("EOCP-UG", theory.regret_bound_eocp_ug)):
        parts = vars(bound(bandit, 10**6, sigma=0.5, **scale))
        assert one[name]["regret"] == pytest.approx(math.fsum(parts.values()))
    parts = vars(theory.regret_bound_kl_eocp(bandit, 10**6, **scale))
    assert one["KL-EOCP"]["regret"] == pytest.approx(math.fsum(parts.values()))
    wrong = theory.wrong_commit_bound_kl_eocp(bandit, 10**6, **scale)
    assert one["KL-EOCP"]["wrong_commit"] == pytest.approx(wrong)
    assert planned["limits"]["identification_rounds"] == pytest.approx(7.54397 * LOG, rel=1e-5)


def test_a_bound_on_regret_above_horizon_times_gap_is_not_printed(plan):
    size = ["--arms", "2", "--gap", "0.25", "--horizon", "200000"]
    bounds, found = json.loads(plan(*size, "--json"))["bounds"][0]["EOCP-UG"], rows(plan(*size))
    assert 50_000 < bounds["regret"] < 200_000
    assert found["EOCP-UG regret"][0] == "none"
    assert found["EOCP-UG commits before round, on average"][0] == f"{bounds['commit_round']:,.0f}"


def test_a_commitment_beyond_the_horizon_is_not_printed(plan):
    size = ["--arms", "2", "--gap", "0.25", "--horizon", "100000"]
    bounds, found = json.loads(plan(*size, "--json"))["bounds"][1]["EOCP-UG"], rows(plan(*size))
    assert bounds["commit_round"] > 100_000
    assert found["EOCP-UG commits before round, on average"][1] == "none"
    assert found["EOCP-UG regret"][1] == f"{bounds['regret']:,.0f}"
