"""The protocols of protocols.pxd: what a rule does unless it says otherwise."""

from libc.math cimport NAN, isnan

from typing import NamedTuple

import numpy as np

from robai._core.rng cimport Stream, next_below


class Report(NamedTuple):
    """What a stopping rule compared: `Compared` in protocols.pxd, and which rule it was."""

    rule: Stopping
    fires: bool
    value: float
    asked: float
    arm: int
    rival: int


cdef class Evidence:
    """Answered pulls of every arm, with the sums of their rewards, and of the squares of their deviations."""

    def __cinit__(self, pulls, sums, int64_t horizon, squares=None):
        self._pulls = np.array(pulls, dtype=np.int64)
        self._sums = np.array(sums, dtype=np.float64)
        if not self._pulls.shape[0] == self._sums.shape[0] > 0:
            raise ValueError(f"there must be as many pulls as sums, got {len(pulls)} and {len(sums)}")
        if squares is not None:
            self._squares = np.array(squares, dtype=np.float64)
            if self._squares.shape[0] != self._pulls.shape[0]:
                raise ValueError(f"there must be {len(pulls)} squares, one an arm, got {len(squares)}")
            self.arms.squares = &self._squares[0]
        self.arms.n_arms, self.arms.horizon = self._pulls.shape[0], horizon
        self.arms.pulls, self.arms.sums = &self._pulls[0], &self._sums[0]
        self.arms.t, self.arms.most = np.sum(self._pulls), np.argmax(self._pulls)
        if self.arms.squares != NULL:
            add_up_squares(&self.arms)

    @property
    def pulls(self):
        """The pulls of every arm, the array itself."""
        return np.asarray(self._pulls)

    @property
    def sums(self):
        """The sums of every arm, the array itself."""
        return np.asarray(self._sums)

    def add(self, Py_ssize_t arm, double reward):
        """One more reward of an arm."""
        if not 0 <= arm < self.arms.n_arms:
            raise IndexError(f"there is no arm {arm}")
        if self.arms.squares != NULL:
            add_square(&self.arms, arm, reward)
        self._sums[arm] += reward
        self.arms.t += 1
        count_pulls(&self.arms, arm, 1)

    cdef int need(self, int moments) except -1:
        if moments > 1 and self.arms.squares == NULL:
            raise ValueError("a rule needs the squares of the deviations, and there are none")
        return 0

    cdef Evidence copy(self):
        squares = None if self.arms.squares == NULL else self._squares
        return Evidence(self._pulls, self._sums, self.arms.horizon, squares)


cdef Py_ssize_t argmax(const double* values, Py_ssize_t count, Rng* rng) noexcept nogil:
    cdef Py_ssize_t i, best = 0, ties = 1, chosen
    cdef double largest = values[0]
    for i in range(1, count):
        if values[i] >= largest:            # one comparison for most
            ties = ties + 1 if values[i] == largest else 1
            if ties == 1:
                best, largest = i, values[i]
    if ties == 1:
        return best
    chosen = next_below(rng, ties)
    for i in range(best, count):
        if values[i] == values[best]:
            if chosen == 0:
                return i
            chosen -= 1
    return best


cdef class Exploration:
    def __cinit__(self, *args, **kwargs):
        self.initial_pulls = self.moments = 1

    cdef void restart(self) noexcept nogil:
        pass

    cdef bint prepare(self, const Arms* arms) noexcept nogil:
        return True

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        return -1

    cdef Py_ssize_t recommend(self, const Arms* arms, Rng* rng) noexcept nogil:
        return -1

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        pass

    def complaint(self):
        """What it came to that is no number, and where, if anything since this was asked last; else None."""
        return None

    def memory(self):
        """What it keeps from one `select` to the next: numbers and lists of numbers, by name."""
        return {}

    def remember(self, memory, pulls):
        """Go on from a `memory` at these numbers of pulls; ValueError if there can be no such memory."""
        expect_fields(memory, ())


cdef int expect_fields(memory, names) except -1:
    if set(memory) != set(names):
        raise ValueError(f"must have the fields {sorted(names)}, got {sorted(memory)}")
    return 0


cdef class Stopping:
    def __cinit__(self, *args):
        self.initial_pulls = self.moments = 1

    cdef Compared compared(self, const Arms* arms) noexcept nogil:
        return Compared(False, NAN, NAN, -1, -1)

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        return self.compared(arms).fires

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return 1

    cdef Py_ssize_t foreseen(self, const Arms* arms, Py_ssize_t arm, const double* rewards,
                             Py_ssize_t count) noexcept nogil:
        return 1

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        pass

    def fires_on(self, Evidence evidence not None):
        """Whether it fires."""
        evidence.need(self.moments)
        return self.fires(&evidence.arms)

    def report(self, Evidence evidence not None):
        """What it compares: a list, because a combination of rules compares several things."""
        evidence.need(self.moments)
        cdef Compared compared = self.compared(&evidence.arms)
        return [Report(self, compared.fires, compared.value, compared.asked, compared.arm, compared.rival)]


cdef class Commitment:
    def __cinit__(self, *args):
        self.moments = 1

    cdef Py_ssize_t choose(self, const Arms* arms, Rng* rng) noexcept nogil:
        return -1

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        pass

    cdef double score(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return NAN

    def choose_on(self, Evidence evidence not None, Stream stream not None):
        """The arm to commit to."""
        evidence.need(self.moments)
        return self.choose(&evidence.arms, &stream.rng)

    def score_of(self, Evidence evidence not None, Py_ssize_t arm):
        """By how much an arm is preferred; NaN if it is not by a number."""
        evidence.need(self.moments)
        return self.score(&evidence.arms, arm)


class Started(NamedTuple):
    """The compiled rules of a policy, for one game."""

    explore: Exploration
    stop: Stopping
    commit: Commitment
    initial_pulls: int                      # of every arm, before they are asked

    @property
    def moments(self):
        """2 if a rule looks at the squares of deviations, else 1."""
        return max(self.explore.moments, self.stop.moments, self.commit.moments)


def intervals(rules, Evidence evidence not None):
    """The lower and the upper bound of each arm that decide, None where the rules have no such bound.

    Those that end the exploration if there are any (separation, elimination); else the index of the
    exploration as the upper bound, and the lower bound by which it commits, or of the level of the index.
    """
    cdef Exploration explore = rules.explore
    cdef Stopping stop = rules.stop
    cdef Commitment commit = rules.commit
    cdef double lower, upper
    cdef Py_ssize_t arm
    evidence.need(rules.moments)
    bounds = []
    for arm in range(evidence.arms.n_arms):
        lower = upper = NAN
        if evidence.arms.pulls[arm] > 0:
            explore.bounds_of(&evidence.arms, arm, &lower, &upper)
            commit.bounds_of(&evidence.arms, arm, &lower, &upper)
            stop.bounds_of(&evidence.arms, arm, &lower, &upper)
        bounds.append((None if isnan(lower) else lower, None if isnan(upper) else upper))
    return bounds
