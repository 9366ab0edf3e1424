"""The leap engine has the law of the step engine.

Seeds are fixed: a test that passes once passes always.
"""

import dataclasses
import math

import numpy as np
import pytest
from support.examples import INDICES, LEAPING, MORE_INDICES
from support.laws import assert_same_law

import robai
from robai import rules
from robai._core import probes
from robai._play import batches
from robai.policies import Policy

MIXED = Policy(
    explore=robai.KLUCB(),
    stop=(rules.FixedRound(150) & rules.Imbalance()) | rules.FixedRound(1500),
    commit=rules.MostPulled(),
)
POLICIES = [
    *LEAPING,
    MIXED,
    Policy(explore=rules.UpperBound("++", sigma=1.0), stop=rules.KnownGap(0.5, sigma=1.0)),
    Policy(explore=rules.WideBound(sigma=1.0), stop=rules.Imbalance()),
]
BANDITS = [
    robai.Gaussian([0.7, 0.2, 0.5]),
    robai.Bernoulli([0.7, 0.2, 0.5]),
    robai.Binomial([2.5, 1.0, 2.0], n=5),
    robai.Poisson([1.0, 0.3, 0.6]),
    robai.Exponential([1.0, 0.4, 0.7]),
    robai.Gamma([1.0, 0.4, 0.7], shape=2.5),
    robai.NegativeBinomial([1.0, 0.4, 0.7], r=1.5),
]
by_label = {"ids": lambda policy: policy.label()}
by_type = {"ids": lambda bandit: type(bandit).__name__}


def with_means(bandit, means):
    return dataclasses.replace(bandit, means=means)


def assert_engines_agree(policy, bandit, horizon, runs, leaps=None):
    """Final regret, pulls of every arm and commitments of both engines; more runs of the faster one."""
    step = robai.simulate(policy, bandit, horizon, runs, rng=17, times=1, engine="step")
    leap = robai.simulate(policy, bandit, horizon, leaps or 2 * runs, rng=71, times=1, engine="leap")
    assert (step.meta["engine"], leap.meta["engine"]) == ("step", "leap")
    for result in (step, leap):
        assert (result.pulls.sum(axis=1) == horizon).all()
    assert_same_law(step.final_regret, leap.final_regret)
    for arm in range(bandit.n_arms):
        assert_same_law(step.pulls[:, arm], leap.pulls[:, arm])
    assert_same_law(step.commit_time, leap.commit_time)
    assert_same_law(step.committed_arm, leap.committed_arm)


# ---- two-sample tests


@pytest.mark.parametrize("bandit", BANDITS, **by_type)
@pytest.mark.parametrize("policy", POLICIES, **by_label)
def test_three_arms(policy, bandit):
    assert_engines_agree(policy, bandit, 3000, 500)


@pytest.mark.parametrize("bandit", BANDITS, **by_type)
@pytest.mark.parametrize(
    "policy", [*INDICES[:4], robai.KLUCB(level="++"), robai.KLUCB(level="round"), robai.IMED()], **by_label
)
def test_two_arms_for_longer(policy, bandit):
    assert_engines_agree(policy, with_means(bandit, bandit.means[:2]), 20_000, 100, 600)


@pytest.mark.parametrize("bandit", BANDITS[:5:2] + BANDITS[1:2], **by_type)
@pytest.mark.parametrize("policy", POLICIES, **by_label)
def test_a_short_horizon(policy, bandit):
    assert_engines_agree(policy, bandit, 300, 2000)


@pytest.mark.parametrize("bandit", BANDITS[:4], **by_type)
@pytest.mark.parametrize(
    "policy",
    [robai.UCB(sigma=1.0), robai.KLUCB(), robai.KLUCB(level="round"), robai.IMED(), robai.EOCPUG(sigma=1.0)],
    **by_label,
)
def test_twenty_arms(policy, bandit):
    low, high = min(bandit.means), max(bandit.means)
    means = [high] + [low + 0.03 * (arm % 5) * (high - low) for arm in range(19)]
    assert_engines_agree(policy, with_means(bandit, means), 3000, 200)


# Arms that never fail, never pay, or pay rarely and much; small and large variances.
ODD_BANDITS = [
    robai.Bernoulli([0.0, 1.0, 0.75]),
    robai.Bernoulli([0.99, 0.95]),
    robai.Bernoulli([0.05, 0.02]),
    robai.Poisson([0.0, 0.05]),
    robai.Poisson([50.0, 48.0]),
    robai.Gamma([1.0, 0.5], shape=0.1),
    robai.NegativeBinomial([1.0, 0.4], r=0.1),
    robai.Gaussian([0.0, -1e3], sigma=100.0),
    robai.Gaussian([1e6, 1e6 - 0.5]),
]


@pytest.mark.parametrize("bandit", ODD_BANDITS, ids=repr)
@pytest.mark.parametrize("policy", [*INDICES[:4:3], robai.KLUCB(level="++"), robai.IMED()], **by_label)
def test_odd_arms(policy, bandit):
    assert_engines_agree(policy, bandit, 5000, 200)


def test_the_best_arms_may_be_equally_good():
    with pytest.warns(UserWarning, match="all best"):
        assert_engines_agree(robai.KLUCB(), robai.Bernoulli([0.5, 0.5, 0.3]), 2000, 500)
    with pytest.warns(UserWarning, match="all best"):
        assert_engines_agree(robai.IMED(), robai.Bernoulli([0.5, 0.5, 0.3]), 2000, 500)


def test_bounds_of_another_family():
    assert_engines_agree(robai.KLUCB(family="poisson"), robai.Bernoulli([0.7, 0.2]), 5000, 500)
    assert_engines_agree(
        robai.KLUCB(family=robai.families.Gaussian(1.0)), robai.Bernoulli([0.7, 0.2]), 5000, 500
    )
    assert_engines_agree(robai.UCB(sigma=0.5), robai.Gaussian([0.7, 0.2]), 5000, 500)
    assert_engines_agree(robai.IMED("poisson"), robai.Bernoulli([0.7, 0.2]), 5000, 500)


@pytest.mark.parametrize(
    "policy",
    [robai.UCB(sigma=1.0), robai.UCB(level="round", sigma=1.0), robai.KLUCB(level="ratio"), robai.IMED()],
    **by_label,
)
def test_the_law_of_the_regret_curve(policy):
    for bandit in BANDITS[:2]:
        curves = [
            robai.simulate(
                policy, bandit, 4000, runs, rng=5 + runs, times=[5, 10, 30, 100, 300, 1000, 2000],
                engine=engine, curves=True
            ).curves
            for engine, runs in (("step", 800), ("leap", 1600))
        ]  # fmt: skip
        for column in range(curves[0].shape[1]):
            assert_same_law(curves[0][:, column], curves[1][:, column])


@pytest.mark.parametrize("bandit", BANDITS[:2], **by_type)
@pytest.mark.parametrize("policy", MORE_INDICES, **by_label)
def test_more_indices(policy, bandit):
    assert_engines_agree(policy, bandit, 3000, 500)


# The best arm's index falls with its successes, where their mean is close to 1.
@pytest.mark.parametrize("means", [(0.7, 0.2, 0.5), (1.0, 0.9), (0.99, 0.98, 0.2), (0.02, 0.01)], ids=str)
@pytest.mark.parametrize(
    "policy",
    [
        robai.UCBV(),
        robai.UCBV(zeta=0.2),
        robai.EOCPUG(bounds="bernstein"),
        Policy(explore=rules.BernsteinBound("ratio")),
        Policy(explore=rules.BernsteinBound("++"), stop=rules.Imbalance()),
    ],
    **by_label,
)
def test_variances_of_coins(policy, means):
    assert_engines_agree(policy, robai.Bernoulli(means), 5000, 200)


def test_quantiles_of_gaussian_posteriors():
    for c in (0.0, 5.0):
        assert_engines_agree(robai.BayesUCB(c), BANDITS[0], 3000, 500)


@pytest.mark.slow
@pytest.mark.parametrize("bandit", BANDITS, **by_type)
@pytest.mark.parametrize("policy", [*POLICIES, *MORE_INDICES], **by_label)
def test_many_runs(policy, bandit):
    assert_engines_agree(policy, bandit, 3000, 6000)


@pytest.mark.slow
@pytest.mark.parametrize("bandit", BANDITS, **by_type)
@pytest.mark.parametrize("policy", [*INDICES, *MORE_INDICES], **by_label)
def test_many_runs_of_long_horizons(policy, bandit):
    assert_engines_agree(policy, with_means(bandit, bandit.means[:2]), 50_000, 1500, 6000)


# ---- long horizons

TWO = robai.Gaussian([0.7, 0.2])
COIN = robai.Bernoulli([0.7, 0.2])


@pytest.mark.parametrize("horizon", [10**12, 10**15, 2**53 + 1, 10**16 + 1, 10**17 + 3, 10**18])
@pytest.mark.parametrize(
    "policy", [*INDICES, *MORE_INDICES, robai.EOCPUG(sigma=1.0), robai.KLEOCPUG(guard=0.0)], **by_label
)
def test_pulls_add_up_to_any_horizon(policy, horizon):
    bandits = (
        (TWO, COIN) if policy in (robai.UCB(sigma=1.0), robai.KLUCB(), robai.EOCPUG(sigma=1.0)) else (TWO,)
    )
    for bandit in bandits:
        result = robai.simulate(policy, bandit, horizon, 10, rng=8, times=20)
        assert result.meta["engine"] == "leap"
        assert (result.pulls.sum(axis=1) == horizon).all()  # integers: exact
        assert (result.pulls > 0).all()
        assert (result.final_regret < 600).all()
        assert (np.diff(result.regret) >= 0).all()


@pytest.mark.parametrize("policy", [robai.UCB(sigma=1.0), robai.EOCPUG(sigma=1.0)], **by_label)
def test_regret_grows_like_2_log_t_over_the_gap(policy):
    first, second = (robai.simulate(policy, TWO, 10**power, 4000, rng=9, times=1) for power in (9, 15))
    growth = second.regret[-1] - first.regret[-1]
    error = math.hypot(first.regret_sem[-1], second.regret_sem[-1])
    if isinstance(policy, robai.UCB):
        expected = math.log(10**6)
    else:
        # It stops when sqrt(2 l / N_b) - sqrt(2 l / (l N_b)) = gap, l = log T + sqrt(log T).
        l_9, l_15 = (robai.theory.exploration(10**power, 1.0) for power in (9, 15))
        expected = (math.sqrt(l_15) - 1) ** 2 - (math.sqrt(l_9) - 1) ** 2
    assert abs(growth - 2 / 0.5 * expected) < 5 * error


def test_the_table_of_the_paper_by_leaps():
    # Numbers of test_regret.py, of a program that steps.
    for policy, bandit, horizon, regret, error in [
        (robai.UCB(sigma=1.0), TWO, 10**6, 53.81, 0.32),
        (robai.UCB(level="ratio", sigma=1.0), TWO, 10**6, 37.93, 0.34),
        (robai.EOCPUG(sigma=1.0), TWO, 10**6, 40.50, 0.06),
        (robai.UCB(sigma=1.0), COIN, 10**5, 43.51, 0.07),
        (robai.KLUCB(), COIN, 10**5, 10.22, 0.10),
        (robai.KLEOCPUG(guard=0.0), COIN, 10**5, 7.10, 0.05),
    ]:
        result = robai.simulate(policy, bandit, horizon, 3000, rng=10, times=1, engine="leap")
        assert abs(result.regret[-1] - regret) < 5 * math.hypot(result.regret_sem[-1], error)


# ---- what the numbers may depend on


def numbers(result):
    return result.final_regret, result.pulls, result.commit_time, result.committed_arm


def assert_equal(first, second):
    for a, b in zip(numbers(first), numbers(second), strict=True):
        np.testing.assert_array_equal(a, b)


# The last of them changes its leader too often for leaps.
@pytest.mark.parametrize(
    ("bandit", "horizon"),
    [(TWO, 10**7), (COIN, 10**7), (robai.Poisson([1.0, 0.9, 0.8]), 2000)],
    ids=["gaussian", "bernoulli", "poisson"],
)
@pytest.mark.parametrize(
    "policy",
    [
        robai.UCB(sigma=1.0),
        robai.KLUCB(level="round"),
        robai.KLUCB(level="++"),
        robai.IMED(),
        robai.EOCPUG(sigma=1.0),
    ],
    **by_label,
)
def test_runs_depend_on_the_seed_and_their_number_alone(policy, bandit, horizon, monkeypatch):
    def play(runs=60, times=1, workers=1):
        return robai.simulate(
            policy, bandit, horizon, runs, rng=11, times=times, workers=workers, engine="leap"
        )

    result = play()
    assert_equal(result, play())
    assert_equal(result, play(workers=3))
    assert_equal(result, play(times=300))
    assert_equal(result, play(times=[3, 1500, 1501]))
    for longer, shorter in zip(numbers(play(runs=200)), numbers(result), strict=True):
        np.testing.assert_array_equal(longer[:60], shorter)
    for size, piece in ((1, 4e6), (7, 1.0)):
        monkeypatch.setattr(batches, "LARGEST_BATCH", size)
        monkeypatch.setattr(batches, "PIECE", piece)
        assert_equal(result, play(workers=2))


@pytest.mark.parametrize("scale", [2.0**-330, 2.0**-20, 2.0**30])
def test_the_unit_of_rewards_does_not_matter(scale):
    for policy in (robai.UCB, robai.EOCPUG):
        plain = robai.simulate(policy(), TWO, 10**5, 50, rng=12, engine="leap")
        bandit = robai.Gaussian([0.7 * scale, 0.2 * scale], sigma=scale)
        scaled = robai.simulate(policy(sigma=scale), bandit, 10**5, 50, rng=12, engine="leap")
        np.testing.assert_array_equal(scaled.pulls, plain.pulls)


@pytest.mark.parametrize("means", [(1.0, 0.0), (0.0, -1e15), (1e15, 1e15 - 1.0)], ids=str)
@pytest.mark.parametrize("sigma", [1e-100, 1e-5, 1.0, 1e100])
@pytest.mark.parametrize("believed", [1e-100, 1.0, 1e15, 1e100])
def test_noise_and_bounds_of_very_different_size(sigma, believed, means):
    """Both engines share the pulls out alike, be it by the means, the bounds or the noise."""
    family = robai.families.Gaussian(believed)
    for policy in (robai.UCB(sigma=believed), robai.UCB(level="round", sigma=believed), robai.IMED(family)):
        # At the end of an odd number of rounds one of two equal arms is ahead: by chance.
        assert_engines_agree(policy, robai.Gaussian(means, sigma=sigma), 1001, 200)


@pytest.mark.parametrize("inflation", [1e15, 1e30, 1e150, 1e280])
@pytest.mark.parametrize(
    "bandit",
    [robai.Gaussian([0.7, 0.2]), robai.Gaussian([0.7, 0.2, 0.5], sigma=1e100), *BANDITS[1:]],
    ids=repr,
)
def test_bounds_so_wide_that_all_arms_are_pulled_alike(bandit, inflation):
    for policy in (
        robai.EOCPUG(inflation=inflation, sigma=1.0),
        robai.EOCP(gap=1e-160, inflation=inflation, sigma=1e100),
    ):
        assert_engines_agree(policy, bandit, 1001, 200)


# At the ends of the ranges of their parameters.
LAST_BANDITS = [
    robai.Gamma([1.0, 0.3], shape=0.01),
    robai.Gamma([1.0, 0.9999], shape=1e9),
    robai.NegativeBinomial([1.0, 0.3], r=0.001),
    robai.NegativeBinomial([1.0, 0.3], r=1e15),
    robai.NegativeBinomial([1e15, 0.99e15], r=1e15),
    robai.Poisson([1e15, 1e15 - 1e8]),
]


@pytest.mark.parametrize("bandit", LAST_BANDITS, ids=repr)
def test_families_at_the_ends_of_their_ranges(bandit):
    sigma = math.sqrt(probes.variance_at(bandit._core(), bandit.means[0]))
    by_sigma = robai.UCB(sigma=sigma), robai.EOCPUG(sigma=sigma)
    for policy in (*by_sigma, robai.KLUCB(), robai.KLEOCP(kl=1e-300), robai.IMED()):
        assert_engines_agree(policy, bandit, 1500, 300)


@pytest.mark.parametrize("bandit", LAST_BANDITS, ids=repr)
def test_the_longest_horizon_at_the_ends_of_the_ranges(bandit):
    sigma = math.sqrt(probes.variance_at(bandit._core(), bandit.means[0]))
    result = robai.simulate(robai.EOCPUG(sigma=sigma), bandit, 10**18, 3, rng=14)
    assert result.meta["engine"] == "leap"
    assert (result.pulls.sum(axis=1) == 10**18).all()
    assert (result.committed_arm == 0).all()


def test_noise_that_only_the_good_arms_see():
    bandit = robai.Gaussian([0.0, -3e-91, -1e15], sigma=1e-90)
    assert_engines_agree(robai.UCB(sigma=1e-90), bandit, 2000, 300)


def test_a_safe_leap_to_a_horizon_that_is_no_double():
    result = robai.simulate(robai.UCB(sigma=1e-6), robai.Poisson([1e15, 0.0]), 2 * 10**16 + 3, 3, rng=1)
    assert (result.pulls.sum(axis=1) == 2 * 10**16 + 3).all()


def test_means_whose_variance_is_too_small_for_a_double():
    bandit = robai.Exponential([1e-170, 1e-180])
    assert (robai.simulate(robai.KLUCB(), bandit, 10**5, 3, rng=0).pulls.sum(axis=1) == 10**5).all()


# ---- which engine


@pytest.mark.parametrize(
    ("policy", "bandit", "why"),
    [
        (robai.BayesUCB(), COIN, "convex"),
        (robai.UCBV(), robai.Binomial([2.5, 1.0], n=5), "needs the variance of the rewards"),
        (Policy(rules.BernsteinBound(constant="maurer-pontil")), COIN, "needs the variance of the rewards"),
        (robai.BAIETC(sigma=1.0), TWO, "neither works by an index"),
        (robai.DETC(sigma=1.0), TWO, "neither works by an index"),
        (robai.TrackAndStop(), COIN, "neither works by an index"),
        (robai.ActionElimination(sigma=1.0), TWO, "neither works by an index"),
        (robai.UCBAlpha(sigma=1.0), TWO, "has to be asked after every round"),
        (
            Policy(robai.UCB(sigma=1.0), rules.FixedRound(9), rules.BernsteinLower()),
            robai.Binomial([2.5, 1.0], n=5),
            "needs the variance of the rewards",
        ),
        (
            Policy(robai.UCB(sigma=1.0), rules.FixedRound(9) | rules.Separation(sigma=1.0)),
            TWO,
            "has to be asked after every round",
        ),
        (robai.UCB(sigma=1.0), robai.Empirical([[0.0, 1.0], [0.0, 0.5]]), "cannot be drawn at once"),
    ],
    ids=repr,
)
def test_policies_that_do_not_leap(policy, bandit, why):
    with pytest.raises(ValueError, match=why):
        robai.simulate(policy, bandit, 10**4, 2, engine="leap")
    assert robai.simulate(policy, bandit, 10**4, 2, rng=0).meta["engine"] == "step"


@pytest.mark.parametrize("policy", [*POLICIES, *MORE_INDICES], **by_label)
def test_auto_leaps(policy):
    for bandit in BANDITS:
        assert robai.simulate(policy, bandit, 100, 2, rng=0).meta["engine"] == "leap"


def test_an_unknown_engine():
    with pytest.raises(ValueError, match="engine"):
        robai.simulate(robai.UCB(sigma=1.0), TWO, 100, 2, engine="jump")
