"""Binomial, Poisson, gamma and beta variables (see draws.pxd)."""

from libc.math cimport NAN, exp, fabs, floor, log, log1p, pi, sqrt
from libc.stdint cimport int64_t

from robai._core.kl cimport binomial_divergence, log1pmx, poisson_divergence
from robai._core.rng cimport attach, bitgen_t, next_double, next_normal

cdef extern from "numpy/random/distributions.h" nogil:
    ctypedef struct binomial_t:
        int has_binomial
    int64_t random_binomial(bitgen_t* bitgen, double p, int64_t trials, binomial_t* scratch) noexcept
    int64_t random_poisson(bitgen_t* bitgen, double rate) noexcept
    double random_standard_gamma(bitgen_t* bitgen, double shape) noexcept
    double random_beta(bitgen_t* bitgen, double a, double b) noexcept

cdef double LARGE = 68719476736.0           # 2^36


cdef double draw_binomial(double trials, double p, Rng* rng) noexcept nogil:
    cdef bitgen_t bitgen
    cdef binomial_t scratch
    if not (0.0 <= p <= 1.0 and trials >= 0.0):
        return NAN
    if trials > LARGE:
        return trials - large_binomial(trials, 1.0 - p, rng) if p > 0.5 else large_binomial(trials, p, rng)
    scratch.has_binomial = 0
    attach(&bitgen, rng)
    return <double>random_binomial(&bitgen, p, <int64_t>trials, &scratch)


cdef double draw_poisson(double rate, Rng* rng) noexcept nogil:
    cdef bitgen_t bitgen
    if rate > LARGE:
        return large_poisson(rate, rng)
    attach(&bitgen, rng)
    return <double>random_poisson(&bitgen, rate)


cdef double draw_gamma(double shape, Rng* rng) noexcept nogil:
    cdef bitgen_t bitgen
    if not 0.0 <= shape <= LARGE:
        return large_gamma(shape, rng)
    attach(&bitgen, rng)
    return random_standard_gamma(&bitgen, shape)


cdef double draw_beta(double a, double b, Rng* rng) noexcept nogil:
    cdef bitgen_t bitgen
    if not (a > 0.0 and b > 0.0):
        return NAN
    attach(&bitgen, rng)
    return random_beta(&bitgen, a, b)


cdef double large_binomial(double n, double p, Rng* rng) noexcept nogil:
    """Transformed rejection with squeeze, BTRS of Hormann (1993); p <= 1/2."""
    cdef double mean = n * p, spread = sqrt(mean * (1.0 - p)), b = 1.15 + 2.53 * spread
    cdef double a = -0.0873 + 0.0248 * b + 0.01 * p, quick = 0.92 - 4.2 / b
    cdef double alpha = (2.83 + 5.1 / b) * spread, mode = floor((n + 1.0) * p)
    cdef double u, v, us, k
    if not mean >= 30.0:
        return few_of_many(n, p, rng)
    while True:
        u = next_double(rng) - 0.5
        v = next_double(rng)
        us = 0.5 - fabs(u)
        k = floor((2.0 * a / us + b) * u + mean + 0.5)
        if us >= 0.07 and v <= quick:
            return k
        if not 0.0 < k < n:
            continue
        # log of P(k) / P(mode), up to Stirling corrections below 1/(12 k)
        if (log(v * alpha / (a / (us * us) + b))
                <= binomial_divergence(mode, mean, n) - binomial_divergence(k, mean, n)
                + 0.5 * log(mode / k * ((n - mode) / (n - k))) + 1.0 / (12.0 * mode) - 1.0 / (12.0 * k)):
            return k


cdef double few_of_many(double n, double p, Rng* rng) noexcept nogil:
    """A binomial variable of mean below 30, by inversion: probabilities one after the other."""
    cdef double u = next_double(rng), chance = exp(n * log1p(-p)), k = 0.0
    while u >= chance and k < 200.0:
        u -= chance
        chance *= (n - k) / (k + 1.0) * (p / (1.0 - p))
        k += 1.0
    return k


cdef double large_poisson(double rate, Rng* rng) noexcept nogil:
    """Transformed rejection with squeeze, PTRS of Hormann (1993)."""
    cdef double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b
    cdef double alpha = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2.0)
    cdef double u, v, us, k
    while True:
        u = next_double(rng) - 0.5
        v = next_double(rng)
        us = 0.5 - fabs(u)
        k = floor((2.0 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= quick:
            return k
        if not k > 0.0 or (us < 0.013 and v > us):
            continue
        if log(v * alpha / (a / (us * us) + b)) <= -poisson_divergence(k, rate) - 0.5 * log(2.0 * pi * k):
            return k


cdef double large_gamma(double shape, Rng* rng) noexcept nogil:
    """Marsaglia and Tsang (2000)."""
    cdef double d = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d), x, w, rise
    while True:
        x = next_normal(rng)
        w = c * x
        rise = w * (3.0 + w * (3.0 + w))            # (1 + w)^3 - 1
        if not log(1.0 - next_double(rng)) >= 0.5 * x * x + d * log1pmx(rise):
            return d * (1.0 + rise)
