"""Optimism (see explore_index.pxd), for levels that stay and for levels that grow."""

cimport cython
from libc.math cimport INFINITY, exp2, sqrt

import numpy as np

from robai._core.bounds cimport Standing
from robai._core.levels cimport AdaLevel
from robai._core.protocols cimport argmax
from robai._core.rng cimport next_below


_STANDING = [("arm", np.intp), ("n", float), ("total", float), ("start", float), ("slope", float)]


cdef void both_sides(Bounds bounds, const Arms* arms, Py_ssize_t arm, double* lower,
                     double* upper) noexcept nogil:
    """The index, and the bound of the same level on the other side if there is one."""
    cdef double t = <double>(arms.t + 1), floor = bounds.lower(arms, arm, t)
    upper[0] = bounds.upper(arms, arm, t)
    if floor > -INFINITY:
        lower[0] = floor


cdef Py_ssize_t largest_index(Bounds bounds, const Arms* arms, double* indices, Rng* rng) noexcept nogil:
    """An arm with the largest index, all of which are computed."""
    cdef Py_ssize_t arm
    for arm in range(arms.n_arms):
        indices[arm] = index_of(bounds, arms, arm)
    return argmax(indices, arms.n_arms, rng)


cdef inline double index_of(Bounds bounds, const Arms* arms, Py_ssize_t arm) noexcept nogil:
    cdef double index = bounds.upper(arms, arm, <double>(arms.t + 1))
    return index if index == index else -INFINITY           # of sums too large for a double


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
            self._nodes[self._leaves + self.leader] = index_of(self.bounds, arms, self.leader)
            self._climb(self._leaves + self.leader, 1)
        else:
            for i in range(arms.n_arms):
                self._nodes[self._leaves + i] = index_of(self.bounds, arms, i)
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
        cdef Py_ssize_t i = 1, skip, first, further
        cdef double index = self._nodes[1]
        if self._tied[1] > 1:
            skip = next_below(rng, self._tied[1])
            while i < self._leaves:                     # no branches, as in `_climb`
                i *= 2
                first = (self._nodes[i] == index) * self._tied[i]
                further = skip >= first
                skip -= further * first
                i += further
        else:
            while i < self._leaves:
                i *= 2
                if self._nodes[i] < self._nodes[i + 1]:
                    i += 1
        return i - self._leaves


@cython.final
cdef class KineticOptimism(Optimism):
    """For levels that grow with the round and that all arms share, log t.

    A tournament as that of SteadyOptimism, but a node holds an arm with the largest index below it, and how
    far the level may grow before that may be another: the indices of two arms that are not pulled cross once
    at most. So a pull is followed by log2(K) comparisons, and rounds by those whose time has come.
    Everything is reckoned in sqrt(2 f) for the level f, as sub-Gaussian indices are straight lines in it.
    """
    cdef double[::1] _indices
    cdef Standing[::1] _standings
    cdef Py_ssize_t[::1] _winners           # of each node: the first of its best arms, -1 if none
    cdef Py_ssize_t[::1] _tied              # how many have that index
    cdef double[::1] _until                 # where the winner may be overtaken
    cdef Py_ssize_t _leaves
    cdef double _growth                     # of the level when the round doubles ...
    cdef double _measured                   # ... from this one
    cdef bint _started

    def __init__(self, Py_ssize_t n_arms, Bounds bounds):
        self._leaves = 1
        while self._leaves < n_arms:
            self._leaves *= 2
        self._standings = np.zeros(n_arms, _STANDING)
        self._indices = np.empty(n_arms)
        self._winners = np.full(2 * self._leaves, -1, dtype=np.intp)
        self._tied = np.zeros(2 * self._leaves, dtype=np.intp)
        self._until = np.full(2 * self._leaves, INFINITY)
        cdef Py_ssize_t arm
        for arm in range(n_arms):
            self._standings[arm].arm = self._winners[self._leaves + arm] = arm
            self._tied[self._leaves + arm] = 1

    cdef void restart(self) noexcept nogil:
        self._started = False
        self._measured = 0.0

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        return largest_index(self.bounds, arms, &self._indices[0], rng)

    cdef void decide(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t i, before = self.leader if self._started else -1
        cdef double level = self.bounds.level.at(1.0, <double>(arms.t + 1)), root = sqrt(2.0 * level)
        if self._started:
            self._stand(arms, before, root)
            i = self._leaves + before
            while i > 1:
                if self._until[i ^ 1] <= root:
                    self._renew(arms, i ^ 1, root)
                i >>= 1
                self._compare(arms, i, root)
        else:
            for i in range(arms.n_arms):
                self._stand(arms, i, root)
            for i in range(self._leaves - 1, 0, -1):
                self._compare(arms, i, root)
            self._started = True
        self.leader = self._winner(rng)
        if self.leader == before:
            self._look_ahead(arms, level, root)
        else:                               # mostly for a round: no need to look further
            self.until, self.bar = arms.t + 1, -INFINITY

    cdef inline void _stand(self, const Arms* arms, Py_ssize_t arm, double root) noexcept nogil:
        self._standings[arm].n, self._standings[arm].total = <double>arms.pulls[arm], arms.sums[arm]
        self.bounds.stand(&self._standings[arm], root)

    cdef void _renew(self, const Arms* arms, Py_ssize_t i, double root) noexcept nogil:
        """Compare again, below a node, what may have changed."""
        if self._until[2 * i] <= root:
            self._renew(arms, 2 * i, root)
        if self._until[2 * i + 1] <= root:
            self._renew(arms, 2 * i + 1, root)
        self._compare(arms, i, root)

    cdef void _compare(self, const Arms* arms, Py_ssize_t i, double root) noexcept nogil:
        """Set a node from its children."""
        cdef Py_ssize_t a = self._winners[2 * i], b = self._winners[2 * i + 1]
        cdef double until = INFINITY, first, second
        cdef int ahead = 1
        if b >= 0:
            ahead = self.bounds.ahead(&self._standings[a], &self._standings[b], root, &until)
            if ahead == 0 and until < INFINITY:
                # Too close to tell; or tangents from long ago.
                self._stand(arms, a, root)
                self._stand(arms, b, root)
                ahead = self.bounds.ahead(&self._standings[a], &self._standings[b], root, &until)
                if ahead == 0 and until < INFINITY:
                    first, second = index_of(self.bounds, arms, a), index_of(self.bounds, arms, b)
                    ahead = (first > second) - (first < second)
        self._winners[i] = a if ahead >= 0 else b
        self._tied[i] = (ahead >= 0) * self._tied[2 * i] + (ahead <= 0) * self._tied[2 * i + 1]
        self._until[i] = min(until, min(self._until[2 * i], self._until[2 * i + 1]))

    cdef Py_ssize_t _winner(self, Rng* rng) noexcept nogil:
        """Uniform among the arms with the largest index; draws only if there is a tie."""
        cdef Py_ssize_t i = 1, skip = 0
        if self._tied[1] > 1:
            skip = next_below(rng, self._tied[1])
        while i < self._leaves:
            i *= 2
            if self._winners[i] != self._winners[i >> 1]:
                i += 1
            elif skip >= self._tied[i]:
                skip -= self._tied[i]
                i += 1
        return i - self._leaves

    cdef void _look_ahead(self, const Arms* arms, double level, double root) noexcept nogil:
        """How long to keep a leader, and the bar of that time.

        Until two fifths of the time have passed that another needs to come to where the leader is now: later
        the bar ends streaks that need not end, earlier there are more of them.
        """
        cdef Standing* leader = &self._standings[self.leader]
        cdef Standing* rival
        cdef double now = <double>(arms.t + 1), height = leader.start + leader.slope * root, met = INFINITY
        cdef double doublings, span = 1.0
        cdef Py_ssize_t i = self._leaves + self.leader
        while i > 1:
            if self._winners[i ^ 1] >= 0:
                rival = &self._standings[self._winners[i ^ 1]]
                met = min(met, (height - rival.start) / rival.slope)
            i >>= 1
        # The level grows about like log t.
        if now >= 2.0 * self._measured:
            self._growth, self._measured = self.bounds.level.at(1.0, 2.0 * now) - level, now
        doublings = (0.5 * met * met - level) / self._growth
        if met > root and doublings > 0.0:
            span = max(0.4 * now * (exp2(min(doublings, 2.0)) - 1.0), 1.0)
        # As a double, what is left may have been rounded up.
        self.until = min(arms.t + <int64_t>min(span, <double>(arms.horizon - arms.t)), arms.horizon)
        root = sqrt(2.0 * self.bounds.level.at(1.0, <double>self.until))
        self.bar = -INFINITY
        i = self._leaves + self.leader
        while i > 1:
            self._raise_bar(i ^ 1, root)
            i >>= 1

    cdef void _raise_bar(self, Py_ssize_t i, double root) noexcept nogil:
        """To the largest index below a node at a later level, for which nodes are not set."""
        if self._winners[i] < 0:
            return
        if self._until[i] > root:
            self.bar = max(self.bar, self.bounds.height(&self._standings[self._winners[i]], root, self.bar))
        else:
            self._raise_bar(2 * i, root)
            self._raise_bar(2 * i + 1, root)


@cython.final
cdef class GrowingOptimism(Optimism):
    """For other levels that grow with the round, and for bounds that may cross more than once.

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
            self._indices[arm] = index_of(self.bounds, arms, arm)
            self._computed[arm] = arms.t
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
        return largest_index(self.bounds, arms, &self._indices[0], rng)

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        both_sides(self.bounds, arms, arm, lower, upper)


def optimism(Py_ssize_t n_arms, Bounds bounds not None):
    """Optimism for these bounds."""
    if isinstance(bounds.level, AdaLevel):
        return AdaOptimism(n_arms, bounds)
    if bounds.moments > 1 or (bounds.level.grows and bounds.opaque):
        return FullOptimism(n_arms, bounds)
    if not bounds.level.grows:
        return SteadyOptimism(n_arms, bounds)
    return (KineticOptimism if bounds.level.shared and bounds.crosses else GrowingOptimism)(n_arms, bounds)
