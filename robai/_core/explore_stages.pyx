"""Explorations in stages that end by themselves: action elimination, DETC, DETC-K."""

cimport cython
from libc.math cimport INFINITY, ceil, fabs, log, sqrt
from libc.stdint cimport int64_t

import numpy as np

from robai._base import checks
from robai._core.bounds cimport Bounds
from robai._core.protocols cimport argmax, expect_fields, mean_of


cdef class Elimination(Exploration):
    """Pull the arms that are still active in turn, and drop those that cannot be the best."""

    def __init__(self, Py_ssize_t n_arms):
        self._active = np.empty(n_arms, dtype=np.intp)
        self.concludes = True

    cdef void restart(self) noexcept nogil:
        self._count = 0

    cdef bint keeps(self, const Arms* arms, Py_ssize_t best, Py_ssize_t arm) noexcept nogil:
        return True

    cdef void begin(self, const Arms* arms) noexcept nogil:
        cdef Py_ssize_t arm
        self._count = arms.n_arms
        for arm in range(arms.n_arms):
            self._active[arm] = arm

    cdef Py_ssize_t best(self, const Arms* arms) noexcept nogil:
        cdef Py_ssize_t i, best = self._active[0]
        for i in range(1, self._count):
            if mean_of(arms, self._active[i]) > mean_of(arms, best):
                best = self._active[i]
        return best

    cdef void eliminate(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t i, kept = 0, best
        if self._count == 0:
            self.begin(arms)
        best = self.best(arms)
        for i in range(self._count):
            if self._active[i] == best or self.keeps(arms, best, self._active[i]):
                self._active[kept] = self._active[i]
                kept += 1
        self._count = kept

    cdef Py_ssize_t recommend(self, const Arms* arms, Rng* rng) noexcept nogil:
        return self._active[0]

    def memory(self):
        return {"active": [self._active[i] for i in range(self._count)]}

    def remember(self, memory, pulls):
        expect_fields(memory, ("active",))
        self._keep(memory["active"])

    cdef int _keep(self, active) except -1:
        cdef Py_ssize_t i
        active = [checks.whole("active", arm, 0, self._active.shape[0] - 1) for arm in active]
        if active != sorted(set(active)):
            raise ValueError(f"active must be increasing, got {active}")
        for i in range(len(active)):
            self._active[i] = active[i]
        self._count = len(active)
        return 0


@cython.final
cdef class Tournament:
    """The largest of some numbers: node i holds the larger of its children 2i and 2i + 1."""
    cdef double[::1] _nodes
    cdef Py_ssize_t _leaves

    def __init__(self, Py_ssize_t count):
        self._leaves = 1
        while self._leaves < count:
            self._leaves *= 2
        self._nodes = np.full(2 * self._leaves, -INFINITY)

    cdef inline void set(self, Py_ssize_t i, double value) noexcept nogil:
        i += self._leaves
        self._nodes[i] = value
        while i > 1:
            value = max(value, self._nodes[i ^ 1])
            i >>= 1
            if self._nodes[i] == value:
                break
            self._nodes[i] = value

    cdef inline double largest(self) noexcept nogil:
        return self._nodes[1]

    cdef inline Py_ssize_t first(self) noexcept nogil:
        """The first with the largest number."""
        cdef Py_ssize_t i = 1
        while i < self._leaves:
            i *= 2
            i += self._nodes[i] < self._nodes[i + 1]
        return i - self._leaves


@cython.final
cdef class BoundElimination(Elimination):
    """After every pull, drop each arm whose upper bound is below the lower bound of the best.

    Action elimination as the paper compares with it: bounds m +- sqrt(2 log T / N). A pull moves the bounds
    of its arm alone, and nothing is dropped while the smallest upper bound is not below the lower one of the
    arm with the largest mean.
    """
    cdef readonly Bounds bounds
    cdef Tournament _means                  # of the active arms
    cdef Tournament _uppers                 # upper bounds, with a minus
    cdef Py_ssize_t _best                   # the first with the largest mean, that mean, and its lower bound
    cdef double _largest
    cdef double _floor
    cdef Py_ssize_t _last                   # the arm that was chosen last, and the counts then
    cdef int64_t _last_pulls
    cdef int64_t _last_round

    def __init__(self, Py_ssize_t n_arms, Bounds bounds not None):
        Elimination.__init__(self, n_arms)
        self.bounds, self.discerns = bounds, True
        self._means, self._uppers = Tournament(n_arms), Tournament(n_arms)

    cdef bint keeps(self, const Arms* arms, Py_ssize_t best, Py_ssize_t arm) noexcept nogil:
        cdef double t = <double>(arms.t + 1)
        return self.bounds.upper(arms, arm, t) >= self.bounds.lower(arms, best, t)

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        cdef double t = <double>(arms.t + 1)
        lower[0], upper[0] = self.bounds.lower(arms, arm, t), self.bounds.upper(arms, arm, t)

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        # In an engine, where no reward is pending, the arm chosen last is the only one that was pulled.
        if (self._count > 0 and arms.pending == NULL and arms.t == self._last_round + 1
                and arms.pulls[self._last] == self._last_pulls + 1):
            self._look_at(arms, self._last)
            if self._last == self._best or mean_of(arms, self._last) >= self._largest:
                self._look_at_the_best(arms)
        else:
            self._look_at_all(arms)
        if -self._uppers.largest() < self._floor:
            self.eliminate(arms, rng)
            self._look_at_all(arms)
        if self._count == 1:
            return -1
        self._last, self._last_round = self._active[arms.t % self._count], arms.t
        self._last_pulls = arms.pulls[self._last]
        return self._last

    cdef void _look_at(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        self._means.set(arm, mean_of(arms, arm))
        self._uppers.set(arm, -self.bounds.upper(arms, arm, <double>(arms.t + 1)))

    cdef void _look_at_the_best(self, const Arms* arms) noexcept nogil:
        self._best, self._largest = self._means.first(), self._means.largest()
        self._floor = self.bounds.lower(arms, self._best, <double>(arms.t + 1))

    cdef void _look_at_all(self, const Arms* arms) noexcept nogil:
        cdef Py_ssize_t i
        if self._count == 0:
            self.begin(arms)
        for i in range(arms.n_arms):
            self._means.set(i, -INFINITY)
            self._uppers.set(i, -INFINITY)
        for i in range(self._count):
            self._look_at(arms, self._active[i])
        self._look_at_the_best(arms)

cdef class Sweeps(Elimination):
    """After every sweep over the active arms, see which to drop."""

    cdef void restart(self) noexcept nogil:
        self._count = 0
        self._next = 0

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        if self._next == self._count:
            self.eliminate(arms, rng)
            self._next = 0
            if self._count == 1:
                return -1
        self._next += 1
        return self._active[self._next - 1]

    def memory(self):
        return {**Elimination.memory(self), "next": self._next}

    def remember(self, memory, pulls):
        expect_fields(memory, ("active", "next"))
        self._keep(memory["active"])
        self._next = checks.whole("next", memory["next"], 0, self._count)


@cython.final
cdef class SweepElimination(Sweeps):
    """After every sweep, drop each a with m_max - m_a >= 2 alpha_n,

        alpha_n = sigma sqrt(2 log(4 K n^2 / delta) / n), n sweeps.

    Even-Dar, Mannor and Mansour (2006), for sigma-sub-Gaussian rewards.
    """
    cdef readonly double delta
    cdef readonly double sigma
    cdef double _n                          # what alpha was computed for last: it is the same for all arms
    cdef double _alpha

    def __init__(self, Py_ssize_t n_arms, double delta, double sigma):
        Elimination.__init__(self, n_arms)
        self.delta = delta
        self.sigma = sigma

    cdef bint keeps(self, const Arms* arms, Py_ssize_t best, Py_ssize_t arm) noexcept nogil:
        # In a simulation all active arms have as many; an agent waits for the slowest rewards.
        cdef int64_t n = min(arms.pulls[best], arms.pulls[arm])
        return mean_of(arms, best) - mean_of(arms, arm) < 2.0 * self.radius(arms.n_arms, <double>n)

    cdef double radius(self, Py_ssize_t n_arms, double n) noexcept nogil:
        """alpha_n."""
        if n != self._n:
            self._n = n
            self._alpha = self.sigma * sqrt(2.0 * log(4.0 * <double>n_arms * n * n / self.delta) / n)
        return self._alpha

    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil:
        cdef double radius = self.radius(arms.n_arms, <double>arms.pulls[arm]), mean = mean_of(arms, arm)
        lower[0], upper[0] = mean - radius, mean + radius


cdef inline double detc_radius(double horizon, double n, double sigma) noexcept nogil:
    """sigma sqrt((2/n) log((T/n) (log^2(T/n) + 1))), the last test of DETC and DETC-K."""
    cdef double root = log(horizon / n)
    return sigma * sqrt(2.0 / n * log(horizon / n * (root * root + 1.0)))


@cython.final
cdef class DoubleExplore(Exploration):
    """DETC for two arms and an unknown gap: Jin, Xu, Xiao and Gu (2021), T_1 = log^2 T.

    I   both arms in turn until |m_1 - m_2| >= sigma sqrt((16/t) log+(T_1/t)), at even t
    II  the better one, 1', until it has T_1 pulls
    III the other one, 2', from fresh statistics, until its mean differs from that of 1'
        by sigma sqrt((2/s) log((T/s) (log^2(T/s) + 1))), s fresh pulls
    IV  commit to the better of the two means
    """
    cdef readonly double horizon
    cdef readonly double sigma
    cdef readonly double first_length       # T_1
    cdef Py_ssize_t _favourite              # 1', or -1 in stage I
    cdef int64_t _old_pulls                 # of 2', when stage III began
    cdef double _old_sum
    cdef double _fresh_mean

    def __init__(self, double horizon, double sigma):
        self.horizon, self.sigma = horizon, sigma
        self.first_length = log(horizon) ** 2
        self.concludes = True

    cdef void restart(self) noexcept nogil:
        self._favourite = -1
        self._old_pulls, self._old_sum = 0, 0.0

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        # Of the pulls in pairs: at even rounds of a simulation that is all of them.
        cdef double t = 2.0 * <double>min(arms.pulls[0], arms.pulls[1]), gap, fresh
        cdef double[2] means
        cdef Py_ssize_t other
        if self._favourite < 0:
            means[0], means[1] = mean_of(arms, 0), mean_of(arms, 1)
            gap = means[0] - means[1]
            if arms.t % 2 or gap * gap < self.sigma ** 2 * 16.0 / t * log(max(self.first_length / t, 1.0)):
                return arms.t % 2
            self._favourite = argmax(means, 2, rng)
            other = 1 - self._favourite
            self._old_pulls, self._old_sum = arms.pulls[other], arms.sums[other]
        if arms.pulls[self._favourite] < self.first_length:
            return self._favourite
        other = 1 - self._favourite
        fresh = <double>(arms.pulls[other] - self._old_pulls)
        if fresh == 0.0:
            return other
        self._fresh_mean = (arms.sums[other] - self._old_sum) / fresh
        gap = fabs(mean_of(arms, self._favourite) - self._fresh_mean)
        return other if gap < detc_radius(self.horizon, fresh, self.sigma) else -1

    cdef Py_ssize_t recommend(self, const Arms* arms, Rng* rng) noexcept nogil:
        if mean_of(arms, self._favourite) >= self._fresh_mean:
            return self._favourite
        return 1 - self._favourite

    def memory(self):
        return {"favourite": self._favourite, "old_pulls": self._old_pulls, "old_sum": self._old_sum}

    def remember(self, memory, pulls):
        expect_fields(memory, ("favourite", "old_pulls", "old_sum"))
        favourite = checks.whole("favourite", memory["favourite"], -1, 1)
        most = 0 if favourite < 0 else pulls[1 - favourite]
        self._old_pulls = checks.whole("old_pulls", memory["old_pulls"], 0, most)
        self._old_sum = checks.real("old_sum", memory["old_sum"])
        self._favourite = favourite


@cython.final
cdef class DoubleExploreK(Exploration):
    """DETC-K for any number of arms: Jin, Xu, Xiao and Gu (2021), as the paper runs it.

    I   ceil(sqrt(log T)) pulls of every arm
    II  the best one, 1', ceil(log^2 T) times; m' is the mean of these
    III each other arm from fresh statistics, until its mean differs from m' by the radius of
        DETC; one with more than log^2 T fresh pulls fails, and ends the stage
    IV  nothing failed and m' is the largest: commit to 1'. Otherwise more than log^2 T fresh
        pulls of every arm, and commit to the best of their means
    """
    cdef readonly double horizon
    cdef readonly double sigma
    cdef readonly double length             # log^2 T
    cdef int _stage
    cdef Py_ssize_t _favourite
    cdef Py_ssize_t _arm                    # the one being tested, or pulled in stage IV
    cdef double _mean                       # m'
    cdef bint _beaten
    cdef int64_t[::1] _old_pulls            # when the arm's present stage began
    cdef double[::1] _old_sums
    cdef double[::1] _fresh_means

    def __init__(self, Py_ssize_t n_arms, double horizon, double sigma):
        self.horizon, self.sigma = horizon, sigma
        self.length = log(horizon) ** 2
        self.initial_pulls = <int64_t>max(ceil(sqrt(log(horizon))), 1.0)
        self.concludes = True
        self._old_pulls = np.zeros(n_arms, dtype=np.int64)
        self._old_sums = np.zeros(n_arms)
        self._fresh_means = np.zeros(n_arms)

    cdef void restart(self) noexcept nogil:
        self._stage = 1

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        cdef Py_ssize_t arm
        if self._stage == 1:
            for arm in range(arms.n_arms):
                self._fresh_means[arm] = mean_of(arms, arm)
            self._favourite = argmax(&self._fresh_means[0], arms.n_arms, rng)
            self._forget(arms)
            self._stage = 2
        if self._stage == 2:
            if self._fresh(arms, self._favourite) < self.length:
                return self._favourite
            self._mean = self._fresh_mean(arms, self._favourite)
            self._arm, self._beaten = 0, False
            self._forget(arms)
            self._stage = 3
        if self._stage == 3:
            arm = self._challenger(arms)
            if arm >= 0:
                return arm
            if not self._beaten:
                return -1
            self._forget(arms)
            self._arm = 0
            self._stage = 4
        while self._arm < arms.n_arms and self._fresh(arms, self._arm) > self.length:
            self._fresh_means[self._arm] = self._fresh_mean(arms, self._arm)
            self._arm += 1
        if self._arm < arms.n_arms:
            return self._arm
        self._favourite = argmax(&self._fresh_means[0], arms.n_arms, rng)
        return -1

    cdef Py_ssize_t _challenger(self, const Arms* arms) noexcept nogil:
        """The arm to pull in stage III; -1 when the stage is over, and whether 1' was beaten."""
        cdef double fresh, mean
        while self._arm < arms.n_arms:
            if self._arm != self._favourite:
                fresh = self._fresh(arms, self._arm)
                if fresh == 0.0:
                    return self._arm
                if fresh > self.length:
                    self._beaten = True
                    return -1
                mean = self._fresh_mean(arms, self._arm)
                if fabs(self._mean - mean) < detc_radius(self.horizon, fresh, self.sigma):
                    return self._arm
                self._beaten = self._beaten or mean > self._mean
            self._arm += 1
        return -1

    cdef void _forget(self, const Arms* arms) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(arms.n_arms):
            self._old_pulls[arm], self._old_sums[arm] = arms.pulls[arm], arms.sums[arm]

    cdef double _fresh(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return <double>(arms.pulls[arm] - self._old_pulls[arm])

    cdef double _fresh_mean(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return (arms.sums[arm] - self._old_sums[arm]) / self._fresh(arms, arm)

    cdef Py_ssize_t recommend(self, const Arms* arms, Rng* rng) noexcept nogil:
        return self._favourite

    def memory(self):
        return {
            "stage": self._stage,
            "favourite": self._favourite,
            "arm": self._arm,
            "mean": self._mean,
            "beaten": int(self._beaten),
            "old_pulls": np.asarray(self._old_pulls).tolist(),
            "old_sums": np.asarray(self._old_sums).tolist(),
            "fresh_means": np.asarray(self._fresh_means).tolist(),
        }

    def remember(self, memory, pulls):
        expect_fields(memory, DoubleExploreK.memory(self))
        cdef Py_ssize_t n_arms = self._old_pulls.shape[0], arm
        stage = checks.whole("stage", memory["stage"], 1, 4)
        favourite = checks.whole("favourite", memory["favourite"], 0, n_arms - 1)
        # Stages III and IV are over when every arm has had its turn.
        turn = checks.whole("arm", memory["arm"], 0, n_arms)
        mean = checks.real("mean", memory["mean"])
        beaten = checks.whole("beaten", memory["beaten"], 0, 1)
        for name in ("old_pulls", "old_sums", "fresh_means"):
            if len(memory[name]) != n_arms:
                raise ValueError(f"{name} must have {n_arms} entries, got {len(memory[name])}")
        for arm in range(n_arms):
            self._old_pulls[arm] = checks.whole("old_pulls", memory["old_pulls"][arm], 0, pulls[arm])
            self._old_sums[arm] = checks.real("old_sums", memory["old_sums"][arm])
            self._fresh_means[arm] = checks.real("fresh_means", memory["fresh_means"][arm])
        self._stage, self._favourite, self._arm = stage, favourite, turn
        self._mean, self._beaten = mean, beaten
