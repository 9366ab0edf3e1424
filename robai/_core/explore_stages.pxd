"""Explorations that drop arms, and end by themselves when one is left."""

from robai._core.protocols cimport Arms, Exploration
from robai._core.rng cimport Rng


cdef class Elimination(Exploration):
    cdef Py_ssize_t[::1] _active            # increasing
    cdef Py_ssize_t _count                  # of active arms; 0 before the first question

    # All arms are active.
    cdef void begin(self, const Arms* arms) noexcept nogil
    # The first active arm with the largest mean.
    cdef Py_ssize_t best(self, const Arms* arms) noexcept nogil
    # Is an arm still in doubt, beside that one?
    cdef bint keeps(self, const Arms* arms, Py_ssize_t best, Py_ssize_t arm) noexcept nogil
    # Drops arms: those that are not kept, unless it is another rule.
    cdef void eliminate(self, const Arms* arms, Rng* rng) noexcept nogil
    cdef int _keep(self, active) except -1


cdef class Sweeps(Elimination):
    cdef Py_ssize_t _next                   # the place among the active arms
