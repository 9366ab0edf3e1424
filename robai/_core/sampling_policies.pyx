"""Exploration by turns and by posterior draws."""

cimport cython

import numpy as np

from robai._core.families cimport Family
from robai._core.policies cimport Arms, Exploration, argmax
from robai._core.rng cimport Rng


@cython.final
cdef class RoundRobin(Exploration):
    """Arm 1, arm 2, ..., arm K, arm 1, ..."""

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        return <Py_ssize_t>(arms.t % arms.n_arms)


@cython.final
cdef class Thompson(Exploration):
    """The arm with the largest draw from its posterior, under Jeffreys' prior.

    Thompson (1933); Korda, Kaufmann and Munos (2013) for one-parameter exponential families.
    """
    cdef readonly Family family
    cdef double[::1] _draws

    def __init__(self, Py_ssize_t n_arms, Family family not None):
        self.family = family
        self.initial_pulls = family.prior_pulls
        self._draws = np.empty(n_arms)

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(arms.n_arms):
            self._draws[arm] = self.family.posterior(<double>arms.pulls[arm], arms.sums[arm], rng)
        return argmax(&self._draws[0], arms.n_arms, rng)
