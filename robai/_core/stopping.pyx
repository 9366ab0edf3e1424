"""When to stop exploring, and which arm to commit to: one short class a rule."""

cimport cython
from libc.math cimport log
from libc.stdint cimport INT64_MAX, int64_t

import numpy as np

from robai._core.bounds cimport Bounds
from robai._core.families cimport Family
from robai._core.protocols cimport Arms, Commitment, Exploration, Stopping, argmax, mean_of
from robai._core.rng cimport Rng


@cython.final
cdef class Never(Stopping):
    """Explore for ever."""

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return INT64_MAX


@cython.final
cdef class FixedRound(Stopping):
    """When `round` rounds have been played: EOCP and KL-EOCP."""
    cdef readonly int64_t round

    def __init__(self, int64_t round):
        self.round = round

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        return arms.t >= self.round

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return max(self.round - arms.t, <int64_t>1)


@cython.final
cdef class Imbalance(Stopping):
    """When N_a - l N_b > 1 for one arm a and every other b: EOCP-UG (Algorithm 2).

    The paper prints a minimum over all b; with b = a it would never fire, l being above 1.
    """
    cdef readonly double level

    def __init__(self, double level):
        self.level = level

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        # Only the two largest counts matter. Most calls end here: the second largest is at
        # least the average of all but the largest.
        cdef double most = <double>arms.pulls[arms.most]
        if most - self.level * (<double>arms.t - most) / <double>(arms.n_arms - 1) <= 1.0:
            return False
        return most - self.level * <double>largest_but(arms, arms.most) > 1.0

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        cdef double n = <double>arms.pulls[arm], others = <double>arms.t - n, needed
        if self.fires(arms):
            return 1
        needed = self.level * others / <double>(arms.n_arms - 1) + 1.0 - n
        if needed < 16.0:
            needed = self.level * <double>largest_but(arms, arm) + 1.0 - n
        if needed < 1.0:
            return 1
        # Rounded down: too early costs one more question, too late would be wrong.
        return <int64_t>min(needed, 9e18)


cdef int64_t largest_but(const Arms* arms, Py_ssize_t arm) noexcept nogil:
    """The largest number of pulls of the other arms."""
    cdef Py_ssize_t other
    cdef int64_t largest = 0
    for other in range(arms.n_arms):
        if other != arm:
            largest = max(largest, arms.pulls[other])
    return largest


@cython.final
cdef class Separation(Stopping):
    """When the lower bound of the arm with the largest mean is above all other upper bounds."""
    cdef readonly Bounds bounds

    def __init__(self, Bounds bounds not None):
        self.bounds = bounds

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        cdef Py_ssize_t best = best_mean(arms), arm
        cdef double t = <double>(arms.t + 1)
        cdef double floor = self.bounds.lower(<double>arms.pulls[best], arms.sums[best], t)
        for arm in range(arms.n_arms):
            if arm != best and self.bounds.upper(<double>arms.pulls[arm], arms.sums[arm], t) >= floor:
                return False
        return True


@cython.final
cdef class MeanGap(Stopping):
    """When |m_1 - m_2| >= sigma sqrt(8 log(T/t) / t), asked at even t: BAI-ETC.

    Garivier, Kaufmann and Lattimore (2016), two arms pulled in turn.
    """
    cdef readonly double sigma

    def __init__(self, double sigma):
        self.sigma = sigma

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        # t rounds are t/2 pulls of each arm; where rewards arrive late it may be fewer of one.
        cdef double t = 2.0 * <double>min(arms.pulls[0], arms.pulls[1]), gap
        if arms.t % 2:
            return False
        gap = mean_of(arms, 0) - mean_of(arms, 1)
        return gap * gap >= self.sigma * self.sigma * 8.0 * log(<double>arms.horizon / t) / t


@cython.final
cdef class LikelihoodRatio(Stopping):
    """When min over b of N_a d(m_a, m_ab) + N_b d(m_b, m_ab) reaches a threshold.

    a is the arm with the largest mean, m_ab the mean of all rewards of a and b. The threshold
    is `base`, or base + log(1 + log t) (Garivier and Kaufmann, 2016) if `anytime`. A second
    arm with the largest mean makes the ratio 0.
    """
    cdef readonly Family family
    cdef readonly double base
    cdef readonly bint anytime

    def __init__(self, Family family not None, double base, bint anytime):
        self.family = family
        self.base = base
        self.anytime = anytime

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        cdef Py_ssize_t best = best_mean(arms), arm
        cdef double threshold = self.base
        if self.anytime:
            threshold += log(1.0 + log(<double>arms.t))
        for arm in range(arms.n_arms):
            if arm != best and self._ratio(arms, best, arm) < threshold:
                return False
        return True

    cdef double _ratio(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef double n = <double>arms.pulls[a], k = <double>arms.pulls[b]
        cdef double pooled = (arms.sums[a] + arms.sums[b]) / (n + k)
        return (n * self.family.divergence(mean_of(arms, a), pooled)
                + k * self.family.divergence(mean_of(arms, b), pooled))


cdef Py_ssize_t best_mean(const Arms* arms) noexcept nogil:
    """The first arm with the largest mean."""
    cdef Py_ssize_t arm, best = 0
    cdef double mean, largest = mean_of(arms, 0)
    for arm in range(1, arms.n_arms):
        mean = mean_of(arms, arm)
        if mean > largest:
            best, largest = arm, mean
    return best


cdef class Pair(Stopping):
    """Two rules."""
    cdef readonly Stopping first
    cdef readonly Stopping second

    def __init__(self, Stopping first not None, Stopping second not None):
        self.first = first
        self.second = second


@cython.final
cdef class Both(Pair):
    """When two rules fire at the same round: `&`."""

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        return self.first.fires(arms) and self.second.fires(arms)

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return max(self.first.quiet(arms, arm), self.second.quiet(arms, arm))


@cython.final
cdef class Either(Pair):
    """When the first of two rules fires: `|`."""

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        return self.first.fires(arms) or self.second.fires(arms)

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return min(self.first.quiet(arms, arm), self.second.quiet(arms, arm))


# ---- commitment


cdef class Scored(Commitment):
    """The arm with the largest score."""
    cdef double[::1] _scores

    def __init__(self, Py_ssize_t n_arms):
        self._scores = np.empty(n_arms)

    cdef double score(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return 0.0

    cdef Py_ssize_t choose(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(arms.n_arms):
            self._scores[arm] = self.score(arms, arm)
        return argmax(&self._scores[0], arms.n_arms, rng)


@cython.final
cdef class LargestLower(Scored):
    """Pessimism: the largest lower confidence bound (EOCP, EOCP-UG, KL-EOCP)."""
    cdef readonly Bounds bounds

    def __init__(self, Py_ssize_t n_arms, Bounds bounds not None):
        Scored.__init__(self, n_arms)
        self.bounds = bounds

    cdef double score(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return self.bounds.lower(<double>arms.pulls[arm], arms.sums[arm], <double>(arms.t + 1))


@cython.final
cdef class LargestMean(Scored):
    """The largest mean."""

    cdef double score(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return mean_of(arms, arm)


@cython.final
cdef class MostPulled(Scored):
    """The arm pulled most often, for which EOCP-UG has the same guarantees."""

    cdef double score(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return <double>arms.pulls[arm]


@cython.final
cdef class Recommended(Commitment):
    """What an exploration that ends by itself recommends."""
    cdef readonly Exploration exploration

    def __init__(self, Exploration exploration not None):
        self.exploration = exploration

    cdef Py_ssize_t choose(self, const Arms* arms, Rng* rng) noexcept nogil:
        return self.exploration.recommend(arms, rng)
