"""What figures of identifications show, read back from what was drawn."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import robai
from robai.plotting import plot_error, plot_proportions, plot_stopping_time

BANDIT = robai.Bernoulli([0.8, 0.3, 0.2])
NAMED = {"tracking": robai.TrackAndStop(), "elimination": robai.ActionElimination()}


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def found():
    return robai.identify(NAMED, BANDIT, delta=0.1, runs=50, rng=1)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_stopping_time_is_a_distribution_with_its_mean_and_the_lower_bound(ax, found):
    found.plot(ax)
    curve, mean, *_, dashed = ax.lines
    first = found["tracking"]
    times, counts = np.unique(first.stopping_time, return_counts=True)
    assert curve.get_xdata()[1:-1].tolist() == times.tolist()
    assert curve.get_ydata()[1:-1] == pytest.approx(np.cumsum(counts) / 50)
    assert mean.get_xdata()[0] == first.time().mean
    assert mean.get_marker() == "o"
    assert mean.get_ydata()[0] == pytest.approx((first.stopping_time <= first.time().mean).mean())
    assert dashed.get_xdata()[0] == first.complexity.lower
    assert labels(ax) == ["tracking", "elimination"]
    assert ax.get_xscale() == "log"


def test_runs_that_did_not_stop_are_said_and_make_the_mean_a_lower_bound(ax):
    found = robai.identify(robai.TrackAndStop(), BANDIT, delta=0.1, horizon=15, runs=40, rng=0)
    found.plot(ax)
    assert ax.lines[1].get_marker() == ">"
    assert ax.lines[0].get_ydata()[-1] == found.finished.mean()
    assert "unfinished" in labels(ax)[0]
    assert ax.get_xlim()[1] < 100
    none = robai.identify(robai.TrackAndStop(), BANDIT, delta=0.1, horizon=4, runs=3, rng=0)
    none.plot(Figure().subplots())
    none.plot_error(Figure().subplots())


def test_shares_are_drawn_beside_the_optimal_ones(ax, found):
    found.plot_proportions(ax)
    bars, *points = ax.containers
    assert [bar.get_height() for bar in bars] == pytest.approx(found["tracking"].complexity.weights)
    for each, drawn in zip(found.values(), points, strict=True):
        shares, sem, _ = each.proportions()
        assert drawn.lines[0].get_ydata() == pytest.approx(shares)
        (bars,) = drawn.lines[2]
        lengths = [np.ptp(segment[:, 1]) for segment in bars.get_segments()]
        assert lengths == pytest.approx(2 * 1.96 * sem, rel=1e-4)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["arm 0", "arm 1", "arm 2"]
    assert labels(ax) == ["optimal, w*", "tracking", "elimination"]


def test_many_arms_are_in_the_order_of_their_means(ax):
    bandit = robai.Bernoulli(np.linspace(0.1, 0.9, 12))
    found = robai.identify(robai.UCB(), bandit, budget=200, runs=20, rng=0)
    plot_proportions(found, ax)
    assert ax.containers[-1].lines[0].get_ydata() == pytest.approx(found.proportions().shares[::-1])
    assert ax.get_xlabel() == "arm, by the rank of its mean"
    own = robai.Instances("bernoulli", robai.priors.Uniform(0, 1), 3)
    plot_proportions(robai.identify(robai.UCB(), own, budget=50, runs=9, rng=0), Figure().subplots())


def test_failures_have_a_row_each_and_a_line_at_delta(ax, found):
    found.plot_error(ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["tracking", "elimination"]
    assert ax.lines[-1].get_xdata()[0] == 0.1
    assert "delta" in [text.get_text() for text in ax.texts]
    rates = [each.failure() for each in found.values()]
    drawn = [line.get_xdata()[-1] for line in ax.lines if line.get_marker() == "|"]
    assert drawn == pytest.approx([rate.high for rate in rates])


def test_runs_that_did_not_stop_are_drawn_as_failures(ax):
    found = robai.identify(robai.TrackAndStop(), BANDIT, delta=0.1, horizon=15, runs=40, rng=0)
    rate = found.failure()
    assert 0 < found.unfinished <= rate.count < found.runs
    found.plot_error(ax)
    interval, point, _ = ax.lines
    assert interval.get_xdata() == pytest.approx([rate.low, rate.high])
    assert point.get_xdata() == pytest.approx([rate.rate])


def test_failures_are_drawn_against_budgets(ax):
    found = robai.identify([robai.UCB(), robai.KLUCB()], BANDIT, budget=[8, 4, 300], runs=100, rng=0)
    found.plot_error(ax)
    for label, drawn in zip(("UCB()", "KLUCB()"), ax.containers, strict=True):
        rates = [found[label, budget].failure() for budget in (4, 8, 300)]
        assert rates[-1].count == 0
        heights = [rate.rate for rate in rates[:-1]] + [rates[-1].high]
        assert drawn.lines[0].get_xydata() == pytest.approx(np.array([(4, 8, 300), heights]).T)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert ax.get_ylim()[0] < rates[-1].high
    found.plot(Figure().subplots())


def test_only_identifications_are_drawn(ax):
    played = robai.simulate(robai.UCB(), BANDIT, 10, 2, rng=0)
    for draw in (plot_stopping_time, plot_error, plot_proportions):
        with pytest.raises(TypeError, match="results must be Identification objects"):
            draw(played, ax)
        with pytest.raises(ValueError, match="at least one Identification, got none"):
            draw([], ax)
