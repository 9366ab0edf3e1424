"""Binomial, Poisson, gamma and beta variables from the generator of a run.

NumPy's samplers, except for counts above 2^36: there their acceptance tests subtract numbers so
large that rounding shows (by 0.1 in the logarithm at 10^15), and the same methods are used with
the logarithm of the probability written by divergences, which lose nothing.

Parameters that are infinite or NaN have some result too: no sampler loops for ever.
"""

from robai._core.rng cimport Rng


cdef double draw_binomial(double trials, double p, Rng* rng) noexcept nogil
cdef double draw_poisson(double rate, Rng* rng) noexcept nogil
cdef double draw_gamma(double shape, Rng* rng) noexcept nogil
cdef double draw_beta(double a, double b, Rng* rng) noexcept nogil
