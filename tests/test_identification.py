"""What `identify` returns: errors, times, complexity, files and texts."""

import copy
import math
import pickle

import numpy as np
import pytest

import robai
from robai._base.intervals import clopper_pearson
from robai._base.text import percent
from robai.result.identification_text import record

FOUR, FIVE = [0.5, 0.45, 0.43, 0.4], [0.3, 0.21, 0.2, 0.19, 0.18]
BANDIT = robai.Bernoulli([0.8, 0.3, 0.2])


def made(**changes):
    """Four runs on three arms: right, wrong, right, unfinished."""
    given = {
        "stopping_time": [10, 20, 30, 100],
        "recommended_arm": [0, 1, 0, -1],
        "pulls": [[5, 3, 2], [5, 10, 5], [20, 5, 5], [40, 30, 30]],
        "gaps": [0.0, 0.5, 0.6],
        "means": [0.8, 0.3, 0.2],
        "horizon": 100,
        "delta": 0.1,
        "label": "one",
        "meta": {"bandit": BANDIT.to_dict(), "entropy": ["1"], "seconds": 2.0, "engine": "step"},
    }
    return robai.Identification(**given | changes)


@pytest.fixture(scope="module")
def found():
    policies = [robai.TrackAndStop(), robai.ActionElimination()]
    return robai.identify(policies, BANDIT, delta=0.1, runs=80, rng=3)


def test_errors_are_of_the_runs_that_stopped_and_failures_of_all():
    assert made().error() == (1, 3, 1 / 3, *clopper_pearson(1, 3))
    assert made().failure() == (2, 4, 1 / 2, *clopper_pearson(2, 4))
    assert made().error(0.5).high < made().error().high
    none = made(recommended_arm=[-1] * 4, stopping_time=[100] * 4, pulls=[[40, 30, 30]] * 4)
    assert none.error()[:2] == (0, 0)
    assert math.isnan(none.error().rate)
    assert none.error()[3:] == (0.0, 1.0)
    assert none.failure()[:3] == (4, 4, 1.0)
    assert "no run stopped" in none.summary()


def test_any_of_several_best_arms_is_right():
    tied = made(gaps=[0.0, 0.0, 0.6], means=[0.8, 0.8, 0.2])
    assert tied.error().count == 0
    assert tied.failure().count == 1
    assert tied.complexity is None
    played = robai.identify(
        robai.TrackAndStop(), robai.Bernoulli([0.7, 0.7]), delta=0.1, horizon=200, runs=50
    )
    assert played.error().count == 0


def test_the_time_is_a_lower_bound_if_runs_did_not_stop():
    time = made().time()
    assert time.mean == 40.0
    assert time.sem == pytest.approx(np.std([10, 20, 30, 100], ddof=1) / 2)
    assert (time.early, time.median, time.late) == tuple(np.quantile([10, 20, 30, 100], [0.1, 0.5, 0.9]))
    assert time.at_least
    assert ">= 40" in made().summary()
    assert made().summary().index("unfinished  1 runs") < made().summary().index("rounds ")
    assert made().simple_regret().value == pytest.approx(0.5 / 3)


@pytest.mark.parametrize(
    ("means", "time", "weights", "lower", "first_order"),
    [
        (FOUR, 989.79, [0.4165, 0.3903, 0.1362, 0.0570], 1739.8, 2279.1),
        (FIVE, 326.64, [0.3359, 0.2515, 0.1766, 0.1324, 0.1036], 574.2, 752.1),
    ],
)
def test_complexity_of_garivier_and_kaufmann(means, time, weights, lower, first_order):
    bandit = robai.Bernoulli(means)
    found = robai.identify(robai.TrackAndStop(), bandit, delta=0.1, horizon=len(means), runs=1).complexity
    assert found.time == pytest.approx(time, abs=5e-3)
    assert found.weights == pytest.approx(weights, abs=5e-5)
    assert found.lower == pytest.approx(lower, abs=5e-2)
    assert found.first_order == pytest.approx(first_order, abs=5e-2)


def test_complexity_of_two_gaussian_arms():
    bandit = robai.Gaussian([0.7, 0.2], sigma=2)
    known = robai.identify(robai.EOCPUG(), bandit, horizon=1000, runs=5, rng=0).complexity
    assert known.time == pytest.approx(128)
    assert known.weights == pytest.approx([0.5, 0.5])
    assert known.lower is known.first_order is None
    half = made(delta=0.5, meta={"bandit": BANDIT.to_dict()}).complexity
    assert half.lower == 0.0


@pytest.mark.parametrize(
    "bandit",
    [
        robai.Empirical([[0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.1]]),
        robai.Bernoulli([0.8, 0.8, 0.2]),
        robai.Gaussian([0.0, 1e-170]),
    ],
)
def test_no_complexity_where_there_is_none(bandit):
    found = robai.identify(robai.UCB(), bandit, budget=30, runs=5, rng=0)
    assert found.complexity is None
    assert "nan" not in found.summary()


def test_track_and_stop_is_above_its_lower_bound_and_keeps_to_delta():
    found = robai.identify(robai.TrackAndStop(), robai.Bernoulli(FIVE), delta=0.1, runs=400, rng=1)
    time = found.time()
    assert abs(time.mean - 1391) < 5 * math.hypot(time.sem, 16)  # an independent program, 3,000 runs
    assert time.mean - 5 * time.sem > found.complexity.lower
    assert found.failure().low < 0.1


def test_shares_are_of_the_rounds_of_each_run():
    shares, sem, optimal = made().proportions()
    each = np.array([[0.5, 0.3, 0.2], [0.25, 0.5, 0.25], [2 / 3, 1 / 6, 1 / 6], [0.4, 0.3, 0.3]])
    assert shares == pytest.approx(each.mean(axis=0))
    assert sem == pytest.approx(each.std(axis=0, ddof=1) / 2)
    assert optimal == pytest.approx(robai.theory.weights(BANDIT)[0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stopping_time": [10, 20, 30, 99]}, "stopping_time must be 100 where recommended_arm is -1"),
        ({"stopping_time": [10, 20, 30, 101]}, "stopping_time must be between 0 and 100"),
        ({"recommended_arm": [0, 1, 3, -1]}, "recommended_arm must be between -1 and 2"),
        ({"pulls": [[5, 3, 3]] * 4}, "pulls must be at least 0 and sum to stopping_time"),
        ({"gaps": [0.1, 0.5, 0.6]}, "gaps must be finite, at least 0 and 0 for the best arm"),
        ({"means": [0.8, 0.4, 0.2]}, "means must be finite, with these gaps"),
        ({"delta": 1.0}, "delta must be None or between 0 and 1"),
        ({"budget": 100}, "budget must be None, or the horizon 100 and delta None"),
        ({"delta": None, "budget": 99}, "budget must be None, or the horizon 100"),
        ({"horizon": 0}, "horizon must be a number from 1 to 1e100"),
        ({"pulls": [[5, 3], [2, 2]]}, r"pulls must have shape \(4, 3\) to agree with 4 runs and 3 arms"),
        ({"label": ""}, "label must be a non-empty string"),
    ],
)
def test_numbers_that_cannot_be(changes, message):
    with pytest.raises(ValueError, match=message):
        made(**changes)


def test_files_pickles_and_copies_are_the_same(found, tmp_path):
    one = found["TrackAndStop()"]
    one.save(tmp_path / "one.npz")
    again = robai.Identification.load(tmp_path / "one.npz")
    assert again == one
    assert again.meta == one.meta
    found.save(tmp_path / "both.npz")
    assert dict(robai.Identifications.load(tmp_path / "both.npz")) == dict(found)
    for same in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert same == one
        with pytest.raises(ValueError, match="read-only"):
            same.pulls[0, 0] = 1
    with pytest.raises(ValueError, match=r"format must be 'robai.Result', got 'robai.Identification'"):
        robai.Result.load(tmp_path / "one.npz")
    far = robai.identify(robai.EOCPUG(), robai.Gaussian([1, 0]), horizon=1e100, runs=3, rng=0)
    far.save(tmp_path / "far.npz")
    assert robai.Identification.load(tmp_path / "far.npz") == far


def test_budgets_come_back_by_their_keys(tmp_path):
    found = robai.identify(robai.UCB(), BANDIT, budget=[10, 20], runs=5, rng=0)
    found.save(tmp_path / "budgets.npz")
    assert list(robai.Identifications.load(tmp_path / "budgets.npz")) == [("UCB()", 10), ("UCB()", 20)]


def test_equal_is_what_has_the_same_numbers():
    assert made() == made(meta={})
    assert made() != made(delta=0.2)
    assert made() != made(label="other")
    assert made() != made(recommended_arm=[0, 0, 0, -1])
    assert made() != 3


def test_tables_have_a_row_a_run(found):
    pandas = pytest.importorskip("pandas")
    table = made().to_dataframe()
    assert table.columns.tolist() == [
        *("policy", "run", "stopping_time", "recommended_arm", "wrong", "pulls_0", "pulls_1", "pulls_2")
    ]
    assert table.wrong.tolist()[:3] == [False, True, False]
    assert table.recommended_arm[3] is pandas.NA
    assert table.wrong[3] is pandas.NA
    assert len(found.to_dataframe()) == 160
    budgets = robai.identify(robai.UCB(), BANDIT, budget=[10, 20], runs=5, rng=0).to_dataframe()
    assert budgets.groupby("budget").size().tolist() == [5, 5]


def test_runs_of_other_seeds_are_merged():
    ask = {"policy": robai.TrackAndStop(), "bandit": BANDIT, "delta": 0.1, "runs": 20}
    one, two, three = (robai.identify(**ask, rng=seed) for seed in (1, 2, 3))
    merged = one.merge(two).merge(three)
    assert merged == one.merge(two, three)
    assert merged.runs == merged.meta["runs"] == 60
    assert np.array_equal(merged.stopping_time[20:40], two.stopping_time)
    assert merged.meta["seeds"][1][0] == two.meta["entropy"]
    with pytest.raises(ValueError, match="others must have other runs or seeds, got runs 0 to 19 of seed 2"):
        merged.merge(two)
    with pytest.raises(ValueError, match=r"others must have the same delta, 0.1, got 0.2"):
        one.merge(robai.identify(**ask | {"delta": 0.2}, rng=2))
    with pytest.raises(ValueError, match="others must be of the same bandit"):
        one.merge(robai.identify(**ask | {"bandit": robai.Bernoulli([0.8, 0.3, 0.1])}, rng=2))
    with pytest.raises(TypeError, match="others must be Identification objects"):
        one.merge(3)


def test_several_must_be_asked_the_same(found):
    with pytest.raises(ValueError, match=r"found must be asked the same, got delta 0.1"):
        robai.Identifications([made(), made(label="two", delta=0.2)])
    with pytest.raises(ValueError, match="found must have different labels, got 'one' twice"):
        robai.Identifications([made(), made()])
    with pytest.raises(ValueError, match="found must share their gaps"):
        robai.Identifications([made(), made(label="two", gaps=[0.0, 0.5, 0.7], means=[0.9, 0.4, 0.2])])
    with pytest.raises(ValueError, match="at least one Identification, got none"):
        robai.Identifications([])
    with pytest.raises(TypeError, match="must hold Identification objects"):
        robai.Identifications([3])
    assert repr(found) == "<Identifications of TrackAndStop(), ActionElimination()>"
    assert repr(made()) == "<Identification one: runs 4, stopping time >= 40>"


def test_the_page_of_one_has_the_numbers_in_their_places():
    lines = made().summary().splitlines()
    early, _, late = np.quantile([10, 20, 30, 100], [0.1, 0.5, 0.9])
    assert f"10 % of the runs stopped by {early:,.0f}, half by 25, 90 % by {late:,.0f}" in lines[6]
    lower = made().complexity.lower
    assert lines[7].split("T*")[0].strip() == f">= {40 / lower:.2f} times the lower bound,"
    assert lines[7].endswith(f" = {lower:,.1f}")
    counts = {title: line for line in lines if (title := line.split()[0]) in ("errors", "failures")}
    for title, (count, of, rate, low, high) in (("errors", made().error()), ("failures", made().failure())):
        text = f"{count} of {of}, {percent(rate)} ({percent(low)} to {percent(high)})"
        assert counts[title].removeprefix(title).strip().startswith(text)


def test_the_table_of_several_says_what_did_not_stop_and_what_is_above_delta():
    pulls = [[40, 30, 30]] * 40
    wrong = made(stopping_time=[100] * 40, recommended_arm=[1] * 40, pulls=pulls, label="wrong")
    lost = made(stopping_time=[100] * 40, recommended_arm=[-1] * 40, pulls=pulls, label="lost")
    right = made(stopping_time=[100] * 40, recommended_arm=[0] * 40, pulls=pulls, label="right")
    lines = robai.Identifications([wrong, lost, right]).summary().splitlines()
    head = next(line for line in lines if line.startswith("policy"))
    assert head.split()[:3] == ["policy", "unfinished", "runs"]
    row = {line.split()[0]: line for line in lines if line[:5] in ("wrong", "lost ", "right")}
    assert row["wrong"].endswith(" !")
    assert row["lost"].split()[1] == "40"
    assert ">= 100" in row["lost"]
    assert row["lost"].endswith("- !")
    assert not row["right"].endswith("!")
    assert "! wrong or unfinished more often than delta = 0.1, at 95 %" in lines
    lower = right.complexity.lower
    assert f"{100 / lower:.2f}" in row["right"]
    assert f"{np.abs(right.proportions().shares - right.complexity.weights).max():.3f}" in row["right"]
    (mixed,) = (line for line in robai.Identifications([made()]).summary().splitlines() if line[:4] == "one ")
    low, high = map(percent, clopper_pearson(1, 3))
    assert mixed.endswith(f"1, {percent(1 / 3)} ({low} to {high})")
    assert mixed.split()[:7] == ["one", "1", "4", ">=", "40", "±", "20"]
    assert mixed.split()[7] == "25"  # the median


def test_a_script_reads_the_same_numbers():
    numbers = record(made())
    assert numbers["failures"] == 2
    assert (numbers["error_low"], numbers["error_high"]) == clopper_pearson(1, 3)
    assert (numbers["failure_low"], numbers["failure_high"]) == clopper_pearson(2, 4)
    assert numbers["time_quantiles"] == np.quantile([10, 20, 30, 100], [0.1, 0.5, 0.9]).tolist()
    assert numbers["time"] == 40.0
    assert numbers["time_is_lower_bound"] is True
    assert numbers["lower"] == made().complexity.lower
    assert numbers["error"] == pytest.approx(1 / 3)
    one = record(robai.identify(robai.UCB(), BANDIT, budget=5, runs=1, rng=0))
    assert one["time_sem"] is None
    assert one["budget"] == 5
