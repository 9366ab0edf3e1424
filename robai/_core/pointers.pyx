"""Rules whose formula is a function of the user's, called by its address.

The functions are called without Python's lock, by several threads at once, and must be pure. What is no
number is remembered, with the state that gave it, and replaced, so that the kernels stay total; whoever plays
asks `complaint` when the kernel has returned.
"""

cimport cython
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uintptr_t

from robai._core.bounds cimport Bounds
from robai._core.levels cimport Level
from robai._core.protocols cimport Arms, Compared, Stopping

cdef enum:
    PROBED = 64                             # pulls, for the first finite level


ctypedef double (*LevelFunction)(double pulls, double t, double horizon, double arms) noexcept nogil
ctypedef double (*IndexFunction)(double pulls, double sum, double squares, double t, double horizon,
                                 double arms) noexcept nogil
ctypedef int64_t (*StopFunction)(int64_t arms, int64_t t, int64_t horizon, const int64_t* pulls,
                                 const double* sums, const double* squares) noexcept nogil


@cython.final
cdef class FunctionLevel(Level):
    """The level of a function.

    `owner` keeps the function at its address; `name` is for messages.
    """
    cdef readonly str name
    cdef object _owner
    cdef LevelFunction _function
    cdef double _horizon
    cdef double _n_arms
    cdef bint _failed
    cdef double _value                      # the first that was no level, and where
    cdef double _pulls
    cdef double _t

    def __init__(self, uintptr_t address, owner, str name not None, bint grows, double horizon,
                 double n_arms):
        self._owner = owner
        self._function = <LevelFunction>address
        self.name, self.grows, self.fallible = name, grows, True
        self._horizon, self._n_arms = horizon, n_arms
        self.first = 1
        while self.first < PROBED and self.at(<double>self.first, self.first * n_arms) == INFINITY:
            self.first += 1

    cdef double at(self, double n, double t) noexcept nogil:
        cdef double value = self._function(n, t, self._horizon, self._n_arms)
        if value >= 0.0:
            return value
        if not self._failed:
            self._failed, self._value, self._pulls, self._t = True, value, n, t
        return 0.0

    def value(self, double n, double t):
        """The level of an arm pulled n times, at round t."""
        return self.at(n, t)

    def complaint(self):
        if not self._failed:
            return None
        self._failed = False
        return (
            f"Level {self.name!r} must be a number from 0 on, and was {self._value:g} for "
            f"pulls={self._pulls:.17g}, t={self._t:.17g}, horizon={self._horizon:.17g}, "
            f"arms={self._n_arms:g}")


@cython.final
cdef class Present(Level):
    """The round itself, which says to `FunctionBounds` at which one it is."""

    def __init__(self, bint grows):
        self.grows = grows

    cdef double at(self, double n, double t) noexcept nogil:
        return t


@cython.final
cdef class FunctionBounds(Bounds):
    """The index of a function, as the upper bound of an arm; there is no lower one."""
    cdef readonly str name
    cdef object _owner
    cdef IndexFunction _function
    cdef double _horizon
    cdef double _n_arms
    cdef double _before                     # rounds in which others were pulled than the arm of `streak`
    cdef bint _failed
    cdef double[4] _where                   # the first that was no number: pulls, sum, squares and t

    def __init__(self, Present level, uintptr_t address, owner, str name not None, int64_t initial_pulls,
                 int moments, double horizon, double n_arms):
        self._owner = owner
        self._function = <IndexFunction>address
        self.name, self.initial_pulls, self.moments = name, initial_pulls, moments
        self.fallible = self.opaque = True
        self._horizon, self._n_arms = horizon, n_arms

    cdef inline double _index(self, double n, double total, double squares, double t) noexcept nogil:
        cdef double index = self._function(n, total, squares, t, self._horizon, self._n_arms)
        if index == index:
            return index
        if not self._failed:
            self._failed = True
            self._where[0], self._where[1], self._where[2], self._where[3] = n, total, squares, t
        return -INFINITY

    cdef double upper(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil:
        return self._index(<double>arms.pulls[arm], arms.sums[arm],
                           arms.squares[arm] if self.moments > 1 else NAN, t)

    # Where these are asked `level` is the round, of the beginning of a streak.

    cdef bint above(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil:
        return self._index(n, total, NAN, n + self._before) > bar

    cdef Py_ssize_t streak(self, Py_ssize_t arm, double* n, double* total, const double* rewards,
                           Py_ssize_t count, double level, double bar) noexcept nogil:
        cdef double pulls = n[0], sum_ = total[0]
        cdef Py_ssize_t i = 0
        self._before = level - pulls
        for i in range(count):
            sum_ += rewards[i]
            pulls += 1.0
            if i + 1 < count and not self._index(pulls, sum_, NAN, pulls + self._before) > bar:
                break
        n[0], total[0] = pulls, sum_
        return min(i + 1, count)

    def complaint(self):
        if not self._failed:
            return None
        self._failed = False
        pulls, total, squares, t = self._where
        return (
            f"Index {self.name!r} must be a number, and was nan for pulls={pulls:.17g}, sum={total:.17g}, "
            f"squares={squares:.17g}, t={t:.17g}, horizon={self._horizon:.17g}, arms={self._n_arms:g}")


@cython.final
cdef class FunctionStop(Stopping):
    """When a function says so, by a number that is not 0."""
    cdef readonly str name
    cdef object _owner
    cdef StopFunction _function

    def __init__(self, uintptr_t address, owner, str name not None, int moments):
        self._owner = owner
        self._function = <StopFunction>address
        self.name, self.moments, self.absolute = name, moments, True

    cdef Compared compared(self, const Arms* arms) noexcept nogil:
        cdef bint fires = self.fires(arms)
        return Compared(fires, 1.0 if fires else 0.0, 1.0, -1, -1)

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        return self._function(arms.n_arms, arms.t, arms.horizon, arms.pulls, arms.sums,
                              arms.squares if self.moments > 1 else NULL) != 0
