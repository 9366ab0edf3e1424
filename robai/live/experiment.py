"""What an agent is made for and what never changes: policy, arms, horizon and valid rewards."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Literal

import numpy as np

from robai import families
from robai._base import checks
from robai._core.ledger import Rewards
from robai._core.player import Player
from robai._core.rng import Stream
from robai.bandits import Bandit
from robai.custom import CustomPolicy, as_policy
from robai.rules import Game

LONGEST_HORIZON = 10**18
MOST_ARMS = 10**6
LARGEST_LABEL = 2**63  # of a number: every reader of JSON can have it
LARGEST_COUNT = 1e15  # of events in one reward; doubles of this size are exact integers

RewardLike = Literal["bounded"] | families.FamilyLike | Bandit

# Families whose rewards are counts.
_WHOLE = (families.Bernoulli, families.Binomial, families.Poisson, families.NegativeBinomial)


class Experiment:
    """The arguments of an agent, checked."""

    def __init__(self, policy: Any, arms: Any, horizon: Any, reward: Any) -> None:
        self.policy = as_policy(policy)
        self.labels = _labels(arms)
        self.numbered = self.labels == tuple(range(len(self.labels)))
        self.horizon = checks.whole("horizon", horizon, 1, LONGEST_HORIZON)
        if self.horizon < len(self.labels):
            raise ValueError(
                f"horizon must be at least the number of arms, {len(self.labels)}, got {self.horizon}"
            )
        self.bounded = isinstance(reward, str) and reward.lower() == "bounded"
        # Bernoulli divergences are valid for all rewards from 0 to 1.
        self.family = families.Bernoulli() if self.bounded else _family(reward)
        self.whole = isinstance(self.family, _WHOLE) and not self.bounded

    def player(self, stream: Stream) -> Player:
        """The experiment at its beginning; a ValueError if the policy is not for it."""
        low, high = self.family.support
        rewards = Rewards(low, min(high, LARGEST_COUNT) if self.whole else high, self.whole)
        game = Game(len(self.labels), self.horizon, self.family, (low, high))
        own = self.policy._ask(game, stream) if isinstance(self.policy, CustomPolicy) else None
        return Player(self.policy._start(game), game.n_arms, game.horizon, rewards, stream, own)

    def to_dict(self) -> dict[str, Any]:
        return {
            "policy": self.policy.to_dict(),
            "arms": len(self.labels) if self.numbered else list(self.labels),
            "horizon": self.horizon,
            "reward": {"type": "bounded"} if self.bounded else self.family.to_dict(),
        }


def _family(reward: Any) -> families.Family:
    try:
        return families.as_family(reward)
    except (TypeError, ValueError) as error:
        raise type(error)(f'reward must be "bounded" or a family: {error}') from None


def _labels(arms: Any) -> tuple[Any, ...]:
    """Names, or a number of arms, which are then called 0, 1, ..."""
    if isinstance(arms, str | bytes) or not isinstance(arms, Iterable) or getattr(arms, "ndim", 1) == 0:
        return tuple(range(checks.whole("arms", arms, 2, MOST_ARMS)))
    labels: dict[str | int | float, None] = {}
    for place, label in enumerate(islice(arms, MOST_ARMS + 1)):
        if isinstance(label, np.generic):
            label = label.item()
        if isinstance(label, bool) or not isinstance(label, str | int | float):
            raise TypeError(f"arms[{place}] must be a string or a number, got {label!r}")
        if not isinstance(label, str) and not abs(label) <= LARGEST_LABEL:
            raise ValueError(f"arms[{place}] must be finite and at most 2^63, got a number that is not")
        if label in labels:
            raise ValueError(f"arms must be different, got {label!r} twice")
        labels[label] = None
    if not 2 <= len(labels) <= MOST_ARMS:
        many = "more" if len(labels) > MOST_ARMS else len(labels)
        raise ValueError(f"arms must be from 2 to {MOST_ARMS:,}, got {many}")
    return tuple(labels)
