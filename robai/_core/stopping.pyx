"""When to stop exploring: one short class a rule."""

cimport cython
from libc.math cimport INFINITY, fabs, log, sqrt
from libc.stdint cimport INT64_MAX, int64_t

import numpy as np

from robai._core.families cimport Family
from robai._core.protocols cimport Arms, Compared, Stopping, best_mean, mean_of
from robai._core.thresholds cimport Threshold


cdef enum:
    FEW = 16                        # rounds, after which to ask once more costs little

cdef double CLEARLY = 1.0 - 1e-9    # rounding is less


@cython.final
cdef class Never(Stopping):
    """Explore for ever."""

    def __init__(self):
        self.initial_pulls = 0
        self.leaps = True

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        return False

    def report(self, evidence):
        return []

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return INT64_MAX


@cython.final
cdef class FixedRound(Stopping):
    """When `round` rounds have been played: EOCP and KL-EOCP."""
    cdef readonly int64_t round

    def __init__(self, int64_t round):
        self.round = round
        self.leaps = True

    cdef Compared compared(self, const Arms* arms) noexcept nogil:
        return Compared(arms.t >= self.round, <double>arms.t, <double>self.round, -1, -1)

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
        self.leaps = True

    cdef Compared compared(self, const Arms* arms) noexcept nogil:
        # Only the two largest counts matter.
        cdef double most = <double>arms.pulls[arms.most]
        cdef Py_ssize_t rival = second_most(arms, arms.most)
        cdef double share = self.level * <double>arms.pulls[rival]
        return Compared(most - share > 1.0, most, share + 1.0, arms.most, rival)

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        # Most calls end here: the second largest count is at least the average of all but the largest.
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


@cython.final
cdef class Dominance(Stopping):
    """When some N_a >= 1 + factor times the sum of all other N: lil'UCB."""
    cdef readonly double factor

    def __init__(self, double factor):
        self.factor = factor
        self.leaps = True

    cdef Compared compared(self, const Arms* arms) noexcept nogil:
        cdef double most = <double>arms.pulls[arms.most]
        cdef double asked = 1.0 + self.factor * (<double>arms.t - most)
        return Compared(most >= asked, most, asked, arms.most, second_most(arms, arms.most))

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        cdef double most = <double>arms.pulls[arms.most]
        return most >= 1.0 + self.factor * (<double>arms.t - most)

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        # Pulls of an arm bring no other closer. Rounded down, as for `Imbalance`.
        cdef double n = <double>arms.pulls[arm], needed = 1.0 + self.factor * (<double>arms.t - n) - n
        return <int64_t>min(max(needed, 1.0), 9e18)


cdef int64_t largest_but(const Arms* arms, Py_ssize_t arm) noexcept nogil:
    """The largest number of pulls of the other arms: without a branch, which `second_most` cannot do."""
    cdef Py_ssize_t other
    cdef int64_t largest = 0
    for other in range(arms.n_arms):
        if other != arm:
            largest = max(largest, arms.pulls[other])
    return largest


cdef Py_ssize_t second_most(const Arms* arms, Py_ssize_t arm) noexcept nogil:
    """The first of the other arms with the largest number of pulls."""
    cdef Py_ssize_t other, most = 1 if arm == 0 else 0
    for other in range(most + 1, arms.n_arms):
        if other != arm and arms.pulls[other] > arms.pulls[most]:
            most = other
    return most


@cython.final
cdef class MeanGap(Stopping):
    """When |m_1 - m_2| >= sigma sqrt(8 log(T/t) / t), asked at even t: BAI-ETC.

    Garivier, Kaufmann and Lattimore (2016), two arms pulled in turn.
    """
    cdef readonly double horizon
    cdef readonly double sigma

    def __init__(self, double horizon, double sigma):
        self.horizon, self.sigma = horizon, sigma

    cdef Compared compared(self, const Arms* arms) noexcept nogil:
        # t rounds are t/2 pulls of each arm; where rewards arrive late it may be fewer of one.
        cdef double t = 2.0 * <double>min(arms.pulls[0], arms.pulls[1])
        cdef double gap = mean_of(arms, 0) - mean_of(arms, 1)
        cdef double square = self.sigma * self.sigma * 8.0 * log(self.horizon / t) / t
        cdef Py_ssize_t best = 0 if gap >= 0.0 else 1
        cdef bint fires = arms.t % 2 == 0 and gap * gap >= square
        return Compared(fires, fabs(gap), sqrt(max(square, 0.0)), best, 1 - best)

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        cdef double t = 2.0 * <double>min(arms.pulls[0], arms.pulls[1]), gap
        if arms.t % 2:
            return False
        gap = mean_of(arms, 0) - mean_of(arms, 1)
        return gap * gap >= self.sigma * self.sigma * 8.0 * log(self.horizon / t) / t


@cython.final
cdef class SPRT(Stopping):
    """When (t/2) gap |m_1 - m_2| >= sigma^2 log(T gap^2 / sigma^2), asked at even t: SPRT-ETC.

    Garivier, Kaufmann and Lattimore (2016), two arms pulled in turn. On the left is sigma^2 times the
    logarithm of the likelihood ratio of the two orders of the arms (Wald, 1945).
    """
    cdef readonly double gap
    cdef readonly double sigma
    cdef double _asked                      # of (t/2) |m_1 - m_2|

    def __init__(self, double gap, double sigma, double horizon):
        cdef double ratio = gap / sigma
        self.gap, self.sigma = gap, sigma
        self._asked = sigma / ratio * (log(horizon) + 2.0 * log(ratio)) if ratio < INFINITY else 0.0

    cdef Compared compared(self, const Arms* arms) noexcept nogil:
        # As `MeanGap` counts pulls.
        cdef double n = <double>min(arms.pulls[0], arms.pulls[1])
        cdef double gap = mean_of(arms, 0) - mean_of(arms, 1)
        cdef Py_ssize_t best = 0 if gap >= 0.0 else 1
        return Compared(arms.t % 2 == 0 and n * fabs(gap) >= self._asked, n * fabs(gap), self._asked,
                        best, 1 - best)

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        return arms.t % 2 == 0 and self.compared(arms).fires


@cython.final
cdef class LikelihoodRatio(Stopping):
    """When min over b of N_a d(m_a, m_ab) + N_b d(m_b, m_ab) reaches a threshold, which may depend on b.

    a is the arm with the largest mean, m_ab the mean of all rewards of a and b. A second arm with the
    largest mean makes the ratio 0. If `mixture`, the certainty of the family takes the place of that ratio,
    which it is below.
    """
    cdef readonly Family family
    cdef readonly Threshold threshold
    cdef readonly bint mixture
    cdef Py_ssize_t _hint                   # the arm that was too close last, to be looked at first
    cdef Arms _later                        # two arms as they may be after some pulls, for `quiet`
    cdef int64_t[::1] _pulls
    cdef double[::1] _sums

    def __init__(self, Py_ssize_t n_arms, Family family not None, Threshold threshold not None,
                 bint mixture=False):
        self.family, self.threshold, self.mixture = family, threshold, mixture
        self.moments = family.moments
        self.leaps = family.high - family.low < INFINITY and not mixture
        self._pulls, self._sums = np.zeros(n_arms, dtype=np.int64), np.zeros(n_arms)
        self._later.n_arms, self._later.pulls, self._later.sums = n_arms, &self._pulls[0], &self._sums[0]

    cdef Compared compared(self, const Arms* arms) noexcept nogil:
        cdef Py_ssize_t best = best_mean(arms), arm
        cdef double ratio, asked
        cdef Compared compared = Compared(True, INFINITY, 0.0, best, -1)
        for arm in range(arms.n_arms):
            if arm == best:
                continue
            ratio, asked = self._ratio(arms, best, arm), self.threshold.asked(arms, best, arm)
            if ratio - asked < compared.value - compared.asked or compared.rival < 0:
                compared.value, compared.asked, compared.rival = ratio, asked, arm
            if not ratio >= asked:
                compared.fires = False
        return compared

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        # Mostly one arm, that which was too close last and is so again.
        cdef Py_ssize_t best = best_mean(arms), arm, i
        for i in range(arms.n_arms):
            arm = self._hint + i
            if arm >= arms.n_arms:
                arm -= arms.n_arms
            if arm != best and not self._ratio(arms, best, arm) >= self.threshold.asked(arms, best, arm):
                self._hint = arm
                return False
        return True

    cdef double _ratio(self, const Arms* arms, Py_ssize_t best, Py_ssize_t arm) noexcept nogil:
        if self.mixture:
            return self.family.certainty(arms, best, arm)
        return self.family.ratio(arms, best, arm)

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        # Either the arm wins against all others, or the best of the others, which stand still, does.
        # Rewards without a largest or a smallest one may bring that about at any round.
        cdef Py_ssize_t best = 1 if arm == 0 else 0, other
        cdef int64_t count
        if not self.leaps or arms.n_arms < 2:
            return 1
        for other in range(best + 1, arms.n_arms):
            if other != arm and mean_of(arms, other) > mean_of(arms, best):
                best = other
        count = self._before(arms, arm, best, self.family.high, max(arms.horizon - arms.t, <int64_t>1))
        if count <= FEW and arms.n_arms > 2:
            other = self._closest(arms, arm)
            if other != best:
                count = max(count, self._before(arms, arm, other, self.family.high, arms.horizon - arms.t))
        for other in range(arms.n_arms):
            if other != arm and other != best and (
                    self.family.ratio(arms, best, other) < CLEARLY * self.threshold.asked(arms, best, other)):
                return count
        return self._before(arms, arm, best, self.family.low, count)

    cdef Py_ssize_t _closest(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        """The other arm of which it is least clear that `arm` is better."""
        cdef Py_ssize_t other, closest = -1
        cdef double ratio, least = INFINITY
        for other in range(arms.n_arms):
            if other != arm:
                ratio = self.family.ratio(arms, arm, other)
                if mean_of(arms, arm) < mean_of(arms, other):
                    ratio = -ratio
                if closest < 0 or ratio < least:
                    closest, least = other, ratio
        return closest

    cdef int64_t _before(self, const Arms* arms, Py_ssize_t arm, Py_ssize_t other, double reward,
                         int64_t most) noexcept nogil:
        """After how many pulls of an arm, all with this reward, its ratio to another may be enough.

        The reward is the largest or the smallest. Along (1, r) the ratio N d(m, p) + ..., p the pooled mean,
        grows by the difference of two tangents, both at r, of the convex function that has d as its Bregman
        divergence: one touches it at m, the other at p. Once m is between p and r, it stays there, and
        the first is larger. So what these rewards do not reach in k pulls no others reach in k or fewer.
        Rounded down, and at most `most`.
        """
        cdef double asked = self.threshold.asked(arms, arm, other)
        cdef int64_t low = min(<int64_t>FEW, most - 1), count = min(arms.pulls[arm], most - 1), high = most
        if not self._is_short(arms, arm, other, reward, low, asked):
            return 1
        while count > low and not self._is_short(arms, arm, other, reward, count, asked):
            high, count = count, count >> 2
        low = max(low, count)
        while high < most and high - low > low >> 2:
            count = low + ((high - low) >> 1)
            if self._is_short(arms, arm, other, reward, count, asked):
                low = count
            else:
                high = count
        return low + 1

    cdef bint _is_short(self, const Arms* arms, Py_ssize_t arm, Py_ssize_t other, double reward,
                        int64_t count, double asked) noexcept nogil:
        """Is the ratio surely below the threshold then, which is monotone in pulls and rounds?"""
        cdef Arms* later = &self._later
        cdef double ratio = 0.0
        later.t, later.horizon = arms.t + count, arms.horizon
        later.pulls[arm], later.sums[arm] = arms.pulls[arm] + count, arms.sums[arm] + <double>count * reward
        later.pulls[other], later.sums[other] = arms.pulls[other], arms.sums[other]
        if (mean_of(later, arm) > mean_of(later, other)) == (reward == self.family.high):
            ratio = self.family.ratio(later, arm, other)
        return ratio < CLEARLY * min(asked, self.threshold.asked(later, arm, other))


cdef class Pair(Stopping):
    """Two rules."""
    cdef readonly Stopping first
    cdef readonly Stopping second

    def __init__(self, Stopping first not None, Stopping second not None):
        self.first = first
        self.second = second
        self.initial_pulls = max(first.initial_pulls, second.initial_pulls)
        self.moments = max(first.moments, second.moments)
        self.absolute = first.absolute or second.absolute

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        self.second.bounds_of(arms, arm, lower, upper)
        self.first.bounds_of(arms, arm, lower, upper)


@cython.final
cdef class Both(Pair):
    """When two rules fire at the same round: `&`."""

    def __init__(self, Stopping first not None, Stopping second not None):
        Pair.__init__(self, first, second)
        self.leaps = first.leaps or second.leaps

    def report(self, evidence):
        return self.first.report(evidence) + self.second.report(evidence)

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        return self.first.fires(arms) and self.second.fires(arms)

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        cdef int64_t count = self.first.quiet(arms, arm)
        return count if count > FEW else max(count, self.second.quiet(arms, arm))


@cython.final
cdef class Either(Pair):
    """When the first of two rules fires: `|`."""

    def __init__(self, Stopping first not None, Stopping second not None):
        Pair.__init__(self, first, second)
        self.leaps = first.leaps and second.leaps

    def report(self, evidence):
        fired = [rule for rule in (self.first, self.second) if rule.fires_on(evidence)]
        return [report for rule in fired for report in rule.report(evidence)]

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        return self.first.fires(arms) or self.second.fires(arms)

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return min(self.first.quiet(arms, arm), self.second.quiet(arms, arm))


@cython.final
cdef class Held(Stopping):
    """Not before another rule has once not fired when it was asked; from then on when that one fires.

    For an experiment that a person has reopened after its commitment: the evidence that ended it has to be
    refuted before it can end it again.
    """
    cdef readonly Stopping stop
    cdef public bint held

    def __init__(self, Stopping stop not None):
        self.stop, self.held = stop, True
        self.initial_pulls, self.moments, self.absolute = stop.initial_pulls, stop.moments, stop.absolute

    def fires_on(self, evidence):
        return not self.held and self.stop.fires_on(evidence)

    def report(self, evidence):
        return self.stop.report(evidence)

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        cdef bint fires = self.stop.fires(arms), held = self.held
        self.held = held and fires
        return fires and not held

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        self.stop.bounds_of(arms, arm, lower, upper)
