"""What all bandits have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robai import families
from robai._base.spec import Field, Kind, Spec, replaceable
from robai._core import families as _core

# The square of what 10**18 rewards sum to is finite, and so is its sum over all runs.
LARGEST_REWARD = 1e100
MOST_ARMS_SHOWN = 1000


class Bandit(Spec):
    """What all bandits have.

    Attributes
    ----------
    means : tuple of float
        The mean reward of each arm.
    """

    means: Any

    @replaceable
    def family(self) -> families.Family | None:
        """The reward family; None for data, which has none."""
        return None

    @replaceable
    def n_arms(self) -> int:
        """The number of arms."""
        return len(self.means)

    @property
    def gaps(self) -> tuple[float, ...]:
        """How much each arm's mean is below the best."""
        best = max(self.means)
        return tuple(best - mean for mean in self.means)

    @property
    def best_arms(self) -> tuple[int, ...]:
        """The arms with the largest mean."""
        best = max(self.means)
        return tuple(arm for arm, mean in enumerate(self.means) if mean == best)

    @replaceable
    def support(self) -> tuple[float, float]:
        """The smallest and the largest reward."""
        raise NotImplementedError

    @property
    def proxy(self) -> families.Scale | None:
        """The smallest sigma for which rewards are known to be sigma-sub-Gaussian; None if there is none."""
        return None if self.family is None else self.family.proxy

    @replaceable
    def names(self) -> tuple[str, ...] | None:
        """What the arms are called in summaries, figures and tables; None if they are only numbered."""
        return None

    def obstacle(self) -> str:
        """Why nobody can tell whether a bandit is still the same, or nothing: for checkpoints.

        Returns
        -------
        str

        Examples
        --------
        >>> import robai
        >>> robai.Gaussian([0.7, 0.2]).obstacle()
        ''
        >>> robai.Sampler(lambda arm, size, rng: rng.random(size), [0.5, 0.5]).obstacle()
        'draw=<lambda> is written in Python'
        """
        return ""

    def __repr__(self) -> str:
        if self.n_arms <= MOST_ARMS_SHOWN:
            return super().__repr__()
        means = f"({self.means[0]!r}, ..., {self.means[-1]!r}: {self.n_arms:,} arms)"
        others = [f", {name}={value!r}" for name, value in self._parameters() if name != "means"]
        return f"{type(self).__name__}(means={means}{''.join(others)})"

    def _core(self) -> _core.Sampler:
        raise NotImplementedError


def entries(name: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence with one entry an arm, got {values!r}")
    listed = list(values)
    if len(listed) < 2:
        raise ValueError(f"{name} must have at least two arms, got {len(listed)}")
    return listed


MEANS = Kind(entries, "mean reward of each arm")
Means = Field[Iterable[float], tuple[float, ...]]
