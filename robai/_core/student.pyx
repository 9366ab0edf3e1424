"""Two arms with Gaussian rewards of unknown variance: what speaks against the second being the better one.

`Arms` must have squares. Where the rewards of an arm have all been the same nothing does.
"""

from libc.math cimport INFINITY, log, log1p, sqrt

from robai._core.protocols cimport Arms, mean_of, squares_of

cdef enum:
    GRID = 64                               # places to look for the least certainty at


cdef struct Own:
    double x                                # N_a - 2
    double y                                # N_b - 2
    double p                                # s_a^2, in units of the squared gap
    double q                                # s_b^2


cdef double student_evidence(const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    """(nu - 1)/2 log(1 + (m_a - m_b)^2 / (M2 (1/N_a + 1/N_b))): one variance for all arms."""
    cdef double degrees = <double>(arms.t - arms.n_arms) - 1.0, gap = mean_of(arms, a) - mean_of(arms, b)
    if not (degrees > 0.0 and arms.all_squares > 0.0):
        return 0.0
    return 0.5 * degrees * log1p(
        gap * gap / (arms.all_squares * (1.0 / <double>arms.pulls[a] + 1.0 / <double>arms.pulls[b])))


cdef double least_evidence(const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    """The least over q of (N_a - 2)/2 log(1 + (m_a - q)^2 / s_a^2) and the same of b: own variances.

    With u from 0 at m_b to 1 at m_a, and variances in units of the squared gap, the stationary points are the
    roots of a cubic that is negative at 0 and positive at 1: one, or three.
    """
    cdef double n = <double>arms.pulls[a], k = <double>arms.pulls[b], x = n - 2.0, y = k - 2.0
    cdef double gap = mean_of(arms, a) - mean_of(arms, b), p, q, turn, root, least
    if not (x > 0.0 and y > 0.0 and squares_of(arms, a) > 0.0 and squares_of(arms, b) > 0.0) or gap == 0.0:
        return 0.0
    p, q = arms.squares[a] / n / gap / gap, arms.squares[b] / k / gap / gap
    if not max(p, q) < 1e300:               # no gap to speak of
        return 0.0
    cdef Own own = Own(x, y, p, q)
    # Where the cubic turns: 3 (x + y) u^2 - 2 (x + 2 y) u + (x q + y (1 + p)) = 0
    turn = (x + 2.0 * y) / (3.0 * (x + y))
    root = turn * turn - (x * q + y * (1.0 + p)) / (3.0 * (x + y))
    if not root > 0.0:
        return own_evidence(&own, cubic_root(&own, 0.0, 1.0))
    root = sqrt(root)
    least = INFINITY
    if 0.0 < turn - root < 1.0 and cubic(&own, turn - root) >= 0.0:
        least = own_evidence(&own, cubic_root(&own, 0.0, turn - root))
    if 0.0 < turn + root < 1.0 and cubic(&own, turn + root) <= 0.0:
        least = min(least, own_evidence(&own, cubic_root(&own, turn + root, 1.0)))
    return least if least < INFINITY else own_evidence(&own, cubic_root(&own, 0.0, 1.0))


cdef inline double own_evidence(const Own* own, double u) noexcept nogil:
    return 0.5 * (own.x * log1p((1.0 - u) * (1.0 - u) / own.p) + own.y * log1p(u * u / own.q))


cdef inline double cubic(const Own* own, double u) noexcept nogil:
    return own.y * u * (own.p + (1.0 - u) * (1.0 - u)) - own.x * (1.0 - u) * (own.q + u * u)


cdef double cubic_root(const Own* own, double low, double high) noexcept nogil:
    """A root between two points, at the lower of which the cubic is negative, at the upper positive."""
    cdef double middle
    cdef int _step
    for _step in range(60):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if cubic(own, middle) < 0.0:
            low = middle
        else:
            high = middle
    return high


cdef double least_certainty(const Arms* arms, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    """The least over q of log B_a(q) + log B_b(q) with variances unknown and each arm's own,

        B_N(q) = (N + 1)^(-1/2) ((s^2 + (m - q)^2) / (s^2 + (m - q)^2 / (N + 1)))^(N/2),

    the ratio of two likelihoods of the rewards seen up to scale (Lai, 1976): under the right Haar prior of
    sigma in both, and N(0, 1) for mean / sigma above. It has one or three stationary points: around the least
    value on a grid it is searched for.
    """
    cdef double low = mean_of(arms, b), gap = mean_of(arms, a) - low, value, least = INFINITY, left, right
    cdef double third, above
    cdef int i, _step, best = 0
    if squares_of(arms, a) == 0.0 or squares_of(arms, b) == 0.0:
        return -INFINITY                    # no evidence
    for i in range(GRID + 1):
        value = log_mixture(arms, a, low + gap * i / GRID) + log_mixture(arms, b, low + gap * i / GRID)
        if value < least:
            best, least = i, value
    left, right = max(best - 1, 0) / <double>GRID, min(best + 1, GRID) / <double>GRID
    for _step in range(40):
        third = (right - left) / 3.0
        value = (log_mixture(arms, a, low + gap * (left + third))
                 + log_mixture(arms, b, low + gap * (left + third)))
        above = (log_mixture(arms, a, low + gap * (right - third))
                 + log_mixture(arms, b, low + gap * (right - third)))
        least = min(least, min(value, above))
        if value < above:
            right -= third
        else:
            left += third
    return least if least < INFINITY else -INFINITY


cdef inline double log_mixture(const Arms* arms, Py_ssize_t arm, double q) noexcept nogil:
    cdef double n = <double>arms.pulls[arm], x = mean_of(arms, arm) - q, square = arms.squares[arm] / n
    return 0.5 * (n * log((square + x * x) / (square + x * x / (n + 1.0))) - log1p(n))
