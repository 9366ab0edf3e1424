from robai._core.families cimport Family
from robai._core.protocols cimport Exploration


cdef class Thompson(Exploration):
    cdef readonly Family family
    cdef double[::1] _draws
