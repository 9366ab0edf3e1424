"""When to stop exploring: the separation of confidence bounds."""

cimport cython
from libc.math cimport INFINITY, NAN, sqrt
from libc.stdint cimport int64_t

import numpy as np

from robai._core.bounds cimport Bounds, GaussianBounds
from robai._core.protocols cimport Arms, Compared, Stopping, best_mean, mean_of


@cython.final
cdef class Separation(Stopping):
    """When the lower bound of the arm with the largest mean is above all other upper bounds."""
    cdef readonly Bounds bounds
    cdef Py_ssize_t _hint                   # the arm that was too close last, to be looked at first
    cdef bint _keeps                        # bounds m +- w, which change with a pull of their arm alone
    cdef double[::1] _sigma
    cdef int64_t[::1] _pulls                # those of the last question, with the round
    cdef double[::1] _means
    cdef double[::1] _widths
    cdef int64_t _t
    cdef Py_ssize_t _best                   # the first with the largest mean
    cdef Py_ssize_t _next                   # that alone is pulled until the next one, or -1

    def __init__(self, Py_ssize_t n_arms, Bounds bounds not None):
        self.bounds = bounds
        self.moments, self.initial_pulls = bounds.moments, bounds.initial_pulls
        self._keeps = isinstance(bounds, GaussianBounds) and not bounds.level.grows and n_arms > 1
        self.foresees = self._keeps
        if self._keeps:
            self._sigma = (<GaussianBounds>bounds).sigma
        self._pulls = np.zeros(n_arms, dtype=np.int64)
        self._means, self._widths = np.zeros((2, n_arms))
        self._next = -1

    cdef Compared compared(self, const Arms* arms) noexcept nogil:
        cdef Py_ssize_t best = best_mean(arms), arm
        cdef double t = <double>(arms.t + 1), upper
        cdef double floor = self.bounds.lower(arms, best, t)
        cdef Compared compared = Compared(True, floor, -INFINITY, best, -1)
        for arm in range(arms.n_arms):
            if arm == best:
                continue
            upper = self.bounds.upper(arms, arm, t)
            if upper > compared.asked or compared.rival < 0:
                compared.asked, compared.rival = upper, arm
            if not upper < floor:
                compared.fires = False
        return compared

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        # Mostly one arm, that which was too close last time and is so again, and no inversion; else one.
        cdef Py_ssize_t best, arm, i
        cdef double t = <double>(arms.t + 1), floor
        if self._keeps:
            return self._fires_as_kept(arms)
        best = best_mean(arms)
        if self._hint != best and self._overlaps(arms, best, self._hint, t):
            return False
        floor = self.bounds.lower(arms, best, t)
        for i in range(arms.n_arms):
            arm = self._hint + i
            if arm >= arms.n_arms:
                arm -= arms.n_arms
            if arm != best and not self._is_below(arms, arm, t, floor):
                self._hint = arm
                return False
        return True

    cdef bint _fires_as_kept(self, const Arms* arms) noexcept nogil:
        cdef Py_ssize_t arm = self._next
        cdef double floor
        self._next = -1
        if arm >= 0 and 0 < arms.t - self._t == arms.pulls[arm] - self._pulls[arm]:
            self._keep(arms, arm)
            if arm == self._best or not self._means[arm] < self._means[self._best]:
                self._find_best(arms.n_arms)
        else:
            for arm in range(arms.n_arms):
                self._keep(arms, arm)
            self._find_best(arms.n_arms)
        self._t = arms.t
        floor = self._means[self._best] - self._widths[self._best]
        if self._hint != self._best and not self._means[self._hint] + self._widths[self._hint] < floor:
            return False
        for arm in range(arms.n_arms):
            if arm != self._best and not self._means[arm] + self._widths[arm] < floor:
                self._hint = arm
                return False
        return True

    cdef inline void _keep(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        self._pulls[arm], self._means[arm] = arms.pulls[arm], mean_of(arms, arm)
        self._widths[arm] = self._width(arm, <double>arms.pulls[arm])

    cdef inline void _find_best(self, Py_ssize_t n_arms) noexcept nogil:
        cdef Py_ssize_t arm
        self._best = 0
        for arm in range(1, n_arms):
            if self._means[arm] > self._means[self._best]:
                self._best = arm

    cdef inline double _width(self, Py_ssize_t arm, double n) noexcept nogil:
        return self._sigma[arm] * sqrt(2.0 * self.bounds.level.at(n, NAN) / n)

    cdef Py_ssize_t foreseen(self, const Arms* arms, Py_ssize_t arm, const double* rewards,
                             Py_ssize_t count) noexcept nogil:
        # Few rewards are not worth it. Else, its lower bound may come above all other upper bounds, or its
        # upper bound below the lower one of the best of the others, if that is above the bounds of the rest.
        cdef Py_ssize_t best = 1 if arm == 0 else 0, other, i
        cdef double ceiling, rest = -INFINITY, floor, n, total, mean, width
        self._next = arm
        if 8 * count < arms.n_arms:
            return 1
        for other in range(best + 1, arms.n_arms):
            if other != arm and self._means[other] > self._means[best]:
                best = other
        for other in range(arms.n_arms):
            if other != arm and other != best:
                rest = max(rest, self._means[other] + self._widths[other])
        ceiling = max(rest, self._means[best] + self._widths[best])
        floor = self._means[best] - self._widths[best]
        if not rest < floor:
            floor = -INFINITY
        n, total = <double>arms.pulls[arm], arms.sums[arm]
        for i in range(count):
            total += rewards[i]
            n += 1.0
            mean, width = total / n, self._width(arm, n)
            if mean - width > ceiling or mean + width < floor:
                return i + 1
        return count

    cdef bint _overlaps(self, const Arms* arms, Py_ssize_t best, Py_ssize_t arm, double t) noexcept nogil:
        """Is there surely a number above the lower bound of the best arm and below the upper one of another?

        Tried is the one in the middle, if bounds are as far from a mean as its standard error.
        """
        cdef double n = <double>arms.pulls[best], k = <double>arms.pulls[arm], x = sqrt(n), y = sqrt(k)
        cdef double middle = (arms.sums[best] / x + arms.sums[arm] / y) / (x + y)
        return (self.bounds.above(arm, k, arms.sums[arm], self.bounds.level.at(k, t), middle)
                and self.bounds.dips(best, n, arms.sums[best], self.bounds.level.at(n, t), middle))

    cdef bint _is_below(self, const Arms* arms, Py_ssize_t arm, double t, double floor) noexcept nogil:
        cdef double n = <double>arms.pulls[arm], total = arms.sums[arm], level = self.bounds.level.at(n, t)
        if self.bounds.above(arm, n, total, level, floor):
            return False
        if self.bounds.below(arm, n, total, level, floor):
            return True
        return self.bounds.upper(arms, arm, t) < floor

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        cdef double t = <double>(arms.t + 1)
        lower[0], upper[0] = self.bounds.lower(arms, arm, t), self.bounds.upper(arms, arm, t)
