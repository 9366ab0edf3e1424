"""Time of a divergence and of its inverses: `pytest bench --benchmark-enable --benchmark-only`.

`ns` in the extra info is the smallest time divided by the number of elements.
"""

from functools import partial

import numpy as np
import pytest

import robai
from robai._core import probes

SIZE = 10_000
FAMILIES = {
    "gaussian": robai.families.Gaussian(1.0),
    "bernoulli": "bernoulli",
    "binomial": robai.families.Binomial(n=5),
    "poisson": "poisson",
    "exponential": "exponential",
    "gamma": robai.families.Gamma(shape=2.5),
    "negative-binomial": robai.families.NegativeBinomial(r=1.5),
}


@pytest.fixture(params=FAMILIES)
def family(request):
    return FAMILIES[request.param]


@pytest.fixture
def numbers():
    """Means that every family allows, and levels as a bandit meets them: log(T) / pulls."""
    rng = np.random.default_rng(0)
    return rng.uniform(0.05, 0.9, SIZE), rng.uniform(0.05, 0.9, SIZE), 14.0 / rng.integers(1, 1000, SIZE)


def test_divergence(benchmark, family, numbers):
    p, q, _ = numbers
    found = benchmark(robai.kl.divergence, family, p, q)
    assert (found >= 0.0).all()
    # d(p, q) = integral of (x - p) / V(x) from p to q, by Simpson's rule where p and q are close.
    near = np.abs(p - q) < 0.02
    variance = np.vectorize(partial(probes.variance_at, robai.families.as_family(family)._core()))
    middle = 0.5 * (p + q)
    slopes = 4.0 * (middle - p) / variance(middle) + (q - p) / variance(q)
    np.testing.assert_allclose(found[near], ((q - p) / 6.0 * slopes)[near], rtol=0.02)
    report(benchmark)


def test_upper(benchmark, family, numbers):
    p, _, level = numbers
    found = benchmark(robai.kl.upper, family, p, level)
    assert (found > p).all()
    check_inverse(family, p, found, level)
    report(benchmark)


def test_lower(benchmark, family, numbers):
    p, _, level = numbers
    found = benchmark(robai.kl.lower, family, p, level)
    assert (found < p).all()
    check_inverse(family, p, found, level)
    report(benchmark)


def check_inverse(family, p, found, level):
    # Closer to the end of the domain, no double has a divergence as close to the level as this.
    low, high = robai.families.as_family(family).support
    inside = (found > low + 1e-6) & (found < high - 1e-6)
    np.testing.assert_allclose(robai.kl.divergence(family, p, found)[inside], level[inside], rtol=1e-8)


def report(benchmark):
    if benchmark.stats:  # None where benchmarks are disabled
        benchmark.extra_info["ns"] = round(1e9 * benchmark.stats.stats.min / SIZE, 2)
