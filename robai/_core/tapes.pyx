"""Runs on reward tapes of other laws, which commit to a wrong arm more often than runs of the true one.

The i-th pull of an arm reads the i-th entry of its tape. A *tilt* is (arm, length, mean): that many first
entries of the arm's tape come from the member of its family with that mean, all else from the true law. Of
what a run has read before it commits, m <= length entries of the arm with the sum S, the density is

    L = exp( slope (S - m mu) - m loss )      loss = d(mu, x), slope = (d(x, mu) + d(mu, x)) / (x - mu)

times that of the true law: nothing but sums of prefixes is needed. A *component* tilts the best arm and a
rival, and draws tilts of the other arms by small mixtures of their own, which are those of its rival.
A run draws a component j with probability alpha_j. If it commits to a wrong arm, its weight is the inverse
of the density ratio of the whole mixture, and 0 otherwise: the mean weight is the probability under the true
law, whatever the mixture (balance heuristic: Veach and Guibas, 1995).
"""

cimport cython
from libc.math cimport INFINITY, exp, log
from libc.stdint cimport INT64_MAX, int64_t

import numpy as np

from robai._core.engine cimport TAPE, Batch
from robai._core.families cimport Family
from robai._core.protocols cimport Arms, Commitment, Exploration, Stopping
from robai._core.rng cimport Rng, next_double

# One of so many runs that seem to be lost goes on.
cdef enum:
    ROULETTE = 16


@cython.final
cdef class Watch(Stopping):
    """Another rule; and the end of runs which are lost, as the best arm leads by far.

    It has more than `limit` pulls and, if that counts, more than any other. Or there are `cap` rounds.
    """
    cdef Stopping rule
    cdef Py_ssize_t best
    cdef int64_t limit
    cdef int64_t cap
    cdef bint leading                       # is a run lost only if the best arm leads
    cdef bint spared                        # is this run to go on nevertheless
    cdef bint lost                          # did it come to that
    cdef bint over                          # is it why the run ended

    def __init__(self, Stopping rule not None, Py_ssize_t best):
        self.rule, self.best, self.limit, self.cap = rule, best, INT64_MAX, INT64_MAX
        self.leading = True
        self.initial_pulls, self.moments, self.absolute = rule.initial_pulls, rule.moments, rule.absolute

    cdef void restart(self, bint spared) noexcept nogil:
        self.spared, self.lost, self.over = spared, False, False

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        if self.rule.fires(arms):
            return True
        if not self.lost and (arms.t >= self.cap or arms.pulls[self.best] >= self._enough(arms)):
            self.lost = True
        self.over = self.lost and not self.spared
        return self.over

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        cdef int64_t ahead = min(self.rule.quiet(arms, arm), max(self.cap - arms.t, <int64_t>1))
        if arm == self.best and not self.lost:
            ahead = min(ahead, max(self._enough(arms) - arms.pulls[arm], <int64_t>1))
        return ahead

    cdef int64_t _enough(self, const Arms* arms) noexcept nogil:
        """How many pulls of the best arm make a run a lost one."""
        cdef int64_t most = self.limit
        cdef Py_ssize_t arm
        for arm in range(arms.n_arms):
            if self.leading and arm != self.best:
                most = max(most, arms.pulls[arm])
        return most + 1 if most < INT64_MAX else most


cdef class Tilted(Batch):
    """Runs whose arms have tilts."""
    cdef Watch _watch
    cdef int64_t[::1] _length
    cdef double[::1] _shift                 # of the mean

    def __init__(self, Exploration explore, Stopping stop, Commitment commit, int64_t initial_pulls,
                 Family rewards, means, times, states, Py_ssize_t best):
        self._watch = Watch(stop, best)
        Batch.__init__(self, explore, self._watch, commit, initial_pulls, rewards, means, times, states)
        self._length = np.zeros(self._arms.n_arms, dtype=np.int64)
        self._shift = np.zeros(self._arms.n_arms)

    cdef void _fill(self, Py_ssize_t arm) noexcept nogil:
        """As many entries as there are pulls, of one law."""
        cdef int64_t pulls = self._arms.pulls[arm], left = self._length[arm] - pulls
        cdef int64_t count = min(max(pulls, <int64_t>1), <int64_t>TAPE)
        cdef double mean = self._means[arm]
        if left > 0:
            count, mean = min(count, left), mean + self._shift[arm]
        self._filled[arm], self._next[arm] = <Py_ssize_t>count, 0
        self._entries(arm, mean, <Py_ssize_t>count)

    cdef void _entries(self, Py_ssize_t arm, double mean, Py_ssize_t count) noexcept nogil:
        self._rewards.fill(arm, mean, &self._tape[arm, 0], count, &self._rng)

    cdef bint _missed(self) noexcept nogil:
        """Did the run not commit to a wrong arm?"""
        cdef int64_t arm = self._committed_arm[self._run]
        return self._watch.over or arm < 0 or arm == self._watch.best

    cdef int64_t _read(self, Py_ssize_t arm) noexcept nogil:
        """The entries of a tape that a run read before it committed."""
        cdef int64_t after = 0
        if arm == self._committed_arm[self._run]:
            after = self._arms.horizon - self._commit_time[self._run]
        return self._pulls[self._run, arm] - after


@cython.final
cdef class WithoutNoise(Tilted):
    """Every run has tilts of its own, `lengths` and `shifts` of runs x arms, and rewards that are means.

    A run is given up when the best arm is past its tilt, or after so many rounds. `read` is what it read of
    every tape, 0 unless it committed to a wrong arm.
    """
    cdef readonly object read
    cdef int64_t[:, ::1] _read_of
    cdef const int64_t[:, ::1] _lengths
    cdef const double[:, ::1] _shifts
    cdef const int64_t[::1] _caps

    def __init__(self, *args, lengths, shifts, caps):
        Tilted.__init__(self, *args)
        self._lengths, self._shifts, self._caps = lengths, shifts, caps
        self._watch.leading = False
        self.read = np.zeros(lengths.shape, dtype=np.int64)
        self._read_of = self.read

    cdef void _begin(self) noexcept nogil:
        cdef Py_ssize_t arm
        Batch._begin(self)
        for arm in range(self._arms.n_arms):
            self._length[arm], self._shift[arm] = self._lengths[self._run, arm], self._shifts[self._run, arm]
        self._watch.limit, self._watch.cap = self._length[self._watch.best], self._caps[self._run]
        self._watch.restart(False)

    cdef void _entries(self, Py_ssize_t arm, double mean, Py_ssize_t count) noexcept nogil:
        self._tape[arm, :count] = mean

    cdef bint _play(self) noexcept nogil:
        cdef Py_ssize_t arm
        if not Batch._play(self):
            return False
        if not self._missed():
            for arm in range(self._arms.n_arms):
                self._read_of[self._run, arm] = self._read(arm)
        return True


@cython.final
cdef class Mixed(Tilted):
    """Runs of a mixture, and their weights.

    Parameters
    ----------
    args
        As for `Batch`, and the best arm.
    mixture
        Tables of tilts, components and the mixtures of other arms, see `robai._play.mixture`.
    limit
        How many pulls of the best arm make a run a lost one.
    """
    cdef readonly object log_weight         # of every run, -inf for 0
    cdef readonly object explained          # by each component: its part in the weights
    cdef readonly object explained_sides
    cdef double[::1] _log_weight
    cdef double[::1] _explained
    cdef double[::1] _explained_sides
    cdef double _offset

    # Tilts, ordered by arm and length; where the lengths of an arm begin among all.
    cdef const int64_t[::1] _arm
    cdef const int64_t[::1] _tilt_length
    cdef const double[::1] _tilt_shift
    cdef const double[::1] _slope
    cdef const double[::1] _loss
    cdef const int64_t[::1] _first
    cdef int64_t[::1] _summed               # of the tilts of an arm: up to where prefixes are known
    cdef double[::1] _prefix
    cdef double[::1] _log_ratio

    # Components: alpha, the tilts of the best arm and of the rival (-1: none), and the place of the rival
    # (-1: none, the true law).
    cdef const double[::1] _alpha
    cdef const int64_t[::1] _upper
    cdef const int64_t[::1] _lower
    cdef const int64_t[::1] _place
    cdef double[::1] _terms

    # Other arms' tilts, by the place of the rival and by arm; where those of each begin.
    cdef const double[::1] _gamma
    cdef const int64_t[::1] _side
    cdef const int64_t[:, ::1] _sides
    cdef double[:, ::1] _side_sums          # logarithms of the sums of gamma L
    cdef double[::1] _parts                 # of the components with a place in a weight

    def __init__(self, *args, mixture, int64_t limit):
        Tilted.__init__(self, *args)
        self._watch.limit, self._offset = limit, mixture.offset
        self._arm, self._tilt_length, self._tilt_shift = mixture.arm, mixture.length, mixture.shift
        self._slope, self._loss, self._first = mixture.slope, mixture.loss, mixture.first
        self._alpha, self._upper = mixture.alpha, mixture.best_tilt
        self._lower, self._place = mixture.rival_tilt, mixture.place
        self._gamma, self._side, self._sides = mixture.gamma, mixture.side, mixture.sides
        self._summed = np.zeros(self._arms.n_arms, dtype=np.int64)
        self._prefix, self._log_ratio = np.zeros((2, max(len(mixture.arm), 1)))
        self._terms = np.zeros(len(mixture.alpha))
        self._side_sums = np.zeros((len(mixture.sides), self._arms.n_arms))
        self._parts = np.zeros(len(mixture.sides))
        self.log_weight = np.full(self._states.shape[0], -np.inf)
        self.explained, self.explained_sides = np.zeros(len(mixture.alpha)), np.zeros(len(mixture.gamma))
        self._log_weight, self._explained = self.log_weight, self.explained
        self._explained_sides = self.explained_sides

    cdef void _begin(self) noexcept nogil:
        cdef Py_ssize_t arm, j
        cdef int64_t place
        Batch._begin(self)
        for arm in range(self._arms.n_arms):
            self._length[arm], self._summed[arm] = 0, self._first[arm]
        self._watch.restart(next_double(&self._rng) * ROULETTE < 1.0)
        j = drawn(self._alpha, 0, self._alpha.shape[0], &self._rng)
        place = self._place[j]
        if place < 0:
            return
        self._tilt(self._upper[j])
        self._tilt(self._lower[j])
        for arm in range(self._arms.n_arms):
            if self._sides[place, arm] < self._sides[place, arm + 1]:
                j = drawn(self._gamma, self._sides[place, arm], self._sides[place, arm + 1], &self._rng)
                self._tilt(self._side[j])

    cdef void _tilt(self, int64_t tilt) noexcept nogil:
        if tilt >= 0:
            self._length[self._arm[tilt]] = self._tilt_length[tilt]
            self._shift[self._arm[tilt]] = self._tilt_shift[tilt]

    cdef void _entries(self, Py_ssize_t arm, double mean, Py_ssize_t count) noexcept nogil:
        cdef int64_t tilt = self._summed[arm], end = self._first[arm + 1], n = self._arms.pulls[arm]
        cdef double total = self._sums[arm]
        cdef Py_ssize_t i
        Tilted._entries(self, arm, mean, count)
        if tilt == end:
            return
        for i in range(count):
            total += self._tape[arm, i]
            n += 1
            while tilt < end and self._tilt_length[tilt] == n:
                self._prefix[tilt] = total
                tilt += 1
        self._summed[arm] = tilt

    cdef bint _play(self) noexcept nogil:
        if not Batch._play(self):
            return False
        if not self._missed():
            self._weigh()
        return True

    cdef void _weigh(self) noexcept nogil:
        """The logarithm of the weight, and what components have to do with it."""
        cdef Py_ssize_t tilt, j, arm, place, s
        cdef int64_t n, m
        cdef double total, largest = -INFINITY, weight, part
        for tilt in range(self._arm.shape[0]):
            arm = self._arm[tilt]
            n = self._read(arm)
            m, total = self._tilt_length[tilt], self._prefix[tilt]
            if n < m:
                m, total = n, self._sums[arm]
            self._log_ratio[tilt] = (
                self._slope[tilt] * (total - <double>m * self._means[arm]) - <double>m * self._loss[tilt])
        for place in range(self._sides.shape[0]):
            for arm in range(self._arms.n_arms):
                self._side_sums[place, arm] = self._side_sum(place, arm)
        for j in range(self._alpha.shape[0]):
            self._terms[j] = log(self._alpha[j])
            if self._place[j] >= 0:
                for arm in range(self._arms.n_arms):
                    self._terms[j] += self._side_sums[self._place[j], arm]
                self._terms[j] += self._ratio_of(self._upper[j]) + self._ratio_of(self._lower[j])
            largest = max(largest, self._terms[j])
        total = 0.0
        for j in range(self._alpha.shape[0]):
            total += exp(self._terms[j] - largest)
        total = log(total) + largest
        self._log_weight[self._run] = -total + (log(<double>ROULETTE) if self._watch.lost else 0.0)
        weight = exp(self._log_weight[self._run] + self._offset)
        for j in range(self._alpha.shape[0]):
            part = weight * exp(self._terms[j] - total)
            self._explained[j] += part
            if self._place[j] >= 0:
                self._parts[self._place[j]] += part
        for place in range(self._sides.shape[0]):
            for arm in range(self._arms.n_arms):
                for s in range(self._sides[place, arm], self._sides[place, arm + 1]):
                    self._explained_sides[s] += self._parts[place] * self._gamma[s] * exp(
                        self._ratio_of(self._side[s]) - self._side_sums[place, arm])
            self._parts[place] = 0.0

    cdef double _ratio_of(self, int64_t tilt) noexcept nogil:
        return self._log_ratio[tilt] if tilt >= 0 else 0.0

    cdef double _side_sum(self, Py_ssize_t place, Py_ssize_t arm) noexcept nogil:
        cdef Py_ssize_t s, first = self._sides[place, arm], end = self._sides[place, arm + 1]
        cdef double largest = -INFINITY, total = 0.0
        if first == end:
            return 0.0
        for s in range(first, end):
            largest = max(largest, self._ratio_of(self._side[s]))
        for s in range(first, end):
            total += self._gamma[s] * exp(self._ratio_of(self._side[s]) - largest)
        return log(total) + largest


cdef Py_ssize_t drawn(const double[::1] weights, Py_ssize_t first, Py_ssize_t end, Rng* rng) noexcept nogil:
    """A place from `first` to `end`, by weights that sum to 1."""
    cdef Py_ssize_t i
    cdef double left = next_double(rng)
    for i in range(first, end - 1):
        left -= weights[i]
        if left < 0.0:
            return i
    return end - 1
