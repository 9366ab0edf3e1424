"""Random numbers: the parts of rng.pxd that are not inlined, seeding, and a twin for Python.

The ziggurat covers the half normal density f(x) = exp(-x^2 / 2), x >= 0, by 256 layers of
equal area V. With edges x_1 = R > x_2 > ... > x_256 = 0,

    layer i >= 1    [0, x_i] x [f(x_i), f(x_{i+1})]
    layer 0         [0, R] x [0, f(R)] and the tail beyond R; x_0 = V / f(R)

A layer and a point of [0, x_i] are drawn. Below x_{i+1} the point is under f; beyond, it is
in the wedge (decided by a height) or in the tail (drawn anew).

G. Marsaglia and W. W. Tsang, The ziggurat method for generating random variables,
J. Stat. Softw. 5(8) (2000). J. A. Doornik, An improved ziggurat method to generate normal
random samples, University of Oxford (2005).
"""

import operator
import threading

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport M_PI_2, erfc, exp, log, log1p, sqrt
from libc.stdint cimport uint32_t, uint64_t

cdef extern from *:
    const char* ROBAI_NUMPY             # defined by setup.py

NUMPY = ROBAI_NUMPY.decode()            # of the samplers, which are linked statically

RUNS_PER_BLOCK = 256

cdef double R = 3.6541528853610088      # Marsaglia and Tsang (2000): closes 256 layers


cdef void build_layers() noexcept:
    cdef double area = R * exp(-0.5 * R * R) + sqrt(M_PI_2) * erfc(R / sqrt(2.0))
    cdef Py_ssize_t i
    layer_edge[0] = area / exp(-0.5 * R * R)
    layer_edge[1] = R
    layer_height[0] = 0.0
    layer_height[1] = exp(-0.5 * R * R)
    for i in range(2, 256):
        layer_height[i] = layer_height[i - 1] + area / layer_edge[i - 1]
        layer_edge[i] = sqrt(-2.0 * log(layer_height[i]))
    layer_edge[256] = 0.0
    layer_height[256] = 1.0


build_layers()


cdef double tail_normal(Rng* rng) noexcept nogil:
    """N(0, 1) given that it is beyond R: Marsaglia (1964), exponential proposals of rate R."""
    cdef double excess
    while True:
        excess = -log1p(-next_double(rng)) / R
        if -2.0 * log1p(-next_double(rng)) > excess * excess:
            return R + excess


cdef double finish_normal(Rng* rng, Py_ssize_t i, double x) noexcept nogil:
    """The normal that starts with abscissa x in the wedge of layer i, or in the tail."""
    cdef double height
    if i == 0:
        return tail_normal(rng) if x > 0.0 else -tail_normal(rng)
    height = layer_height[i] + (layer_height[i + 1] - layer_height[i]) * next_double(rng)
    return x if height < exp(-0.5 * x * x) else next_normal(rng)


cdef void fill_normal(Rng* rng, double mean, double sigma, double* out, Py_ssize_t count) noexcept nogil:
    """`count` draws of N(mean, sigma^2), the same as next_normal gives one by one."""
    cdef Rng local = rng[0]
    cdef Py_ssize_t k
    for k in range(count):
        out[k] = mean + sigma * next_normal(&local)
    rng[0] = local


cdef void seed_apart(const Rng* rng, Rng* out, Py_ssize_t count) noexcept nogil:
    """By SplitMix64 (Steele, Lea and Flood, 2014), as Blackman and Vigna advise.

    Its words are different from each other, so that no state is all zero.
    """
    cdef uint64_t x = rng.s[0] ^ rotate_left(rng.s[1], 16)
    cdef uint64_t z
    cdef Py_ssize_t i, k
    x ^= rotate_left(rng.s[2], 32) ^ rotate_left(rng.s[3], 48)
    for i in range(count):
        for k in range(4):
            x += <uint64_t>0x9E3779B97F4A7C15
            z = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
            z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
            out[i].s[k] = z ^ (z >> 31)


cdef uint64_t bitgen_uint64(void* rng) noexcept nogil:
    return next_uint64(<Rng*>rng)


cdef uint32_t bitgen_uint32(void* rng) noexcept nogil:
    return <uint32_t>(next_uint64(<Rng*>rng) >> 32)


cdef double bitgen_double(void* rng) noexcept nogil:
    return next_double(<Rng*>rng)


def seed_block(entropy, spawn_key, block):
    """The states of runs RUNS_PER_BLOCK * block, ...: run r is row r % RUNS_PER_BLOCK of block
    r // RUNS_PER_BLOCK, whatever the number of runs.

    Words of a PCG64 seeded with one SeedSequence a block: eight times faster than asking the
    SeedSequence for all of them, which would take longer than some runs.
    """
    sequence = np.random.SeedSequence(entropy, spawn_key=(*spawn_key, block))
    return np.random.PCG64(sequence).random_raw(4 * RUNS_PER_BLOCK).reshape(-1, 4)


cdef class Stream:
    """The generator of a run, for Python.

    ``numpy.random.Generator(stream)`` draws from the same state.
    """

    def __cinit__(self, state):
        self.state = state
        attach(&self.bitgen, &self.rng)
        self.capsule = PyCapsule_New(&self.bitgen, "BitGenerator", NULL)
        self.lock = threading.Lock()

    @property
    def state(self):
        """The four words of the generator; not all zero."""
        return self.rng.s[0], self.rng.s[1], self.rng.s[2], self.rng.s[3]

    @state.setter
    def state(self, words):
        cdef uint64_t a, b, c, d
        a, b, c, d = map(operator.index, words)
        if not (a | b | c | d):
            raise ValueError("state must not be all zero, xoshiro256++ would stay there")
        self.rng.s[0], self.rng.s[1], self.rng.s[2], self.rng.s[3] = a, b, c, d
