"""Explorations that tell the best arm from its closest rival: LUCB, UGapE, the top-two policies."""

cimport cython
from libc.math cimport INFINITY, fabs, log
from libc.stdint cimport int64_t

import numpy as np

from robai._base import checks
from robai._core.bounds cimport Bounds
from robai._core.families cimport Family
from robai._core.protocols cimport Arms, Exploration, argmax, expect_fields, handed_out, mean_of
from robai._core.rng cimport Rng, next_double


cdef enum:
    LEASE = 8                               # rounds, times the number of arms, that a ceiling holds


@cython.final
cdef class Contest:
    """The means of all arms and the largest upper bound, where few arms change from one look to the next.

    A level does not fall, so an upper bound at a later round is a ceiling until then, as long as its arm is
    not pulled: most bounds need not be computed, nor compared but with a ceiling.
    """
    cdef readonly Py_ssize_t n_arms
    cdef readonly Bounds bounds
    cdef double[::1] _means
    cdef Py_ssize_t _best                   # an arm with the largest mean, and how many have it
    cdef Py_ssize_t _ties
    cdef int64_t[::1] _pulls                # of which the means are, with the sums
    cdef double[::1] _sums
    cdef double[::1] _ceilings              # infinite if not computed since
    cdef double _until                      # the round whose upper bounds they are
    cdef double[::1] _values

    def __init__(self, Py_ssize_t n_arms, Bounds bounds):
        self.n_arms, self.bounds = n_arms, bounds
        self._means, self._sums = np.empty(n_arms), np.empty(n_arms)
        self._pulls = np.zeros(n_arms, dtype=np.int64)
        self._ceilings, self._values = np.empty(n_arms), np.empty(n_arms)

    cdef void look(self, const Arms* arms) noexcept nogil:
        """At the arms that have changed."""
        cdef Py_ssize_t arm
        cdef int64_t* pulls = &self._pulls[0]
        cdef double* sums = &self._sums[0]
        cdef double largest = -INFINITY
        self._best, self._ties = 0, 0
        for arm in range(arms.n_arms):
            if arms.pulls[arm] != pulls[arm] or arms.sums[arm] != sums[arm]:
                pulls[arm], sums[arm] = arms.pulls[arm], arms.sums[arm]
                self._means[arm], self._ceilings[arm] = mean_of(arms, arm), INFINITY
            if self._means[arm] >= largest:
                self._ties = self._ties + 1 if self._means[arm] == largest else 1
                self._best, largest = arm, self._means[arm]

    cdef Py_ssize_t largest_mean(self, Rng* rng) noexcept nogil:
        """Uniform among the arms with the largest mean, at the last look."""
        return self._best if self._ties == 1 else argmax(&self._means[0], self.n_arms, rng)

    cdef Py_ssize_t largest_upper(self, const Arms* arms, Py_ssize_t but, Py_ssize_t hint,
                                  Rng* rng) noexcept nogil:
        """Uniform among the arms, `but` one (-1: none), with the largest upper bound; `hint` is a likely one.

        They are those of the last look.
        """
        cdef Py_ssize_t arm, top
        cdef double t = <double>(arms.t + 1), second
        if self.bounds.moments > 1:                     # a reward of any arm may change the bounds of all
            for arm in range(arms.n_arms):
                self._values[arm] = number(self.bounds.upper(arms, arm, t)) if arm != but else -INFINITY
            return argmax(&self._values[0], arms.n_arms, rng)
        if not t <= self._until < t + <double>(LEASE * arms.n_arms):
            self._until = t + <double>(LEASE * arms.n_arms - 1)
            self._ceilings[:] = INFINITY
        top = self._highest(arms, but, hint, &second)
        if top < 0:
            return hint
        if hint != but:
            if self._above(arms, hint, t, self._ceilings[top]):
                return hint
            self._raise(arms, hint)
            second = max(second, min(self._ceilings[hint], self._ceilings[top]))
            if self._ceilings[hint] > self._ceilings[top]:
                top = hint
        if second == -INFINITY or self._above(arms, top, t, second):
            return top
        return self._compared(arms, but, top, t, rng)

    cdef inline bint _above(self, const Arms* arms, Py_ssize_t arm, double t, double bar) noexcept nogil:
        """Is the upper bound of an arm surely?"""
        cdef double n = <double>arms.pulls[arm]
        return self.bounds.above(arm, n, arms.sums[arm], self.bounds.level.at(n, t), bar)

    cdef Py_ssize_t _highest(self, const Arms* arms, Py_ssize_t but, Py_ssize_t other,
                             double* second) noexcept nogil:
        """The arm with the highest ceiling, all but two, or -1 if there is none; sets the second highest."""
        cdef Py_ssize_t arm, top = -1
        cdef double highest = -INFINITY, next_one = -INFINITY
        cdef const double* ceilings = &self._ceilings[0]
        for arm in range(arms.n_arms):
            if (ceilings[arm] > next_one or top < 0) and arm != but and arm != other:
                if ceilings[arm] == INFINITY:
                    self._raise(arms, arm)
                if top < 0 or ceilings[arm] > highest:
                    top, highest, next_one = arm, ceilings[arm], highest
                else:
                    next_one = max(next_one, ceilings[arm])
        second[0] = next_one
        return top

    cdef void _raise(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        """Compute a ceiling; it is above the upper bounds until then as they are computed, not exact."""
        cdef double upper = self.bounds.upper(arms, arm, self._until)
        self._ceilings[arm] = number(upper + 1e-9 * (upper - self._means[arm]) + 4e-15 * fabs(upper))

    cdef Py_ssize_t _compared(self, const Arms* arms, Py_ssize_t but, Py_ssize_t top, double t,
                              Rng* rng) noexcept nogil:
        """By upper bounds, of those arms whose ceilings are not below that of `top`."""
        cdef Py_ssize_t arm
        cdef double first = number(self.bounds.upper(arms, top, t)), bar = first
        for arm in range(arms.n_arms):
            self._values[arm] = -INFINITY
            if self._ceilings[arm] < bar or arm == but:
                continue
            if (self._ceilings[arm] == self._ceilings[top] and self._pulls[arm] == self._pulls[top]
                    and self._sums[arm] == self._sums[top]):
                self._values[arm] = first               # the same, as it is at the round of the ceilings
            elif not surely_below(arms, self.bounds, arm, t, bar):
                self._values[arm] = number(self.bounds.upper(arms, arm, t))
                bar = max(bar, self._values[arm])
        return argmax(&self._values[0], arms.n_arms, rng)


cdef inline bint surely_below(const Arms* arms, Bounds bounds, Py_ssize_t arm, double t,
                              double bar) noexcept nogil:
    """Is the upper bound of an arm?"""
    cdef double n = <double>arms.pulls[arm]
    return bounds.below(arm, n, arms.sums[arm], bounds.level.at(n, t), bar)


cdef inline double number(double bound) noexcept nogil:
    return bound if bound == bound else -INFINITY               # of sums too large for a double


@cython.final
cdef class LeaderChallenger(Exploration):
    """The arm with the largest mean, then that with the largest upper bound among the others: LUCB, KL-LUCB.

    Kalyanakrishnan, Tewari, Auer and Stone (2012); Kaufmann and Kalyanakrishnan (2013). Both are chosen
    before either is pulled.
    """
    cdef readonly Bounds bounds
    cdef Contest _contest
    cdef Py_ssize_t _challenger             # the second of the pair; the next one is often the same

    def __init__(self, Py_ssize_t n_arms, Bounds bounds not None):
        self.bounds = bounds
        self.initial_pulls, self.moments = bounds.initial_pulls, bounds.moments
        self._contest = Contest(n_arms, bounds)

    cdef void restart(self) noexcept nogil:
        self._challenger = 0
        self.midway = False

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t leader
        self.midway = not self.midway
        if not self.midway:
            return self._challenger
        self._contest.look(arms)
        leader = self._contest.largest_mean(rng)
        self._challenger = self._contest.largest_upper(arms, leader, self._challenger, rng)
        return leader

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        upper[0] = self.bounds.upper(arms, arm, <double>(arms.t + 1))

    def memory(self):
        return {"challenger": self._challenger, "midway": int(self.midway)}

    def remember(self, memory, pulls):
        expect_fields(memory, ("challenger", "midway"))
        challenger = checks.whole("challenger", memory["challenger"], 0, self._contest.n_arms - 1)
        self.midway = checks.whole("midway", memory["midway"], 0, 1)
        self._challenger = challenger


@cython.final
cdef class GapIndex(Exploration):
    """J with the smallest B_a = (the largest upper bound of the others) - L_a, until B_J <= 0: UGapE.

    Gabillon, Ghavamzadeh and Lazaric (2012). Pulls J or the arm of that upper bound, whichever has fewer
    pulls, the latter if both have as many.
    """
    cdef readonly Bounds bounds
    cdef double[::1] _upper
    cdef double[::1] _values
    cdef Py_ssize_t _choice                 # J
    cdef Py_ssize_t _rival                  # u; both are often those of the round before

    def __init__(self, Py_ssize_t n_arms, Bounds bounds not None):
        self.bounds = bounds
        self.initial_pulls, self.moments = bounds.initial_pulls, bounds.moments
        self.concludes = self.discerns = True
        self._upper, self._values = np.empty(n_arms), np.empty(n_arms)

    cdef void restart(self) noexcept nogil:
        self._choice, self._rival = 0, 1

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef double t = <double>(arms.t + 1)
        self._choose(arms, t, rng)
        if self._values[self._choice] >= 0.0:
            return -1
        self._upper[self._choice] = -INFINITY
        self._rival = argmax(&self._upper[0], arms.n_arms, rng)
        if handed_out(arms, self._choice) < handed_out(arms, self._rival):
            return self._choice
        return self._rival

    cdef void _choose(self, const Arms* arms, double t, Rng* rng) noexcept nogil:
        """Sets J, and the two largest upper bounds.

        Those of the last J and u are computed, the others mostly only compared with them.
        """
        cdef Py_ssize_t arm, first = self._choice, second = self._rival
        cdef double best
        self._upper[first] = number(self.bounds.upper(arms, first, t))
        self._upper[second] = number(self.bounds.upper(arms, second, t))
        if self._upper[second] > self._upper[first]:
            first, second = second, first
        for arm in range(arms.n_arms):
            if arm == self._choice or arm == self._rival:
                continue
            self._upper[arm] = -INFINITY
            if surely_below(arms, self.bounds, arm, t, self._upper[second]):
                continue
            self._upper[arm] = number(self.bounds.upper(arms, arm, t))
            if self._upper[arm] > self._upper[first]:
                first, second = arm, first
            elif self._upper[arm] > self._upper[second]:
                second = arm
        self._values[first] = best = self._value(arms, first, t, self._upper[second])
        if self._choice != first:
            self._values[self._choice] = self._value(arms, self._choice, t, self._upper[first])
            best = max(best, self._values[self._choice])
        for arm in range(arms.n_arms):
            if arm != first and arm != self._choice:
                self._values[arm] = -INFINITY
                # A lower bound is below the mean.
                if not mean_of(arms, arm) - self._upper[first] < best:
                    self._values[arm] = self._value(arms, arm, t, self._upper[first])
                    best = max(best, self._values[arm])
        self._choice = argmax(&self._values[0], arms.n_arms, rng)

    cdef inline double _value(self, const Arms* arms, Py_ssize_t arm, double t, double upper) noexcept nogil:
        """-B_a, where `upper` is the largest upper bound of the others."""
        return number(self.bounds.lower(arms, arm, t) - upper)

    cdef Py_ssize_t recommend(self, const Arms* arms, Rng* rng) noexcept nogil:
        return self._choice

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        cdef double t = <double>(arms.t + 1)
        lower[0], upper[0] = self.bounds.lower(arms, arm, t), self.bounds.upper(arms, arm, t)


cdef int take_counts(str name, values, int64_t[::1] counts) except -1:
    """Counts of every arm, from a memory."""
    cdef Py_ssize_t arm
    if len(values) != counts.shape[0]:
        raise ValueError(f"{name} must have {counts.shape[0]} entries, got {len(values)}")
    for arm in range(counts.shape[0]):
        counts[arm] = checks.whole(name, values[arm], 0, 2**62)
    return 0


cdef enum:
    MOST_DRAWS = 10_000                     # of the posterior, until another arm than the leader is largest


@cython.final
cdef class TopTwo(Exploration):
    """The leader I or a challenger, each in a share of the rounds.

    Leaders: one posterior draw of every arm (`bounds` and `empirical` are not given), the largest upper
    bound, or the largest mean. Challengers: the largest of new posterior draws, drawn until it is not I
    ("resample"), the smallest W_j, or the smallest W_j + log N_j; W_j = Z_Ij if m_I > m_j, else 0, where Z is
    the likelihood ratio. A leader that was drawn is pulled with probability `share`; another one if it has
    had at most that share of the rounds that it led.

    Russo (2016); Shang et al. (2020); Jourdan, Degenne, Baudry, de Heide and Kaufmann (2022).
    """
    cdef readonly Family family
    cdef readonly Bounds bounds             # of the leader, or None
    cdef readonly bint empirical
    cdef readonly bint resamples
    cdef readonly bint penalised
    cdef readonly double share
    cdef Contest _contest
    cdef double[::1] _values
    cdef int64_t[::1] _led                  # L: rounds in which each arm led
    cdef int64_t[::1] _pulled               # N: those in which it was pulled
    cdef Py_ssize_t _hint                   # the last leader

    def __init__(self, Py_ssize_t n_arms, Family family not None, Bounds bounds, bint empirical,
                 bint resamples, bint penalised, double share):
        self.family, self.bounds, self.empirical = family, bounds, empirical
        self.resamples, self.penalised, self.share = resamples, penalised, share
        self.initial_pulls, self.moments, self.slow = 1, family.moments, resamples
        if bounds is not None:
            self.initial_pulls = bounds.initial_pulls
        if resamples or not (empirical or bounds is not None):
            self.initial_pulls = max(self.initial_pulls, <int64_t>family.prior_pulls)
        self._contest, self._values = Contest(n_arms, bounds), np.empty(n_arms)
        self._led, self._pulled = np.zeros(n_arms, dtype=np.int64), np.zeros(n_arms, dtype=np.int64)

    cdef void restart(self) noexcept nogil:
        self._led[:] = 0
        self._pulled[:] = 0
        self._hint = 0

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t leader
        if self.bounds is None and not self.empirical:
            leader = self._drawn(arms, rng)
            return leader if next_double(rng) < self.share else self._challenger(arms, leader, rng)
        self._contest.look(arms)
        if self.empirical:
            leader = self._contest.largest_mean(rng)
        else:
            leader = self._contest.largest_upper(arms, -1, self._hint, rng)
        self._hint = leader
        self._led[leader] += 1
        if <double>self._pulled[leader] <= self.share * <double>self._led[leader]:
            self._pulled[leader] += 1
            return leader
        return self._challenger(arms, leader, rng)

    cdef Py_ssize_t _drawn(self, const Arms* arms, Rng* rng) noexcept nogil:
        """The arm with the largest draw from its posterior."""
        cdef Py_ssize_t arm
        for arm in range(arms.n_arms):
            self._values[arm] = number(self.family.posterior(arms, arm, rng))
        return argmax(&self._values[0], arms.n_arms, rng)

    cdef Py_ssize_t _challenger(self, const Arms* arms, Py_ssize_t leader, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm
        cdef double cost
        cdef int _draw
        if self.resamples:
            for _draw in range(MOST_DRAWS):
                arm = self._drawn(arms, rng)
                if arm != leader:
                    return arm
        for arm in range(arms.n_arms):
            cost = 0.0
            if mean_of(arms, leader) > mean_of(arms, arm):
                cost = self.family.ratio(arms, leader, arm)
            if self.penalised:
                cost += log(<double>arms.pulls[arm])
            self._values[arm] = number(-cost)
        self._values[leader] = -INFINITY
        return argmax(&self._values[0], arms.n_arms, rng)

    def memory(self):
        return {"led": np.asarray(self._led).tolist(), "pulled": np.asarray(self._pulled).tolist()}

    def remember(self, memory, pulls):
        expect_fields(memory, ("led", "pulled"))
        take_counts("led", memory["led"], self._led)
        take_counts("pulled", memory["pulled"], self._pulled)
