"""What a kernel does before it returns to Python is bounded, so that Ctrl-C is heard.

Counted, not timed: a piece of no time at all ends when the engine first looks at the clock.
"""

import numpy as np
import pytest

import robai
from robai import rules
from robai._core.engine import Batch
from robai._core.leap import PositiveLeaps
from robai._play.request import Simulation
from robai._play.seeds import Seed

K = 20_000
MEANS = [0.5] * (K - 1) + [0.6]


def batch_of(policy, bandit, horizon, engine, runs=1):
    simulation = Simulation.of(policy, bandit, horizon, 1, Seed((0,)), engine)
    started, states = policy.start(simulation.game), simulation.seed.states(0, runs)
    kind = PositiveLeaps if engine == "leap" else Batch
    return kind(*started, bandit._core(), bandit.means, simulation.times, states)


def pieces(policy, bandit, horizon, engine):
    """The pulls after each piece of no time."""
    batch, more = batch_of(policy, bandit, horizon, engine), True
    while more:
        more = batch.advance(1.0)
        yield batch.pulls[0].copy()


@pytest.mark.parametrize(
    "bandit", [robai.Bernoulli([1 - 1e-9, 1 - 2e-9]), robai.NegativeBinomial([1.0, 0.1], r=1e-3)], ids=repr
)
def test_what_a_piece_plays_does_not_grow_with_the_horizon(bandit):
    """Where no leap is possible."""
    before = 0
    for _, pulls in zip(range(20), pieces(robai.KLUCB(), bandit, 10**8, "leap"), strict=False):
        assert 0 < pulls.sum() - before < 10**6
        before = pulls.sum()


@pytest.mark.parametrize(
    "policy",
    [
        *(
            robai.UCB(sigma=1.0),
            robai.UCB("round", sigma=1.0),
            robai.KLUCB(),
            robai.KLUCB("round"),
            robai.EOCPUG(sigma=1.0),
            robai.KLEOCPUG(),
        ),
        *(robai.UCBAlpha(sigma=1.0), robai.ThompsonSampling(), robai.DETCK(sigma=1.0), robai.TrackAndStop()),
        *(robai.ActionElimination(sigma=1.0), robai.ActionElimination(radius="even-dar", sigma=1.0)),
        robai.Policy(
            robai.UCB(sigma=1.0),
            (robai.UCBAlpha(sigma=1.0).parts().stop & rules.LikelihoodRatio()) | rules.Imbalance(),
        ),
    ],
    ids=lambda policy: policy.label(),
)
def test_with_many_arms_a_piece_is_one_decision(policy):
    # Ties in plenty: all arms with the same first reward are alike.
    game = pieces(policy, robai.Poisson(MEANS), 10**6, "step")
    before = next(pulls for pulls in game if pulls.min() > 0)
    for _, pulls in zip(range(50), game, strict=False):
        assert np.count_nonzero(pulls - before) <= 1
        before = pulls


@pytest.mark.parametrize("tracking", ["C", "D"])
def test_the_proportions_of_many_arms_are_solved_for_in_parts(tracking):
    game = pieces(robai.TrackAndStop(tracking=tracking), robai.Gaussian(MEANS), 10**6, "step")
    played = next(pulls.sum() for pulls in game if pulls.min() > 0)
    waiting = 0
    while next(game).sum() == played:
        waiting += 1
    assert waiting > K // 5000  # several in each step of Newton's method


@pytest.mark.parametrize(("count", "finished", "left"), [(0, 0, 0), (1, 0, 1), (90, 1, 2), (300, 3, 3)])
def test_runs_that_have_not_begun_can_be_dropped(count, finished, left):
    game = (robai.KLUCB(), robai.Bernoulli([0.7, 0.2]), 500_000, "step", 3)  # some 60 pieces a run
    whole, batch = batch_of(*game), batch_of(*game)
    assert not whole.advance(1e18)
    for _ in range(count):
        batch.advance(0.0)
    assert (batch.finished, batch.drop_the_rest()) == (finished, left)
    assert not batch.advance(1e18)
    assert batch.finished == left
    np.testing.assert_array_equal(batch.pulls[:left], whole.pulls[:left])
    assert not batch.pulls[left:].any()
