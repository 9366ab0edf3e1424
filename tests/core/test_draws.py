"""Binomial, Poisson and gamma variables, on both sides of 2^36, where NumPy's samplers give way to ours.

All bounds are at 5 standard errors, or at a probability of 1e-6 by Massart's inequality, which holds
for every distribution: P(sup |F_n - F| > e) <= 2 exp(-2 n e^2).
"""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from robai._core import probes
from robai._core.rng import Stream

COUNT = 30_000
SWITCH = 2.0**36


def stream(*words):
    return Stream(np.random.SeedSequence(words).generate_state(4, np.uint64))


def sample(draw, *arguments, count=COUNT, seed=0):
    source = stream(seed, *(hash(each) % 2**32 for each in arguments))
    return np.array([draw(*arguments, source) for _ in range(count)])


def normal_cdf(x):
    return 0.5 * np.array([math.erfc(-each / math.sqrt(2)) for each in x])


def assert_moments(values, mean, sd, skewness):
    """Mean, variance and skewness, for a variable that is close to normal."""
    z = (values - mean) / sd
    n = len(z)
    assert abs(z.mean()) < 5 / math.sqrt(n)
    assert abs(z.var() - 1) < 5 * math.sqrt(2.2 / n)
    assert abs(((z - z.mean()) ** 3).mean() / z.std() ** 3 - skewness) < 5 * math.sqrt(6.5 / n)


def assert_nearly_normal(values, mean, sd, skewness, step):
    """The distribution, by Edgeworth's expansion; `step` is 1 for integers, at their midpoints."""
    z = np.sort((values - mean + 0.5 * step) / sd)
    density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    expected = normal_cdf(z) - skewness / 6 * (z * z - 1) * density
    place = np.arange(len(z) + 1) / len(z)
    # Ties: the distribution function of the sample is right only at the last of equal values, and
    # before the first of them the expected one is that of the value below.
    above = np.abs(place[1:] - expected)[np.append(z[1:] != z[:-1], True)].max()
    below = np.abs(expected - place[:-1])[np.insert(z[1:] != z[:-1], 0, True)].max()
    allowed = math.sqrt(math.log(2e6) / (2 * len(z)))
    assert above < allowed
    assert below < allowed + 0.4 * step / sd


TRIALS = [1e4, 1e9, 2.0**36, 2.0**36 + 1, 1e11, 1e12, 1e15, 1e18]


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("p", [0.5, 0.2, 0.93, 0.01])
def test_binomial(trials, p):
    values = sample(probes.binomial, trials, p)
    assert values.min() >= 0
    assert values.max() <= trials
    assert (values == np.floor(values)).all()
    sd = math.sqrt(trials * p * (1 - p))
    assert_moments(values, trials * p, sd, (1 - 2 * p) / sd)
    assert_nearly_normal(values, trials * p, sd, (1 - 2 * p) / sd, 1)


@pytest.mark.parametrize("rate", [1e3, 1e9, 2.0**36, 2.0**36 + 1, 1e11, 1e12, 1e15, 1e18, 1e22])
def test_poisson(rate):
    values = sample(probes.poisson, rate)
    assert (values == np.floor(values)).all()
    assert_moments(values, rate, math.sqrt(rate), 1 / math.sqrt(rate))
    assert_nearly_normal(values, rate, math.sqrt(rate), 1 / math.sqrt(rate), 1)


@pytest.mark.parametrize("shape", [1e3, 1e9, 2.0**36, 2.0**36 + 1, 1e11, 1e12, 1e15, 1e18, 1e22])
def test_gamma(shape):
    values = sample(probes.gamma, shape)
    assert_moments(values, shape, math.sqrt(shape), 2 / math.sqrt(shape))
    assert_nearly_normal(values, shape, math.sqrt(shape), 2 / math.sqrt(shape), 0)


@pytest.mark.parametrize("mean", [0.1, 0.7, 3.0, 12.0, 29.9])
@pytest.mark.parametrize("trials", [2.0**36, 1e12, 1e15])
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_binomial_of_many_trials_and_few_successes_or_failures_is_poisson(mean, trials, mirrored):
    # p is what the sampler gets, and 1 - p a rounded number: what it means is trials times that.
    p = 1 - mean / trials if mirrored else mean / trials
    mean = trials * (1 - p if mirrored else p)
    values = sample(probes.binomial, trials, p)
    assert_poisson(trials - values if mirrored else values, mean)


def assert_poisson(values, mean):
    chances = [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(80)]
    counts = np.bincount(values.astype(int), minlength=80)
    assert counts.sum() == counts[:80].sum()
    # Where ten are expected the count is normal enough; the rest is taken together.
    common = [k for k in range(80) if len(values) * chances[k] > 10]
    rare = 1 - sum(chances[k] for k in common)
    pairs = [(counts[k], chances[k]) for k in common] + [(len(values) - counts[common].sum(), rare)]
    for count, chance in pairs:
        spread = math.sqrt(len(values) * max(chance, 0) * (1 - chance))
        assert abs(count - len(values) * chance) < 5 * spread + 5


@pytest.mark.parametrize("mean", [30.1, 45.0])
def test_the_smallest_means_that_are_drawn_by_rejection(mean):
    trials = 1e12
    assert_poisson(sample(probes.binomial, trials, mean / trials), mean)


@pytest.mark.parametrize("trials", [7.0, 1000.0, 2.0**36, 2.0**36 + 2, 1e15, 1e18])
def test_certain_binomials(trials):
    source = stream(1)
    assert probes.binomial(trials, 0.0, source) == 0
    assert probes.binomial(trials, 1.0, source) == trials


def test_a_poisson_variable_of_rate_0():
    assert probes.poisson(0.0, stream(2)) == 0


@pytest.mark.parametrize(
    ("draw", "arguments", "mean", "sd"),
    [
        (probes.binomial, (0.3,), lambda n: 0.3 * n, lambda n: math.sqrt(0.21 * n)),
        (probes.poisson, (), lambda n: n, math.sqrt),
        (probes.gamma, (), lambda n: n, math.sqrt),
    ],
    ids=["binomial", "poisson", "gamma"],
)
def test_nothing_happens_at_the_switch(draw, arguments, mean, sd):
    pieces = []
    for size in (SWITCH, SWITCH + 16):
        values = sample(draw, size, *arguments, seed=3)
        pieces.append(np.sort((values - mean(size)) / sd(size)))
    joint = np.sort(np.concatenate(pieces))
    first, second = (np.searchsorted(each, joint, side="right") / COUNT for each in pieces)
    # n m / (n + m) in the place of n
    assert np.abs(first - second).max() < math.sqrt(math.log(2e6) / COUNT)


ODD = """
import itertools, math
from robai._core import probes
from robai._core.rng import Stream

numbers = [math.nan, math.inf, -math.inf, -1.0, -1e-300, 0.0, 5e-324, 1e-9, 0.5, 2.0, 1e11, 1e308]
source = Stream((1, 2, 3, 4))
for a in numbers:
    probes.poisson(a, source)
    probes.gamma(a, source)
    probes.hitting_times(a, -1.0, 1.0, 1, source)
    probes.hitting_times(2.0, a, 1.0, 1, source)
for a, b in itertools.product(numbers, numbers):
    probes.beta(a, b, source)
    probes.binomial(a, b, source)
for odd in ((math.nan, 1.0, 1.0), (1.0, math.nan, 1.0), (1.0, 1.0, math.nan), (1.0, math.inf, 1.0)):
    probes.heights_if_not_hit(odd[0], odd[1], 1.0, odd[2], 1, source)
print("ended")
"""


def test_no_parameter_makes_a_sampler_loop_for_ever():
    child = subprocess.run(
        [sys.executable, "-c", ODD],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert child.stdout == "ended\n", child.stderr
