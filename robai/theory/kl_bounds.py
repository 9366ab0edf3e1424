"""The finite-time bounds of the paper: regret and confidence of KL-EOCP."""

from math import exp, log

import numpy as np
from numpy.typing import NDArray

from robai.families import Family, one_law
from robai.rules.rounds import commit_round_kl_eocp
from robai.theory.bounds import INFLATION, RegretBound, at_most, escape, level_for
from robai.theory.hardness import Arms, Given, Rewards, distances, kl_min, read, share_point, unique_best

__all__ = ["regret_bound_kl_eocp", "wrong_commit_bound_kl_eocp"]


def regret_bound_kl_eocp(
    bandit: Arms, horizon: float, kl: Given = None, inflation: float = INFLATION, *, family: Rewards = None
) -> RegretBound:
    """Upper bound on KL-EOCP's expected regret, theorem theo:optimalklfixedfinite.

    Printed: sum over a of (log T + 10 log^(3/4) T) Delta_a / KL_a, plus o(1), where KL_a = KL(mu_a, mu_best),
    for T >= max(16, A, 8 l / kl^2). Computed, with eps = log^(-1/4) T, sums over a::

        leading Delta_a log T / KL_a     inflation Delta_a (l - log T) / KL_a     first_pulls Delta_a
        deviation Delta_a (eps l / KL_a + exp(-(1 + eps) l R_a / KL_a) / (1 - exp(-R_a)))
        optimism Delta_a n escape(n),  n = T_c - A                lemma:klconcentration
        commitment Delta_a T P(commit to a)                       see `wrong_commit_bound_kl_eocp`

    where R_a = KL(r, mu_a) for the r with (1 + eps) KL(r, mu_best) = KL_a (lemma:klconcentration_sum, whose
    proof gives beta_1 and beta_2). Errata: the condition is T >= T_c, of order l / kl and not l / kl^2; the
    first pulls are missing in the printed sum.

    Parameters
    ----------
    bandit : bandit or sequence of float
        The bandit, or its means.
    horizon : float
        T, at least T_c.
    kl : float or None
        What the policy is told, at most `kl_min`, which is the default.
    inflation : float
        c in l = log T + c sqrt(log T).
    family : family, name or None
        Of the rewards, with plain means.

    Returns
    -------
    RegretBound

    Examples
    --------
    >>> bound = regret_bound_kl_eocp([0.7, 0.2], 10**6, family="bernoulli")
    >>> round(bound.leading, 2), round(bound.inflation, 2), round(bound.deviation, 2), round(bound.total, 2)
    (12.93, 19.68, 18.8, 51.91)
    """
    top, rest, family, level, rounds, overtaken, misjudged = _kl_eocp(bandit, horizon, kl, inflation, family)
    gaps, distance = top - rest, distances(family, rest, top)
    slack = log(horizon) ** -0.25
    back = distances(family, share_point(family, rest, top, 1 / (1 + slack)), rest)
    overshoot = np.exp(-(1 + slack) * level * back / distance) / -np.expm1(-back)
    constant, total = float(np.sum(gaps / distance)), float(np.sum(gaps))
    return RegretBound(
        leading=log(horizon) * constant,
        inflation=(level - log(horizon)) * constant,
        deviation=slack * level * constant + float(np.sum(gaps * overshoot)),
        first_pulls=total,
        optimism=total * (rounds * escape(level, rounds)),
        late_stop=0.0,
        commitment=total * (horizon * (overtaken + misjudged)),
    )


def wrong_commit_bound_kl_eocp(
    bandit: Arms, horizon: float, kl: Given = None, inflation: float = INFLATION, *, family: Rewards = None
) -> float:
    """Upper bound on the probability that KL-EOCP commits to a wrong arm.

    I_2 in the proof of theo:optimalklfixedfinite. With n and escape(n) as in `wrong_commit_bound_eocp`
    (here by lemma:klconcentration), for each of the A-1 wrong arms::

        B_3 + B_4 = exp(-l) + escape(n)          B_5 + B_6 = 2 escape(n + 1)

    Erratum: for B_5 the proof recalls mu'_a by 4 KL(mu'_a, mu_a) = KL(mu_a, mu_best), which is not its
    definition (see `mu_prime`); with the definition B_5 follows from kl <= 4 KL(mu'_a, mu_a).

    Parameters
    ----------
    bandit, horizon, kl, inflation, family
        As for `regret_bound_kl_eocp`.

    Returns
    -------
    float

    Examples
    --------
    >>> f"{wrong_commit_bound_kl_eocp([0.7, 0.2], 10**6, family='bernoulli'):.2e}"
    '1.16e-12'
    """
    _, rest, *_, overtaken, misjudged = _kl_eocp(bandit, horizon, kl, inflation, family)
    return min(1.0, overtaken + rest.size * misjudged)


def _kl_eocp(
    bandit: Arms, horizon: float, kl: Given, inflation: float, family: Rewards
) -> tuple[float, NDArray[np.float64], Family, float, float, float, float]:
    """Best mean, the others, family, l, T_c - A, and B_2 and B_1 (proof of theo:optimalklfixedfinite)."""
    means, family = read(bandit, family)
    one_law(family)
    best, others = unique_best(means)
    kl = at_most("kl", kl, kl_min(means, family=family))
    last = commit_round_kl_eocp(means.size, kl, horizon, inflation=inflation)
    level, rounds = level_for(horizon, inflation, means.size, last), last - means.size
    overtaken = (means.size - 1) * (exp(-level) + escape(level, rounds))  # B_3 + B_4
    misjudged = 2 * escape(level, rounds + 1)  # B_5 + B_6
    return means[best], means[others], family, level, rounds, overtaken, misjudged
