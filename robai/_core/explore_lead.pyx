"""The exploration of LeadCommit: the leader, and the arms that are still in doubt."""

cimport cython
from libc.math cimport INFINITY, NAN, pow, sqrt
from libc.stdint cimport int64_t

from typing import NamedTuple

import numpy as np

from robai._core.families cimport Family
from robai._core.protocols cimport Arms, Evidence, Exploration, add_up_squares, argmax, handed_out, mean_of
from robai._core.rng cimport Rng
from robai._core.thresholds cimport Threshold

cdef int64_t MOST_PULLS = <int64_t>1 << 60


cdef struct Ahead:
    double pulls
    double rounds


class Standing(NamedTuple):
    """An arm beside the leader."""

    evidence: float                         # Z_b, the likelihood ratio of "the leader is better"
    bar: float                              # below which the arm is in doubt
    claim: float                            # x(Z_b) N_b: what the leader may have of pulls
    doubt: bool
    # Of the arm, until it is cleared if no mean changes; 0 if it is, NaN if it has no mean.
    pulls_ahead: float
    rounds_ahead: float                     # and with those of the leader meanwhile


@cython.final
cdef class Lead(Exploration):
    """Play the leader L, and each arm b in doubt the less often the more speaks against it.

    Z_b is the likelihood ratio of L and b, and b is in doubt while it is below the threshold. L is played
    while it has fewer pulls than every arm in doubt claims for it, x(Z_b) N_b with x(Z) = 1 + factor
    Z^exponent; else the arm with the smallest claim is. Nothing is remembered.

    Of rewards that come late: an arm without any does not lead, and is in doubt with Z = 0. If none has any,
    the arm that was handed out least is played.
    """
    cdef readonly Family family
    cdef readonly Threshold threshold
    cdef readonly double exponent
    cdef readonly double factor
    cdef double[::1] _scores                # means, and then claims with a minus

    def __init__(self, Py_ssize_t n_arms, Family family not None, Threshold threshold not None,
                 double exponent, double factor):
        self.family, self.threshold, self.exponent, self.factor = family, threshold, exponent, factor
        self.moments, self.discerns, self.impatient = family.moments, True, True
        self._scores = np.empty(n_arms)

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm, leader
        cdef double least = INFINITY, claim, evidence
        cdef bint blind = arms.pulls[arms.most] == 0
        for arm in range(arms.n_arms):
            if blind:
                self._scores[arm] = -handed_out(arms, arm)
            else:
                self._scores[arm] = mean_of(arms, arm) if arms.pulls[arm] > 0 else -INFINITY
        leader = argmax(&self._scores[0], arms.n_arms, rng)
        if blind:
            return leader
        self._scores[leader] = -INFINITY
        for arm in range(arms.n_arms):
            if arm != leader:
                evidence, claim = self._evidence(arms, leader, arm), INFINITY
                if not evidence >= self._bar(arms, leader, arm):
                    claim = self._share(evidence) * handed_out(arms, arm)
                least = min(least, claim)
                self._scores[arm] = -claim
        if handed_out(arms, leader) < least:            # all others may be cleared, and the claims infinite
            return leader
        return argmax(&self._scores[0], arms.n_arms, rng)

    cdef inline double _evidence(self, const Arms* arms, Py_ssize_t leader, Py_ssize_t arm) noexcept nogil:
        cdef double ratio
        if arms.pulls[arm] == 0 or mean_of(arms, leader) == mean_of(arms, arm):
            return 0.0
        ratio = self.family.ratio(arms, leader, arm)
        return ratio if ratio > 0.0 else 0.0            # a little below by rounding

    cdef inline double _bar(self, const Arms* arms, Py_ssize_t leader, Py_ssize_t arm) noexcept nogil:
        return self.threshold.asked(arms, leader, arm) if arms.pulls[arm] > 0 else INFINITY

    cdef inline double _share(self, double evidence) noexcept nogil:
        """x(Z), how many times the pulls of an arm the leader may have."""
        return 1.0 + self.factor * (sqrt(evidence) if self.exponent == 0.5 else pow(evidence, self.exponent))

    def standings(self, Evidence evidence not None, pending):
        """The leader, and how every other arm stands beside it; `pending` pulls count in claims.

        One arm has a reward, at least.
        """
        cdef Arms* arms = &evidence.arms
        cdef Py_ssize_t arm, leader = -1
        cdef double ratio, bar
        cdef Ahead ahead
        evidence.need(self.moments)
        for arm in range(arms.n_arms):
            if arms.pulls[arm] > 0 and (leader < 0 or mean_of(arms, arm) > mean_of(arms, leader)):
                leader = arm
        standings = {}
        for arm in range(arms.n_arms):
            if arm != leader:
                ratio, bar = self._evidence(arms, leader, arm), self._bar(arms, leader, arm)
                claim = self._share(ratio) * (arms.pulls[arm] + pending[arm])
                doubt = not ratio >= bar
                if arms.pulls[arm] == 0:
                    ahead = Ahead(NAN, NAN)
                else:
                    ahead = self._ahead(evidence, leader, arm) if doubt else Ahead(0.0, 0.0)
                standings[arm] = Standing(ratio, bar, claim, doubt, ahead.pulls, ahead.rounds)
        return leader, standings

    cdef Ahead _ahead(self, Evidence now, Py_ssize_t leader, Py_ssize_t arm):
        """What it takes to end the doubt of an arm."""
        cdef Evidence then = now.copy()
        cdef int64_t pulls = now.arms.pulls[arm], low = pulls, high = pulls, middle
        while not self._ends(now, then, leader, arm, high):
            if high > MOST_PULLS // 2:
                return Ahead(INFINITY, INFINITY)
            low, high = high, 2 * high
        while high - low > 1:
            middle = low + (high - low) // 2
            if self._ends(now, then, leader, arm, middle):
                high = middle
            else:
                low = middle
        self._ends(now, then, leader, arm, high)
        return Ahead(<double>(high - pulls), <double>(then.arms.t - now.arms.t))

    cdef bint _ends(self, Evidence now, Evidence then, Py_ssize_t leader, Py_ssize_t arm,
                    int64_t pulls) noexcept:
        """Is an arm with so many pulls cleared, if means and variances stay and the leader has its share?"""
        cdef double share, evidence, bar
        cdef int64_t rounds
        cdef int _step
        stretch(now, then, leader, now.arms.pulls[leader])
        stretch(now, then, arm, pulls)
        for _step in range(100):            # to N_L = x(Z) N_b from below: Z grows with N_L, to a limit
            share = self._share(self._evidence(&then.arms, leader, arm)) * <double>pulls
            if not share > <double>then.arms.pulls[leader]:
                break
            stretch(now, then, leader, <int64_t>min(share + 1.0, <double>MOST_PULLS))
        evidence, rounds = self._evidence(&then.arms, leader, arm), then.arms.t
        then.arms.t = now.arms.t            # whether the horizon is near enough is not asked here
        bar = self.threshold.asked(&then.arms, leader, arm)
        then.arms.t = rounds
        return evidence >= bar


cdef void stretch(Evidence now, Evidence then, Py_ssize_t arm, int64_t pulls) noexcept:
    """Give an arm another number of pulls, with mean and variance as they are now."""
    cdef double times = <double>pulls / <double>now.arms.pulls[arm]
    then.arms.t += pulls - then.arms.pulls[arm]
    then.arms.pulls[arm], then.arms.sums[arm] = pulls, now.arms.sums[arm] * times
    if now.arms.squares != NULL:
        then.arms.squares[arm] = now.arms.squares[arm] * times
        add_up_squares(&then.arms)
