"""Exploration by turns, by posterior draws, and by tracking proportions.

Tracking is Track-and-Stop's, Garivier and Kaufmann (2016): the optimal proportions of best arm
identification, w*, and the rules that track them.
"""

cimport cython
from libc.math cimport INFINITY, ceil, fabs, log, rint, sqrt
from libc.stdint cimport int64_t

import numpy as np

from robai._base import checks
from robai._core.families cimport Family
from robai._core.protocols cimport Arms, Exploration, argmax, mean_of
from robai._core.protocols import expect_fields
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
    cdef readonly Family family
    cdef double[::1] _draws

    def __init__(self, Py_ssize_t n_arms, Family family not None):
        self.family = family
        self.initial_pulls = family.prior_pulls
        self._draws = np.empty(n_arms)

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(arms.n_arms):
            self._draws[arm] = self.family.posterior(<double>arms.pulls[arm], arms.sums[arm], rng)
        return argmax(&self._draws[0], arms.n_arms, rng)


# ---- tracking

cdef double TOLERANCE = 1e-13
cdef int MOST_STEPS = 200


cdef double _matching(Family family, double best, double mean, double cost, double* ratio) noexcept nogil:
    """x > 0 with g(x) = d(best, c) + x d(mean, c) = cost, where c = (best + x mean) / (1 + x).

    g is increasing and concave with derivative d(mean, c), so Newton's method started below the
    root climbs to it. cost is below the limit d(best, mean). Also the ratio of the divergences.
    """
    cdef double low = 0.0, high = INFINITY, x, c, near, far = 1.0, excess
    cdef int _step
    x = cost / family.divergence(mean, best)            # g(x) <= x d(mean, best)
    if x == 0.0:                                        # that divergence is infinite
        x = 1e-12
    for _step in range(MOST_STEPS):
        c = (best + x * mean) / (1.0 + x)
        near, far = family.divergence(best, c), family.divergence(mean, c)
        ratio[0] = near / far
        excess = near + x * far - cost
        if fabs(excess) <= TOLERANCE * cost:
            break
        if excess < 0.0:
            low = x
        else:
            high = x
        x -= excess / far
        if not low < x < high:
            if high == low or (low > 0.0 and (high - low) <= TOLERANCE * low):
                break
            x = 0.5 * (low + high) if high < INFINITY else 2.0 * low + 1e-9
    return x


cdef double optimal_weights(Family family, const double* means, Py_ssize_t n_arms, double guess,
                            double* weights) noexcept nogil:
    """w* of the means, and z*, a good guess for means close by.

    With b the best arm and x_a = w_a / w_b, the costs g_a(x_a) are all equal and the sum over a
    of d(mu_b, c_a) / d(mu_a, c_a) is 1 (Theorem 5 of the article). The article's unknown is the
    common cost; here it is z = x / (1 + x) of the second best arm, always between 0 and 1.
    Uniform over the best arms if there are several.
    """
    cdef Py_ssize_t a, best = 0, second = -1, ties = 0
    cdef double low = 0.0, high = 1.0, z = guess, x, c, cost, near, far, total, slope, ratio = 0.0
    cdef int _step
    for a in range(1, n_arms):
        if means[a] > means[best]:
            best = a
    for a in range(n_arms):
        ties += means[a] == means[best]
        if a != best and (second < 0 or means[a] > means[second]):
            second = a
    if ties > 1:
        for a in range(n_arms):
            weights[a] = 1.0 / <double>ties if means[a] == means[best] else 0.0
        return guess

    weights[best] = 1.0
    for _step in range(MOST_STEPS):
        x = z / (1.0 - z)
        c = (1.0 - z) * means[best] + z * means[second]
        near, far = family.divergence(means[best], c), family.divergence(means[second], c)
        cost = near + x * far
        weights[second] = x
        total = near / far
        slope = _ratio_slope(family, means[best], means[second], x, total)
        for a in range(n_arms):
            if a != best and a != second:
                weights[a] = _matching(family, means[best], means[a], cost, &ratio)
                total += ratio
                slope += _ratio_slope(family, means[best], means[a], weights[a], ratio)
        if fabs(total - 1.0) <= 1e-12 or high - low <= 1e-15:
            break
        if total < 1.0:
            low = z
        else:
            high = z
        # Newton on the logarithm of the sum, which has a pole at 1; d cost / dz = far / (1 - z)^2.
        z -= total * log(total) * (1.0 - z) * (1.0 - z) / (slope * far)
        if not low < z < high:
            z = 0.5 * (low + high)
    total = 0.0
    for a in range(n_arms):
        total += weights[a]
    for a in range(n_arms):
        weights[a] /= total
    return z


cdef double _ratio_slope(Family family, double best, double mean, double x, double ratio) noexcept nogil:
    """Derivative of d(best, c) / d(mean, c) by the cost, at x."""
    cdef double c = (best + x * mean) / (1.0 + x), far = family.divergence(mean, c) * (1.0 + x)
    return (best - mean) * ((best - c) + ratio * (c - mean)) / (family.variance(c) * far * far)


def weights(Family family not None, const double[::1] means not None):
    """The optimal proportions w* of best arm identification, as an array."""
    result = np.empty(means.shape[0])
    cdef double[::1] view = result
    with nogil:
        optimal_weights(family, &means[0], means.shape[0], 0.5, &view[0])
    return result


@cython.final
cdef class Tracking(Exploration):
    """Pull the arm that lags most behind the optimal proportions of the current estimate.

    D-tracking aims at t w*(estimate), C-tracking at the sum of w* over all rounds so far, which
    starts at the initial pulls. Arms with fewer than sqrt(t) - K/2 pulls come first. A mean on
    the edge of the domain is moved inside by 1 / (2 N + 2), as little as one observation could.
    With more than ten arms w* is solved for again only when 1 % more rounds have been played.
    """
    cdef readonly Family family
    cdef readonly bint cumulative
    cdef double[::1] _means
    cdef double[::1] _weights
    cdef double[::1] _goal
    cdef double[::1] _lag
    cdef double _guess
    cdef int64_t _due                       # the round at which w* is solved for again

    def __init__(self, Py_ssize_t n_arms, Family family not None, bint cumulative):
        self.family = family
        self.cumulative = cumulative
        self._means = np.empty(n_arms)
        self._weights = np.zeros(n_arms)
        self._goal = np.empty(n_arms)
        self._lag = np.empty(n_arms)

    cdef void restart(self) noexcept nogil:
        cdef Py_ssize_t arm
        self._guess = 0.5
        self._due = 0
        for arm in range(self._goal.shape[0]):
            self._goal[arm] = <double>self.initial_pulls

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm, starved = 0
        cdef double t = <double>arms.t, least = sqrt(t) - 0.5 * <double>arms.n_arms
        for arm in range(arms.n_arms):
            starved += <double>arms.pulls[arm] < least
        if starved == 0:
            self._solve(arms)
        elif not self.cumulative:
            for arm in range(arms.n_arms):
                self._lag[arm] = -<double>arms.pulls[arm]
            return argmax(&self._lag[0], arms.n_arms, rng)
        for arm in range(arms.n_arms):
            if not self.cumulative:
                self._goal[arm] = t * self._weights[arm]
            elif starved == 0:
                self._goal[arm] += self._weights[arm]
            elif <double>arms.pulls[arm] < least:
                self._goal[arm] += 1.0 / <double>starved
            # To nine digits, so that arms which are alike tie in spite of the root finding.
            self._lag[arm] = rint(1e9 * (self._goal[arm] - <double>arms.pulls[arm]))
        return argmax(&self._lag[0], arms.n_arms, rng)

    cdef void _solve(self, const Arms* arms) noexcept nogil:
        cdef Py_ssize_t arm
        cdef double mean
        if arms.t < self._due:
            return
        for arm in range(arms.n_arms):
            mean = mean_of(arms, arm)
            if mean == self.family.low:
                mean += 1.0 / (2.0 * <double>arms.pulls[arm] + 2.0)
            elif mean == self.family.high:
                mean -= 1.0 / (2.0 * <double>arms.pulls[arm] + 2.0)
            self._means[arm] = mean
        self._guess = optimal_weights(self.family, &self._means[0], arms.n_arms, self._guess,
                                      &self._weights[0])
        self._due = arms.t + (1 if arms.n_arms <= 10 else <int64_t>ceil(0.01 * <double>arms.t))

    def memory(self):
        return {
            "goal": np.asarray(self._goal).tolist(),
            "weights": np.asarray(self._weights).tolist(),
            "guess": self._guess,
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
        self._guess = checks.probability("guess", memory["guess"])
        self._due = checks.whole("due", memory["due"], 0, 2**62)
