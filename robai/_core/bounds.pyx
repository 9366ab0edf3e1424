"""Confidence bounds (see bounds.pxd)."""

cimport cython
from libc.math cimport INFINITY, copysign, expm1, fabs, sqrt

import numpy as np

from robai._core.families cimport Family, least_divergence, most_divergence
from robai._core.posteriors cimport surprise_above
from robai._core.protocols cimport squares_of

# A test that skips the computation of an index must agree with the comparison of computed
# indices. Inverses are good to 1e-10 in divergence and 4 ulp in value; the margins are wider.
cdef double MARGIN = 1e-9
cdef double ULPS = 4e-15

# Two bounds of a divergence must agree with its computed value; those of means close to the end of a domain
# are rounded most.
cdef double SANDWICH = 1e-6


cdef class Bounds:
    def __cinit__(self, Level level not None, *args):
        self.level = level
        self.initial_pulls, self.moments = level.first, 1
        self.fallible, self.convex = level.fallible, True

    def complaint(self):
        """What they were that are no bounds, as `Level.complaint`."""
        return self.level.complaint()

    cdef double upper(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        return INFINITY

    cdef double lower(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        return -INFINITY

    cdef double radius(self, Py_ssize_t arm, double mean, double n, double level) noexcept nogil:
        return 0.0

    cdef bint above(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        return False

    cdef bint below(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        return False

    cdef bint dips(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        return False

    cdef Py_ssize_t streak(self, Py_ssize_t arm, double* n, double* total, const double* rewards,
                           Py_ssize_t count, double level, double bar) noexcept nogil:
        cdef double pulls = n[0], sum_ = total[0]
        cdef Py_ssize_t i = 0
        while True:
            sum_ += rewards[i]
            pulls += 1.0
            i += 1
            if i == count or not self.above(arm, pulls, sum_, level, bar):
                break
        n[0], total[0] = pulls, sum_
        return i

    cdef void stand(self, Standing* a, double root) noexcept nogil:
        pass

    cdef int ahead(self, const Standing* a, const Standing* b, double root, double* until) noexcept nogil:
        until[0] = root
        return 0

    cdef double height(self, const Standing* a, double root, double bar) noexcept nogil:
        return INFINITY


@cython.final
cdef class GaussianBounds(Bounds):
    """m +- sigma sqrt(2 f / n), valid for sigma-sub-Gaussian rewards."""

    def __init__(self, Level level, sigma):
        self.sigma = np.array(sigma, dtype=np.float64)
        self.crosses = True

    cdef double upper(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        cdef double n = <double>arms.pulls[arm]
        return arms.sums[arm] / n + self.sigma[arm] * sqrt(2.0 * self.level.at(n, t) / n)

    cdef double lower(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        cdef double n = <double>arms.pulls[arm]
        return arms.sums[arm] / n - self.sigma[arm] * sqrt(2.0 * self.level.at(n, t) / n)

    cdef double radius(self, Py_ssize_t arm, double mean, double n, double level) noexcept nogil:
        return self.sigma[arm] * sqrt(2.0 * level / n)

    cdef bint above(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        # U > bar  iff  n bar - S < sigma sqrt(2 f n)
        return n * (bar + ULPS * fabs(bar)) - total < (1.0 - MARGIN) * self.sigma[arm] * sqrt(2.0 * level * n)

    cdef bint below(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        return n * (bar - ULPS * fabs(bar)) - total > (1.0 + MARGIN) * self.sigma[arm] * sqrt(2.0 * level * n)

    cdef bint dips(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        return total - n * (bar - ULPS * fabs(bar)) < (1.0 - MARGIN) * self.sigma[arm] * sqrt(2.0 * level * n)

    cdef Py_ssize_t streak(self, Py_ssize_t arm, double* n, double* total, const double* rewards,
                           Py_ssize_t count, double level, double bar) noexcept nogil:
        # `above` without its root: x < r iff x |x| < r^2. Worth 4 of 9 ns a round.
        cdef double edge = bar + ULPS * fabs(bar), pulls = n[0], sum_ = total[0], short = 0.0
        cdef double square = 2.0 * level * self.sigma[arm] * self.sigma[arm] * (1.0 - 2.0 * MARGIN)
        cdef Py_ssize_t i = 0
        for i in range(count):
            sum_ += rewards[i]
            pulls += 1.0
            short = edge * pulls - sum_
            if not short * fabs(short) < square * pulls:
                break
        n[0], total[0] = pulls, sum_
        return min(i + 1, count)

    cdef void stand(self, Standing* a, double root) noexcept nogil:
        a.start, a.slope = a.total / a.n, self.sigma[a.arm] / sqrt(a.n)

    cdef int ahead(self, const Standing* a, const Standing* b, double root, double* until) noexcept nogil:
        # Two lines. What `upper` rounds is less than `error`. No branches: who is ahead cannot be predicted.
        cdef double rise = a.slope - b.slope, lead = a.start - b.start + rise * root
        cdef double slopes = ULPS * (a.slope + b.slope), error
        error = ULPS * (fabs(a.start) + fabs(b.start)) + slopes * root
        if not fabs(lead) > error:
            until[0] = INFINITY if a.n == b.n and a.total == b.total and rise == 0.0 else root
            return 0
        rise = max(slopes - copysign(1.0, lead) * rise, 1e-300)     # of the one behind
        until[0] = root + (fabs(lead) - error) / rise
        return 1 - 2 * (lead < 0.0)

    cdef double height(self, const Standing* a, double root, double bar) noexcept nogil:
        return a.start + a.slope * root


cdef inline int sign(Family family, Py_ssize_t arm, double n, double p, double q,
                     double level) noexcept nogil:
    """Of n d(p, q) - level; 0 if that is no number. Takes logarithms only where it is close to 0."""
    cdef double gap = q - p, evidence
    # Mostly the smaller variance is enough; that is the weaker bound, but takes no division.
    if n * gap * gap < 2.0 * (1.0 - SANDWICH) * level * min(family.variance(arm, p), family.variance(arm, q)):
        return -1
    if n * most_divergence(family, arm, p, q) < (1.0 - SANDWICH) * level:
        return -1
    if n * least_divergence(family, arm, p, q) > (1.0 + SANDWICH) * level:
        return 1
    evidence = n * family.divergence(arm, p, q)
    return (evidence > level) - (evidence < level)


@cython.final
cdef class DivergenceBounds(Bounds):
    """The q on either side of m with n d(m, q) = f: KL-UCB and KL-LCB."""
    cdef readonly Family family

    def __init__(self, Level level, Family family not None):
        self.family = family
        self.crosses = True

    cdef double upper(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        cdef double n = <double>arms.pulls[arm]
        return self.family.upper(arm, arms.sums[arm] / n, self.level.at(n, t) / n)

    cdef double lower(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        cdef double n = <double>arms.pulls[arm]
        return self.family.lower(arm, arms.sums[arm] / n, self.level.at(n, t) / n)

    cdef double radius(self, Py_ssize_t arm, double mean, double n, double level) noexcept nogil:
        return sqrt(2.0 * self.family.variance(arm, mean) * level / n)

    cdef bint above(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        # U > bar  iff  m > bar or n d(m, bar) < f: no inversion.
        cdef double mean = total / n, edge = bar + ULPS * fabs(bar), reach = edge - mean
        if reach < 0.0:
            return True
        if mean == self.family.high:                    # U is that too, and bars may be close to it
            return bar < mean
        if edge >= self.family.high or mean < self.family.low:     # V(mean) may be positive there
            return False
        return sign(self.family, arm, n, mean, edge, (1.0 - MARGIN) * level) < 0

    cdef bint below(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        cdef double mean = total / n, edge = bar - ULPS * fabs(bar)
        level *= 1.0 + MARGIN
        # Who asks expects so, and then the first is enough.
        return edge > mean and (n * least_divergence(self.family, arm, mean, edge) > (1.0 + SANDWICH) * level
                                or sign(self.family, arm, n, mean, edge, level) > 0)

    cdef bint dips(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        # The mirror image of `above`.
        cdef double mean = total / n, edge = bar - ULPS * fabs(bar), reach = mean - edge
        if reach < 0.0:
            return True
        if edge <= self.family.low or mean > self.family.high:
            return False
        return sign(self.family, arm, n, mean, edge, (1.0 - MARGIN) * level) < 0

    cdef Py_ssize_t streak(self, Py_ssize_t arm, double* n, double* total, const double* rewards,
                           Py_ssize_t count, double level, double bar) noexcept nogil:
        # `above`, with what does not depend on the mean taken out of the loop.
        cdef double edge = bar + ULPS * fabs(bar), pulls = n[0], sum_ = total[0], mean, reach
        cdef double variance = self.family.variance(arm, edge) if edge < self.family.high else 0.0
        cdef double spread = 2.0 * (1.0 - MARGIN) * level
        cdef Py_ssize_t i = 0
        for i in range(count):
            sum_ += rewards[i]
            pulls += 1.0
            mean = sum_ / pulls
            reach = edge - mean
            if not (pulls * reach * reach < spread * min(variance, self.family.variance(arm, mean))
                    or self.above(arm, pulls, sum_, level, bar)):
                break
        n[0], total[0] = pulls, sum_
        return min(i + 1, count)

    cdef void stand(self, Standing* a, double root) noexcept nogil:
        # n d(m, q) = f, so dq / df = V(q) / (n (q - m)).
        cdef double mean = a.total / a.n, q = self.family.upper(a.arm, mean, 0.5 * root * root / a.n)
        a.slope = root * self.family.variance(a.arm, q) / (a.n * (q - mean)) if q > mean else 0.0
        a.start = q - a.slope * root

    cdef int ahead(self, const Standing* a, const Standing* b, double root, double* until) noexcept nogil:
        # Where both are at q, n_a d(m_a, q) = n_b d(m_b, q). The difference has the derivative
        # (n_a (q - m_a) - n_b (q - m_b)) / V(q), and for m_a > m_b is negative at m_a: it has one zero
        # at most. And the quotient grows with q, as d(m, q) / (q - m) falls with m: d is convex in m, and
        # zero at q. So what is sure at one level is so at all lower ones if a leads, at all higher ones if b
        # does.
        cdef double lead = (a.start - b.start) + (a.slope - b.slope) * root, rise, later
        cdef int side = 1
        until[0] = root
        # Where no reward was below the largest, neither is any upper bound.
        if ((a.n == b.n and a.total == b.total)
                or (a.total == a.n * self.family.high and b.total == b.n * self.family.high)):
            until[0] = INFINITY
            return 0
        if lead < 0.0:
            a, b, lead, side = b, a, -lead, -1
        if a.total * b.n < b.total * a.n:
            if not self._apart(a, b, root, self._between(a, b, root)):
                return 0
            until[0] = INFINITY
            return side
        rise = b.slope - a.slope
        later = root + min(0.8 * lead / rise if rise > 0.0 else INFINITY, 0.1 * root)
        # Tangents bend away from both indices; then q is that of b, computed.
        if (self._apart(a, b, later, self._between(a, b, later))
                or self._apart(a, b, later, self._just_above(b, later))):
            until[0] = later
            return side
        return side if self._apart(a, b, root, self._between(a, b, root)) else 0

    cdef bint _apart(self, const Standing* a, const Standing* b, double root, double q) noexcept nogil:
        """Is the upper bound of a surely above q, and that of b below it?"""
        cdef double level = 0.5 * root * root
        return self.below(b.arm, b.n, b.total, level, q) and self.above(a.arm, a.n, a.total, level, q)

    cdef double _between(self, const Standing* a, const Standing* b, double root) noexcept nogil:
        return 0.5 * ((a.start + b.start) + (a.slope + b.slope) * root)

    cdef double _just_above(self, const Standing* a, double root) noexcept nogil:
        cdef double q = self.family.upper(a.arm, a.total / a.n, (0.5 + MARGIN) * root * root / a.n)
        return q + 2.0 * ULPS * fabs(q)

    cdef double height(self, const Standing* a, double root, double bar) noexcept nogil:
        cdef double level = 0.5 * root * root
        if self.below(a.arm, a.n, a.total, level, bar):
            return -INFINITY
        return self.family.upper(a.arm, a.total / a.n, level / a.n)


@cython.final
cdef class PosteriorBounds(Bounds):
    """The quantile of the posterior that is exceeded with probability exp(-f): Bayes-UCB."""
    cdef readonly Family family

    def __init__(self, Level level, Family family not None):
        self.family, self.moments, self.convex = family, family.moments, False
        self.initial_pulls = max(level.first, <int64_t>family.prior_pulls)

    cdef double upper(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        return self.family.quantile(arms, arm, self.level.at(<double>arms.pulls[arm], t))

    cdef bint above(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        # One tail at most, no inversion.
        level *= 1.0 - MARGIN
        return surprise_above(self.family.posterior_of(n, total), bar + ULPS * fabs(bar), level) < level

    cdef bint below(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        level *= 1.0 + MARGIN
        return surprise_above(self.family.posterior_of(n, total), bar - ULPS * fabs(bar), level) > level

    cdef Py_ssize_t streak(self, Py_ssize_t arm, double* n, double* total, const double* rewards,
                           Py_ssize_t count, double level, double bar) noexcept nogil:
        # More pulls, or less reward, move a posterior down: if the last pull of a block would do with the
        # least rewards, all of them do.
        cdef double pulls = n[0], sum_ = total[0], least = max(self.family.low, -1e300)
        cdef Py_ssize_t added = 0, size = count, i
        while added < count:
            size = min(size, count - added)
            if size > 1 and not self.above(arm, pulls + <double>size, sum_ + <double>size * least, level,
                                           bar):
                size >>= 1
                continue
            for i in range(size):
                sum_ += rewards[added + i]
            pulls += <double>size
            added += size
            if size == 1 and not self.above(arm, pulls, sum_, level, bar):
                break
            size *= 2
        n[0], total[0] = pulls, sum_
        return added


@cython.final
cdef class StudentBounds(Bounds):
    """Gaussian rewards of unknown variance: the q on either side of m with evidence f against it,

        own      (n - 2)/2  log(1 + (m - q)^2 / s^2),             s^2 the arm's own variance
        common   (nu - 1)/2 log(1 + n (m - q)^2 / M2),            M2 and nu of all arms together.

    "own" is the index of Cowan, Honda and Katehakis (2018). With both, the wider one. No evidence, and an
    infinite bound, where rewards have all been the same.
    """
    cdef readonly bint own
    cdef readonly bint common

    def __init__(self, Level level, str variance):
        self.own, self.common = variance in ("own", "both"), variance in ("common", "both")
        self.initial_pulls, self.moments = max(level.first, <int64_t>3), 2

    cdef double upper(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        return arms.sums[arm] / <double>arms.pulls[arm] + self._radius(arms, arm, t)

    cdef double lower(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        return arms.sums[arm] / <double>arms.pulls[arm] - self._radius(arms, arm, t)

    cdef double _radius(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        cdef double n = <double>arms.pulls[arm], level = self.level.at(n, t), wider = 0.0
        if self.own:
            wider = width(level, n - 2.0, squares_of(arms, arm) / n)
        if self.common:
            wider = max(wider, width(level, <double>(arms.t - arms.n_arms) - 1.0, arms.all_squares / n))
        return wider


cdef inline double width(double level, double degrees, double square) noexcept nogil:
    """x with degrees / 2 log(1 + x^2 / square) = level."""
    return sqrt(square * expm1(2.0 * level / degrees)) if degrees > 0.0 and square > 0.0 else INFINITY


@cython.final
cdef class BernsteinBounds(Bounds):
    """m +- (s sqrt(2 f / n) + 3 b f / n): Audibert, Munos and Szepesvari (2009), Theorem 1.

    b is the length of the interval that rewards are in. Either bound fails with probability 3 exp(-f) at
    most, at a given n. Or, `unbiased`, the version of Maurer and Pontil (2009): the variance of n - 1, and
    7 b f / (3 (n - 1)).
    """
    cdef readonly double length
    cdef readonly bint unbiased

    def __init__(self, Level level, double length, bint unbiased):
        self.length, self.unbiased = length, unbiased
        self.initial_pulls, self.moments = max(level.first, <int64_t>(2 if unbiased else 1)), 2

    cdef double upper(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        return arms.sums[arm] / <double>arms.pulls[arm] + self._radius(arms, arm, t)

    cdef double lower(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        return arms.sums[arm] / <double>arms.pulls[arm] - self._radius(arms, arm, t)

    cdef double _radius(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        cdef double n = <double>arms.pulls[arm], level = self.level.at(n, t)
        if self.unbiased:
            if n < 2.0:
                return INFINITY
            return (sqrt(2.0 * arms.squares[arm] / (n - 1.0) * level / n)
                    + 7.0 / 3.0 * self.length * level / (n - 1.0))
        return sqrt(2.0 * arms.squares[arm] / n * level / n) + 3.0 * self.length * level / n


@cython.final
cdef class BinaryBernsteinBounds(Bounds):
    """The same for rewards that are 0 or 1, whose variance is m (1 - m).

    n times the upper bound, S + sqrt(2 f S (n - S) / n) + 3 f, is concave in (n, S): S^2 / n is the
    perspective of a convex function, and a root is concave and increases. So {(n, S) : the bound is above c}
    is convex. But more successes may lower the bound, as they lower the variance: `above` looks at S = n as
    well, so that what it says of one S holds for all larger ones.
    """

    cdef double upper(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        cdef double n = <double>arms.pulls[arm], mean = arms.sums[arm] / n
        return mean + self.radius(arm, mean, n, self.level.at(n, t))

    cdef double lower(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        cdef double n = <double>arms.pulls[arm], mean = arms.sums[arm] / n
        return mean - self.radius(arm, mean, n, self.level.at(n, t))

    cdef double radius(self, Py_ssize_t arm, double mean, double n, double level) noexcept nogil:
        return sqrt(2.0 * max(mean * (1.0 - mean), 0.0) * level / n) + 3.0 * level / n

    cdef bint above(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        cdef double edge = bar + ULPS * fabs(bar), short
        level *= 1.0 - MARGIN
        if total < 0.0 or not n * (edge - 1.0) < 3.0 * level:
            return False
        short = n * edge - total - 3.0 * level
        return short < 0.0 or short * short < 2.0 * level * total * (n - total) / n

    cdef bint below(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        cdef double edge = bar - ULPS * fabs(bar), short
        level *= 1.0 + MARGIN
        short = n * edge - total - 3.0 * level
        return short > 0.0 and short * short > 2.0 * level * total * (n - total) / n
