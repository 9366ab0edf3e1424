"""Where names are written, in figures with room and without."""

import itertools

import matplotlib as mpl
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.text import Text
from support.figures import NAMES, boxes, curves, labelled, legend, make, ten

from robai.plotting import plot_commitment, plot_pulls, plot_regret, plot_tradeoff
from robai.result import Comparison

# ---- several calls on the same axes


@pytest.mark.parametrize("method", ["plot", "plot_commitment"])
def test_a_second_call_continues_the_colours_and_the_names(method):
    ax = getattr(make("first"), method)()
    getattr(make("second", (7.0, 8.0, 9.0), (90, 100, 120)), method)(ax)
    first, second = curves(ax)
    assert first.get_color() != second.get_color()
    assert first.get_linestyle() != second.get_linestyle()
    assert labelled(ax) == ["first", "second"]
    assert not {"first", "second"} & set(legend(ax))


def test_calls_one_by_one_look_like_one_call():
    together = ten().plot()
    apart = plt.subplots(layout="constrained")[1]
    for result in ten().values():
        result.plot(apart)
    assert [(line.get_color(), line.get_linestyle()) for line in curves(apart)] == [
        (line.get_color(), line.get_linestyle()) for line in curves(together)
    ]
    assert labelled(apart) == labelled(together)
    assert [text.get_position() for text in apart.texts] == [text.get_position() for text in together.texts]
    assert sorted(legend(apart)) == sorted(legend(together))


@pytest.mark.parametrize("method", ["plot", "plot_tradeoff"])
def test_a_second_call_shows_all_of_what_it_draws(method):
    figure = Figure(layout="constrained")
    ax = getattr(make("first", (3.0, 4.0, 5.0), (20, 20, 20)), method)(figure.subplots())
    getattr(make("second", (90.0, 100.0, 110.0), (-1, -1, -1)), method)(ax)
    getattr(make("third", (40.0, 50.0, 60.0), (2, 2, 2)), method)(ax)
    figure.draw_without_rendering()
    assert ax.get_ylim()[0] == 0.0
    for line in ax.lines:
        if line.get_linestyle() != "-" or method == "plot":
            low, high = (line.get_ydata().min(), line.get_ydata().max())
            assert 0.0 <= low <= high <= ax.get_ylim()[1]
    assert ax.get_ylim()[1] < 200.0
    assert ax.get_xlim()[0] <= 2.0
    if method == "plot_tradeoff":
        assert ax.get_xticklabels()[-1].get_text() == "never"


def test_limits_of_a_user_are_left_alone():
    ax = Figure().subplots()
    ax.set_ylim(0.0, 2.0)
    make().plot(ax)
    assert ax.get_ylim() == (0.0, 2.0)


def test_a_level_line_takes_no_colour():
    ax = make("first").plot(lower_bound=1.0)
    make("second").plot(ax)
    assert [line.get_color() for line in curves(ax)][2] == ten().plot().lines[2].get_color()
    assert len({line.get_color() for line in curves(ax)}) == 3


def test_names_at_the_ends_stay_there_when_later_ones_do_not_fit():
    ax = make("first").plot()
    Comparison([make(f"policy {i}") for i in range(40)]).plot(ax)
    assert labelled(ax) == ["first"]
    assert legend(ax)[:40] == [f"policy {i}" for i in range(40)]


def test_curves_of_others_are_named_in_a_legend_with_ours():
    ax = plt.subplots()[1]
    ax.plot([1, 1000], [1, 2], label="mine")
    make("ours").plot(ax)
    assert labelled(ax) == []
    assert legend(ax)[:2] == ["mine", "ours"]


def test_explanations_of_an_earlier_call_are_kept():
    ax = make("first").plot()
    make("second", commits=(-1, -1, -1)).plot(ax)
    assert "median commitment, of the runs that committed" in legend(ax)
    assert len(set(legend(ax))) == len(legend(ax))


# ---- axes that somebody else made


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("method", ["plot", "plot_commitment", "plot_tradeoff"])
def test_nothing_is_written_over_the_neighbours(method, layout):
    figure, axes = plt.subplots(1, 3, figsize=(14, 4), layout=layout)
    for ax in axes:
        getattr(ten(), method)(ax)
    figure.draw_without_rendering()
    for ax, other in itertools.permutations(axes, 2):
        others = [
            other.get_window_extent(),
            *(Text.get_window_extent(text) for text in other.get_yticklabels()),
        ]
        others.append(Text.get_window_extent(other.yaxis.label))
        written = boxes(ax) + ([ax.get_legend().get_window_extent()] if ax.get_legend() else [])
        assert not any(box.overlaps(each) for box in written for each in others)
    for ax in axes:
        assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes(ax))


def test_names_are_at_the_ends_where_there_is_measured_room():
    wide = Figure(figsize=(10, 4))
    assert labelled(make().plot(wide.add_axes((0.1, 0.1, 0.5, 0.8)))) == ["EOCP()"]
    assert labelled(make().plot(wide.add_axes((0.7, 0.1, 0.28, 0.8)))) == []
    assert legend(wide.axes[1])[0] == "EOCP()"


def test_a_name_too_long_for_the_axes_is_in_a_legend():
    ax = make("a name " * 12).plot()
    assert labelled(ax) == []
    assert legend(ax)[0] == "a name " * 12


@pytest.mark.parametrize("draw", [plot_regret, plot_commitment, plot_tradeoff, plot_pulls])
def test_names_can_be_left_out(draw):
    ax = draw(list(ten().values()), legend=False)
    assert labelled(ax) == []
    assert ax.get_legend() is None


# ---- regret against commitment


def apart(ax):
    drawn = boxes(ax)
    return not any(
        one.padded(-1).overlaps(other.padded(-1)) for one, other in itertools.combinations(drawn, 2)
    )


def test_names_of_points_cover_neither_each_other_nor_points_and_stay_inside():
    figure = Figure(layout="constrained")
    ax = ten().plot_tradeoff(figure.subplots())
    figure.draw_without_rendering()
    assert sorted(labelled(ax)) == sorted(NAMES)
    assert apart(ax)
    frame = ax.get_window_extent()
    centres = [ax.transData.transform(container.lines[0].get_xydata()[0]) for container in ax.containers]
    for box in boxes(ax):
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1
        assert not any(box.contains(*centre) for centre in centres)
    assert all(text.get_bbox_patch() is None for text in ax.texts)  # which would cut the line of the front


def test_points_are_drawn_above_their_error_bars():
    ax = ten().plot_tradeoff()
    for container in ax.containers:
        data, _, bars = container.lines
        assert all(data.get_zorder() > bar.get_zorder() for bar in bars)


def test_policies_that_never_commit_have_a_column_beyond_the_last_round():
    ax = ten().plot_tradeoff()
    ax.figure.draw_without_rendering()
    places = {container.get_label(): container.lines[0].get_xdata()[0] for container in ax.containers}
    column = {places[name] for name in NAMES[3:6]}
    assert len(column) == 1
    assert min(column) > 10**4
    assert places["EOCP()"] == 785
    assert ax.get_xticks()[-1] == min(column)
    assert ax.get_xticklabels()[-1].get_text() == "never"
    assert all(tick <= 10**4 for tick in ax.get_xticks()[:-1])
    separator = next(
        line for line in ax.lines if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2
    )
    assert 10**4 < separator.get_xdata()[0] < min(column)
    assert not any(", never" in label for label in labelled(ax))
    never = next(container for container in ax.containers if container.get_label() == "UCB()")
    assert len(never.lines[2]) == 1  # a commitment that there is not has no error


def test_without_such_policies_there_is_no_column():
    ax = make("A").plot_tradeoff()
    assert "never" not in [label.get_text() for label in ax.get_xticklabels()]
    half = make("half", commits=(10, 20, -1)).plot_tradeoff()
    assert labelled(half) == ["half, 33 % never"]
    assert half.containers[0].lines[0].get_xdata()[0] == pytest.approx(1030 / 3)


def test_points_that_coincide_are_named_in_a_legend_if_need_be():
    many = [make(f"the same policy {i}") for i in range(40)]
    ax = plot_tradeoff(many, Figure(figsize=(3, 2)).subplots())
    assert labelled(ax) == []
    assert legend(ax) == [result.label for result in many]


# ---- commitments


def test_names_of_commitments_are_at_the_medians():
    spread = [make(f"p{i}", commits=(r - 1, r, r + 1)) for i, r in enumerate((5, 20, 80, 300))]
    ax = plot_commitment([*spread, make("fixed", commits=(900, 900, 900))])
    assert labelled(ax) == ["p0", "p1", "p2", "p3", "fixed"]
    assert [text.xy for text in ax.texts] == [(r, 0.5) for r in (5, 20, 80, 300, 900)]
    dots = [line.get_xydata()[0].tolist() for line in ax.lines if line.get_marker() == "o"]
    assert dots == [[r, 0.5] for r in (5, 20, 80, 300, 900)]
    ax.figure.draw_without_rendering()
    assert apart(ax)


def test_a_curve_that_ends_below_1_is_named_half_way_up_and_one_that_never_rises_at_its_foot():
    ax = plot_commitment([make("half", commits=(10, 20, -1)), make("none", commits=(-1, -1, -1))])
    assert labelled(ax) == ["half, 33 % never", "none, never"]
    assert ax.texts[0].xy == (15, pytest.approx(1 / 3))
    assert ax.texts[1].xy[1] == 0.0
    assert len([line for line in ax.lines if line.get_marker() == "o"]) == 1


def test_names_of_many_commitments_are_apart_or_in_a_legend():
    for size in ((6.4, 4.8), (10, 7), (3, 2)):
        figure = Figure(figsize=size, layout="constrained")
        ax = ten().plot_commitment(figure.subplots())
        figure.draw_without_rendering()
        assert apart(ax)
        assert len(labelled(ax)) + len(legend(ax)) == 10
