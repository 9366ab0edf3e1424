"""Regret optimal best arm identification: bandits that earn while they learn and commit early.

>>> import robai
>>> result = robai.simulate(robai.EOCP(gap=0.5), robai.Gaussian([0.7, 0.2]), 10**6, 100, rng=0)
>>> result.commit_time[0]
np.int64(1124)
"""

from robai import bandits, custom, families, kl, policies, rules, theory
from robai._base.version import VERSION as __version__
from robai.bandits import (
    Bernoulli,
    Binomial,
    Empirical,
    Exponential,
    Gamma,
    Gaussian,
    NegativeBinomial,
    Poisson,
)
from robai.custom import Commit
from robai.live import Agent, HorizonReached, Journal, load
from robai.policies import (
    BAIETC,
    DETC,
    DETCK,
    EOCP,
    EOCPUG,
    KLEOCP,
    KLEOCPUG,
    KLUCB,
    UCB,
    ActionElimination,
    Policy,
    ThompsonSampling,
    TrackAndStop,
    UCBAlpha,
)
from robai.result import Comparison, Result
from robai.simulation import compare, simulate

__all__ = [
    "BAIETC",
    "DETC",
    "DETCK",
    "EOCP",
    "EOCPUG",
    "KLEOCP",
    "KLEOCPUG",
    "KLUCB",
    "UCB",
    "ActionElimination",
    "Agent",
    "Bernoulli",
    "Binomial",
    "Commit",
    "Comparison",
    "Empirical",
    "Exponential",
    "Gamma",
    "Gaussian",
    "HorizonReached",
    "Journal",
    "NegativeBinomial",
    "Poisson",
    "Policy",
    "Result",
    "ThompsonSampling",
    "TrackAndStop",
    "UCBAlpha",
    "bandits",
    "compare",
    "custom",
    "families",
    "kl",
    "load",
    "policies",
    "rules",
    "simulate",
    "theory",
]
