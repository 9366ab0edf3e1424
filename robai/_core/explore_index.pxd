"""Optimism: pull the arm with the largest upper confidence bound, its index."""

from libc.stdint cimport int64_t

from robai._core.bounds cimport Bounds
from robai._core.protocols cimport Arms, Exploration
from robai._core.rng cimport Rng


cdef class Optimism(Exploration):
    cdef readonly Bounds bounds

    # The leader's streak. While the leader is pulled the other indices do not change (or, if
    # the level grows with the round, stay below a bound), so as long as the leader's index is
    # above theirs it is the arm that a full comparison would choose.
    cdef Py_ssize_t leader
    cdef double bar                 # no other index is above it ...
    cdef int64_t until              # ... before round `until` has been played

    # Chooses the leader of the next round and its bar. Between two calls no arm but the leader
    # may have been pulled.
    cdef void decide(self, const Arms* arms, Rng* rng) noexcept nogil
