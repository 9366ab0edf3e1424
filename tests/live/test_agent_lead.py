"""LeadCommit in an experiment that is going on: late rewards, durable state, what it says of itself."""

import math
from collections import deque

import numpy as np
import pytest

import robai
from robai import families

UNIT = families.Gaussian(1.0)


def played_late(seed, delay, horizon=10**6):
    """Regret and the round of the commitment, every reward `delay` rounds late."""
    rng, means = np.random.default_rng(seed), (0.7, 0.2)
    agent = robai.Agent(robai.LeadCommit(), 2, horizon, reward=UNIT, rng=seed)
    under_way = deque()
    while not agent.committed:
        under_way.append(agent.select())
        if len(under_way) > delay:
            arm = under_way.popleft()
            agent.update(arm, rng.normal(means[arm]))
    handed_out = agent.pulls + agent.pending
    handed_out[agent.committed_arm] -= 1  # of the call that committed
    wrong = agent.committed_arm * (horizon - handed_out.sum())
    return 0.5 * (handed_out[1] + wrong), int(handed_out.sum())


@pytest.mark.parametrize(("delay", "regret", "time"), [(0, 34.2, 497), (10, 34.8, 500), (100, 41.1, 530)])
def test_late_rewards_cost_what_other_programs_measured(delay, regret, time):
    regrets, times = np.array([played_late(seed, delay) for seed in range(250)]).T
    for values, value, error in ((regrets, regret, 0.25), (times, time, 3.0)):
        assert abs(values.mean() - value) < 5 * math.hypot(error, values.std() / math.sqrt(len(values)))


def test_pending_pulls_count_in_claims_and_nowhere_else():
    """What is handed out, beside the rule itself: answered pulls n, sums s, and pending pulls m."""
    rng = np.random.default_rng(6)
    horizon, kinds = 500, set()
    for seed in range(300):
        agent = robai.Agent(robai.LeadCommit(), 3, horizon, reward=UNIT, rng=seed)
        n = rng.integers(1, 12, 3)
        s = n * rng.normal([0.8, 0.2, -0.3], 0.5)
        for arm in range(3):
            agent.update_counts(arm, int(n[arm]), float(s[arm]))
        m = np.zeros(3, dtype=int)
        for _ in range(15):
            leader = int((s / n).argmax())
            z = n[leader] * n / (n[leader] + n) * (s[leader] / n[leader] - s / n) ** 2 / 2
            doubt = (z < np.log(horizon / (n[leader] + n))) & (np.arange(3) != leader)
            if not doubt.any():
                assert agent.select() == agent.committed_arm == leader
                kinds.add("commits")
                break
            claims = np.where(doubt, (1 + 2 * np.sqrt(z)) * (n + m), np.inf)
            arm = leader if n[leader] + m[leader] < claims.min() else int(claims.argmin())
            kinds.add("leads" if arm == leader else "claims")
            assert agent.select() == arm
            m[arm] += 1
    assert kinds == {"commits", "leads", "claims"}


def test_the_state_is_pulls_and_sums():
    agent = robai.Agent(robai.LeadCommit(), ["A", "B", "C"], 10**4, reward="bernoulli", rng=3)
    rng = np.random.default_rng(0)
    for _ in range(200):
        agent.update(arm := agent.select(), float(rng.random() < {"A": 0.6, "B": 0.5, "C": 0.45}[arm]))
    agent.select_batch(5)
    assert agent._player.rules.explore.memory() == {}
    other = robai.Agent.from_json(agent.to_json())
    for _ in range(2000):
        arm = agent.select()
        assert other.select() == arm
        reward = float(rng.random() < {"A": 0.6, "B": 0.5, "C": 0.45}[arm])
        agent.update(arm, reward)
        other.update(arm, reward)
    assert agent.committed == other.committed
    assert agent.to_json() == other.to_json()


def test_a_summary_says_which_arms_are_in_doubt_and_for_how_long():
    agent = robai.Agent(robai.LeadCommit(), ["A", "B", "C"], 1000, reward=UNIT, rng=0)
    for arm, pulls, mean in (("A", 40, 1.0), ("B", 12, 0.6), ("C", 9, -0.2)):
        agent.update_counts(arm, pulls, pulls * mean)
    lines = agent.summary().splitlines()
    assert "'A' leads with mean 1 of 40 pulls:" in lines
    z = 40 * 12 / 52 * 0.4**2 / 2
    claim = (1 + 2 * math.sqrt(z)) * 12

    def cleared(n):
        """Are n pulls of B enough, where A has its share?"""
        leader = 40
        while leader < (1 + 2 * math.sqrt(leader * n / (leader + n) * 0.08)) * n:
            leader += 1
        return leader * n / (leader + n) * 0.08 >= math.log(1000 / (leader + n))

    ahead = next(n for n in range(12, 1000) if cleared(n)) - 12
    row = next(
        line for line in lines[lines.index("'A' leads with mean 1 of 40 pulls:") :] if line.startswith("B")
    )
    assert row.split() == [
        "B",
        f"{z:.4g}",
        f"{math.log(1000 / 52):.4g}",
        f"{claim:,.1f}",
        str(ahead),
        "in",
        "doubt",
    ]
    assert next(line for line in reversed(lines) if line.startswith("C")).split()[-2:] == ["0", "cleared"]


def test_an_agent_says_that_two_arms_cannot_be_told_apart():
    agent = robai.Agent(robai.LeadCommit(), ["A", "B"], 100, reward="bernoulli", rng=0)
    for _ in range(20):
        agent.update(agent.select(), 1.0)
    text = agent.summary()
    assert "cannot be told apart at their present means: the evidence is 0, and 1.609 is asked for" in text
    for _ in range(80):
        agent.update(agent.select(), 1.0)
    with pytest.raises(robai.HorizonReached):
        agent.select()
    assert "the evidence is 0, and all rounds are played" in agent.summary()


def test_why_it_committed():
    agent = robai.Agent(robai.LeadCommit(), ["A", "B"], 1000, reward=UNIT, rng=0)
    agent.update_counts("A", 40, 40.0)
    agent.update_counts("B", 10, 0.0)
    assert agent.select() == "A"
    assert "was at least 4, that against 'B', and 2.996 was enough" in agent.commit_reason
    assert "leads with" not in agent.summary()


def test_an_arm_without_a_reward_is_in_doubt_and_does_not_lead():
    """Beside the rule itself: rewards arrive in any order, and those of some arms never."""
    rng = np.random.default_rng(8)
    horizon, kinds = 500, set()
    for seed in range(200):
        k = int(rng.integers(2, 5))
        agent = robai.Agent(robai.LeadCommit(), k, horizon, reward=UNIT, rng=seed)
        lost = rng.random(k) < 0.4
        n, s, m = np.zeros(k, dtype=int), np.zeros(k), np.zeros(k, dtype=int)
        for t in range(60):
            arm, handed_out = agent.select(), n + m
            seen = n > 0
            if t < k:
                assert arm == t  # every arm once, in order
            elif not seen.any():
                assert handed_out[arm] == handed_out.min()
                kinds.add("blind")
            else:
                means = np.where(seen, s / np.maximum(n, 1), -np.inf)
                leader = int(means.argmax())
                others = np.arange(k) != leader
                z, bar = np.zeros(k), np.full(k, np.inf)
                z[seen] = n[leader] * n[seen] / (n[leader] + n[seen]) * (means[leader] - means[seen]) ** 2 / 2
                bar[seen] = np.log(horizon / (n[leader] + n[seen]))
                doubt = others & (z < bar)
                if not doubt.any():
                    assert agent.committed_arm == arm == leader
                    kinds.add("commits")
                    break
                claims = np.where(doubt, (1 + 2 * np.sqrt(z)) * handed_out, np.inf)
                if handed_out[leader] < claims.min():
                    assert arm == leader
                else:
                    assert claims[arm] == claims.min()
                    kinds.add("without a reward" if n[arm] == 0 else "in doubt")
                assert not agent.committed
            m[arm] += 1
            for each in np.flatnonzero(m * (~lost if t < 40 else True)):
                if rng.random() < 0.3:
                    reward = float(rng.normal(each))
                    agent.update(int(each), reward)
                    n[each], s[each], m[each] = n[each] + 1, s[each] + reward, m[each] - 1
    assert kinds == {"blind", "commits", "without a reward", "in doubt"}


def silent_arm(agent, rounds, seed):
    """The arms that are handed out where those of "C" are never answered."""
    rng, arms = np.random.default_rng(seed), []
    for _ in range(rounds):
        arms.append(agent.select())
        if arms[-1] != "C":
            agent.update(arms[-1], float(rng.normal(1.0 if arms[-1] == "A" else 0.0)))
    return arms


def test_an_arm_whose_rewards_never_arrive_does_not_keep_a_bad_one_in_play():
    agent = robai.Agent(robai.LeadCommit(), ["A", "B", "C"], 10**4, reward=UNIT, rng=0)
    arms = silent_arm(agent, 600, 1)
    assert not agent.committed
    assert "B" not in arms[300:]  # it is cleared; before it was dealt in turn
    assert arms[300:].count("A") == arms[300:].count("C") == 150  # x(0) = 1
    lines = agent.summary().splitlines()
    assert [row.status for row in agent.table()] == ["leading", "exploring", "starting"]
    assert next(line for line in reversed(lines) if line.startswith("C")).split() == [
        "C",
        "0",
        "-",
        f"{agent.pending[2]:,.1f}",
        "-",
        "in",
        "doubt",
    ]


def test_without_any_reward_all_arms_are_handed_out_alike():
    agent = robai.Agent(robai.LeadCommit(), 4, 10**4, reward=UNIT, rng=0)
    arms = agent.select_batch(80).reshape(20, 4)
    assert arms[0].tolist() == [0, 1, 2, 3]
    assert (np.sort(arms, axis=1) == np.arange(4)).all()
    assert len({tuple(row) for row in arms.tolist()}) > 1  # ties are broken uniformly
    assert "leads with" not in agent.summary()


def test_an_arm_without_a_reward_survives_a_restart(tmp_path):
    made = robai.LeadCommit(), ["A", "B", "C"], 10**4
    with robai.Store(tmp_path / "live.db") as store:
        written, plain = (
            store.create("lead", *made, reward=UNIT, rng=5),
            robai.Agent(*made, reward=UNIT, rng=5),
        )
        for each in (written, plain):
            each.select_batch(7)
            silent_arm(each, 100, 2)
    with robai.Store(tmp_path / "live.db") as store:
        again = store.open("lead")
        plain.save(tmp_path / "agent.json")
        loaded = robai.load(tmp_path / "agent.json")
        assert again.to_json() == loaded.to_json() == plain.to_json()
        assert silent_arm(again, 300, 3) == silent_arm(loaded, 300, 3) == silent_arm(plain, 300, 3)
