"""What a policy takes for granted, beside what is known of the rewards it is to be played on."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from robai import families, rules
from robai._base.spec import Spec
from robai.bandits import Bandit
from robai.instances import Instances
from robai.policies.base import BasePolicy

_ROUNDING = 1e-9
_TELL_GAPS = (rules.KnownGap, rules.FixedDesign, rules.SPRT)


class AssumptionWarning(UserWarning):
    """A policy assumes more than holds: its bounds, commitments and regret are not what it promises.

    Examples
    --------
    >>> import warnings
    >>> import robai
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", robai.AssumptionWarning)
    ...     _ = robai.simulate(robai.UCB(sigma=0.5), robai.Gaussian([0.7, 0.2]), 1000, 10, rng=0)
    >>> str(caught[0].message).split(":")[0]
    'UCB(sigma=0.5) assumes sigma 0.5, these rewards have 1'
    """


def warn_of_assumptions(
    played: Iterable[tuple[str, BasePolicy, rules.Game, Bandit | None]], *, stacklevel: int
) -> None:
    """An AssumptionWarning, once, for each thing that one of these policies assumes and that is not so."""
    found = (
        f"{name} {text}"
        for name, policy, game, bandit in played
        for text in _contradicted(policy, game, bandit)
    )
    for text in dict.fromkeys(found):
        warnings.warn(text, AssumptionWarning, stacklevel=stacklevel + 1)


def _contradicted(policy: BasePolicy, game: rules.Game, bandit: Bandit | None) -> Iterator[str]:
    for rule in rules_of(policy._parts):
        family = getattr(rule, "family", None)
        given = family.sigma if isinstance(family, families.Gaussian) else getattr(rule, "sigma", None)
        if given is not None and game.proxy is not None:
            assumed, actual = (families.one_an_arm(each, game.n_arms) for each in (given, game.proxy))
            if (short := assumed < actual * (1.0 - 1e-12)).any():
                yield (
                    f"assumes sigma {assumed[short][0]:g}, these rewards have {actual[short][0]:g}: its "
                    "bounds are too narrow, commitments and regret are not what the policy promises"
                )
        if bandit is None or isinstance(bandit, Instances):  # of which the summary tells
            continue
        if isinstance(family, families.Family) and (given is None or game.proxy is None):
            yield from _narrower(family, bandit)
        told, true = _told(rule, policy, bandit)
        if told is not None and true is not None and told > true * (1.0 + _ROUNDING):
            yield (
                f"is told {told:g} as the smallest difference, this bandit has {true:g}: it ends "
                "exploration too early, and commitments are not what the policy promises"
            )


def _narrower(family: families.Family, bandit: Bandit) -> Iterator[str]:
    """A text if rewards vary more, at the bandit's means, than those that they are taken for.

    Of rewards in an interval, and of data, no variance is known.
    """
    rewards = bandit.family
    if rewards is None or isinstance(rewards, families.Bounded) or family == rewards:
        return
    means = np.array(bandit.means)
    if not family.covers(rewards, means):
        told, true = family.variances(means), rewards.variances(means)
        arm = int((true - told).argmax())
        yield (
            f"takes rewards for those of {family!r}, of variance {told[arm]:.4g} at mean {means[arm]:.4g}, "
            f"these have {true[arm]:.4g}: its bounds are too narrow, commitments and regret are not what the "
            "policy promises"
        )


def _told(rule: Spec, policy: BasePolicy, bandit: Bandit) -> tuple[float | None, float | None]:
    """The gap, or divergence, that a rule was told and that of the bandit, if it has one best arm."""
    if isinstance(rule, _TELL_GAPS) and len(bandit.best_arms) == 1:
        return rule.gap, sorted(bandit.gaps)[1]
    if isinstance(rule, rules.KnownDivergence) and len(bandit.best_arms) == 1:
        return rule.kl, _kl_min(tuple(bandit.means), _own_family(policy) or bandit.family)
    return None, None


def _own_family(policy: BasePolicy) -> families.Family | None:
    """That which a policy was given, in whose divergence it reckons."""
    given = (getattr(each, "family", None) for each in rules_of(policy._parts))
    return next((each for each in given if each is not None), None)


def told(policy: BasePolicy) -> dict[str, Any]:
    """The largest gap, and divergence, that rules of a policy were told to be below all; None if none was.

    And the family of that divergence, None if it is that of the rewards.
    """
    given = list(rules_of(policy._parts))
    gaps = [rule.gap for rule in given if isinstance(rule, _TELL_GAPS)]
    divergences = [rule.kl for rule in given if isinstance(rule, rules.KnownDivergence)]
    family = _own_family(policy) if divergences else None
    return {
        "told_gap": max(gaps, default=None),
        "told_kl": max(divergences, default=None),
        "told_family": None if family is None else family.to_dict(),
    }


def rules_of(parts: Any) -> Iterator[Spec]:
    """Rules, and the rules that they are made of."""
    for each in parts:
        if isinstance(each, Spec):
            yield each
            yield from rules_of(value for _, value in each._parameters())


@lru_cache(
    maxsize=64
)  # the points between the means are found by bisection, which takes as long as many runs
def _kl_min(means: tuple[float, ...], family: families.Family | None) -> float | None:
    """None if the family has no divergence of means alone."""
    from robai.theory.hardness import smallest_divergences  # which is not loaded with the package

    array = np.array([means])
    unknown = isinstance(family, families.Gaussian) and family.sigma is None
    if family is None or unknown or not family.has_means(array).all():
        return None
    return float(smallest_divergences(array, family)[0])


def resolved_sigma(policy: BasePolicy, game: rules.Game) -> families.Scale | None:
    """The sigma that a policy reckons with, None if it has none."""
    game = replace(game, policy=policy)
    with_sigma = (rule for rule in rules_of(policy._parts) if not isinstance(rule, families.Family))
    used = (
        rule
        for rule in with_sigma
        if hasattr(rule, "sigma") and getattr(rule, "bounds", "") not in ("bernstein", "kl")
    )
    return next(map(game.sigma_of, used), None)
