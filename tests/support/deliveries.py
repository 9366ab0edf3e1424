"""Agents whose rewards come late, in batches or not at all, by the letter of what `simulate` says of them."""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
from support.agents import Website, agent_for

import robai
from robai._core.player import Player
from robai.rules.certificate import certified


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
    sent: list = field(default_factory=list)  # arm, reward and the round at which it is due, if ever

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
        due = now + 1 + delay
        due = None if lost else due + -due % self.batch
        self.open[now] = arm, reward, False
        self.sent.append((arm, reward, due))
        if not lost:
            self.due.setdefault(due, []).append(now)


def driven(policy, bandit, horizon, seed, **way):
    """Pulls, commitment, its round and its answers of an agent that gets its rewards so."""
    agent = agent_for(policy, bandit, horizon, rng=seed)
    if way.get("window") is not None:
        experiment = agent._experiment
        rules = certified(policy.start(experiment.game), experiment.game, 1.0 / horizon)
        agent._player = Player(rules, bandit.n_arms, horizon, experiment.rewards, agent._player.stream)
    delivery = Delivery(agent._player, Website(bandit, agent), **way)
    for now in itertools.count():
        delivery.before(now)
        try:
            arm = agent.select()
        except robai.HorizonReached:
            return delivery.sent, -1, -1, -1
        if agent.committed:
            return delivery.sent, agent.committed_arm, now, agent.commit_time
        delivery.pull(arm, now)
