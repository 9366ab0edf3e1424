"""Thompson sampling without drawing from every posterior in every round; described in thinning.pyx."""

cimport cython
from libc.stdint cimport int64_t

from robai._core.beliefs cimport Belief, Kind, Tangent
from robai._core.coins cimport Coins
from robai._core.families cimport Family


cdef struct Rival:
    Belief belief
    Tangent line
    double log_chance               # at the corner
    double chance


cdef class Thinned(Coins):
    # How far the edge is below the mean, in standard deviations of it, and the Q from which on plain rounds
    # are played: no more than the time depends on them.
    cdef public double width
    cdef public double busy
    cdef readonly int64_t plain     # rounds played so, in all runs
    cdef Family _family
    cdef Kind _kind
    # The weight is _weight[0] + _weight[1] n and the total _total[0] + _total[1] n + _total[2] S.
    cdef double[2] _weight
    cdef double[3] _total
    cdef bint _in_cone
    cdef Py_ssize_t _leader
    cdef double _edge               # r
    cdef double _corner             # N0
    cdef bint _endless              # may the walk go on without a look at the edge?
    cdef double[:, ::1] _rivals
    cdef double _chance             # Q
    cdef int64_t _left              # rounds of the leader before the next candidate
    cdef int64_t _plain             # plain rounds that are still to be played
    cdef int64_t _patience

    cdef bint _find_a_cone(self) noexcept nogil

    @cython.final
    cdef void _choose_the_leader(self) noexcept nogil

    cdef void _aim(self) noexcept nogil

    @cython.final
    cdef bint _bound(self) noexcept nogil

    @cython.final
    cdef void _look_at(self, Py_ssize_t arm) noexcept nogil

    @cython.final
    cdef bint _toss(self) noexcept nogil

    @cython.final
    cdef double _weight_after(self, double n) noexcept nogil

    @cython.final
    cdef double _height(self, double n, double total, double edge) noexcept nogil

    @cython.final
    cdef bint _is_inside(self) noexcept nogil

    @cython.final
    cdef Rival* _rival(self, Py_ssize_t arm) noexcept nogil

    @cython.final
    cdef Belief _belief(self, Py_ssize_t arm) noexcept nogil

    cdef void _walk(self, int64_t limit) noexcept nogil

    @cython.final
    cdef void _at_a_candidate(self) noexcept nogil

    @cython.final
    cdef Py_ssize_t _winner(self) noexcept nogil


cdef class GaussianThinned(Thinned):
    cdef double[::1] _sigma
    cdef double[::1] _deviations

    cdef void _move(self, Py_ssize_t arm, int64_t pulls, double deviation) noexcept nogil


cdef class PositiveThinned(Thinned):
    cdef public int64_t many        # pulls from which on the walk may go on for ever ...
    cdef public double surely       # ... but for a chance of exp(-surely)
    cdef Family _law                # of the rewards
    cdef double[::1] _rests         # what rounding has left of each sum

    cdef bint _aim_below(self) noexcept nogil
    cdef double _fall(self, Py_ssize_t arm, double v) noexcept nogil
