"""Windows into the core, for tests alone."""

from libc.math cimport sqrt
from libc.stdint cimport int64_t

import numpy as np

from robai._core.beliefs cimport NORMAL, Belief, Tangent, belief_of, believe, draw_pair, log_chance, tangent
from robai._core.bounds cimport Bounds, Standing
from robai._core.draws cimport draw_beta, draw_binomial, draw_coins, draw_gamma, draw_poisson
from robai._core.engine cimport LOOK, Batch
from robai._core.explore_index cimport Optimism
from robai._core.families cimport Family, Gaussian, Sampler, least_divergence, most_divergence
from robai._core.kl cimport Shift, bernoulli_shift, log1pmx
from robai._core.leap cimport corridor_width, height_if_not_hit, hitting_time
from robai._core.protocols cimport Arms, Evidence, Stopping
from robai._core.rng cimport (
    Stream,
    fill_normal,
    layer_edge,
    layer_height,
    next_below,
    next_double,
    next_normal,
    next_uint64,
)
from robai._core.tails cimport Point, normal_quantile, point_of, surprise_at
from robai._core.thinning cimport GaussianThinned, PositiveThinned


# ---- divergences


def log1pmx_at(double x):
    """log(1 + x) - x."""
    return log1pmx(x)


def bernoulli_steps(double p, double level):
    """Halley's steps that the upper bound of a Bernoulli mean p < 1 takes."""
    cdef Shift shift = bernoulli_shift(p, 1.0 - p, level)
    return shift.steps

# ---- tails


def normal_quantile_at(double surprise):
    """z with -log P(Z > z) = surprise."""
    return normal_quantile(surprise)


def surprise_of(double a, double b, double gap, double s, double r, double level=float("nan")):
    """-log P(log(F / G) > l) where s = a + gap and r = b - gap are the shapes that have their middle at l."""
    return surprise_at(Point(a, b, gap, s, r), level)


def quantile_of(double a, double b, double surprise):
    """The gap, a + gap and b - gap for a surprise."""
    cdef Point point = point_of(a, b, surprise)
    return point.gap, point.s, point.r


# ---- the generator


cdef class Draws(Stream):
    """A stream whose draws can be looked at, one at a time."""

    def uint64(self):
        return next_uint64(&self.rng)

    def double(self):
        return next_double(&self.rng)

    def below(self, Py_ssize_t n):
        return next_below(&self.rng, n)

    def normal(self):
        return next_normal(&self.rng)

    def normals(self, double mean, double sigma, Py_ssize_t count):
        draws = np.empty(count)
        cdef double[::1] view = draws
        if count:
            fill_normal(&self.rng, mean, sigma, &view[0], count)
        return draws


def layers():
    """The edges x_0, ..., x_256 of the ziggurat and the heights f(x_1), ..., f(x_256) after a zero."""
    return np.array([layer_edge[i] for i in range(257)]), np.array([layer_height[i] for i in range(257)])


def coins(double p, int count, Stream stream not None):
    """A word with so many of them."""
    return draw_coins(p, count, &stream.rng)


def binomial(double trials, double p, Stream stream not None):
    return draw_binomial(trials, p, &stream.rng)


def poisson(double rate, Stream stream not None):
    return draw_poisson(rate, &stream.rng)


def gamma(double shape, Stream stream not None):
    """One standard gamma variable."""
    return draw_gamma(shape, &stream.rng)


def beta(double a, double b, Stream stream not None):
    return draw_beta(a, b, &stream.rng)


# ---- families


def sum_of(Sampler rewards not None, Py_ssize_t arm, double mean, double count, Stream stream not None):
    """The sum of `count` rewards of an arm, in one draw."""
    return rewards.total(arm, mean, count, &stream.rng)


def mean_from_posterior(Family family not None, double pulls, double total, Stream stream not None):
    """A draw of the mean of arm 0 from its posterior."""
    cdef Evidence evidence = Evidence([pulls], [total], 1)
    return family.posterior(&evidence.arms, 0, &stream.rng)


def around_divergence(Family family not None, p, q):
    """The bounds of d(p, q), of pairs of means of arm 0, that take no logarithm."""
    bounds = np.empty((2, len(p)))
    cdef const double[::1] left = p, right = q
    cdef double[:, ::1] out = bounds
    cdef Py_ssize_t i
    for i in range(left.shape[0]):
        out[0, i] = least_divergence(family, 0, left[i], right[i])
        out[1, i] = most_divergence(family, 0, left[i], right[i])
    return bounds


def variance_at(Family family not None, double mean):
    """V(mean)."""
    return family.variance(0, mean)


# ---- leaps


def hitting_times(double height, double drift, double sigma, Py_ssize_t count, Stream stream not None):
    """Hitting times of Brownian motion with drift."""
    return np.array([hitting_time(height / sigma, drift / sigma, &stream.rng) for _ in range(count)])


def heights_if_not_hit(double height, double drift, double sigma, double time, Py_ssize_t count,
                       Stream stream not None):
    """Heights of Brownian motions with drift that have not been at 0."""
    return sigma * np.array([
        height_if_not_hit(height / sigma, drift / sigma, time, &stream.rng) for _ in range(count)])


def corridor(Family family not None, double mean, double k, double exponent):
    """The width of a corridor that k sums leave with probability at most exp(-exponent)."""
    return corridor_width(family, 0, mean, k, exponent)


def first_exits(Batch batch not None, Py_ssize_t arm, int64_t pulls, double total, double bar, int64_t limit):
    """In every run, the pulls and the sum of an arm when its index is no longer above `bar`.

    From a given state of that arm, after at most `limit` more pulls of it. Needs an exploration by
    index. The batch cannot be played afterwards.
    """
    cdef Optimism explore = batch._optimism
    cdef int64_t end = pulls + limit
    exits = np.empty((batch._states.shape[0], 2))
    for batch._run in range(batch._states.shape[0]):
        batch._begin()
        batch._arms.t = batch._initial_rounds
        batch._arms.pulls[arm], batch._sums[arm] = pulls, total
        explore.leader, explore.bar = arm, bar
        while batch._arms.pulls[arm] < end and explore.bounds.upper(
                &batch._arms, arm, <double>(batch._arms.t + 1)) > bar:
            batch._streak(explore, end - batch._arms.pulls[arm])
        exits[batch._run] = batch._arms.pulls[arm], batch._sums[arm]
    return exits


def lost_leads(Batch batch not None, pulls, sums):
    """In every run, the pulls and the sum of arm 0 when another one is to be pulled, or at the horizon.

    From a given state of all arms. Needs an exploration by index. The batch cannot be played afterwards.
    """
    cdef Optimism explore = batch._optimism
    cdef Py_ssize_t arm
    ends = np.empty((batch._states.shape[0], 2))
    batch._initial_rounds = sum(pulls)
    for batch._run in range(batch._states.shape[0]):
        batch._begin()
        batch._arms.t = batch._initial_rounds
        for arm in range(batch._arms.n_arms):
            batch._arms.pulls[arm], batch._sums[arm] = pulls[arm], sums[arm]
        while batch._arms.t < batch._arms.horizon:
            if not batch._staying or batch._arms.t == explore.until:
                explore.decide(&batch._arms, &batch._rng)
            if explore.leader != 0:
                break
            batch._streak(explore, explore.until - batch._arms.t)
        ends[batch._run] = batch._arms.pulls[0], batch._sums[0]
    return ends


def who_is_ahead(Bounds bounds not None, pulls, sums, double level):
    """Which of two arms has the larger upper bound, 0, 1 or None, and up to which level that is so."""
    cdef Standing a = Standing(0, pulls[0], sums[0]), b = Standing(1, pulls[1], sums[1])
    cdef double root = sqrt(2.0 * level), until
    cdef int ahead
    bounds.stand(&a, root)
    bounds.stand(&b, root)
    ahead = bounds.ahead(&a, &b, root, &until)
    return {1: 0, -1: 1, 0: None}[ahead], 0.5 * until * until


# ---- stops


cdef class Watched(Stopping):
    """A stopping rule, with the number of questions that it was asked; if `impatient`, after every round."""
    cdef readonly Stopping rule
    cdef readonly bint impatient
    cdef readonly int64_t questions

    def __init__(self, Stopping rule not None, bint impatient):
        self.rule, self.impatient = rule, impatient
        self.initial_pulls, self.leaps = rule.initial_pulls, rule.leaps
        self.moments, self.absolute = rule.moments, rule.absolute

    cdef bint fires(self, const Arms* arms) noexcept nogil:
        self.questions += 1
        return self.rule.fires(arms)

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return 1 if self.impatient else self.rule.quiet(arms, arm)


def quiet_for(Stopping rule not None, Evidence evidence not None, Py_ssize_t arm):
    """After how many further pulls of an arm a rule could fire."""
    return rule.quiet(&evidence.arms, arm)


# ---- thinning


cdef Belief believed(Family family, double pulls, double total):
    if isinstance(family, Gaussian):
        return believe(NORMAL, pulls, total, family.variance(0, 0.0))
    return belief_of(family.posterior_of(pulls, total))


def bound_of_chance(Family family not None, leader, rival):
    """Of the chance that the rival's posterior draw is above the leader's, each given by (pulls, sum).

    And the tangent that it is made with.
    """
    cdef Belief best = believed(family, leader[0], leader[1])
    cdef Tangent line = tangent(believed(family, rival[0], rival[1]), best)
    return (np.exp(log_chance(line, best)) if line.u > 0.0 else np.inf), (line.x, line.u, line.height)


def chance_at(Family family not None, leader, line):
    """The bound for another leader, by the same tangent."""
    return np.exp(log_chance(Tangent(line[0], line[1], line[2]), believed(family, leader[0], leader[1])))


def pairs_of_draws(Family family not None, leader, rival, Py_ssize_t count, Stream stream not None):
    """Pairs with the rival's above, of `count` tries: those that came about, by the coordinate l."""
    cdef Belief best = believed(family, leader[0], leader[1]), other = believed(family, rival[0], rival[1])
    cdef Tangent line = tangent(other, best)
    cdef double high = 0.0, low = 0.0
    cdef Py_ssize_t _try
    found = []
    for _try in range(count):
        if draw_pair(line, other, best, &high, &low, &stream.rng):
            found.append((high, low))
    return np.array(found)


def edge_below(PositiveThinned batch not None, int64_t pulls, double total):
    """The sums of rewards of arm 0 that are on its endless edge, of 0 pulls and of 1; None if there is none.

    The edge from the given state on, that is, with the means of the first run.
    """
    batch._begin()
    batch._leader = 0
    batch._arms.pulls[0], batch._sums[0] = pulls, total
    if not batch._aim_below():
        return None
    return tuple(-batch._height(n, 0.0, batch._edge) / batch._total[2] for n in (0.0, 1.0))


def first_switches(Batch batch not None, pulls, sums):
    """In every run, the pulls of arm 0 when another one has been pulled, or at the horizon.

    From a given state of all arms. The batch cannot be played afterwards.
    """
    cdef Py_ssize_t arm
    ends = np.empty((batch._states.shape[0], 2))
    batch._initial_rounds = sum(pulls)
    for batch._run in range(batch._states.shape[0]):
        batch._begin()
        for arm in range(batch._arms.n_arms):
            batch._arms.pulls[arm], batch._sums[arm] = pulls[arm], sums[arm]
            if isinstance(batch, GaussianThinned):
                (<GaussianThinned>batch)._deviations[arm] = (
                    (sums[arm] - batch._means[arm] * pulls[arm]) / (<GaussianThinned>batch)._sigma[arm])
        batch._arms.t = batch._initial_rounds
        batch._deadline = 0
        others = 0
        while others == 0 and batch._arms.t < batch._arms.horizon:
            batch._work = LOOK                  # one decision at a time
            batch._by_round()
            others = sum(batch._arms.pulls[arm] - pulls[arm] for arm in range(1, batch._arms.n_arms))
        ends[batch._run] = batch._arms.pulls[0], batch._sums[0]
    return ends
