"""The parts that policies are made of: how to explore, when to stop, which arm to commit to.

Rules are descriptions, like policies: starting one makes its compiled twin for a game, that
is a number of arms, a horizon and a reward family. Stopping rules combine with `&` and ``|``.

>>> import robai
>>> from robai import rules
>>> stop = rules.Imbalance() & rules.LikelihoodRatio(share=0.5)
>>> mine = robai.Policy(rules.KLUpperBound(), stop, rules.MostPulled())
>>> robai.simulate(mine, robai.Bernoulli([0.9, 0.5]), 10**5, 100, rng=0).wrong_commit().count
0
"""

from robai.rules.certificate import Certificate
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
    AdaBound,
    AnytimeMoss,
    BernsteinBound,
    Exploration,
    Index,
    KLUpperBound,
    MinimumDivergence,
    Optimism,
    PosteriorQuantile,
    UpperBound,
    WideBound,
)
from robai.rules.game import Game
from robai.rules.identify import (
    GapIndex,
    Halving,
    IteratedBound,
    LeaderChallenger,
    Racing,
    Rejects,
    TopTwo,
)
from robai.rules.lead import Lead
from robai.rules.pointer import Level
from robai.rules.python import PythonExploration
from robai.rules.rounds import Budget, FixedDesign, FixedRound, KnownDivergence, KnownGap
from robai.rules.sampling import PosteriorSampling, RoundRobin, Tracking
from robai.rules.stages import DoubleExplore, DoubleExploreK, Elimination
from robai.rules.stop import (
    SPRT,
    Both,
    Dominance,
    Either,
    Imbalance,
    LikelihoodRatio,
    MeanGap,
    Never,
    Separation,
    Stop,
    Stopping,
)

STAGED = (Elimination, DoubleExplore, DoubleExploreK, GapIndex, Racing, Halving, Rejects)
"""Explorations that end by themselves and recommend an arm."""

__all__ = [
    "SPRT",
    "STAGED",
    "AdaBound",
    "AnytimeMoss",
    "BernsteinBound",
    "BernsteinLower",
    "Both",
    "Budget",
    "Certificate",
    "Commitment",
    "Dominance",
    "DoubleExplore",
    "DoubleExploreK",
    "Either",
    "Elimination",
    "Exploration",
    "FixedDesign",
    "FixedRound",
    "Game",
    "GapIndex",
    "Halving",
    "Imbalance",
    "Index",
    "IteratedBound",
    "KLLowerBound",
    "KLUpperBound",
    "KnownDivergence",
    "KnownGap",
    "LargestMean",
    "Lead",
    "LeaderChallenger",
    "Level",
    "LikelihoodRatio",
    "LowerBound",
    "MeanGap",
    "MinimumDivergence",
    "MostPulled",
    "Never",
    "Optimism",
    "PosteriorQuantile",
    "PosteriorSampling",
    "PythonExploration",
    "Racing",
    "Recommended",
    "Rejects",
    "RoundRobin",
    "Separation",
    "Stop",
    "Stopping",
    "TopTwo",
    "Tracking",
    "UpperBound",
    "WideBound",
]
