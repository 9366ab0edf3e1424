"""What the two engines share: the runs of a batch, their statistics and what is recorded of them."""

from libc.stdint cimport int64_t, uint64_t

from robai._core.draws cimport COINS
from robai._core.families cimport Sampler
from robai._core.explore_index cimport Optimism
from robai._core.protocols cimport Arms, Commitment, Exploration, Stopping
from robai._core.rng cimport Rng

cdef enum:
    TAPE = COINS                    # a tape of coins is one word
    # Work between two looks at the clock, and at most of a streak: rounds, leaps, or arms of a
    # decision. None of these takes more than a few microseconds, few more than some nanoseconds.
    LOOK = 16384


cdef class Batch:
    cdef readonly object regret             # runs x times
    cdef readonly object commit_time
    cdef readonly object committed_arm
    cdef readonly object pulls              # runs x arms

    cdef Exploration _explore
    cdef Optimism _optimism                 # the same object, or None if it does not work by an index
    cdef Stopping _stop
    cdef Commitment _commit
    cdef Sampler _rewards
    cdef int64_t _initial_rounds
    cdef double[:, ::1] _all_means          # runs x arms, or a single row if all runs have the same
    cdef double[:, ::1] _all_gaps
    cdef bint _common                       # has every arm a generator of its own
    cdef int64_t[::1] _times
    cdef uint64_t[:, ::1] _states
    cdef double[:, ::1] _regret
    cdef int64_t[::1] _commit_time
    cdef int64_t[::1] _committed_arm
    cdef int64_t[:, ::1] _pulls

    cdef int64_t _deadline                  # of this piece, by the clock, in nanoseconds
    cdef int64_t _work                      # since the last look at it

    # The run being played.
    cdef Py_ssize_t _run
    cdef double* _means                     # its rows of these
    cdef double* _gaps
    cdef Py_ssize_t _recorded               # how many of the times
    cdef bint _begun
    cdef bint _staying                      # is the leader's streak going on
    cdef Arms _arms
    cdef Rng _rng
    cdef uint64_t[:, ::1] _streams          # the generators of the arms' rewards, if they are common
    cdef double[::1] _sums
    cdef double[::1] _squares
    cdef double[:, ::1] _tape
    cdef Py_ssize_t[::1] _next              # position on the tape of each arm
    cdef Py_ssize_t[::1] _filled

    # Gaps, and means from the origin of each run: its best one if that is farther from 0.
    cdef void _set_gaps(self, double largest_origin) noexcept nogil
    cdef void _begin(self) noexcept nogil
    cdef bint _play(self) noexcept nogil
    cdef bint _ends_at_the_horizon(self) noexcept nogil
    cdef bint _by_round(self) noexcept nogil
    cdef bint _by_index(self, Optimism explore) noexcept nogil
    cdef void _foreseen(self, Optimism explore) noexcept nogil
    # Pulls the leader, at least once and at most `limit` times, while its index stays surely
    # above the bar; sets `_staying`.
    cdef void _streak(self, Optimism explore, int64_t limit) noexcept nogil
    # Plays at most `limit` rounds of a streak one by one; how many.
    cdef int64_t _steps(self, Optimism explore, int64_t limit) noexcept nogil
    cdef void _pull(self, Py_ssize_t arm) noexcept nogil
    cdef Py_ssize_t _on_tape(self, Py_ssize_t arm) noexcept nogil
    # The tape of an arm, of whatever it is made.
    cdef double* _numbers(self, Py_ssize_t arm) noexcept nogil
    cdef void _fill(self, Py_ssize_t arm) noexcept nogil
    # Makes room for as many rewards as the tape is to have; the generator to draw them from.
    cdef Rng* _rewind(self, Py_ssize_t arm) noexcept nogil
    # Counts `pulls` more pulls of an arm, and records the regret at the times they cover.
    cdef void _count(self, Py_ssize_t arm, int64_t pulls) noexcept nogil
    cdef void _record(self, Py_ssize_t arm, int64_t end) noexcept nogil


# Is the batch's piece over, now that so much more work is done?
cdef bint late(Batch batch, int64_t work) noexcept nogil
