"""What a rule is started for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robai import families
from robai._base import checks
from robai.bandits import Bandit

LONGEST_HORIZON = 10**18
FARTHEST_HORIZON = 1e100  # of rules that stop by themselves, long before
MOST_ROUNDS = 2**62  # that an engine counts


@dataclass(frozen=True)
class Game:
    """What a rule is started for.

    Attributes
    ----------
    n_arms : int
        The number of arms.
    horizon : int or float
        T of the rules, the number of rounds. A float where that is above 10^18, which no game is
        played to: rules must stop it before.
    family : families.Family or None
        Of the rewards.
    support : (float, float)
        The smallest and the largest reward.
    proxy : float, tuple of float or None
        The smallest sigma for which the rewards are known to be sigma-sub-Gaussian.
    policy : policy or None
        Whose rules are started, for messages.

    Examples
    --------
    >>> import robai
    >>> game = Game.of(2, 1000, robai.Bernoulli([0.7, 0.2]))
    >>> game.horizon, game.family, game.support, game.proxy
    (1000, Bernoulli(), (0.0, 1.0), 0.5)
    """

    n_arms: int
    horizon: int | float
    family: families.Family | None
    support: tuple[float, float]
    proxy: families.Scale | None
    policy: Any = None

    @classmethod
    def of(
        cls, n_arms: int, horizon: Any, rewards: Bandit | families.Family, longest: float = LONGEST_HORIZON
    ) -> Game:
        """A game with the horizon checked.

        Parameters
        ----------
        n_arms : int
            The number of arms.
        horizon : int or float
            The number of rounds.
        rewards : bandit or family
            What they are.
        longest : float
            The largest horizon that is allowed.

        Returns
        -------
        Game

        Examples
        --------
        >>> Game.of(3, 2, families.Bernoulli())
        Traceback (most recent call last):
        ValueError: horizon must be at least the number of arms, 3, got 2
        """
        if longest > LONGEST_HORIZON and checks.real("horizon", horizon) > LONGEST_HORIZON:
            horizon = checks.between("horizon", horizon, 1.0, longest)
        else:
            horizon = checks.whole("horizon", horizon, 1, LONGEST_HORIZON)
        if horizon < n_arms:
            raise ValueError(f"horizon must be at least the number of arms, {n_arms}, got {horizon}")
        family = rewards if isinstance(rewards, families.Family) else rewards.family
        return cls(n_arms, horizon, family, rewards.support, rewards.proxy)

    @property
    def rounds(self) -> int:
        """How many there can be: the horizon, as far as an int64 goes."""
        return int(min(self.horizon, MOST_ROUNDS))

    def sigma_of(self, rule: Any) -> families.Scale:
        """The standard deviation that a rule, or a policy, reckons with: its own, or the proxy.

        Parameters
        ----------
        rule : rule or policy
            With a `sigma`.

        Returns
        -------
        float or tuple of float

        Examples
        --------
        >>> from robai import rules
        >>> game = Game.of(2, 1000, families.Bernoulli())
        >>> game.sigma_of(rules.UpperBound()), game.sigma_of(rules.UpperBound(sigma=0.3))
        (0.5, 0.3)
        """
        sigma: families.Scale | None = self.proxy if rule.sigma is None else rule.sigma
        if sigma is None:
            if isinstance(self.family, families.Gaussian):
                why, how = "the variance is unknown", "say reward=families.Gaussian(sigma)"
            else:
                rewards = "these are" if self.family is None else f"{self.family!r} is"
                why, how = f"{rewards} not for any sigma", "pass sigma= to assume one"
            name = type(self._asks(rule)).__name__
            raise ValueError(
                f"{name} needs sigma-sub-Gaussian rewards, and {why}: {self._or_instead(rule, how)}"
            )
        return sigma

    def _asks(self, rule: Any) -> Any:
        """Who is named in an error: the policy, unless it is any combination of rules."""
        return self.policy if getattr(self.policy, "named", False) else rule

    def _or_instead(self, rule: Any, how: str) -> str:
        """A way out, after the one who serves any family, if there is one and these rewards have a family."""
        instead = getattr(self._asks(rule), "instead", "")
        return (
            f"use {instead}, which knows the family, or {how}" if instead and self.family is not None else how
        )

    def scales(self, rule: Any) -> NDArray[np.float64]:
        """The standard deviation of each arm that a rule reckons with.

        Parameters
        ----------
        rule : rule or policy
            With a `sigma`.

        Returns
        -------
        ndarray of float

        Examples
        --------
        >>> from robai import rules
        >>> Game.of(2, 1000, families.Bernoulli()).scales(rules.UpperBound()).tolist()
        [0.5, 0.5]
        """
        return families.one_an_arm(self.sigma_of(rule), self.n_arms)

    def scale(self, rule: Any) -> float:
        """The same for all arms, where a rule is for no other.

        Parameters
        ----------
        rule : rule or policy
            With a `sigma`.

        Returns
        -------
        float

        Examples
        --------
        >>> from robai import rules
        >>> Game.of(2, 1000, families.Gaussian((1.0, 2.0))).scale(rules.MeanGap())
        Traceback (most recent call last):
        ValueError: MeanGap is for arms with the same sigma, got [1.0, 2.0]
        """
        scales = self.scales(rule)
        if scales.min() != scales.max():
            name = type(self._asks(rule)).__name__
            raise ValueError(f"{name} is for arms with the same sigma, got {scales.tolist()}")
        return float(scales[0])

    def length(self, rule: Any) -> float:
        """The length of the interval that rewards are in.

        Parameters
        ----------
        rule : rule or policy
            Who asks, for the message if there is none.

        Returns
        -------
        float

        Examples
        --------
        >>> from robai import rules
        >>> Game.of(2, 1000, families.Bounded(-1.0, 2.0)).length(rules.BernsteinBound())
        3.0
        """
        low, high = self.support
        if math.isinf(high - low):
            name, how = type(self._asks(rule)).__name__, "say which, if there is one"
            raise ValueError(
                f"{name} needs rewards from an interval, such as families.Bounded(0, 1), "
                f"got rewards in [{low:g}, {high:g}]: {self._or_instead(rule, how)}"
            )
        return high - low

    def family_for(self, rule: Any) -> families.Family:
        """The family that a rule works with: its own, or that of the rewards.

        Parameters
        ----------
        rule : rule or policy
            With a `family`.

        Returns
        -------
        families.Family

        Examples
        --------
        >>> from robai import rules
        >>> game = Game.of(2, 1000, families.Bounded(0.0, 1.0))
        >>> game.family_for(rules.KLUpperBound()), game.family_for(rules.KLUpperBound(family="bernoulli"))
        (Bounded(low=0.0, high=1.0), Bernoulli())
        """
        family: families.Family | None = rule.family
        if family is None:
            if self.family is None:
                low, high = self.support
                if math.isfinite(high - low):
                    how = f"pass family=families.Bounded({low!r}, {high!r})"
                else:
                    how = "say Sampler(family=...) or support=(low, high), or pass family="
                name = type(self._asks(rule)).__name__
                raise ValueError(f"{name} needs a reward family, and these rewards have none: {how}")
            return self.family
        low, high = family.support
        if self.support[0] < low or self.support[1] > high:
            raise ValueError(
                f"family={family!r} is for rewards in [{low:g}, {high:g}], "
                f"but these are in [{self.support[0]:g}, {self.support[1]:g}]"
            )
        return family

    def family_of_means(self, rule: Any) -> families.Family:
        """The same, where members of the family have to differ by their means alone.

        Parameters
        ----------
        rule : rule or policy
            With a `family`.

        Returns
        -------
        families.Family

        Examples
        --------
        >>> from robai import rules
        >>> Game.of(2, 1000, families.Poisson()).family_of_means(rules.MinimumDivergence())
        Poisson()
        """
        family = self.family_for(rule)
        if isinstance(family, families.Gaussian) and family.sigma is None:
            asks = self._asks(rule)
            raise ValueError(
                f"{type(asks).__name__} needs a known variance, and that of {family!r} is not: "
                f"use {asks.instead}, which estimates it, or say families.Gaussian(sigma)"
            )
        return family

    def need_two_arms(self, name: str) -> None:
        """A ValueError if there are more, or fewer.

        Parameters
        ----------
        name : str
            Who needs them.

        Examples
        --------
        >>> Game.of(3, 1000, families.Bernoulli()).need_two_arms("ETC")
        Traceback (most recent call last):
        ValueError: ETC is defined for two arms only, got 3
        """
        if self.n_arms != 2:
            raise ValueError(f"{name} is defined for two arms only, got {self.n_arms}")
