"""Time of a round, policy by policy: `pytest bench --benchmark-enable --benchmark-only`.

Each benchmark plays every round of its runs (`engine="step"`), in one thread where nothing else is
said; `ns_per_round` in its extra info is the smallest time divided by the rounds before the commitment.
"""

import math

import numpy as np
import pytest

import robai
from robai.policies import POLICIES

HORIZON = 10**4
EVERY_ROUND = {"rng": 0, "times": 1, "workers": 1, "engine": "step"}
TWO_ARMED = (robai.BAIETC, robai.DETC)
CASES = [
    (robai.EOCP(gap=0.5), robai.Gaussian),
    (robai.EOCPUG(), robai.Gaussian),
    (robai.KLEOCP(kl=0.5), robai.Bernoulli),
    (robai.KLEOCPUG(), robai.Bernoulli),
    (robai.UCB(), robai.Gaussian),
    (robai.UCB(level="round"), robai.Gaussian),
    (robai.KLUCB(), robai.Bernoulli),
    (robai.KLUCB(level="round"), robai.Bernoulli),
    (robai.UCBV(), robai.Bernoulli),
    (robai.ThompsonSampling(), robai.Gaussian),
    (robai.ThompsonSampling(), robai.Bernoulli),
    (robai.BAIETC(), robai.Gaussian),
    (robai.DETC(), robai.Gaussian),
    (robai.DETCK(), robai.Gaussian),
    (robai.UCBAlpha(), robai.Gaussian),
    (robai.TrackAndStop(), robai.Gaussian),
    (robai.ActionElimination(), robai.Gaussian),
]
IDENTIFICATION = [
    robai.Uniform(delta=0.1),
    robai.KLLUCB(delta=0.1),
    robai.LUCB(delta=0.1),
    robai.UGapE(delta=0.1),
    robai.LilUCB(delta=0.1),
    robai.TopTwo(delta=0.1),
    robai.TTTS(delta=0.1),
    robai.T3C(delta=0.1),
    robai.TTUCB(delta=0.1),
    robai.EBTCI(delta=0.1),
    robai.Racing(delta=0.1),
    robai.SequentialHalving(),
    robai.SuccessiveRejects(),
]
assert {type(policy) for policy, _ in CASES} <= set(POLICIES.values())  # all of them: policies.py


@pytest.mark.parametrize("arms", [2, 10, 100])
@pytest.mark.parametrize(("policy", "family"), CASES, ids=lambda case: getattr(case, "__name__", repr(case)))
def test_round(benchmark, policy, family, arms):
    if arms > 2 and isinstance(policy, TWO_ARMED):
        pytest.skip("for two arms only")
    bandit = family([0.7] + [0.2] * (arms - 1))
    runs = 200 // arms
    result = benchmark(robai.simulate, policy, bandit, HORIZON, runs, **EVERY_ROUND)

    assert (result.pulls.sum(axis=1) == HORIZON).all()
    np.testing.assert_allclose(result.final_regret, result.pulls @ bandit.gaps)
    # Worse than pulling at random would be no policy.
    assert result.final_regret.mean() < 0.5 * (arms - 1) / arms * HORIZON
    rounds = np.where(result.commit_time < 0, HORIZON, result.commit_time).sum()
    report(benchmark, rounds, "ns_per_round")


@pytest.mark.parametrize("arms", [2, 5, 20])
@pytest.mark.parametrize("policy", IDENTIFICATION, ids=repr)
def test_identification(benchmark, policy, arms):
    bandit = robai.Bernoulli([0.3, *np.linspace(0.21, 0.18, arms - 1)])
    result = benchmark(robai.simulate, policy, bandit, HORIZON, 20, **EVERY_ROUND)

    assert (result.pulls.sum(axis=1) == HORIZON).all()
    assert (result.committed_arm > 0).sum() <= result.committed.sum() / 2  # some take longer than this
    rounds = np.where(result.commit_time < 0, HORIZON, result.commit_time).sum()
    report(benchmark, rounds, "ns_per_round")


@pytest.mark.parametrize("times", [1, 200, 2000])
def test_recording(benchmark, times):
    """What the curve costs that is recorded on the way."""
    bandit = robai.Gaussian([0.7, 0.2])
    result = benchmark(robai.simulate, robai.UCB(), bandit, HORIZON, 100, **EVERY_ROUND | {"times": times})
    final = robai.simulate(robai.UCB(), bandit, HORIZON, 100, **EVERY_ROUND).regret[-1]
    # The tape of rewards does not depend on when regret is looked at.
    assert math.isclose(result.regret[-1], final)
    report(benchmark, 100 * HORIZON, "ns_per_round")


@pytest.mark.parametrize("workers", [1, 2])
def test_workers(benchmark, workers):
    bandit = robai.Gaussian([0.7, 0.2])
    result = benchmark(
        robai.simulate, robai.UCB(), bandit, HORIZON, 2000, **EVERY_ROUND | {"workers": workers}
    )
    alone = robai.simulate(robai.UCB(), bandit, HORIZON, 2000, **EVERY_ROUND)
    np.testing.assert_array_equal(result.final_regret, alone.final_regret)
    report(benchmark, 2000 * HORIZON, "ns_per_round")


def report(benchmark, count, name):
    if benchmark.stats:  # None where benchmarks are disabled
        benchmark.extra_info[name] = round(1e9 * benchmark.stats.stats.min / float(count), 2)
