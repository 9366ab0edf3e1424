"""Figures. Every function draws on `ax`, or on a new figure if None, and returns the Axes; none is shown.

`Result` and `Comparison` have them as methods. Curves are named at their right ends where that fits and in a
legend where it does not; colours are told apart with any colour vision, and line styles differ besides.
`robai.figure` draws several of them in one.
"""

from robai.plotting.curves import plot_commitment, plot_parameter, plot_regret, plot_scaling, plot_tradeoff
from robai.plotting.rows import plot_final_regret, plot_pulls, plot_wrong_commit

__all__ = [
    "plot_commitment",
    "plot_final_regret",
    "plot_parameter",
    "plot_pulls",
    "plot_regret",
    "plot_scaling",
    "plot_tradeoff",
    "plot_wrong_commit",
]
