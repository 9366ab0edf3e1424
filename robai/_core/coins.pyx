"""Bernoulli rewards by blocks: the tape of an arm is a word, whose bits are the rewards.

They are the same rewards as on the tape of `Batch`. But where a leader stays whatever the next rewards
are, their sum is the number of ones, and so a round of an index policy takes a nanosecond. All steps
from zeros on lead through states that are at least as good as that of zeros alone, and these are in the
stay region if the last of them is (leap.pyx): so whole blocks are tested by `above`.

Of a block that lies ready the zeros are known, and these are enough. If the bar is below 1 the region has all
(k, k), whose mean is above the bar; and if it is convex, a step by (1, 1) then leads nowhere out of it.

Where a block is too long for that it is halved, and in the end rounds are played one by one.
"""

from libc.stdint cimport int64_t, uint64_t

import numpy as np

from robai._core.draws cimport draw_coins
from robai._core.engine cimport TAPE, Batch
from robai._core.explore_index cimport Optimism
from robai._core.families cimport Bernoulli
from robai._core.levels cimport least_level
from robai._core.rng cimport Rng

cdef enum:
    FEW = 16                        # rounds that are not worth a test ...
    MANY = 1024                     # ... and enough of them for one


cdef class Coins(Batch):
    """For any rewards; Bernoulli rewards are on tapes of bits."""

    def __init__(self, *args):
        Batch.__init__(self, *args)
        self._binary = isinstance(self._rewards, Bernoulli)
        self._words = np.zeros(self._arms.n_arms, dtype=np.uint64)
        self._spread = np.zeros(self._arms.n_arms, dtype=np.int8)

    cdef void _fill(self, Py_ssize_t arm) noexcept nogil:
        cdef Rng* rng
        if not self._binary:
            Batch._fill(self, arm)
            return
        rng = self._rewind(arm)
        self._words[arm] = draw_coins(self._means[arm], <int>self._filled[arm], rng)
        self._spread[arm] = False

    cdef double* _numbers(self, Py_ssize_t arm) noexcept nogil:
        """The tape of an arm as numbers."""
        cdef Py_ssize_t i
        cdef uint64_t word
        if self._binary and not self._spread[arm]:
            word = self._words[arm] >> self._next[arm]
            for i in range(self._next[arm], self._filled[arm]):
                self._tape[arm, i] = <double><int>(word & 1)
                word >>= 1
            self._spread[arm] = True
        return &self._tape[arm, 0]

    cdef double _take(self, Py_ssize_t arm) noexcept nogil:
        """The next reward of an arm, which is to be counted by the caller."""
        cdef Py_ssize_t place
        self._on_tape(arm)
        place = self._next[arm]
        self._next[arm] = place + 1
        return <double><int>((self._words[arm] >> place) & 1) if self._binary else self._tape[arm, place]

    cdef void _pull(self, Py_ssize_t arm) noexcept nogil:
        if self._binary:
            self._sums[arm] += self._take(arm)
            self._count(arm, 1)
        else:
            Batch._pull(self, arm)

    cdef int64_t _steps(self, Optimism explore, int64_t limit) noexcept nogil:
        cdef Py_ssize_t arm = explore.leader
        cdef int64_t left = limit, length, asked, zeros, size
        cdef double n, level, bar = explore.bar
        cdef bint near = not self._staying          # a streak begins near the edge
        cdef bint upward = bar < 1.0 and explore.bounds.convex
        if not self._binary:
            return Batch._steps(self, explore, limit)
        self._staying, size = True, FEW if near else TAPE
        while self._staying and left > 0:
            n, length = <double>self._arms.pulls[arm], min(size, left)
            if length <= TAPE:
                length = min(length, <int64_t>self._on_tape(arm))
            zeros = length
            if upward and length <= TAPE:
                zeros -= successes(self._words[arm], self._next[arm], <Py_ssize_t>length)
            level = least_level(explore.bounds.level, n, <double>(self._arms.t + 1), <double>length)
            if not near and explore.bounds.above(arm, n + <double>zeros, self._sums[arm], level, bar):
                self._add(arm, length)
                size = min(2 * size, <int64_t>MANY)
            elif not near and length > FEW:
                size = length >> 1
                continue
            else:
                asked = length
                length = explore.bounds.streak(arm, &n, &self._sums[arm],
                                               self._numbers(arm) + self._next[arm], asked, level, bar)
                self._staying = length == asked and explore.bounds.above(
                    arm, n, self._sums[arm], level, bar)
                self._next[arm] += length
                self._count(arm, length)
                near = False
            left -= length
        return limit - left

    cdef void _add(self, Py_ssize_t arm, int64_t pulls) noexcept nogil:
        """Pull an arm, whatever comes."""
        cdef Py_ssize_t count
        while pulls > 0:
            count = <Py_ssize_t>min(<int64_t>self._on_tape(arm), pulls)
            self._sums[arm] += <double>successes(self._words[arm], self._next[arm], count)
            self._next[arm] += count
            self._count(arm, count)
            pulls -= count
