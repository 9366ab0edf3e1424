"""One small generator per run, inlined, with NumPy's samplers on top of it.

xoshiro256++: D. Blackman and S. Vigna, Scrambled linear pseudorandom number generators,
ACM Trans. Math. Softw. 47 (2021). Its state belongs to the run: copy it to a local before
a hot loop, and write it back after.
"""

from libc.math cimport exp, fabs
from libc.stdint cimport int64_t, uint32_t, uint64_t

from robai._core cimport abi                # noqa: F401 - so that every module of a core's user asks for it

# Declared here rather than cimported: no file of the core then depends on the NumPy at hand, and a second
# build in a new environment compiles what has changed, and no more.
cdef extern from "numpy/random/bitgen.h":
    ctypedef struct bitgen_t:
        void* state
        uint64_t (*next_uint64)(void* state) noexcept nogil
        uint32_t (*next_uint32)(void* state) noexcept nogil
        double (*next_double)(void* state) noexcept nogil
        uint64_t (*next_raw)(void* state) noexcept nogil


cdef struct Rng:
    uint64_t s[4]


cdef class Stream:
    cdef Rng rng
    cdef bitgen_t bitgen
    cdef readonly object capsule
    cdef readonly object lock


cdef inline uint64_t rotate_left(uint64_t x, int k) noexcept nogil:
    return (x << k) | (x >> (64 - k))


cdef inline uint64_t next_uint64(Rng* rng) noexcept nogil:
    cdef uint64_t result = rotate_left(rng.s[0] + rng.s[3], 23) + rng.s[0]
    cdef uint64_t t = rng.s[1] << 17
    rng.s[2] ^= rng.s[0]
    rng.s[3] ^= rng.s[1]
    rng.s[1] ^= rng.s[2]
    rng.s[0] ^= rng.s[3]
    rng.s[2] ^= t
    rng.s[3] = rotate_left(rng.s[3], 45)
    return result


cdef inline double next_double(Rng* rng) noexcept nogil:
    """Uniform on the multiples of 2^-53 in [0, 1)."""
    return (next_uint64(rng) >> 11) / 9007199254740992.0


cdef inline Py_ssize_t next_below(Rng* rng, Py_ssize_t n) noexcept nogil:
    """Uniform on 0, ..., n - 1, up to a relative error of n 2^-53; n >= 1."""
    # Never n: (1 - 2^-53) n rounds to a double below n.
    return <Py_ssize_t>(next_double(rng) * n)


cdef inline bint happens(double log_chance, Rng* rng) noexcept nogil:
    """A coin of probability exp(log_chance), which is at least 1 + log_chance."""
    cdef double u = 1.0 - next_double(rng)
    return u <= 1.0 + log_chance or u <= exp(log_chance)


# The ziggurat, described in rng.pyx.
cdef double layer_edge[257]
cdef double layer_height[257]           # f at the edges
cdef double finish_normal(Rng* rng, Py_ssize_t i, double x) noexcept nogil


cdef inline double next_normal(Rng* rng) noexcept nogil:
    """One N(0, 1)."""
    # Doornik (2005): the layer and the abscissa must not share bits. Bits 0-7 are the layer,
    # 11-63 the abscissa, an odd integer in (-2^53, 2^53): symmetric, and never zero.
    cdef uint64_t bits = next_uint64(rng)
    cdef Py_ssize_t i = bits & 255
    cdef double x = <double>((<int64_t>bits >> 10) | 1) / 9007199254740992.0 * layer_edge[i]
    cdef Rng copy
    if fabs(x) < layer_edge[i + 1]:
        return x
    # A copy, so that the caller's state can stay in registers: its address goes nowhere.
    copy = rng[0]
    x = finish_normal(&copy, i, x)
    rng[0] = copy
    return x


cdef void fill_normal(Rng* rng, double mean, double sigma, double* out, Py_ssize_t count) noexcept nogil


# The states of `count` generators, apart from each other and from `rng`, which stays as it is.
cdef void seed_apart(const Rng* rng, Rng* out, Py_ssize_t count) noexcept nogil


cdef uint64_t bitgen_uint64(void* rng) noexcept nogil
cdef uint32_t bitgen_uint32(void* rng) noexcept nogil
cdef double bitgen_double(void* rng) noexcept nogil


cdef inline void attach(bitgen_t* bitgen, Rng* rng) noexcept nogil:
    """Let the samplers of numpy.random.c_distributions draw from `rng`."""
    bitgen.state = rng
    bitgen.next_uint64 = bitgen_uint64
    bitgen.next_uint32 = bitgen_uint32
    bitgen.next_double = bitgen_double
    bitgen.next_raw = bitgen_uint64
