"""The lock of lock.pxd."""

import os

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.pythread cimport (
    NOWAIT_LOCK,
    PY_LOCK_ACQUIRED,
    PyLockStatus,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_get_thread_ident,
    PyThread_release_lock,
    PyThread_type_lock,
)


cdef extern from "pythread.h":
    PyLockStatus PyThread_acquire_lock_timed(PyThread_type_lock, long long microseconds, int intr_flag) nogil


cdef long forks = 0                             # between the first process and this one


def _forked():
    global forks
    forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@cython.final
cdef class Lock:
    def __cinit__(self):
        self._lock = PyThread_allocate_lock()
        if self._lock is NULL:
            raise MemoryError

    def __dealloc__(self):
        if self._lock is not NULL:
            PyThread_free_lock(self._lock)

    cdef int acquire(self) except -1:
        if self.is_mine():
            self.depth += 1
            return 0
        if not PyThread_acquire_lock(self._lock, NOWAIT_LOCK):
            self._wait()
        self._owner, self.depth, self._forks = PyThread_get_thread_ident(), 1, forks
        return 0

    cdef int _wait(self) except -1:
        """Wait until the lock is free and take it; Ctrl-C ends the wait."""
        cdef PyLockStatus status
        cdef PyThread_type_lock lock
        while True:
            with cython.critical_section(self):     # for builds of Python without the GIL
                if self._forks != forks:            # held by a thread that was not forked with this process
                    lock = PyThread_allocate_lock()
                    if lock is NULL:
                        raise MemoryError
                    self._lock, self._forks = lock, forks
            with nogil:                         # the owner may need the GIL to finish
                status = PyThread_acquire_lock_timed(self._lock, 50_000, 1)
            if status == PY_LOCK_ACQUIRED:
                return 0
            PyErr_CheckSignals()

    cdef void release(self) noexcept:
        self.depth -= 1
        if self.depth == 0:
            self._owner = 0
            PyThread_release_lock(self._lock)

    cdef bint is_mine(self) noexcept:
        return self._owner == <long>PyThread_get_thread_ident() and self._forks == forks

    def __enter__(self):
        self.acquire()
        return self

    def __exit__(self, *error):
        self.release()
