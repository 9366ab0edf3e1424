"""Reward families: everything the rules and the engines need to know of a distribution.

A family is a one-parameter exponential family described by its mean, with its other
parameters (sigma, n, shape, r) fixed. All methods are total functions: a mean on the
edge of the domain has the limit as its value, a mean outside gives NaN.
"""

from robai._core.rng cimport Rng


cdef class Family:
    cdef readonly double low                # the domain of the mean is [low, high]
    cdef readonly double high

    # Divergence d(p, q) between the members of means p and q.
    cdef double divergence(self, double p, double q) noexcept nogil
    # V(q), the variance as a function of the mean; d d(p, q) / dq = (q - p) / V(q).
    cdef double variance(self, double q) noexcept nogil
    # Largest q >= p with d(p, q) <= level, smallest q <= p with d(p, q) <= level.
    cdef double upper(self, double p, double level) noexcept nogil
    cdef double lower(self, double p, double level) noexcept nogil

    # `count` rewards of an arm, one after the other; their sum in one draw.
    cdef void fill(self, Py_ssize_t arm, double mean, double* rewards, Py_ssize_t count,
                   Rng* rng) noexcept nogil
    cdef double total(self, Py_ssize_t arm, double mean, double count, Rng* rng) noexcept nogil

    # The mean, drawn from its posterior under Jeffreys' prior; needs `prior_pulls` pulls first.
    cdef readonly int prior_pulls
    cdef double posterior(self, double pulls, double total, Rng* rng) noexcept nogil


cdef class Gaussian(Family):
    cdef readonly double sigma
