"""The choices of dealer.pxd.

Until every arm has its initial pulls answered (handed out, if the exploration is impatient), the arm with
the fewest pulls, answered or pending, is handed out, the first one if there are several. (Where no initial
pull is needed, posterior sampling sees an arm without an answer as it is, with its prior.) With immediate
rewards nothing is pending when an arm is chosen, and the arms are those of the step engine.

The stopping rule is asked when an arm is chosen, never by an answer.
"""

cimport cython
from libc.stdint cimport int64_t

from robai._core.explore_index cimport Optimism
from robai._core.ledger cimport Ledger
from robai._core.rng cimport Rng


@cython.final
cdef class Dealer:
    """Rules, `protocols.Started`, and the ledger that they are shown."""

    def __cinit__(self, rules, Py_ssize_t n_arms, int64_t horizon, bint keeps_squares, sigma):
        self.explore, self.stop, self.commit, initial_pulls = rules
        self._optimism = self.explore if isinstance(self.explore, Optimism) else None
        self.estimates = rules.moments > 1
        self.ledger = Ledger(
            n_arms, horizon, self.explore, initial_pulls, keeps_squares or self.estimates, sigma)
        self.horizon = horizon
        self.restart()

    cdef void restart(self) noexcept nogil:
        self.ledger.restart()
        self.explore.restart()
        self.spent, self.committed = 0, -1

    cdef void drop(self, Py_ssize_t arm, int64_t count) noexcept nogil:
        self.ledger.drop(arm, count)
        self.spent += count

    cdef int64_t rounds(self) noexcept nogil:
        return self.ledger.shown.t + self.spent

    cdef Py_ssize_t next(self, Rng* rng) noexcept nogil:
        cdef Py_ssize_t over
        if self.committed >= 0:
            return self.committed
        over = self.over()
        if over < 0:
            return over
        if self.ledger.beginners and not (self.explore.impatient and self.ledger.dealt()):
            return self.ledger.fewest()
        if self._optimism is None:
            # -1, COMMITS, if it is over
            return self.explore.select(&self.ledger.shown, rng)
        # While only the leader changes, one index is computed instead of all.
        if self.ledger.stale:
            self._optimism.restart()
            self.ledger.stale = False
        self._optimism.decide(&self.ledger.shown, rng)
        self.ledger.leader = self._optimism.leader
        return self._optimism.leader

    cdef Py_ssize_t over(self) noexcept nogil:
        if self.stops():
            return COMMITS
        return AT_HORIZON if self.rounds() >= self.horizon else 0

    cdef bint stops(self) noexcept nogil:
        cdef bint midway = self.explore.midway and self.rounds() < self.horizon
        if self.estimates:
            self.ledger.add_squares_up()
        return not (self.ledger.beginners or midway) and self.stop.fires(&self.ledger.answered)

    cdef bint may_conclude(self) noexcept nogil:
        return (self.explore.concludes and not self.ledger.beginners
                and self.ledger.answered.t + self.spent >= self.horizon)
