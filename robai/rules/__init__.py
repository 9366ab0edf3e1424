"""The parts that policies are made of: how to explore, when to stop, which arm to commit to.

Rules are descriptions, like policies: starting one makes its compiled twin for a game, that
is a number of arms, a horizon and a reward family. Stopping rules combine with `&` and `|`.
"""

from robai.rules.commit import (
    BernsteinLower,
    Commitment,
    KLLowerBound,
    LargestMean,
    LowerBound,
    MostPulled,
    Recommended,
)
from robai.rules.explore import (
    STAGED,
    AnytimeMoss,
    BernsteinBound,
    DoubleExplore,
    DoubleExploreK,
    Elimination,
    Exploration,
    Index,
    KLUpperBound,
    MinimumDivergence,
    Optimism,
    PosteriorSampling,
    RoundRobin,
    Tracking,
    UpperBound,
    WideBound,
)
from robai.rules.game import Game
from robai.rules.lead import Lead
from robai.rules.pointer import Level
from robai.rules.python import PythonExploration
from robai.rules.stop import (
    SPRT,
    Both,
    Either,
    FixedBudget,
    FixedRound,
    Imbalance,
    KnownDivergence,
    KnownGap,
    LikelihoodRatio,
    MeanGap,
    Never,
    Separation,
    Stop,
    Stopping,
)

__all__ = [
    "SPRT",
    "STAGED",
    "AnytimeMoss",
    "BernsteinBound",
    "BernsteinLower",
    "Both",
    "Commitment",
    "DoubleExplore",
    "DoubleExploreK",
    "Either",
    "Elimination",
    "Exploration",
    "FixedBudget",
    "FixedRound",
    "Game",
    "Imbalance",
    "Index",
    "KLLowerBound",
    "KLUpperBound",
    "KnownDivergence",
    "KnownGap",
    "LargestMean",
    "Lead",
    "Level",
    "LikelihoodRatio",
    "LowerBound",
    "MeanGap",
    "MinimumDivergence",
    "MostPulled",
    "Never",
    "Optimism",
    "PosteriorSampling",
    "PythonExploration",
    "Recommended",
    "RoundRobin",
    "Separation",
    "Stop",
    "Stopping",
    "Tracking",
    "UpperBound",
    "WideBound",
]
