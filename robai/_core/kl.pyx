"""Divergences and their inverses over arrays; what `robai.kl` calls."""

import numpy as np

from robai._core.families cimport Family


cdef tuple broadcast(a, b):
    """Both arguments flat and contiguous, an array for the results, and its shape."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    return np.ravel(a), np.ravel(b), np.empty(a.size), a.shape


def divergence(Family family not None, p, q):
    """d(p, q), elementwise."""
    cdef const double[::1] left, right
    cdef double[::1] out
    cdef Py_ssize_t i
    left, right, result, shape = broadcast(p, q)
    out = result
    with nogil:
        for i in range(out.shape[0]):
            out[i] = family.divergence(left[i], right[i])
    return result.reshape(shape)


def upper(Family family not None, p, level):
    """Largest q >= p with d(p, q) <= level, elementwise."""
    cdef const double[::1] mean, bound
    cdef double[::1] out
    cdef Py_ssize_t i
    mean, bound, result, shape = broadcast(p, level)
    out = result
    with nogil:
        for i in range(out.shape[0]):
            out[i] = family.upper(mean[i], bound[i])
    return result.reshape(shape)


def lower(Family family not None, p, level):
    """Smallest q <= p with d(p, q) <= level, elementwise."""
    cdef const double[::1] mean, bound
    cdef double[::1] out
    cdef Py_ssize_t i
    mean, bound, result, shape = broadcast(p, level)
    out = result
    with nogil:
        for i in range(out.shape[0]):
            out[i] = family.lower(mean[i], bound[i])
    return result.reshape(shape)


def log1pmx_at(double x):
    """log(1 + x) - x."""
    return log1pmx(x)


def bernoulli_steps(double p, double level):
    """Halley's steps that the upper bound of a Bernoulli mean p < 1 takes."""
    cdef Shift shift = bernoulli_shift(p, 1.0 - p, level)
    return shift.steps
