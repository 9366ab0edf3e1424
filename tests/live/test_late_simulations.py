"""A simulation with a window plays what a store plays whose clock counts rounds."""

import math

import pytest
from support.deliveries import driven

import robai

HORIZON = 300
WAYS = [
    {"window": math.inf, "delay": 20},
    {"window": 12, "loss": 0.4},
    {"window": 20, "delay": 15, "batch": 16},
    {"window": 12, "delay": ("geometric", 7.5), "loss": 0.1},
    {"window": 15, "delay": ("geometric", 5.0), "loss": 0.1, "missing": 0.125},
]


@pytest.mark.parametrize("way", WAYS, ids=repr)
@pytest.mark.parametrize("policy", [robai.EOCPUG(), robai.ActionElimination(sigma=1.0)], ids=repr)
def test_a_store_plays_what_is_simulated(policy, way, tmp_path):
    # Gaussian rewards, of which no two indices are equal: nothing is drawn but rewards and delays.
    bandit = robai.Gaussian([1.5, 0.0, -0.25])
    played = robai.simulate(policy, bandit, HORIZON, 1, rng=5, **way)
    pulls, committed, time, answers = driven(policy, bandit, HORIZON, 5, **way)
    assert (played.committed_arm[0], played.commit_time[0], played.answers[0]) == (committed, time, answers)
    assert committed == 0
    assert time > 40
    now, tickets = [0.0], []
    with robai.Store(tmp_path / "live.db", clock=lambda: now[0]) as store:
        terms = {"window": way["window"], "missing": way.get("missing")}
        agent = store.create("late", policy, 3, HORIZON, reward=bandit.family, rng=1, **terms)
        for now[0] in range(time + 1):
            for ticket, (_, reward, due) in zip(tickets, pulls, strict=False):
                if due == now[0]:
                    agent.answer(ticket, reward)
            tickets.append(agent.ticket())
        assert [ticket.arm for ticket in tickets] == [*(arm for arm, *_ in pulls), committed]
        assert (agent.committed_arm, agent.commit_time) == (committed, answers)
        assert agent.rounds == time + 1
