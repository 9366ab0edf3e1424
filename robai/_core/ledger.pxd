"""The books of a live game: answered pulls, pending pulls, and what each rule is shown of them.

A pull that was handed out and has no reward yet is pending. What each rule is shown:

    stopping, commitment       the N answered pulls of each arm; t is the number of answers
    exploration                N + m pulls with the mean of the N, m of them pending: as if each
                               missing reward were the mean. t is the number of rounds, answered
                               and pending. So bounds shrink, and tracking moves on, while rewards
                               are under way, and a batch spreads over the arms. The variance is
                               that of the N.
    exploration that concludes the N answered pulls, with t the number of rounds: its turns go on
                               while rewards are under way, but no arm is dropped on their account
    exploration that discerns  the same, and m beside: it makes of it what it will
"""

from libc.stdint cimport int64_t

from robai._core.protocols cimport Arms

cdef int64_t MOST_PULLS


cdef class Rewards:
    """Which rewards are valid."""
    cdef double low                         # finite, so that they keep infinite rewards out
    cdef double high
    cdef bint whole                         # integers only; low and high are below 2^53 then

    # Can `count` rewards have this sum?
    cpdef bint possible(self, double count, double total) noexcept nogil
    # Can they have these squares of deviations from their mean, summed, as well?
    cpdef bint possible_squares(self, double count, double total, double squares) noexcept nogil
    # The number that an argument of that name is.
    cdef double number(self, name, value) except? -1.0


cdef class Ledger:
    cdef Arms answered                      # to stopping and commitment
    cdef Arms shown                         # to the exploration
    cdef int64_t[::1] pulls
    cdef double[::1] sums
    cdef double[::1] squares                # of the deviations from the arm's own mean: NaN where unknown
    cdef bint keeps_squares
    cdef bint assumes                       # is a sigma assumed, and known
    cdef double[::1] sigma                  # of each arm, if so
    cdef char[::1] alarms                   # arms whose rewards have varied more than that allows
    cdef int64_t[::1] pending
    cdef Py_ssize_t beginners               # arms that still miss answers to their initial pulls
    cdef Py_ssize_t leader                  # of the exploration, or -1
    cdef bint stale                         # has an arm but the leader changed

    cdef bint _plain                        # whether the exploration is shown answered pulls as they are
    cdef int64_t _initial_pulls
    cdef int64_t[::1] _shown_pulls
    cdef double[::1] _shown_sums
    cdef double[::1] _shown_squares
    cdef int64_t[::1] _scratch_pulls        # of a batch that may yet be refused
    cdef double[::1] _scratch_sums
    cdef double[::1] _scratch_squares
    cdef char[::1] _scratch_alarms
    cdef int64_t _least                     # no arm has fewer pulls, answered or pending, ...
    cdef Py_ssize_t _searched               # ... and those before this one have more

    # As it was made.
    cdef void restart(self) noexcept nogil
    # Begins with these counts, whose values the caller has checked.
    cdef int restore(self, pulls, sums, squares, pending, alarms) except -1
    # `count` more pulls of an arm, whose rewards are pending.
    cdef void hand_out(self, Py_ssize_t arm, int64_t count) noexcept nogil
    # `count` of these, at most all, are no longer: as if they had never been handed out.
    cdef void drop(self, Py_ssize_t arm, int64_t count) noexcept nogil
    # `count` more answers of an arm, whose rewards then have this sum, and these squares of deviations.
    cdef void count(self, Py_ssize_t arm, int64_t count, double new_sum, double new_squares) noexcept nogil
    # The squares of deviations of an arm after `count` more answers with this sum and these squares.
    cdef double squares_with(self, Py_ssize_t arm, double count, double total, double squares) noexcept nogil
    # Do squares of deviations from the mean of n rewards contradict the assumed sigma?
    cdef bint contradict(self, Py_ssize_t arm, int64_t n, double squares) noexcept nogil
    # Adds up the squares of all arms, for rules that look at these.
    cdef void add_squares_up(self) noexcept nogil
    # The first arm with the fewest pulls, answered or pending.
    cdef Py_ssize_t fewest(self) noexcept nogil
    # Has every arm been handed out its initial pulls?
    cdef bint dealt(self) noexcept nogil

    # Adds up a part of a batch of answers that may yet be refused; the first bad one, or -1.
    cdef Py_ssize_t sum_up(self, const int64_t[::1] arms, const double[::1] rewards, Py_ssize_t start,
                           Py_ssize_t end, Rewards valid) noexcept nogil
    cdef void begin_sums(self) noexcept nogil
    cdef bint sums_are_finite(self, bint squares_too) noexcept nogil
    cdef void count_sums(self) noexcept nogil

    # Pulls, sums, squares (None if they are not kept), pending pulls, and the arms with an alarm.
    cdef tuple lists(self)
    # The pending pulls and what is shown as they were; see `Player._go_back`.
    cdef tuple snapshot(self)
    cdef int go_back(self, tuple snapshot) except -1

    cdef void _show(self, Py_ssize_t arm) noexcept nogil
