"""How to explore by posterior draws, in turn, or in proportions."""

from __future__ import annotations

from robai import families
from robai._base.spec import Field, parameter, spec
from robai._core import explore_sampling, protocols
from robai._core import families as _core_families
from robai.families import FamilyLike
from robai.rules.explore import Exploration
from robai.rules.game import Game
from robai.rules.parameters import FAMILY, PRIOR, TRACKING, Prior, Tracked


@spec
class PosteriorSampling(Exploration):
    """The arm with the largest draw from its posterior: priors are those of `ThompsonSampling`.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(PosteriorSampling(prior="uniform"), robai.KLEOCPUG())
    >>> robai.simulate(policy, robai.Bernoulli([0.7, 0.2]), 10**4, 20, rng=0).wrong_commit().count
    0
    """

    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)
    prior: Prior = parameter(PRIOR, default="jeffreys")

    def start(self, game: Game) -> protocols.Exploration:
        family = game.family_for(self)
        core = family._core(game.n_arms)
        if self.prior == "uniform":
            if not isinstance(family, families.Bernoulli):
                raise ValueError(
                    f"prior='uniform' is Beta(1, 1) of Bernoulli rewards, got rewards of {family!r}: use "
                    "prior='jeffreys', or family='bernoulli' for rewards in [0, 1]"
                )
            core = _core_families.Bernoulli(1.0)
        return explore_sampling.Thompson(game.n_arms, core)


@spec
class RoundRobin(Exploration):
    """All arms in turn.

    Examples
    --------
    >>> import robai
    >>> policy = robai.Policy(RoundRobin())
    >>> robai.simulate(policy, robai.Gaussian([0.7, 0.2, 0.1]), 300, 1, rng=0).pulls.tolist()
    [[100, 100, 100]]
    """

    def start(self, game: Game) -> protocols.Exploration:
        return explore_sampling.RoundRobin()


@spec
class Tracking(Exploration):
    """The arm that lags most behind the proportions w* of the current estimate.

    Garivier and Kaufmann (2016); "D" tracks the last proportions, "C" their sum. Where the variance of
    Gaussian rewards is unknown, the proportions are those of equal variances.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Gaussian([1.0, 0.5, 0.0])
    >>> played = robai.simulate(robai.Policy(Tracking()), bandit, 10**4, 10, rng=0)
    >>> shares, optimal = played.pulls.mean(axis=0) / 10**4, robai.theory.weights(bandit)[0]
    >>> [each.round(2).tolist() for each in (shares, optimal)]
    [[0.47, 0.46, 0.07], [0.47, 0.46, 0.07]]
    """

    tracking: Tracked = parameter(TRACKING, default="D")
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def start(self, game: Game) -> protocols.Exploration:
        family = game.family_for(self)
        return explore_sampling.Tracking(game.n_arms, family._core(game.n_arms), self.tracking == "C")
