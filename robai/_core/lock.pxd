"""A reentrant lock that costs little when nobody else wants it.

threading.RLock takes as long as a whole `select`. Reentrant, because a signal handler that looks at
an agent may run while the same thread is changing it.
"""

from cpython.pythread cimport PyThread_type_lock


cdef class Lock:
    cdef int depth                          # how often its owner holds it
    cdef PyThread_type_lock _lock
    cdef long _owner                        # the thread that holds it, 0 if none does
    cdef long _forks                        # of `forks` when it was taken

    cdef int acquire(self) except -1
    cdef int _wait(self) except -1
    cdef void release(self) noexcept
    cdef bint is_mine(self) noexcept
