"""Several figures of the same results in one: `robai.figure`."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from robai._base import checks
from robai.plotting.curves import explained, plot_commitment, plot_regret, plot_tradeoff
from robai.plotting.labels import font_size, text_width
from robai.plotting.rows import plot_final_regret, plot_pulls, plot_wrong_commit
from robai.plotting.style import MOST_ARMS, as_results, new_shown_figure, styles

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robai.result import Result

Panel = Literal["regret", "commitment", "wrong", "tradeoff", "pulls", "final"]

_PANELS: dict[str, Callable[..., Axes]] = {
    "regret": plot_regret,
    "commitment": plot_commitment,
    "wrong": plot_wrong_commit,
    "tradeoff": plot_tradeoff,
    "pulls": plot_pulls,
    "final": plot_final_regret,
}
_WIDTH, _HEIGHT, _LEGEND = 4.2, 3.2, 0.8  # inches of a panel, and of the legend below
_LINE = 36  # characters that fit below a panel


def figure(
    comparison: Mapping[str, Result] | Iterable[Result] | Result,
    layout: Sequence[Panel] | Sequence[Sequence[Panel]] = ("regret", "commitment", "wrong"),
) -> Figure:
    """Several panels in one figure, with one legend for all of them.

    Parameters
    ----------
    comparison : Comparison, Result or sequence of Result
        What to draw.
    layout : sequence of str, or sequence of such sequences
        Names of panels in a row, or rows of them: "regret", "commitment", "wrong", "tradeoff", "pulls",
        "final". Panels are those of `plot_regret`, `plot_commitment`, `plot_wrong_commit`, `plot_tradeoff`,
        `plot_pulls` and `plot_final_regret`.

    Returns
    -------
    matplotlib.figure.Figure
        Its `axes` are the panels, in order.

    Examples
    --------
    >>> import robai
    >>> policies = [robai.EOCPUG(), robai.UCB()]
    >>> played = robai.compare(policies, robai.Gaussian([0.7, 0.2]), 10**4, 100, rng=0)
    >>> robai.figure(played, layout=("regret", "tradeoff")).axes[0].get_ylabel()
    'mean cumulative regret'
    """
    results = as_results(comparison.values() if isinstance(comparison, Mapping) else comparison)
    rows = _rows(layout)
    drawn = new_shown_figure(_WIDTH * max(map(len, rows)), _HEIGHT * len(rows) + _LEGEND)
    columns = math.lcm(*map(len, rows))
    grid = drawn.add_gridspec(len(rows), columns)
    for i, row in enumerate(rows):
        span = columns // len(row)
        for j, name in enumerate(row):
            ax = drawn.add_subplot(grid[i, j * span : (j + 1) * span])
            _PANELS[name](results, ax, **({} if _names_itself(name, results) else {"legend": False}))
            ax.set_xlabel(textwrap.fill(ax.get_xlabel(), _LINE))
    handles: list[Artist] = [_handle(result.label, own) for result, own in _styled(results)]
    if any("regret" in row for row in rows):
        handles += explained(results, "mean", 0.95)
    width = max(text_width(str(handle.get_label())) for handle in handles) + 5.0 * font_size()
    across = max(1, int(72.0 * drawn.get_figwidth() / width))
    drawn.legend(
        handles=handles, loc="outside lower center", ncols=across, frameon=False, fontsize=font_size()
    )
    return drawn


def _rows(layout: Any) -> list[list[str]]:
    listed = list(layout) if not isinstance(layout, str) else [layout]
    rows = [list(row) for row in listed] if listed and not isinstance(listed[0], str) else [listed]
    if not all(rows):
        raise ValueError(f"layout must have at least one panel in every row, got {layout!r}")
    return [[checks.one_of("layout", name, _PANELS) for name in row] for row in rows]


def _names_itself(name: str, results: list[Result]) -> bool:
    """Whether the names in a panel are at its side, or not of policies but of arms."""
    return name in ("wrong", "final") or (name == "pulls" and results[0].n_arms <= MOST_ARMS)


def _styled(results: list[Result]) -> Iterator[tuple[Result, dict[str, Any]]]:
    return zip(results, styles(results, "linestyle", "marker"), strict=True)


def _handle(label: str, style: dict[str, Any]) -> Artist:
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **style)
