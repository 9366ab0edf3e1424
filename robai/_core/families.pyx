"""The seven exponential families, and what holds for rewards of no such family (see families.pxd)."""

cimport cython
from libc.math cimport INFINITY, NAN, expm1, log, log1p, sqrt
from libc.stdint cimport uint64_t

import numpy as np

from robai._core.draws cimport COINS, count_ones, draw_binomial, draw_coins, draw_gamma, draw_poisson
from robai._core.kl cimport (
    bernoulli_divergence,
    bernoulli_lower,
    bernoulli_upper,
    binomial_divergence,
    binomial_lower,
    binomial_upper,
    exponential_divergence,
    exponential_lower,
    exponential_upper,
    negative_binomial_divergence,
    negative_binomial_lower,
    negative_binomial_upper,
    poisson_divergence,
    poisson_lower,
    poisson_upper,
)
from robai._core.posteriors cimport Posterior, draw_from, quantile_of
from robai._core.protocols cimport mean_of, squares_of
from robai._core.rng cimport Rng, Stream, fill_normal, next_normal
from robai._core.student cimport least_certainty, least_evidence, student_evidence
from robai._core.tails cimport HALF_LOG_2_PI, Point, point_of, remainder


cdef double PI = 3.141592653589793


cdef class Sampler:
    cdef void fill(self, Py_ssize_t arm, double mean, double* rewards, Py_ssize_t count,
                   Rng* rng) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(count):
            rewards[i] = self.total(arm, mean, 1.0, rng)

    cdef double total(self, Py_ssize_t arm, double mean, double count, Rng* rng) noexcept nogil:
        return NAN

    def rewards(self, Py_ssize_t arm, double mean, Py_ssize_t count, Stream stream not None):
        """`count` rewards of an arm, drawn from a stream."""
        values = np.empty(count)
        cdef double[::1] view = values
        if count > 0:
            self.fill(arm, mean, &view[0], count, &stream.rng)
        if self.error is not None:
            raise self.error
        return values


cdef class Family(Sampler):
    def __cinit__(self, *args):
        self.leaps, self.moments, self.unit = True, 1, 1.0

    cdef double divergence(self, Py_ssize_t arm, double p, double q) noexcept nogil:
        return NAN

    cdef double variance(self, Py_ssize_t arm, double q) noexcept nogil:
        return NAN

    cdef double cumulant(self, Py_ssize_t arm, double q, double v) noexcept nogil:
        return NAN

    cdef double upper(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return NAN

    cdef double lower(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return NAN

    cdef double pooled(self, Py_ssize_t a, double x, double p,
                       Py_ssize_t b, double y, double q) noexcept nogil:
        return (x * p + y * q) / (x + y)

    cdef double ratio(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef double n = <double>arms.pulls[a], k = <double>arms.pulls[b]
        cdef double pooled = (arms.sums[a] + arms.sums[b]) / (n + k)
        return (n * self.divergence(a, mean_of(arms, a), pooled)
                + k * self.divergence(b, mean_of(arms, b), pooled))

    cdef double certainty(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return NAN

    cdef Posterior posterior_of(self, double n, double total) noexcept nogil:
        return Posterior(NAN, NAN, 0.0, 1.0, True)

    cdef double posterior(self, const Arms* arms, Py_ssize_t arm, Rng* rng) noexcept nogil:
        return draw_from(self.posterior_of(<double>arms.pulls[arm], arms.sums[arm]), rng)

    cdef double quantile(self, const Arms* arms, Py_ssize_t arm, double surprise) noexcept nogil:
        return quantile_of(self.posterior_of(<double>arms.pulls[arm], arms.sums[arm]), surprise)

    def elementwise(self, str which, p, x):
        """`divergence(p, x)`, `upper(p, x)` or `lower(p, x)` of arm 0, over arrays that broadcast."""
        p, x = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(x, dtype=np.float64))
        result = np.empty(p.size)
        cdef const double[::1] left = np.ravel(p), right = np.ravel(x)
        cdef double[::1] out = result
        cdef int operation = ("divergence", "upper", "lower").index(which)
        cdef Py_ssize_t i
        with nogil:
            for i in range(out.shape[0]):
                if operation == 0:
                    out[i] = self.divergence(0, left[i], right[i])
                elif operation == 1:
                    out[i] = self.upper(0, left[i], right[i])
                else:
                    out[i] = self.lower(0, left[i], right[i])
        return result.reshape(p.shape)


@cython.final
cdef class Gaussian(Family):
    def __init__(self, sigma):
        self.low, self.high = -INFINITY, INFINITY
        self.prior_pulls = 1
        self.sigma = np.array(sigma, dtype=np.float64)
        self._variance = np.square(self.sigma)

    cdef double divergence(self, Py_ssize_t arm, double p, double q) noexcept nogil:
        cdef double z = (p - q) / self.sigma[arm]
        return 0.5 * z * z

    cdef double variance(self, Py_ssize_t arm, double q) noexcept nogil:
        return self._variance[arm]

    cdef double upper(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return p + self.sigma[arm] * (2.0 * sqrt(0.5 * level))      # 2 level may be infinite

    cdef double lower(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return p - self.sigma[arm] * (2.0 * sqrt(0.5 * level))

    cdef double pooled(self, Py_ssize_t a, double x, double p,
                       Py_ssize_t b, double y, double q) noexcept nogil:
        x *= self._variance[b]
        y *= self._variance[a]
        return (x * p + y * q) / (x + y)

    cdef double ratio(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef double n = <double>arms.pulls[a], k = <double>arms.pulls[b]
        cdef double gap = arms.sums[a] / n - arms.sums[b] / k
        return 0.5 * gap * gap / (self._variance[a] / n + self._variance[b] / k)

    cdef double certainty(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        # Prior N(c, sigma^2): log B = (n^2 / (n + 1)) (m - c)^2 / (2 sigma^2) - log(n + 1) / 2
        cdef double n = <double>arms.pulls[a], k = <double>arms.pulls[b]
        cdef double gap = arms.sums[a] / n - arms.sums[b] / k
        cdef double square = self._variance[a] * (n + 1.0) / (n * n) + self._variance[b] * (k + 1.0) / (k * k)
        return 0.5 * (gap * gap / square - log1p(n) - log1p(k))

    cdef void fill(self, Py_ssize_t arm, double mean, double* rewards, Py_ssize_t count,
                   Rng* rng) noexcept nogil:
        fill_normal(rng, mean, self.sigma[arm], rewards, count)

    cdef double total(self, Py_ssize_t arm, double mean, double count, Rng* rng) noexcept nogil:
        return count * mean + self.sigma[arm] * sqrt(count) * next_normal(rng)

    cdef double posterior(self, const Arms* arms, Py_ssize_t arm, Rng* rng) noexcept nogil:
        return mean_of(arms, arm) + self.sigma[arm] / sqrt(<double>arms.pulls[arm]) * next_normal(rng)


cdef inline double gamma_part(double x) noexcept nogil:
    return (x * log1p(0.5 / x) if x > 0.0 else 0.0) + remainder(x + 0.5)


cdef double loss(double n, double s) noexcept nogil:
    """log of the largest v^s (1 - v)^(n - s), divided by its mean under the prior Beta(1/2, 1/2)."""
    # By Stirling's formula: what is large has cancelled, and it is exact for 10^15 pulls.
    return (log(PI) - HALF_LOG_2_PI + 0.5 * log1p(n) + n * log1p(1.0 / n) + remainder(n + 1.0)
            - gamma_part(s) - gamma_part(max(n - s, 0.0)))


@cython.final
cdef class Bernoulli(Family):
    """With the prior Beta(prior, prior): 1/2 is Jeffreys', 1 the uniform one."""

    def __init__(self, double prior=0.5):
        self.low, self.high = 0.0, 1.0
        self.prior = prior

    cdef double divergence(self, Py_ssize_t arm, double p, double q) noexcept nogil:
        return bernoulli_divergence(p, q)

    cdef double variance(self, Py_ssize_t arm, double q) noexcept nogil:
        return q * (1.0 - q)

    cdef double cumulant(self, Py_ssize_t arm, double q, double v) noexcept nogil:
        return -log1p(q * expm1(-v))

    cdef double upper(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return bernoulli_upper(p, level)

    cdef double lower(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return bernoulli_lower(p, level)

    cdef void fill(self, Py_ssize_t arm, double mean, double* rewards, Py_ssize_t count,
                   Rng* rng) noexcept nogil:
        cdef Py_ssize_t i
        cdef uint64_t coins = 0
        for i in range(count):
            if i % COINS == 0:
                coins = draw_coins(mean, min(count - i, <Py_ssize_t>COINS), rng)
            rewards[i] = <double><int>(coins & 1)
            coins >>= 1

    cdef double total(self, Py_ssize_t arm, double mean, double count, Rng* rng) noexcept nogil:
        cdef int left, successes = 0
        if count > 256.0:
            return draw_binomial(count, mean, rng)
        left = <int>count
        while left > 0:                     # faster than a binomial draw
            successes += count_ones(draw_coins(mean, min(left, <int>COINS), rng))
            left -= COINS
        return <double>successes

    cdef Posterior posterior_of(self, double n, double total) noexcept nogil:
        # Sums above 2^53 are rounded: there may seem to be more successes than pulls.
        return Posterior(self.prior + total, self.prior + max(n - total, 0.0), 0.0, 1.0, True)

    cdef double certainty(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return (self.ratio(arms, a, b) - loss(<double>arms.pulls[a], arms.sums[a])
                - loss(<double>arms.pulls[b], arms.sums[b]))


@cython.final
cdef class Binomial(Family):
    cdef readonly double n

    def __init__(self, double n):
        self.low, self.high = 0.0, n
        self.n = n

    cdef double divergence(self, Py_ssize_t arm, double p, double q) noexcept nogil:
        return binomial_divergence(p, q, self.n)

    cdef double variance(self, Py_ssize_t arm, double q) noexcept nogil:
        return q * (1.0 - q / self.n)

    cdef double cumulant(self, Py_ssize_t arm, double q, double v) noexcept nogil:
        return -self.n * log1p(q / self.n * expm1(-v))

    cdef double upper(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return binomial_upper(p, level, self.n)

    cdef double lower(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return binomial_lower(p, level, self.n)

    cdef double total(self, Py_ssize_t arm, double mean, double count, Rng* rng) noexcept nogil:
        return draw_binomial(count * self.n, mean / self.n, rng)

    cdef Posterior posterior_of(self, double n, double total) noexcept nogil:
        return Posterior(0.5 + total, 0.5 + max(self.n * n - total, 0.0), 0.0, self.n, True)

    cdef double certainty(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return (self.ratio(arms, a, b) - loss(self.n * <double>arms.pulls[a], arms.sums[a])
                - loss(self.n * <double>arms.pulls[b], arms.sums[b]))


@cython.final
cdef class Poisson(Family):
    def __init__(self):
        self.low, self.high = 0.0, INFINITY
        self.prior_pulls = 1

    cdef double divergence(self, Py_ssize_t arm, double p, double q) noexcept nogil:
        return poisson_divergence(p, q)

    cdef double variance(self, Py_ssize_t arm, double q) noexcept nogil:
        return q

    cdef double cumulant(self, Py_ssize_t arm, double q, double v) noexcept nogil:
        return -q * expm1(-v)

    cdef double upper(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return poisson_upper(p, level)

    cdef double lower(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return poisson_lower(p, level)

    cdef double total(self, Py_ssize_t arm, double mean, double count, Rng* rng) noexcept nogil:
        return draw_poisson(count * mean, rng)

    cdef Posterior posterior_of(self, double n, double total) noexcept nogil:
        return Posterior(0.5 + total, INFINITY, 0.0, n, False)


@cython.final
cdef class Gamma(Family):
    """The exponential family is shape 1."""
    cdef readonly double shape

    def __init__(self, double shape=1.0):
        self.low, self.high = 0.0, INFINITY
        self.prior_pulls = 1
        self.shape = shape

    cdef double divergence(self, Py_ssize_t arm, double p, double q) noexcept nogil:
        return self.shape * exponential_divergence(p, q)

    cdef double variance(self, Py_ssize_t arm, double q) noexcept nogil:
        return q * q / self.shape

    cdef double cumulant(self, Py_ssize_t arm, double q, double v) noexcept nogil:
        return self.shape * log1p(v * q / self.shape)

    cdef double upper(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return exponential_upper(p, level / self.shape)

    cdef double lower(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return exponential_lower(p, level / self.shape)

    cdef double total(self, Py_ssize_t arm, double mean, double count, Rng* rng) noexcept nogil:
        return mean / self.shape * draw_gamma(self.shape * count, rng)

    cdef Posterior posterior_of(self, double n, double total) noexcept nogil:
        return Posterior(INFINITY, self.shape * n, 0.0, self.shape * total, False)


@cython.final
cdef class NegativeBinomial(Family):
    cdef readonly double r

    def __init__(self, double r):
        self.low, self.high = 0.0, INFINITY
        self.prior_pulls = 1
        self.r = r

    cdef double divergence(self, Py_ssize_t arm, double p, double q) noexcept nogil:
        return negative_binomial_divergence(p, q, self.r)

    cdef double variance(self, Py_ssize_t arm, double q) noexcept nogil:
        return q + q * q / self.r

    cdef double cumulant(self, Py_ssize_t arm, double q, double v) noexcept nogil:
        return self.r * log1p(-q / self.r * expm1(-v))

    cdef double upper(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return negative_binomial_upper(p, level, self.r)

    cdef double lower(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return negative_binomial_lower(p, level, self.r)

    cdef double total(self, Py_ssize_t arm, double mean, double count, Rng* rng) noexcept nogil:
        # A Poisson variable whose rate is gamma distributed.
        return draw_poisson(mean / self.r * draw_gamma(self.r * count, rng), rng)

    cdef Posterior posterior_of(self, double n, double total) noexcept nogil:
        # The odds of a failure are beta prime: as a ratio nothing cancels, however large r is.
        return Posterior(0.5 + total, self.r * n, 0.0, self.r, False)


@cython.final
cdef class Bounded(Family):
    """Any rewards from low to high: Bernoulli's functions of (m - low) / (high - low).

    For such rewards they are bounds (Hoeffding, 1963): a convex function lies below its chord. The posterior
    takes the sum for a number of successes.
    """
    cdef readonly double length

    def __init__(self, double low, double high):
        self.low, self.high, self.length = low, high, high - low
        self.unit = self.length
        self.leaps = False                  # it is no law to draw from

    cdef inline double _share(self, double mean) noexcept nogil:
        # Means of rounded sums may be a little outside.
        return min(max((mean - self.low) / self.length, 0.0), 1.0)

    cdef inline double _successes(self, double n, double total) noexcept nogil:
        return min(max((total - n * self.low) / self.length, 0.0), n)

    cdef double divergence(self, Py_ssize_t arm, double p, double q) noexcept nogil:
        return bernoulli_divergence(self._share(p), self._share(q))

    cdef double variance(self, Py_ssize_t arm, double q) noexcept nogil:
        return (q - self.low) * (self.high - q)

    cdef double upper(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return min(self.low + self.length * bernoulli_upper(self._share(p), level), self.high)

    cdef double lower(self, Py_ssize_t arm, double p, double level) noexcept nogil:
        return max(self.low + self.length * bernoulli_lower(self._share(p), level), self.low)

    cdef double certainty(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef double n = <double>arms.pulls[a], k = <double>arms.pulls[b]
        return (self.ratio(arms, a, b) - loss(n, self._successes(n, arms.sums[a]))
                - loss(k, self._successes(k, arms.sums[b])))

    cdef Posterior posterior_of(self, double n, double total) noexcept nogil:
        cdef double s = self._successes(n, total)
        return Posterior(0.5 + s, 0.5 + n - s, self.low, self.length, True)


@cython.final
cdef class UnknownVariance(Family):
    """Gaussian rewards whose variance is estimated as well; see StudentBounds for `own` and `common`.

    Divergence and variance are those of sigma = 1, which is all that proportions need.
    """
    cdef readonly bint own
    cdef readonly bint common

    def __init__(self, str variance):
        self.low, self.high = -INFINITY, INFINITY
        self.own, self.common = variance in ("own", "both"), variance in ("common", "both")
        self.prior_pulls, self.moments = 4, 2
        self.leaps = False                  # it is no law to draw from

    cdef double divergence(self, Py_ssize_t arm, double p, double q) noexcept nogil:
        return 0.5 * (p - q) * (p - q)

    cdef double variance(self, Py_ssize_t arm, double q) noexcept nogil:
        return 1.0

    cdef double ratio(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef double least = INFINITY
        if self.own:
            least = least_evidence(arms, a, b)
        if self.common:
            least = min(least, student_evidence(arms, a, b))
        return least

    cdef double certainty(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return least_certainty(arms, a, b)

    cdef double posterior(self, const Arms* arms, Py_ssize_t arm, Rng* rng) noexcept nogil:
        # m + sqrt(M2 / (N (N - 2))) times Student's t with N - 2 degrees of freedom: the prior 1 / sigma in
        # (mu, sigma^2) of Honda and Takemura (2014), under which regret is optimal
        cdef double n = <double>arms.pulls[arm], gamma = draw_gamma(0.5 * (n - 2.0), rng)
        cdef double z = next_normal(rng), squares = squares_of(arms, arm)
        if not (gamma > 0.0 and squares > 0.0):         # nothing is known of its variance yet
            return INFINITY
        return mean_of(arms, arm) + sqrt(0.5 * squares / (n * gamma)) * z

    cdef double quantile(self, const Arms* arms, Py_ssize_t arm, double surprise) noexcept nogil:
        # t^2 / (N - 2) is a ratio of gamma variables of shapes 1/2 and (N - 2)/2; half of it is t > 0.
        cdef double n = <double>arms.pulls[arm], squares = squares_of(arms, arm)
        cdef Point point
        if not squares > 0.0:
            return INFINITY
        point = point_of(0.5, 0.5 * (n - 2.0), surprise - log(2.0))
        return mean_of(arms, arm) + sqrt(squares / n * (point.s / point.r))
