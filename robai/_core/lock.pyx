"""The lock of lock.pxd."""

cimport cython
from cpython.pythread cimport (
    NOWAIT_LOCK,
    WAIT_LOCK,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_get_thread_ident,
    PyThread_release_lock,
)


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
        cdef long me = PyThread_get_thread_ident()
        if self._owner == me:
            self._depth += 1
            return 0
        if not PyThread_acquire_lock(self._lock, NOWAIT_LOCK):
            # The owner may need the GIL to finish.
            with nogil:
                PyThread_acquire_lock(self._lock, WAIT_LOCK)
        self._owner, self._depth = me, 1
        return 0

    cdef void release(self) noexcept:
        self._depth -= 1
        if self._depth == 0:
            self._owner = 0
            PyThread_release_lock(self._lock)

    def __enter__(self):
        self.acquire()
        return self

    def __exit__(self, *error):
        self.release()
