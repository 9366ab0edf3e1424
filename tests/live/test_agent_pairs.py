"""KL-LUCB and LUCB in an experiment: their pairs, whatever rewards arrive in between."""

import numpy as np
import pytest

import robai
from robai import families

DELTA = 0.1


def practical(t, arms):
    return np.log((1 + np.log(t)) / DELTA)


def lucb(t, arms):
    b = np.log(405.5 * arms * t**1.1 / DELTA)
    return b + np.log(b)


def hoeffding(t, arms):
    return np.log(5 * arms * t**4 / (4 * DELTA))


def binary_upper(mean, level):
    return robai.kl.upper("bernoulli", mean, level)


def normal_upper(mean, level):
    return mean + np.sqrt(level / 2)  # sigma = 1/2


POLICIES = [
    (robai.KLLUCB(DELTA), practical, binary_upper),
    (robai.KLLUCB(DELTA, threshold="lucb"), lucb, binary_upper),
    (robai.LUCB(DELTA, sigma=0.5), hoeffding, normal_upper),
]


@pytest.mark.parametrize(
    ("policy", "level", "upper"), POLICIES, ids=lambda each: getattr(each, "__name__", "")
)
@pytest.mark.parametrize("arms", [2, 3, 12])
def test_a_pair_has_the_largest_mean_and_then_the_largest_upper_bound(policy, level, upper, arms):
    """Rewards come for any arms and in any number, so that any bound may have changed since the last pair."""
    rng, tied, changed = np.random.default_rng(arms), 0, set()
    for seed in range(6):
        agent = robai.Agent(policy, arms, 10**7, reward=families.Bernoulli(), rng=seed)
        p = rng.uniform(0.45, 0.55, arms)
        for arm in range(arms):
            agent.update_counts(arm, 1, int(rng.random() < 0.5))
        for _ in range(150):
            n, s = agent.pulls, agent.sums
            first, second = agent.select_batch(2)
            if agent.committed:
                break
            means = s / n
            bounds = upper(means, level(n.sum() + 1, arms) / n)
            bounds[first] = -np.inf
            assert means[first] == means.max()
            assert bounds[second] == pytest.approx(bounds.max(), rel=1e-12)
            tied += (bounds == bounds.max()).sum() > 1
            changed.add((int(first), int(second)))
            agent.update(int(first), int(rng.random() < p[first]))
            agent.update(int(second), int(rng.random() < p[second]))
            if rng.random() < 0.1:  # from elsewhere
                arm, count = int(rng.integers(arms)), int(rng.integers(1, 60))
                agent.update_counts(arm, count, int(rng.binomial(count, p[arm])))
    assert len(changed) > 1
    assert arms == 2 or tied > 0
