"""Predictions: worked values, and what simulations come to."""

import math

import numpy as np
import pytest

import robai
from robai import theory
from robai.theory import predict

TWO = robai.Gaussian([0.7, 0.2])
HORIZONS = (10**4, 10**6, 10**9, 10**12, 10**18)


@pytest.mark.parametrize(
    ("policy", "regrets", "times"),
    [
        (robai.EOCPUG(), (24.99, 40.63, 64.88, 89.67, 140.18), (662, 1506, 3410, 6078, 13_705)),
        (
            robai.EOCPUG(inflation=theory.INFLATION),
            (68.42, 96.14, 135.36, 172.87, 244.87),
            (3747, 6892, 12_853, 20_180, 38_623),
        ),
        (robai.EOCP(gap=0.5), (26.27, 37.60, 54.20, 70.52, 102.66), None),
        (robai.KLEOCP(kl=0.125), (26.27, 37.60, 54.20, 70.52, 102.66), None),  # the same policy
        (robai.KLEOCPUG(guard=0.0), (24.99, 40.63, 64.88, 89.67, 140.18), (662, 1506, 3410, 6078, 13_705)),
        (robai.UCB(), (31.23, 54.12, 82.83, 110.52, 165.79), (None,) * 5),
        (robai.KLUCB(), (31.23, 54.12, 82.83, 110.52, 165.79), (None,) * 5),
    ],
    ids=lambda each: each.label() if isinstance(each, robai.policies.BasePolicy) else "",
)
def test_two_gaussian_arms(policy, regrets, times):
    found = [predict(policy, TWO, horizon) for horizon in HORIZONS]
    assert [each.regret for each in found] == pytest.approx(regrets, abs=0.02)
    if times is None:
        times = [math.floor(theory.commit_round_eocp(2, 0.5, horizon)) for horizon in HORIZONS]
    for each, time in zip(found, times, strict=True):
        assert each.commit_time == (time if time is None else pytest.approx(time, abs=0.6))
        assert each.case == ("never commits" if time is None else "fluid")


def test_the_closed_form():
    """(2 sigma^2 / gap) (sqrt(l) - 1)^2 and (l + 1) times as many rounds as that has pulls."""
    level = theory.exploration(10**7, 3.0)
    found = predict(robai.EOCPUG(inflation=3.0), robai.Gaussian([1.0, 0.2], sigma=2.0), 10**7)
    pulls = 8 * (math.sqrt(level) - 1) ** 2 / 0.8**2
    assert found == (pytest.approx(0.8 * pulls), pytest.approx((level + 1) * pulls), "fluid")


def test_lead_commit():
    assert predict(robai.LeadCommit(), TWO, 10**6) == (
        pytest.approx(32.8, abs=0.06),
        pytest.approx(494, abs=1),
        "fluid",
    )
    far = predict(robai.LeadCommit(), TWO, 1e100)
    assert (far.regret, far.commit_time) == (pytest.approx(903.8, abs=0.1), pytest.approx(57_153, abs=3))
    for level, regret, time in (("pulls", 41.60, 657), ("horizon", 60.22, 1116)):  # measured
        found = predict(robai.LeadCommit(level=level), TWO, 10**6)
        assert found.regret == pytest.approx(regret, rel=0.05)
        assert found.commit_time == pytest.approx(time, rel=0.02)


FOUR = robai.Gaussian([0.9, 0.7, 0.3, -0.5])
COINS = (robai.Bernoulli([0.7, 0.2]), robai.Bernoulli([0.9, 0.8, 0.5, 0.1]), robai.Bernoulli([0.1, 0.05]))


@pytest.mark.parametrize(
    ("policy", "bandit", "regret", "time"),
    [  # measured / predicted at T = 10^6
        (robai.EOCPUG(), FOUR, 0.982, 0.970),
        (robai.EOCP(gap=0.2), FOUR, 1.002, 1.0),
        (robai.UCB(), FOUR, 0.988, None),
        (robai.EOCPUG(), robai.Gaussian([0.7, 0.2, 0.2, 0.2]), 1.08, None),
        *(
            (robai.KLUCB(), coins, ratio, None)
            for coins, ratio in zip(COINS, (1.008, 0.999, 0.966), strict=True)
        ),
        *(
            (robai.KLEOCP(kl=theory.kl_min(coins)), coins, ratio, 1.0)
            for coins, ratio in zip(COINS, (1.038, 1.015, 0.983), strict=True)
        ),
        (robai.KLEOCPUG(guard=0.0), COINS[0], 1.01, 1.02),
        (robai.KLEOCPUG(guard=0.0), COINS[2], 0.97, 0.97),
        (robai.KLEOCPUG(guard=1.0), COINS[0], 0.97, None),
        (robai.KLEOCPUG(guard=1.0), COINS[2], 0.97, None),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_simulations(policy, bandit, regret, time):
    runs = 300
    result = robai.simulate(policy, bandit, 10**6, runs, rng=11)
    found = predict(policy, bandit, 10**6)
    right = (
        result.committed_arm == result.best_arm if time is not None or "UG" in policy.label() else slice(None)
    )
    own = result.final_regret[right]
    error = float(own.std(ddof=1) / math.sqrt(own.size)) / found.regret
    assert abs(own.mean() / found.regret - regret) < 0.02 + 4 * error
    assert (found.commit_time is None) == (time is None)
    if time is not None:
        rounds = result.commit_time[right]
        error = float(rounds.std(ddof=1) / math.sqrt(rounds.size)) / found.commit_time
        assert abs(rounds.mean() / found.commit_time - time) < 0.02 + 4 * error


@pytest.mark.parametrize(
    ("policy", "bandit", "horizon", "case"),
    [
        (robai.EOCPUG(), robai.Gaussian([0.7, 0.2, 0.2]), 10**6, "equal rivals"),
        (robai.KLEOCPUG(guard=1.0), COINS[0], 10**6, "guard"),
        (robai.EOCPUG(), robai.Gaussian([0.1, 0.0]), 10**4, "horizon"),
        (robai.EOCP(gap=0.01), TWO, 10**4, "never commits"),
        (robai.KLEOCP(kl=1e-4), TWO, 10**4, "never commits"),
        (robai.LeadCommit(), robai.Gaussian([0.01, 0.0]), 1000, "horizon"),
    ],
)
def test_cases_without_a_commitment_time(policy, bandit, horizon, case):
    found = predict(policy, bandit, horizon)
    assert (found.commit_time, found.case) == (None, case)
    assert found.regret > 0
    assert found.regret <= horizon * max(bandit.gaps)


def test_few_pulls_are_said():
    found = predict(robai.KLEOCPUG(guard=0.0), robai.Bernoulli([0.9, 0.1]), 10**6)
    assert found.case == "few pulls"
    assert found.regret > 0


@pytest.mark.parametrize(
    ("policy", "bandit", "why"),
    [
        (robai.UCB(level="ratio"), TWO, "level='ratio'"),
        (robai.ThompsonSampling(), TWO, "ThompsonSampling"),
        (robai.EOCPUG(bounds="bernstein"), COINS[0], "bernstein"),
        (robai.LeadCommit(), FOUR, "more than two arms"),
        (robai.LeadCommit(), COINS[0], r"rewards of Bernoulli"),
        (robai.KLUCB(family="gaussian"), TWO, "variance is unknown"),
        (robai.KLEOCPUG(guard=0.0), robai.Bernoulli([1.0, 0.5]), "over before"),
    ],
    ids=repr,
)
def test_why_there_is_none(policy, bandit, why):
    found = predict(policy, bandit, 10**6)
    assert found[:2] == (None, None)
    assert why in found.case


def test_sigmas_of_their_own():
    """Of the Gaussian policies with a sigma an arm: from the equations, by hand."""
    bandit = robai.Gaussian([1.0, 0.5], sigma=(1.0, 2.0))
    horizon, level = 10**6, theory.exploration(10**6)
    above = 0.5 / (2 * math.sqrt(level) - 1)  # ((0.5 + e) / 2)^2 = l e^2 has its root where ...
    above = 0.5 / (2 * math.sqrt(level) - 1)
    found = predict(robai.EOCPUG(), bandit, horizon)
    assert found.regret == pytest.approx(0.5 * 2 * level * 4 / (0.5 + above) ** 2)


def test_wrong_arguments():
    for call, error, message in (
        (lambda: predict("ucb", TWO, 100), TypeError, "policy must be a policy"),
        (lambda: predict(robai.UCB(), [0.7, 0.2], 100), TypeError, "bandit must be a bandit"),
        (lambda: predict(robai.UCB(), robai.Gaussian([1, 1]), 100), ValueError, "unique largest"),
        (lambda: predict(robai.UCB(), TWO, 10), ValueError, "horizon must be at least 16, got 10"),
        (lambda: predict(robai.UCB(sigma=(1, 2, 3)), TWO, 100), ValueError, "sigma"),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("family", [robai.Poisson, robai.Exponential])
def test_other_families_and_far_horizons(family):
    bandit = family([2.0, 1.0, 0.5])
    for horizon in (10**6, 10**18, 1e100):
        for policy in (robai.KLUCB(), robai.KLEOCPUG(), robai.KLEOCPUG(guard=0.0), robai.KLEOCP(kl=0.1)):
            found = predict(policy, bandit, horizon)
            assert 0 < found.regret < 2000
    far = predict(robai.KLUCB(), bandit, 1e100).regret
    assert far == pytest.approx(theory.regret_lower_bound(bandit, 1e100), rel=1e-3)
    assert np.isfinite(far)


@pytest.mark.parametrize(
    ("policy", "bandit", "horizon"),
    [
        (robai.UCB(), robai.Gaussian([0.1, 0.0]), 1000),
        (robai.UCB(), robai.Gaussian([0.7, 0.69, 0.2]), 10**4),
        (robai.EOCPUG(), robai.Gaussian([0.1, 0.0]), 1000),
        (robai.KLUCB(), robai.Poisson([2.0, 1.9]), 1000),
    ],
    ids=repr,
)
def test_gaps_that_are_small_for_the_horizon(policy, bandit, horizon):
    found = theory.predict(policy, bandit, horizon)
    assert found.regret is not None
    assert 0.0 < found.regret < max(bandit.gaps) * horizon


def test_leadcommit_that_does_not_end_before_the_horizon():
    for level in ("horizon", "pulls"):
        assert theory.predict(robai.LeadCommit(level=level), robai.Gaussian([0.01, 0.0]), 1000).regret is None
