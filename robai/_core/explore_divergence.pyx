"""IMED: the arm with the least index N d(m, M) + log N, where M is the largest mean.

The leader's streak is as in explore_index.pxd. While the arm with the largest mean is pulled its own index is
log n, n being its pulls. The index of another arm grows with M: what it is at some q, from the arm's own mean
on, it is at least, as long as M >= q. So the leader stays while its mean is above the q of all others, the
largest of which is the bar, and log n is below their indices at q, the least of which says until when. One
divergence an arm, and only of arms whose q is no longer good: no round computes all indices.
"""

cimport cython
from libc.math cimport INFINITY, NAN, exp, fabs, log
from libc.stdint cimport int64_t

import numpy as np

from robai._core.bounds cimport Bounds
from robai._core.explore_index cimport Optimism
from robai._core.families cimport Family
from robai._core.protocols cimport Arms, argmax, mean_of
from robai._core.rng cimport Rng

cdef double ULPS = 4e-15                    # of an index; rounding is less

# From this distance on an index counts as no further above that of the leader: some are infinite.
cdef double FAR = 40.0

# At such a distance, far above rounding, the bound of a family is a good q.
cdef double CLEAR = 1e-9


@cython.final
cdef class MinimumDivergence(Optimism):
    """Honda and Takemura (2015). `bounds` are those that a streak compares, the means: at level 0."""
    cdef readonly Family family
    cdef double[::1] _means
    cdef double[::1] _logs                  # log N
    cdef double[::1] _points                # q of every arm, NaN where there is none ...
    cdef double[::1] _least                 # ... and its index there
    cdef Py_ssize_t[::1] _rivals            # the arms about which these do not tell enough ...
    cdef double[::1] _indices               # ... and their indices, with a minus
    cdef bint _started

    def __init__(self, Py_ssize_t n_arms, Bounds bounds, Family family not None):
        self.family = family
        self._means, self._logs, self._points, self._least, self._indices = np.empty((5, n_arms))
        self._rivals = np.empty(n_arms, dtype=np.intp)

    cdef void restart(self) noexcept nogil:
        self._started = False

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        pass                                # an index is no bound

    cdef void decide(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm, i, place, rivals = 0
        cdef double largest = -INFINITY, best = INFINITY, bar = -INFINITY, least = INFINITY, left
        if self._started:
            self._look_at(arms, self.leader)
        else:
            for arm in range(arms.n_arms):
                self._look_at(arms, arm)
            self._started = True
        for arm in range(arms.n_arms):
            largest = max(largest, self._means[arm])
        for arm in range(arms.n_arms):
            if self._means[arm] == largest:
                best = min(best, self._logs[arm])
        for arm in range(arms.n_arms):
            if self._points[arm] <= largest and self._least[arm] > best:
                bar, least = max(bar, self._points[arm]), min(least, self._least[arm])
            else:
                self._rivals[rivals] = arm
                self._indices[rivals] = -self._index(arms, arm, largest)
                best = min(best, -self._indices[rivals])
                rivals += 1
        place = argmax(&self._indices[0], rivals, rng)
        self.leader = self._rivals[place]

        self.bar, self.until = INFINITY, arms.t + 1
        if self._means[self.leader] == largest:         # else one round: its index changes by any reward
            for i in range(rivals):
                if i != place:
                    arm = self._rivals[i]
                    self._choose_point(arms, arm, -self._indices[i], best)
                    bar, least = max(bar, self._points[arm]), min(least, self._least[arm])
            self.bar, left = bar, exp(least) - <double>arms.pulls[self.leader]
            if left >= <double>(arms.horizon - arms.t):
                self.until = arms.horizon
            elif left > 1.0:
                self.until = arms.t + <int64_t>left

    cdef inline void _look_at(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        self._means[arm], self._logs[arm] = mean_of(arms, arm), log(<double>arms.pulls[arm])
        self._points[arm] = NAN

    cdef inline double _index(self, const Arms* arms, Py_ssize_t arm, double mean) noexcept nogil:
        cdef double index = (
            self._logs[arm] + <double>arms.pulls[arm] * self.family.divergence(arm, self._means[arm], mean))
        return index if index == index else INFINITY            # of sums too large for a double

    cdef void _choose_point(self, const Arms* arms, Py_ssize_t arm, double index, double now) noexcept nogil:
        """The q at which an index has half its distance from `now`, the index of the leader."""
        cdef double half = now + 0.5 * min(index - now, FAR), largest = self._means[self.leader]
        cdef double q, low, middle
        cdef int _step
        if largest == self.family.high and index == INFINITY:
            # It is infinite until the leader fails. Any q from which on that is so is good; this one does not
            # notice a failure after 2e14 successes.
            self._points[arm], self._least[arm] = largest - 5e-15 * fabs(largest), INFINITY
            return
        q = self.family.upper(
            arm, self._means[arm], max(half - self._logs[arm], 0.0) / <double>arms.pulls[arm])
        if index - now > CLEAR and not (q < largest and self._index(arms, arm, q) > now):
            # Means so small, or so far apart, that bounds overflow or are no other doubles than the mean.
            q, low = largest, self._means[arm]
            for _step in range(60):
                middle = 0.5 * q + 0.5 * low
                if self._index(arms, arm, middle) > half:
                    q = middle
                else:
                    low = middle
        self._points[arm], self._least[arm] = q, (1.0 - ULPS) * self._index(arms, arm, q)
