"""Levels of confidence bounds: the f of m +- sigma sqrt(2 f / n), and of others (see bounds.pxd)."""

from libc.stdint cimport int64_t

from robai._core cimport abi                # noqa: F401 - see there


cdef class Level:
    cdef readonly bint grows                # with the round: log t
    cdef readonly bint shared               # by all arms, whatever their pulls
    cdef readonly int64_t first             # the number of pulls from which on it is finite
    cdef readonly bint fallible             # can it be no number, which `complaint` then tells

    # The level of an arm pulled n times, at the decision of round t. Monotone in n from the first
    # finite value on, and nondecreasing in t.
    cdef double at(self, double n, double t) noexcept nogil


cdef class FixedLevel(Level):
    cdef readonly double value


# log((x + e) sqrt(log(x + e))), x = T / H, H = sum over arms b of min(N_a, sqrt(N_a N_b)): AdaUCB, Lattimore
# (2018). It falls with the pulls of every arm, so it has to be told what these are, and whose level is asked.
cdef class AdaLevel(Level):
    cdef readonly double horizon
    cdef double[::1] roots                  # of the pulls of each arm, the one that is asked for left out
    cdef Py_ssize_t arm                     # which is that one


cdef inline double least_level(Level level, double n, double t, double count) noexcept nogil:
    """The least level an arm has from now, after n pulls and at round t, to `count` pulls later."""
    return min(level.at(n, t), level.at(n + count, t))
