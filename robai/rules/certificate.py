"""When it is proved that the leader is right."""

from __future__ import annotations

import math

from robai import families
from robai._base.spec import Field, parameter, spec
from robai._core import commitment, protocols, stopping
from robai.families import FamilyLike
from robai.rules.game import Game
from robai.rules.level import delta_of
from robai.rules.parameters import DELTA, FAMILY
from robai.rules.stop import Stopping
from robai.rules.threshold import threshold_of


@spec
class Certificate(Stopping):
    """When the certificate of the arm with the largest mean is at most delta, 1/T by default.

    It is wrong with probability delta at most, whichever arms were pulled, at every T and on every bandit of
    the family. That of `Agent.certificate` is the same number: `LikelihoodRatio` with threshold "proved". A
    policy that stops so has to commit to that arm, `LargestMean`. Joined to another rule by `&` it is a
    guard that keeps wrong commitments below delta, by ``|`` a way to end sooner.

    It asks for a likelihood ratio of log((K-1) / delta) and about log(N_a N_b) / 2 more. An exploration at
    level l comes to no more than l, so l has to be well above log T: inflation 4 sqrt 2 for delta = 1/T.

    Examples
    --------
    >>> import robai
    >>> from robai import rules
    >>> certified = robai.Policy(rules.KLUpperBound(inflation=robai.theory.INFLATION), Certificate())
    >>> policies = [robai.KLEOCPUG.safe(), certified]
    >>> played = robai.compare(policies, robai.Bernoulli([0.7, 0.2]), 10**5, 400, rng=0)
    >>> [each.digest().commit_median for each in played.values()]
    [509.5, 576.0]
    """

    delta: float | None = parameter(DELTA, default=None)
    family: Field[FamilyLike | None, families.Family | None] = parameter(FAMILY, default=None)

    def start(self, game: Game) -> protocols.Stopping:
        family = game.family_for(self)
        threshold = threshold_of("proved", family, game, delta_of(self, game))
        core = family._core(game.n_arms)
        return stopping.LikelihoodRatio(game.n_arms, core, threshold.core, threshold.mixture)


def certified(started: protocols.Started, game: Game, delta: float) -> protocols.Started:
    """The rules of a policy in an experiment with a window, which its certificate can end too.

    Rewards of no family, from an interval, are taken for any in it.
    """
    low, high = game.support
    own = None if game.family is not None or math.isinf(high - low) else families.Bounded(low, high)
    certificate = Certificate(delta, own).start(game)
    return protocols.Started(
        started.explore,
        stopping.Either(started.stop, certificate),
        commitment.Certified(certificate, started.commit),
        max(started.initial_pulls, certificate.initial_pulls),
    )
