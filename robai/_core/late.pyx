"""Runs in which rewards come late, in batches or not at all, as the agent of a live experiment sees them.

Before the arm of round t (from 0) is chosen, rewards that are due count, in the order of their rounds;
windows close; the stopping rule is asked; the arm is chosen, as for an agent by `dealer.pyx`.

    delay      the reward of round t is due before the arm of round t + 1 + delay, ...
    batch      ... rounded up to a multiple of it
    loss       the chance that it is never due
    window     a pull whose reward is not due within so many rounds is given up when they are over: before
               the arm of round t + window is chosen, and a reward that is due then is too late
    missing    rewards that are in time count when the window closes, as does this number in place of others

Where the reward of a pull goes is known when it has been drawn: it counts at some round, or the pull is given
up at some round, or neither before the horizon. All of that is one heap.

The generator of a run draws the reward, then whether it is lost if that is possible, and then the delay, of
lost rewards too, if that is random.
"""

from libc.math cimport INFINITY, log, log1p
from libc.stdint cimport int32_t, int64_t

import numpy as np

from robai._core.dealer cimport AT_HORIZON, Dealer
from robai._core.engine cimport LOOK, Batch, late
from robai._core.ledger cimport Ledger
from robai._core.protocols import Started
from robai._core.rng cimport next_double

cdef struct Due:
    int64_t when                    # before the arm of this round is chosen
    int64_t round                   # of the pull
    double reward
    int32_t arm
    bint counts                     # or is the pull given up?

DUE_BYTES = sizeof(Due)


cdef inline bint before(const Due* one, const Due* other) noexcept nogil:
    return one.when < other.when or (one.when == other.when and one.round < other.round)


cdef class Late(Batch):
    """Some runs of one simulation with late rewards, in place of `Batch`.

    Parameters
    ----------
    *batch
        The arguments of `Batch`.
    delay, mean
        Rounds, and the mean of a geometric number of rounds that come on top, or 0.
    every, loss
        What is called batch and loss above.
    window, missing
        Likewise; 2^62, and None, for none.
    most
        How many rewards can be under way at a time.
    """
    cdef readonly object answers            # at the commitment of each run, or -1

    cdef Dealer _dealer
    cdef Ledger _ledger
    cdef int64_t _delay
    cdef double _log_stays                  # log of the chance that it takes another round
    cdef int64_t _batch
    cdef double _loss
    cdef int64_t _window
    cdef bint _holds                        # are answers held until the window closes?
    cdef double[::1] _missing               # counted from the origin of each run, or of all
    cdef int64_t[::1] _answers

    cdef char[::1] _memory
    cdef Due* _heap
    cdef int64_t _most
    cdef int64_t _waiting

    def __init__(self, *batch, int64_t delay, double mean, int64_t every, double loss, int64_t window,
                 missing, int64_t most):
        Batch.__init__(self, *batch)
        self._dealer = Dealer(
            Started(*batch[:4]), self._arms.n_arms, self._arms.horizon, False, None)
        self._ledger = self._dealer.ledger
        self._delay, self._batch, self._loss, self._window = delay, every, loss, window
        self._log_stays = -log1p(1.0 / mean) if mean > 0.0 else -INFINITY
        self._holds = missing is not None
        if self._holds:
            origins = np.array(batch[5], dtype=np.float64, ndmin=2)[:, 0] - np.asarray(self._all_means)[:, 0]
            self._missing = missing - origins
        self.answers = np.full(self._states.shape[0], -1, dtype=np.int64)
        self._answers = self.answers
        self._memory = np.empty(most * sizeof(Due), dtype=np.int8)
        self._heap, self._most = <Due*>&self._memory[0], most

    cdef void _begin(self) noexcept nogil:
        Batch._begin(self)
        self._dealer.restart()
        self._waiting = 0

    cdef bint _play(self) noexcept nogil:
        cdef Py_ssize_t arm
        while True:
            if not self._count_due():
                return False
            while self._explore.prepares and not (
                    self._ledger.beginners or self._explore.prepare(&self._ledger.shown)):
                if late(self, LOOK):
                    return False
            arm = self._dealer.next(&self._rng)
            if arm < 0:
                break
            self._hand_out(arm)
            if late(self, LOOK if self._explore.slow else self._arms.n_arms):
                return False
        if arm != AT_HORIZON or (
                self._dealer.may_conclude() and self._explore.select(&self._ledger.shown, &self._rng) < 0):
            arm = self._commit.choose(&self._ledger.answered, &self._rng)
            self._commit_time[self._run] = self._arms.t
            self._answers[self._run] = self._ledger.answered.t
            self._committed_arm[self._run] = arm
            self._count(arm, self._arms.horizon - self._arms.t)
        return True

    cdef void _hand_out(self, Py_ssize_t arm) noexcept nogil:
        """Pull an arm, and see where its reward goes."""
        cdef int64_t now = self._arms.t, due
        cdef double reward
        cdef bint comes, in_time
        self._on_tape(arm)
        reward = self._tape[arm, self._next[arm]]
        self._next[arm] += 1
        self._count(arm, 1)
        self._ledger.hand_out(arm, 1)
        comes = self._loss == 0.0 or next_double(&self._rng) >= self._loss
        due = now + 1 + self._delay
        if self._log_stays > -INFINITY:
            due += <int64_t>min(log(1.0 - next_double(&self._rng)) / self._log_stays, 1e18)
        due += (self._batch - due % self._batch) % self._batch
        in_time = comes and due - now < self._window
        if self._holds:
            if not in_time:
                reward = self._missing[self._run if self._missing.shape[0] > 1 else 0]
            self._push(Due(now + self._window, now, reward, <int32_t>arm, True))
        else:
            self._push(Due(due if in_time else now + self._window, now, reward, <int32_t>arm, in_time))

    cdef bint _count_due(self) noexcept nogil:
        """All that is due by now; whether that was all."""
        cdef Due due
        while self._waiting > 0 and self._heap[0].when <= self._arms.t:
            due = self._pop()
            if due.counts:
                self._ledger.count(due.arm, 1, self._ledger.sums[due.arm] + due.reward,
                                   self._ledger.squares_with(due.arm, 1.0, due.reward, 0.0))
            else:
                self._dealer.drop(due.arm, 1)
            if late(self, 1):
                return False
        return True

    cdef void _push(self, Due due) noexcept nogil:
        # With random delays the heap is full with a chance that is below any rounding: see `arrivals.py`.
        cdef int64_t i = self._waiting, parent
        if due.when > self._arms.horizon or i == self._most:
            return
        self._waiting += 1
        while i > 0:
            parent = (i - 1) >> 1
            if not before(&due, &self._heap[parent]):
                break
            self._heap[i] = self._heap[parent]
            i = parent
        self._heap[i] = due

    cdef Due _pop(self) noexcept nogil:
        cdef Due first = self._heap[0], last
        cdef int64_t i = 0, child = 1
        self._waiting -= 1
        last = self._heap[self._waiting]
        while child < self._waiting:
            if child + 1 < self._waiting and before(&self._heap[child + 1], &self._heap[child]):
                child += 1
            if not before(&self._heap[child], &last):
                break
            self._heap[i] = self._heap[child]
            i, child = child, 2 * child + 1
        self._heap[i] = last
        return first
