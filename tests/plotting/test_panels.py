"""Several figures with one legend."""

import itertools

import matplotlib as mpl
import pytest

mpl.use("Agg")
from support.figures import NAMES, curves, make, ten

import robai

# ---- several panels


def handles(figure):
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_panels_share_one_legend():
    figure = robai.figure(ten())
    assert [ax.get_ylabel() for ax in figure.axes[:2]] == [
        "mean cumulative regret",
        "share of runs committed",
    ]
    assert len(figure.axes) == 3
    assert handles(figure)[:10] == NAMES
    assert handles(figure)[10:] == [
        "95 % confidence interval of the mean",
        "median commitment, of the runs that committed",
    ]
    assert all(ax.get_legend() is None for ax in figure.axes)
    colours = [handle.get_color() for handle in figure.legends[0].get_lines()[:10]]
    assert colours == [line.get_color() for line in curves(figure.axes[0])]
    assert colours == [line.get_color() for line in curves(figure.axes[1])]


@pytest.mark.parametrize(
    "layout",
    [
        ("regret", "commitment", "wrong"),
        (("regret", "tradeoff"), ("wrong", "final")),
        (("regret",), ("wrong", "final"), ("commitment", "tradeoff", "pulls")),
        ("tradeoff",),
    ],
)
def test_panels_are_inside_the_figure_and_apart(layout):
    figure = robai.figure(ten(), layout)
    figure.draw_without_rendering()
    parts = [ax.get_tightbbox() for ax in figure.axes] + [figure.legends[0].get_window_extent()]
    for part in parts:
        assert figure.bbox.x0 <= part.x0 + 1
        assert part.x1 <= figure.bbox.x1 + 1
        assert figure.bbox.y0 <= part.y0 + 1
        assert part.y1 <= figure.bbox.y1 + 1
    for one, other in itertools.combinations(parts, 2):
        assert not one.padded(-1).overlaps(other.padded(-1))


def test_panels_take_a_result_and_name_what_is_wrong():
    assert len(robai.figure(make(), ["regret"]).axes) == 1
    for layout, message in (
        (("regret", "median"), "layout must be one of .*, got 'median'"),
        ((), "at least one panel"),
    ):
        with pytest.raises(ValueError, match=message):
            robai.figure(make(), layout)
