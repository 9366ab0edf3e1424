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

cdef double TOLERANCE = 1e-13
cdef int MOST_STEPS = 200

cdef enum:
    PART = 4096                     # arms to be matched at a time: some milliseconds


cdef struct Match:
    double x                                # the weight of an arm, where that of the best is 1
    double c                                # the mean of both, pooled with these weights
    double near                             # d(best, c)
    double far                              # d(mean, c)


cdef Match _matching(Family family, Py_ssize_t b, double best, Py_ssize_t a, double mean,
                     double cost) noexcept nogil:
    """x > 0 with g(x) = d(best, c) + x d(mean, c) = cost.

    g is increasing and concave with derivative d(mean, c), so Newton's method started below the
    root climbs to it. cost is below the limit d(best, mean).
    """
    cdef double low = 0.0, high = INFINITY, x, excess
    cdef Match match = Match(0.0, best, 0.0, 1.0)
    cdef int _step
    x = cost / family.divergence(a, mean, best)         # g(x) <= x d(mean, best)
    if x == 0.0:                                        # that divergence is infinite
        x = 1e-12
    for _step in range(MOST_STEPS):
        match = _match(family, b, best, a, mean, x)
        excess = match.near + x * match.far - cost
        if fabs(excess) <= TOLERANCE * cost:
            break
        if excess < 0.0:
            low = x
        else:
            high = x
        x -= excess / match.far
        if not low < x < high:
            if high == low or (low > 0.0 and (high - low) <= TOLERANCE * low):
                break
            x = 0.5 * (low + high) if high < INFINITY else 2.0 * low + 1e-9
    return match


cdef inline Match _match(Family family, Py_ssize_t b, double best, Py_ssize_t a, double mean,
                         double x) noexcept nogil:
    cdef double c = family.pooled(b, 1.0, best, a, x, mean)
    return Match(x, c, family.divergence(b, best, c), family.divergence(a, mean, c))


cdef struct Search:
    # For w* of given means: how far it has come.
    Py_ssize_t best
    Py_ssize_t second
    Py_ssize_t arm                          # the next one to be matched, at this z
    int steps                               # of Newton's method, each matches all arms
    double z
    double low
    double high
    double cost
    double far
    double total                            # of the ratios; 1 in the end
    double slope


cdef inline bint begin(Search* search, const double* means, Py_ssize_t n_arms, double guess,
                       double* weights) noexcept nogil:
    """Start to search; whether that is all: uniform over the best arms if there are several."""
    cdef Py_ssize_t a, best = 0, second = -1, ties = 0
    for a in range(1, n_arms):
        if means[a] > means[best]:
            best = a
    for a in range(n_arms):
        ties += means[a] == means[best]
        if a != best and (second < 0 or means[a] > means[second]):
            second = a
    search.best, search.second = best, second
    search.arm, search.steps = 0, 0
    search.low, search.high, search.z = 0.0, 1.0, guess
    if ties == 1:
        return False
    for a in range(n_arms):
        weights[a] = 1.0 / <double>ties if means[a] == means[best] else 0.0
    return True


cdef bint go_on(Search* search, Family family, const double* means, Py_ssize_t n_arms, double* weights,
                Py_ssize_t most) noexcept nogil:
    """Search on, matching about `most` arms; whether w* is found, and z*, a good guess for means close by.

    With b the best arm and x_a = w_a / w_b, the costs g_a(x_a) are all equal and the sum over a
    of d(mu_b, c_a) / d(mu_a, c_a) is 1 (Theorem 5 of the article). The article's unknown is the
    common cost; here it is z = x / (1 + x) of the second best arm, always between 0 and 1.
    """
    cdef double best = means[search.best], total = 0.0
    cdef Match match
    cdef Py_ssize_t a, end
    while search.steps < MOST_STEPS:
        if most <= 0:
            return False
        if search.arm == 0:
            _aim(search, family, means, weights)
        end = min(search.arm + most, n_arms)
        most -= end - search.arm
        for a in range(search.arm, end):
            if a != search.best and a != search.second:
                match = _matching(family, search.best, best, a, means[a], search.cost)
                weights[a] = match.x
                search.total += match.near / match.far
                search.slope += _ratio_slope(family, search.best, best, a, means[a], match)
        search.arm = end if end < n_arms else 0
        if search.arm == 0:
            search.steps += 1
            if fabs(search.total - 1.0) <= 1e-12 or search.high - search.low <= 1e-15:
                break
            _improve(search)
    for a in range(n_arms):
        total += weights[a]
    for a in range(n_arms):
        weights[a] /= total
    return True


cdef inline void _aim(Search* search, Family family, const double* means, double* weights) noexcept nogil:
    """The cost that z stands for, which all arms are to be matched with."""
    cdef double best = means[search.best], second = means[search.second]
    cdef Match match = _match(family, search.best, best, search.second, second, search.z / (1.0 - search.z))
    search.far = match.far
    search.cost = match.near + match.x * match.far
    search.total = match.near / match.far
    search.slope = _ratio_slope(family, search.best, best, search.second, second, match)
    weights[search.best], weights[search.second] = 1.0, match.x


cdef inline void _improve(Search* search) noexcept nogil:
    """A step of Newton's method on the logarithm of the sum, which has a pole at 1."""
    cdef double z = search.z
    if search.total < 1.0:
        search.low = z
    else:
        search.high = z
    # d cost / dz = far / (1 - z)^2
    z -= search.total * log(search.total) * (1.0 - z) * (1.0 - z) / (search.slope * search.far)
    search.z = z if search.low < z < search.high else 0.5 * (search.low + search.high)


cdef inline double _ratio_slope(Family family, Py_ssize_t b, double best, Py_ssize_t a, double mean,
                                Match match) noexcept nogil:
    """Derivative of near / far by the cost."""
    cdef double v = family.variance(b, match.c), u = family.variance(a, match.c)
    # dc / dx = -(best - mean) u v / (u + x v)^2
    cdef double far = match.far * (u + match.x * v), ratio = match.near / match.far
    return (best - mean) * ((best - match.c) * u + ratio * (match.c - mean) * v) / (far * far)


def weights(Family family not None, const double[::1] means not None):
    """The optimal proportions w* of best arm identification, as an array."""
    result = np.empty(means.shape[0])
    cdef double[::1] view = result
    cdef Search search
    with nogil:
        if not begin(&search, &means[0], means.shape[0], 0.5, &view[0]):
            while not go_on(&search, family, &means[0], means.shape[0], &view[0], PART):
                pass
    return result


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
    cdef double[::1] _means
    cdef double[::1] _weights
    cdef double[::1] _goal
    cdef double[::1] _lag
    cdef Search _search
    cdef bint _searching
    cdef double _guess
    cdef int64_t _due                       # the round at which w* is solved for again

    def __init__(self, Py_ssize_t n_arms, Family family not None, bint cumulative):
        self.family = family
        self.cumulative = cumulative
        self.prepares = n_arms > 100
        self._means = np.empty(n_arms)
        self._weights = np.zeros(n_arms)
        self._goal = np.empty(n_arms)
        self._lag = np.empty(n_arms)

    cdef void restart(self) noexcept nogil:
        cdef Py_ssize_t arm
        self._searching = False
        self._guess = 0.5
        self._due = 0
        for arm in range(self._goal.shape[0]):
            self._goal[arm] = <double>self.initial_pulls

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
            self._searching = not begin(&self._search, &self._means[0], arms.n_arms, self._guess,
                                        &self._weights[0])
        if self._searching and not go_on(&self._search, self.family, &self._means[0], arms.n_arms,
                                         &self._weights[0], PART):
            return False
        self._searching = False
        self._guess = self._search.z
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
            self._means[arm] = mean

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
        self._searching = False
