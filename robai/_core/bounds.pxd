"""Confidence bounds: what optimism, separation and the pessimistic commitment are built on.

An arm with n pulls and mean m has an upper and a lower bound at a level f,

    sub-Gaussian    m +- sigma sqrt(2 f / n)
    divergence      the q above or below m with n d(m, q) = f.

`Level` says what f is (log T, l, log(T/n), log t, ...), `Bounds` what it is used for.
"""

from libc.stdint cimport int64_t

from robai._core.families cimport Family


cdef class Level:
    cdef readonly bint grows                # with the round: log t

    # The level of an arm pulled n times, at the decision of round t. Monotone in n, and
    # nondecreasing in t.
    cdef double at(self, double n, double t) noexcept nogil


cdef class Bounds:
    cdef readonly Level level

    cdef double upper(self, double n, double total, double t) noexcept nogil
    cdef double lower(self, double n, double total, double t) noexcept nogil

    # On which side of `bar` is the upper bound at a given level: +1 surely above, -1 surely
    # below, 0 too close to tell without computing it. Needs no inversion. "Surely" includes
    # rounding: it never contradicts the comparison of `upper` with `bar`.
    cdef int side(self, double n, double total, double level, double bar) noexcept nogil

    # Adds rewards to (n, total) while the upper bound stays surely above `bar`, at least one;
    # the number that were added.
    cdef Py_ssize_t streak(self, double* n, double* total, const double* rewards,
                           Py_ssize_t count, double level, double bar) noexcept nogil


cdef inline double least_level(Level level, double n, double t, Py_ssize_t count) noexcept nogil:
    """A lower bound of the level during the next `count` pulls, from round t on."""
    return min(level.at(n + 1.0, t), level.at(n + <double>count, t))
