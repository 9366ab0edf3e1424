"""Tails of posteriors, and their quantiles, for chances too small for any table: 1 / T at T = 10^18.

A mean that is F / G, or F / (F + G), of gamma variables F and G of shapes a and b has, by l = log(F / G), the
log-concave density exp(a l) / (1 + exp(l))^(a + b), normalised. A point of it is written by the shapes that
would have their middle there, s = a + gap and r = b - gap. Either shape may be infinite: then F, or G, is no
variable but a number, and what is left is a gamma variable.

Chances are given by their surprise, -log P.
"""

cdef struct Point:
    double a                        # the shapes
    double b
    double gap                      # how far to the right of the middle, in units of s
    double s                        # a + gap
    double r                        # b - gap


# -log P(Z > z) of a normal variable, z >= 0; and z for a surprise of at least log 2.
cdef double normal_surprise(double z) noexcept nogil
cdef double normal_quantile(double surprise) noexcept nogil

# -log P(l is to the right of a point), and the point for a surprise of at least log 2. Where a bound of the
# first is enough to tell on which side of a level it is, that bound; NaN is no level.
cdef double surprise_at(Point point, double level) noexcept nogil
cdef Point point_of(double a, double b, double surprise) noexcept nogil

# By l: log density, minus its second derivative, and the point a step to the right. Minus the first
# derivative is the gap.
cdef double log_density(Point point) noexcept nogil
cdef double curvature(Point point) noexcept nogil
cdef Point moved(Point point, double step) noexcept nogil

cdef double HALF_LOG_2_PI
# log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), that of Stirling's formula.
cdef double remainder(double x) noexcept nogil
