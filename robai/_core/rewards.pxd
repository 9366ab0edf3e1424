"""Which rewards an agent takes."""


cdef class Rewards:
    cdef double low                         # finite, so that they keep infinite rewards out
    cdef double high
    cdef bint whole                         # integers only; low and high are below 2^53 then

    # Can `count` rewards have this sum?
    cdef bint possible(self, double count, double total) noexcept nogil
