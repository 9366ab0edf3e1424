"""Differences, slopes and quantiles, against plain Python and where the answer is known."""

import math
import statistics

import numpy as np
import pytest
from support.examples import COMMITMENTS, FINAL_REGRETS, PULLS, irregular

import robai
from robai.result import Comparison, Result
from robai.result.analysis import relative

Z = statistics.NormalDist().inv_cdf(0.975)
SEED = {"entropy": ["7"], "spawn_key": [], "bandit": {"type": "Gaussian"}}
OTHER = tuple((1000 - n - 20, 20, n) for n in (100, 700, 30, 400, 200, 880, 260))


def pair(one=SEED, other=SEED, **changes):
    return Comparison([irregular("A", **one), irregular("B", pulls=OTHER, **changes, **other)])


def curves(rows, times, label="A", meta=None):
    """Runs whose regret at `times` is given: one arm beside the best, with gap 1."""
    rows = np.array(rows, dtype=float)
    horizon = times[-1]
    final = rows[:, -1]
    return Result(
        times=times,
        regret=rows.mean(axis=0),
        regret_sem=rows.std(axis=0, ddof=1) / math.sqrt(len(rows)) if len(rows) > 1 else rows[0] * np.nan,
        final_regret=final,
        commit_time=np.full(len(rows), -1),
        committed_arm=np.full(len(rows), -1),
        pulls=np.column_stack([horizon - final, final]).astype(int),
        gaps=[0.0, 1.0],
        label=label,
        curves=rows,
        meta=meta or {},
    )


# ---- differences


def test_a_paired_difference_is_the_mean_of_the_differences():
    both = pair()
    differences = [a - b for a, b in zip(FINAL_REGRETS, both["B"].final_regret, strict=True)]
    found = both.difference("A", "B")
    sem = statistics.stdev(differences) / math.sqrt(7)
    assert found.mean == pytest.approx(statistics.fmean(differences))
    assert found.sem == pytest.approx(sem)
    assert found.interval == pytest.approx((found.mean - Z * sem, found.mean + Z * sem))
    assert (found.runs, found.paired) == (7, True)
    assert "7 pairs of runs" in str(found)
    back = both.difference("B", "A")
    assert (back.mean, back.low, back.high) == pytest.approx((-found.mean, -found.high, -found.low))


def test_an_independent_difference_adds_variances():
    both = pair()
    found = both.difference("A", "B", paired=False, confidence=0.5)
    variances = [statistics.variance(map(float, result.final_regret)) / 7 for result in both.values()]
    assert found.sem == pytest.approx(math.sqrt(sum(variances)))
    assert found.high - found.mean == pytest.approx(found.sem * statistics.NormalDist().inv_cdf(0.75))
    assert not found.paired
    assert "taken as independent" in str(found)


@pytest.mark.parametrize("name", SEED)
@pytest.mark.parametrize("how", ["another", "none"])
def test_runs_are_paired_if_seed_and_bandit_agree(name, how):
    other = {**SEED, name: ["8"]} if how == "another" else {key: SEED[key] for key in SEED if key != name}
    assert not pair(other=other).difference("A", "B").paired
    assert not pair(one=other).difference("A", "B").paired
    assert pair(other=other).difference("A", "B", paired=True).paired
    assert pair(one={}, other={}).difference("A", "B").paired is False


def test_different_numbers_of_runs_are_not_paired():
    shorter = irregular("B", pulls=PULLS[:4], commitments=COMMITMENTS[:4], **SEED)
    both = Comparison([irregular("A", **SEED), shorter])
    found = both.difference("A", "B")
    assert (found.paired, found.runs) == (False, 4)
    assert found.mean == pytest.approx(statistics.fmean(FINAL_REGRETS) - statistics.fmean(FINAL_REGRETS[:4]))
    with pytest.raises(
        ValueError, match="paired must be False or 'auto' for different numbers of runs, 7 of"
    ):
        both.difference("A", "B", paired=True)


def test_commitment_counts_never_as_the_horizon():
    late = tuple((10 * round_, arm) if 0 < round_ < 100 else (round_, arm) for round_, arm in COMMITMENTS)
    found = pair(commitments=late).difference("B", "A", "commitment")
    gained = [9 * 47, 9 * 88, *[0] * 5]
    assert found.mean == pytest.approx(statistics.fmean(gained))
    assert found.sem == pytest.approx(statistics.stdev(gained) / math.sqrt(7))
    never = pair(commitments=((-1, -1),) * 7)
    with pytest.raises(ValueError, match="quantity must be 'regret' for 'B', no run of which committed"):
        never.difference("A", "B", quantity="commitment")


def test_one_run_has_a_difference_without_an_error():
    one = Comparison([curves([[1.0, 5.0]], [10, 100], name) for name in "AB"])
    found = one.difference("A", "B")
    assert found.mean == 0.0
    assert all(math.isnan(value) for value in (found.sem, *found.interval))
    assert "unknown" in str(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("A", "C"), "a policy must be one of 'A', 'B', got 'C'"),
        (("A", "B", "pulls"), "quantity must be one of"),
        (("A", "B", "regret", "yes"), "paired must be True, False or 'auto', got 'yes'"),
        (("A", "B", "regret", "auto", 1.0), "confidence must be"),
    ],
)
def test_wrong_arguments_of_a_difference_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        pair().difference(*arguments)


def test_pairs_of_a_comparison_vary_less_and_give_the_same_mean():
    policies = [robai.UCB(), robai.EOCPUG()]
    played = robai.compare(policies, robai.Gaussian([0.7, 0.2]), 10**4, 2000, rng=5, times=1)
    paired = played.difference("UCB()", "EOCPUG()")
    free = played.difference("UCB()", "EOCPUG()", paired=False)
    assert paired.paired
    assert paired.mean == free.mean
    assert paired.sem < 0.9 * free.sem
    again = robai.compare(policies, robai.Gaussian([0.7, 0.2]), 10**4, 2000, rng=6, times=1)
    apart = Comparison([played["UCB()"], again["EOCPUG()"]]).difference("UCB()", "EOCPUG()")
    assert not apart.paired
    assert apart.mean == pytest.approx(paired.mean, abs=5 * math.hypot(apart.sem, paired.sem))


def test_the_interval_of_a_ratio_covers_as_often_as_it_says():
    """Of correlated positive numbers with a known ratio of means, 1.25."""
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(1000):
        common = rng.exponential(1.0, 400)
        first = np.rint(100 * (common + 0.25 * rng.exponential(1.0, 400)))
        one = curves(first[:, None], [10**4], "A", SEED)
        other = curves(np.rint(100 * common)[:, None], [10**4], "B", SEED)
        found = relative(one, other)
        hits += found.low <= 0.25 <= found.high
    assert 950 - 5 * 6.9 <= hits <= 950 + 5 * 6.9


# ---- along a curve

TIMES = [1, 10, 100, 1000]
ROWS = [[0.0, 1.0, 3.0, 4.0], [1.0, 1.0, 2.0, 9.0], [0.0, 4.0, 5.0, 5.0]]


def test_quantiles_are_over_the_runs():
    result = curves(ROWS, TIMES)
    assert result.quantiles(0.5).tolist() == [0.0, 1.0, 3.0, 5.0]
    assert result.quantiles([0.0, 1.0]).tolist() == [[0.0, 1.0, 2.0, 4.0], [1.0, 4.0, 5.0, 9.0]]
    with pytest.raises(ValueError, match=r"q must be between 0 and 1, got 1\.5"):
        result.quantiles(1.5)
    with pytest.raises(ValueError, match=r"quantiles needs the regret of every run of 'EOCP'.*curves=True"):
        irregular().quantiles(0.5)


def test_area_is_the_average_over_log_rounds():
    result = curves([[0.0, 2.0, 4.0, 6.0]] * 2, TIMES)  # a straight line in log t
    assert result.area() == pytest.approx(3.0)
    trapezoids = [9 * 1.0, 90 * 3.0, 900 * 5.0]
    assert result.area(log=False) == pytest.approx(sum(trapezoids) / 999)
    assert curves([[7.0]], [100]).area() == 7.0


def test_normalised_divides_by_the_constant_of_the_bandit():
    played = robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 1000, 20, rng=0, times=TIMES)
    expected = played.regret[1:] / (4.0 * np.log(TIMES[1:]))
    assert played.normalised()[1:] == pytest.approx(expected)
    assert math.isnan(played.normalised()[0])
    assert played.normalised(constant=2.0)[1:] == pytest.approx(2 * expected)
    many = robai.Bernoulli([0.5, *np.linspace(0.1, 0.4, 10)])
    played = robai.simulate(robai.KLUCB(), many, 1000, 5, rng=0)
    scale = robai.theory.lai_robbins(many) * math.log(1000)
    assert played.normalised()[-1] == pytest.approx(played.regret[-1] / scale)


@pytest.mark.parametrize(
    "bandit",
    [
        robai.Empirical([[0.0, 1.0], [0.0, 0.0, 1.0]]),  # has no family
        robai.Beta([0.5, 0.25], 2.0),  # has one that is many laws
    ],
)
def test_a_constant_that_is_not_known_must_be_given(bandit):
    played = robai.simulate(robai.UCB(), bandit, 2000, 2, rng=0)
    with pytest.raises(ValueError, match=r"constant must be given for 'UCB\(\)'"):
        played.normalised()
    assert played.normalised(constant=1.0)[-1] == pytest.approx(played.regret[-1] / math.log(2000))
    with pytest.raises(ValueError, match="constant must be given for 'EOCP'"):
        irregular().normalised()
    with pytest.raises(ValueError, match="constant must be above 0"):
        irregular().normalised(-1.0)


def test_slope_is_that_of_least_squares_with_the_error_of_the_runs():
    result = curves(ROWS, TIMES)
    x = np.log(TIMES[1:])
    slopes = [np.polyfit(x, row[1:], 1)[0] for row in ROWS]
    found = result.slope(since=10)
    assert found.value == pytest.approx(statistics.fmean(slopes))
    assert found.value == pytest.approx(np.polyfit(x, result.regret[1:], 1)[0])
    assert found.sem == pytest.approx(statistics.stdev(slopes) / math.sqrt(3))
    assert result.slope(since=1.5) == found


def test_log_slope_is_the_exponent():
    times = [100, 1000, 10**4, 10**6]
    rows = np.rint([[c * math.sqrt(t) for t in times] for c in (90.0, 100.0, 130.0)])
    found = curves(rows, times).log_slope(since=100)
    assert found.value == pytest.approx(0.5, abs=1e-3)
    assert found.sem < 1e-3  # all runs have the same exponent, whatever their factors
    uneven = curves(ROWS, TIMES)
    logs, x = np.log(uneven.regret[1:]), np.log(TIMES[1:])
    assert uneven.log_slope(since=10).value == pytest.approx(np.polyfit(x, logs, 1)[0])
    rng = np.random.default_rng(0)
    again = [
        np.polyfit(x, np.log(np.array(ROWS)[rng.integers(0, 3, 300), 1:].mean(axis=0)), 1)[0]
        for _ in range(500)
    ]
    many = curves(ROWS * 100, TIMES).log_slope(since=10)
    assert statistics.stdev(again) == pytest.approx(many.sem, rel=0.15)


def test_slopes_say_what_they_need():
    result = curves(ROWS, TIMES)
    with pytest.raises(ValueError, match="since must leave slope two recorded rounds at least, got 500"):
        result.slope(500)
    with pytest.raises(ValueError, match=r"since must be at least 1, got 0"):
        result.slope(0)
    with pytest.raises(ValueError, match="slope needs the regret of every run"):
        irregular().slope(10)
    silent = curves([[0.0, 0.0, 1.0, 2.0]] * 2, TIMES)
    with pytest.raises(
        ValueError, match="since must be a round from which on there is regret, 100 for 'A', got 10"
    ):
        silent.log_slope(10)


def test_regret_at_is_exact_or_names_the_nearest_rounds():
    both = Comparison([irregular("A"), irregular("B", pulls=OTHER)])
    assert both.regret_at(100) == {"A": (41.25, 6.5), "B": (41.25, 6.5)}
    assert both["A"].regret_at(1000).value == both["A"].regret[-1]
    with pytest.raises(ValueError, match="recorded round of 'A', the nearest are 100 and 1,000, got 500"):
        both.regret_at(500)
    with pytest.raises(ValueError, match="recorded round of 'A', the nearest are 10, got 3"):
        both.regret_at(3)
    with pytest.raises(ValueError, match="t must be"):
        both.regret_at(1001)


def test_half_of_the_regret_is_counted_from_the_largest():
    assert irregular().half_of_regret() == 3  # 281.25 + 157 + 130 of 898.5; the first two have 438.25
    even = curves([[8.0]] * 10, [100])
    assert even.half_of_regret() == 5
    assert curves([[0.0]] * 4, [100]).half_of_regret() == 1
