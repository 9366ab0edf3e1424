"""What leaps are drawn from; the engine itself is described in leap.pyx."""

from libc.math cimport INFINITY, exp, expm1, log, sqrt

from robai._core.families cimport Family
from robai._core.rng cimport Rng, next_double, next_normal


cdef inline double hitting_time(double height, double drift, Rng* rng) noexcept nogil:
    """When a Brownian motion with drift and variance 1 first falls by `height` > 0; infinite if never.

    Inverse Gaussian (Wald) with mean height / |drift| and shape height^2, drawn by the method of
    Michael, Schucany and Haas (1976), whose two roots are written without a difference.
    """
    cdef double product = height * drift, z, mean, w, root
    if drift > 0.0:
        if next_double(rng) >= exp(-2.0 * product):
            return INFINITY
    else:
        product = -product
    z = next_normal(rng)
    if product < 1e-14:
        return height * height / (z * z)
    mean = height * height / product
    w = z * z / product
    root = 1.0 + 0.5 * w + sqrt(w * (1.0 + 0.25 * w))
    return mean / root if next_double(rng) * (1.0 + root) <= root else mean * root


cdef inline double height_if_not_hit(double height, double drift, double time, Rng* rng) noexcept nogil:
    """The height after `time` of a Brownian motion as above that has not been at 0.

    A bridge between heights x and y > 0 stays above 0 with probability 1 - exp(-2 x y / time): a
    normal proposal is accepted with it. Where few of these are above 0 the proposal is
    exponential, or gamma of shape 2, with the rate of the normal's tail. The number of proposals
    is at worst of the order of sqrt(time) / height, and staying above 0 then as unlikely.
    """
    cdef double spread = sqrt(time), mean = height + drift * time, y, bound
    cdef double reach = 2.0 * height / time, rate = -mean / time
    while mean >= -spread:
        y = mean + spread * next_normal(rng)
        if y > 0.0 and next_double(rng) >= exp(-reach * y):
            return y
    while True:                     # also ends if a parameter is NaN
        y = -log(1.0 - next_double(rng)) / rate
        if reach < rate:
            y -= log(1.0 - next_double(rng)) / rate
        # The target is exp(-rate y) exp(-y^2 / (2 time)) (1 - exp(-reach y)), and 1 - e^-z <= min(1, z).
        bound = reach * y if reach < rate else 1.0
        if not next_double(rng) * bound >= exp(-0.5 * y * y / time) * -expm1(-reach * y):
            return y


# How far below its mean the sum of k rewards can be, but for a probability of exp(-exponent).
cdef double corridor_width(Family family, Py_ssize_t arm, double mean, double k,
                           double exponent) noexcept nogil


# Exits below a corridor have probability at most exp(-41.5) < 1e-18 a leap.
cdef double CORRIDOR


cdef inline void add_exactly(double* sum_, double* rest, double reward) noexcept nogil:
    """Kahan's sum, whose rest is what rounding has left."""
    cdef double before = sum_[0]
    reward += rest[0]
    sum_[0] = before + reward
    rest[0] = reward - (sum_[0] - before)
