"""What a likelihood ratio has to reach for an arm to be called better than another."""

from robai._core.protocols cimport Arms


cdef class Threshold:
    # What the likelihood ratio of arms a and b has to reach, a the one with the larger mean. Before the
    # horizon it must not fall while others are pulled; while one of the two is, it must rise or fall all the
    # way: `LikelihoodRatio.quiet` asks at the two ends of a streak only.
    cdef double asked(self, const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil
