"""What figures say in marks and words: limits, single runs, heavy tails, ranks of arms."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from support.figures import labelled, legend, make

from robai._base.text import percent
from robai.plotting import plot_pulls, plot_scaling
from robai.result import Result

# ---- limits, one run, heavy tails


def test_a_bound_on_regret_is_refused_among_commitments():
    with pytest.raises(
        ValueError, match=r"lower_bound is of regret, and must be None for commitment, got 4\.0"
    ):
        plot_scaling([make()], quantity="commitment", lower_bound=4.0)
    with pytest.raises(ValueError, match="lower_bound must be above 0"):
        plot_scaling([make()], lower_bound=-4.0)


def test_the_bound_says_that_it_is_a_limit():
    ax = plot_scaling([make(), make(horizon=10**4)], lower_bound=4.0)
    assert labelled(ax)[-1] == "Lai-Robbins, as T grows"
    assert list(ax.lines[-1].get_ydata()) == [4.0, 4.0]


def test_one_run_is_a_staircase_and_no_mean():
    ax = make(final=[4.0], commits=[50]).plot()
    line, dot = ax.lines
    assert line.get_drawstyle() == "steps-post"
    assert ax.get_ylabel() == "cumulative regret"
    assert dot.get_xydata().tolist() == [[50, 1.0]]  # on the step that begins at round 10
    ax = make().plot()
    assert ax.lines[0].get_drawstyle() == "default"
    assert ax.get_ylabel() == "mean cumulative regret"


def test_a_mean_that_few_runs_carry_says_so():
    final = np.r_[np.full(384, 20.0), np.full(16, 500.0)]
    ax = make("A", final, np.full(400, 10), horizon=10**4).plot()
    # 384 * 20 + 16 * 500 = 15,680; 16 runs carry 8,000
    assert "A: 16 of 400 runs carry half the regret" in legend(ax)
    assert not any("carry" in text for text in legend(make("A", np.full(400, 20.0), np.full(400, 10)).plot()))
    assert not any("carry" in text for text in legend(make().plot()))


def test_the_band_can_be_that_of_the_runs():
    rows = np.array([[0.25, 1.0, 2.0, final] for final in (1.0, 2.0, 3.0, 4.0, 50.0)])
    result = make("A", rows[:, -1], [10] * 5, curves=rows, regret=rows.mean(axis=0))
    ax = result.plot(band=(0.25, 0.75))
    heights = {y for x, y in ax.collections[0].get_paths()[0].vertices if x == 1000}
    assert (min(heights), max(heights)) == (2.0, 4.0)
    assert "25 to 75 % of the runs" in legend(ax)
    with pytest.raises(ValueError, match="quantiles needs the regret of every run"):
        make().plot(band=(0.1, 0.9))
    for band in ((0.9, 0.1), (0.5, 1.5), "median"):
        with pytest.raises(ValueError, match="band must be"):
            result.plot(band=band)
    for band in (3, None, ("a", "b")):
        with pytest.raises(TypeError, match="band must be"):
            result.plot(band=band)


# ---- pulls


def many_arms(label, scale, runs=3):
    """Twenty arms in mixed order; the k-th best other one has `scale` times as many pulls as the (k+1)-th."""
    gaps = np.array([0.05 * ((7 * arm + 3) % 20) for arm in range(20)])
    rank = np.argsort(np.argsort(gaps))
    pulls = np.array([[int(2000 * scale ** -float(k)) + run for k in rank] for run in range(runs)])
    best = int(np.argmin(gaps))
    pulls[:, best] += 50_000 - pulls.sum(axis=1)
    final = pulls @ gaps
    return Result(
        times=[50_000],
        regret=[final.mean()],
        regret_sem=[final.std(ddof=1) / np.sqrt(runs)],
        final_regret=final,
        commit_time=np.full(runs, -1),
        committed_arm=np.full(runs, -1),
        pulls=pulls,
        gaps=gaps,
        label=label,
    )


def test_many_arms_are_shown_by_rank_with_the_best_in_the_name():
    results = [many_arms("A", 1.2), many_arms("B", 1.4)]
    ax = plot_pulls(results)
    for result, container in zip(results, ax.containers, strict=True):
        rank, share = container.lines[0].get_data()
        assert rank.tolist() == list(range(2, 21))
        order = np.argsort(result.gaps)
        assert share == pytest.approx(result.pulls.mean(axis=0)[order[1:]] / 50_000)
        (bars,) = container.lines[2]
        sem = 1 / np.sqrt(3) / 50_000  # of runs with one pull more each
        for (_, low), (_, high) in bars.get_segments():
            assert high - low == pytest.approx(2 * 1.959964 * sem, rel=1e-5)
    best = int(np.argmin(results[0].gaps))
    shares = [result.pulls[:, best].mean() / 50_000 for result in results]
    named = labelled(ax) or legend(ax)
    assert named == [f"{name}, best arm {percent(share)}" for name, share in zip("AB", shares, strict=True)]
    assert ax.get_yscale() == "log"


def test_few_arms_have_error_bars_too():
    result = make(final=(3.0, 4.0, 5.0))
    ax = plot_pulls(result)
    (low, high) = (point[0] for point in ax.containers[1].lines[2][0].get_segments()[0])
    assert (low + high) / 2 == pytest.approx(16 / 1000)
    assert high - low == pytest.approx(2 * 1.959964 * 4 / np.sqrt(3) / 1000, rel=1e-5)
