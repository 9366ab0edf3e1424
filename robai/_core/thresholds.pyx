"""Thresholds of likelihood ratios (see thresholds.pxd): one short class each."""

cimport cython
from libc.math cimport INFINITY, log
from libc.stdint cimport int64_t


cdef class Threshold:
    cdef double asked(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return INFINITY


@cython.final
cdef class FixedThreshold(Threshold):
    """A number."""
    cdef readonly double value

    def __init__(self, double value):
        self.value = value

    cdef double asked(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return self.value


@cython.final
cdef class PracticalThreshold(Threshold):
    """log((1 + log t) / delta): what Garivier and Kaufmann (2016) play with, without a theorem."""
    cdef readonly double base
    cdef int64_t _t                         # the round that it was asked for last, and the answer
    cdef double _last

    def __init__(self, double delta):
        self.base = self._last = -log(delta)
        self._t = 1

    cdef double asked(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        if arms.t != self._t:               # it is the same for all pairs of arms
            self._t, self._last = arms.t, self.base + log(1.0 + log(<double>arms.t))
        return self._last


@cython.final
cdef class UnionThreshold(Threshold):
    """log(2 t (K - 1) / delta): Garivier and Kaufmann (2016), Theorem 10, for Bernoulli rewards."""
    cdef readonly double base

    def __init__(self, double delta, double n_arms):
        self.base = log(2.0 * (n_arms - 1.0) / delta)

    cdef double asked(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return self.base + log(<double>arms.t)


@cython.final
cdef class CountThreshold(Threshold):
    """base + r(N_a) + r(N_b): Kaufmann and Koolen (2021), base = 2 C(log((K - 1) / delta) / 2).

    r(n) = 2 log(4 + log n) for Gaussian rewards, 3 log(1 + log n) for other families.
    """
    cdef readonly double base
    cdef readonly bint gaussian

    def __init__(self, double base, bint gaussian):
        self.base, self.gaussian = base, gaussian

    cdef double asked(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return self.base + self._part(<double>arms.pulls[a]) + self._part(<double>arms.pulls[b])

    cdef double _part(self, double n) noexcept nogil:
        return 2.0 * log(4.0 + log(n)) if self.gaussian else 3.0 * log(1.0 + log(n))


@cython.final
cdef class PairThreshold(Threshold):
    """log((K - 1) / delta) + log(1 + log(N_a + N_b)): practical as well, of the rounds of two arms alone."""
    cdef readonly double base

    def __init__(self, double delta, double n_arms):
        self.base = log((n_arms - 1.0) / delta)

    cdef double asked(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return self.base + log(1.0 + log(<double>(arms.pulls[a] + arms.pulls[b])))


cdef enum Counted:
    NOTHING
    LESSER
    BOTH


@cython.final
cdef class HorizonThreshold(Threshold):
    """log(T / n) with n = N_a + N_b ("ratio"), min(N_a, N_b) ("pulls") or 1 ("horizon").

    After n rounds a wrong commitment of probability n / T costs what these rounds did. When T rounds have
    been played there is nothing to commit for: no ratio is enough.
    """
    cdef readonly double horizon
    cdef double _log_horizon
    cdef Counted _counted

    def __init__(self, double horizon, str level not None):
        self.horizon, self._log_horizon = horizon, log(horizon)
        self._counted = {"ratio": BOTH, "pulls": LESSER, "horizon": NOTHING}[level]

    cdef double asked(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        if <double>arms.t >= self.horizon:
            return INFINITY
        if self._counted == BOTH:
            return self._log_horizon - log(<double>(arms.pulls[a] + arms.pulls[b]))
        if self._counted == LESSER:
            return self._log_horizon - log(<double>min(arms.pulls[a], arms.pulls[b]))
        return self._log_horizon
