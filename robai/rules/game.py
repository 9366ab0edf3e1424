"""What a rule is started for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robai import families


@dataclass(frozen=True)
class Game:
    """What a rule is started for."""

    n_arms: int
    horizon: int
    family: families.Family | None
    support: tuple[float, float]

    def scales(self, sigma: float) -> NDArray[np.float64]:
        """The standard deviation that a rule reckons with, of each arm."""
        return np.full(self.n_arms, sigma)

    def family_for(self, rule: str, family: families.Family | None) -> families.Family:
        """The family that a rule works with: its own, or that of the rewards."""
        if family is None:
            if self.family is None:
                raise ValueError(f"{rule} needs a reward family, and these rewards have none: pass family=")
            return self.family
        low, high = family.support
        if self.support[0] < low or self.support[1] > high:
            raise ValueError(
                f"family={family!r} is for rewards in [{low:g}, {high:g}], "
                f"but these are in [{self.support[0]:g}, {self.support[1]:g}]"
            )
        return family

    def need_two_arms(self, name: str) -> None:
        if self.n_arms != 2:
            raise ValueError(f"{name} is defined for two arms only, got {self.n_arms}")
