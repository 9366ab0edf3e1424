"""Confidence bounds: what optimism, separation and the pessimistic commitment are built on.

An arm with n pulls and mean m has an upper and a lower bound at a level f,

    sub-Gaussian    m +- sigma sqrt(2 f / n)
    divergence      the q above or below m with n d(m, q) = f
    Student         the same for Gaussian rewards of unknown variance
    Bernstein       m +- (s sqrt(2 f / n) + 3 b f / n), rewards in an interval of length b
    posterior       the quantile that is exceeded with probability exp(-f).

Student's and Bernstein's estimate the variance: they cannot be asked by `above`, and do not leap, but for
Bernstein's of rewards that are 0 or 1, whose sum says what their variance is. Nor do
posteriors leap: it is not known whether their stay regions (see leap.pyx) are convex.

What f is (log T, l, log(T/n), log t, ...) is for a `Level` to say, see levels.pxd.
"""

from libc.stdint cimport int64_t

from robai._core.levels cimport Level
from robai._core.protocols cimport Arms


# An arm, and its upper bound about some level f: start + slope sqrt(2 f).
cdef struct Standing:
    Py_ssize_t arm
    double n
    double total
    double start
    double slope


cdef class Bounds:
    cdef readonly Level level
    cdef readonly int64_t initial_pulls     # from which on they are finite, unless rewards are all the same
    cdef readonly int moments               # 2 if they look at `squares`, else 1
    cdef readonly bint fallible             # can they be no numbers, which `complaint` then tells
    cdef readonly bint opaque               # is nothing known of `upper` but its values
    cdef readonly bint convex               # is the stay region of leap.pyx, so that leaps are possible

    # Do two arms change places once at most as the level grows, in the order of `ahead`?
    cdef readonly bint crosses

    # The bounds of an arm at the decision of round t.
    cdef double upper(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil
    cdef double lower(self, const Arms* arms, Py_ssize_t arm, double t) noexcept nogil

    # Is the upper bound of an arm with n rewards of that total, at a given level, surely above, or surely
    # below, `bar`? Needs no inversion.
    # "Surely" includes rounding: neither contradicts the comparison of `upper` with `bar`, and
    # where that is too close to tell both say no.
    cdef bint above(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil
    cdef bint below(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil
    # Likewise: is its lower bound surely below `bar`?
    cdef bint dips(self, Py_ssize_t arm, double n, double total, double level, double bar) noexcept nogil

    # About how far the bounds are from a mean, after n rewards; what leaps are guessed from.
    cdef double radius(self, Py_ssize_t arm, double mean, double n, double level) noexcept nogil

    # Adds rewards to (n, total) while the upper bound stays surely above `bar`, at least one;
    # the number that were added.
    cdef Py_ssize_t streak(self, Py_ssize_t arm, double* n, double* total, const double* rewards,
                           Py_ssize_t count, double level, double bar) noexcept nogil

    # Where arms stand as the level f grows while none is pulled, if `crosses`; `root` is sqrt(2 f). Of two
    # arms that of the larger mean has the larger upper bound up to the level at which the other overtakes it,
    # if it does.
    #
    # Sets start and slope, of the tangent at `root`, from the other fields.
    cdef void stand(self, Standing* a, double root) noexcept nogil
    # 1 if the upper bound of a is surely above that of b from `root` to `until`, -1 if below, 0 if neither is
    # sure. Equal for ever if that is so until infinity.
    cdef int ahead(self, const Standing* a, const Standing* b, double root, double* until) noexcept nogil
    # The upper bound at `root`, or -inf if it is surely below `bar`.
    cdef double height(self, const Standing* a, double root, double bar) noexcept nogil


cdef class GaussianBounds(Bounds):
    cdef double[::1] sigma                  # of each arm
