"""Late, batched and lost rewards: what is played is what an agent plays that gets its rewards so."""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from support.agents import Website, agent_for
from support.examples import BANDITS, POLICIES, arms_played, fitting

import robai
from robai._core.player import Player
from robai.rules.certificate import certified

HORIZON = 250
GEOMETRIC = ("geometric", 7.5)
WAYS = [
    {"delay": 1},
    {"delay": 40},
    {"delay": GEOMETRIC},
    {"batch": 16},
    {"delay": 5, "batch": 32},
    {"loss": 0.3},
    {"loss": 0.3, "delay": GEOMETRIC, "batch": 3},
    {"window": math.inf, "delay": 10},
    {"window": 12, "loss": 0.4},
    {"window": 12, "delay": GEOMETRIC},
    {"window": 20, "delay": 4, "batch": 8, "loss": 0.1},
    {"window": 20, "delay": 15, "batch": 16},
    {"window": 9, "delay": GEOMETRIC, "loss": 0.2, "missing": 0.0},
    {"window": 30, "delay": 29 - 1, "missing": 1.0},
]


@dataclass
class Delivery:
    """Rewards on their way to an agent, by the letter: nothing is known before it happens."""

    player: Player
    website: Website
    delay: object = 0
    batch: int = 1
    loss: float = 0.0
    window: float | None = None
    missing: float | None = None
    due: dict = field(default_factory=dict)  # rounds of pulls, by the round at which their rewards are
    open: dict = field(default_factory=dict)  # arm, reward and whether it has come, by the round of the pull

    def before(self, now):
        """All that happens before the arm of a round is chosen."""
        window = math.inf if self.window is None else self.window
        for pulled in sorted(self.due.pop(now, [])):
            if pulled > now - window:
                arm, reward, _ = self.open[pulled]
                self.open[pulled] = arm, reward, True
                if self.missing is None:
                    self.player.update(arm, reward)
        for pulled in [each for each in self.open if each <= now - window]:
            arm, reward, came = self.open.pop(pulled)
            if self.missing is not None:
                self.player.update(arm, reward if came else self.missing)
            elif not came:
                self.player.drop(arm)

    def pull(self, arm, now):
        reward, chance = self.website.visit(arm), np.random.Generator(self.player.stream)
        lost = self.loss > 0.0 and chance.random() < self.loss
        delay = self.delay
        if not isinstance(delay, int):
            delay = math.floor(math.log(1.0 - chance.random()) / math.log(delay[1] / (1.0 + delay[1])))
        self.open[now] = arm, reward, False
        if not lost:
            due = now + 1 + delay
            self.due.setdefault(due + -due % self.batch, []).append(now)


def driven(policy, bandit, horizon, seed, **way):
    """Arms, commitment, its round and its answers of an agent that gets its rewards so."""
    agent = agent_for(policy, bandit, horizon, rng=seed)
    if way.get("window") is not None:
        experiment = agent._experiment
        rules = certified(policy.start(experiment.game), experiment.game, 1.0 / horizon)
        agent._player = Player(rules, bandit.n_arms, horizon, experiment.rewards, agent._player.stream)
    delivery, arms = Delivery(agent._player, Website(bandit, agent), **way), []
    for now in itertools.count():
        delivery.before(now)
        try:
            arm = agent.select()
        except robai.HorizonReached:
            return arms, -1, -1, -1
        if agent.committed:
            return arms, agent.committed_arm, now, agent.commit_time
        arms.append(arm)
        delivery.pull(arm, now)


def simulated(policy, bandit, horizon, seed, runs=1, **way):
    return robai.simulate(
        policy, bandit, horizon, runs, rng=seed, times=range(1, horizon + 1), curves=True, **way
    )


def assert_as_driven(policy, bandit, horizon, seed, **way):
    played = simulated(policy, bandit, horizon, seed, **way)
    arms, committed, time, answers = driven(policy, bandit, horizon, seed, **way)
    assert arms_played(played, 0) == arms
    assert (played.committed_arm[0], played.commit_time[0], played.answers[0]) == (committed, time, answers)
    return played


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("way", WAYS, ids=repr)
def test_an_agent_plays_the_same_arms(policy, way):
    bandit = fitting(policy, robai.Bernoulli([0.9, 0.1, 0.4]))
    for seed in (1, 2):
        assert_as_driven(policy, bandit, HORIZON, seed, **way)


@pytest.mark.parametrize("bandit", BANDITS, ids=repr)
@pytest.mark.parametrize("way", [WAYS[5], WAYS[6], WAYS[10]], ids=repr)
def test_all_rewards(bandit, way):
    for policy in (robai.KLUCB(), robai.ThompsonSampling(), robai.LeadCommit()):
        assert_as_driven(policy, bandit, HORIZON, 3, **way)


def test_runs_that_go_on_until_they_commit():
    committed = set()
    for policy in (
        robai.KLEOCPUG(),
        robai.EOCPUG(sigma=0.5),
        robai.LeadCommit(),
        robai.ActionElimination(sigma=0.5),
    ):
        for way in (*WAYS[:6], *WAYS[7:11], WAYS[12]):
            played = assert_as_driven(policy, robai.Bernoulli([0.9, 0.2]), 3000, 4, **way)
            committed.add(int(played.committed_arm[0]))
            assert -1 <= played.answers[0] <= played.commit_time[0]
    assert 0 in committed


def test_many_arms():
    bandit = robai.Bernoulli(np.linspace(0.0, 0.98765, 30) ** 2)
    for policy in (robai.KLUCB(), robai.UCB(sigma=0.5), robai.TrackAndStop()):
        for way in (WAYS[3], WAYS[6], WAYS[9]):
            assert_as_driven(policy, bandit, 400, 5, **way)
    bandit = robai.Bernoulli(np.linspace(0.0, 0.98765, 120) ** 2)  # where proportions are prepared in parts
    assert_as_driven(robai.TrackAndStop(), bandit, 300, 5, **WAYS[4])
