"""Regret of the field's policies against numbers that were computed without this package.

By a program of 200 lines with a generator of its own: mean and standard error of the final regret. Agreement
means within 5 combined standard errors.
"""

import itertools
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
        (robai.AdaUCB(), 21.48, 0.27),
        (robai.BayesUCB(), 24.55, 0.60),
        (robai.ThompsonSampling(), 21.81, 0.40),
    ],
    (COINS, 5000): [
        (robai.UCB("round", sigma=1.0), 64.79, 0.32),
        (robai.KLUCB("round"), 12.56, 0.17),
        (robai.KLUCB("loglog"), 19.99, 0.21),
        (robai.MOSS(), 24.77, 0.23),
        (robai.UCBV(), 51.06, 0.24),
        (robai.IMED(), 9.44, 0.16),
        (robai.ThompsonSampling(), 9.56, 0.26),
        (robai.ThompsonSampling(prior="uniform"), 9.42, 0.36),
    ],
    (LOW, 20_000): [
        (robai.UCB("round", sigma=1.0), 840.7, 2.2),
        (robai.KLUCB("round"), 131.9, 1.2),
        (robai.MOSS(), 240.4, 1.6),
        (robai.UCBV(), 352.3, 1.8),
        (robai.IMED(), 79.7, 1.4),
        (robai.ThompsonSampling(prior="uniform"), 91.2, 1.1),
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
    assert_regret(bandit, horizon, policy, regret, error, 20_000_000 // horizon, engine)


# ---- explore-then-commit


def test_the_length_of_etc():
    # Slopes of regret by log T that were measured, 7.71 and 7.89: its limit is 4 / gap = 8.
    rounds = [robai.theory.commit_round_etc(0.5, 10.0**power) for power in (6, 12, 24)]
    slopes = [0.25 * (b - a) / math.log(10) for (a, b) in itertools.pairwise(rounds)]
    assert slopes[0] / 6 == pytest.approx(7.71, abs=0.03)
    assert slopes[1] / 12 == pytest.approx(7.89, abs=0.03)
    assert robai.theory.commit_round_etc(0.5, 10**6, sigma=2.0) == robai.theory.commit_round_etc(0.25, 10**6)
    assert robai.theory.commit_round_etc(1e-9, 10**6) == 2  # hopeless
    assert robai.theory.commit_round_etc(1e300, 10**6) == 2


def test_etc_explores_where_its_regret_is_smallest():
    """n gap + T gap P(the worse mean is the larger), for n pulls of each arm."""
    n, gap, horizon = robai.theory.commit_round_etc(0.5, 2000) // 2, 0.5, 2000

    def regret(n, horizon):
        return n * gap + horizon * gap * math.erfc(gap * math.sqrt(n) / 2) / 2

    assert regret(n, horizon) <= min(regret(n - 2, horizon), regret(n + 2, horizon))
    result = robai.simulate(robai.ETC(gap), GAUSSIAN, horizon, 20_000, rng=1, times=1)
    assert (result.commit_time == 2 * n).all()
    assert abs(result.regret[-1] - regret(n, horizon - 2 * n)) < 5 * result.regret_sem[-1]


def test_sprt_etc_takes_log_t_over_the_gap():
    first, second = (
        robai.simulate(robai.SPRTETC(0.5), GAUSSIAN, 10**power, 4000, rng=2, times=1) for power in (6, 12)
    )
    growth = 0.25 * (second.commit_time.mean() - first.commit_time.mean())  # of the regret of exploration
    error = 0.25 * math.hypot(first.commit_time.std(), second.commit_time.std()) / math.sqrt(4000)
    assert abs(growth - 2 * math.log(10**6)) < 5 * error
    assert first.wrong_commit().high < 1e-3
