"""What a window, and a reopening, make of the rules of a policy."""

import math

import pytest
from support.examples import POLICIES, fitting

import robai
from robai import families, rules
from robai._core import commitment, stopping
from robai._core.ledger import Rewards
from robai._core.player import Player
from robai._core.protocols import Evidence, intervals
from robai._core.rng import Stream
from robai.rules import Game
from robai.rules.certificate import Certificate, certified

HORIZON = 10_000
DELTA = 0.01
REWARDS = Rewards(0.0, 1.0, True)


def game_of(policy, bandit):
    return Game.of(bandit.n_arms, HORIZON, bandit)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_own_stop_or_certificate(policy):
    bandit = fitting(policy, robai.Bernoulli([0.3, 0.7]))
    game = game_of(policy, bandit)
    own, alone = policy.start(game), Certificate(DELTA).start(game)
    both = certified(policy.start(game), game, DELTA)
    assert both.initial_pulls >= max(own.initial_pulls, alone.initial_pulls)
    rest = [50] * (bandit.n_arms - 2)
    for pulls, sums in (
        ([50, 50], [20.0, 30.0]),  # neither, mostly
        ([500, 500], [100.0, 200.0]),  # the certificate
        ([5000, 20], [3000.0, 9.0]),  # imbalance
        ([4000, 3000], [100.0, 2500.0]),  # nearly all
    ):
        seen = Evidence(pulls + rest, sums + [5.0] * len(rest), HORIZON, [1.0] * bandit.n_arms)
        assert both.stop.fires_on(seen) == (own.stop.fires_on(seen) or alone.fires_on(seen))
        if alone.fires_on(seen):
            best = max(range(bandit.n_arms), key=lambda arm: seen.sums[arm] / seen.pulls[arm])
            assert both.commit.choose_on(seen, Stream([1, 2, 3, 4])) == best
        elif not isinstance(own.commit, commitment.Recommended):
            chosen = (rule.choose_on(seen, Stream([1, 2, 3, 4])) for rule in (own.commit, both.commit))
            assert len(set(chosen)) == 1


def test_the_certificate_chooses_in_the_middle_of_stages():
    bandit = robai.Bernoulli([0.3, 0.7])
    policy = robai.DETC(sigma=1.0)  # whose bounds are twice as wide as they need to be
    game = game_of(policy, bandit)
    agent = robai.Agent(policy, 2, HORIZON, reward="bernoulli", rng=0)
    agent._player = Player(
        certified(policy.start(game), game, DELTA), 2, HORIZON, REWARDS, Stream([1, 2, 3, 4])
    )
    turns = 0
    while not agent.committed:
        arm = agent.select()
        if not agent.committed:
            turns += 1
            agent.update(arm, turns % 10 < (7 if arm == 1 else 3))
    assert agent.committed_arm == 1
    reason = agent.commit_reason
    assert "the mixture likelihood ratio of 1 against every other arm was at least" in reason
    assert "the certificate chose 1, which had the largest mean, " in reason
    seen = Evidence(*agent._player.commitment[2:4], HORIZON)
    assert 0 < agent.certificate() <= DELTA
    assert agent._experiment.certainty.delta(seen) <= DELTA


def test_reasons_and_levels_of_the_policy_itself():
    policy = robai.EOCPUG(sigma=0.5)
    plain = robai.Agent(policy, ["A", "B"], HORIZON, reward="bernoulli", rng=0)
    window = robai.Agent(policy, ["A", "B"], HORIZON, reward="bernoulli", rng=0)
    experiment = window._experiment
    rules_of = certified(policy.start(experiment.game), experiment.game, 1e-30)
    reopened = rules_of._replace(stop=stopping.Held(rules_of.stop))
    for compiled in (rules_of, reopened):
        window._player = Player(compiled, 2, HORIZON, REWARDS, Stream([1, 2, 3, 4]))
        for agent in (plain, window):
            while not agent.committed:
                arm = agent.select()
                if not agent.committed:
                    agent.update(arm, arm == "B")
        assert window.commit_reason == plain.commit_reason
        assert "the largest lower bound" in window.commit_reason
        assert window.summary() == plain.summary()


def test_rewards_of_no_family():
    coins = robai.Sampler(lambda arm, size, rng: rng.random(size), means=[0.5, 0.5], support=(0.0, 1.0))
    game = Game.of(2, HORIZON, coins)
    rule = certified(robai.EOCPUG(sigma=0.5).start(game), game, DELTA).commit.certificate
    like = Game.of(2, HORIZON, families.Bounded(0.0, 1.0))
    for total in (20.0, 60.0, 80.0, 90.0):
        seen = Evidence([100, 100], [10.0, total], HORIZON)
        assert rule.fires_on(seen) == Certificate(DELTA).start(like).fires_on(seen)
    unlimited = robai.Sampler(lambda arm, size, rng: rng.random(size), means=[0.5, 0.5])
    game = Game.of(2, HORIZON, unlimited)
    with pytest.raises(ValueError, match="Certificate needs a reward family, and these rewards have none"):
        certified(robai.EOCPUG(sigma=0.5).start(game), game, DELTA)


def test_a_rule_that_is_held():
    policy = robai.Policy(rules.UpperBound(sigma=0.5), rules.Dominance(factor=2.0))
    game = Game.of(2, HORIZON, families.Bernoulli())
    rule = policy.start(game).stop
    held = stopping.Held(rule)
    fires, quiet = Evidence([30, 10], [20.0, 1.0], HORIZON), Evidence([20, 10], [10.0, 5.0], HORIZON)
    assert [rule.fires_on(each) for each in (fires, quiet)] == [True, False]
    assert (held.initial_pulls, held.moments, held.leaps) == (rule.initial_pulls, rule.moments, False)
    assert held.report(fires) == rule.report(fires)

    def player(stop):
        started = policy.start(game)._replace(stop=stop)
        return Player(started, 2, HORIZON, REWARDS, Stream([1, 2, 3, 4]))

    agent = player(held)
    agent.update_counts(0, 30, 20.0)
    agent.update_counts(1, 10, 1.0)
    assert held.held
    assert not held.fires_on(fires)
    for _ in range(3):
        assert not agent.ask()[1]
    assert held.held
    agent.update_counts(1, 20, 2.0)  # refuted
    assert not agent.ask()[1]
    assert not held.held
    agent.update_counts(0, 100, 70.0)
    assert held.fires_on(Evidence([130, 30], [90.0, 3.0], HORIZON))
    assert agent.ask() == (0, True)
    held.held = True
    assert not agent.ask()[1]


def test_bounds_are_those_of_the_wrapped_rules():
    policy = robai.UCBAlpha(sigma=0.5)
    game = Game.of(2, HORIZON, families.Bernoulli())
    own = policy.start(game)
    wrapped = certified(own, game, DELTA)
    wrapped = wrapped._replace(stop=stopping.Held(wrapped.stop))
    seen = Evidence([30, 10], [20.0, 1.0], HORIZON)
    assert intervals(wrapped, seen) == intervals(own, seen)
    assert all(math.isfinite(end) for bounds in intervals(own, seen) for end in bounds)
