"""What delays, losses and windows do to an experiment: known medians, and limits."""

import math

import numpy as np
import pytest

import robai


def medians(policy, bandit, horizon, runs, **way):
    played = robai.simulate(policy, bandit, horizon, runs, rng=11, times=1, **way)
    assert played.wrong_commit().count == 0
    assert played.committed.all()
    return float(np.median(played.answers))


def test_medians_of_the_own_stop():
    assert medians(robai.KLEOCPUG(), robai.Gaussian([0.2, 0.0]), 10**5, 2000) == pytest.approx(6140, rel=0.05)
    coins = robai.Bernoulli([0.1, 0.05])
    assert medians(robai.KLEOCPUG(), coins, 2 * 10**5, 400) == pytest.approx(8518, rel=0.08)
    assert medians(robai.KLEOCPUG(), coins, 2 * 10**5, 200, delay=1000) == pytest.approx(10138, rel=0.08)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "bandit", "horizon", "most"),
    [
        (robai.EOCPUG(), robai.Gaussian([0.2, 0.0]), 10**5, (1.7, 1.7, 1.5)),
        # Where neither the pulls before the first answer suffice for the certificate nor imbalance is soon
        # reached, at a delay of 2,000 rounds, it is 2.0.
        (robai.KLEOCPUG(), robai.Bernoulli([0.1, 0.05]), 2 * 10**5, (1.7, 2.2, 1.5)),
    ],
    ids=repr,
)
def test_a_window_keeps_commitments_from_waiting(policy, bandit, horizon, most):
    base = medians(policy, bandit, horizon, 2000)
    for delay, times in zip((1000, 2000, 10_000), most, strict=True):
        assert medians(policy, bandit, horizon, 2000, delay=delay, window=math.inf) <= times * base


def test_lost_rewards_do_no_harm_with_a_window():
    way = {
        "policy": robai.KLEOCPUG(),
        "bandit": robai.Bernoulli([0.1, 0.05]),
        "horizon": 5 * 10**4,
        "runs": 300,
    }
    base = medians(**way, delay=100)
    assert base == pytest.approx(6680, rel=0.08)
    assert medians(**way, delay=100, loss=0.5, window=500) <= 1.3 * base
    without = robai.simulate(**way, rng=11, delay=100, loss=0.5, times=1)
    assert without.committed.mean() < 0.1


def test_rewards_under_way_are_shown():
    played = robai.simulate(
        robai.EOCPUG(), robai.Gaussian([0.5, 0.0]), 10**4, 1000, rng=11, delay=100, times=1
    )
    assert played.wrong_commit().count == 0
    assert abs(played.regret[-1] - 35.7) < 4 * (played.regret_sem[-1] ** 2 + 0.4**2) ** 0.5
