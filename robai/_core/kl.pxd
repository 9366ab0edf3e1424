"""Divergences d(p, q) between members of an exponential family, and their inverses in q.

Means are doubles; `upper` is the largest q >= p with d(p, q) <= level, `lower` the smallest
q <= p. Every function is total: a mean on the edge of the domain has the limit as its value;
a mean outside, an infinite p, a negative level and NaN give NaN.

With h(z) = z - 1 - log(z) >= 0 nothing cancels when p is close to q:

    Poisson              p h(q/p)
    exponential          h(p/q)
    binomial             p h(q/p) + (n-p) h((n-q)/(n-p))
    negative binomial    p h(q/p) - (p+r) h((q+r)/(p+r))

The inverses take Halley's steps in a coordinate in which d is nearly straight far from p.
Where that is a logarithm, (2+x)/(2-x) stands in for exp(x), which keeps the third order: a
relative step below 5e-5 (`settled`) need not be followed by another.
"""

from libc.math cimport INFINITY, NAN, exp, expm1, fabs, fmax, fmin, log, log1p, nextafter, sqrt


cdef inline double log1pmx(double x) noexcept nogil:
    """log(1 + x) - x, with a relative error below 1e-15; -inf at -1 and at +inf."""
    cdef double s, a, b, c
    if -0.4 <= x <= 0.65:
        # log(1+x) = 2 atanh(s) and 2 s - x = -s x. Twelve terms leave 3e-17, for |s| <= 0.25.
        s = x / (2.0 + x)
        a = s * s
        b = a * a
        c = b * b
        return s * (2.0 * a * (
            (1.0 / 3 + a * (1.0 / 5)) + b * (1.0 / 7 + a * (1.0 / 9))
            + c * ((1.0 / 11 + a * (1.0 / 13)) + b * (1.0 / 15 + a * (1.0 / 17))
                   + c * ((1.0 / 19 + a * (1.0 / 21)) + b * (1.0 / 23 + a * (1.0 / 25))))
        ) - x)
    if x == INFINITY:
        return -INFINITY
    return log(1.0 + x) - x


cdef inline bint settled(double change, double value) noexcept nogil:
    return fabs(change) <= 5e-5 * value


cdef inline double log_ratio(double q, double p) noexcept nogil:
    """log(q/p), also where q/p is too small for a double."""
    return log(q / p) if q > 1e-300 * p else log(q) - log(p)


# ---------------------------------------------------------------- Poisson and exponential

cdef inline double deviance(double p, double q, double gap) noexcept nogil:
    """p h(q/p) for q = p + gap, not both 0; `gap` is an argument as it may be better known."""
    cdef double x = gap / p
    if x < -0.5:
        return gap - p * log_ratio(q, p)
    if x > 1e18:                           # p log(q/p) is below half a unit of q; also p = 0
        return gap
    return -p * log1pmx(x)


cdef inline double polish(double t, double x) noexcept nogil:
    """Root of h(1 + x) = t near x, which has its sign."""
    cdef double step
    cdef int _
    if x == 0.0:
        return x
    for _ in range(8):
        step = -(log1pmx(x) + t) * ((1.0 + x) / x)
        step /= 1.0 - step / (2.0 * x * (1.0 + x))
        x -= step
        if settled(step, fabs(x)):
            break
    return x


cdef inline double branch(double s) noexcept nogil:
    """x of the sign of s with h(1 + x) = s^2 / 2: the series at the branch point s = 0."""
    return s * (1.0 + s * (1.0 / 3.0 + s * (1.0 / 36.0 + s * (-1.0 / 270.0 + s * (1.0 / 4320.0)))))


cdef inline double growth(double t) noexcept nogil:
    """x >= 0 with h(1 + x) = t, for t > 0."""
    if t < 2.0:
        return polish(t, branch(sqrt(2.0 * t)))
    return polish(t, t + log(1.0 + t + log(1.0 + t)))


cdef inline double decay(double t) noexcept nogil:
    """v >= 0 with h(1 / (1 + v)) = t, for t > 0; +inf where v overflows."""
    cdef double x, u, step
    cdef int _
    if t < 0.15:
        x = polish(t, branch(-sqrt(2.0 * t)))
        return -x / (1.0 + x)
    if t > 710.0:
        return INFINITY
    # With u = log(1 + v), h = u - 1 + exp(-u); the start puts a rough u, t + 1 for t > 1, into the exp.
    u = t + 1.0 - exp(-t - 0.6 * fmin(t, 1.0) - 0.4)
    for _ in range(8):
        x = exp(-u)
        step = (u - 1.0 + x - t) / (1.0 - x)
        step /= 1.0 - 0.5 * step * x / (1.0 - x)
        u -= step
        if settled(step, 1.0):
            break
    return expm1(u)


cdef inline double poisson_divergence(double p, double q) noexcept nogil:
    if not (0.0 <= p < INFINITY and q >= 0.0):
        return NAN
    if p == q:
        return 0.0
    return deviance(p, q, q - p)


cdef inline double poisson_upper(double p, double level) noexcept nogil:
    if not (0.0 <= p < INFINITY and level >= 0.0):
        return NAN
    if level == 0.0:
        return p
    if level >= 1e18 * p:                  # see deviance
        return p + level
    return p + p * growth(level / p)


cdef inline double poisson_lower(double p, double level) noexcept nogil:
    cdef double v
    if not (0.0 <= p < INFINITY and level >= 0.0):
        return NAN
    if p == 0.0 or level == 0.0:
        return p
    if level == INFINITY:
        return 0.0
    v = decay(level / p)
    return p - p * (v / (1.0 + v)) if v < 1.0 else fmax(p / (1.0 + v), nextafter(0.0, 1.0))


cdef inline double exponential_divergence(double p, double q) noexcept nogil:
    cdef double x
    if not (0.0 <= p < INFINITY and q >= 0.0):
        return NAN
    if p == q:
        return 0.0
    if q == INFINITY:
        return INFINITY
    x = (p - q) / q
    return x - log(p / q) if x < -0.5 else -log1pmx(x)


cdef inline double exponential_upper(double p, double level) noexcept nogil:
    if not (0.0 <= p < INFINITY and level >= 0.0):
        return NAN
    if p == 0.0 or level == 0.0:
        return p
    return p + p * decay(level)


cdef inline double exponential_lower(double p, double level) noexcept nogil:
    cdef double x
    if not (0.0 <= p < INFINITY and level >= 0.0):
        return NAN
    if p == 0.0 or level == 0.0:
        return p
    if level == INFINITY:
        return 0.0
    x = growth(level)
    return p - p * (x / (1.0 + x)) if x < 1.0 else p / (1.0 + x)


# ----------------------------------------------------------------- Bernoulli and binomial

cdef struct Shift:
    double gap                             # how far the mean moves
    double rest                            # how far it stays from the end of the domain
    int steps                              # Halley's steps this took


cdef inline Shift bernoulli_shift(double p, double end, double level) noexcept nogil:
    """Move p towards 1 = p + end, end > 0, until d = level, for a finite level > 0.

    The coordinate is w = log(end / rest), in which d = end w - p log(q/p) has the slope
    gap/q, between 0 and end, and the curvature p rest/q^2. Close to p the start is the
    series of gap in sqrt(level). Farther off a rough q gives w through the same equation:
    the error is below 1, and small once q has left p or is close to 1.
    """
    cdef Shift shift
    cdef double scale = sqrt(2.0 * level / (p * end)), skew = (end - p) * scale / 3.0
    cdef double w, q, step
    cdef int _
    shift.steps = 0
    shift.gap = p * end * scale
    if scale < 1.0:
        shift.gap *= 1.0 + skew + 0.25 * skew * skew - 0.5 * level
        shift.rest = end - shift.gap
        if shift.gap == 0.0:
            return shift
    else:
        if p < 1e-300:
            w = level / end
        else:
            shift.gap *= 1.0 + skew if skew > 0.0 else 1.0 / (1.0 - skew)
            w = (level + p * log1p(fmin(shift.gap, end) / p)) / end
        shift.rest = end * exp(-w)
        shift.gap = end - shift.rest if w > 0.5 else -end * expm1(-w)
        if p < 1e-300 or w > 700.0:        # exact: p log(q/p) is 0 or p log(1/p)
            return shift
    for _ in range(8):
        q = p + shift.gap
        step = deviance(p, q, shift.gap) + deviance(end, shift.rest, -shift.gap) - level
        step *= q / shift.gap
        step /= 1.0 - 0.5 * step * p * shift.rest / (q * shift.gap)
        step *= 2.0 / (2.0 - step)
        shift.gap -= shift.rest * step
        shift.rest += shift.rest * step
        shift.steps += 1
        if settled(step * fmax(shift.rest, shift.gap), shift.gap):
            break
    return shift


cdef inline double binomial_divergence(double p, double q, double n) noexcept nogil:
    """n times the divergence of p/n and q/n, without the rounding of these."""
    if not (0.0 <= p <= n and 0.0 <= q <= n):
        return NAN
    if p == q:
        return 0.0
    return deviance(p, q, q - p) + deviance(n - p, n - q, p - q)


cdef inline double binomial_upper(double p, double level, double n) noexcept nogil:
    """Less than n for p < n and a finite level: one failure ranks an arm below one without."""
    cdef Shift shift
    if not (0.0 <= p <= n and level >= 0.0):
        return NAN
    if p == n or level == 0.0:
        return p
    if level == INFINITY:
        return n
    shift = bernoulli_shift(p / n, (n - p) / n, level / n)
    return p + n * shift.gap if shift.gap < shift.rest else fmin(n - n * shift.rest, nextafter(n, 0.0))


cdef inline double binomial_lower(double p, double level, double n) noexcept nogil:
    """More than 0 for p > 0 and a finite level."""
    cdef Shift shift
    if not (0.0 <= p <= n and level >= 0.0):
        return NAN
    if p == 0.0 or level == 0.0:
        return p
    if level == INFINITY:
        return 0.0
    shift = bernoulli_shift((n - p) / n, p / n, level / n)
    return p - n * shift.gap if shift.gap < shift.rest else fmax(n * shift.rest, nextafter(0.0, 1.0))


cdef inline double bernoulli_divergence(double p, double q) noexcept nogil:
    return binomial_divergence(p, q, 1.0)


cdef inline double bernoulli_upper(double p, double level) noexcept nogil:
    return binomial_upper(p, level, 1.0)


cdef inline double bernoulli_lower(double p, double level) noexcept nogil:
    return binomial_lower(p, level, 1.0)


# ---------------------------------------------------------------------- Negative binomial
# For r from 1e-3 to 1e15 and p up to 1e100; beyond that intermediate results may overflow.

cdef inline double overdispersed(double p, double q, double gap, double r) noexcept nogil:
    """p h(q/p) - (p+r) h((q+r)/(p+r)) for a finite q = p + gap > 1e-300 p > 0.

    It is also r h(p/q) - (p+r) h(p(q+r) / (q(p+r))). The form whose first factor is the
    smaller loses at most a bit where its first ratio is near 1. Far above 1 all but the
    logarithms cancel, and they are left out.
    """
    cdef double weight = p, x = gap / p, v = gap / (p + r)
    if r < p:
        weight, x, v = r, -gap / q, -gap / q * (r / (p + r))
    if x > 1.0:
        return (p + r) * log1p(v) - weight * fabs(log(q) - log(p))      # x may be infinite
    if x < -0.5:
        x -= log(q / p if weight == p else p / q)
        return weight * x + (p + r) * log1pmx(v)
    return (p + r) * log1pmx(v) - weight * log1pmx(x)


cdef inline double negative_binomial_divergence(double p, double q, double r) noexcept nogil:
    if not (0.0 <= p < INFINITY and q >= 0.0 and r > 0.0):
        return NAN
    if p == q:
        return 0.0
    if q == INFINITY:
        return INFINITY
    if p < 1e-20 * r and q < 1e-20 * r:    # Poisson to all digits, and q / r may be too small for a double
        return deviance(p, q, q - p)
    if p == 0.0:
        return r * log1p(q / r)
    if q <= 1e-300 * p:                    # the first term is by far the larger; also q = 0
        return -p * log_ratio(q, p) - (p + r) * log1p((p - q) / (q + r))
    return overdispersed(p, q, q - p, r)


cdef inline double negative_binomial_upper(double p, double level, double r) noexcept nogil:
    """As bernoulli_shift with -r for 1, in the coordinate w = log((q+r) / (p+r)).

    d = r w - p log((1+r/p) / (1+r/q)) has the slope r gap/q and the curvature r p (q+r)/q^2.
    """
    cdef double gap, q, w, step
    cdef int _
    if not (0.0 <= p < INFINITY and level >= 0.0 and r > 0.0):
        return NAN
    if p < 1e-300:
        return fmax(p, r * expm1(level / r))
    if level < 1e-300:
        return p
    gap = sqrt(2.0 * level * p) * sqrt(1.0 + p / r) + (1.0 + 2.0 * p / r) * level * (2.0 / 3.0)
    w = (level + p * log1p(r / (1.0 + (p + r) / gap) / p)) / r
    gap = (p + r) * expm1(w)
    for _ in range(8):
        if gap == 0.0 or gap == INFINITY:
            break
        q = p + gap
        step = (overdispersed(p, q, gap, r) - level) / r * (q / gap)
        step /= 1.0 - 0.5 * step * ((q + r) / q) * (p / gap)
        step *= 2.0 / (2.0 + step) * (q + r)
        gap -= step
        if settled(step, gap):
            break
    return p + gap


cdef inline double negative_binomial_lower(double p, double level, double r) noexcept nogil:
    """In the natural parameter, m = log(p/q) - log((p+r)/(q+r)).

    d = (p+r) m - r log(p/q) = p log(p/q) - (p+r) log((p+r)/(q+r)) has the slope gap = p - q
    and the curvature q (q+r)/r in m. A rough q gives m by the first form where q > r, and a
    better q by the second where q < r.
    """
    cdef double scale, gap, q, u, step
    cdef int _
    if not (0.0 <= p < INFINITY and level >= 0.0 and r > 0.0):
        return NAN
    if p == 0.0 or level == 0.0:
        return p
    if level == INFINITY:
        return 0.0
    if r < p:
        scale = sqrt(2.0 * level / r)
        step = expm1((level + r * log1p(scale + scale * scale / 3.0)) / (p + r))
        gap = p * step / (r / (p + r) + step)
        q = p * (r / (p + r)) / (r / (p + r) + step)
    else:
        scale = sqrt(2.0 * level / p / (1.0 + p / r))
        gap = p * (1.0 + p / r) * scale / (1.0 + (1.0 + 2.0 * p / r) * scale / 3.0)
        q = fmax(p - gap, 0.0)
    if q < r:
        u = (level + (p + r) * log1p((p - q) / (q + r))) / p
        q = p * exp(-u)
        gap = -p * expm1(-u)
        if u > 600.0:                      # already exact: q + r is r
            return fmax(q, nextafter(0.0, 1.0))
    for _ in range(8):
        if gap == 0.0 or q == 0.0:
            break
        step = (overdispersed(p, q, -gap, r) - level) / gap
        step /= 1.0 - 0.5 * step * (q / gap) * (1.0 + q / r)
        step = -expm1(step)
        step *= q * ((q + r) / (r + q * step))
        gap += step
        q -= step
        if settled(step, fmin(gap, q)):
            break
    return p - gap if gap < q else q
