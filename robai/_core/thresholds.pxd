"""What a likelihood ratio has to reach for an arm to be called better than another."""

from robai._core.protocols cimport Arms


cdef class Threshold:
    # What the likelihood ratio of arms a and b has to reach, a the one with the larger mean.
    cdef double asked(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil
