"""LeadCommit, the policy of this package."""

from __future__ import annotations

from robai import families, rules
from robai._base.spec import Field, parameter, spec
from robai.families import FamilyLike
from robai.policies.base import BasePolicy, Parts
from robai.rules.parameters import BAR, DELTA, EXPONENT, FACTOR, FAMILY, Bar


@spec
class LeadCommit(BasePolicy):
    """Play the leader, and arms in doubt the less the more speaks against them; commit when none is in doubt.

    See `rules.Lead` for the exploration; the commitment is to the arm with the largest mean.
    """

    exponent: float = parameter(EXPONENT, default=0.5)
    factor: float = parameter(FACTOR, default=2.0)
    level: Bar = parameter(BAR, default="ratio")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)
    delta: float | None = parameter(DELTA, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.parts()

    def parts(self) -> Parts:
        explore = rules.Lead(self.exponent, self.factor, self.level, self.delta, self.family)
        if self.delta is None:
            stop = rules.LikelihoodRatio(family=self.family, level=self.level)
        else:
            stop = rules.LikelihoodRatio(delta=self.delta, family=self.family, threshold="pair")
        return Parts(explore, stop, rules.LargestMean())
