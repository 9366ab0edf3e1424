"""Which arm to commit to: one short class a rule."""

cimport cython

import numpy as np

from robai._core.bounds cimport Bounds
from robai._core.protocols cimport Arms, Commitment, Exploration, Stopping, argmax, best_mean, mean_of
from robai._core.rng cimport Rng


cdef class Scored(Commitment):
    """The arm with the largest score."""
    cdef double[::1] _scores

    def __init__(self, Py_ssize_t n_arms):
        self._scores = np.empty(n_arms)

    cdef Py_ssize_t choose(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(arms.n_arms):
            self._scores[arm] = self.score(arms, arm)
        return argmax(&self._scores[0], arms.n_arms, rng)


@cython.final
cdef class LargestLower(Scored):
    """Pessimism: the largest lower confidence bound (EOCP, EOCP-UG, KL-EOCP)."""
    cdef readonly Bounds bounds

    def __init__(self, Py_ssize_t n_arms, Bounds bounds not None):
        Scored.__init__(self, n_arms)
        self.bounds = bounds
        self.moments = bounds.moments

    cdef double score(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return self.bounds.lower(arms, arm, <double>(arms.t + 1))

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        lower[0] = self.score(arms, arm)


@cython.final
cdef class LargestMean(Scored):
    """The largest mean."""

    cdef double score(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return mean_of(arms, arm)


@cython.final
cdef class MostPulled(Scored):
    """The arm pulled most often, for which EOCP-UG has the same guarantees."""

    cdef double score(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return <double>arms.pulls[arm]


@cython.final
cdef class Recommended(Commitment):
    """What an exploration that ends by itself recommends."""
    cdef readonly Exploration exploration

    def __init__(self, Exploration exploration not None):
        self.exploration = exploration

    cdef Py_ssize_t choose(self, const Arms* arms, Rng* rng) noexcept nogil:
        return self.exploration.recommend(arms, rng)


@cython.final
cdef class Certified(Commitment):
    """The arm with the largest mean if a certificate, which is of it, fires; else that of another rule."""
    cdef readonly Stopping certificate
    cdef readonly Commitment other

    def __init__(self, Stopping certificate not None, Commitment other not None):
        self.certificate, self.other = certificate, other
        self.moments = max(certificate.moments, other.moments)

    cdef Py_ssize_t choose(self, const Arms* arms, Rng* rng) noexcept nogil:
        return best_mean(arms) if self.certificate.fires(arms) else self.other.choose(arms, rng)

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        self.other.bounds_of(arms, arm, lower, upper)
