"""What no policy can beat, and what policies reach. `robai.theory` offers these functions.

The lower limits on commitment time, and the asymptotics of the paper's Table 1.
"""

from math import inf, log
from typing import NamedTuple

from robai._base import checks
from robai.families import Gaussian
from robai.theory.hardness import Arms, Given, Rewards, lai_robbins, one_proxy, read

__all__ = ["Asymptotics", "commit_limit_adaptive", "commit_limit_fixed", "table"]


def commit_limit_fixed(
    gap: float, horizon: float, regret: Given = None, *, sigma: float = 1.0, confidence: Given = None
) -> float:
    """Lower limit on a commitment round fixed beforehand by a policy that knows the gap; two Gaussian arms.

    In symbols::

        T_c >= 2 D^2 N^2 / (2 D^2 N - log(1 / (2.4 confidence))),   D = gap / sigma,  N = regret / gap

    Theorem theo:scclimits. N = E[N_2(T_c)] is the number of wrong pulls while exploring. With both defaults
    the limit is about (8/3) log T / D^2. It is
    infinite where no policy with so little regret has this confidence on every bandit of the gap.

    Erratum: the proof's optimum, 2 D^2 N_1 N_2 / (N_1 + N_2) >= log(T / 2.4), lost the factors N_1 and N_2
    when printed, and then a factor 2, which made the constant 4 instead of 8/3.

    Parameters
    ----------
    gap : float
        The difference of the two means.
    horizon : float
        T, the number of rounds.
    regret : float or None
        While exploring; by default N is the regret optimal 2 log T / D^2, up to the theorem's O(log^c T).
    sigma : float
        Standard deviation of the rewards.
    confidence : float or None
        The probability of a wrong commitment, by default 1/T for its O(1/T).

    Returns
    -------
    float

    Examples
    --------
    >>> round(commit_limit_fixed(0.5, 10**6), 1)
    144.3
    """
    return _commit_limit(2, gap, horizon, regret, sigma, confidence)


def commit_limit_adaptive(
    gap: float, horizon: float, regret: Given = None, *, sigma: float = 1.0, confidence: Given = None
) -> float:
    """Lower limit on the expected commitment round of a policy that does not know the gap; two Gaussian arms.

    In symbols::

        E[T_c] >= D^2 N^2 / (D^2 N - 2 log(1 / (2.4 confidence))),   D = gap / sigma,  N = regret / gap

    Theorem theo:scclimits, as in `commit_limit_fixed`. With regret 2 log T / D + C log^c T the denominator is
    of order log^c T, which is the theorem's log^(2-c) T / D^2.

    Parameters
    ----------
    gap, horizon, regret, sigma, confidence
        As for `commit_limit_fixed`.

    Returns
    -------
    float

    Examples
    --------
    >>> round(commit_limit_adaptive(0.5, 10**6), 1), round(commit_limit_adaptive(0.5, 10**6, regret=95.66), 1)
    (1744.1, 416.9)
    """
    return _commit_limit(1, gap, horizon, regret, sigma, confidence)


def _commit_limit(
    shift: int, gap: float, horizon: float, regret: Given, sigma: float, confidence: Given
) -> float:
    """The transportation lemma (Kaufmann et al. 2016, lemma 1) against bandits `shift` gaps away.

    Moving the two means by shift * gap in all, as cheaply as possible, costs
    (shift D)^2 / 2 * N_1 N_2 / (N_1 + N_2), which must reach log(1 / (2.4 confidence)). In the other bandit
    the second arm is better, by the gap if the policy knows it (shift 2), by anything if not (shift 1).
    """
    gap, sigma = checks.positive("gap", gap), checks.scale("sigma", sigma)
    horizon = checks.at_least("horizon", horizon, 10)  # as the proof has it
    confidence = 1 / horizon if confidence is None else checks.positive("confidence", confidence)
    if confidence >= 1 / 2.4:
        raise ValueError(f"confidence must be below 1/2.4 for the limit to exist, got {confidence!r}")
    if regret is None:
        pulls, information = 2 * log(horizon) * (sigma / gap) * (sigma / gap), 2 * log(horizon)
    else:
        regret = checks.positive("regret", regret)
        pulls, information = regret / gap, regret / sigma * (gap / sigma)
    asked = -2 * log(2.4 * confidence) / shift**2
    return pulls / (1 - asked / information) if information > asked else inf


class Asymptotics(NamedTuple):
    """A row of Table 1: regret is log T times `multiple` times the Lai-Robbins constant of the setting.

    Attributes
    ----------
    policy : str
        As the paper calls it.
    multiple : float
        Of the constant.
    setting : str
        "Gaussian" or "General".
    optimal : str
        Whether the multiple is the least.
    commitment, confidence : str
        Orders of the commitment time, and of the probability of a wrong commitment.

    Examples
    --------
    >>> row = table()[6]
    >>> row.policy, row.multiple, row.commitment, row.confidence
    ('EOCP', 1.0, 'O(log T)', 'O(1/T)')
    """

    policy: str
    multiple: float
    setting: str
    optimal: str
    commitment: str
    confidence: str

    def constant(self, bandit: Arms, *, family: Rewards = None, sigma: Given = None) -> float:
        """Regret per log T on two arms: multiple * 2 sigma^2 / gap (Gaussian) or multiple * gap / KL.

        Parameters
        ----------
        bandit : bandit or sequence of float
            The bandit, or its means.
        family : family, name or None
            Of the rewards, with plain means.
        sigma : float or None
            That of the policies of the Gaussian rows, of which the rewards are sub-Gaussian; if None
            the smallest of which they are known to be.

        Returns
        -------
        float

        Examples
        --------
        >>> [round(row.constant([0.7, 0.2], family="bernoulli"), 3) for row in table()[:2]]
        [1.0, 0.936]
        """
        means, family = read(bandit, family)
        if means.size != 2:
            raise ValueError(f"means must have two arms, as in Table 1, got {means.tolist()!r}")
        if self.setting == "Gaussian":
            family = Gaussian(one_proxy(family) if sigma is None else checks.scale("sigma", sigma))
        return self.multiple * lai_robbins(means, family=family)


def table(alpha: float = 2.0) -> tuple[Asymptotics, ...]:
    """Table 1 of the paper (label tab:comp), row by row.

    The orders are texts: the table hides their constants. The last two rows are lower limits on commitment
    for policies whose regret exceeds 2 log T / gap by O(log^c T). The constant of UCB_alpha, 2 alpha^2 / gap,
    is not tight: at its stopping time 8 alpha^2 / ((alpha + 1)^2 gap) is derived and measured.

    Parameters
    ----------
    alpha : float
        Above 1, the parameter of UCB_alpha.

    Returns
    -------
    tuple of Asymptotics

    Examples
    --------
    >>> {row.policy: round(row.constant([0.7, 0.2], family="bernoulli", sigma=1.0), 4) for row in table()[:4]}
    {'UCB': 4.0, 'KL-UCB': 0.9361, 'TS': 0.9361, 'BAI-ETC': 8.0}
    """
    alpha = checks.wideness("alpha", alpha)
    return (
        Asymptotics("UCB", 1.0, "Gaussian", "Yes", "T", "N/A"),
        Asymptotics("KL-UCB", 1.0, "General", "Yes", "T", "N/A"),
        Asymptotics("TS", 1.0, "General", "Yes", "T", "N/A"),
        Asymptotics("BAI-ETC", 2.0, "Gaussian", "No", "O(log T)", "~O(1/T)"),
        Asymptotics("DETC", 1.0, "Gaussian", "Yes", "Omega(log^2 T)", "O(1/T)"),
        Asymptotics("UCB_alpha", alpha**2, "Gaussian", "No", "O(log T)", "~O(1/T)"),
        Asymptotics("EOCP", 1.0, "Gaussian", "Yes", "O(log T)", "O(1/T)"),
        Asymptotics("EOCP-UG", 1.0, "Gaussian", "Yes", "O(log^2 T)", "O(1/T)"),
        Asymptotics("KL-EOCP", 1.0, "General", "Yes", "O(log T)", "O(1/T)"),
        Asymptotics("LB(pre-determined)", 1.0, "Gaussian", "O(log^c T)", "O(log T)", "O(1/T)"),
        Asymptotics("LB(adaptive)", 1.0, "Gaussian", "O(log^c T)", "O(log^(2-c) T)", "O(1/T)"),
    )
