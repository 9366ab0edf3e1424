"""Table 1, on results whose regrets and commitment times are exact powers of log T."""

import math
import statistics

import pytest
from support.examples import irregular

from robai.paper.gallery.zhang_ying2023 import STUDY, TABLE
from robai.paper.growth import Growth
from robai.paper.page import GROWTH_ON_A_TERMINAL, growth_rows

SHORT, LONG = 10**6, 10**12  # log T doubles
ARM = (0, 0, 1, 0, 2, 0, 0)
EXTRA = (0, 3, 1, 8, 2, 5, 13)  # the same runs at both horizons, and what each gains between them


def played(horizon, pulled, times, arms):
    """Runs that pull the worst arm so often, and commit then."""
    pulls = [(horizon - n - 1, n, 1) for n in pulled]
    return irregular("EOCP-UG", pulls, list(zip(times, arms, strict=True)), horizon)


def grown(*results):
    return Growth.of(STUDY.growing.stated["EOCP-UG"], TABLE["EOCP-UG"].bandit, results)


@pytest.fixture
def short():
    return played(SHORT, [100 + extra for extra in EXTRA], [1000 + 10 * extra for extra in EXTRA], ARM)


@pytest.fixture
def growth(short):
    long = played(
        LONG, [200 + 4 * extra for extra in EXTRA], [4000 + 70 * extra for extra in EXTRA], ARM[::-1]
    )
    return grown(short, long)


def sem(values):
    return statistics.stdev(values) / math.sqrt(len(values))


def test_the_slope_is_the_regret_gained_by_a_unit_of_log_t(growth):
    gained = [0.5 * (100 + 3 * extra) / math.log(LONG / SHORT) for extra in EXTRA]
    assert growth.slope == (pytest.approx(statistics.fmean(gained)), pytest.approx(sem(gained)))
    assert growth.constant == pytest.approx(2 / 0.5)


def test_a_regret_of_ten_log_t_has_slope_ten_and_no_error():
    """Up to whole pulls of the worst arm."""
    short, long = (played(T, [round(20 * math.log(T))] * 7, [5] * 7, ARM) for T in (SHORT, LONG))
    slope = grown(short, long).slope
    assert slope == (pytest.approx(10.0, abs=0.5 / math.log(SHORT)), pytest.approx(0.0, abs=1e-12))


@pytest.mark.parametrize("power", [1, 2, 3])
def test_the_exponent_is_the_power_of_log_t(power):
    """log T doubles: a time of that power is 2^power as long."""
    short, long = (played(T, [50] * 7, [time] * 7, ARM) for T, time in ((SHORT, 700), (LONG, 700 * 2**power)))
    assert grown(short, long).exponent == (pytest.approx(power), 0.0)


def test_the_error_of_the_exponent_is_that_of_both_times(growth):
    first, second = ([start + step * extra for extra in EXTRA] for start, step in ((1000, 10), (4000, 70)))
    means = statistics.fmean(first), statistics.fmean(second)
    errors = sem(first) / means[0], sem(second) / means[1]
    assert growth.exponent.value == pytest.approx(math.log2(means[1] / means[0]))
    assert growth.exponent.sem == pytest.approx(math.sqrt(errors[0] ** 2 + errors[1] ** 2) / math.log(2))


def test_runs_that_never_commit_count_as_the_horizon_unless_none_does():
    times = [-1, *[700] * 6]
    short, long = (played(T, [50] * 7, times, [-1, *ARM[1:]]) for T in (SHORT, LONG))
    assert [mean.value for mean in grown(short, long).commitments] == [
        pytest.approx((T + 4200) / 7) for T in (SHORT, LONG)
    ]
    short, long = (played(T, [50] * 7, [-1] * 7, [-1] * 7) for T in (SHORT, LONG))
    nothing = grown(short, long)
    assert nothing.commitments is nothing.exponent is None


def test_wrong_commitments_are_those_of_the_shorter_horizon(short):
    right = played(LONG, [50] * 7, [5] * 7, [0] * 7)
    assert grown(short, right).wrong.count == 2
    assert grown(right, short).wrong.count == 2


def test_growth_is_measured_while_log_t_doubles(short):
    others = [played(T, [50] * 7, [5] * 7, [0] * 7) for T in (LONG, 10**4, 10**8, SHORT - 1)]
    assert grown(*others, short).horizons == (SHORT, LONG)
    assert grown(*others).horizons == (10**8, LONG)


def test_the_row_has_every_number_in_its_column(growth, short):
    right = played(
        LONG, [200 + 4 * extra for extra in EXTRA], [4000 + 70 * extra for extra in EXTRA], [0] * 7
    )
    (row,) = growth_rows(STUDY.growing, [grown(short, right)])
    assert set(GROWTH_ON_A_TERMINAL) < set(row)
    log_t = math.log(SHORT)
    times = 1000 + 10 * 32 / 7, 4000 + 70 * 32 / 7
    assert (row["policy"], row["bandit"]) == ("EOCP-UG", "Gaussian (0.7, 0.2)")
    assert row["between T"] == "1e6, 1e12"
    assert row["regret / log T, paper"] == "4"
    assert row["measured slope"] == f"{growth.slope.value:.2f} ± {growth.slope.sem:.2f}"
    assert row["T_c / log T"] == f"{times[0] / log_t:.3g}, {times[1] / (2 * log_t):.3g}"
    assert row["T_c / log² T"] == f"{times[0] / log_t**2:.3g}, {times[1] / (2 * log_t) ** 2:.3g}"
    p = growth.exponent
    assert row["p, if T_c grows like log^p T"] == f"{p.value:.2f} ± {p.sem:.2f}"
    assert row["wrong commitments, 95 % interval"].startswith("2 of 7, ")
