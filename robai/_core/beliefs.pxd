"""What Thompson sampling thinks of an arm, and the chance that a rival's draw beats the leader's.

A belief is the law of l, an increasing function of the mean: the mean itself of Gaussian rewards, else its
logarithm or that of its odds. Then

    l = centre + sqrt(variance) Z               Z normal
    l = centre + log(F / a) - log(G / b)        F and G gamma variables of shapes a and b,

and an infinite shape stands for a number that is no variable. All these laws have three properties, and
nothing else is used of them.

1. Log density is concave, so its tangent at a point x lies above it, and with -u its slope there

       P(l > y) <= exp(height) e^(-u (y - x))        for every y.

2. The law weighted by e^(-u l) is of the same kind: the centre of a normal law moves by -u variance, the
   shapes are a - u and b + u. So P(a rival's l > the leader's) is at most a number in closed form,
   `log_chance`. A pair of draws with the rival's above the leader's comes about with exactly its probability
   by two coins: one of that number, then, with the leader's l from the weighted law and the rival's an
   exponential variable of rate u above it, one of the density divided by its tangent (`draw_pair`).

3. With weight N and total A of a posterior, `log_chance` of a leader in the cone {N >= N0, A >= r N} is
   largest at its corner, if u >= 1. It falls with A, because the law grows with A. Along a ray A = y N it
   falls with N: of a normal law because the variance does. For the others let

       L(z) = z (psi(z) - psi(z - u)),     M(z) = z (psi(z + u) - psi(z)),

   psi the derivative of log Gamma. N times the derivative is M(b) - L(a), with u in the place of M if G is
   no variable, and in that of L if F is none. And M <= u <= L: psi(z) - psi(z - u) is the Laplace transform
   of (e^(us) - 1) / (1 - e^-s), which grows with s from u, and psi(z + u) - psi(z) that of
   (1 - e^(-us)) / (1 - e^-s), which for u >= 1 falls from u.
"""

from robai._core.posteriors cimport Posterior
from robai._core.rng cimport Rng
from robai._core.tails cimport Point


cdef enum Kind:
    NORMAL                          # N pulls, A the sum of rewards
    SHARE                           # a = A, b = N - A
    RATIO                           # a = A, b = N
    COUNT                           # a = A, no G; l is log(F / N)
    RATE                            # no F, b = N; l is log(A / G)


cdef struct Belief:
    double a
    double b
    double centre
    double variance


cdef struct Tangent:
    double x
    double u                        # 0 if there is none that can be used
    double height                   # log density at x, less log u; -infinity if the chance is 0 in doubles


cdef Kind kind_of(Posterior posterior) noexcept nogil
cdef double weight_of(Posterior posterior) noexcept nogil
cdef double total_of(Posterior posterior) noexcept nogil
cdef Belief belief_of(Posterior posterior) noexcept nogil
# Of a posterior of given weight and total; `variance` is that of a Gaussian reward.
cdef Belief believe(Kind kind, double weight, double total, double variance) noexcept nogil

# A good tangent for the chance of the rival's draw against the leader's; any other is as right.
cdef Tangent tangent(Belief rival, Belief leader) noexcept nogil
cdef double log_chance(Tangent tangent, Belief leader) noexcept nogil
# A draw from the law weighted by exp(-u l).
cdef double draw_weighted(Belief belief, double u, Rng* rng) noexcept nogil
# The rival's draw above the leader's: whether the pair comes about, given the first coin.
cdef bint draw_pair(Tangent tangent, Belief rival, Belief leader, double* high, double* low,
                    Rng* rng) noexcept nogil
