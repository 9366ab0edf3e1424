"""The samplers of every reward family, against the law that its definition gives.

Seeds are fixed, so every test either always passes or always fails. The bounds are those that a
correct sampler exceeds with probability 1e-6 or less: 5 sigma, or the quantile of Kolmogorov's law.
"""

import math
import re

import numpy as np
import pytest
from support.reference_divergences import divergence

import robai
from robai import families
from robai._core import probes
from robai._core.rng import Stream, seed_block

KOLMOGOROV = math.sqrt(-0.5 * math.log(0.5e-6))  # exceeded with probability 1e-6

FAMILIES = [
    families.Gaussian(1.0),
    families.Gaussian(sigma=2.5),
    families.Bernoulli(),
    families.Binomial(n=5),
    families.Poisson(),
    families.Exponential(),
    families.Gamma(shape=2.5),
    families.Gamma(shape=0.3),
    families.NegativeBinomial(r=1.5),
]
assert {type(family) for family in FAMILIES} == set(families.FAMILIES.values()) - {families.Bounded}
MEANS = (0.2, 0.9)  # in the domain of every family

COUNTS = (families.Bernoulli, families.Binomial, families.Poisson, families.NegativeBinomial)


@pytest.fixture(params=FAMILIES, ids=repr)
def family(request):
    return request.param


def stream(key=0):
    return Stream(seed_block((20231130,), (key,), 0)[0])


def rewards(family, mean, count, key=0):
    return family._core().rewards(0, mean, count, stream(key))


def sums(family, mean, count, size, key=1):
    source, core = stream(key), family._core()
    return np.array([probes.sum_of(core, 0, mean, count, source) for _ in range(size)])


def assert_mean_and_variance(sample, mean, variance):
    deviations = sample - sample.mean()
    fourth = (deviations**4).mean()
    mean_error = math.sqrt(variance / len(sample))
    variance_error = math.sqrt((fourth - sample.var() ** 2) / len(sample))
    assert abs(sample.mean() - mean) < 5 * mean_error
    assert abs(sample.var() - variance) < 5 * variance_error + 1e-12 * variance


def kolmogorov_distance(a, b):
    """sqrt(n m / (n + m)) sup |F_a - F_b|."""
    values = np.concatenate([a, b])
    gap = np.searchsorted(np.sort(a), values, "right") / len(a)
    gap = gap - np.searchsorted(np.sort(b), values, "right") / len(b)
    return math.sqrt(len(a) * len(b) / (len(a) + len(b))) * np.abs(gap).max()


# ---- rewards


@pytest.mark.parametrize("mean", MEANS)
def test_a_reward_has_the_mean_and_the_variance_of_its_family(family, mean):
    sample = rewards(family, mean, 200_000)
    assert_mean_and_variance(sample, mean, probes.variance_at(family._core(), mean))


@pytest.mark.parametrize("count", [1, 7, 1000])
@pytest.mark.parametrize("mean", MEANS)
def test_a_sum_has_the_mean_and_the_variance_of_that_many_rewards(family, mean, count):
    sample = sums(family, mean, count, 20_000)
    assert_mean_and_variance(sample, count * mean, count * probes.variance_at(family._core(), mean))


@pytest.mark.parametrize("count", [1, 7, 1000])
def test_a_sum_in_one_draw_has_the_law_of_the_sum_of_single_draws(family, count):
    size = 4000
    one_by_one = rewards(family, MEANS[0], size * count, key=2).reshape(size, count).sum(axis=1)
    at_once = sums(family, MEANS[0], count, size, key=3)
    if isinstance(family, COUNTS):
        one_by_one = np.rint(one_by_one)
    assert kolmogorov_distance(one_by_one, at_once) < KOLMOGOROV


def test_the_kolmogorov_distance_tells_families_of_the_same_moments_apart():
    # What the test above would say if a sum were drawn from the wrong family.
    gaussian = sums(families.Gaussian(sigma=0.9), 0.9, 1, 4000, key=2)
    exponential = sums(families.Exponential(), 0.9, 1, 4000, key=3)
    assert kolmogorov_distance(gaussian, exponential) > 2 * KOLMOGOROV


def test_the_variance_is_that_of_the_divergence(family):
    # d d(p, q) / dq = (q - p) / V(q): the second difference of d at its minimum is 1 / V.
    for mean in MEANS:
        step = 1e-4
        curvature = (divergence(family, mean, mean + step) + divergence(family, mean, mean - step)) / step**2
        assert probes.variance_at(family._core(), mean) == pytest.approx(1 / curvature, rel=1e-4)


def test_rewards_and_sums_lie_in_the_support(family):
    low, high = family.support
    for mean in MEANS:
        sample = rewards(family, mean, 20_000)
        assert low <= sample.min()
        assert sample.max() <= high
        total = sums(family, mean, 7, 2000)
        assert 7 * low <= total.min()
        assert total.max() <= 7 * high
        if isinstance(family, COUNTS):
            assert (sample == np.rint(sample)).all()
            assert (total == np.rint(total)).all()


@pytest.mark.parametrize(
    ("family", "mean"),
    [
        (families.Bernoulli(), 0.0),
        (families.Bernoulli(), 1.0),
        (families.Binomial(n=5), 0.0),
        (families.Binomial(n=5), 5.0),
        (families.Poisson(), 0.0),
        (families.NegativeBinomial(r=1.5), 0.0),
    ],
    ids=repr,
)
def test_a_mean_on_the_edge_is_always_paid(family, mean):
    assert (rewards(family, mean, 1000) == mean).all()
    for count in (1, 7, 10**6):
        assert (sums(family, mean, count, 100) == count * mean).all()
    assert probes.variance_at(family._core(), mean) == 0.0


@pytest.mark.parametrize(
    "family", [families.Gaussian(1.0), families.Bernoulli(), families.Poisson()], ids=repr
)
def test_a_sum_of_very_many_rewards_keeps_its_precision(family):
    count, mean = 10**14, 0.25
    sample = sums(family, mean, count, 5000)
    assert_mean_and_variance(sample - count * mean, 0.0, count * probes.variance_at(family._core(), mean))


def test_draws_depend_on_the_stream_alone(family):
    for draw in (rewards, lambda *given, key: sums(*given[:2], 7, 50, key)):
        again = draw(family, 0.9, 50, key=5)
        assert (draw(family, 0.9, 50, key=5) == again).all()
        assert (draw(family, 0.9, 50, key=6) != again).any()


def test_rewards_go_on_where_the_stream_is(family):
    source, core = stream(), family._core()
    counts = (0, 64, 128) if isinstance(family, families.Bernoulli) else (0, 1, 20, 43)  # coins come by words
    parts = [core.rewards(0, 0.9, count, source) for count in counts]
    assert np.concatenate(parts).tolist() == rewards(family, 0.9, sum(counts)).tolist()


# ---- posteriors


def posterior_moments(family, pulls, mean):
    """Mean and variance of the posterior with density V^(-1/2) exp(-pulls d(mean, .)), by quadrature.

    Jeffreys' prior is the root of the Fisher information, 1 / V(q) in terms of the mean q.
    """
    core, width = family._core(), math.sqrt(probes.variance_at(family._core(), mean) / pulls)
    low, high = (max(mean - 15 * width, family.support[0]), min(mean + 40 * width, family.support[1]))
    angles = np.linspace(0.0, math.pi, 20_001)[1:-1]  # q = cosine of an angle: no pole at the edges
    means = low + (high - low) * 0.5 * (1 - np.cos(angles))
    density = np.array(
        [
            math.exp(-pulls * divergence(family, mean, q)) / math.sqrt(probes.variance_at(core, q))
            for q in means.tolist()
        ]
    )
    weights = density * np.sin(angles)
    weights /= weights.sum()
    centre = weights @ means
    return centre, weights @ (means - centre) ** 2


@pytest.mark.parametrize(("pulls", "total"), [(40, 30.0), (60, 12.0)])
def test_posterior_draws_have_the_moments_of_the_jeffreys_posterior(family, pulls, total):
    core, source = family._core(), stream(7)
    if family == families.Gamma(shape=0.3):
        pulls, total = 10 * pulls, 10 * total  # for the moments of the heavy tail to exist
    draws = np.array([probes.mean_from_posterior(core, pulls, total, source) for _ in range(100_000)])
    assert_mean_and_variance(draws, *posterior_moments(family, pulls, total / pulls))


@pytest.mark.parametrize("successes", [0, 3])
def test_the_posterior_of_a_proportion_needs_no_prior_pulls(successes):
    core, source = families.Bernoulli()._core(), stream(8)
    assert core.prior_pulls == 0
    draws = np.array([probes.mean_from_posterior(core, 3, successes, source) for _ in range(50_000)])
    a, b = 0.5 + successes, 3.5 - successes
    assert_mean_and_variance(draws, a / (a + b), a * b / (a + b) ** 2 / (a + b + 1))
    assert ((draws >= 0) & (draws <= 1)).all()


# ---- the ends of the ranges of shape and r, where another law is close

LARGEST_R, SMALLEST_R = families.NegativeBinomial(r=1e15), families.NegativeBinomial(r=0.001)
LARGEST_SHAPE, SMALLEST_SHAPE = families.Gamma(shape=1e9), families.Gamma(shape=0.01)


@pytest.mark.parametrize(
    ("kind", "name", "ends"),
    [
        (families.Gamma, "shape", (0.01, 1e9)),
        (families.NegativeBinomial, "r", (0.001, 1e15)),
        (families.Gaussian, "sigma", (1e-100, 1e100)),
    ],
)
def test_parameters_have_ranges(kind, name, ends):
    low, high = ends
    for value in ends:
        assert getattr(kind(value), name) == value
    for value in (0.0, 0.9 * low, 1.1 * high, 1e308):
        with pytest.raises(
            ValueError, match=re.escape(f"{name} must be from {low:g} to {high:g}, got {value!r}")
        ):
            kind(value)


def posterior(family, pulls, total, size, key=11):
    core, source = family._core(), stream(key)
    return np.array([probes.mean_from_posterior(core, pulls, total, source) for _ in range(size)])


def normal_distance(sample, mean, sd):
    """sqrt(n) sup |F_n - F| for a normal F."""
    z = np.sort((sample - mean) / sd)
    expected = np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in z])
    places = np.arange(len(z) + 1) / len(z)
    return math.sqrt(len(z)) * max(np.abs(places[1:] - expected).max(), np.abs(places[:-1] - expected).max())


@pytest.mark.parametrize("mean", [0.3, 4.0, 1e5])
def test_the_largest_r_is_poisson(mean):
    size, poisson = 20_000, families.Poisson()
    assert kolmogorov_distance(rewards(LARGEST_R, mean, size), rewards(poisson, mean, size, 12)) < KOLMOGOROV
    for count in (7, 10**12, 10**18):
        pair = [sums(family, mean, count, size, key) for family, key in ((LARGEST_R, 13), (poisson, 14))]
        assert kolmogorov_distance(*pair) < KOLMOGOROV
        assert_mean_and_variance(
            pair[0] - count * mean, 0.0, count * probes.variance_at(LARGEST_R._core(), mean)
        )
    total = np.rint(3 * mean)
    pair = [posterior(family, 3, total, size, key) for family, key in ((LARGEST_R, 15), (poisson, 16))]
    assert kolmogorov_distance(*pair) < KOLMOGOROV
    for level in (1e-9, 0.1, 10.0):
        for bound in (robai.kl.upper, robai.kl.lower):
            assert bound(LARGEST_R, mean, level) == pytest.approx(bound("poisson", mean, level), rel=1e-9)


def test_the_largest_shape_is_normal():
    size, mean = 20_000, 0.9
    sd = mean / math.sqrt(1e9)
    assert normal_distance(rewards(LARGEST_SHAPE, mean, size), mean, sd) < KOLMOGOROV
    for count in (7, 10**9, 10**18):
        sample = sums(LARGEST_SHAPE, mean, count, size)
        assert normal_distance(sample, count * mean, math.sqrt(count) * sd) < KOLMOGOROV
    assert normal_distance(posterior(LARGEST_SHAPE, 7, 7 * mean, size), mean, sd / math.sqrt(7)) < KOLMOGOROV
    for level in (0.1, 10.0):
        for bound in (robai.kl.upper, robai.kl.lower):
            gaussian = bound(families.Gaussian(sd), mean, level) - mean
            assert bound(LARGEST_SHAPE, mean, level) - mean == pytest.approx(gaussian, rel=1e-3)


def test_the_smallest_shape_is_a_power_of_a_uniform_variable():
    # P(X <= x) = x^a / Gamma(1 + a) up to a factor 1 - a x, for small x.
    size, shape, mean = 100_000, 0.01, 0.9
    sample = rewards(SMALLEST_SHAPE, mean, size) * (shape / mean)
    edge = np.array([1e-300, 1e-200, 1e-100, 1e-50, 1e-20, 1e-9, 1e-4])
    assert_frequencies(sample, edge, edge**shape / math.gamma(1 + shape))
    assert_mean_and_variance(sample, shape, shape)
    # shape total / X of the posterior; few are too large for a double
    draws = posterior(SMALLEST_SHAPE, 1, 1.0, size)
    assert_frequencies(shape / draws, edge, edge**shape / math.gamma(1 + shape))
    assert np.isinf(draws).mean() < 1e-3


def test_the_smallest_r_hardly_ever_pays():
    size, r = 200_000, 0.001
    for mean in (0.9, 1e9):
        sample = rewards(SMALLEST_R, mean, size)
        assert_frequencies(sample, np.array([0.0]), np.array([(r / (r + mean)) ** r]))
    draws = posterior(SMALLEST_R, 20, 5.0, size)
    edge = np.array([1e-300, 1e-200, 1e-100, 1e-50, 1e-20])
    # r Y / X with Y of shape 5.5: P(X <= Y x) is about E[Y^s] x^s / Gamma(1 + s), s = 20 r
    s = 20 * r
    chance = math.gamma(5.5 + s) / math.gamma(5.5) * edge**s / math.gamma(1 + s)
    assert_frequencies(r / draws, edge, chance)


def assert_frequencies(sample, edges, chances):
    """How often the sample is at most an edge."""
    seen = np.array([(sample <= edge).mean() for edge in edges])
    assert (np.abs(seen - chances) < 5 * np.sqrt(chances * (1 - chances) / len(sample))).all()


@pytest.mark.parametrize("means", [(0.7, 0.2), (40.0, 38.0)])
def test_thompson_sampling_learns_with_the_largest_r_as_it_does_with_poisson_rewards(means):
    bandits = robai.NegativeBinomial(means, r=1e15), robai.Poisson(means)
    a, b = (
        robai.simulate(robai.ThompsonSampling(), bandit, 1000, 1000, rng=seed, times=1)
        for seed, bandit in enumerate(bandits)
    )
    assert kolmogorov_distance(a.final_regret, b.final_regret) < KOLMOGOROV


# ---- data


def test_data_is_resampled_with_its_frequencies():
    data = robai.Empirical([[0.0, 0.0, 0.0, 1.5], [-3.0], [1.0, 2.0, 5.0]])
    core, source, size = data._core(), stream(9), 60_000
    for arm, (values, probabilities) in enumerate(
        [([0.0, 1.5], [3 / 4, 1 / 4]), ([-3.0], [1.0]), ([1.0, 2.0, 5.0], [1 / 3, 1 / 3, 1 / 3])]
    ):
        sample = core.rewards(arm, data.means[arm], size, source)
        assert sorted(set(sample.tolist())) == values
        for value, probability in zip(values, probabilities, strict=True):
            error = math.sqrt(probability * (1 - probability) / size)
            assert abs((sample == value).mean() - probability) <= 5 * error


def test_resampled_rewards_are_independent():
    core = robai.Empirical([[0.0, 1.0], [0.0, 1.0]])._core()
    sample = core.rewards(0, 0.5, 100_000, stream(10))
    repeats = (sample[1:] == sample[:-1]).mean()
    assert abs(repeats - 0.5) < 5 * 0.5 / math.sqrt(len(sample))


# ---- descriptions


@pytest.mark.parametrize("name", families.FAMILIES)
def test_families_go_by_their_names(name):
    kind = families.FAMILIES[name]
    if name in ("binomial", "gamma", "negative-binomial"):
        with pytest.raises(ValueError, match=f"{name}.*has a parameter.*{kind.__name__}"):
            families.as_family(name)
    else:
        assert families.as_family(name.upper()) == kind()


def test_an_unknown_family_is_an_error_that_offers_the_nearest():
    with pytest.raises(ValueError, match=r"family must be one of .*'bernuli'.*did you mean bernoulli"):
        families.as_family("bernuli")


def test_a_bandit_stands_for_its_family():
    assert families.as_family(robai.Gamma([1.0, 2.0], shape=3.0)) == families.Gamma(shape=3.0)
    with pytest.raises(ValueError, match="Empirical has no family"):
        families.as_family(robai.Empirical([[1], [2]]))
    with pytest.raises(TypeError, match=r"family must be a name.*got 3"):
        families.as_family(3)
