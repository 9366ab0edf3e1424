"""Changes of a database, one at a time, and each of them in full or not at all.

Signal handlers, Ctrl-C's for one, run between any two instructions of the interpreter. So between the end
of a change and the moment when everything is unlocked there are none: all of it is compiled, and calls
nothing but functions in C.
"""

from robai._core.lock cimport Lock


cdef class Turns:
    cdef readonly Lock lock                 # of the threads of this process
    cdef bint _busy                         # is a transaction under way


# Whether what memory has of a file is what the file says.
cdef class Cache:
    cdef public bint valid
