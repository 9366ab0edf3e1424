"""The optimal proportions of best arm identification, w*."""

cimport cython

from robai._core.families cimport Family


cdef enum:
    PART = 4096                     # arms to be matched at a time: some milliseconds


@cython.final
cdef class Proportions:
    cdef readonly Family family
    cdef double[::1] means                  # of which w* is asked
    cdef double[::1] weights                # w* when it is found; what the next search begins with
    cdef double guess                       # z of the module's text, likewise
    cdef readonly int steps                 # of Newton's method, each looks at all arms
    cdef readonly bint followed             # from the last w*; else found from the guess alone
    cdef bint _found
    cdef Py_ssize_t _best
    cdef Py_ssize_t _second
    cdef Py_ssize_t _arm                    # the next one of this step
    cdef double _low
    cdef double _high
    cdef double _cost
    cdef double _far
    cdef double _total                      # of the ratios; 1 in the end
    cdef double _slope                      # of that total, by the cost
    cdef double _lift
    cdef double[::1] _costs
    cdef double[::1] _fars

    # `begin` to search for w* of `means`; then `go_on`, each time to match about `most` arms, until it is
    # found.
    cdef void begin(self) noexcept nogil
    cdef bint go_on(self, Py_ssize_t most) noexcept nogil

    cdef void _look(self, Py_ssize_t end) noexcept nogil
    cdef void _follow(self) noexcept nogil
    cdef void _match_all(self, Py_ssize_t end) noexcept nogil
    cdef void _improve(self) noexcept nogil
    cdef void _finish(self) noexcept nogil
