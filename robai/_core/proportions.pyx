"""w*, the optimal proportions of best arm identification: Garivier and Kaufmann (2016), Theorem 5.

With b the best arm and x_a = w_a / w_b, the costs g_a = d(mu_b, c_a) + x_a d(mu_a, c_a) are one cost y for
all a, and the ratios F_a = d(mu_b, c_a) / d(mu_a, c_a) sum to 1. c_a is the mean of both arms, pooled with
weights 1 and x_a.

Newton's method for all x_a and y at once needs one look at every arm a step: each equation has one x_a, and

    y = (1 - sum of (F_a - F_a' g_a)) / sum of F_a',    x_a + (y - g_a) / d(mu_a, c_a)

are the next ones, F_a' being the derivative of the ratio by the cost. It begins with the last w*: means that
have moved a little take three steps or four. If it does not get there, or has nothing to begin with, there is
a search which always does, for one number, with all x_a solved for at each of its steps. The article's number
is y; here it is z = x / (1 + x) of the second best arm, always between 0 and 1.
"""

from libc.math cimport INFINITY, fabs, log

import numpy as np

cdef double TOLERANCE = 1e-13
cdef double LAST = 1e-7             # a relative step after which the error, about its square, is rounding
cdef int MOST_STEPS = 200
cdef int MOST_FOLLOWED = 8


cdef struct Match:
    double x                                # the weight of an arm, where that of the best is 1
    double c                                # the mean of both, pooled with these weights
    double near                             # d(best, c)
    double far                              # d(mean, c), the derivative of the cost by x
    double cost                             # near + x far


cdef inline Match _match(Family family, Py_ssize_t b, double best, Py_ssize_t a, double mean,
                         double x) noexcept nogil:
    cdef double c = family.pooled(b, 1.0, best, a, x, mean)
    cdef double near = family.divergence(b, best, c), far = family.divergence(a, mean, c)
    return Match(x, c, near, far, near + x * far)


cdef inline double _ratio_slope(Family family, Py_ssize_t b, double best, Py_ssize_t a, double mean,
                                Match match) noexcept nogil:
    """Derivative of near / far by the cost."""
    cdef double v = family.variance(b, match.c), u = family.variance(a, match.c)
    # dc / dx = -(best - mean) u v / (u + x v)^2
    cdef double far = match.far * (u + match.x * v), ratio = match.near / match.far
    return (best - mean) * ((best - match.c) * u + ratio * (match.c - mean) * v) / (far * far)


cdef Match _matching(Family family, Py_ssize_t b, double best, Py_ssize_t a, double mean,
                     double cost) noexcept nogil:
    """x > 0 with this cost.

    The cost is increasing and concave in x, so Newton's method started below the root climbs to it. What is
    asked is below the limit d(best, mean).
    """
    cdef double low = 0.0, high = INFINITY, x, excess
    cdef Match match
    cdef int _step
    x = cost / family.divergence(a, mean, best)         # it is at most x d(mean, best)
    if x == 0.0:                                        # that divergence is infinite
        x = 1e-12
    for _step in range(MOST_STEPS):
        match = _match(family, b, best, a, mean, x)
        excess = match.cost - cost
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


cdef class Proportions:
    """w* of means that change little from one search to the next."""

    def __init__(self, Family family not None, Py_ssize_t n_arms):
        self.family = family
        self.means, self.weights = np.empty(n_arms), np.zeros(n_arms)
        self._costs, self._fars = np.empty(n_arms), np.empty(n_arms)
        self.guess = 0.5

    cdef void begin(self) noexcept nogil:
        cdef Py_ssize_t a, best = 0, second = -1, ties = 0, n_arms = self.means.shape[0]
        cdef double* means = &self.means[0]
        cdef double* weights = &self.weights[0]
        cdef double scale
        for a in range(1, n_arms):
            if means[a] > means[best]:
                best = a
        self.followed = n_arms > 2          # of one x the search is Newton's method as it is
        for a in range(n_arms):
            ties += means[a] == means[best]
            if a != best and (second < 0 or means[a] > means[second]):
                second = a
            self.followed = self.followed and weights[a] > 0.0
        self._best, self._second = best, second
        self._arm, self.steps = 0, 0
        self._low, self._high = 0.0, 1.0
        self._found = ties > 1
        if self._found:                     # uniform over the best arms if there are several
            for a in range(n_arms):
                weights[a] = 1.0 / <double>ties if means[a] == means[best] else 0.0
        elif self.followed:
            scale = 1.0 / weights[best]
            for a in range(n_arms):
                weights[a] *= scale

    cdef bint go_on(self, Py_ssize_t most) noexcept nogil:
        cdef Py_ssize_t end, n_arms = self.means.shape[0]
        while not self._found:
            if most <= 0:
                return False
            end = min(self._arm + most, n_arms)
            most -= end - self._arm
            if self.followed:
                self._look(end)
            else:
                self._match_all(end)
            self._arm = end if end < n_arms else 0
            if self._arm == 0:
                self.steps += 1
                if self.followed:
                    self._follow()
                else:
                    self._improve()
                if self._found:
                    self._finish()
        return True

    cdef void _finish(self) noexcept nogil:
        """Weights that sum to 1."""
        cdef Py_ssize_t a, n_arms = self.means.shape[0]
        cdef double* weights = &self.weights[0]
        cdef double total = 0.0
        for a in range(n_arms):
            total += weights[a]
        total = 1.0 / total
        for a in range(n_arms):
            weights[a] *= total

    # ---- from the last w*

    cdef void _look(self, Py_ssize_t end) noexcept nogil:
        """At the equations of some arms, and their derivatives."""
        cdef Py_ssize_t a, b = self._best
        cdef double best = self.means[b], mean, each, total = 0.0, slope = 0.0, lift = 0.0
        cdef Match match
        for a in range(self._arm, end):
            if a != b:
                mean = self.means[a]
                match = _match(self.family, b, best, a, mean, self.weights[a])
                self._costs[a], self._fars[a] = match.cost, match.far
                each = _ratio_slope(self.family, b, best, a, mean, match)
                total += match.near / match.far
                slope += each
                lift += each * match.cost
        if self._arm == 0:
            self._total = self._slope = self._lift = 0.0
        self._total += total
        self._slope += slope
        self._lift += lift

    cdef void _follow(self) noexcept nogil:
        """A step of Newton's method for all arms, by a factor of 5 at most."""
        cdef Py_ssize_t a
        cdef double cost = (1.0 - self._total + self._lift) / self._slope, x, to
        cdef bint last = True
        for a in range(self.means.shape[0]):
            if a != self._best:
                x = self.weights[a]
                to = min(max(x + (cost - self._costs[a]) / self._fars[a], 0.2 * x), 5.0 * x)
                last = last and fabs(to - x) <= LAST * x
                self.weights[a] = to
        self._found = last
        if self.steps == MOST_FOLLOWED and not last:
            self.followed, self.steps = False, 0

    # ---- from the guess alone

    cdef void _match_all(self, Py_ssize_t end) noexcept nogil:
        """Solve for x of some arms, at the cost that z stands for."""
        cdef Py_ssize_t a, b = self._best
        cdef double best = self.means[b], mean = self.means[self._second]
        cdef Match match
        if self._arm == 0:
            match = _match(self.family, b, best, self._second, mean, self.guess / (1.0 - self.guess))
            self._cost, self._far = match.cost, match.far
            self._total = match.near / match.far
            self._slope = _ratio_slope(self.family, b, best, self._second, mean, match)
            self.weights[self._best], self.weights[self._second] = 1.0, match.x
        for a in range(self._arm, end):
            if a != b and a != self._second:
                mean = self.means[a]
                match = _matching(self.family, b, best, a, mean, self._cost)
                self.weights[a] = match.x
                self._total += match.near / match.far
                self._slope += _ratio_slope(self.family, b, best, a, mean, match)

    cdef void _improve(self) noexcept nogil:
        """A step of Newton's method on the logarithm of the sum, which has a pole at 1."""
        cdef double z = self.guess
        self._found = (fabs(self._total - 1.0) <= 1e-12 or self._high - self._low <= 1e-15
                       or self.steps == MOST_STEPS)
        if self._found:
            return
        if self._total < 1.0:
            self._low = z
        else:
            self._high = z
        # d cost / dz = far / (1 - z)^2
        z -= self._total * log(self._total) * (1.0 - z) * (1.0 - z) / (self._slope * self._far)
        self.guess = z if self._low < z < self._high else 0.5 * (self._low + self._high)

    def of(self, means):
        """w* of these means, as an array."""
        cdef const double[::1] view = np.ascontiguousarray(means, dtype=np.float64)
        self.means[:] = view
        with nogil:
            self.begin()
            while not self.go_on(PART):
                pass
        return np.array(self.weights)
