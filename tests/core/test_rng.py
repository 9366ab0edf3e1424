"""The generator, its seeding and the ziggurat, against their definitions and the exact normal law.

Seeds are fixed, so every statistical test either always passes or always fails. The bounds are
those a correct sampler exceeds with probability 1e-6 or less (5 sigma, or the quantile itself).
"""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from robai._core.probes import Draws, layers
from robai._core.rng import NUMPY, RUNS_PER_BLOCK, Stream, seed_block

WORD = 2**64 - 1
EDGES, HEIGHTS = layers()
R = EDGES[1]

words = st.integers(0, WORD)
states = st.lists(words, min_size=4, max_size=4).filter(any)


def rotate_left(x, k):
    return (x << k | x >> (64 - k)) & WORD


def xoshiro256pp(state):
    """The generator as Blackman and Vigna write it: the next word and the next state."""
    s0, s1, s2, s3 = state
    result = (rotate_left((s0 + s3) & WORD, 23) + s0) & WORD
    t = (s1 << 17) & WORD
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    return result, (s0, s1, s2, rotate_left(s3, 45))


def about_to_give(word, s1=1, s2=2):
    """A stream whose next 64 bits are `word`: with s0 = 0 they are s3, rotated."""
    return Draws([0, s1, s2, rotate_left(word, 64 - 23)])


def stream(key):
    return Draws(seed_block(20240229, (key,), 0)[0])


def cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def kolmogorov(sample, distribution):
    """sqrt(n) sup |F_n - F|."""
    f = np.fromiter(map(distribution, np.sort(sample)), float)
    steps = np.arange(len(f) + 1) / len(f)
    return math.sqrt(len(f)) * max(np.max(f - steps[:-1]), np.max(steps[1:] - f))


KOLMOGOROV = math.sqrt(math.log(2 / 1e-6) / 2)  # P(sqrt(n) D > x) -> 2 exp(-2 x^2) - ...


def chi_square_bound(freedom):
    """Wilson and Hilferty's quantile of level 1 - 1e-6."""
    a = 2 / (9 * freedom)
    return freedom * (1 - a + 4.7534 * math.sqrt(a)) ** 3


def chi_square(counts, probabilities):
    expected = counts.sum() * np.asarray(probabilities)
    return np.sum((counts - expected) ** 2 / expected)


def poisson_bound(mean):
    """Smallest b with P(N > b) < 1e-6."""
    b, pmf, above = 0, math.exp(-mean), -math.expm1(-mean)
    while above >= 1e-6:
        b += 1
        pmf *= mean / b
        above -= pmf
    return b


@pytest.fixture(scope="module")
def draws():
    return stream(0).normals(0.0, 1.0, 10**7)


# The generator


def test_first_words():
    s = Draws([1, 2, 3, 4])
    assert [s.uint64() for _ in range(6)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
    ]


@given(states)
def test_words_follow_the_definition(state):
    s = Draws(state)
    for _ in range(20):
        word, state = xoshiro256pp(state)
        assert s.uint64() == word
        assert s.state == state


@given(words)
def test_double_is_the_upper_53_bits(word):
    assert about_to_give(word).uint64() == word
    assert about_to_give(word).double() == (word >> 11) / 2**53 < 1


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 2**31 - 1, 2**52 + 1, 2**53])
def test_below_stays_below(n):
    assert about_to_give(0).below(n) == 0
    assert about_to_give(WORD).below(n) == n - 1


@pytest.mark.parametrize("n", [2, 3, 7, 100])
def test_below_is_uniform(n):
    s = stream(n)
    counts = np.bincount([s.below(n) for _ in range(10**5)], minlength=n)
    assert len(counts) == n
    assert chi_square(counts, np.full(n, 1 / n)) < chi_square_bound(n - 1)


def test_state_can_be_stored_and_restored():
    s = stream(1)
    state = s.state
    first = s.normals(0.0, 1.0, 1000)
    s.state = state
    assert np.array_equal(first, s.normals(0.0, 1.0, 1000))
    assert np.array_equal(first, Draws(state).normals(0.0, 1.0, 1000))


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ([0, 0, 0, 0], ValueError),
        ([1, 2, 3], ValueError),
        ([1, 2, 3, 4, 5], ValueError),
        ([-1, 2, 3, 4], OverflowError),
        ([1, 2, 3, 2**64], OverflowError),
        ([1.5, 2, 3, 4], TypeError),
        (None, TypeError),
    ],
)
def test_bad_state(state, error):
    with pytest.raises(error):
        Stream(state)
    s = Stream([1, 2, 3, 4])
    with pytest.raises(error):
        s.state = state
    assert s.state == (1, 2, 3, 4)


# Seeding


@pytest.mark.parametrize("spawn_key", [(), (3,), (3, 1)])
def test_seed_block_is_numpys(spawn_key):
    block = seed_block(12345, spawn_key, 7)
    sequence = np.random.SeedSequence(12345, spawn_key=(*spawn_key, 7))
    assert block.shape == (RUNS_PER_BLOCK, 4)
    assert block.dtype == np.uint64
    assert np.array_equal(block.ravel(), np.random.PCG64(sequence).random_raw(4 * RUNS_PER_BLOCK))


def test_words_of_different_runs_differ():
    blocks = [seed_block(1, key, block) for key in [(), (0,), (1,)] for block in range(20)]
    assert len(np.unique(blocks)) == np.size(blocks)


def test_first_draws_of_many_runs_are_a_sample():
    runs = [Draws(state) for block in range(400) for state in seed_block(2, (), block)]
    assert kolmogorov([s.double() for s in runs], float) < KOLMOGOROV
    first, second = np.array([s.normals(0.0, 1.0, 2) for s in runs]).T
    assert kolmogorov(first, cdf) < KOLMOGOROV
    for x, y in [(first, second), (first[1:], first[:-1])]:
        assert abs(np.mean(x * y)) < 5 / math.sqrt(len(x))


# NumPy's samplers on our state


def test_numpy_reads_the_same_words():
    ours, theirs = stream(2), np.random.Generator(stream(2))
    assert theirs.random() == ours.double()
    assert theirs.integers(2**64, dtype=np.uint64) == ours.uint64()
    assert theirs.integers(2**32, dtype=np.uint32) == ours.uint64() >> 32
    assert theirs.random() == ours.double()


@pytest.mark.parametrize(
    ("name", "parameters", "mean", "variance"),
    [
        ("wald", (2.0, 3.0), 2.0, 8 / 3),
        ("binomial", (50, 0.3), 15.0, 10.5),
        ("poisson", (20.0,), 20.0, 20.0),
        ("standard_gamma", (2.5,), 2.5, 2.5),
        ("beta", (2.0, 3.0), 0.4, 0.04),
    ],
)
def test_numpy_samplers(name, parameters, mean, variance):
    sample = getattr(np.random.Generator(stream(3)), name)(*parameters, size=10**5)
    assert abs(sample.mean() - mean) < 5 * math.sqrt(variance / len(sample))


# The ziggurat's tables


def test_layers_have_equal_area():
    with mpmath.workdps(30):
        x = [mpmath.mpf(edge) for edge in EDGES]
        f = [mpmath.exp(-edge * edge / 2) for edge in x]
        tail = mpmath.sqrt(mpmath.pi / 2) * mpmath.erfc(x[1] / mpmath.sqrt(2))
        area = x[1] * f[1] + tail
        assert abs(x[0] * f[1] / area - 1) < 1e-14
        for i in range(1, 256):
            assert abs(x[i] * (f[i + 1] - f[i]) / area - 1) < 1e-11
        # Each layer is drawn 1 time in 256: together they exceed the half normal by the wedges.
        assert 256 * area > mpmath.sqrt(mpmath.pi / 2)
    assert EDGES[256] == HEIGHTS[0] == 0
    assert np.all(np.diff(EDGES) < 0)
    np.testing.assert_allclose(HEIGHTS[1:], np.exp(-(EDGES[1:] ** 2) / 2), rtol=1e-13)


def ziggurat(s):
    """The method once more, in plain Python: a normal from the words of the stream `s`."""
    while True:
        word = s.uint64()
        i, abscissa = word & 255, (word >> 10 | 1) - (2**54 if word >> 63 else 0)
        x = abscissa / 2**53 * EDGES[i]
        if abs(x) < EDGES[i + 1]:
            return x
        if i == 0:
            while True:
                excess = -math.log1p(-s.double()) / R
                if -2 * math.log1p(-s.double()) > excess**2:
                    return math.copysign(R + excess, x)
        if HEIGHTS[i] + (HEIGHTS[i + 1] - HEIGHTS[i]) * s.double() < math.exp(-x * x / 2):
            return x


def test_normals_follow_the_method():
    # 10^5 in a row, most from the fast path; then 2560 that start in the tail.
    s, twin = stream(7), stream(7)
    pairs = [(s.normal(), ziggurat(twin)) for _ in range(10**5)]
    assert s.state == twin.state
    for _, s1, s2, _ in np.concatenate([seed_block(8, (), block) for block in range(10)]):
        s, twin = about_to_give(2**63 - 256, s1, s2), about_to_give(2**63 - 256, s1, s2)
        pairs.append((s.normal(), ziggurat(twin)))
        assert s.state == twin.state
    np.testing.assert_allclose(*zip(*pairs, strict=True), rtol=1e-15)


@given(words)
def test_opposite_words_give_opposite_normals(word):
    s, twin = about_to_give(word), about_to_give(word)
    x = s.normal()
    twin.uint64()
    assume(s.state == twin.state)  # one word was enough: the fast path
    assert about_to_give(word ^ (WORD - 255)).normal() == -x


def test_tail_has_the_sign_of_its_abscissa():
    assert about_to_give(2**63 - 256).normal() > R
    assert about_to_give(2**63).normal() < -R


# The normal law


def test_fill_is_the_same_as_one_by_one():
    together, one_by_one, in_pieces = stream(4), stream(4), stream(4)
    sample = together.normals(0.3, 2.0, 50000)
    assert np.abs((sample - 0.3) / 2.0).max() > R  # so the tail is covered
    assert np.array_equal(sample, [0.3 + 2.0 * one_by_one.normal() for _ in sample])
    pieces = [in_pieces.normals(0.3, 2.0, count) for count in (0, 1, 9999, 40000)]
    assert np.array_equal(sample, np.concatenate(pieces))
    assert together.state == one_by_one.state == in_pieces.state


def test_moments(draws):
    n = len(draws)
    power = np.ones(n)
    # E X^k and Var X^k for k = 1, ..., 4.
    for mean, variance in [(0, 1), (1, 2), (0, 15), (3, 96)]:
        power *= draws
        assert abs(power.mean() - mean) < 5 * math.sqrt(variance / n)


def test_kolmogorov_smirnov(draws):
    assert kolmogorov(draws[: 10**6], cdf) < KOLMOGOROV


def test_signs(draws):
    n = len(draws)
    positive = draws > 0
    assert abs(np.count_nonzero(positive) - n / 2) < 2.5 * math.sqrt(n)
    assert abs(np.count_nonzero(positive[1:] == positive[:-1]) - n / 2) < 2.5 * math.sqrt(n)


@pytest.mark.parametrize("lag", [1, 2, 3, 4, 5, 8, 16])
def test_serial_correlation(draws, lag):
    x, y = draws[lag:], draws[:-lag]
    bound = 5 / math.sqrt(len(x))
    assert abs(np.mean(x * y)) < bound
    assert abs(np.mean((x * x - 1) * (y * y - 1))) < 2 * bound


@pytest.mark.parametrize("batches", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_histogram_cut_at_the_layers(batches):
    """Cells bounded by the layers' edges and midpoints: a wrong wedge shows in its own cell."""
    positive = np.sort(np.concatenate([EDGES[1:-1], (EDGES[1:-1] + EDGES[2:]) / 2]))
    cuts = np.concatenate([-positive[::-1], [0.0], positive])
    probabilities = np.diff([0.0, *map(cdf, cuts), 1.0])
    s = stream(5)
    counts = np.zeros(len(probabilities), dtype=int)
    for _ in range(batches):
        cells = np.searchsorted(cuts, s.normals(0.0, 1.0, 10**6))
        counts += np.bincount(cells, minlength=len(counts))
    assert chi_square(counts, probabilities) < chi_square_bound(len(counts) - 1)


@pytest.mark.parametrize("batches", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_tails(batches):
    s = stream(6)
    far = []
    for _ in range(batches):
        x = s.normals(0.0, 1.0, 10**6)
        far.append(x[np.abs(x) > 3])
    far = np.concatenate(far)
    size = np.abs(far)

    for threshold in (3, R, 4, 5):
        expected = batches * 1e6 * math.erfc(threshold / math.sqrt(2))
        for count, mean in [
            (np.count_nonzero(size > threshold), expected),
            (np.count_nonzero(far > threshold), expected / 2),
        ]:
            assert abs(count - mean) < 5 * math.sqrt(mean)
    expected = batches * 1e6 * math.erfc(6 / math.sqrt(2))
    assert np.count_nonzero(size > 6) <= poisson_bound(expected)

    # Beyond R another sampler takes over; its law given that it does.
    beyond = size[size > R]
    upper = math.erfc(R / math.sqrt(2))
    assert kolmogorov(beyond, lambda x: 1 - math.erfc(x / math.sqrt(2)) / upper) < KOLMOGOROV


def test_the_core_knows_which_numpy_its_samplers_are_from():
    # Installed in an isolated environment, the core may be built against another NumPy than is used.
    major, minor = map(int, NUMPY.split(".")[:2])
    assert (major, minor) >= (2, 0)
