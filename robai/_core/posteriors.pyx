"""Posteriors by gamma variables (see posteriors.pxd)."""

from libc.math cimport INFINITY

from robai._core.draws cimport draw_beta, draw_gamma
from robai._core.tails cimport Point, point_of, surprise_at


cdef double draw_from(Posterior posterior, Rng* rng) noexcept nogil:
    cdef double f, g
    if posterior.share:
        return posterior.low + posterior.scale * draw_beta(posterior.a, posterior.b, rng)
    if posterior.b == INFINITY:
        return draw_gamma(posterior.a, rng) / posterior.scale
    g = draw_gamma(posterior.b, rng)
    if posterior.a == INFINITY:
        return posterior.scale / g if g > 0.0 else INFINITY
    f = draw_gamma(posterior.a, rng)
    return posterior.scale * (f / g) if g > 0.0 else INFINITY


cdef double surprise_above(Posterior posterior, double q, double level) noexcept nogil:
    cdef double a = posterior.a, b = posterior.b, left = q, right = posterior.scale, s, r
    if posterior.share:
        left, right = q - posterior.low, posterior.low + posterior.scale - q
    if not (left > 0.0 and right > 0.0 and left < INFINITY):
        return INFINITY if left > 0.0 else 0.0
    if b == INFINITY:
        s = q * posterior.scale
        return surprise_at(Point(a, b, s - a, s, b), level)
    if a == INFINITY:
        r = posterior.scale / q
        return surprise_at(Point(a, b, b - r, a, r), level)
    s, r = (a + b) * (left / (left + right)), (a + b) * (right / (left + right))
    return surprise_at(Point(a, b, s - a if s < r else b - r, s, r), level)


cdef double quantile_of(Posterior posterior, double surprise) noexcept nogil:
    cdef Point point = point_of(posterior.a, posterior.b, surprise)
    if posterior.share:
        if point.s < point.r:
            return posterior.low + posterior.scale * (point.s / (posterior.a + posterior.b))
        return posterior.low + posterior.scale * (1.0 - point.r / (posterior.a + posterior.b))
    if posterior.b == INFINITY:
        return point.s / posterior.scale
    if not point.r > 0.0:
        return INFINITY
    return posterior.scale * (1.0 if posterior.a == INFINITY else point.s) / point.r
