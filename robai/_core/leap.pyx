"""The leap engine: the law of the step engine, without playing the rounds that decide nothing.

While the leader is pulled the bar c, the best other index, stands still, and the leader stays
while its pulls n and sum S are in the stay region

    R = {(n, S) : upper bound of (n, S) at level f is above c},

which is convex. Its edge is b(n) = c n - sigma sqrt(2 f n) for sub-Gaussian bounds; for
divergence bounds n d(S/n, c) is the perspective of a convex function; for Bernstein's see there. A streak
ends when (n, S) leaves R, or at a round that is known beforehand (the horizon, or what the stopping
rule says).

Levels that depend on the arm's pulls, log(T/n) and KL-UCB++'s, or on the round, log t, are bounded
from below over each leap (`least_level`): that makes R smaller but leaves it convex, as any R with
a fixed level. Where a walk has left that smaller R the indices are compared anew.
"""

cimport cython
from libc.math cimport fabs, log, log1p, log2, sqrt
from libc.stdint cimport int64_t

import numpy as np

from robai._core.bounds cimport GaussianBounds
from robai._core.coins cimport Coins
from robai._core.engine cimport LOOK, Batch
from robai._core.families cimport Family, Gaussian
from robai._core.explore_index cimport Optimism
from robai._core.levels cimport FixedLevel, least_level
from robai._core.rng cimport Rng, next_double, next_normal


cdef enum:
    FEW = 16                        # rounds to play one by one where no leap is possible

# A Gaussian walk closer to the edge than that, in standard deviations, is played round by round.
cdef double NEAR = 3.0


@cython.final
cdef class GaussianLeaps(Batch):
    """For Gaussian rewards: hitting times.

    The sums of a Gaussian walk are a Brownian motion seen at whole times. The chord of b over
    the next k pulls lies above b, so until the motion meets the chord the walk has not left R.
    Sums are kept as deviations from n times the true mean, which stay small, in units of the
    standard deviation.
    """
    cdef GaussianBounds _bounds
    cdef bint _steady               # the level is always the same
    cdef double[::1] _sigma         # of the rewards of each arm
    cdef double[::1] _precision     # 1 / sigma
    cdef double[::1] _width         # of its bounds, in units of that
    cdef double[::1] _steady_root
    cdef double[::1] _deviations

    def __init__(self, *args):
        Batch.__init__(self, *args)
        self._bounds = self._optimism.bounds
        self._steady = isinstance(self._bounds.level, FixedLevel)
        # Noise below 1e-30 of the bounds, which no index sees, is drawn larger: so every number of a
        # streak is below 1e60, and its square a double. Other levels are logarithms.
        cdef double level = (<FixedLevel>self._bounds.level).value if self._steady else 1.0
        bounds = np.asarray(self._bounds.sigma)
        sigma = np.maximum((<Gaussian>self._rewards).sigma, 1e-30 * bounds * sqrt(max(level, 1.0)))
        self._sigma, self._precision, self._width = sigma, 1.0 / sigma, bounds / sigma
        self._steady_root = bounds / sigma * sqrt(2.0 * level)
        self._deviations = np.empty(self._arms.n_arms)

    cdef void _streak(self, Optimism explore, int64_t limit) noexcept nogil:
        cdef Py_ssize_t arm = explore.leader
        # Clipped, for the same reason: that many standard deviations a pull outweigh any bound.
        cdef double mean = self._means[arm], sigma = self._sigma[arm]
        cdef double ahead = min(max((mean - explore.bar) * self._precision[arm], -1e40), 1e40)
        cdef double deviation, n, t, slack, root, drift, tau, k, step, excess, square
        cdef int work = 0
        cdef int64_t pulls = self._arms.pulls[arm], end = self._arms.t + 1 + limit, left = limit, length, i
        # At the start of a streak b is close; a level that moves makes it expensive to look how close.
        cdef bint near = not (self._staying or self._steady)
        cdef Rng rng = self._rng, copy
        if self._arms.t == self._initial_rounds:
            self._take_deviations()
        deviation = self._deviations[arm]
        self._staying = True
        while self._staying and left > 0 and work < LOOK:
            work += 1
            n, t = <double>pulls, <double>(end - left)
            length = 0
            # The chord, of b from n to 1.5625 n pulls, and over how many of these to leap: the closer b is,
            # the fewer, and none within NEAR. A level that moves is taken at its least on the way.
            if not near:
                root = self._root(arm, n, t, 0.0)
                slack = deviation + n * ahead + root * sqrt(n)
                if slack > NEAR:
                    length = min(left, <int64_t>min(0.5625 * n, 400.0 * slack * slack))
                    if not self._steady:
                        length = self._moderate(arm, slack, root, n, t, length)
                        root = self._root(arm, n, t, <double>length)
                        slack = deviation + n * ahead + root * sqrt(n)
            step = 1.0
            # The bridge: either the motion does not meet the chord in these pulls, and its height after them
            # is drawn given that, or it is on the chord at time tau. So far the walk has not left R.
            if length >= 8:
                # The root of 1.5625 n is 1.25 sqrt(n), so b falls behind c n by r / (2.25 sqrt(n)) a pull.
                drift = ahead + 1.0 / 2.25 * root / sqrt(n)
                k = <double>length
                tau = hitting_time(slack, drift, &rng)
                if not tau < k:
                    copy = rng      # so that the address of `rng` goes nowhere: it stays in registers
                    deviation += height_if_not_hit(slack, drift, k, &copy) - slack - drift * k
                    rng = copy
                    pulls += length
                    left -= length
                    continue
                # From there it is a part of a step to the next whole time.
                deviation -= slack + drift * tau
                length = <int64_t>tau
                pulls += length
                left -= length
                step = sqrt(<double>(length + 1) - tau)
            # Near the edge, pull by pull, a few: with few pulls a level may fall fast. Bounds much wider than
            # the noise tie in spite of it, hence the margin.
            length = min(left, min(pulls, <int64_t>FEW))
            n = <double>pulls
            root = self._root(arm, n, <double>(end - left), <double>length)
            square = (1.0 - 2e-9) * root * root
            for i in range(length):
                deviation += step * next_normal(&rng)
                n += 1.0
                excess = deviation + n * ahead                          # over c n
                if not excess * fabs(excess) > -square * n:             # is S > b(n), without a root
                    self._staying = False
                    length = i + 1
                    break
                step = 1.0
            pulls += length
            left -= length
            near = False
        self._rng = rng
        self._deviations[arm] = deviation
        self._sums[arm] = mean * <double>pulls + sigma * deviation
        self._count(arm, limit - left)
        self._work += work

    cdef inline double _root(self, Py_ssize_t arm, double n, double t, double k) noexcept nogil:
        """r such that the bounds are m +- r sigma / sqrt(n), or wider, during the next k pulls."""
        if self._steady:
            return self._steady_root[arm]
        return self._width[arm] * sqrt(2.0 * least_level(self._bounds.level, n, t, k))

    cdef int64_t _moderate(self, Py_ssize_t arm, double slack, double root, double n, double t,
                           int64_t k) noexcept nogil:
        """At most k pulls over which a falling level does not cost more than half the slack."""
        cdef double loss = (root - self._root(arm, n, t, <double>k)) * sqrt(n)
        while k >= 8 and loss > 0.5 * slack:
            k = <int64_t>(<double>k * max(0.45 * slack / loss, 0.1))        # about linear in k
            loss = (root - self._root(arm, n, t, <double>k)) * sqrt(n)
        return k

    cdef void _take_deviations(self) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(self._arms.n_arms):
            self._deviations[arm] = (
                (self._sums[arm] - self._means[arm] * <double>self._arms.pulls[arm]) / self._sigma[arm])


CORRIDOR = 41.5

cdef double RARE = 1.0 / 256.0      # of failures: chances that are worth a leap to the next one

cdef enum:
    SMALLEST = 20                   # sizes of leaps: 2^(size/4) rounds, from 32 ...
    SIZES = 240                     # ... to 10^18
    SMALLEST_OF_COINS = 28          # or, where words of coins are nearly as fast, from 128 ...

# Sums are rounded from twice this on: single rewards that are added to one would drift away from their mean.
cdef double WHOLE = 4503599627370496.0          # 2^52


@cython.final
cdef class PositiveLeaps(Coins):
    """For rewards that are never negative: leaps over rounds in which the leader surely stays.

    Safe leap: if (n + k, S) is in R, so is every state that k rewards can lead through.
    Corridor leap: S stays above S + m mean - x for all m <= k, except with probability
    exp(-41.5), if k d(mean - x/k, mean) >= 41.5 (Doob's inequality for the exponential
    martingale). If both ends of that line are in R, all of it is.
    Either way nothing happens in between, and the k rewards are drawn as one sum.
    To the next failure, of coins that hardly ever fail: no success leads out of R, see coins.pyx. Where few
    failures are too many, a corridor, which allows for some, is too wide.

    Where no leap is possible rounds are played one by one, the more the longer that has been so:
    at worst a run takes little longer than with the step engine.
    """
    cdef Family _family
    cdef double[:, ::1] _widths     # x of each arm and size, 0 where not yet needed
    cdef double[::1] _variances
    cdef bint _known                # are they those of the run's means
    cdef int64_t[::1] _rounds       # of each size
    cdef Py_ssize_t _smallest       # size of a leap that is worth it
    cdef int64_t _few               # rounds to play before the next try to leap, at least ...
    cdef int64_t _patience          # ... and now
    cdef double[::1] _rests         # what rounding has left of each sum

    def __init__(self, *args):
        Coins.__init__(self, *args)
        self._family = self._rewards
        self._widths = np.zeros((self._arms.n_arms, SIZES))
        self._variances, self._rests = np.empty((2, self._arms.n_arms))
        self._known = False
        self._smallest = SMALLEST_OF_COINS if self._binary else SMALLEST
        self._few = 4 * FEW if self._binary else FEW
        self._rounds = (2.0 ** (np.arange(SIZES) / 4.0)).astype(np.int64)

    cdef void _begin(self) noexcept nogil:
        Coins._begin(self)
        self._patience = self._few
        self._rests[:] = 0.0
        if self._all_means.shape[0] > 1 or not self._known:
            self._forget()

    cdef void _forget(self) noexcept nogil:
        """Widths and variances are those of other means."""
        cdef Py_ssize_t arm
        for arm in range(self._arms.n_arms):
            self._variances[arm] = self._family.variance(arm, self._means[arm])
        self._widths[:, :] = 0.0
        self._known = True

    cdef void _streak(self, Optimism explore, int64_t limit) noexcept nogil:
        cdef Py_ssize_t arm = explore.leader
        cdef int64_t left = limit, safe, length, work = 0
        if not self._staying:       # from the rim one round at a time: ties are possible there
            left -= self._steps(explore, min(left, self._patience))
            work += limit - left
        while self._staying and left > 0 and work < LOOK:
            work += 1
            safe = self._length(explore, left)
            length = self._to_failure(explore, safe, left)
            if length == 0 and safe > 0:
                length = safe
                add_exactly(&self._sums[arm], &self._rests[arm],
                            self._family.total(arm, self._means[arm], <double>length, &self._rng))
                self._count(arm, length)
            if length > 0:
                self._patience = self._few
            else:
                self._patience = min(2 * self._patience, 8 * self._few)
                length = self._steps(explore, min(left, self._patience))
                work += length
            left -= length
        self._work += work

    cdef int64_t _steps(self, Optimism explore, int64_t limit) noexcept nogil:
        cdef Py_ssize_t arm = explore.leader
        cdef double n
        cdef int64_t played = 0
        if self._sums[arm] < WHOLE:
            return Coins._steps(self, explore, limit)
        self._staying = True
        while self._staying and played < limit:
            add_exactly(&self._sums[arm], &self._rests[arm], self._take(arm))
            self._count(arm, 1)
            played += 1
            n = <double>self._arms.pulls[arm]
            self._staying = explore.bounds.above(
                arm, n, self._sums[arm], explore.bounds.level.at(n, <double>self._arms.t), explore.bar)
        return played

    cdef int64_t _to_failure(self, Optimism explore, int64_t least, int64_t limit) noexcept nogil:
        """Play until the leader fails, if it surely stays until then; how many rounds.

        None if that is not rare, or not far beyond `least` rounds.
        """
        cdef Py_ssize_t arm = explore.leader
        cdef int64_t length = limit
        cdef double chance = 1.0 - self._means[arm], ones, n
        cdef bint fails
        if not (self._binary and 0.0 < chance <= RARE and chance * <double>least < 1.0
                and explore.bar < 1.0 and explore.bounds.convex):
            return 0
        # How far to go is settled before the draw, on which it must not depend.
        if not self._holds(explore, length):
            length = min(limit, self._arms.pulls[arm])
            if not self._holds(explore, length):
                return 0
        ones = log(1.0 - next_double(&self._rng)) / log1p(-chance)
        fails = ones < <double>length
        if fails:
            length = min(<int64_t>ones, length - 1)
        add_exactly(&self._sums[arm], &self._rests[arm], <double>length)
        length += fails
        self._count(arm, length)
        if fails:
            n = <double>self._arms.pulls[arm]
            self._staying = explore.bounds.above(
                arm, n, self._sums[arm], explore.bounds.level.at(n, <double>self._arms.t), explore.bar)
        return length

    cdef bint _holds(self, Optimism explore, int64_t length) noexcept nogil:
        """Does the leader stay where it is at all levels of the next rounds?"""
        cdef Py_ssize_t arm = explore.leader
        cdef double n = <double>self._arms.pulls[arm]
        return explore.bounds.above(
            arm, n, self._sums[arm],
            least_level(explore.bounds.level, n, <double>(self._arms.t + 1), <double>length), explore.bar)

    cdef int64_t _length(self, Optimism explore, int64_t limit) noexcept nogil:
        """The length of a leap that is surely possible; 0 if only a short one is.

        Lengths are guessed from the slack, how far S is above the edge of R, and the slope of the
        edge, both for a variance that does not depend on the mean. A guess is then tested.
        """
        cdef Py_ssize_t arm = explore.leader, size, _try
        cdef int64_t length
        cdef double n = <double>self._arms.pulls[arm], bar = explore.bar, mean = self._means[arm]
        cdef double level = explore.bounds.level.at(n, <double>(self._arms.t + 1))
        cdef double root = explore.bounds.radius(arm, bar, n, level)
        cdef double slack = self._sums[arm] - n * (bar - root), slope = bar - 0.5 * root, loss, width, k
        if not slack > 0.0:
            return 0
        # k such that the corridor, sqrt(k) wide and losing slack at each round, uses the slack up
        loss = max(slope - mean, 0.0)
        width = sqrt(2.0 * CORRIDOR * self._variances[arm])
        k = 2.0 * slack / (width + sqrt(width * width + 4.0 * loss * slack))
        k = min(k * k, <double>limit)
        if k * slope < min(slack, <double>limit * slope):           # no reward at all uses less
            k = min(0.9 * slack / slope, <double>limit)
            length = min(<int64_t>k, limit)             # limits above 2^53 may have been rounded up
            if length >= self._rounds[self._smallest] and self._safe(explore, length):
                return length
        if not k >= <double>self._rounds[self._smallest]:
            return 0
        size = min(<Py_ssize_t>(4.0 * log2(k)) + 1, <Py_ssize_t>SIZES - 1)
        while size > self._smallest and self._width(arm, size) + loss * <double>self._rounds[size] > slack:
            size -= 1
        for _try in range(4):
            if size < self._smallest:
                break
            if self._clear(explore, size, limit):
                return min(self._rounds[size], limit)
            size -= 1
        return 0

    cdef bint _safe(self, Optimism explore, int64_t length) noexcept nogil:
        """Does the leader stay for so many rounds, whatever the rewards?"""
        cdef Py_ssize_t arm = explore.leader
        cdef double n = <double>self._arms.pulls[arm], k = <double>length
        return explore.bounds.above(
            arm, n + k, self._sums[arm],
            least_level(explore.bounds.level, n, <double>(self._arms.t + 1), k), explore.bar)

    cdef bint _clear(self, Optimism explore, Py_ssize_t size, int64_t limit) noexcept nogil:
        """Does the leader stay as long as it is in the corridor of this size?"""
        cdef Py_ssize_t arm = explore.leader
        cdef double k = <double>min(self._rounds[size], limit)
        cdef double n = <double>self._arms.pulls[arm], low = self._sums[arm] - self._width(arm, size)
        cdef double level = least_level(explore.bounds.level, n, <double>(self._arms.t + 1), k)
        return (explore.bounds.above(arm, n, low, level, explore.bar)
                and explore.bounds.above(arm, n + k, low + k * self._means[arm], level, explore.bar))

    cdef inline double _width(self, Py_ssize_t arm, Py_ssize_t size) noexcept nogil:
        if self._widths[arm, size] == 0.0:
            self._widths[arm, size] = corridor_width(
                self._family, arm, self._means[arm], <double>self._rounds[size], CORRIDOR)
        return self._widths[arm, size]


cdef double corridor_width(Family family, Py_ssize_t arm, double mean, double k,
                           double exponent) noexcept nogil:
    """x with k d(mean - x/k, mean) >= exponent, about a thousandth larger than necessary.

    If no x below k (mean - low) is enough, that one is: a sum cannot be further down.
    """
    cdef double outside = family.low, inside = mean, middle
    cdef int _step
    if mean == family.low or mean == family.high:       # there every reward is the mean
        return 0.0
    for _step in range(100):
        if mean - outside <= 1.001 * (mean - inside):
            break
        middle = 0.5 * (outside + inside)
        if k * family.divergence(arm, middle, mean) < exponent:
            inside = middle
        else:
            outside = middle
    return k * (mean - outside) * (1.0 + 1e-6)          # the margin is for rounding
