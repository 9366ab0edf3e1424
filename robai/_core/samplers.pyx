"""Rewards of no exponential family: data, beta variables, and what a user's own function draws.

Their sums cannot be drawn at once, so every round is played.
"""

cimport cython
from libc.stdint cimport int64_t

import numpy as np

from robai._core.draws cimport draw_beta
from robai._core.families cimport Sampler
from robai._core.rng cimport Rng, Stream, attach, bitgen_t, next_below


@cython.final
cdef class Empirical(Sampler):
    """Rewards resampled from the user's own, arm by arm."""
    cdef double[::1] _samples               # of all arms, one after the other
    cdef Py_ssize_t[::1] _starts            # arm a has samples starts[a] to starts[a + 1]

    def __init__(self, samples):
        self._samples = np.concatenate(samples)
        self._starts = np.cumsum([0] + [len(each) for each in samples]).astype(np.intp)

    cdef void fill(self, Py_ssize_t arm, double mean, double* rewards, Py_ssize_t count,
                   Rng* rng) noexcept nogil:
        cdef Py_ssize_t i, start = self._starts[arm], size = self._starts[arm + 1] - start
        for i in range(count):
            rewards[i] = self._samples[start + next_below(rng, size)]


@cython.final
cdef class Beta(Sampler):
    """Beta(c m, c (1 - m)), of mean m and variance m (1 - m) / (c + 1)."""
    cdef readonly double concentration

    def __init__(self, double concentration):
        self.concentration = concentration

    cdef void fill(self, Py_ssize_t arm, double mean, double* rewards, Py_ssize_t count,
                   Rng* rng) noexcept nogil:
        cdef Py_ssize_t i
        # A parameter that has become 0 would be no beta variable: this one is 0, or 1, all the same.
        cdef double a = max(self.concentration * mean, 1e-300)
        cdef double b = max(self.concentration * (1.0 - mean), 1e-300)
        for i in range(count):
            rewards[i] = draw_beta(a, b, rng)


cdef class Drawn(Sampler):
    """What a user's function draws: rewards from low to high, else it is an error."""
    cdef double _low
    cdef double _high

    def __cinit__(self, draw, double low, double high):
        self._low, self._high = low, high

    cdef bint _valid(self, Py_ssize_t arm, const double* rewards, Py_ssize_t count) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(count):
            if not self._low <= rewards[i] <= self._high:
                with gil:
                    if self.error is None:
                        self.error = ValueError(
                            f"draw must give rewards from {self._low:g} to {self._high:g}, "
                            f"got {rewards[i]} for arm {arm}")
                return False
        return True

    cdef void _give_up(self, double* rewards, Py_ssize_t count) noexcept nogil:
        """Some rewards, after an error, until the engine looks: it cannot be stopped here."""
        cdef Py_ssize_t i
        for i in range(count):
            rewards[i] = 0.0


@cython.final
cdef class PythonDraws(Drawn):
    """draw(arm, size, rng) -> rewards, with a Generator that draws from the state of the run."""
    cdef object _draw
    cdef object _generator
    cdef Stream _stream

    def __init__(self, draw, double low, double high):
        self.slow = True
        self._draw = draw
        self._stream = Stream((1, 0, 0, 0))
        self._generator = np.random.Generator(self._stream)

    cdef void fill(self, Py_ssize_t arm, double mean, double* rewards, Py_ssize_t count,
                   Rng* rng) noexcept nogil:
        cdef bint drawn = False
        with gil:
            if self.error is None:
                try:
                    self._ask(arm, rewards, count, rng)
                    drawn = True
                except BaseException as error:
                    self.error = error
        if not drawn or not self._valid(arm, rewards, count):
            self._give_up(rewards, count)

    cdef int _ask(self, Py_ssize_t arm, double* rewards, Py_ssize_t count, Rng* rng) except -1:
        cdef Py_ssize_t i
        cdef const double[::1] values
        self._stream.rng = rng[0]
        given = self._draw(arm, count, self._generator)
        rng[0] = self._stream.rng
        array = np.asarray(given)
        if array.shape != (count,) or array.dtype.kind not in "biuf":
            raise ValueError(
                f"draw(arm={arm}, size={count}, rng) must return an array of {count} numbers, "
                f"got {array.dtype} of shape {array.shape}")
        values = np.ascontiguousarray(array, dtype=np.float64)
        for i in range(count):
            rewards[i] = values[i]
        return 0


ctypedef void (*Draw)(int64_t arm, double* out, int64_t size, bitgen_t* bitgen) noexcept nogil


@cython.final
cdef class CompiledDraws(Drawn):
    """void draw(int64_t arm, double* out, int64_t size, bitgen_t* bitgen), given by its address."""
    cdef Draw _draw

    def __init__(self, size_t draw, double low, double high):
        self._draw = <Draw>draw

    cdef void fill(self, Py_ssize_t arm, double mean, double* rewards, Py_ssize_t count,
                   Rng* rng) noexcept nogil:
        cdef bitgen_t bitgen
        attach(&bitgen, rng)
        self._draw(<int64_t>arm, rewards, <int64_t>count, &bitgen)
        if not self._valid(arm, rewards, count):
            self._give_up(rewards, count)
