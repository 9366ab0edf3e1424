"""Batches whose rewards may be coins; described in coins.pyx."""

cimport cython
from libc.stdint cimport int64_t, uint64_t

from robai._core.draws cimport count_ones
from robai._core.engine cimport Batch


cdef class Coins(Batch):
    cdef bint _binary               # are rewards 0 or 1, on tapes of bits
    cdef uint64_t[::1] _words       # the tape of each arm ...
    cdef char[::1] _spread          # ... and whether it is on the other tape as well

    @cython.final
    cdef double _take(self, Py_ssize_t arm) noexcept nogil

    @cython.final
    cdef void _add(self, Py_ssize_t arm, int64_t pulls) noexcept nogil


cdef inline int successes(uint64_t word, Py_ssize_t start, Py_ssize_t count) noexcept nogil:
    """Of `count` coins of a word, at least one."""
    return count_ones((word >> start) & ((~<uint64_t>0) >> (64 - count)))
