"""Levels of confidence bounds, one short class each (see levels.pxd)."""

cimport cython
from libc.math cimport INFINITY, log, log1p, sqrt

import numpy as np

from robai._core.tails cimport normal_quantile

cdef double E = 2.718281828459045


cdef inline double log_plus(double x) noexcept nogil:
    return log(x) if x > 1.0 else 0.0


cdef class Level:
    def __cinit__(self, *args):
        self.first = 1

    cdef double at(self, double n, double t) noexcept nogil:
        return INFINITY

    def value_at(self, double n, double t):
        """`at`, for Python."""
        return self.at(n, t)

    def complaint(self):
        """What it was that is no level, and where, if anything since this was asked last; else None."""
        return None


@cython.final
cdef class FixedLevel(Level):
    """A level known in advance: log T, or l = log T + c sqrt(log T)."""

    def __init__(self, double value):
        self.value = value
        self.shared = True

    cdef double at(self, double n, double t) noexcept nogil:
        return self.value


@cython.final
cdef class RatioLevel(Level):
    """log+(T / n): Garivier, Kaufmann and Lattimore (2016) for UCB, KL-UCB-H+ for KL-UCB."""
    cdef readonly double horizon

    def __init__(self, double horizon):
        self.horizon = horizon

    cdef double at(self, double n, double t) noexcept nogil:
        return log_plus(self.horizon / n)


@cython.final
cdef class PlusPlusLevel(Level):
    """log+(y (1 + log+(y)^2)), y = T / (K n): KL-UCB++ of Menard and Garivier (2017)."""
    cdef readonly double share

    def __init__(self, double horizon, double n_arms):
        self.share = horizon / n_arms

    cdef double at(self, double n, double t) noexcept nogil:
        cdef double y = self.share / n, root = log_plus(y)
        return log_plus(y * (1.0 + root * root))


@cython.final
cdef class RoundLevel(Level):
    """zeta log t: UCB1 of Auer et al. (2002), KL-UCB of Garivier and Cappe (2011) with c = 0, UCB-V."""
    cdef readonly double zeta

    def __init__(self, double zeta=1.0):
        self.grows = self.shared = True
        self.zeta = zeta

    cdef double at(self, double n, double t) noexcept nogil:
        return self.zeta * log(t)


@cython.final
cdef class LogLogLevel(Level):
    """log t + 3 log max(1, log t): the KL-UCB that Garivier and Cappe (2011) prove optimal."""

    def __cinit__(self):
        self.grows = self.shared = True

    cdef double at(self, double n, double t) noexcept nogil:
        cdef double root = log(t)
        return root + 3.0 * log_plus(root)


@cython.final
cdef class AnytimeLevel(Level):
    """log(1 + t log(t)^2): Lattimore and Szepesvari (2020), Algorithm 6."""

    def __cinit__(self):
        self.grows = self.shared = True

    cdef double at(self, double n, double t) noexcept nogil:
        cdef double root = log(t)
        return log1p(t * root * root)


@cython.final
cdef class PlusLevel(Level):
    """log+(t / n): KL-UCB+ of Garivier and Cappe (2011)."""

    def __cinit__(self):
        self.grows = True

    cdef double at(self, double n, double t) noexcept nogil:
        return log_plus(t / n)


@cython.final
cdef class MossLevel(Level):
    """2 log+(T / (K n)): MOSS of Audibert and Bubeck (2009)."""
    cdef readonly double share

    def __init__(self, double horizon, double n_arms):
        self.share = horizon / n_arms

    cdef double at(self, double n, double t) noexcept nogil:
        return 2.0 * log_plus(self.share / n)


@cython.final
cdef class AnytimeMossLevel(Level):
    """(1 + alpha) log+(t / (K n)): MOSS-anytime of Degenne and Perchet (2016)."""
    cdef readonly double alpha
    cdef readonly double n_arms

    def __init__(self, double alpha, double n_arms):
        self.grows = True
        self.alpha, self.n_arms = alpha, n_arms

    cdef double at(self, double n, double t) noexcept nogil:
        return (1.0 + self.alpha) * log_plus(t / (self.n_arms * n))


@cython.final
cdef class SurpriseLevel(Level):
    """log t + c log log T: -log of the chance 1 / (t log^c T) that Bayes-UCB leaves above its index."""
    cdef readonly double constant

    def __init__(self, double c, double horizon):
        self.grows = self.shared = True
        self.constant = c * log(log(horizon))

    cdef double at(self, double n, double t) noexcept nogil:
        return max(log(t) + self.constant, log(2.0))


@cython.final
cdef class QuantileLevel(Level):
    """z^2 / 2, z the normal quantile of the same chance: Bayes-UCB for Gaussian rewards."""
    cdef readonly SurpriseLevel surprise
    cdef double _t                          # the last round asked for, as it is asked for several times,
    cdef double _value                      # and its level

    def __init__(self, SurpriseLevel surprise not None):
        self.grows = self.shared = True
        self.surprise = surprise

    cdef double at(self, double n, double t) noexcept nogil:
        cdef double z
        if t != self._t:
            z = normal_quantile(self.surprise.at(n, t))
            self._t, self._value = t, 0.5 * z * z
        return self._value


@cython.final
cdef class AdaLevel(Level):
    """log((x + e) sqrt(log(x + e))), x = T / H: AdaUCB of Lattimore (2018)."""

    def __init__(self, Py_ssize_t n_arms, double horizon):
        self.horizon = horizon
        self.roots = np.ones(n_arms)

    cdef double at(self, double n, double t) noexcept nogil:
        # H is n for the arm itself, and for those with more pulls; the order in which the others are summed
        # is that of the arms, so that arms with as many pulls have the same level.
        cdef double root = sqrt(n), alike = n, fewer = 0.0, x
        cdef Py_ssize_t other
        for other in range(self.roots.shape[0]):
            if other != self.arm:
                if self.roots[other] >= root:
                    alike += n
                else:
                    fewer += self.roots[other]
        x = self.horizon / (alike + root * fewer) + E
        return log(x * sqrt(log(x)))


@cython.final
cdef class IteratedLevel(Level):
    """log(3 log(n)^2 / delta), n >= 2: the width of UCB_alpha, Degenne et al. (2019)."""
    cdef readonly double delta
    cdef double[::1] _values                # of the first n; 0 where not yet needed

    def __init__(self, double delta):
        self.delta = delta
        self.first = 2
        self._values = np.zeros(4096)

    cdef double at(self, double n, double t) noexcept nogil:
        cdef double value = 0.0, root
        if not n >= 2.0:
            return INFINITY
        if n < <double>self._values.shape[0]:
            value = self._values[<Py_ssize_t>n]
        if value == 0.0:
            root = log(n)
            value = log_plus(3.0 * root * root / self.delta)
            if n < <double>self._values.shape[0]:
                self._values[<Py_ssize_t>n] = value
        return value


@cython.final
cdef class LilLevel(Level):
    """factor (log log(stretch n) + base), n >= 2: lil'UCB, Jamieson et al. (2014).

    Its bound is m + (1 + beta) (1 + sqrt(eps)) sigma sqrt(2 (1 + eps) log(log((1 + eps) n) / delta) / n).
    """
    cdef readonly double factor             # (1 + beta)^2 (1 + sqrt(eps))^2 (1 + eps)
    cdef readonly double stretch            # 1 + eps
    cdef readonly double base               # log(1 / delta)

    def __init__(self, double base, double eps, double beta):
        self.base, self.stretch = base, 1.0 + eps
        self.factor = ((1.0 + beta) * (1.0 + sqrt(eps))) ** 2 * self.stretch
        self.first = 2

    cdef double at(self, double n, double t) noexcept nogil:
        return self.factor * max(log(log(self.stretch * n)) + self.base, 0.0) if n >= 2.0 else INFINITY


@cython.final
cdef class PracticalLevel(Level):
    """log((1 + log t) / delta): that of Garivier and Kaufmann (2016), for bounds; without a theorem."""
    cdef readonly double base
    cdef double _t                          # as for `QuantileLevel`
    cdef double _value

    def __init__(self, double delta):
        self.base = -log(delta)
        self.grows = self.shared = True

    cdef double at(self, double n, double t) noexcept nogil:
        if t != self._t:
            self._t, self._value = t, self.base + log(1.0 + log(t))
        return self._value


@cython.final
cdef class DivergenceLevel(Level):
    """b + log b, b = log(405.5 K t^1.1 / delta): KL-LUCB, Kaufmann and Kalyanakrishnan (2013).

    All bounds of an exponential family hold at all times, but for a probability of delta.
    """
    cdef readonly double base
    cdef double _t                          # as for `QuantileLevel`
    cdef double _value

    def __init__(self, double delta, double n_arms):
        self.base = log(405.5 * n_arms) - log(delta)
        self.grows = self.shared = True

    cdef double at(self, double n, double t) noexcept nogil:
        cdef double b
        if t != self._t:
            b = self.base + 1.1 * log(t)
            self._t, self._value = t, b + log(b)
        return self._value


@cython.final
cdef class HoeffdingLevel(Level):
    """log(5 K t^4 / (4 delta)): LUCB, Kalyanakrishnan, Tewari, Auer and Stone (2012).

    The same for sub-Gaussian rewards.
    """
    cdef readonly double base

    def __init__(self, double delta, double n_arms):
        self.base = log(1.25 * n_arms) - log(delta)
        self.grows = self.shared = True

    cdef double at(self, double n, double t) noexcept nogil:
        return self.base + 4.0 * log(t)
