"""What is known of a mean, as Bayes has it: drawn from by Thompson sampling, cut off by Bayes-UCB."""

from robai._core.rng cimport Rng


cdef struct Posterior:
    # The law of the mean by gamma variables F and G of shapes a and b:
    #     a share             low + scale F / (F + G)
    #     else                scale F / G
    #     b is infinite       F / scale
    #     a is infinite       scale / G
    double a
    double b
    double low
    double scale
    bint share


cdef double draw_from(Posterior posterior, Rng* rng) noexcept nogil
# -log P(the mean is above q), or a bound of it on the same side of a level, and the q for which it is a
# surprise of at least log 2.
cdef double surprise_above(Posterior posterior, double q, double level) noexcept nogil
cdef double quantile_of(Posterior posterior, double surprise) noexcept nogil
