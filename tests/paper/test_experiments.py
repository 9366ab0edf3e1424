import math

import numpy as np
import pytest

import robai
from robai.paper.claims import check, regret_after, regret_ratio
from robai.paper.gallery.zhang_ying2023 import CLAIMS, FIGURES, INFLATIONS, SENSITIVITY, STUDY, TABLE
from robai.paper.growth import Growth
from robai.paper.reproduction import reproduce
from robai.theory import INFLATION, table


def test_the_parameters_are_those_of_the_paper():
    sizes = {name: (each.horizons, each.runs, len(each.bandit.means)) for name, each in FIGURES.items()}
    assert sizes == {
        "fig1-gaussian": ((10**6,), 10**5, 2),
        "fig1-bernoulli": ((10**5,), 10**5, 2),
        "fig2-gaussian": ((10**5,), 10**4, 4),
        "fig2-bernoulli": ((10**5,), 10**4, 4),
    }
    for name, each in FIGURES.items():
        inflation = 1.0 if name.startswith("fig1") else 0.2
        assert each.bandit.means[0] == 0.7
        assert set(each.bandit.means[1:]) == {0.2}
        assert each.policies["EOCP"] == robai.EOCP(0.5, inflation, 1.0)
        assert each.policies["EOCP-UG"] == robai.EOCPUG(inflation, 1.0)
        assert each.policies["UCB"] == robai.UCB(sigma=1.0)
        assert set(each.beside["like the scripts"]) == set(each.policies)
        assert set(each.beside["clean elsewhere"]) <= set(each.policies)
    assert FIGURES["fig1-bernoulli"].policies["KL-EOCP"].kl == pytest.approx(0.534111, abs=1e-6)
    assert (INFLATIONS[0], INFLATIONS[-1]) == (0.0, INFLATION)


@pytest.fixture(scope="module")
def figures():
    return {name: each.run(runs=150, rng=0) for name, each in FIGURES.items()}


@pytest.mark.parametrize("name", FIGURES)
def test_regret_agrees_with_an_independent_program(figures, name):
    _assert_agreement(FIGURES[name], *figures[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_regret_agrees_with_an_independent_program_in_many_runs(name):
    _assert_agreement(FIGURES[name], FIGURES[name].run(runs=10**4, rng=1)[0])


def _assert_agreement(experiment, results):
    for label, clean in experiment.beside["clean elsewhere"].items():
        result = results[label]
        apart = abs(result.regret[-1] - clean.value) / math.hypot(result.regret_sem[-1], clean.sem)
        assert apart < 5.0, label


def test_no_claim_fails_wherever_it_is_made(figures):
    verdicts = check(CLAIMS, figures)
    assert len(verdicts) == sum(len(claim.experiments) for claim in CLAIMS)
    assert [verdict for verdict in verdicts if verdict.result == "fails"] == []
    open_ones = {each.criterion for each in verdicts if each.result == "not decided"}
    assert open_ones <= {
        "wrong in at most 0.1 %",  # which 150 runs cannot tell
        "at least 10 % of UCB's regret comes later, and at most 1 % of EOCP's runs add to theirs",
        "at least 10 % of KL-UCB's regret comes later, and at most 1 % of KL-EOCP's runs add to theirs",
        "at least 20 % below",
        "regret at most 1.1 times EOCP's",
    }
    assert all(any(digit in verdict.numbers for digit in "0123456789") for verdict in verdicts)


def test_claims_that_need_what_was_not_played_are_left_out(figures):
    alone = {"fig2-gaussian": figures["fig2-gaussian"]}
    assert {each.experiment for each in check(CLAIMS, alone)} == {"fig2-gaussian"}
    assert check(CLAIMS, {}) == []


def test_a_claim_can_fail(figures):
    swapped = dict(*figures["fig1-gaussian"])
    swapped["EOCP"], swapped["UCB"] = swapped["UCB"], swapped["EOCP"]
    word, numbers = CLAIMS[0].check(swapped)
    assert word == "fails"
    assert numbers.startswith("-")


def test_ratios_come_with_an_interval_around_them(figures):
    (results,) = figures["fig1-gaussian"]
    ratio, low, high = regret_ratio(results["EOCP"], results["UCB"])
    assert low < ratio < high
    assert ratio == pytest.approx(results["EOCP"].regret[-1] / results["UCB"].regret[-1])
    assert regret_ratio(results["UCB"], results["UCB"]) == (1.0, 1.0, 1.0)


def test_no_regret_comes_after_a_right_commitment(figures):
    eocp = figures["fig1-gaussian"][0]["EOCP"]
    assert regret_after(eocp, 1124).value == 0.0
    assert regret_after(eocp, 1).value == pytest.approx(1.0, abs=0.02)


def test_growth_measures_slope_and_exponent():
    assert list(TABLE) == [row.policy for row in table() if not row.policy.startswith("LB")]
    row = TABLE["EOCP-UG"]
    growth = growth_of("EOCP-UG", runs=300)
    assert growth.horizons == (10**6, 10**12)
    results = [robai.simulate(robai.EOCPUG(), row.bandit, horizon, 300, rng=0) for horizon in growth.horizons]
    slope = np.diff([result.regret[-1] for result in results])[0] / math.log(10**6)
    assert growth.slope.value == pytest.approx(slope)
    assert growth.constant == pytest.approx(4.0)
    assert growth.exponent.value == pytest.approx(2.0, abs=5 * growth.exponent.sem)
    assert growth_of("UCB", runs=5).exponent is None
    assert growth_of("TS", runs=2).horizons == (10**3, 10**5)


def growth_of(label, runs):
    row = TABLE[label]
    results = [played[label] for played in row.run(runs=runs, rng=0)]
    return Growth.of(STUDY.growing.stated[label], row.bandit, results)


def test_reproduce_plays_what_is_asked_for_and_reports_every_policy():
    lines = []
    done = reproduce(
        STUDY, ["sensitivity"], quick=True, report=lambda line, final: lines.append((line, final))
    )
    assert set(done.results) == {each.name for each in SENSITIVITY.values()}
    (eocp,) = done.results["sensitivity-eocp"]
    assert next(iter(eocp)) == "EOCP, c = 0.00"
    final = [line for line, is_final in lines if is_final]
    assert len(final) == 2 * len(INFLATIONS)
    assert all(line.startswith("sensitivity ") and line.endswith(" s") for line in final)
    (alone,) = SENSITIVITY["EOCP"].run(runs=SENSITIVITY["EOCP"].quick_runs, rng=0)
    assert alone["EOCP, c = 0.00"] == eocp["EOCP, c = 0.00"]


def test_unknown_parts_are_refused_before_any_work():
    with pytest.raises(ValueError, match=r"only must be one of .*; did you mean fig1-gaussian"):
        reproduce(STUDY, ["fig1-gausian"])
    with pytest.raises(ValueError, match="rng must be from 0"):
        reproduce(STUDY, rng=-1)
    assert [*STUDY.sections] == [*FIGURES, "table1", "sensitivity"]
