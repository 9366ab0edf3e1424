"""Regret of the field's policies against numbers that were computed without this package.

By a program of 200 lines with a generator of its own: mean and standard error of the final regret. Agreement
means within 5 combined standard errors.
"""

import math

import pytest

import robai

GAUSSIAN = robai.Gaussian([0.7, 0.2])
COINS = robai.Bernoulli([0.9, 0.8])
LOW = robai.Bernoulli([0.1] + 3 * [0.05] + 3 * [0.02] + 3 * [0.01])

# bandit, horizon: policy, regret, its standard error
TABLE = {
    (GAUSSIAN, 10**4): [
        (robai.UCB(), 31.91, 0.39),
        (robai.UCB("ratio"), 21.84, 0.29),
        (robai.UCB("anytime"), 44.30, 0.43),
        (robai.KLUCB("round"), 30.98, 0.38),
        (robai.KLUCB("plus"), 21.13, 0.29),
        (robai.MOSS(), 34.89, 0.35),
        (robai.MOSS(anytime=True), 38.67, 0.37),
        (robai.IMED(), 21.46, 0.28),
    ],
    (COINS, 5000): [
        (robai.UCB("round", sigma=1.0), 64.79, 0.32),
        (robai.KLUCB("round"), 12.56, 0.17),
        (robai.KLUCB("loglog"), 19.99, 0.21),
        (robai.MOSS(), 24.77, 0.23),
        (robai.UCBV(), 51.06, 0.24),
        (robai.IMED(), 9.44, 0.16),
    ],
    (LOW, 20_000): [
        (robai.UCB("round", sigma=1.0), 840.7, 2.2),
        (robai.KLUCB("round"), 131.9, 1.2),
        (robai.MOSS(), 240.4, 1.6),
        (robai.UCBV(), 352.3, 1.8),
        (robai.IMED(), 79.7, 1.4),
    ],
}
CASES = [
    pytest.param(bandit, horizon, *row, id=f"{type(bandit).__name__}-{bandit.n_arms}-{row[0].label()}")
    for (bandit, horizon), rows in TABLE.items()
    for row in rows
]
regrets = pytest.mark.parametrize(("bandit", "horizon", "policy", "regret", "error"), CASES)


def assert_regret(bandit, horizon, policy, regret, error, runs, engine="auto"):
    result = robai.simulate(policy, bandit, horizon, runs, rng=2024, times=1, engine=engine)
    assert abs(result.regret[-1] - regret) < 5 * math.hypot(result.regret_sem[-1], error)


@regrets
def test_regret_is_that_of_an_independent_program(bandit, horizon, policy, regret, error):
    assert_regret(bandit, horizon, policy, regret, error, 2_000_000 // horizon)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", "step"])
@regrets
def test_regret_is_precisely_that_of_an_independent_program(bandit, horizon, policy, regret, error, engine):
    assert_regret(bandit, horizon, policy, regret, error, 80_000_000 // horizon, engine)
