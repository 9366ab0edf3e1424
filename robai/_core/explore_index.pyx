"""Optimism (see explore_index.pxd), for levels that stay and for levels that grow."""

cimport cython
from libc.math cimport INFINITY, sqrt

import numpy as np

from robai._core.levels cimport AdaLevel
from robai._core.protocols cimport argmax
from robai._core.rng cimport next_below


cdef void both_sides(Bounds bounds, const Arms* arms, Py_ssize_t arm, double* lower,
                     double* upper) noexcept nogil:
    """The index, and the bound of the same level on the other side if there is one."""
    cdef double t = <double>(arms.t + 1), floor = bounds.lower(arms, arm, t)
    upper[0] = bounds.upper(arms, arm, t)
    if floor > -INFINITY:
        lower[0] = floor


cdef class Optimism(Exploration):
    def __cinit__(self, Py_ssize_t n_arms, Bounds bounds not None, *args):
        self.bounds = bounds
        self.initial_pulls = bounds.initial_pulls
        self.leaps = bounds.convex and not bounds.opaque
        self.fallible, self.absolute = bounds.fallible, bounds.opaque

    def complaint(self):
        return self.bounds.complaint()

    cdef void decide(self, const Arms* arms, Rng* rng) noexcept nogil:
        pass

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        self.restart()
        self.decide(arms, rng)
        return self.leader

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        both_sides(self.bounds, arms, arm, lower, upper)


@cython.final
cdef class SteadyOptimism(Optimism):
    """For levels that do not depend on the round: an index changes only by a pull of its arm.

    The indices are the leaves of a tournament: node i holds the larger of its children
    2i and 2i + 1, and how many leaves below it have that index. So the best index, one of the
    arms that have it, and the best among the others, take log2(K) steps.
    """
    cdef double[::1] _nodes
    cdef Py_ssize_t[::1] _tied
    cdef Py_ssize_t _leaves
    cdef bint _started

    def __init__(self, Py_ssize_t n_arms, Bounds bounds):
        self._leaves = 1
        while self._leaves < n_arms:
            self._leaves *= 2
        self._nodes = np.full(2 * self._leaves, -INFINITY)
        self._tied = np.zeros(2 * self._leaves, dtype=np.intp)
        np.asarray(self._tied)[self._leaves:self._leaves + n_arms] = 1

    cdef void restart(self) noexcept nogil:
        self._started = False

    cdef void decide(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t i
        if self._started:
            self._nodes[self._leaves + self.leader] = self._index(arms, self.leader)
            self._climb(self._leaves + self.leader, 1)
        else:
            for i in range(arms.n_arms):
                self._nodes[self._leaves + i] = self._index(arms, i)
            for i in range(2 * self._leaves - 2, 0, -2):
                self._climb(i, i >> 1)
            self._started = True
        self.leader = self._winner(rng)
        self.bar = -INFINITY
        i = self._leaves + self.leader
        while i > 1:
            self.bar = max(self.bar, self._nodes[i ^ 1])
            i >>= 1
        self.until = arms.horizon

    cdef inline double _index(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        cdef double index = self.bounds.upper(arms, arm, <double>(arms.t + 1))
        return index if index == index else -INFINITY           # of sums too large for a double

    cdef inline void _climb(self, Py_ssize_t i, Py_ssize_t top) noexcept nogil:
        """Set the nodes above i, up to `top`."""
        cdef double index = self._nodes[i], other
        cdef Py_ssize_t tied = self._tied[i]
        while i > top:
            other = self._nodes[i ^ 1]
            # No branches: which one is larger cannot be predicted.
            tied = (index >= other) * tied + (other >= index) * self._tied[i ^ 1]
            index = max(index, other)
            i >>= 1
            self._nodes[i], self._tied[i] = index, tied

    cdef Py_ssize_t _winner(self, Rng* rng) noexcept nogil:
        """Uniform among the arms with the largest index; draws only if there is a tie."""
        cdef Py_ssize_t i = 1, skip = 0
        if self._tied[1] > 1:
            skip = next_below(rng, self._tied[1])
        while i < self._leaves:
            i *= 2
            if self._nodes[i] < self._nodes[i + 1]:
                i += 1
            elif self._nodes[i] == self._nodes[i + 1] and skip >= self._tied[i]:
                skip -= self._tied[i]
                i += 1
        return i - self._leaves


@cython.final
cdef class GrowingOptimism(Optimism):
    """For levels that grow with the round, log t.

    The leader is found exactly at its round; the bar is taken `span` rounds later, when every
    index is at its largest. The span doubles when a streak outlives it, and halves when a streak
    ended only because the bar was taken too late.
    """
    cdef double[::1] _indices
    cdef int64_t _span

    def __init__(self, Py_ssize_t n_arms, Bounds bounds):
        self._indices = np.empty(n_arms)

    cdef void restart(self) noexcept nogil:
        self._span = 1
        self.leader = 0
        self.until = 0

    cdef void decide(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm, before = self.leader
        cdef double now = <double>(arms.t + 1)
        self._indices[self.leader] = self._index(arms, self.leader, now)
        self.bar = self._indices[self.leader]
        for arm in range(arms.n_arms):
            if arm != self.leader:
                self._indices[arm] = self._index_above(arms, arm, now, self.bar)
                self.bar = max(self.bar, self._indices[arm])
        self.leader = argmax(&self._indices[0], arms.n_arms, rng)

        if arms.t >= self.until:
            self._span = min(2 * self._span, arms.horizon)
        elif self.leader == before:
            self._span = max(self._span // 2, <int64_t>1)
        self.until = min(arms.t + self._span, arms.horizon)
        self.bar = -INFINITY
        for arm in range(arms.n_arms):
            if arm != self.leader:
                self.bar = max(self.bar, self._index_above(arms, arm, <double>self.until, self.bar))

    cdef double _index(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        return self.bounds.upper(arms, arm, t)

    cdef double _index_above(self, const Arms* arms, Py_ssize_t arm, double t, double bar) noexcept nogil:
        """The index of an arm at round t, or -inf without computing it if it is surely below `bar`."""
        cdef double n = <double>arms.pulls[arm]
        if self.bounds.below(arm, n, arms.sums[arm], self.bounds.level.at(n, t), bar):
            return -INFINITY
        return self._index(arms, arm, t)


@cython.final
cdef class AdaOptimism(Optimism):
    """For the level of AdaUCB, which pulls of other arms lower, or leave as it is where they have more.

    So the bar stands, or would fall, while the leader is pulled. And an index that was computed before is an
    upper bound until its own arm is pulled: only those that are large enough are computed anew.
    """
    cdef AdaLevel _level
    cdef double[::1] _indices
    cdef int64_t[::1] _computed             # after how many rounds

    def __init__(self, Py_ssize_t n_arms, Bounds bounds):
        self._level = bounds.level
        self._indices = np.empty(n_arms)
        self._computed = np.empty(n_arms, dtype=np.int64)

    cdef void restart(self) noexcept nogil:
        self.leader = -1

    cdef void decide(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm
        cdef double best = -INFINITY
        if self.leader < 0:
            self._look(arms)
            for arm in range(arms.n_arms):
                self._indices[arm], self._computed[arm] = INFINITY, -1
        else:
            self._level.roots[self.leader] = sqrt(<double>arms.pulls[self.leader])
            self._indices[self.leader] = INFINITY
            best = self._index(arms, self.leader)
        for arm in range(arms.n_arms):
            if self._indices[arm] >= best:
                best = max(best, self._index(arms, arm))
        self.leader = argmax(&self._indices[0], arms.n_arms, rng)
        self.bar = -INFINITY
        for arm in range(arms.n_arms):
            if arm != self.leader and self._indices[arm] > self.bar:
                self.bar = max(self.bar, self._index(arms, arm))
        self._level.arm = self.leader
        self.until = arms.horizon

    cdef double _index(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        if self._computed[arm] != arms.t:
            self._level.arm = arm
            self._indices[arm] = self.bounds.upper(arms, arm, <double>(arms.t + 1))
            self._computed[arm] = arms.t
            if self._indices[arm] != self._indices[arm]:
                self._indices[arm] = -INFINITY
        return self._indices[arm]

    cdef void _look(self, const Arms* arms) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(arms.n_arms):
            self._level.roots[arm] = sqrt(<double>arms.pulls[arm])

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        self._look(arms)
        self._level.arm = arm
        both_sides(self.bounds, arms, arm, lower, upper)
        self._level.arm = self.leader


@cython.final
cdef class FullOptimism(Exploration):
    """For bounds that estimate a variance: any reward may change every index, so all are computed anew.

    Also for indices that grow and of which no more is known.
    """
    cdef readonly Bounds bounds
    cdef double[::1] _indices

    def __init__(self, Py_ssize_t n_arms, Bounds bounds not None):
        self.bounds = bounds
        self.initial_pulls, self.moments = bounds.initial_pulls, bounds.moments
        self.fallible, self.absolute = bounds.fallible, bounds.opaque
        self._indices = np.empty(n_arms)

    def complaint(self):
        return self.bounds.complaint()

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm
        cdef double index
        for arm in range(arms.n_arms):
            index = self.bounds.upper(arms, arm, <double>(arms.t + 1))
            self._indices[arm] = index if index == index else -INFINITY
        return argmax(&self._indices[0], arms.n_arms, rng)

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        both_sides(self.bounds, arms, arm, lower, upper)


def optimism(Py_ssize_t n_arms, Bounds bounds not None):
    """Optimism for these bounds."""
    if isinstance(bounds.level, AdaLevel):
        return AdaOptimism(n_arms, bounds)
    if bounds.moments > 1 or (bounds.level.grows and bounds.opaque):
        return FullOptimism(n_arms, bounds)
    return (GrowingOptimism if bounds.level.grows else SteadyOptimism)(n_arms, bounds)
