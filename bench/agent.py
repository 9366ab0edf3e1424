"""What a live agent costs: nanoseconds of select and update from Python, and of a batch.

    python bench/agent.py

Times are the smallest of several repetitions, interleaved with their yardstick: a pair of empty
Python methods, and one update after the other. Exits with 1 if a limit is missed; that of the batch
is for arrays in the cache, as they are when they have just been made.
"""

import sys
import time

import numpy as np

import robai

ARMS = 10
ROUNDS = 20_000
BATCH = 100_000
BATCHES = 10  # of the same arrays, one after the other: all but the first find them in the cache
REPETITIONS = 15
MOST_PAIRS = 12.0  # select and update, in pairs of empty methods
MOST_NANOSECONDS = 1500.0
LEAST_SPEEDUP = 50.0  # of a batch of updates

POLICIES = [
    robai.EOCPUG(),
    robai.KLEOCPUG(),
    robai.UCB(),
    robai.KLUCB(),
    robai.ThompsonSampling(),
    robai.ActionElimination(),
    robai.TrackAndStop(),
]
LIMITED = POLICIES[:4]  # posterior draws and optimal proportions cost what they cost


class Empty:
    def select(self):
        return 0

    def update(self, arm, reward):
        pass


def pairs(agent, rewards):
    """Seconds of one select and update, on rewards drawn beforehand."""
    select, update = agent.select, agent.update
    start = time.process_time()
    for reward in rewards:
        update(select(), reward)
    return (time.process_time() - start) / len(rewards)


def fresh(policy):
    """An agent in the middle of its exploration."""
    agent = robai.Agent(policy, ARMS, 10**15, reward="bernoulli", rng=0)
    generator = np.random.default_rng(0)
    for _ in range(200):
        arm = agent.select()
        agent.update(arm, float(generator.random() < 0.3 + 0.04 * arm))
    return agent


def one_by_one(agent, arms, rewards):
    start = time.process_time()
    for arm, reward in zip(arms, rewards, strict=True):
        agent.update(arm, reward)
    return time.process_time() - start


def at_once(agent, arms, rewards, batches):
    start = time.process_time()
    for _ in range(batches):
        agent.update_batch(arms, rewards)
    return (time.process_time() - start) / batches


def compare_pairs():
    generator = np.random.default_rng(1)
    rewards = (generator.random(ROUNDS) < 0.4).astype(float).tolist()
    best = dict.fromkeys(["empty", *POLICIES], np.inf)
    for _ in range(REPETITIONS):
        best["empty"] = min(best["empty"], pairs(Empty(), rewards))
        for policy in POLICIES:
            best[policy] = min(best[policy], pairs(fresh(policy), rewards[:2000]))
    print(f"select and update, {ARMS} arms        ns    empty pairs")
    missed = False
    for policy in POLICIES:
        ratio = best[policy] / best["empty"]
        over = policy in LIMITED and (ratio > MOST_PAIRS or best[policy] > 1e-9 * MOST_NANOSECONDS)
        missed |= over
        print(f"{policy.label():25} {1e9 * best[policy]:12.0f} {ratio:12.1f} {'too slow' if over else ''}")
    return missed


def compare_batches():
    generator = np.random.default_rng(2)
    arms, rewards = generator.integers(0, ARMS, BATCH), (generator.random(BATCH) < 0.4).astype(float)
    arm_list, reward_list = arms.tolist(), rewards.tolist()
    one, many = (robai.Agent(robai.KLEOCPUG(), ARMS, 10**9, reward="bernoulli", rng=0) for _ in range(2))
    slow = cold = warm = np.inf
    for _ in range(REPETITIONS):
        slow = min(slow, one_by_one(one, arm_list, reward_list))
        cold = min(cold, at_once(many, arms, rewards, 1))  # the lists have just been through the cache
        warm = min(warm, at_once(many, arms, rewards, BATCHES))
    assert ((BATCHES + 1) * one.pulls == many.pulls).all()
    assert ((BATCHES + 1) * one.sums == many.sums).all()
    print(f"{BATCH:,} updates one by one: {1e3 * slow:.2f} ms")
    for name, fast in (("cold", cold), ("warm", warm)):
        print(f"at once, {name} cache: {1e3 * fast:.3f} ms, {slow / fast:.0f} times faster")
    return slow / warm < LEAST_SPEEDUP


if __name__ == "__main__":
    sys.exit(any([compare_pairs(), compare_batches()]))
