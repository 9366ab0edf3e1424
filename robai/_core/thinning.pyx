"""Thompson sampling without drawing from every posterior in every round.

While one arm, the leader, is pulled, the posteriors of its rivals stand still, and the draws are independent
of the rewards to come. So the leader's streak is a walk of (N, A), the weight and the total of its posterior,
that is ended in each round with the chance q(N, A) that some rival's draw is the largest. On the cone

    C = {N >= N0, A >= r N},        r somewhat below the leader's mean,

this chance is at most Q, the sum over rivals of their `log_chance` at its corner (beliefs.pxd, 3). Coins of
probability Q are tossed instead, which takes one geometric variable: the rounds before its first success
belong to the leader. At that round, if the walk is still in C, a rival is taken in proportion to its part of
Q, and the pair of its draw and the leader's comes about with the right chance by the coins of beliefs.pxd.
Then the other rivals' draws are made; of the M draws above the leader's, the largest is pulled with
probability 1/M, because each of the M pairs could have brought this about, and else the leader.

Where the walk leaves C, or after a while, there is a new cone; a geometric variable may be thrown away
because it has no memory. So r, the tangents and the moments at which cones are made can depend on all that
has happened: bad ones cost time, and the law is the same. Where Q is not small, as in the beginning, plain
rounds are played.

`Thinned` draws every reward. The other two do not: a Gaussian walk leaves the cone, whose edge is straight,
at a hitting time; rewards that are never negative are added in chunks so small that zeros would not lead out
of it, or, from many pulls on, at once: the edge is then so low that the walk ever comes there with a
probability below 10^-18 (Ville's inequality for the exponential martingale).
"""

cimport cython
from libc.math cimport INFINITY, exp, log, log1p, sqrt
from libc.stdint cimport int64_t

import numpy as np

from robai._core.beliefs cimport (
    NORMAL, Belief, belief_of, believe, draw_pair, draw_weighted, kind_of, log_chance, tangent,
    total_of, weight_of,
)
from robai._core.coins cimport Coins, successes
from robai._core.engine cimport LOOK, late
from robai._core.explore_sampling cimport Thompson
from robai._core.families cimport Family, Gaussian
from robai._core.leap cimport CORRIDOR, add_exactly, height_if_not_hit, hitting_time
from robai._core.posteriors cimport Posterior
from robai._core.rng cimport happens, next_double, next_normal


cdef enum:
    FEW = 8                         # plain rounds before the next try, where Q is not small ...
    PATIENCE = 128                  # ... and after many tries
    CHUNK = 8                       # rounds from which on it pays to draw a sum

cdef int64_t EVER = 1 << 62

cdef class Thinned(Coins):
    """For any rewards: all of them are drawn."""

    def __init__(self, *args):
        Coins.__init__(self, *args)
        cdef Family family = (<Thompson?>self._explore).family
        cdef double low = family.low, unit = family.unit
        cdef Posterior one, two
        self.width, self.busy = 0.75, 0.4
        self._family = family
        self._rivals = np.zeros((self._arms.n_arms, sizeof(Rival) // sizeof(double)))
        if isinstance(family, Gaussian):
            self._kind, self._weight, self._total = NORMAL, [0.0, 1.0], [0.0, 0.0, 1.0]
            return
        self._kind = kind_of(family.posterior_of(1.0, low))
        # Both are linear: three rewards of the domain tell how.
        one, two = family.posterior_of(1.0, low), family.posterior_of(2.0, 2.0 * low)
        self._weight[1] = weight_of(two) - weight_of(one)
        self._weight[0] = weight_of(one) - self._weight[1]
        self._total[2] = (total_of(family.posterior_of(1.0, low + unit)) - total_of(one)) / unit
        self._total[1] = total_of(two) - total_of(one) - low * self._total[2]
        self._total[0] = total_of(one) - self._total[1] - low * self._total[2]

    cdef void _begin(self) noexcept nogil:
        Coins._begin(self)
        self._in_cone, self._plain, self._patience = False, 0, FEW

    cdef bint _by_round(self) noexcept nogil:
        while self._arms.t < self._arms.horizon:
            if self._stop.fires(&self._arms):
                return True
            if self._in_cone and self._left > 0:
                self._walk(min(min(self._left, self._arms.horizon - self._arms.t),
                               self._stop.quiet(&self._arms, self._leader)))
            elif self._in_cone:
                self._at_a_candidate()
            elif self._plain > 0:
                self._plain -= 1
                self.plain += 1
                self._pull(self._explore.select(&self._arms, &self._rng))
            elif self._find_a_cone():
                self._patience = FEW
            else:
                self._plain = self._patience
                self._patience = min(2 * self._patience, <int64_t>PATIENCE)
            if late(self, self._arms.n_arms):
                return False
        return True

    # ---- cones

    cdef bint _find_a_cone(self) noexcept nogil:
        """Whether there is one."""
        self._choose_the_leader()
        self._aim()
        return self._bound()

    cdef void _choose_the_leader(self) noexcept nogil:
        """The arm whose posterior is highest."""
        cdef Py_ssize_t arm
        cdef double n, mean, best = -INFINITY
        for arm in range(self._arms.n_arms):
            n = <double>self._arms.pulls[arm]
            mean = self._height(n, self._sums[arm], 0.0) / self._weight_after(n)
            if mean > best:
                self._leader, best = arm, mean

    cdef void _aim(self) noexcept nogil:
        """Sets the edge."""
        cdef double n = <double>self._arms.pulls[self._leader], mean = self._means[self._leader]
        cdef double scale = self._total[2] / self._weight[1], weight = self._weight_after(n)
        cdef double middle = min(self._height(n, self._sums[self._leader], 0.0) / weight,
                                 self._total[1] / self._weight[1] + scale * mean)
        cdef double variance = max(self._family.variance(self._leader, mean), 0.0)
        self._edge = middle - self.width * scale * sqrt(variance / n)
        self._endless = False
        if self._kind != NORMAL:
            self._edge = max(self._edge, 0.5 * middle)

    cdef bint _bound(self) noexcept nogil:
        """Sets the chances at the corner; whether their sum is small."""
        cdef Py_ssize_t arm
        self._corner = self._weight_after(<double>self._arms.pulls[self._leader])
        for arm in range(self._arms.n_arms):
            if arm != self._leader:
                self._look_at(arm)
        return self._toss()

    cdef void _look_at(self, Py_ssize_t arm) noexcept nogil:
        """The chance of a rival at the corner."""
        cdef Rival* rival = self._rival(arm)
        cdef double variance = self._family.variance(self._leader, 0.0) if self._kind == NORMAL else 0.0
        cdef Belief corner = believe(self._kind, self._corner, self._edge * self._corner, variance)
        rival.belief = self._belief(arm)
        rival.line = tangent(rival.belief, corner)
        rival.log_chance = log_chance(rival.line, corner) if rival.line.u > 0.0 else INFINITY
        rival.chance = exp(rival.log_chance)

    cdef bint _toss(self) noexcept nogil:
        """When the next candidate comes; none, and no cone, if the chances are not small."""
        cdef Py_ssize_t arm
        cdef double rounds
        self._chance = 0.0
        for arm in range(self._arms.n_arms):
            if arm != self._leader:
                self._chance += self._rival(arm).chance
        self._in_cone = self._chance < self.busy
        if self._in_cone:
            # Division by 0 is infinite, and 0 / 0 no number: no candidate either way.
            rounds = log(1.0 - next_double(&self._rng)) / log1p(-self._chance)
            self._left = <int64_t>rounds if rounds < 4e18 else EVER
        return self._in_cone

    cdef inline double _weight_after(self, double n) noexcept nogil:
        return self._weight[0] + self._weight[1] * n

    cdef inline double _height(self, double n, double total, double edge) noexcept nogil:
        """A - r N."""
        return self._total[0] + self._total[1] * n + self._total[2] * total - edge * self._weight_after(n)

    cdef bint _is_inside(self) noexcept nogil:
        cdef double n = <double>self._arms.pulls[self._leader]
        return self._height(n, self._sums[self._leader], self._edge) >= 0.0

    cdef inline Rival* _rival(self, Py_ssize_t arm) noexcept nogil:
        return <Rival*>&self._rivals[arm, 0]

    cdef Belief _belief(self, Py_ssize_t arm) noexcept nogil:
        cdef double n = <double>self._arms.pulls[arm], total = self._sums[arm]
        if self._kind == NORMAL:
            return believe(NORMAL, n, total, self._family.variance(arm, 0.0))
        return belief_of(self._family.posterior_of(n, total))

    # ---- rounds

    cdef void _walk(self, int64_t limit) noexcept nogil:
        """At least one and at most `limit` pulls of the leader, as long as it is in the cone."""
        cdef Py_ssize_t arm = self._leader, count, i
        cdef double n = <double>self._arms.pulls[arm], total
        # inside while S >= slope n + level
        cdef double slope = (self._edge * self._weight[1] - self._total[1]) / self._total[2]
        cdef double level = (self._edge * self._weight[0] - self._total[0]) / self._total[2]
        cdef double* rewards
        cdef int64_t left = min(limit, <int64_t>LOOK)
        self._work += left
        while self._in_cone and left > 0:
            count = min(self._on_tape(arm), <Py_ssize_t>left)
            total = self._sums[arm]
            if self._binary and not total >= level + slope * (n + <double>count):
                count = min(count, <Py_ssize_t>CHUNK)
            if self._binary and total >= level + slope * (n + <double>count):       # also if all are 0
                total += <double>successes(self._words[arm], self._next[arm], count)
            else:
                rewards = self._numbers(arm) + self._next[arm]
                level += slope * n
                for i in range(count):
                    total += rewards[i]
                    level += slope
                    if not total >= level:
                        self._in_cone = False
                        count = i + 1
                        break
                level -= slope * (n + <double>count)
            n += <double>count
            self._sums[arm] = total
            self._next[arm] += count
            self._count(arm, count)
            self._left -= count
            left -= count

    cdef void _at_a_candidate(self) noexcept nogil:
        """The round in which a rival may be pulled."""
        cdef Py_ssize_t arm = self._winner()
        self._pull(arm)
        # A leader that has grown is better known than at the corner.
        self._in_cone = (self._is_inside()
                         and self._weight_after(<double>self._arms.pulls[self._leader]) < 1.5 * self._corner)
        if self._in_cone:
            if arm != self._leader:
                self._look_at(arm)
            self._toss()

    cdef Py_ssize_t _winner(self) noexcept nogil:
        """The arm with the largest draw."""
        cdef Py_ssize_t arm, rival = self._leader, best
        cdef double left = self._chance * next_double(&self._rng), high = 0.0, low = 0.0
        cdef double kept, draw
        cdef int64_t above = 1
        cdef Belief leader = self._belief(self._leader)
        cdef Rival* candidate
        self._work += self._arms.n_arms
        for arm in range(self._arms.n_arms):
            if arm != self._leader and self._rival(arm).chance > 0.0:
                rival = arm                     # the last one, should rounding leave something
                left -= self._rival(arm).chance
                if left < 0.0:
                    break
        candidate = self._rival(rival)
        kept = log_chance(candidate.line, leader) - candidate.log_chance
        if (rival == self._leader or not happens(kept, &self._rng)
                or not draw_pair(candidate.line, candidate.belief, leader, &high, &low, &self._rng)):
            return self._leader
        best = rival
        for arm in range(self._arms.n_arms):
            if arm != self._leader and arm != rival:
                draw = draw_weighted(self._rival(arm).belief, 0.0, &self._rng)
                above += draw > low
                if draw > high:
                    best, high = arm, draw
        return best if above == 1 or next_double(&self._rng) * <double>above < 1.0 else self._leader


@cython.final
cdef class GaussianThinned(Thinned):
    """For Gaussian rewards: hitting times. Sums are kept as deviations, as in leap.pyx."""

    def __init__(self, *args):
        Thinned.__init__(self, *args)
        self._sigma = (<Gaussian?>self._rewards).sigma
        self._deviations = np.zeros(self._arms.n_arms)

    cdef void _begin(self) noexcept nogil:
        Thinned._begin(self)
        self._deviations[:] = 0.0

    cdef void _pull(self, Py_ssize_t arm) noexcept nogil:
        self._move(arm, 1, next_normal(&self._rng))

    cdef void _move(self, Py_ssize_t arm, int64_t pulls, double deviation) noexcept nogil:
        self._deviations[arm] += deviation
        self._sums[arm] = (self._means[arm] * <double>(self._arms.pulls[arm] + pulls)
                           + self._sigma[arm] * self._deviations[arm])
        self._count(arm, pulls)

    cdef void _walk(self, int64_t limit) noexcept nogil:
        cdef Py_ssize_t arm = self._leader
        cdef int64_t whole
        cdef double drift = (self._means[arm] - self._edge) / self._sigma[arm], k = <double>limit
        cdef double height = self._deviations[arm] + <double>self._arms.pulls[arm] * drift, tau
        if 2.0 * height * drift > CORRIDOR:             # it never comes down, up to that
            self._move(arm, limit, sqrt(k) * next_normal(&self._rng))
            self._left -= limit
            return
        tau = hitting_time(height, drift, &self._rng)
        if not tau < k:
            self._move(arm, limit, height_if_not_hit(height, drift, k, &self._rng) - height - drift * k)
            self._left -= limit
        else:
            # At tau it is on the edge; from there it is a part of a step to the next whole time.
            whole = <int64_t>tau + 1
            self._move(arm, whole, sqrt(<double>whole - tau) * next_normal(&self._rng) - height - drift * tau)
            self._in_cone = False


@cython.final
cdef class PositiveThinned(Thinned):
    """For rewards that are never negative: sums of many."""

    def __init__(self, *args):
        Thinned.__init__(self, *args)
        self._law = self._rewards
        self._rests = np.zeros(self._arms.n_arms)
        self.many, self.surely = 5000, CORRIDOR

    cdef void _begin(self) noexcept nogil:
        Thinned._begin(self)
        self._rests[:] = 0.0

    cdef void _pull(self, Py_ssize_t arm) noexcept nogil:
        add_exactly(&self._sums[arm], &self._rests[arm], self._take(arm))
        self._count(arm, 1)

    cdef bint _find_a_cone(self) noexcept nogil:
        self._choose_the_leader()
        if self._arms.pulls[self._leader] >= self.many and self._aim_below() and self._bound():
            return True
        self._aim()
        # Room for a chunk of zeros, unless rewards are all the same.
        if self._law.variance(self._leader, self._means[self._leader]) > 0.0:
            self._edge *= 0.97
        return self._bound()

    cdef bint _aim_below(self) noexcept nogil:
        """An edge below all that the walk will ever come to; whether there is one.

        With x(v) = -log E[e^(-v X)] a unit of weight, X what a pull adds to the total, e^(-v A + x(v) N) is a
        martingale. So the walk ever comes below A = r N, r = x(v) / v, with a probability of at most e^-f,
        f = v A - x(v) N. That is convex in v, and about v lead + v^2 variance / 2.
        """
        cdef Py_ssize_t arm = self._leader, _step
        cdef double n = <double>self._arms.pulls[arm], mean = self._means[arm]
        cdef double weight = self._weight_after(n), total = self._height(n, self._sums[arm], 0.0)
        cdef double low = 0.0, high, v, f
        cdef double variance = weight * self._law.variance(arm, mean) * self._total[2] * self._total[2]
        cdef double lead = total - weight / self._weight[1] * (self._total[1] + self._total[2] * mean)
        variance /= self._weight[1]
        high = INFINITY
        v = 2.0 * self.surely / (lead + sqrt(lead * lead + 2.0 * self.surely * variance))
        for _step in range(60):
            f = v * total - self._fall(arm, v) * weight
            if self.surely <= f <= 1.02 * self.surely:
                break
            if f < self.surely:
                low = v
                v = 0.5 * (low + high) if high < INFINITY else 1.5 * v
            else:
                high = v
                v = 0.5 * (low + high)
        else:
            return False
        self._edge = self._fall(arm, v) / v
        self._endless = True
        return True

    cdef double _fall(self, Py_ssize_t arm, double v) noexcept nogil:
        """x(v) of a unit of weight."""
        cdef double rewards = self._law.cumulant(arm, self._means[arm], self._total[2] * v)
        return (self._total[1] * v + rewards) / self._weight[1]

    cdef void _walk(self, int64_t limit) noexcept nogil:
        cdef Py_ssize_t arm = self._leader
        cdef double n, least = self._means[arm] if self._law.variance(arm, self._means[arm]) == 0.0 else 0.0
        # what the height loses, at most, in a pull
        cdef double loss = self._edge * self._weight[1] - self._total[1] - self._total[2] * least, height
        cdef int64_t count = limit
        if not self._endless:
            n = <double>self._arms.pulls[arm]
            height = self._height(n, self._sums[arm], self._edge)
            if loss > 0.0 and height < loss * <double>limit:
                count = <int64_t>(height / loss)
            if count < CHUNK and count < limit:
                Thinned._walk(self, min(limit, <int64_t>CHUNK))
                return
        add_exactly(&self._sums[arm], &self._rests[arm],
                    self._law.total(arm, self._means[arm], <double>count, &self._rng))
        self._count(arm, count)
        self._left -= count
        self._in_cone = self._is_inside()
