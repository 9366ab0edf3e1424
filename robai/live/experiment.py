"""What an agent is made for and what never changes: policy, arms, horizon and valid rewards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from robai import families
from robai._base import checks
from robai._core.ledger import Rewards
from robai.bandits import Bandit
from robai.policies.base import BasePolicy
from robai.rules import Game

LONGEST_HORIZON = 10**18
MOST_ARMS = 10**6
LARGEST_LABEL = 2**63  # of a number: every reader of JSON can have it
LARGEST_COUNT = 1e15  # of events in one reward; doubles of this size are exact integers

Label = str | int | float

RewardLike = Literal["bounded"] | families.FamilyLike | Bandit

# Families whose rewards are counts.
_WHOLE = (families.Bernoulli, families.Binomial, families.Poisson, families.NegativeBinomial)


class Reward(NamedTuple):
    """Which rewards are valid, and the family that stands for them."""

    family: families.Family
    whole: bool

    def _core(self) -> Rewards:
        low, high = self.family.support
        return Rewards(low, min(high, LARGEST_COUNT) if self.whole else high, self.whole)


# Any reward in [0, 1]: Bernoulli divergences are valid for all of them.
BOUNDED = Reward(families.Bernoulli(), whole=False)


def as_reward(value: Any) -> Reward:
    if isinstance(value, Reward):
        return value
    if isinstance(value, str) and value.lower() == "bounded":
        return BOUNDED
    try:
        family = families.as_family(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f'reward must be "bounded" or a family: {error}') from None
    return Reward(family, isinstance(family, _WHOLE))


@dataclass(frozen=True)
class Experiment:
    """The arguments of an agent, checked."""

    policy: BasePolicy
    labels: tuple[Any, ...]  # of Labels
    horizon: int
    reward: Reward

    @classmethod
    def of(cls, policy: BasePolicy, arms: Any, horizon: Any, reward: Any) -> Experiment:
        labels = as_labels(arms)
        horizon = checks.whole("horizon", horizon, 1, LONGEST_HORIZON)
        if horizon < len(labels):
            raise ValueError(f"horizon must be at least the number of arms, {len(labels)}, got {horizon}")
        return cls(policy, labels, horizon, as_reward(reward))

    @cached_property
    def numbered(self) -> bool:
        """Are the arms 0, 1, ..., K - 1?"""
        return self.labels == tuple(range(len(self.labels)))

    @property
    def game(self) -> Game:
        family = self.reward.family
        return Game(len(self.labels), self.horizon, family, family.support)


def as_labels(arms: Any) -> tuple[Label, ...]:
    """Names, or a number of arms, which are then called 0, 1, ..."""
    if isinstance(arms, str | bytes) or not isinstance(arms, Iterable) or getattr(arms, "ndim", 1) == 0:
        return tuple(range(checks.whole("arms", arms, 2, MOST_ARMS)))
    labels: list[Label] = []
    seen: set[Label] = set()
    for place, label in enumerate(arms):
        if isinstance(label, np.generic):
            label = label.item()
        if isinstance(label, bool) or not isinstance(label, Label):
            raise TypeError(f"arms[{place}] must be a string or a number, got {label!r}")
        if not isinstance(label, str) and not abs(label) <= LARGEST_LABEL:
            raise ValueError(f"arms[{place}] must be finite and at most 2^63, got a number that is not")
        if label in seen:
            raise ValueError(f"arms must be different, got {label!r} twice")
        if len(labels) == MOST_ARMS:
            raise ValueError(f"arms must be from 2 to {MOST_ARMS:,}, got more")
        labels.append(label)
        seen.add(label)
    if len(labels) < 2:
        raise ValueError(f"arms must be from 2 to {MOST_ARMS:,}, got {len(labels)}")
    return tuple(labels)
