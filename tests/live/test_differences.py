"""Intervals for differences: certificates read the other way, and how often they are ever wrong."""

import math

import numpy as np
import pytest
from support.reference_divergences import divergence

import robai
from robai import families
from robai._core.protocols import Evidence
from robai.rules import Game
from robai.rules.differences import Pair
from robai.rules.threshold import Certainty, exponential_calibration

FAMILIES = [
    families.Bernoulli(),
    families.Binomial(4),
    families.Bounded(-1.0, 3.0),
    families.Gaussian(0.5),
    families.Gaussian([0.5, 2.0]),
    families.Gaussian(),
    families.Poisson(),
    families.Exponential(),
    families.Gamma(3.0),
    families.NegativeBinomial(2.0),
]


def counts(family, generator):
    """Counts of two arms, up to 10 or up to 10^6."""
    n = generator.integers(1, 10 ** generator.integers(1, 7), size=2)
    means = generator.uniform(0.02, 0.98, size=2)
    if isinstance(family, families.Gaussian):
        totals = n * means
    elif isinstance(family, families.Bounded):
        totals = n * (4 * means - 1)
    else:
        totals = np.maximum(generator.binomial(n, means), family.positive_means)
    squares = np.where(n > 1, n * generator.uniform(0.1, 2.0), 0.0)
    return n.tolist(), totals.astype(float).tolist(), squares.tolist()


def certificate(family, n, s, squares):
    return Certainty(family, Game.of(2, 10, family)).delta(Evidence(n, s, 10, squares))


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_zero_is_outside_exactly_where_the_certificate_is_below_the_error(family):
    generator, outside, ends = np.random.default_rng(0), 0, 0
    for _ in range(300):
        n, s, squares = counts(family, generator)
        pair = Pair(family, (0, 1), n, s, squares)
        error, delta = 10 ** generator.uniform(-9, -0.1), certificate(family, n, s, squares)
        low, high = pair.interval(error)
        assert low <= s[0] / n[0] - s[1] / n[1] <= high
        assert (low > 0 or high < 0) == (delta < error)
        outside += delta < error
        if 1e-200 < delta < 0.999:  # at an error as large an end of it is 0
            low, high = pair.interval(delta)
            assert min(abs(low), abs(high)) <= 1e-9 * (high - low)
            ends += 1
    assert 20 < outside < 280
    assert ends > 50


def loss(n, s):
    best = sum(k * math.log(k / n) for k in (s, n - s) if k > 0)
    return best - (math.lgamma(s + 0.5) + math.lgamma(n - s + 0.5) - math.log(math.pi) - math.lgamma(n + 1))


@pytest.mark.parametrize(
    "family", [families.Bernoulli(), families.Poisson(), families.Exponential()], ids=repr
)
def test_the_region_on_a_grid(family):
    """The largest and the smallest p - q of all points of the region."""
    generator = np.random.default_rng(2)
    for _ in range(4):
        n = generator.integers(300, 3000, size=2).tolist()
        s = [float(generator.binomial(k, generator.uniform(0.1, 0.9))) for k in n]
        if family == families.Bernoulli():
            most = math.log(20) + sum(loss(k, total) for k, total in zip(n, s, strict=True))
        else:
            most = 2 * exponential_calibration(math.log(20) / 2)
            most += 3 * sum(math.log(1 + math.log(k)) for k in n)
        low, high = Pair(family, (0, 1), n, s, None).interval(0.05)
        reach = high - low
        m = [total / k for k, total in zip(n, s, strict=True)]
        grid = [[m[i] + reach * (j / 300 - 1) for j in range(601)] for i in (0, 1)]
        top = 1.0 if family == families.Bernoulli() else math.inf
        spent = [
            [n[i] * divergence(family, m[i], q) if 0.0 < q < top else math.inf for q in grid[i]]
            for i in (0, 1)
        ]
        inside = np.add.outer(spent[0], spent[1]) <= most
        apart = np.subtract.outer(grid[0], grid[1])[inside]
        assert apart.max() == pytest.approx(high, abs=reach / 100)
        assert apart.min() == pytest.approx(low, abs=reach / 100)


@pytest.mark.parametrize("family", FAMILIES[-4:], ids=repr)
def test_no_summit_is_missed(family):
    """Where divergences are not convex, few pulls make the largest p - q hard to find."""
    generator, core = np.random.default_rng(7), family._core()
    angle = np.linspace(0, math.pi / 2, 20_001)
    for _ in range(100):
        n = generator.integers(1, 10 ** generator.integers(1, 4), size=2)
        m = generator.uniform(0.1, 3.0, size=2)
        most = 2 * exponential_calibration(math.log(20) / 2) + 3 * np.log1p(np.log(n)).sum()
        p = core.elementwise("upper", m[0], np.sin(angle) ** 2 * most / n[0])
        q = core.elementwise("lower", m[1], np.cos(angle) ** 2 * most / n[1])
        high = Pair(family, (0, 1), n.tolist(), (n * m).tolist(), None).interval(0.05)[1]
        assert high >= (p - q).max() - 1e-8


def test_gaussian_in_closed_form():
    n, m, sigma = np.array([400.0, 90.0]), [0.7, 0.2], 1.5
    pair = Pair(families.Gaussian(sigma), (0, 1), [400, 90], [280.0, 18.0], None)
    reach = sigma * math.sqrt(((n + 1) / n**2).sum() * (2 * math.log(1 / 0.05) + np.log1p(n).sum()))
    assert pair.interval(0.05) == pytest.approx((m[0] - m[1] - reach, m[0] - m[1] + reach))


@pytest.mark.parametrize(
    ("n", "s", "low", "high"),
    [
        ([1, 1], [0, 0], -0.9875, 0.9875),
        ([1, 1], [1, 1], -0.9875, 0.9875),
        ([1, 1], [0, 1], -1.0, 0.7764),
        ([10**15, 10**15], [10**15, 0], 1.0, 1.0),
        ([10**15, 10**15], [10**15, 10**15], 0.0, 0.0),
        ([10**15, 1], [5 * 10**14, 0], -0.5, 0.5),
    ],
)
def test_extreme_counts(n, s, low, high):
    found = Pair(families.Bernoulli(), (0, 1), n, [float(each) for each in s], None).interval(0.05)
    assert found == pytest.approx((low, high), abs=1e-4)
    assert found[0] < found[1]


def test_the_loss_of_a_mixture_is_exact_for_any_count():
    """Both arms and their pooled mean are the same: what is found is twice the loss, about log(pi n / 2)."""
    for n in (10**3, 10**9, 10**15):
        found = Pair(families.Bernoulli(), (0, 1), [n, n], [n / 2, n / 2], None).found()
        assert -found == pytest.approx(math.log(math.pi * n / 2), abs=2 / n)
    for n, s in ((7, 0), (7, 3), (40, 39), (12345, 678)):
        found = Pair(families.Bernoulli(), (0, 1), [n, n], [s, s], None).found()
        assert -found == pytest.approx(2 * loss(n, s), rel=1e-9)


# ---- what an agent says


def test_little_is_known_at_first():
    agent = robai.Agent(robai.KLUCB(), ["A", "B"], 1000, reward="gaussian", rng=0)
    assert repr(agent.difference("A", "B")[2:5]) == "(nan, -inf, inf)"
    agent.update_batch(["A", "B", "A", "B"], [1.0, 0.0, 1.0, 0.0])
    assert agent.difference("A", "B")[2:5] == (
        1.0,
        -math.inf,
        math.inf,
    )  # equal rewards say nothing of a variance
    assert "less that of" not in agent.summary()
    generator = np.random.default_rng(0)
    for arm in ("A", "B"):
        agent.update_batch([arm] * 50, generator.normal(0.5, 1.0, 50))
    found = agent.difference("A", "B")
    assert found.low < found.estimate < found.high
    assert not found.proved
    assert "or about so if rewards are not normal" in agent.summary()


def test_many_arms_of_which_few_have_rewards():
    agent = robai.Agent(robai.KLUCB(), 100, 10**6, reward="poisson", rng=0)
    assert "less that of" not in agent.summary()
    agent.update(3, 5)
    assert "less that of" not in agent.summary()
    assert repr(agent.differences()[2][:5]) == "(3, 2, nan, -inf, inf)"
    agent.update(7, 5)
    agent.update_counts(8, 100, 100)
    *_, first, second, _, _ = (line.split() for line in agent.summary().splitlines())
    assert (first[0], second[0], second[-1]) == ("7", "8", "open")


def test_both_directions_are_one_interval():
    for family in (families.Bernoulli(), families.Gaussian([1.0, 2.0]), families.Gaussian()):
        agent = robai.Agent(robai.KLUCB(), 2, 10_000, reward=family, rng=0)
        agent.update_counts(0, 100, 30, squares=21.0 if family.name == "gaussian" else None)
        agent.update_counts(1, 300, 120, squares=72.0 if family.name == "gaussian" else None)
        one, other = agent.difference(0, 1), agent.difference(1, 0)
        assert (one.estimate, one.low, one.high) == pytest.approx((-other.estimate, -other.high, -other.low))


def test_every_arm_has_its_own_sigma():
    three = robai.Agent(robai.KLUCB(), 3, 10_000, reward=families.Gaussian([1.0, 2.0, 5.0]), rng=0)
    two = robai.Agent(robai.KLUCB(), 2, 10_000, reward=families.Gaussian([2.0, 5.0]), rng=0)
    three.update_counts(0, 7, 1.0)
    for agent, first in ((three, 1), (two, 0)):
        agent.update_counts(first, 100, 30.0)
        agent.update_counts(first + 1, 300, 120.0)
    assert three.difference(1, 2)[2:] == two.difference(0, 1)[2:]


def test_wrong_questions():
    agent = robai.Agent(robai.KLUCB(), ["A", "B"], 1000, reward="bernoulli", rng=0)
    with pytest.raises(KeyError, match="there is no arm 'C'"):
        agent.difference("A", "C")
    with pytest.raises(ValueError, match="arm and other must be different"):
        agent.difference("A", "A")
    with pytest.raises(ValueError, match="error must be"):
        agent.difference("A", "B", error=0)
    with pytest.raises(ValueError, match="error must be"):
        agent.differences(error=1.0)


def many():
    agent = robai.Agent(robai.KLUCB(), 100, 10**6, reward="bernoulli", rng=0)
    for arm in range(100):
        agent.update_counts(arm, 1000, 200 + arm)
    return agent


def test_all_differences_are_of_one_error():
    agent = many()
    found = agent.differences()
    assert [each.other for each in found] == list(range(99))
    assert {each.arm for each in found} == {99}
    assert found[40] == agent.difference(99, 40, error=0.05 / 4950)


def test_a_summary_of_many_arms_shows_the_closest():
    lines = many().summary().splitlines()
    place = lines.index(
        "the mean of 99 less that of the 10 closest arms; all are right at all times with probability 95 %:"
    )
    assert lines[place + 2].split() == ["arm", "difference", "low", "high", "verdict"]
    assert [line.split()[0] for line in lines[place + 3 :]] == [str(arm) for arm in range(89, 99)]


def test_after_a_commitment_it_is_about_that_arm():
    agent = robai.Agent(robai.EOCP(gap=0.5), ["A", "B"], 2000, reward="bernoulli", rng=0)
    while not agent.committed:
        arm = agent.select()
        agent.update(arm, arm == "B")
    assert agent.summary().split()[-1] == "larger"
    agent.update_counts("A", 10_000, 10_000)
    agent.update_counts("B", 10_000, 0)
    assert [(each.arm, each.other) for each in agent.differences()] == [("B", "A")]
    assert agent.summary().split()[-1] == "smaller"


# ---- how often they are wrong


LAWS = {  # of which family they are said to be, a standard deviation for UCB, and draws without a mean
    "normal": (families.Gaussian(1.0), 1.0, lambda generator, size: generator.normal(size=size)),
    "normal, sigma unknown": (families.Gaussian(), 1.0, lambda generator, size: generator.normal(size=size)),
    "lognormal": (families.Gaussian(), 2.16, lambda generator, size: generator.lognormal(size=size) - 1.6487),
    "Bernoulli": (families.Bernoulli(), 0.5, None),
}


def ever_outside(law, gap, runs, rounds=3000, error=0.05):
    """In how many UCB experiments the interval has ever missed the gap of two arms.

    Normal ones of known sigma are looked at in every round, by the closed form, others at 60 times.
    """
    generator, (family, sigma, noise) = np.random.default_rng(5), LAWS[law]
    means, rows, outside = np.array([0.3 + gap, 0.3]), np.arange(runs), np.zeros(runs, bool)
    n, s, squares = np.zeros((3, runs, 2))
    looks = set(np.geomspace(4, rounds, 60).astype(int).tolist())

    def interval(run):
        deviations = (squares[run] - s[run] ** 2 / n[run]).tolist()
        return Pair(family, (0, 1), n[run].astype(int).tolist(), s[run].tolist(), deviations).interval(error)

    for t in range(rounds):
        arm = np.full(runs, t % 2)
        if t > 3:
            arm = (s / n + sigma * np.sqrt(2 * math.log(rounds) / n)).argmax(axis=1)
        coins = noise is None
        drawn = generator.random(runs) < means[arm] if coins else means[arm] + noise(generator, runs)
        n[rows, arm] += 1
        s[rows, arm] += drawn
        squares[rows, arm] += drawn**2.0
        if law == "normal" and t > 0:
            apart = s[:, 0] / n[:, 0] - s[:, 1] / n[:, 1] - gap
            square = ((n + 1) / n**2).sum(axis=1)
            outside |= apart**2 > square * (2 * math.log(1 / error) + np.log1p(n).sum(axis=1))
        elif t + 1 in looks:
            for run in np.flatnonzero(~outside):
                low, high = interval(run)
                outside[run] = not low <= gap <= high
    standard_errors = np.hypot(*(np.sqrt((squares / n - (s / n) ** 2) / n)).T)
    reach = [(interval(run)[1] - interval(run)[0]) / 2 for run in range(min(runs, 100))]
    wide = np.median(reach / standard_errors[: len(reach)])
    print(f"{law}, gap {gap}: {outside.sum()} of {runs}, {wide:.2f} standard errors to either side")
    return int(outside.sum())


def at_most(error, runs):
    return error * runs + 5 * math.sqrt(error * (1 - error) * runs)


@pytest.mark.parametrize("law", LAWS)
def test_intervals_are_right_at_all_times(law):
    runs = 200 if law == "normal" else 40
    assert ever_outside(law, 0.0, runs, rounds=600) <= at_most(0.05, runs)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 0.3])
@pytest.mark.parametrize("law", LAWS)
def test_intervals_are_right_at_all_times_in_full(law, gap):
    runs = 4000 if law == "normal" else 1000
    assert ever_outside(law, gap, runs) <= at_most(0.05, runs)


def test_a_test_of_coverage_that_can_fail():
    """Intervals for one look, of the same error, are wrong at some time in a third of the experiments."""
    generator, runs = np.random.default_rng(0), 500
    values = generator.normal(size=(runs, 2, 1000)).cumsum(axis=2)
    n = np.arange(1, 1001)
    ever = (abs(values[:, 0] - values[:, 1]) / n > 1.96 * np.sqrt(2 / n))[:, 30:].any(axis=1)
    assert ever.sum() > at_most(0.05, runs)
