"""The answers of `robai plan`, each computed another way."""

import json
import math
import re

import pytest

import robai
from robai import theory
from robai.cli import main
from robai.policies import POLICIES

LOG = math.log(10**6)
LEVEL = LOG + math.sqrt(LOG)
TWO = ["--arms", "2", "--gap", "0.5", "--horizon", "1e6"]
FAST = ["--no-simulate"]


@pytest.fixture
def plan(capsys):
    def planned(*arguments):
        assert main(["plan", *arguments]) == 0
        return capsys.readouterr().out

    return planned


@pytest.fixture
def answers(plan):
    """What is said of one policy, without a simulation."""

    def answered(policy, *arguments):
        (entry,) = json.loads(plan("--policy", policy, *arguments, "--json"))["policies"]
        return entry

    return answered


def rows(text):
    return {row[0]: row[1:] for row in (re.split(r"\s{2,}", line) for line in text.splitlines())}


def escape(pulls, level=LEVEL):
    """Lemma (a): how likely a mean ever leaves its bound on one side."""
    return min(pulls, math.e * level * math.log(pulls) + math.e) * math.exp(-level)


def overtaken(n, k):
    """How likely k pulls of the worse arm look better by their bounds than n of the better one."""
    z = 0.5 + math.sqrt(2 * LEVEL / n) - math.sqrt(2 * LEVEL / k)
    return math.erfc(z / math.sqrt(2 / n + 2 / k)) / 2


def test_every_row_of_two_gaussian_arms(plan):
    """By the formulas of the paper, for a gap of 0.5 and sigma 1."""
    found = rows(plan(*TWO, *FAST))
    eocp, ug = 16 * LEVEL / 0.25 + 2, 8 * (LEVEL + 1) ** 2 / 0.25 + 2 * (LEVEL + 2)
    assert found["eocp commits at round"] == [f"{eocp:,.0f}", f"{16 * LOG / 0.25:,.0f}", "1,124", "-"]
    late = escape(10**6) + math.exp(-LEVEL)
    bounds = [f"{ug + 10**6 * late:,.0f}", f"{8 * LOG**2 / 0.25:,.0f}", "1,506", "-"]
    assert found["eocp-ug commits at round"] == bounds
    n = eocp - 2
    shared = (2 * LEVEL + math.sqrt(4 * math.pi * LEVEL) + 2) / 0.5 + 0.5
    wrong = sum(overtaken(i, k) for i in range(1, 563) for k in (561, 1124 - i))
    assert found["eocp wrong commitment"] == [f"{wrong:.1e}", "O(1/T)", "-", "-"]
    regret = shared + 0.5 * (n * escape(n) + 10**6 * wrong)
    assert found["eocp regret"] == [f"{regret:,.0f}", f"{4 * LOG:.0f}", "38", "-"]
    share = 2 + 2 * math.sqrt(LOG)
    assert found["lead-commit commits at round"] == ["-", f"{share * 8 * LOG:,.0f}", "494", "-"]
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
    size = ["--bandit", "binomial:n=10", "--means", "7,2,1", "--horizon", "1e6", *FAST]
    assert rows(plan(*size))[row][0] == f"{3 * 10 * LEVEL / 5:,.0f}"
    assert rows(plan(*size, "--gap", "0.5"))[row][0] == f"{3 * 10 * LEVEL / 0.5:,.0f}"
    assert json.loads(plan(*size, "--json"))["bernstein_pulls"] == pytest.approx(6 * LEVEL)
    assert row not in rows(plan(*TWO, *FAST))


def test_json_has_the_numbers_of_the_theorems(plan):
    size = ["--bandit", "bernoulli", "--means", "0.7,0.2", "--horizon", "1e6", "--sigma", "0.5", *FAST]
    planned = json.loads(plan(*size, "--json"))
    one = {entry["label"]: entry for entry in planned["policies"]}
    bandit, scale = [0.7, 0.2], {"family": "bernoulli", "inflation": 1.0}
    assert planned["level"] == pytest.approx(LEVEL)
    late = theory.commit_round_eocp_ug(bandit, 10**6, sigma=0.5, **scale)
    expected = late.rounds + 10**6 * late.probability
    assert one["eocp-ug"]["commit_round"]["proved"]["value"] == pytest.approx(expected)
    for name, bound in (("eocp", theory.regret_bound_eocp), ("eocp-ug", theory.regret_bound_eocp_ug)):
        parts = vars(bound(bandit, 10**6, sigma=0.5, **scale))
        assert one[name]["regret"]["proved"]["value"] == pytest.approx(math.fsum(parts.values()))
    parts = vars(theory.regret_bound_kl_eocp(bandit, 10**6, **scale))
    assert one["kl-eocp"]["regret"]["proved"]["value"] == pytest.approx(math.fsum(parts.values()))
    wrong = theory.wrong_commit_bound_kl_eocp(bandit, 10**6, **scale)
    assert one["kl-eocp"]["wrong_commit"]["proved"]["value"] == pytest.approx(wrong)
    wide = vars(theory.regret_bound_eocp_ug(bandit, 10**6, sigma=0.5, family="bernoulli"))
    found = one["eocp-ug, c = 5.66"]["regret"]["proved"]["value"]
    assert found == pytest.approx(math.fsum(wide.values()))
    assert planned["limits"]["identification_rounds"] == pytest.approx(7.54397 * LOG, rel=1e-5)


def test_a_bound_that_says_nothing_is_vacuous_and_none(plan, answers):
    size = ["--arms", "3", "--gap", "0.05", "--horizon", "1e6", *FAST]
    found = answers("eocp-ug", *size)
    assert found["regret"]["proved"]["value"] is None
    assert found["regret"]["proved"]["order"] == "vacuous"
    assert found["regret"]["proved"]["reason"].endswith("is not below gap T, 50,000")
    assert found["wrong_commit"]["proved"]["reason"] == "vacuous: 1.000 is not below certainty, 1.000"
    assert rows(plan("--policy", "eocp-ug", *size))["eocp-ug regret"] == ["vacuous", "-", "813", "-"]
    why = found["commit_round"]["predicted"]["reason"]
    assert why == "no prediction: several arms are second best, and the last of them decides when it commits"


def test_predictions_are_those_of_the_theory(answers):
    size = ["--bandit", "bernoulli", "--means", "0.7,0.2", "--horizon", "1e6", *FAST]
    bandit = robai.Bernoulli([0.7, 0.2])
    for name, policy in (("eocp-ug", robai.EOCPUG()), ("kl-ucb", robai.KLUCB()), ("moss", robai.MOSS())):
        found, predicted = answers(name, *size), theory.predict(policy, bandit, 10**6)
        assert found["regret"]["predicted"]["value"] == predicted.regret
        assert found["commit_round"]["predicted"]["value"] == predicted.commit_time
        assert found["wrong_commit"]["predicted"]["value"] is None
    assert found["regret"]["predicted"]["reason"] == "no prediction: no equation is known of MOSS"


def test_a_bound_on_regret_is_vacuous_from_gap_T_on(answers):
    size = ["--means", "0.6,0,-0.01", "--horizon", "200000", *FAST]
    bound = theory.regret_bound_eocp_ug(robai.Gaussian([0.6, 0.0, -0.01]), 200_000, 1.0).total
    assert 0.61 * 200_000 < bound < 200_000
    found = answers("eocp-ug", *size)
    assert found["regret"]["proved"]["value"] is None
    assert found["commit_round"]["proved"]["value"] < 200_000


def test_a_commitment_beyond_the_horizon_is_vacuous(answers):
    size = [
        "--arms",
        "2",
        "--gap",
        "0.25",
        "--horizon",
        "100000",
        "--inflation",
        str(theory.INFLATION),
        *FAST,
    ]
    found = answers("eocp-ug", *size)
    assert found["commit_round"]["proved"]["order"] == "vacuous"
    assert found["regret"]["proved"]["value"] < 25_000


def test_a_short_horizon_is_named(plan):
    text = plan("--arms", "2", "--gap", "0.1", "--horizon", "1000", "--runs", "2")
    assert "eocp: horizon must be at least T_c" in text


def test_a_simulation_is_that_of_the_same_policy(answers):
    entry = answers("eocp-ug:inflation=2", *TWO, "--runs", "300", "--rng", "5")
    bandit, policy = robai.Gaussian([0.5, 0.0]), robai.EOCPUG(inflation=2.0)
    result = robai.simulate(policy, bandit, 10**6, 300, rng=5)
    digest = result.digest()
    assert entry["policy"] == policy.to_dict()
    assert entry["regret"]["simulated"]["value"] == result.regret[-1]
    assert entry["commit_round"]["simulated"]["value"] == result.commit_time.mean()
    assert entry["wrong_commit"]["simulated"]["high"] == digest.wrong.high
    assert entry["simulation"]["regret"] == result.regret[-1]


BANDITS = {
    "gaussian": ["--arms", "2", "--gap", "0.5"],
    "bernoulli": ["--bandit", "bernoulli", "--means", "0.7,0.2,0.1"],
    "poisson": ["--bandit", "poisson", "--means", "3,2"],
}


@pytest.mark.parametrize("bandit", BANDITS)
def test_every_policy_has_an_answer_or_a_reason(plan, bandit):
    planned = json.loads(
        plan("--policy", "all", *BANDITS[bandit], "--horizon", "1e4", "--runs", "50", "--json")
    )
    found = {entry["label"]: entry for entry in planned["policies"]}
    assert sorted([*found, *planned["refused"]]) == sorted(POLICIES)
    assert all(planned["refused"].values())
    for label, entry in found.items():
        for quantity in ("regret", "commit_round", "wrong_commit"):
            for kind, answer in entry[quantity].items():
                known = answer["value"] is not None or answer.get("order")
                assert known or answer["reason"], (label, quantity, kind)
                assert answer["value"] is None or math.isfinite(answer["value"])
                assert answer["value"] is None or answer["value"] > 0 or kind == "simulated"


@pytest.mark.parametrize("policy", ["ucb", "kl-ucb", "moss", "imed", "ada-ucb", "bayes-ucb", "thompson"])
def test_policies_that_never_commit_say_so(answers, plan, policy):
    entry = answers(policy, *TWO, *FAST)
    for quantity in ("commit_round", "wrong_commit"):
        assert {answer["reason"] for answer in entry[quantity].values()} == {"it never commits"}
    text = plan("--policy", policy, *TWO, *FAST)
    assert f"\n{policy}: it never commits\n" in text
    assert f"{policy} commits" not in text


# Gaussian arms of gap 0.5, T = 10^6, as docs/policies.md has it: multiples of 2 log T / gap.
@pytest.mark.parametrize(
    ("policy", "multiple"),
    [
        ("eocp", 1), ("lead-commit", 1), ("ucb", 1), ("ucb:level=ratio", 1), ("kl-ucb:level=++", 1),
        ("moss", 2), ("moss:anytime=true,alpha=0.5", 1.5), ("ada-ucb", 1), ("thompson", 1), ("bai-etc", 2),
        ("etc", 2),
        ("sprt-etc", 0.5), ("detc", 1), ("detc-k", 1), ("ucb-alpha", 4), ("ucb-alpha:alpha=1.5", 2.25),
        ("action-elimination", 4), ("track-and-stop:threshold=proved", 2), ("uniform:threshold=proved", 2),
        ("eocp-ug:inflation=1.3", 1), ("ucb:sigma=2", 4),
    ],
)  # fmt: skip
def test_constants_as_T_grows(answers, policy, multiple):
    regret = answers(policy, *TWO, *FAST)["regret"]["asymptotic"]
    assert regret["value"] == pytest.approx(multiple * 4 * LOG)


@pytest.mark.parametrize(
    ("policy", "rounds"),
    [
        ("bai-etc", 8 * LOG / 0.25), ("etc", 8 * LOG / 0.25), ("sprt-etc", 2 * LOG / 0.25),
        ("track-and-stop", 8 * LOG / 0.25), ("top-two", 16 * LOG / 0.25), ("uniform", 8 * LOG / 0.25),
        ("action-elimination", 16 * LOG / 0.25), ("top-two:delta=0.01", 16 * math.log(100) / 0.25),
    ],
)  # fmt: skip
def test_commitment_as_T_grows(answers, policy, rounds):
    assert answers(policy, *TWO, *FAST)["commit_round"]["asymptotic"]["value"] == pytest.approx(rounds)


@pytest.mark.parametrize(
    ("policy", "gap", "horizon"),
    [
        ("etc", "0.5", "200"),
        ("sprt-etc", "0.5", "200"),
        ("moss", "0.5", "1e5"),
        ("track-and-stop:threshold=proved", "1", "200"),
        ("lucb", "3", "400"),
    ],
)
def test_what_is_proved_holds_in_simulations(answers, policy, gap, horizon):
    """At a horizon at which errors can be counted."""
    size = ["--arms", "2", "--gap", gap, "--horizon", horizon, "--runs", "2000", "--simulate"]
    entry = answers(policy, *size)
    checked = 0
    for quantity in ("regret", "commit_round", "wrong_commit"):
        bound, simulated = entry[quantity]["proved"]["value"], entry[quantity]["simulated"]
        if bound is not None and simulated["value"] is not None:
            assert simulated["low"] <= bound * (1 + 1e-9)
            checked += 1
    assert checked


def test_regret_and_error_of_explore_then_commit_are_exact(answers):
    """n pulls of two unit Gaussian arms: the worse mean is the larger with P = Phi(-gap sqrt(n / 2))."""
    size = ["--arms", "2", "--gap", "0.5", "--horizon", "200", "--runs", "20000", "--simulate"]
    entry = answers("etc", *size)
    for quantity in ("regret", "wrong_commit"):
        simulated = entry[quantity]["simulated"]
        width = simulated["high"] - simulated["low"]
        assert entry[quantity]["proved"]["value"] == pytest.approx(simulated["value"], abs=1.5 * width)
    assert entry["commit_round"]["proved"]["value"] == entry["commit_round"]["simulated"]["value"]


def test_errors_of_a_budget(answers):
    """By their theorems: rewards in [0, 1], H_2 = max i / gap_i^2 = 3 / 0.3^2, logbar 3 = 1/2 + 1/2 + 1/3."""
    size = ["--bandit", "bernoulli", "--means", "0.6,0.3,0.3", "--horizon", "300", *FAST]
    complexity = 3 / 0.3**2
    rejects = 3 * math.exp(-297 / (4 / 3 * complexity))
    halving = 3 * math.log2(3) * math.exp(-300 / (8 * math.log2(3) * complexity))
    found = answers("successive-rejects", *size)["wrong_commit"]["proved"]
    assert found["value"] == pytest.approx(rejects)
    found = answers("sequential-halving:fresh=true", *size)["wrong_commit"]["proved"]
    assert (found["value"], found["order"]) == (None, "vacuous") if halving >= 1 else (halving, None)
    found = answers("uniform:stop=budget", *size)["wrong_commit"]["proved"]
    assert found["value"] == pytest.approx(2 * math.exp(-100 * 0.3**2))


def test_what_cannot_be_known_has_its_reason(answers, plan):
    reasons = {
        "kl-eocp-ug": "nothing is proved of it",
        "eocp-ug": "wrong commitments are O(1/T), which regret needs, from inflation 1.29 on",
        "track-and-stop": "its threshold has no proof",
        "ucb:sigma=0.5": "its sigma is below that of the rewards",
        "eocp:gap=0.7": "the gap that it is told is above the smallest of the bandit, 0.5",
        "kl-ucb:level=round": "level=round is a heuristic",
        "top-two:delta=0.1,threshold=proved": "wrong commitments may cost 0.1 gap T",
    }
    for policy, reason in reasons.items():
        assert reason in answers(policy, *TWO, *FAST)["regret"]["asymptotic"]["reason"]
    text = plan(
        "--policy", "ucb", "--policy", "bai-etc", "--arms", "3", "--gap", "1", "--horizon", "1e4", *FAST
    )
    assert "bai-etc does not play here: BAI-ETC is defined for two arms only, got 3" in text


def test_if_no_policy_plays_that_is_an_error(capsys):
    size = ["--arms", "3", "--gap", "1", "--horizon", "1e4"]
    assert main(["plan", "--policy", "bai-etc", *size]) == 2
    assert capsys.readouterr().err == "robai: error: bai-etc: BAI-ETC is defined for two arms only, got 3\n"


def test_what_would_take_long_is_not_simulated_unless_asked_for(answers):
    size = ["--bandit", "bernoulli", "--means", "0.7,0.2", "--horizon", "1e6"]
    found = answers("bayes-ucb", *size)["regret"]["simulated"]
    assert found["value"] is None
    assert found["reason"].startswith("not simulated: some 1,000,000 rounds a run; --simulate plays them")
    assert answers("bayes-ucb", *size, "--runs", "2", "--simulate")["regret"]["simulated"]["value"] > 0
