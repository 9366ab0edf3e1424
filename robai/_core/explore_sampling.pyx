"""Exploration by turns, by posterior draws, and by tracking proportions.

Tracking is Track-and-Stop's, Garivier and Kaufmann (2016): the optimal proportions of best arm
identification, w*, and the rules that track them.
"""

cimport cython
from libc.math cimport ceil, rint, sqrt
from libc.stdint cimport int64_t

import numpy as np

from robai._base import checks
from robai._core.families cimport Family
from robai._core.proportions cimport PART, Proportions
from robai._core.protocols cimport Arms, Exploration, argmax, expect_fields, mean_of
from robai._core.rng cimport Rng


@cython.final
cdef class RoundRobin(Exploration):
    """Arm 1, arm 2, ..., arm K, arm 1, ..."""

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        return <Py_ssize_t>(arms.t % arms.n_arms)


@cython.final
cdef class Thompson(Exploration):
    """The arm with the largest draw from its posterior, under Jeffreys' prior.

    Thompson (1933); Korda, Kaufmann and Munos (2013) for one-parameter exponential families.
    """

    def __init__(self, Py_ssize_t n_arms, Family family not None):
        self.family = family
        self.initial_pulls, self.moments = family.prior_pulls, family.moments
        self.leaps = family.moments == 1
        self._draws = np.empty(n_arms)

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(arms.n_arms):
            self._draws[arm] = self.family.posterior(arms, arm, rng)
        return argmax(&self._draws[0], arms.n_arms, rng)


# ---- tracking


cdef inline Py_ssize_t fewer(const Arms* arms, double least) noexcept nogil:
    """How many arms have fewer pulls."""
    cdef Py_ssize_t arm, count = 0
    for arm in range(arms.n_arms):
        count += <double>arms.pulls[arm] < least
    return count


@cython.final
cdef class Tracking(Exploration):
    """Pull the arm that lags most behind the optimal proportions of the current estimate.

    D-tracking aims at t w*(estimate); arms with fewer than sqrt(t) - K/2 pulls come first. C-tracking aims
    at the sum over all rounds so far, which starts at the initial pulls, of w* projected onto the proportions
    of at least 1 / (2 sqrt(K^2 + t)). A mean on the edge of the domain is moved inside by 1 / (2 N + 2), as
    little as one observation could. With more than ten arms w* is solved for again only when 1 % more rounds
    have been played.
    """
    cdef readonly Family family
    cdef readonly bint cumulative
    cdef Proportions _optimal
    cdef double[::1] _weights               # these, of the last estimate
    cdef double[::1] _goal
    cdef double[::1] _lag
    cdef bint _searching
    cdef int64_t _due                       # the round at which w* is solved for again

    def __init__(self, Py_ssize_t n_arms, Family family not None, bint cumulative):
        self.family = family
        self.cumulative = cumulative
        self.prepares = n_arms > 100
        self._optimal = Proportions(family, n_arms)
        self._weights = self._optimal.weights
        self._goal = np.empty(n_arms)
        self._lag = np.empty(n_arms)

    cdef void restart(self) noexcept nogil:
        cdef Py_ssize_t arm
        self._searching = False
        self._optimal.guess = 0.5
        self._due = 0
        for arm in range(self._goal.shape[0]):
            self._goal[arm], self._weights[arm] = <double>self.initial_pulls, 0.0

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm
        cdef double least, excess
        if self._is_forced(arms):
            for arm in range(arms.n_arms):
                self._lag[arm] = -<double>arms.pulls[arm]
            return argmax(&self._lag[0], arms.n_arms, rng)
        while not self._solve(arms):
            pass
        if self.cumulative:
            least = 0.5 / sqrt(<double>arms.n_arms * <double>arms.n_arms + <double>arms.t)
            excess = self._excess(arms.n_arms, least)
            for arm in range(arms.n_arms):
                self._goal[arm] += max(least, self._weights[arm] - excess)
        else:
            for arm in range(arms.n_arms):
                self._goal[arm] = <double>arms.t * self._weights[arm]
        for arm in range(arms.n_arms):
            # To nine digits, so that arms which are alike tie in spite of the root finding.
            self._lag[arm] = rint(1e9 * (self._goal[arm] - <double>arms.pulls[arm]))
        return argmax(&self._lag[0], arms.n_arms, rng)

    cdef bint prepare(self, const Arms* arms) noexcept nogil:
        return arms.t < self._due or self._is_forced(arms) or self._solve(arms)

    cdef bint _is_forced(self, const Arms* arms) noexcept nogil:
        """Does an arm have too few pulls, whatever its proportion?"""
        return not self.cumulative and fewer(arms, sqrt(<double>arms.t) - 0.5 * <double>arms.n_arms) > 0

    cdef double _excess(self, Py_ssize_t n_arms, double least) noexcept nogil:
        """x such that the larger of `least` and w* - x sum to 1 over the arms.

        Arms whose w* - x is below `least` are given that, the others share what is left; from the smallest x
        on, each step takes arms from the others, until none is below.
        """
        cdef Py_ssize_t arm, others, before = -1
        cdef double total, excess = 0.0
        while True:
            others, total = 0, 0.0
            for arm in range(n_arms):
                if self._weights[arm] - excess > least:
                    others += 1
                    total += self._weights[arm]
            if others == before or others == 0:
                return excess
            before = others
            excess = (total + <double>(n_arms - others) * least - 1.0) / <double>others

    cdef bint _solve(self, const Arms* arms) noexcept nogil:
        """A part of the search for w*; whether it is found."""
        if not self._searching:
            if arms.t < self._due:
                return True
            self._estimate(arms)
            self._optimal.begin()
            self._searching = True
        if not self._optimal.go_on(PART):
            return False
        self._searching = False
        self._due = arms.t + (1 if arms.n_arms <= 10 else <int64_t>ceil(0.01 * <double>arms.t))
        return True

    cdef void _estimate(self, const Arms* arms) noexcept nogil:
        """The means, moved inside the domain."""
        cdef Py_ssize_t arm
        cdef double mean
        for arm in range(arms.n_arms):
            mean = mean_of(arms, arm)
            if mean <= self.family.low:
                mean = self.family.low
                mean += self.family.unit / (2.0 * <double>arms.pulls[arm] + 2.0)
            elif mean >= self.family.high:
                mean = self.family.high
                mean -= self.family.unit / (2.0 * <double>arms.pulls[arm] + 2.0)
            self._optimal.means[arm] = mean

    def memory(self):
        return {
            "goal": np.asarray(self._goal).tolist(),
            "weights": np.asarray(self._weights).tolist(),
            "guess": self._optimal.guess,
            "due": self._due,
        }

    def remember(self, memory, pulls):
        expect_fields(memory, ("goal", "weights", "guess", "due"))
        cdef Py_ssize_t n_arms = self._goal.shape[0], arm
        for name in ("goal", "weights"):
            if len(memory[name]) != n_arms:
                raise ValueError(f"{name} must have {n_arms} entries, got {len(memory[name])}")
        for arm in range(n_arms):
            self._goal[arm] = checks.at_least("goal", memory["goal"][arm], 0.0)
            self._weights[arm] = checks.at_least("weights", memory["weights"][arm], 0.0)
        self._optimal.guess = checks.probability("guess", memory["guess"])
        self._due = checks.whole("due", memory["due"], 0, 2**62)
        self._searching = False
