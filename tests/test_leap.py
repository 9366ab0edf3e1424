"""The leap engine has the law of the step engine.

Two samples agree if the Kolmogorov-Smirnov distance has a p-value above 1e-6 and their means are within
5 standard errors. Seeds are fixed: a test that passes once passes always. With ties, as discrete numbers
have them, the test is conservative.
"""

import math

import numpy as np
import pytest

import robai
from robai import _batches, rules
from robai._core import leap
from robai._core.rng import Stream
from robai.policies import Policy

MIXED = Policy(
    explore=robai.KLUCB(),
    stop=(rules.FixedRound(150) & rules.Imbalance()) | rules.FixedRound(1500),
    commit=rules.MostPulled(),
)
POLICIES = [
    robai.UCB(),
    robai.UCB(level="ratio"),
    robai.UCB(level="round"),
    robai.KLUCB(),
    robai.KLUCB(level="ratio"),
    robai.KLUCB(level="round"),
    robai.KLUCB(level="++"),
    robai.EOCP(gap=0.6),
    robai.EOCPUG(),
    robai.KLEOCP(kl=0.3),
    robai.KLEOCPUG(),
    robai.KLEOCPUG(guard=0.0),
    MIXED,
    Policy(explore=rules.UpperBound("++"), stop=rules.KnownGap(0.5)),
    Policy(explore=rules.WideBound(), stop=rules.Imbalance()),
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
    return type(bandit)(means, **{name: value for name, value in vars(bandit).items() if name != "means"})


def assert_same_law(first, second):
    joint = np.sort(np.concatenate([first, second]))
    places = (np.searchsorted(np.sort(each), joint, side="right") / len(each) for each in (first, second))
    distance = np.abs(np.subtract(*places)).max()
    size = len(first) * len(second) / (len(first) + len(second))
    assert 2 * math.exp(-2 * size * distance**2) > 1e-6
    error = math.sqrt(first.var() / len(first) + second.var() / len(second))
    assert abs(first.mean() - second.mean()) <= 5 * error


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
    "policy", [*POLICIES[:4], robai.KLUCB(level="++"), robai.KLUCB(level="round")], **by_label
)
def test_two_arms_for_longer(policy, bandit):
    assert_engines_agree(policy, with_means(bandit, bandit.means[:2]), 20_000, 100, 600)


@pytest.mark.parametrize("bandit", BANDITS[:5:2] + BANDITS[1:2], **by_type)
@pytest.mark.parametrize("policy", POLICIES, **by_label)
def test_a_short_horizon(policy, bandit):
    assert_engines_agree(policy, bandit, 300, 2000)


@pytest.mark.parametrize("bandit", BANDITS[:4], **by_type)
@pytest.mark.parametrize(
    "policy", [robai.UCB(), robai.KLUCB(), robai.KLUCB(level="round"), robai.EOCPUG()], **by_label
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
@pytest.mark.parametrize("policy", [robai.UCB(), robai.KLUCB(), robai.KLUCB(level="++")], **by_label)
def test_odd_arms(policy, bandit):
    assert_engines_agree(policy, bandit, 5000, 200)


def test_the_best_arms_may_be_equally_good():
    with pytest.warns(UserWarning, match="all best"):
        assert_engines_agree(robai.KLUCB(), robai.Bernoulli([0.5, 0.5, 0.3]), 2000, 500)


def test_bounds_of_another_family():
    assert_engines_agree(robai.KLUCB(family="poisson"), robai.Bernoulli([0.7, 0.2]), 5000, 500)
    assert_engines_agree(robai.KLUCB(family="gaussian"), robai.Bernoulli([0.7, 0.2]), 5000, 500)
    assert_engines_agree(robai.UCB(sigma=0.5), robai.Gaussian([0.7, 0.2]), 5000, 500)


@pytest.mark.parametrize(
    "policy", [robai.UCB(), robai.UCB(level="round"), robai.KLUCB(level="ratio")], **by_label
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


@pytest.mark.slow
@pytest.mark.parametrize("bandit", BANDITS, **by_type)
@pytest.mark.parametrize("policy", POLICIES, **by_label)
def test_many_runs(policy, bandit):
    assert_engines_agree(policy, bandit, 3000, 6000)


@pytest.mark.slow
@pytest.mark.parametrize("bandit", BANDITS, **by_type)
@pytest.mark.parametrize("policy", POLICIES[:7], **by_label)
def test_many_runs_of_long_horizons(policy, bandit):
    assert_engines_agree(policy, with_means(bandit, bandit.means[:2]), 50_000, 1500, 6000)


# ---- hitting times


def stream(*words):
    return Stream(np.random.SeedSequence(words).generate_state(4, np.uint64))


def normal_cdf(x):
    return np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in x])


def assert_distribution(values, cdf, runs):
    """Massart's inequality: P(sup |F_n - F| > e) <= 2 exp(-2 n e^2). Infinite values only count."""
    values = np.sort(values[np.isfinite(values)])
    expected, place = cdf(values), np.arange(len(values) + 1) / runs
    distance = max(np.abs(place[1:] - expected).max(), np.abs(place[:-1] - expected).max())
    assert distance < math.sqrt(math.log(2e6) / (2 * runs))


# Height above the edge, drift, sigma: close and far, towards the edge, away from it and neither.
STATES = [
    (0.1, -0.5, 1.0),
    (0.1, 0.5, 1.0),
    (2.0, 0.0, 1.0),
    (2.0, 1e-15, 1.0),
    (2.0, -1e-15, 1.0),
    (2.0, 0.01, 1.0),
    (2.0, -0.01, 1.0),
    (50.0, -0.3, 1.0),
    (50.0, 0.01, 1.0),
    (1e7, -1e-8, 0.3),
    (1e7, 1e-8, 0.3),
    (3e-200, -1e-201, 1e-200),
    (3e-200, 1e-201, 1e-200),
    (3e200, -1e199, 1e200),
]
RUNS = 20_000


@pytest.mark.parametrize(("height", "drift", "sigma"), STATES)
def test_hitting_times(height, drift, sigma):
    def cdf(times):
        spread, nu, x = np.sqrt(times), drift / sigma, height / sigma
        return normal_cdf((-x - nu * times) / spread) + math.exp(-2 * x * nu) * normal_cdf(
            (-x + nu * times) / spread
        )

    times = leap.hitting_times(height, drift, sigma, RUNS, stream(1))
    assert (times > 0).all()
    assert_distribution(times, cdf, RUNS)
    ever = math.exp(-2 * max(drift / sigma, 0.0) * (height / sigma))
    never = np.isinf(times).sum()
    assert abs(never - RUNS * (1 - ever)) <= 5 * math.sqrt(RUNS * ever * (1 - ever)) + 1e-9


@pytest.mark.parametrize(("height", "drift", "sigma"), STATES)
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_heights_of_paths_that_did_not_hit(height, drift, sigma, scale):
    time = scale * (height / sigma) ** 2
    if drift < 0:
        time = min(time, height / -drift)  # few get further
    x, nu, spread = height / sigma, drift / sigma, math.sqrt(time)

    def survival(y):  # that the path is above y, and never was at 0
        y = np.asarray(y) / sigma
        mirrored = normal_cdf((nu * time - x - y) / spread)
        return normal_cdf((x + nu * time - y) / spread) - math.exp(-2 * x * nu) * mirrored

    heights = leap.heights_if_not_hit(height, drift, sigma, time, RUNS, stream(2))
    assert (heights > 0).all()
    assert_distribution(heights, lambda y: 1 - survival(y) / survival([0.0]), RUNS)


def first_exits_by_chords(n, height, ahead, root, sigma, end, source):
    """The chords of docs/leap.md in Python: when a walk leaves the region, and how far it is then."""
    while n < end:
        k = min(n, end - n)
        drift = ahead + root / (math.sqrt(n + k) + math.sqrt(n))
        tau = leap.hitting_times(height, drift, sigma, 1, source)[0]
        if tau < k:
            k = math.floor(tau) + 1
            above = drift * (k - tau) + sigma * math.sqrt(k - tau) * source.normal()
        else:
            above = leap.heights_if_not_hit(height, drift, sigma, k, 1, source)[0]
        # from the chord to the edge
        height = above - drift * k + ahead * k + root * (math.sqrt(n + k) - math.sqrt(n))
        n += k
        if height <= 0.0:
            return n, height
    return math.inf, height


@pytest.mark.parametrize(
    ("n", "height", "ahead"),
    [
        pytest.param(20, 0.5, -0.4, id="close"),
        pytest.param(20, 8.0, -0.4, id="far"),
        pytest.param(20, 3.0, 0.1, id="away"),
        pytest.param(100, 1.0, -0.25, id="close, later"),
        pytest.param(100, 20.0, -0.25, id="far, later"),
        pytest.param(100, 1.0, -0.05, id="away, later"),
    ],
)
def test_the_first_exit_of_a_streak(n, height, ahead):
    root, runs, end = 4.0, 3000, 8 * n
    source = stream(3, n)
    exits = np.array([first_exits_by_chords(n, height, ahead, root, 1.0, end, source) for _ in range(runs)])
    generator = np.random.default_rng(4)
    m = np.arange(1, end - n + 1)
    paths = height + ahead * m + root * (np.sqrt(n + m) - math.sqrt(n))
    paths = paths + np.cumsum(generator.standard_normal((4 * runs, len(m))), axis=1)
    out = paths <= 0.0
    left = out.any(axis=1)
    first = np.where(left, out.argmax(axis=1), len(m) - 1)
    direct = np.where(left, n + 1 + first, 10 * end), paths[np.arange(len(paths)), first]
    assert_same_law(np.where(np.isinf(exits[:, 0]), 10 * end, exits[:, 0]), direct[0])
    assert_same_law(exits[:, 1], direct[1])


# ---- corridors

FAMILIES = [
    (robai.families.Bernoulli(), 0.7, lambda rng, shape: rng.random(shape, dtype=np.float32) < 0.7),
    (robai.families.Bernoulli(), 0.05, lambda rng, shape: rng.random(shape, dtype=np.float32) < 0.05),
    (robai.families.Poisson(), 1.0, lambda rng, shape: rng.poisson(1.0, shape)),
    (robai.families.Exponential(), 1.0, lambda rng, shape: rng.standard_exponential(shape, dtype=np.float32)),
]


def assert_corridor(family, mean, draw, corridors, k=64):
    """With exp(-exponent) = 1/1000, at most one path in a thousand leaves the corridor."""
    width = leap.corridor(family._core(), mean, k, math.log(1000))
    line = (mean * np.arange(1, k + 1) - width)[:, None]
    rng, size, below = np.random.default_rng(6), 50_000, 0
    for _ in range(corridors // size):
        below += (np.cumsum(draw(rng, (k, size)), axis=0, dtype=np.float32) <= line).any(axis=0).sum()
    expected = corridors / 1000
    assert 0 < below < expected + 5 * math.sqrt(expected)


@pytest.mark.parametrize(("family", "mean", "draw"), FAMILIES)
def test_paths_leave_a_corridor_at_most_as_often_as_the_bound_says(family, mean, draw):
    if mean < 0.1:  # too few successes for any corridor: a sum cannot be that far down
        width = leap.corridor(family._core(), mean, 64, math.log(1000))
        assert 64 * mean < width < 1.1 + 64 * mean
    else:
        assert_corridor(family, mean, draw, 10**6, k=32)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "mean", "draw"), FAMILIES)
def test_many_paths_leave_a_corridor_at_most_as_often_as_the_bound_says(family, mean, draw):
    assert_corridor(family, mean, draw, 10**7, k=256 if mean < 0.1 else 64)


# ---- long horizons

TWO = robai.Gaussian([0.7, 0.2])
COIN = robai.Bernoulli([0.7, 0.2])


@pytest.mark.parametrize("horizon", [10**12, 10**15, 2**53 + 1, 10**16 + 1, 10**17 + 3, 10**18])
@pytest.mark.parametrize("policy", [*POLICIES[:7], robai.EOCPUG(), robai.KLEOCPUG(guard=0.0)], **by_label)
def test_pulls_add_up_to_any_horizon(policy, horizon):
    bandits = (TWO, COIN) if policy in (robai.UCB(), robai.KLUCB(), robai.EOCPUG()) else (TWO,)
    for bandit in bandits:
        result = robai.simulate(policy, bandit, horizon, 10, rng=8, times=20)
        assert result.meta["engine"] == "leap"
        assert (result.pulls.sum(axis=1) == horizon).all()  # integers: exact
        assert (result.pulls > 0).all()
        assert (result.final_regret < 400).all()
        assert (np.diff(result.regret) >= 0).all()


@pytest.mark.parametrize("policy", [robai.UCB(), robai.EOCPUG()], **by_label)
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
        (robai.UCB(), TWO, 10**6, 53.81, 0.32),
        (robai.UCB(level="ratio"), TWO, 10**6, 37.93, 0.34),
        (robai.EOCPUG(), TWO, 10**6, 40.50, 0.06),
        (robai.UCB(), COIN, 10**5, 43.51, 0.07),
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


@pytest.mark.parametrize("bandit", [TWO, COIN], **by_type)
@pytest.mark.parametrize("policy", [robai.UCB(), robai.KLUCB(level="round"), robai.EOCPUG()], **by_label)
def test_runs_depend_on_the_seed_and_their_number_alone(policy, bandit, monkeypatch):
    def play(runs=60, times=1, workers=1):
        return robai.simulate(
            policy, bandit, 10**7, runs, rng=11, times=times, workers=workers, engine="leap"
        )

    result = play()
    assert_equal(result, play())
    assert_equal(result, play(workers=3))
    assert_equal(result, play(times=300))
    assert_equal(result, play(times=[3, 10**5, 10**5 + 1]))
    for longer, shorter in zip(numbers(play(runs=200)), numbers(result), strict=True):
        np.testing.assert_array_equal(longer[:60], shorter)
    for size, piece in ((1, 4e6), (7, 1.0)):
        monkeypatch.setattr(_batches, "LARGEST_BATCH", size)
        monkeypatch.setattr(_batches, "PIECE", piece)
        assert_equal(result, play(workers=2))


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**-20, 2.0**30])
def test_the_unit_of_rewards_does_not_matter(scale):
    for policy in (robai.UCB, robai.EOCPUG):
        plain = robai.simulate(policy(), TWO, 10**5, 50, rng=12, engine="leap")
        bandit = robai.Gaussian([0.7 * scale, 0.2 * scale], sigma=scale)
        scaled = robai.simulate(policy(sigma=scale), bandit, 10**5, 50, rng=12, engine="leap")
        np.testing.assert_array_equal(scaled.pulls, plain.pulls)


# ---- which engine


@pytest.mark.parametrize(
    ("policy", "bandit", "why"),
    [
        (robai.ThompsonSampling(), TWO, "does not work by an index"),
        (robai.BAIETC(), TWO, "does not work by an index"),
        (robai.DETC(), TWO, "does not work by an index"),
        (robai.TrackAndStop(), COIN, "does not work by an index"),
        (robai.ActionElimination(), TWO, "does not work by an index"),
        (robai.UCBAlpha(), TWO, "has to be asked after every round"),
        (
            Policy(robai.UCB(), rules.FixedRound(9) | rules.Separation()),
            TWO,
            "has to be asked after every round",
        ),
        (robai.UCB(), robai.Empirical([[0.0, 1.0], [0.0, 0.5]]), "cannot be drawn at once"),
    ],
    ids=repr,
)
def test_policies_that_do_not_leap(policy, bandit, why):
    with pytest.raises(ValueError, match=why):
        robai.simulate(policy, bandit, 10**4, 2, engine="leap")
    assert robai.simulate(policy, bandit, 10**4, 2, rng=0).meta["engine"] == "step"


def test_auto_steps_at_short_horizons_and_leaps_at_long_ones():
    for policy in (robai.UCB(), robai.KLUCB(), robai.UCB(level="ratio"), robai.KLUCB(level="round")):
        for bandit in (TWO, COIN):
            for horizon, engine in ((100, "step"), (10**7, "leap")):
                assert robai.simulate(policy, bandit, horizon, 2, rng=0).meta["engine"] == engine


def test_an_unknown_engine():
    with pytest.raises(ValueError, match="engine"):
        robai.simulate(robai.UCB(), TWO, 100, 2, engine="jump")
