"""Rewards: a sampler is what the engines draw from, a family what the rules reckon with besides.

A family is a one-parameter exponential family described by its mean, with its other
parameters (sigma, n, shape, r) fixed. Its functions are total: a mean on the edge of the domain
has the limit as its value, a mean outside gives NaN. They are told the arm, because a parameter
may have a value for each: sigma of Gaussian rewards has.
"""

from libc.math cimport INFINITY

from robai._core.posteriors cimport Posterior
from robai._core.protocols cimport Arms
from robai._core.rng cimport Rng


cdef class Sampler:
    cdef readonly bint leaps                # can the sum of many rewards be drawn at once, by `total`?
    cdef readonly bint slow                 # is it Python that draws?
    cdef object error                       # of a draw that went wrong, to be raised where that is possible

    # `count` rewards of an arm, one after the other; their sum in one draw.
    cdef void fill(self, Py_ssize_t arm, double mean, double* rewards, Py_ssize_t count,
                   Rng* rng) noexcept nogil
    cdef double total(self, Py_ssize_t arm, double mean, double count, Rng* rng) noexcept nogil


cdef class Family(Sampler):
    cdef readonly double low                # the domain of the mean is [low, high]
    cdef readonly double high
    cdef readonly int moments               # 2 if it looks at the squares of deviations, else 1
    cdef double unit                        # of rewards: what one observation can change

    # Divergence d(p, q) between the members of means p and q.
    cdef double divergence(self, Py_ssize_t arm, double p, double q) noexcept nogil
    # V(q), the variance as a function of the mean; d d(p, q) / dq = (q - p) / V(q).
    cdef double variance(self, Py_ssize_t arm, double q) noexcept nogil
    # -log E[exp(-v X)] of a reward X of mean q, v > 0.
    cdef double cumulant(self, Py_ssize_t arm, double q, double v) noexcept nogil
    # Largest q >= p with d(p, q) <= level, smallest q <= p with d(p, q) <= level.
    cdef double upper(self, Py_ssize_t arm, double p, double level) noexcept nogil
    cdef double lower(self, Py_ssize_t arm, double p, double level) noexcept nogil

    # The c at which x d(p, c) of arm a and y d(q, c) of arm b have the least sum; for one and the same
    # family the mean of p and q with these weights.
    cdef double pooled(self, Py_ssize_t a, double x, double p,
                       Py_ssize_t b, double y, double q) noexcept nogil
    # That least sum, where the weights are pulls and the means those of the rewards: the logarithm of the
    # likelihood ratio of "b is not the better one".
    cdef double ratio(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil

    # The least over all c of log B_a(c) + log B_b(c), B the likelihood of the rewards of an arm averaged over
    # a prior and divided by that at mean c, at the true mean a martingale that begins at 1: if b is at least
    # as good as a, this is ever x or more with probability exp(-x) at most, whatever is pulled (Ville).
    # NaN for families for which no prior has been worked out.
    cdef double certainty(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil

    # The posterior of the mean, under Jeffreys' prior unless the family was told another; needs `prior_pulls`
    # pulls first. The mean drawn from it, and its quantile: the q that is exceeded with probability
    # exp(-surprise). Of normal rewards, the draws and quantiles alone.
    cdef readonly int prior_pulls
    cdef Posterior posterior_of(self, double n, double total) noexcept nogil
    cdef double posterior(self, const Arms* arms, Py_ssize_t arm, Rng* rng) noexcept nogil
    cdef double quantile(self, const Arms* arms, Py_ssize_t arm, double surprise) noexcept nogil


# Bounds of d(p, q), without logarithms. 1/V is convex in every family, and d is the integral from p to q
# of (x - p) / V(x): Jensen's inequality for the weight x - p, and the chord of 1/V. They differ by the fourth
# order, and say nothing where variances are no normal numbers.
cdef inline double least_divergence(Family family, Py_ssize_t arm, double p, double q) noexcept nogil:
    cdef double gap = q - p, variance = family.variance(arm, p + gap * (2.0 / 3.0))
    return 0.5 * gap * (gap / variance) if variance > 1e-290 else 0.0


cdef inline double most_divergence(Family family, Py_ssize_t arm, double p, double q) noexcept nogil:
    cdef double gap = q - p, here = family.variance(arm, p), there = family.variance(arm, q)
    if not (min(here, there) > 1e-290 and max(here, there) < 1e290):
        return INFINITY
    return gap * (gap / here + 2.0 * (gap / there)) * (1.0 / 6.0)


cdef class Bernoulli(Family):
    cdef readonly double prior


cdef class Gaussian(Family):
    cdef double[::1] sigma                  # of each arm
    cdef double[::1] _variance
