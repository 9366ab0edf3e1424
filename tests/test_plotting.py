import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from robai.plotting import plot_regret
from robai.result import Comparison, Result


def make(label="EOCP()", *, runs=3, committed=True):
    final = np.linspace(2.0, 4.0, runs)
    return Result(
        times=[1, 10, 100],
        regret=[0.5, 1.0, 3.0],
        regret_sem=[0.1, 0.2, 0.5] if runs > 1 else [np.nan] * 3,
        final_regret=final,
        commit_time=np.full(runs, 10 if committed else -1),
        committed_arm=np.full(runs, 0 if committed else -1),
        pulls=np.tile([90, 10], (runs, 1)),
        gaps=[0.0, 0.3],
        label=label,
    )


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_draws_mean_band_and_commitment():
    ax = make().plot()
    line, dot = ax.lines
    assert line.get_xydata().tolist() == [[1, 0.5], [10, 1.0], [100, 3.0]]
    assert dot.get_xydata().tolist() == [[10, 1.0]]
    (band,) = ax.collections
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(3.0 + 1.959963984540054 * 0.5)
    assert ax.get_xscale() == "log"
    assert legend(ax)[0] == "EOCP()"
    assert "95 % confidence interval of the mean" in legend(ax)
    assert "median commitment, of the runs that committed" in legend(ax)
    ax.figure.canvas.draw()


def test_band_follows_the_confidence():
    ax = plot_regret(make(), confidence=0.5)
    assert "50 % confidence interval of the mean" in legend(ax)
    assert ax.collections[0].get_paths()[0].vertices[:, 1].max() == pytest.approx(3.0 + 0.67448975 * 0.5)
    with pytest.raises(ValueError, match=r"confidence must be strictly between 0 and 1, got 1\.5"):
        plot_regret(make(), confidence=1.5)


def test_one_run_that_never_commits_has_neither_band_nor_dot():
    ax = make(runs=1, committed=False).plot()
    assert len(ax.lines) == 1
    assert len(ax.collections) == 0
    assert legend(ax) == ["EOCP()"]


def test_a_comparison_differs_in_colour_and_line_style():
    ax = Comparison([make(f"policy {i}", committed=False) for i in range(9)]).plot()
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 9


def test_uses_the_given_axes_and_leaves_the_rest_alone(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_: pytest.fail("plt.show was called"))
    _, ax = plt.subplots()
    before, figures = dict(mpl.rcParams), plt.get_fignums()
    assert make().plot(ax, color="red", linewidth=3) is ax
    assert ax.lines[0].get_color() == "red"
    assert ax.lines[0].get_linewidth() == 3
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == figures


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "robai\[plot\]"'):
        make().plot()
