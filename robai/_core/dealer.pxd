"""What the rules of a policy say of the next round, while rewards are under way: to an agent, and to the
engine of late rewards."""

from libc.stdint cimport int64_t

from robai._core.explore_index cimport Optimism
from robai._core.ledger cimport Ledger
from robai._core.protocols cimport Commitment, Exploration, Stopping
from robai._core.rng cimport Rng

cdef enum:
    COMMITS = -1                            # what `next` says instead of an arm
    AT_HORIZON = -2


cdef class Dealer:
    cdef Ledger ledger
    cdef int64_t horizon
    cdef int64_t spent                      # rounds that count against the horizon, and to no rule
    cdef Py_ssize_t committed               # the arm, or -1
    cdef Exploration explore
    cdef Stopping stop
    cdef Commitment commit
    cdef bint estimates                     # do rules look at squares of deviations
    cdef Optimism _optimism                 # the exploration, or None if it does not work by an index

    # For another run.
    cdef void restart(self) noexcept nogil
    # Gives up pending pulls: their rounds are spent.
    cdef void drop(self, Py_ssize_t arm, int64_t count) noexcept nogil
    # Rounds so far: answered, pending and spent.
    cdef int64_t rounds(self) noexcept nogil
    # The arm of the next round, COMMITS or AT_HORIZON.
    cdef Py_ssize_t next(self, Rng* rng) noexcept nogil
    # COMMITS or AT_HORIZON, or 0 if there is an arm to be chosen.
    cdef Py_ssize_t over(self) noexcept nogil
    cdef bint stops(self) noexcept nogil
    # Can an exploration in stages end with the answer to the last round? If its `select` then says so.
    cdef bint may_conclude(self) noexcept nogil
