"""The finite-time bounds of the paper: commitment times, regret and confidence of EOCP and EOCP-UG."""

from collections.abc import Callable
from dataclasses import astuple, dataclass
from math import e, exp, floor, log, pi, sqrt
from sys import float_info
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robai._base import checks
from robai.families import Family, Gaussian, one_law  # noqa: F401 - Gaussian for the examples
from robai.rules.level import exploration
from robai.rules.rounds import commit_round_eocp
from robai.theory.hardness import (
    Arms,
    Given,
    Rewards,
    one_proxy,
    read,
    unique_best,
)
from robai.theory.two_arms import wrong_eocp, wrong_eocp_ug

__all__ = [
    "INFLATION",
    "CommitRound",
    "RegretBound",
    "commit_round_eocp_ug",
    "regret_bound_eocp",
    "regret_bound_eocp_ug",
    "wrong_commit_bound_eocp",
    "wrong_commit_bound_eocp_ug",
]

INFLATION = 4 * sqrt(2)
"""c in l = log T + c sqrt(log T), as the finite-time theorems have it: l = log T + 4 sqrt(2 log T)."""


class CommitRound(NamedTuple):
    """How late EOCP-UG commits.

    Attributes
    ----------
    rounds : float
        So many, or more, with at most this probability.
    probability : float
        Of committing so late.
    expected : float
        A bound on the round of commitment on average.

    Examples
    --------
    >>> late = commit_round_eocp_ug([0.7, 0.2], 10**6, family=Gaussian(1.0))
    >>> late.rounds < late.expected
    True
    """

    rounds: float
    probability: float
    expected: float


def commit_round_eocp_ug(
    bandit: Arms, horizon: float, inflation: float = INFLATION, *, sigma: Given = None, family: Rewards = None
) -> CommitRound:
    """EOCP-UG's round of commitment, bounded with high probability and in expectation.

    In symbols::

        P(T_c >= rounds) <= probability,   rounds = sum over a of 8 (l+1)^2 sigma^2 / Delta_a^2 + A (l+2)
        probability = (A-1) (e l log T + e + 1) / exp(l)     <= 10 e A / (T log^2 T) with the theorem's l
        E[T_c] <= expected = rounds + T probability

    Lemma lemma:sccug and corollary cor:sccug. Erratum: the proof of the corollary rounds `expected` up with
    l + 1 <= log T + 5 sqrt(log T), which drops the sqrt(2) of l; the unrounded value is given. The lemma's
    condition T >= 16 l / Delta_min^2 is not used by its proof, and not asked for.

    Parameters
    ----------
    bandit : bandit or sequence of float
        The bandit, or its means.
    horizon : float
        T, the number of rounds.
    inflation : float
        c in l = log T + c sqrt(log T).
    sigma : float or None
        The policy's, of which the rewards must be sub-Gaussian; if None the smallest known to hold.
    family : family, name or None
        Of the rewards, with plain means.

    Returns
    -------
    CommitRound

    Examples
    --------
    >>> bound = commit_round_eocp_ug([0.7, 0.2], 10**6, family=Gaussian(1.0))
    >>> round(bound.rounds), f"{bound.probability:.1e}"
    (41182, '9.7e-13')
    """
    gaps, _ = _sub_gaussian(bandit, family, sigma)
    return _late_stop(gaps, horizon, level_for(horizon, inflation, gaps.size + 1))


@np.errstate(over="ignore", divide="ignore")
def _late_stop(gaps: NDArray[np.float64], horizon: float, level: float) -> CommitRound:
    rounds = float(np.sum(8 * ((level + 1) / gaps) ** 2)) + (gaps.size + 1) * (level + 2)
    # A suboptimal arm is pulled more than 8 l / Delta_a^2 + 1 times only if the best arm's index falls below
    # its mean (A_1), or its own mean is Delta_a / 2 too high after 8 l / Delta_a^2 pulls (A_2).
    probability = gaps.size * (escape(level, horizon) + exp(-level))
    return CommitRound(rounds, min(1.0, probability), rounds + horizon * min(1.0, probability))


@dataclass(frozen=True)
class RegretBound:
    """An upper bound on expected regret, term by term.

    Attributes
    ----------
    leading : float
        log T times the policy's asymptotic constant.
    inflation : float
        The same constant times l - log T: the price of exploring beyond log T.
    deviation : float
        Pulls of suboptimal arms whose mean is seen too high (A_1 in the proofs).
    first_pulls : float
        One pull of each arm.
    optimism : float
        Rounds of exploration after the best arm's index fell below its mean (A_2).
    late_stop : float
        EOCP-UG exploring longer than its high-probability bound; 0 for the others.
    commitment : float
        Committing to a wrong arm (T I_2).

    Examples
    --------
    >>> bound = regret_bound_eocp([0.7, 0.2], 10**6, inflation=1.0, family=Gaussian(1.0))
    >>> round(bound.total, 1), round(bound.commitment, 1)
    (104.3, 0.0)
    """

    leading: float
    inflation: float
    deviation: float
    first_pulls: float
    optimism: float
    late_stop: float
    commitment: float

    @property
    def total(self) -> float:
        """The bound: the sum of all terms."""
        return float(sum(astuple(self)))


def regret_bound_eocp(
    bandit: Arms,
    horizon: float,
    gap: Given = None,
    inflation: float = INFLATION,
    *,
    sigma: Given = None,
    family: Rewards = None,
) -> RegretBound:
    """Upper bound on EOCP's expected regret, theorem theo:optimalfixedfinite.

    Printed: sum over a of (2 log T + (8 + sqrt(20 pi)) sqrt(log T) + 2) / Delta_a + Delta_a, plus o(1), for
    T >= max(16, A, 16 l / gap^2). Computed (with sigma^2 / Delta_a for 1 / Delta_a), sums over a::

        leading 2 log T / Delta_a      inflation 2 (l - log T) / Delta_a      first_pulls Delta_a
        deviation (sqrt(4 pi l) + 2) / Delta_a                    lemma:concentration (c)
        optimism Delta_a n escape(n),  n = T_c - A                lemma:concentration (a)
        commitment Delta_a T P(commit to a)                       see `wrong_commit_bound_eocp`

    Errata: 2 l = 2 log T + 8 sqrt(2) sqrt(log T), not 8 (the printed sum holds only from T = 8e28 on); T must
    reach T_c for the policy to commit.

    Parameters
    ----------
    bandit : bandit or sequence of float
        The bandit, or its means.
    horizon : float
        T, at least T_c.
    gap : float or None
        What the policy is told, at most the smallest gap, which is the default.
    inflation : float
        c in l = log T + c sqrt(log T).
    sigma : float or None
        The policy's, of which the rewards must be sub-Gaussian; if None the smallest known to hold.
    family : family, name or None
        Of the rewards, with plain means.

    Returns
    -------
    RegretBound

    Examples
    --------
    >>> bound = regret_bound_eocp([0.7, 0.2], 10**6, family=Gaussian(1.0))
    >>> round(bound.leading, 2), round(bound.inflation, 2), round(bound.deviation, 2), round(bound.total, 2)
    (55.26, 84.1, 45.85, 185.72)
    """
    gaps, scale, level, rounds, overtaken, misjudged = _eocp(bandit, horizon, gap, inflation, sigma, family)
    return _gaussian_bound(gaps, scale, horizon, level, rounds, overtaken + misjudged)


def wrong_commit_bound_eocp(
    bandit: Arms,
    horizon: float,
    gap: Given = None,
    inflation: float = INFLATION,
    *,
    sigma: Given = None,
    family: Rewards = None,
) -> float:
    """Upper bound on the probability that EOCP commits to a wrong arm.

    I_2 in the proof of theo:optimalfixedfinite, which cor:sccfixed calls O(1/T). With n = T_c - A and
    escape(n) = min(n, e l log n + e) exp(-l) of lemma:concentration (a), for each of the A-1 wrong arms::

        B_3 + B_4 = exp(-l) + escape(n)          it was pulled so often that the best arm was not
        B_5 + B_6 = exp(-l) + escape(n + 1)      its lower bound exceeds the best arm's all the same

    For two arms a sharper one, with Q(x) = P(N(0, 1) > x) for Gaussian rewards and exp(-x^2 / 2) for others,
    h = ceil(T_c / 2) and D = gap / sigma, a sum over n = 1 .. T_c / 2 pulls of the best arm::

        Q((D + sqrt(2 l / n) - sqrt(2 l / (h - 1))) / sqrt(1/n + 1/(h - 1)))
        + Q((D + sqrt(2 l / n) - sqrt(2 l / (T_c - n))) / sqrt(1/n + 1/(T_c - n)))

    It is O(1/T) for every inflation. (The paper excludes l = log T, for which EOCP-UG's would not be.)

    Parameters
    ----------
    bandit, horizon, gap, inflation, sigma, family
        As for `regret_bound_eocp`.

    Returns
    -------
    float

    Examples
    --------
    >>> f"{wrong_commit_bound_eocp([0.7, 0.2], 10**6, family=Gaussian(1.0)):.2e}"
    '1.18e-17'
    """
    gaps, *_, overtaken, misjudged = _eocp(bandit, horizon, gap, inflation, sigma, family)
    return min(1.0, overtaken + gaps.size * misjudged)


def _of_two(bound: Callable[..., float], bandit: Arms, family: Rewards, *given: float) -> float:
    """A bound for two arms; one that is too small for a double is not 0."""
    gaussian = isinstance(read(bandit, family)[1], Gaussian)
    return min(1.0, max(bound(*given, gaussian=gaussian), float_info.min))


def _eocp(
    bandit: Arms, horizon: float, gap: Given, inflation: float, sigma: Given, family: Rewards
) -> tuple[NDArray[np.float64], float, float, float, float, float]:
    """Gaps / sigma, sigma, l, T_c - A, B_2 of all arms, B_1 of one (proof of theo:optimalfixedfinite).

    Of two arms the last is all of it.
    """
    gaps, sigma = _sub_gaussian(bandit, family, sigma)
    arms, gap = gaps.size + 1, at_most("gap", gap, float(gaps.min() * sigma))
    last = commit_round_eocp(arms, gap, horizon, inflation=inflation, sigma=sigma)
    level, rounds = level_for(horizon, inflation, arms, last), last - arms
    if arms == 2:
        wrong = _of_two(wrong_eocp, bandit, family, float(gaps[0]), level, floor(last))
        return gaps, sigma, level, rounds, 0.0, wrong
    overtaken = gaps.size * (exp(-level) + escape(level, rounds))  # B_3 + B_4
    misjudged = exp(-level) + escape(level, rounds + 1)  # B_5 + B_6
    return gaps, sigma, level, rounds, overtaken, misjudged


def regret_bound_eocp_ug(
    bandit: Arms, horizon: float, inflation: float = INFLATION, *, sigma: Given = None, family: Rewards = None
) -> RegretBound:
    """Upper bound on EOCP-UG's expected regret, theorem theo:optimalugfinite.

    Printed: sum over a of (2 log T + (8 + sqrt(20 pi)) sqrt(log T)) / Delta_a, plus O(1), for
    T >= max(16, A, 16 l / Delta_min^2). Computed: the terms of `regret_bound_eocp` with T_c replaced by the
    rounds of `commit_round_eocp_ug` (at most T), the errors of `wrong_commit_bound_eocp_ug`, and `late_stop`,
    Delta_a T P(T_c >= rounds). The same erratum: 8 sqrt(2) for 8.

    Parameters
    ----------
    bandit, horizon, inflation, sigma, family
        As for `commit_round_eocp_ug`.

    Returns
    -------
    RegretBound

    Examples
    --------
    >>> bound = regret_bound_eocp_ug([0.7, 0.2], 10**6, family=Gaussian(1.0))
    >>> round(bound.commitment, 2), round(bound.total, 2)
    (0.0, 185.72)
    """
    gaps, scale, level, errors = _eocp_ug(bandit, horizon, inflation, sigma, family)
    late = _late_stop(gaps, horizon, level)
    rounds = min(late.rounds, horizon) - gaps.size - 1
    wrong = errors + np.sum(errors)  # P(commit to a) <= B_3 + B_4 of a, plus B_1 + B_2 of every arm
    if gaps.size == 1:
        wrong[0] = wrong_commit_bound_eocp_ug(bandit, horizon, inflation, sigma=sigma, family=family)
    return _gaussian_bound(gaps, scale, horizon, level, rounds, wrong, late.probability)


def wrong_commit_bound_eocp_ug(
    bandit: Arms, horizon: float, inflation: float = INFLATION, *, sigma: Given = None, family: Rewards = None
) -> float:
    """Upper bound on the probability that EOCP-UG commits to a wrong arm.

    I_2 in the proof of theo:optimalugfinite, which cor:sccug calls O(1/T). With alpha = 1 - 2 / sqrt(l) and
    escape(n) as in `wrong_commit_bound_eocp`, for each wrong arm a::

        B_1 + B_2 = escape(T) + 4 / (Delta_a^2 exp(alpha^2 l))     it has l times the best arm's pulls
        B_4 + B_3 = the same                                       its lower bound is the largest all the same

    Needs l > 4 and T >= 16 l sigma^2 / Delta_min^2. The paper's B_2 <= 4 / (Delta_a^2 T) takes T >= 340, its
    alpha^2 l >= log T + 4 takes T >= exp(32); neither is used here. With inflation 1 this bound is far from
    O(1/T).

    For two arms a sharper one at every T, with Q(x) = P(N(0, 1) > x) for Gaussian rewards and exp(-x^2 / 2)
    for others, D = gap / sigma and k = floor(l n) + 1, a sum over n = 1 .. T / (l + 1) pulls of the best::

        Q((D + sqrt(2 l / n) - sqrt(2 l / k)) / sqrt(1/n + 1/k))       the other had the larger index at n, k
        + Q((2 sqrt(2 l / n) - sqrt(2 l / k) - sqrt(2 l / (k + 1))) sqrt(k (k + 1)))

    the second, which hardly counts, for a last reward so low that the arm that was pulled less has the larger
    lower bound. For Gaussian rewards it is O(1/T) from inflation 2 - sqrt(2) D on, as is the truth.

    Parameters
    ----------
    bandit, horizon, inflation, sigma, family
        As for `commit_round_eocp_ug`.

    Returns
    -------
    float

    Examples
    --------
    >>> f"{wrong_commit_bound_eocp_ug([0.7, 0.2], 10**6, family=Gaussian(1.0)):.2e}"
    '1.48e-13'
    """
    gaps, sigma = _sub_gaussian(bandit, family, sigma)
    if gaps.size == 1:
        level = level_for(horizon, inflation, 2)
        return _of_two(wrong_eocp_ug, bandit, family, float(gaps[0]), level, horizon)
    *_, errors = _eocp_ug(bandit, horizon, inflation, sigma, family)
    return min(1.0, 2 * float(np.sum(errors)))


def _eocp_ug(
    bandit: Arms, horizon: float, inflation: float, sigma: Given, family: Rewards
) -> tuple[NDArray[np.float64], float, float, NDArray[np.float64]]:
    """Gaps / sigma, sigma, l, and B_1 + B_2 = B_3 + B_4 of each arm (proof of theo:optimalugfinite)."""
    gaps, sigma = _sub_gaussian(bandit, family, sigma)
    level = level_for(horizon, inflation, gaps.size + 1)
    if level <= 4:
        raise ValueError(f"horizon and inflation must make l > 4, got {horizon!r} and {inflation!r}")
    with np.errstate(over="ignore", divide="ignore"):
        least = 16 * level / gaps.min() ** 2
    if horizon < least:
        raise ValueError(
            f"horizon must be at least 16 l sigma^2 / Delta_min^2 = {least:.10g}, got {horizon!r}"
        )
    # lemma:concentration (b) asks for Delta_a <= sqrt(3), but from s = 1 on its sum is
    # 1 / (exp(Delta_a^2 / 2) - 1) <= 2 / Delta_a^2 whatever Delta_a.
    return gaps, sigma, level, escape(level, horizon) + 4 / gaps**2 * exp(-((sqrt(level) - 2) ** 2))


def escape(level: float, pulls: float) -> float:
    """Bound on the probability that an arm's mean ever leaves its bound on one side, in that many pulls.

    lemma:concentration (a) and lemma:klconcentration: the union bound, or the peeling one, for l >= 2.
    """
    pulls = max(pulls, 1.0)
    return min(pulls, e * level * log(pulls) + e) * exp(-level)


def _gaussian_bound(
    gaps: NDArray[np.float64],
    sigma: float,
    horizon: float,
    level: float,
    rounds: float,
    wrong: float | NDArray[np.float64],
    late: float = 0.0,
) -> RegretBound:
    """Sum over the arms of Delta_a E[N_a(T)], with `gaps` = Delta_a / sigma.

    lemma:concentration (c) counts (2 l + sqrt(4 pi l) + 2) / gap^2 + 1 deviations; the + 1 is not needed, as
    a decreasing function sums to at most its integral, which leaves the theorem's single Delta_a.
    """
    harmonic, total = sigma * float(np.sum(1 / gaps)), sigma * float(np.sum(gaps))
    return RegretBound(
        leading=2 * log(horizon) * harmonic,
        inflation=2 * (level - log(horizon)) * harmonic,
        deviation=(sqrt(4 * pi * level) + 2) * harmonic,
        first_pulls=total,
        optimism=total * (rounds * escape(level, rounds)),
        late_stop=total * (horizon * late),
        commitment=horizon * float(np.sum(sigma * gaps * wrong)),
    )


def _sub_gaussian(bandit: Arms, family: Rewards, sigma: Given) -> tuple[NDArray[np.float64], float]:
    """Gaps of the suboptimal arms in units of sigma, of which rewards are sub-Gaussian, and sigma."""
    means, family = read(bandit, family)
    if sigma is None or family.proxy is None:
        sigma = one_proxy(family)
    elif checks.scale("sigma", sigma) < np.max(family.proxy):
        raise ValueError(
            f"sigma must be at least {float(np.max(family.proxy))!r}, the scale of {family!r}, got {sigma!r}"
        )
    best, others = unique_best(means)
    gaps: NDArray[np.float64] = (means[best] - means[others]) / sigma
    return gaps, sigma


def at_most(name: str, value: Given, largest: float) -> float:
    """`value`, when it is above 0 and at most `largest`, which None stands for."""
    value = largest if value is None else checks.positive(name, value)
    if value > largest * (1 + 1e-9):  # 0.7 - 0.6 is a little less than 0.1
        raise ValueError(f"{name} must be at most {largest:.10g}, its value for this bandit, got {value!r}")
    return value


def level_for(horizon: float, inflation: float, arms: int, commit_round: float = 0.0) -> float:
    """l, when the horizon satisfies the conditions of the theorems."""
    level = exploration(horizon, inflation)
    checks.at_least("horizon", horizon, max(16, arms))
    if horizon < commit_round:
        raise ValueError(f"horizon must be at least T_c = {commit_round:.10g} to commit, got {horizon!r}")
    return level
