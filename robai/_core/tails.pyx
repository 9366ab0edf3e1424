"""Tails of posteriors, and their quantiles (see tails.pxd)."""

from libc.math cimport INFINITY, NAN, erfc, exp, expm1, fabs, lgamma, log, log1p, sqrt

import numpy as np

from robai._core.kl cimport Shift, bernoulli_shift, deviance, growth, log1pmx, poisson_lower

HALF_LOG_2_PI = 0.9189385332046727
cdef double ROOT_2 = 1.4142135623730951

cdef double CLOSE = 1e-6            # so close to a level no bound decides

cdef enum:
    FRACTIONS = 40                  # steps of the continued fraction
    NODES = 32                      # of Gauss and Legendre's rule: eight digits at the least, mostly twelve
    HALVES = 20                     # up to 10, where Stirling's formula takes over

cdef double[NODES] node
cdef double[NODES] weight
cdef double[HALVES] of_half         # `remainder` of 0, 1/2, 1, ...: the shapes that counts lead to


cdef int fill_tables() except -1:
    """The rule is for integrals from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    for i in range(NODES):
        node[i], weight[i] = 0.5 * (nodes[i] + 1.0), 0.5 * weights[i]
    of_half[0] = INFINITY
    for i in range(1, HALVES):
        of_half[i] = remainder_by_gamma(0.5 * i)
    return 0


# ---- normal

cdef double normal_surprise(double z) noexcept nogil:
    cdef double x
    if z < 25.0:
        return -log(0.5 * erfc(z / ROOT_2))
    x = 1.0 / (z * z)                       # the asymptotic series
    return 0.5 * z * z + HALF_LOG_2_PI + log(z) - log1p(-x * (1.0 - x * (3.0 - x * (15.0 - x * 105.0))))


cdef double normal_quantile(double surprise) noexcept nogil:
    """Two steps of Halley's method from Hastings' (1955) approximation, which is good to 4.5e-4."""
    cdef double t = sqrt(2.0 * surprise), z, excess, hazard
    cdef int _step
    z = t - ((2.515517 + t * (0.802853 + t * 0.010328))
             / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))))
    if not t < 1e150:                       # its square is all there is
        return t
    for _step in range(2):
        excess = surprise - normal_surprise(z)
        hazard = exp(surprise - excess - 0.5 * z * z - HALF_LOG_2_PI)
        z += excess / hazard / (1.0 + 0.5 * excess * (hazard - z) / hazard)
    return z


# ---- ratios of gamma variables

cdef inline double remainder_by_gamma(double x) noexcept nogil:
    return lgamma(x) - ((x - 0.5) * log(x) - x + HALF_LOG_2_PI)


fill_tables()


cdef double remainder(double x) noexcept nogil:
    """log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), that of Stirling's formula."""
    cdef double y = 2.0 * x
    if x < 10.0:
        return of_half[<int>y] if x >= 0.0 and y == <int>y else remainder_by_gamma(x)
    y = 1.0 / (x * x)
    return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188))))) / x


cdef inline double expm1mx(double x) noexcept nogil:
    """exp(x) - 1 - x."""
    if fabs(x) > 0.3:
        return expm1(x) - x
    return 0.5 * x * x * (1.0 + x / 3 * (1.0 + x / 4 * (1.0 + x / 5 * (1.0 + x / 6 * (1.0 + x / 7 * (
        1.0 + x / 8 * (1.0 + x / 9 * (1.0 + x / 10 * (1.0 + x / 11)))))))))


cdef inline double share(Point point) noexcept nogil:
    """s / (s + r)."""
    if point.a == INFINITY:
        return 1.0
    return point.s / (point.a + point.b)    # 0 for an infinite b


cdef double curvature(Point point) noexcept nogil:
    """s r / (s + r): of -log density."""
    return point.r if point.a == INFINITY else point.s if point.b == INFINITY else share(point) * point.r


cdef inline double fall(Point point, double y, double u) noexcept nogil:
    """By how much log density falls from a point to u to its right: b u + (a + b) log(1 + (1 - y)(e^-u - 1)).

    Written so that nothing cancels, however large the shapes are: by the gap, and terms that are all of the
    second order, seen from the left as long as that is the shorter side.
    """
    cdef double sum_ = point.a + point.b
    if y < 0.5 and y * expm1(u) < 1.0:
        return ((sum_ * log1pmx(y * expm1(u)) if sum_ < INFINITY else 0.0)
                + point.s * expm1mx(u) + point.gap * u)
    return ((sum_ * log1pmx(point.r / sum_ * expm1(-u)) if sum_ < INFINITY else 0.0)
            + point.r * expm1mx(-u) + point.gap * u)


cdef inline double slope(Point point, double y, double u) noexcept nogil:
    """The derivative of `fall` by u."""
    cdef double shrunk = expm1(-u)
    return point.gap - curvature(point) * (shrunk / (1.0 + (1.0 - y) * shrunk))


cdef double by_fraction(Point point) noexcept nogil:
    """`mills` for finite shapes, by the continued fraction of the incomplete beta; 0 if that takes long.

    DLMF 8.17.22; its convergents A / B follow a recurrence, of much less work than the integral.
    """
    cdef double a = point.a, b = point.b, y = point.r / (a + b), m = 0.0, d
    cdef double before_a = 1.0, before_b = 0.0, at_a = 1.0, at_b = 1.0, last_a, last_b
    cdef int _step
    for _step in range(FRACTIONS):
        d = -(b + m) * (a + b + m) * y / ((b + 2.0 * m) * (b + 2.0 * m + 1.0))
        before_a, before_b = at_a + d * before_a, at_b + d * before_b
        m += 1.0
        d = m * (a - m) * y / ((b + 2.0 * m - 1.0) * (b + 2.0 * m))
        last_a, last_b = at_a, at_b
        at_a, at_b = before_a + d * at_a, before_b + d * at_b
        if fabs(at_a * last_b - last_a * at_b) <= 1e-13 * at_a * last_b:        # of A / B
            return at_b / (b * at_a)
    return 0.0


cdef double mills(Point point) noexcept nogil:
    """The tail divided by the density, for a gap of at least 0: the integral of exp(-fall) over u > 0.

    Up to where exp(-37) is left, which Newton's method comes to from the right: `fall` is convex. The start
    is the end for a curvature that stays, or for one that grows like exp(u), as it does for a small y.
    """
    cdef double y = share(point), bend = curvature(point), total = 0.0, u, end
    cdef int i, _step
    if point.a < INFINITY and point.b < 1e3 * point.gap:    # else it cancels: it is gap / b at most
        total = by_fraction(point)
        if total > 0.0:
            return total
    end = 74.0 / (point.gap + sqrt(point.gap * point.gap + 74.0 * bend))
    if y < 0.5:
        end = min(end, log1p(74.0 / point.s) + 1.0)
    for _step in range(3):
        end += (37.0 - fall(point, y, end)) / slope(point, y, end)
    for i in range(NODES):
        u = end * node[i]
        total += weight[i] * exp(-fall(point, y, u))
    return end * total


cdef double log_density(Point point) noexcept nogil:
    """By l."""
    cdef double a = point.a, b = point.b
    cdef double middle = b if a == INFINITY else a if b == INFINITY else a / (a + b) * b
    cdef double result = 0.5 * log(middle) - HALF_LOG_2_PI
    if a < INFINITY:
        result -= deviance(a, point.s, point.gap) + remainder(a)
    if b < INFINITY:
        result -= deviance(b, point.r, -point.gap) + remainder(b)
    if a + b < INFINITY:
        result += remainder(a + b)
    return result


cdef inline Point seen_from_the_left(Point point) noexcept nogil:
    return Point(point.b, point.a, -point.gap, point.r, point.s)


cdef double surprise_at(Point point, double level) noexcept nogil:
    if not (point.s > 0.0 and point.r > 0.0):           # at an end, or no number
        return 0.0 if point.r > 0.0 else INFINITY
    return surprise_within(point, level, log_density(point))


cdef double surprise_within(Point point, double level, double density) noexcept nogil:
    """`surprise_at` between the ends, where the logarithm of the density is known."""
    # With `fall` between gap u and gap u + c (e^u - 1 - u), c the curvature, and e^-x >= 1 - x, the ratio of
    # tail and density is between (1 - c / (gap (gap - 1))) / gap and 1 / gap.
    cdef double known, short
    if point.gap < 0.0:
        point = seen_from_the_left(point)
        known = exp(density)
        if level > 0.7 and known < 0.5 * point.gap:
            return -log1p(-known / point.gap)           # less than log 2
        return -log1p(-known * mills(point))
    known = -density
    if point.gap > 1.0:
        known += log(point.gap)
        short = curvature(point) / (point.gap * (point.gap - 1.0))
        if known > (1.0 + CLOSE) * level:
            return known
        if short < 1.0 and known - log1p(-short) < (1.0 - CLOSE) * level:
            return known - log1p(-short)
        return known - log(point.gap * mills(point))
    return known - log(mills(point))


cdef inline Point far_from(double a, double b, double z) noexcept nogil:
    """The point where the divergence from the middle is z^2 / 2: the quantile, for large shapes."""
    cdef double level = 0.5 * z * z, gap, r
    cdef Shift shift
    if b == INFINITY:
        gap = a * growth(level / a)
        return Point(a, b, gap, a + gap, b)
    if a == INFINITY:
        r = poisson_lower(b, level)
        return Point(a, b, b - r, a, r)
    shift = bernoulli_shift(a / (a + b), b / (a + b), level / (a + b))
    gap = (a + b) * shift.gap
    return Point(a, b, gap, a + gap, (a + b) * shift.rest)


cdef Point moved(Point point, double step) noexcept nogil:
    """By a step of l."""
    cdef double shrunk = expm1(-step), by = 1.0 + (1.0 - share(point)) * shrunk
    cdef double gap = point.gap - curvature(point) * (shrunk / by)
    return Point(point.a, point.b, gap, point.s / by, point.r * ((1.0 + shrunk) / by))


cdef Point point_of(double a, double b, double surprise) noexcept nogil:
    """Halley's steps by l, in which the surprise is convex. The start has the first correction of Barndorff-
    Nielsen (1986) to the normal quantile, z + log(x / z) / z with x the gap in standard deviations.
    """
    cdef double z = normal_quantile(max(surprise, 0.75)), middle, change, density, excess, hazard, step
    cdef Point point
    cdef int _step
    middle = b if a == INFINITY else a if b == INFINITY else a / (a + b) * b
    point = far_from(a, b, z)
    step = log(point.gap / sqrt(middle) / z) / z
    if step < z:                            # to z - step, by the divergence's derivatives, gap and curvature
        change = step * (0.5 * step - z)
        step = point.gap * point.gap + 2.0 * curvature(point) * change
        point = moved(point, 2.0 * change / (point.gap + sqrt(max(step, 0.0))))
    for _step in range(20):
        if not (point.s > 0.0 and point.r > 0.0):
            break
        density = log_density(point)
        excess = surprise - surprise_within(point, NAN, density)
        hazard = exp(density + surprise - excess)
        step = excess / hazard
        if fabs(excess) < 1.0:
            step /= 1.0 + 0.5 * excess * (hazard - point.gap) / hazard
        point = moved(point, max(step, -700.0))
        if fabs(excess) < 1e-3:
            break
    return point
