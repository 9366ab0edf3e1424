"""Explorations that drop the worst arms, one or half of them at a time: racing, and two for a budget."""

cimport cython
from libc.math cimport INFINITY, ceil
from libc.stdint cimport int64_t
from libc.stdlib cimport qsort

import numpy as np

from robai._base import checks
from robai._core.bounds cimport Bounds
from robai._core.explore_stages cimport Elimination, Sweeps
from robai._core.families cimport Family
from robai._core.protocols cimport Arms, argmax, expect_fields, mean_of
from robai._core.rng cimport Rng, next_below
from robai._core.thresholds cimport Threshold


cdef Py_ssize_t worst(Elimination rule, const Arms* arms, double* values, Rng* rng) noexcept nogil:
    """The place of an active arm with the smallest mean; uniform among them."""
    cdef Py_ssize_t i
    for i in range(rule._count):
        values[i] = -mean_of(arms, rule._active[i])
    return argmax(values, rule._count, rng)


cdef void drop(Elimination rule, Py_ssize_t place) noexcept nogil:
    cdef Py_ssize_t i
    rule._count -= 1
    for i in range(place, rule._count):
        rule._active[i] = rule._active[i + 1]


cdef class Racing(Sweeps):
    """After every sweep, drop the active arm with the smallest mean if it is clearly below the best."""
    cdef double[::1] _values

    def __init__(self, Py_ssize_t n_arms):
        Elimination.__init__(self, n_arms)
        self._values = np.empty(n_arms)

    cdef void eliminate(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t best, place
        if self._count == 0:
            self.begin(arms)
        best, place = self.best(arms), worst(self, arms, &self._values[0], rng)
        if self._active[place] != best and not self.keeps(arms, best, self._active[place]):
            drop(self, place)


@cython.final
cdef class BoundRacing(Racing):
    """If its upper bound is below the lower bound of the best: KL-Racing.

    Kaufmann and Kalyanakrishnan (2013).
    """
    cdef readonly Bounds bounds

    def __init__(self, Py_ssize_t n_arms, Bounds bounds not None):
        Racing.__init__(self, n_arms)
        self.bounds = bounds
        self.initial_pulls, self.moments = bounds.initial_pulls, bounds.moments

    cdef bint keeps(self, const Arms* arms, Py_ssize_t best, Py_ssize_t arm) noexcept nogil:
        cdef double t = <double>arms.t
        return not self.bounds.lower(arms, best, t) > self.bounds.upper(arms, arm, t)

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        cdef double t = <double>arms.t
        lower[0], upper[0] = self.bounds.lower(arms, arm, t), self.bounds.upper(arms, arm, t)


@cython.final
cdef class RatioRacing(Racing):
    """If their likelihood ratio is above a threshold: Chernoff-Racing, Garivier and Kaufmann (2016).

    If `mixture`, the certainty of the family takes the place of that ratio.
    """
    cdef readonly Family family
    cdef readonly Threshold threshold
    cdef readonly bint mixture

    def __init__(self, Py_ssize_t n_arms, Family family not None, Threshold threshold not None,
                 bint mixture=False):
        Racing.__init__(self, n_arms)
        self.family, self.threshold, self.mixture = family, threshold, mixture
        self.moments = family.moments

    cdef bint keeps(self, const Arms* arms, Py_ssize_t best, Py_ssize_t arm) noexcept nogil:
        cdef double ratio
        if self.mixture:
            ratio = self.family.certainty(arms, best, arm)
        else:
            ratio = self.family.ratio(arms, best, arm)
        return not ratio > self.threshold.asked(arms, best, arm)


cdef class Phases(Elimination):
    """Sweeps over the active arms, a number of them in each phase, after which the worst are dropped.

    Initial pulls are part of the first phase, and the budget is the horizon. While rewards of a phase are
    under way it goes on, and those after it are the shorter for that.
    """
    cdef int64_t _phase
    cdef int64_t _turn                      # pulls of this phase so far ...
    cdef int64_t _end                       # ... and in all
    cdef double[::1] _values

    def __init__(self, Py_ssize_t n_arms):
        Elimination.__init__(self, n_arms)
        self.discerns = True
        self._values = np.empty(n_arms)

    cdef void restart(self) noexcept nogil:
        self._count = 0
        self._phase = self._turn = self._end = 0

    cdef int64_t share(self, const Arms* arms) noexcept nogil:
        """The number of pulls of each arm in the phase that begins."""
        return 0

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        if self._count == 0:
            self.begin(arms)
            self._begin_phase(arms, arms.t)
        while self._turn >= self._end and not self._waits(arms):
            self.eliminate(arms, rng)
            if self._count == 1:
                return -1
            self._phase += 1
            self._begin_phase(arms, 0)
        self._turn += 1
        return self._active[(self._turn - 1) % self._count]

    cdef void _begin_phase(self, const Arms* arms, int64_t turn) noexcept nogil:
        """After `turn` pulls of it."""
        cdef int64_t left = max(arms.horizon - arms.t + turn, <int64_t>0)
        self._end = self._count * min(self.share(arms), left // self._count)
        self._turn = min(turn, self._end)

    cdef bint _waits(self, const Arms* arms) noexcept nogil:
        """Has an active arm more pulls without a reward than it had since the end of the phase?"""
        cdef Py_ssize_t i
        cdef int64_t since = self._turn - self._end + self._count - 1
        if arms.pending != NULL:
            for i in range(self._count):
                if arms.pending[self._active[i]] > (since - i) // self._count:
                    return True
        return False

    def memory(self):
        return {
            **Elimination.memory(self), "phase": self._phase, "turn": self._turn, "end": self._end,
        }

    def remember(self, memory, pulls):
        expect_fields(memory, Phases.memory(self))
        self._take(memory)

    cdef int _take(self, memory) except -1:
        phase, turn, end = (checks.whole(name, memory[name], 0, 2**62) for name in ("phase", "turn", "end"))
        self._keep(memory["active"])
        self._phase, self._turn, self._end = phase, turn, end
        return 0


@cython.final
cdef class Rejects(Phases):
    """K - 1 phases, after each of which the worst arm is dropped: Audibert, Bubeck and Munos (2010).

    After phase k every active arm has n_k = ceil((B - K) / (logbar K (K + 1 - k))) pulls, B the budget,
    logbar K = 1/2 + 1/2 + 1/3 + ... + 1/K.
    """
    cdef readonly double logbar

    def __init__(self, Py_ssize_t n_arms):
        Phases.__init__(self, n_arms)
        self.logbar = 0.5 + np.sum(1.0 / np.arange(2, n_arms + 1))

    cdef int64_t share(self, const Arms* arms) noexcept nogil:
        return self._target(arms, self._count) - self._target(arms, self._count + 1)

    cdef int64_t _target(self, const Arms* arms, Py_ssize_t left) noexcept nogil:
        """n_k, where `left` arms are active; 0 before the first phase."""
        if left > arms.n_arms:
            return 0
        return <int64_t>ceil(<double>(arms.horizon - arms.n_arms) / (self.logbar * <double>left))

    cdef void eliminate(self, const Arms* arms, Rng* rng) noexcept nogil:
        drop(self, worst(self, arms, &self._values[0], rng))


cdef int ascending(const void* a, const void* b) noexcept nogil:
    cdef double x = (<const double*>a)[0], y = (<const double*>b)[0]
    return (x > y) - (x < y)


@cython.final
cdef class Halving(Phases):
    """ceil(log2 K) phases, after each of which the better half is kept: Karnin, Koren and Somekh (2013).

    In each, the active arms have floor(B / (left ceil(log2 K))) pulls each, B the budget; where that is none,
    as B < K ceil(log2 K), what is left of the budget is shared out. The better half is that of the means, of
    the present phase if `fresh`.
    """
    cdef readonly bint fresh
    cdef readonly int64_t phases
    cdef double[::1] _sorted
    cdef int64_t[::1] _old_pulls            # when the phase began
    cdef double[::1] _old_sums

    def __init__(self, Py_ssize_t n_arms, bint fresh):
        Phases.__init__(self, n_arms)
        self.fresh, self.phases = fresh, int(n_arms - 1).bit_length()
        self._sorted = np.empty(n_arms)
        self._old_pulls, self._old_sums = np.zeros(n_arms, dtype=np.int64), np.zeros(n_arms)

    cdef void restart(self) noexcept nogil:
        Phases.restart(self)
        self._old_pulls[:] = 0
        self._old_sums[:] = 0.0

    cdef int64_t share(self, const Arms* arms) noexcept nogil:
        return arms.horizon // (self._count * self.phases)

    cdef void eliminate(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t i, arm, tied = 0, kept = 0, room = self._count - self._count // 2
        cdef double least, mean
        for i in range(self._count):
            self._values[i] = self._sorted[i] = self._mean(arms, self._active[i])
        qsort(&self._sorted[0], self._count, sizeof(double), ascending)
        least = self._sorted[self._count - room]
        for i in range(self._count):
            tied += self._values[i] == least
            room -= self._values[i] > least
        # All above the edge are kept, and as many on it as there is room for, each with the same chance.
        for i in range(self._count):
            mean, arm = self._values[i], self._active[i]
            if mean == least:
                if room > 0 and (tied <= room or next_below(rng, tied) < room):
                    room -= 1
                    mean = INFINITY
                tied -= 1
            if mean > least:
                self._active[kept] = arm
                kept += 1
        self._count = kept
        for arm in range(arms.n_arms):
            self._old_pulls[arm], self._old_sums[arm] = arms.pulls[arm], arms.sums[arm]

    cdef double _mean(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        cdef int64_t pulls = arms.pulls[arm] - self._old_pulls[arm]
        cdef double mean = mean_of(arms, arm)
        if self.fresh and pulls > 0:
            mean = (arms.sums[arm] - self._old_sums[arm]) / <double>pulls
        return mean if mean == mean else -INFINITY              # of sums too large for a double

    def memory(self):
        return {
            **Phases.memory(self),
            "old_pulls": np.asarray(self._old_pulls).tolist(),
            "old_sums": np.asarray(self._old_sums).tolist(),
        }

    def remember(self, memory, pulls):
        expect_fields(memory, Halving.memory(self))
        cdef Py_ssize_t n_arms = self._old_pulls.shape[0], arm
        for name in ("old_pulls", "old_sums"):
            if len(memory[name]) != n_arms:
                raise ValueError(f"{name} must have {n_arms} entries, got {len(memory[name])}")
        for arm in range(n_arms):
            self._old_pulls[arm] = checks.whole("old_pulls", memory["old_pulls"][arm], 0, pulls[arm])
            self._old_sums[arm] = checks.real("old_sums", memory["old_sums"][arm])
        self._take(memory)
