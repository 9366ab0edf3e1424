"""Figures. Every function draws on `ax`, or on a new figure if None, and returns the Axes; none is shown.

`Result`, `Comparison` and what `robai.identify` returns have them as methods. Curves are named at their ends
where that fits and in a legend where it does not; colours are told apart with any colour vision, and line
styles differ besides. `robai.figure` draws several of them in one.

>>> import robai
>>> played = robai.compare([robai.EOCPUG(), robai.UCB()], robai.Gaussian([0.7, 0.2]), 10**4, 100, rng=0)
>>> ax = robai.plotting.plot_regret(played.values())
>>> ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()
('round', 'mean cumulative regret', 'log')
"""

from robai.plotting.certainty import plot_confidence
from robai.plotting.curves import plot_commitment, plot_regret, plot_tradeoff
from robai.plotting.identification import plot_error, plot_proportions, plot_stopping_time
from robai.plotting.rows import plot_final_regret, plot_pulls, plot_wrong_commit
from robai.plotting.scaling import plot_parameter, plot_scaling

__all__ = [
    "plot_commitment",
    "plot_confidence",
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
