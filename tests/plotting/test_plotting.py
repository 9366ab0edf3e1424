import itertools
import subprocess
import sys
from html import unescape

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.text import Text

from robai import plotting
from robai.plotting import plot_parameter, plot_regret, plot_scaling, plot_tradeoff
from robai.plotting.style import spread
from robai.result import Comparison, Result

GAP = 0.25


def make(label="EOCP()", *, runs=3, committed=True, horizon=100, commit_time=10, regret=3.0, wrong=0, arms=2):
    """Runs of which half have 1 more regret than the mean, the others 1 less; all that can be, to the GAP."""
    spread = np.sign(2 * np.arange(runs) - (runs - 1))
    pulls = np.ones((runs, arms), dtype=int)
    pulls[:, 1] += np.rint((regret + spread) / GAP).astype(int) - (arms - 1)
    pulls[:, 0] += horizon - pulls.sum(axis=1)
    final = GAP * (horizon - pulls[:, 0])
    commits = np.full(runs, commit_time if committed else -1)
    arm = np.where(np.arange(runs) < wrong, 1, 0)
    return Result(
        times=[1, 10, horizon],
        regret=[0.5, 1.0, final.mean()],
        regret_sem=[0.1, 0.2, 0.5] if runs > 1 else [np.nan] * 3,
        final_regret=final,
        commit_time=commits,
        committed_arm=arm if committed else np.full(runs, -1),
        pulls=pulls,
        gaps=[0.0, *[GAP] * (arms - 1)],
        label=label,
    )


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def written(ax):
    return [text.get_text() for text in ax.texts]


METHODS = ["plot", "plot_commitment", "plot_tradeoff", "plot_wrong_commit", "plot_pulls", "plot_final_regret"]
MANY = Comparison([make(f"policy {i}", commit_time=10 + i, regret=3.0 + GAP * i) for i in range(8)])


@pytest.mark.parametrize("method", METHODS)
def test_every_figure_uses_the_given_axes_and_leaves_the_rest_alone(method, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_: pytest.fail("plt.show was called"))
    ax = Figure().subplots()
    before, figures = dict(mpl.rcParams), plt.get_fignums()
    assert getattr(MANY, method)(ax) is ax
    assert getattr(make(runs=1, committed=False), method)(Figure().subplots())
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == figures


@pytest.mark.parametrize("method", METHODS)
def test_text_is_neither_clipped_nor_on_top_of_other_text(method):
    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = getattr(MANY, method)(figure.subplots())
    figure.draw_without_rendering()
    ticks = [
        label
        for axis, place in ((ax.xaxis, 0), (ax.yaxis, 1))
        for label in axis.get_ticklabels()
        if min(axis.get_view_interval()) <= label.get_position()[place] <= max(axis.get_view_interval())
    ]
    texts = [*ax.texts, *ticks, ax.title, ax.xaxis.label, ax.yaxis.label]
    names = [Text.get_window_extent(text) for text in texts if text.get_text()]  # without leading lines
    boxes = [*names, ax.get_legend().get_window_extent()] if ax.get_legend() else names
    for box in boxes:
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1
    for one, other in itertools.combinations(boxes, 2):
        assert not one.padded(-1).overlaps(other.padded(-1))


def test_draws_mean_band_and_commitment():
    ax = make().plot()
    line, dot = ax.lines
    assert line.get_xydata().tolist() == [[1, 0.5], [10, 1.0], [100, 3.0]]
    assert dot.get_xydata().tolist() == [[10, 1.0]]
    (band,) = ax.collections
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(3.0 + 1.959963984540054 * 0.5)
    assert ax.get_xscale() == "log"
    assert written(ax) == ["EOCP()"]
    assert legend(ax) == [
        "95 % confidence interval of the mean",
        "median commitment, of the runs that committed",
    ]


def test_band_follows_the_confidence():
    ax = plot_regret(make(), confidence=0.5)
    assert "50 % confidence interval of the mean" in legend(ax)
    assert ax.collections[0].get_paths()[0].vertices[:, 1].max() == pytest.approx(3.0 + 0.67448975 * 0.5)
    with pytest.raises(ValueError, match=r"confidence must be between 0 and 1, got 1\.5"):
        plot_regret(make(), confidence=1.5)


def test_one_run_that_never_commits_has_neither_band_nor_dot():
    ax = make(runs=1, committed=False).plot()
    assert len(ax.lines) == 1
    assert len(ax.collections) == 0
    assert written(ax) == ["EOCP()"]
    assert ax.get_legend() is None


def test_the_lower_limit_is_a_slope_that_ends_with_the_lowest_curve():
    results = [make(horizon=10**4, regret=100.0), make("UCB()", horizon=10**4, regret=40.0)]
    ax = plot_regret(results, lower_bound=4.0)
    (first, low), (last, high) = ax.lines[-1].get_xydata()
    assert (first, last, high) == (pytest.approx(100.0), 10**4, pytest.approx(40.0, abs=1.0))
    assert high == results[1].regret[-1]
    assert high - low == pytest.approx(4.0 * np.log(100.0))
    assert written(ax)[-1] == "Lai-Robbins, as T grows"
    ax = plot_regret(make(), lower_bound=4.0)  # where it would begin below 0 it begins at 0
    assert ax.lines[-1].get_xydata()[0].tolist() == [
        pytest.approx(100 * np.exp(-3.0 / 4.0)),
        pytest.approx(0.0),
    ]
    with pytest.raises(ValueError, match="lower_bound must be above 0"):
        plot_regret(make(), lower_bound=0.0)


def test_more_curves_than_names_fit_have_a_legend():
    many = [make(f"policy {i}", committed=False) for i in range(40)]
    ax = Comparison(many).plot()
    assert written(ax) == []
    assert legend(ax)[:40] == [result.label for result in many]
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 40


def test_line_options_go_to_every_curve():
    ax = make().plot(color="red", linewidth=3)
    assert ax.lines[0].get_color() == "red"
    assert ax.lines[0].get_linewidth() == 3


def test_commitment_times_end_at_the_share_that_committed():
    result = make(runs=4)
    half = Result(
        **{
            name: getattr(result, name)
            for name in ("times", "regret", "regret_sem", "final_regret", "pulls", "gaps", "label")
        },
        commit_time=[10, 20, -1, -1],
        committed_arm=[0, 0, -1, -1],
    )
    ax = half.plot_commitment()
    assert ax.lines[0].get_xydata().tolist() == [[1, 0], [10, 0.25], [20, 0.5], [100, 0.5]]
    assert written(ax) == ["EOCP(), 50 % never"]
    assert written(make(committed=False).plot_commitment()) == ["EOCP(), never"]


def test_tradeoff_fills_the_points_that_none_beats():
    results = [
        make("early", commit_time=10, regret=5.0),
        make("cheap", commit_time=50, regret=2.0),
        make("neither", commit_time=60, regret=6.0),
        make("never", committed=False, regret=4.0),
    ]
    ax = plot_tradeoff(results)
    faces = [line.get_markerfacecolor() for line in ax.lines if line.get_marker() in ("o", "s", "^", "D")]
    assert [face != "white" for face in faces] == [True, True, False, False]
    assert written(ax) == ["early", "cheap", "neither", "never"]


def test_wrong_commitments_show_interval_arrow_or_never():
    results = [
        make("wrong", runs=20, wrong=2),
        make("right", runs=20),
        make("undecided", runs=20, committed=False),
    ]
    ax = Comparison(results).plot_wrong_commit()
    interval = next(line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_marker() == "|")
    assert interval.get_xdata() == pytest.approx(results[0].wrong_commit()[3:])
    assert "never commits" in written(ax)
    assert "1/T" in written(ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["wrong", "right", "undecided"]


@pytest.mark.parametrize("arms", [2, 7])
def test_pulls_have_a_point_for_every_arm(arms):
    ax = make(arms=arms).plot_pulls()
    assert len([line for line in ax.lines if line.get_linestyle() == "None"]) == arms
    assert legend(ax)[0] == "arm 0 (best)"


def test_scaling_divides_by_the_logarithm_of_the_horizon():
    results = [make(horizon=1000, regret=21.0), make(horizon=100, regret=14.0)]
    ax = plot_scaling([*results, make("UCB()", committed=False)], lower_bound=2.0)
    x, y = ax.lines[0].get_data()
    assert x.tolist() == [100, 1000]
    assert y == pytest.approx([14.0 / np.log(100), 21.0 / np.log(1000)])
    assert written(ax) == ["EOCP()", "UCB()", "Lai-Robbins, as T grows"]
    ax = plot_scaling([*results, make("UCB()", committed=False)], quantity="commitment")
    assert written(ax) == ["EOCP()"]
    with pytest.raises(ValueError, match=r"quantity must be one of .*, got 'pulls'"):
        plot_scaling(results, quantity="pulls")


@pytest.mark.parametrize("horizon", [100, 1000, 10**6, 10**18])
@pytest.mark.parametrize("lower_bound", [None, 2.0])
def test_one_horizon_alone_is_drawn_inside_its_axes(horizon, lower_bound):
    """Warnings, of limits that are the same, are errors here."""
    ax = plot_scaling([make(horizon=horizon)], Figure().subplots(), lower_bound=lower_bound)
    ax.figure.draw_without_rendering()
    low, high = ax.get_xlim()
    assert low < horizon / 2 < 2 * horizon < high


@pytest.mark.parametrize("drawn_before", [False, True])
def test_policies_that_never_commit_have_no_curve_and_no_name(drawn_before):
    ax = Figure().subplots()
    if drawn_before:
        ax.plot([1, 2], [1, 2])
    plot_scaling([make(committed=False)], ax, quantity="commitment")
    ax.figure.draw_without_rendering()
    assert len(ax.lines) == drawn_before
    assert written(ax) == []
    assert ax.get_legend() is None


def test_parameter_has_a_point_for_every_value():
    results = {"EOCP": [make(regret=2.0), make(regret=4.0)]}
    ax = plot_parameter(results, [0.0, 1.0], name="c", reference=make("UCB"))
    assert ax.lines[0].get_xydata().tolist() == [[0.0, 2.0], [1.0, 4.0]]
    assert ax.get_xlabel() == "c"
    assert written(ax) == ["EOCP", "UCB"]


def test_spread_moves_names_apart_and_no_further():
    assert spread(np.array([0.1, 0.9]), 0.1, 0.0, 1.0).tolist() == [0.1, 0.9]
    assert spread(np.array([0.5, 0.5]), 0.1, 0.0, 1.0) == pytest.approx([0.45, 0.55])
    assert spread(np.array([1.0, 0.99, 1.0]), 0.1, 0.0, 1.0) == pytest.approx([0.9, 0.8, 1.0])


def test_wrong_results_are_named():
    with pytest.raises(TypeError, match="results must be Result objects, got 3"):
        plot_regret([3])
    with pytest.raises(ValueError, match="at least one Result, got none"):
        plot_regret([])


def test_every_public_figure_is_listed():
    assert {name for name in vars(plotting) if name.startswith("plot_")} == set(plotting.__all__)


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "robai\[plot\]"'):
        make().plot()


def test_importing_the_package_does_not_import_matplotlib():
    code = "import robai, robai.plotting, robai.cli, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


ODD_LABELS = ["$\\frac$", "a $b$ c", "_hidden", "__$x^$", "_", "\\$", "\x1b[2J\n", "100 %_x^2"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("named", ["at the ends", "in a legend"])
def test_labels_are_drawn_as_they_are(method, named, tmp_path):
    """Not as formulas, which most are not, and none is left out. Warnings are errors here."""
    labels = ODD_LABELS if named == "in a legend" else ODD_LABELS[:4]
    results = [make(label, commit_time=10 + i, regret=3.0 + i) for i, label in enumerate(labels)]
    figure = Figure(figsize=(5, 1.5) if named == "in a legend" else (5, 5))
    ax = figure.subplots()
    getattr(Comparison(results), method)(ax)
    figure.savefig(tmp_path / "x.png")
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(tmp_path / "x.svg")
    drawn = unescape((tmp_path / "x.svg").read_text())
    for label in labels:
        assert label.replace("\x1b", r"\x1b").replace("\n", r"\n") in drawn
    assert [result.label for result in results] == labels


def test_labels_of_scaling_and_parameter_are_drawn_as_they_are(tmp_path):
    results = [make(label, horizon=horizon) for label in ODD_LABELS for horizon in (100, 1000)]
    by_label = {label: [make(), make()] for label in ODD_LABELS}
    for draw in (
        lambda ax: plot_scaling(results, ax),
        lambda ax: plot_parameter(by_label, [1.0, 2.0], ax, reference=make("_$\\frac$")),
    ):
        figure = Figure(figsize=(5, 1.5))
        ax = figure.subplots()
        draw(ax)
        figure.savefig(tmp_path / "x", format="png")
        assert len(legend(ax)) >= len(ODD_LABELS)
