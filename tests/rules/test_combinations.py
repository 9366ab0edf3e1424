"""Rules by themselves: every exploration ends where it is told, every stopping rule stops any exploration."""

from dataclasses import MISSING, fields

import numpy as np
import pytest
from support.fuzz_cases import EXPLORATIONS, STOPPINGS

import robai
from robai import rules

HORIZON, ROUND, RUNS = 400, 61, 40  # three pulls and 29 pairs, which some explorations play
# Of parameters without a default. A round of its own is what `FixedRound` is tested with.
NEEDED = {
    "gap": 0.3,
    "kl": 0.1,
    "round": ROUND,
    "factor": 3.0,
    "first": rules.Never(),
    "second": rules.Never(),
}
# What only two arms have.
PAIRS = {rules.DoubleExplore, rules.FixedDesign, rules.SPRT, rules.MeanGap}
BANDIT, TWO = robai.Bernoulli([0.8, 0.5, 0.2]), robai.Bernoulli([0.8, 0.3])
PLAIN = [kind for kind in EXPLORATIONS if kind not in rules.STAGED and kind is not rules.Index]
STOPS = [kind for kind in STOPPINGS if kind not in (rules.Stop, rules.Either, rules.Both)]


def made(kind):
    needed = {each.name for each in fields(kind) if each.default is MISSING}
    return kind(**{name: NEEDED[name] for name in needed})


def played(policy, kind, engine="step"):
    bandit = TWO if kind in PAIRS else BANDIT
    result = robai.simulate(policy, bandit, HORIZON, RUNS, rng=3, times=1, engine=engine)
    assert (result.pulls.sum(1) == HORIZON).all()
    return result


@pytest.mark.filterwarnings("ignore::robai.AssumptionWarning")
@pytest.mark.parametrize("kind", PLAIN, ids=lambda kind: kind.__name__)
def test_any_exploration_is_over_at_the_round_that_was_asked_for(kind):
    result = played(robai.Policy(made(kind), rules.FixedRound(ROUND), rules.LargestMean()), kind)
    assert (result.commit_time == ROUND).all()
    own = result.pulls[np.arange(RUNS), result.committed_arm]
    assert (own >= HORIZON - ROUND).all()
    assert (result.pulls >= 1).all()
    endless = played(robai.Policy(made(kind), rules.Never()), kind)
    assert not endless.committed.any()


@pytest.mark.filterwarnings("ignore::robai.AssumptionWarning")
@pytest.mark.parametrize("kind", rules.STAGED, ids=lambda kind: kind.__name__)
def test_explorations_that_end_by_themselves_recommend_an_arm(kind):
    result = played(robai.Policy(made(kind), rules.Never(), rules.Recommended()), kind)
    assert np.count_nonzero(result.committed_arm == 0) > 0.6 * RUNS


@pytest.mark.filterwarnings("ignore::robai.AssumptionWarning")
@pytest.mark.parametrize("kind", STOPS, ids=lambda kind: kind.__name__)
def test_of_two_stopping_rules_the_first_to_fire_ends_it(kind):
    explore = rules.RoundRobin()
    own = played(robai.Policy(explore, made(kind)), kind).commit_time
    either = played(robai.Policy(explore, made(kind) | rules.FixedRound(ROUND)), kind).commit_time
    both = played(robai.Policy(explore, made(kind) & rules.FixedRound(ROUND)), kind).commit_time
    assert (either == np.where(own < 0, ROUND, np.minimum(own, ROUND))).all()
    late = own >= ROUND
    assert (both[late] == own[late]).all()
    assert ((both >= ROUND) | (both < 0)).all()
