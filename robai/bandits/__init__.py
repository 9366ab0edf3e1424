"""Bandits: what the arms pay. Each is a family and the mean reward of every arm.

>>> import robai
>>> bandit = robai.Bernoulli([0.7, 0.2])
>>> bandit.n_arms, bandit.best_arms, bandit.support
(2, (0,), (0.0, 1.0))
"""

from robai.bandits.base import Bandit as Bandit
from robai.bandits.empirical import Empirical
from robai.bandits.parametric import BANDITS as BANDITS
from robai.bandits.parametric import (
    Bernoulli,
    Beta,
    Binomial,
    Exponential,
    Gamma,
    Gaussian,
    NegativeBinomial,
    Poisson,
)

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Empirical",
    "Exponential",
    "Gamma",
    "Gaussian",
    "NegativeBinomial",
    "Poisson",
]
