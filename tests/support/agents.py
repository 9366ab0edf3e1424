"""Agents for tests, and the rewards that the step engine would have given them."""

import contextlib

import robai
from robai._core.engine import TAPE_LENGTH


class Website:
    """Rewards from the agent's own generator, in the order in which the step engine draws them."""

    def __init__(self, bandit, agent):
        self.bandit, self.stream = bandit, agent._player.stream
        self.family, self.pulls = bandit._core(), [0] * bandit.n_arms
        self.tape = [[] for _ in bandit.means]

    def visit(self, arm):
        if not self.tape[arm]:
            count = min(max(self.pulls[arm], 1), TAPE_LENGTH)
            self.tape[arm] = self.family.rewards(arm, self.bandit.means[arm], count, self.stream).tolist()
        self.pulls[arm] += 1
        return self.tape[arm].pop(0)


def agent_for(policy, bandit, horizon, **options):
    return robai.Agent(policy, bandit.n_arms, horizon, reward=bandit.family, **options)


def played_until_commitment(agent, bandit):
    website, arms = Website(bandit, agent), []
    with contextlib.suppress(robai.HorizonReached):
        while not agent.committed:
            arm = agent.select()  # of the first round after the last one, too: it may be a commitment
            if not agent.committed:
                agent.update(arm, website.visit(arm))
                arms.append(arm)
    return arms


def explored(policy, bandit, horizon, seed=0):
    """An agent played with immediate rewards, up to its commitment or its horizon."""
    agent = agent_for(policy, bandit, horizon, rng=seed)
    played_until_commitment(agent, bandit)
    return agent


def twins(count=2, **options):
    arguments = {
        "policy": robai.KLEOCPUG(),
        "arms": 3,
        "horizon": 10**5,
        "reward": "bounded",
        "rng": 9,
    } | options
    return [robai.Agent(**arguments) for _ in range(count)]
