"""What figures show, read back from what was drawn."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure
from support.examples import COMMITMENTS, FINAL_REGRETS, PULLS, irregular

from robai.plotting import (
    plot_commitment,
    plot_final_regret,
    plot_parameter,
    plot_pulls,
    plot_regret,
    plot_scaling,
    plot_tradeoff,
    plot_wrong_commit,
)

Z = statistics.NormalDist().inv_cdf(0.975)
MEAN = float(Fraction(1797, 14))
SEM = statistics.stdev(FINAL_REGRETS) / math.sqrt(7)
CAPPED = [round_ if round_ > 0 else 1000 for round_, _ in COMMITMENTS]
CAPPED_SEM = statistics.stdev(CAPPED) / math.sqrt(7)
CAPPED_MEAN = 3338 / 7


@pytest.fixture
def ax():
    return Figure().subplots()


def points(*pairs):
    return pytest.approx(np.array(pairs))


def bars(container, axis):
    """The lower and upper ends of the error bars along an axis."""
    lines = container.lines[2]
    return [segment[:, axis].tolist() for segment in lines[axis if len(lines) > 1 else 0].get_segments()]


def test_regret_has_mean_band_and_the_median_commitment(ax):
    plot_regret(irregular(), ax)
    line, dot = ax.lines
    assert line.get_xydata() == points((10, 3.5), (100, 41.25), (1000, MEAN))
    vertices = ax.collections[0].get_paths()[0].vertices
    for time, mean, sem in ((10, 3.5, 0.75), (100, 41.25, 6.5), (1000, MEAN, SEM)):
        heights = {y for x, y in vertices if x == time}
        assert (min(heights), max(heights)) == (pytest.approx(mean - Z * sem), pytest.approx(mean + Z * sem))
    share = math.log(150 / 100) / math.log(10)  # of the way to the next record
    ((x, y),) = dot.get_xydata()
    assert (x, y) == (150, pytest.approx(41.25 + share * (MEAN - 41.25)))


def test_commitment_is_the_share_of_all_runs(ax):
    plot_commitment(irregular(), ax)
    steps = [(1, 0), *((time, (i + 1) / 7) for i, time in enumerate((47, 88, 150, 333, 720))), (1000, 5 / 7)]
    assert ax.lines[0].get_xydata() == points(*steps)
    assert [text.get_text() for text in ax.texts] == ["EOCP, 29 % never"]


def test_tradeoff_has_both_means_and_both_errors(ax):
    plot_tradeoff(irregular(), ax)
    (container,) = ax.containers
    assert container.lines[0].get_xydata() == points((CAPPED_MEAN, MEAN))
    assert bars(container, 0) == [pytest.approx([CAPPED_MEAN + sign * Z * CAPPED_SEM for sign in (-1, 1)])]
    assert bars(container, 1) == [pytest.approx([MEAN + sign * Z * SEM for sign in (-1, 1)])]


@pytest.mark.parametrize(
    ("quantity", "mean", "sem"), [("regret", MEAN, SEM), ("commitment", CAPPED_MEAN, CAPPED_SEM)]
)
def test_scaling_and_parameter_have_means_and_errors(ax, quantity, mean, sem):
    longer = irregular(pulls=[(n + 9000, *rest) for n, *rest in PULLS], horizon=10**4)
    plot_scaling([longer, irregular()], ax, quantity=quantity)
    log_t = math.log(1000)
    (container,) = ax.containers
    assert container.lines[0].get_xydata()[0] == pytest.approx([1000, mean / log_t])
    assert bars(container, 1)[0] == pytest.approx([(mean + sign * Z * sem) / log_t for sign in (-1, 1)])
    ax = Figure().subplots()
    plot_parameter({"EOCP": [irregular()]}, [2.5], ax, quantity=quantity, reference=irregular("UCB"))
    (container,) = ax.containers
    assert container.lines[0].get_xydata() == points((2.5, mean))
    assert bars(container, 1) == [pytest.approx([mean + sign * Z * sem for sign in (-1, 1)])]
    assert list(ax.lines[-1].get_ydata()) == pytest.approx([mean, mean])


def test_final_regret_has_quantiles_median_mean_and_largest(ax):
    plot_final_regret(irregular(), ax)
    thin, thick, median, mean, largest = (list(line.get_xdata()) for line in ax.lines)
    assert thin == pytest.approx([33.8, 243.975])
    assert thick == pytest.approx([107.5, 143.5])
    assert (median, mean, largest) == ([112.5], pytest.approx([MEAN]), [281.25])


def test_wrong_commitments_have_rate_interval_and_goal(ax):
    result = irregular()
    plot_wrong_commit(result, ax)
    interval, rate, goal = (list(line.get_xdata()) for line in ax.lines)
    assert interval == pytest.approx([0.1466328, 0.9472550], abs=1e-7)
    assert rate == [pytest.approx(3 / 5)]
    assert goal == [1 / 1000, 1 / 1000]


def test_pulls_are_shares_on_average(ax):
    plot_pulls(irregular(), ax)
    assert [line.get_xdata()[0] for line in ax.lines] == pytest.approx([n / 7000 for n in (3532, 1240, 2228)])


def test_predictions_are_dashed_lines_in_the_colour_of_their_policy():
    """Divided by log T as means are; a horizon without a prediction is left out."""
    longer = irregular("A", pulls=[(n + 9000, *rest) for n, *rest in PULLS], horizon=10**4)
    results = [irregular("A"), longer]
    ax = Figure().subplots()
    plot_scaling(results, ax, predicted={"A": {10_000: 46.0, 1000: 30.0, 100: None}})
    (dashed,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed.get_xdata().tolist() == [1000, 10_000]
    assert dashed.get_ydata() == pytest.approx([30.0 / np.log(1000), 46.0 / np.log(10_000)])
    assert dashed.get_color() == ax.containers[0].lines[0].get_color()
    with pytest.raises(ValueError, match="predicted must be of labels that are drawn, got 'B'"):
        plot_scaling(results, predicted={"B": {1000: 1.0}})
