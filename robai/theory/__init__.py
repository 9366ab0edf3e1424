"""What the paper proves, as numbers: commitment times, regret bounds, confidence, lower limits.

Zhang and Ying, "Fast and Regret Optimal Best Arm Identification", arXiv 2309.00591; theorems are cited by
their labels in its source. In its symbols: n_arms is A, horizon is T, gap is Delta_lb (default: the smallest
gap Delta_min), kl is KL_lb (default: KL_min), sigma is the sub-Gaussian scale (1 in the paper), and the level
is l = log T + inflation * sqrt(log T). A bandit is a robai bandit, or plain means with `family=`.

The finite-time theorems end in o(1) or O(1). Their proofs bound every piece explicitly, for any level, before
rounding; the functions here add up those pieces, so that nothing is hidden: true bounds at every T they
accept, and vacuous (huge; infinite, if too large for a double) where the proof is. Where a printed step does
not follow, the right one is computed and the docstring says "Erratum".

>>> import robai
>>> bandit = robai.Gaussian([0.7, 0.2])
>>> round(robai.theory.lai_robbins(bandit), 3), round(robai.theory.regret_bound_eocp(bandit, 10**6).total, 1)
(4.0, 185.7)
"""

from robai.rules.level import exploration
from robai.rules.rounds import commit_round_eocp, commit_round_etc, commit_round_kl_eocp
from robai.theory import bounds, certificates, hardness, kl_bounds, limits, predictions
from robai.theory.bounds import *  # noqa: F403 - the names of `bounds.__all__`, and so on
from robai.theory.certificates import *  # noqa: F403
from robai.theory.hardness import *  # noqa: F403
from robai.theory.kl_bounds import *  # noqa: F403
from robai.theory.limits import *  # noqa: F403
from robai.theory.predictions import *  # noqa: F403

__all__ = ["commit_round_eocp", "commit_round_etc", "commit_round_kl_eocp", "exploration"]
__all__ += bounds.__all__
__all__ += certificates.__all__
__all__ += hardness.__all__
__all__ += kl_bounds.__all__
__all__ += limits.__all__
__all__ += predictions.__all__
