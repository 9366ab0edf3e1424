"""Windows into the core, for tests alone."""

from robai._core.kl cimport Shift, bernoulli_shift, log1pmx


def log1pmx_at(double x):
    """log(1 + x) - x."""
    return log1pmx(x)


def bernoulli_steps(double p, double level):
    """Halley's steps that the upper bound of a Bernoulli mean p < 1 takes."""
    cdef Shift shift = bernoulli_shift(p, 1.0 - p, level)
    return shift.steps
