"""What the parameters of rules and policies mean, and which values they take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from robai import families
from robai._base.checks import inflating, positive, probability, scales, wideness
from robai._base.spec import Check, Field, Kind, between, choice, flag, nonnegative, optional, whole
from robai.rules import pointer
from robai.rules.game import MOST_ROUNDS

UCBLevel = Literal["horizon", "ratio", "round", "anytime"]
KLLevel = Literal["horizon", "ratio", "round", "loglog", "plus", "++"]
LevelName = Literal["horizon", "ratio", "round", "loglog", "plus", "++", "anytime", "moss"]
Bar = Literal["ratio", "pulls", "horizon"]
Tracked = Literal["C", "D"]
Prior = Literal["jeffreys", "uniform"]
Radius = Literal["paper", "even-dar"]
BoundsName = Literal["gaussian", "bernstein"]
AnyBounds = Literal["gaussian", "bernstein", "kl"]
Leader = Literal["thompson", "ucb", "empirical"]
Challenger = Literal["resample", "transport", "penalised"]
UniformStop = Literal["likelihood", "budget"]
Test = Literal["kl", "likelihood"]
Constant = Literal["audibert", "maurer-pontil"]

Sigma = Field[float | Iterable[float] | None, families.Scale | None]


def family_or_none(name: str, value: Any) -> families.Family | None:
    return None if value is None else families.as_family(value)


def or_function(check: Check) -> Check:
    """A level by its name, or a function."""
    return lambda name, value: value if isinstance(value, pointer.Level) else check(name, value)


ALPHA = Kind(wideness, "width of UCB_alpha's bonus, above 1; of MOSS-anytime's, 0 to 100")
ANYTIME = Kind(flag, "MOSS that does not look at the horizon")
ANYTIME_ALPHA = Kind(between(0.0, 100.0), ALPHA.about)
BOUNDS = Kind(
    choice(BoundsName),
    "gaussian, with sigma; bernstein, with the variance of rewards in an interval",
)
ANY_BOUNDS = Kind(choice(AnyBounds), f"{BOUNDS.about}; kl, with the divergence of the family")
BETA = Kind(probability, "of the rounds, the share in which the leader of two arms is pulled")
CHALLENGER = Kind(
    choice(Challenger),
    "of the top two: resample, by new posterior draws; transport, by the smallest likelihood ratio; "
    "penalised, with log N added to it",
)
CONSTANT = Kind(choice(Constant), "of Bernstein's bound: 3 b f / N or 7 b f / (3 (N - 1))")
CONFIDENCE = Kind(between(0.0, 100.0), "c of Bayes-UCB's quantile 1 - 1 / (t log^c T), 0 to 100")
DOMINANCE = Kind(optional(positive), "of the pulls of all others together that an arm has to have (1 + 10/K)")
DELTA = Kind(optional(probability), "probability of a wrong commitment to aim at (1/T unless given)")
EXPONENT = Kind(
    between(1e-100, 1.0), "e of the share 1 + factor Z^e, Z the evidence against an arm; at most 1"
)
FACTOR = Kind(between(1e-100, 1e100), "of the share 1 + factor Z^exponent, Z the evidence against an arm")
FAMILY = Kind(
    family_or_none,
    "whose divergence or posterior is used, that of the rewards unless given; bernoulli serves any reward in "
    "[0, 1]",
)
FRESH = Kind(flag, "means of the rewards of a phase alone, as is analysed")
GAP = Kind(positive, "lower bound on the gap between the best arm and the second")
GUARD = Kind(nonnegative, "likelihood ratio that is asked for, in units of log T")
HEURISTIC = Kind(flag, "the constants that are recommended, else those of the analysis")
INFLATION = Kind(inflating, "c in l = log T + c sqrt(log T)")
KL = Kind(positive, "lower bound on KL_min, see robai.theory.kl_min")
LEVEL = Kind(
    or_function(choice(LevelName)),
    "f of the bounds: horizon, log T; ratio, log(T/N); round, log t; of UCB also anytime; of KL-UCB plus, "
    "log(t/N); loglog, log t + 3 log log t; ++. Of LeadCommit the bar of the evidence, where N are the pulls "
    "of two arms; pulls, those of the arm with fewer",
)
BAR = Kind(choice(Bar), LEVEL.about)
UCB_LEVEL = Kind(or_function(choice(UCBLevel)), LEVEL.about)
LEADER = Kind(
    choice(Leader),
    "of the top two: thompson, a posterior draw; ucb, KL-UCB's index at 2 log t; empirical, the mean",
)
KL_LEVEL = Kind(or_function(choice(KLLevel)), LEVEL.about)
PRIOR = Kind(choice(Prior), "of Thompson sampling: jeffreys; uniform, Beta(1, 1) of Bernoulli rewards")
RADIUS = Kind(choice(Radius), "of action elimination: paper, after every pull; even-dar, after every sweep")
ROUND = Kind(whole(1, MOST_ROUNDS), "after how many rounds")
STOP = Kind(choice(UniformStop), "of uniform exploration: likelihood, by a ratio; budget, at the horizon")
SHARE = Kind(optional(positive), GUARD.about)
SIGMA = Kind(
    optional(scales),
    "standard deviation (sub-Gaussian parameter) of the rewards, or one an arm; the smallest known to hold "
    "unless given",
)
ZETA = Kind(positive, "f = zeta log t")
TEST = Kind(
    choice(Test), "by which arms are dropped: kl, bounds that are separate; likelihood, a likelihood ratio"
)
TRACKING = Kind(choice(Tracked), "of Track-and-Stop: D, the last proportions; C, the sum of all so far")
