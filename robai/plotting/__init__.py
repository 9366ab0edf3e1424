"""Figures. Every function draws on `ax`, or on a new figure if None, and returns the Axes; none is shown.

`Result`, `Comparison` and what `robai.identify` returns have them as methods. Curves are named at their ends
where that fits and in a legend where it does not; colours are told apart with any colour vision, and line
styles differ besides. `robai.figure` draws several of them in one.
"""

from robai.plotting.curves import plot_commitment, plot_parameter, plot_regret, plot_scaling, plot_tradeoff
from robai.plotting.identification import plot_error, plot_proportions, plot_stopping_time
from robai.plotting.rows import plot_final_regret, plot_pulls, plot_wrong_commit

__all__ = [
    "plot_commitment",
    "plot_error",
    "plot_final_regret",
    "plot_parameter",
    "plot_proportions",
    "plot_pulls",
    "plot_regret",
    "plot_scaling",
    "plot_stopping_time",
    "plot_tradeoff",
    "plot_wrong_commit",
]
