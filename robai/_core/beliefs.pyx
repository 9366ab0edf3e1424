"""What Thompson sampling thinks of an arm (see beliefs.pxd)."""

from libc.math cimport INFINITY, log, log1p, sqrt

from robai._core.draws cimport draw_gamma
from robai._core.rng cimport happens, next_double, next_normal
from robai._core.tails cimport HALF_LOG_2_PI, curvature, log_density, moved, remainder

# So many standard deviations apart the chance is 0 in doubles.
cdef double FAR = 60.0


cdef Kind kind_of(Posterior posterior) noexcept nogil:
    if posterior.share:
        return SHARE
    return COUNT if posterior.b == INFINITY else RATE if posterior.a == INFINITY else RATIO


cdef double weight_of(Posterior posterior) noexcept nogil:
    cdef Kind kind = kind_of(posterior)
    return posterior.a + posterior.b if kind == SHARE else posterior.scale if kind == COUNT else posterior.b


cdef double total_of(Posterior posterior) noexcept nogil:
    return posterior.scale if kind_of(posterior) == RATE else posterior.a


cdef Belief belief_of(Posterior posterior) noexcept nogil:
    if posterior.share:                     # N - A would lose a small b
        return Belief(posterior.a, posterior.b, log(posterior.a / posterior.b), 0.0)
    return believe(kind_of(posterior), weight_of(posterior), total_of(posterior), 0.0)


cdef Belief believe(Kind kind, double weight, double total, double variance) noexcept nogil:
    cdef double rest
    if kind == NORMAL:
        return Belief(INFINITY, INFINITY, total / weight, variance / weight)
    if kind == SHARE:
        rest = max(weight - total, 1.0)     # what rounding leaves of a small one; more is on the safe side
        return Belief(total, rest, log(total / rest), 0.0)
    return Belief(INFINITY if kind == RATE else total, INFINITY if kind == COUNT else weight,
                  log(total / weight), 0.0)


cdef inline Point point_at(Belief belief, double place) noexcept nogil:
    return moved(Point(belief.a, belief.b, 0.0, belief.a, belief.b), place - belief.centre)


cdef Tangent tangent(Belief rival, Belief leader) noexcept nogil:
    # It is best where the rival's draws are that beat the leader's: half a mean jump, 1/u, above the middle
    # of the leader's weighted law.
    cdef double lead = leader.centre - rival.centre, spread, square, u, x
    cdef Point point
    cdef Tangent none = Tangent(0.0, 0.0, 0.0)
    if rival.variance > 0.0:
        spread = sqrt(leader.variance + rival.variance)
        if not lead > 0.0:
            return none
        if lead > FAR * spread:
            return Tangent(0.0, 1.0, -INFINITY)
        u = lead / spread / spread
        x = rival.centre + u * rival.variance + 0.5 / u
        u = (x - rival.centre) / rival.variance
        square = u * (x - rival.centre)         # of standard deviations
        return Tangent(x, u, -0.5 * (square + log(square)) - HALF_LOG_2_PI)
    point = point_at(rival, leader.centre)
    if not point.gap >= 0.5:
        return none
    u = point.gap / (1.0 + curvature(point) * (1.0 / leader.a + 1.0 / leader.b))
    x = leader.centre + log1p(-min(u / leader.a, 0.9)) - log1p(u / leader.b) + 0.5 / u
    point = point_at(rival, x)
    u = point.gap
    if not (1.0 <= u < 0.99 * leader.a):
        return none
    return Tangent(x, u, log_density(point) - log(u))


cdef inline double log_gamma_growth(double z, double u) noexcept nogil:
    """log(Gamma(z + u) / Gamma(z)) - u log z: no term is larger than of the order of u."""
    if z == INFINITY:
        return 0.0
    return (z + u - 0.5) * log1p(u / z) - u + remainder(z + u) - remainder(z)


cdef double log_chance(Tangent tangent, Belief leader) noexcept nogil:
    cdef double u = tangent.u
    return (tangent.height + u * (tangent.x - leader.centre) + 0.5 * u * u * leader.variance
            + log_gamma_growth(leader.a, -u) + log_gamma_growth(leader.b, u))


cdef double draw_weighted(Belief belief, double u, Rng* rng) noexcept nogil:
    cdef double place = belief.centre
    if belief.variance > 0.0:
        return place - u * belief.variance + sqrt(belief.variance) * next_normal(rng)
    if belief.a < INFINITY:
        place += log(draw_gamma(belief.a - u, rng) / belief.a)
    if belief.b < INFINITY:
        place -= log(draw_gamma(belief.b + u, rng) / belief.b)
    return place


cdef bint draw_pair(Tangent tangent, Belief rival, Belief leader, double* high, double* low,
                    Rng* rng) noexcept nogil:
    cdef double u = tangent.u, x = tangent.x, above
    low[0] = draw_weighted(leader, u, rng)
    high[0] = low[0] - log(1.0 - next_double(rng)) / u
    above = high[0] - x
    if rival.variance > 0.0:                # the tangent less a parabola that touches it
        return happens(-0.5 * above * above / rival.variance, rng)
    return happens(log_density(point_at(rival, high[0])) - tangent.height - log(u) + u * above, rng)
