"""T times the probability of a wrong commitment."""

import pytest
from matplotlib.figure import Figure

from robai.confidence import WrongCommitEstimate
from robai.plotting import plot_confidence


def estimate(horizon, probability, policy="EOCPUG()"):
    return WrongCommitEstimate(probability, 0.02, 1000, 500, 400.0, 0.01, horizon, policy, "bandit")


def test_a_curve_for_each_policy_with_its_intervals():
    ax = Figure().subplots()
    found = [estimate(10**6, 3e-7), estimate(100, 4e-3), estimate(100, 1e-3, "other")]
    assert plot_confidence(found, ax) is ax
    one, other = ax.containers
    assert one.lines[0].get_xydata().tolist() == [[100.0, 0.4], [10.0**6, 3e-7 * 10**6]]
    assert other.lines[0].get_xydata().tolist() == [[100.0, 0.1]]
    low, high = one.lines[2][0].get_segments()[0][:, 1]
    assert low == pytest.approx(100 * found[1].low)
    assert high == pytest.approx(100 * found[1].high)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert one.lines[0].get_color() != other.lines[0].get_color()


def test_there_is_something_to_draw():
    with pytest.raises(ValueError, match="at least one"):
        plot_confidence([])
