"""The step engine: runs of a policy on a bandit, every round of them played.

Rewards come from a tape: each arm has a buffer of rewards drawn ahead, so that drawing and
deciding are two tight loops instead of two calls a round. A buffer is filled with as many
rewards as the arm has pulls, at most `TAPE`; what a run does not use is thrown away with it.
"""

from libc.math cimport INFINITY, fabs, fmax, fmin

import numpy as np

from robai._core.clock cimport monotonic_ns
from robai._core.families cimport Gaussian
from robai._core.levels cimport least_level
from robai._core.protocols cimport add_square, add_up_squares, count_pulls
from robai._core.rng cimport seed_apart

TAPE_LENGTH = TAPE


cdef bint late(Batch batch, int64_t work) noexcept nogil:
    batch._work += work
    if batch._work < LOOK:
        return False
    batch._work = 0
    return monotonic_ns() >= batch._deadline


cdef double largest_origin(Sampler rewards):
    """How far from 0 the best mean may be for rewards to be counted from 0, else from there.

    For Gaussian rewards it makes no difference to any rule, and in sums of rewards far from 0 rounding
    would outgrow the noise.
    """
    cdef double least = INFINITY
    cdef Py_ssize_t arm
    if isinstance(rewards, Gaussian):
        for arm in range((<Gaussian>rewards).sigma.shape[0]):
            least = min(least, (<Gaussian>rewards).sigma[arm])
    return 1e5 * least


cdef class Batch:
    """Some runs of one simulation: `advance` plays them, in pieces of bounded time.

    Parameters
    ----------
    explore, stop, commit
        The rules of the policy; used by no other batch.
    initial_pulls
        How often every arm is pulled before the rules are asked.
    rewards, means
        The bandit; the means of its arms, or runs x arms if every run has its own.
    times
        Rounds at which regret is recorded, increasing, the last one being the horizon.
    states
        The generator's state for each run.
    common
        Whether every arm has a generator of its own, seeded by that state: the k-th reward of an arm is then
        the same for all rules. Else rewards come from the run's generator, which the rules draw from as well.
    """

    def __init__(self, Exploration explore not None, Stopping stop not None, Commitment commit not None,
                 int64_t initial_pulls, Sampler rewards not None, means, times, states,
                 bint common=False):
        cdef bint squares = max(explore.moments, stop.moments, commit.moments) > 1
        self._explore, self._stop, self._commit, self._rewards = explore, stop, commit, rewards
        self._optimism = explore if isinstance(explore, Optimism) and not squares else None
        means = np.array(means, dtype=np.float64, ndmin=2)
        self._all_means, self._all_gaps = means, np.empty_like(means)
        self._set_gaps(INFINITY if explore.absolute or stop.absolute else largest_origin(rewards))
        self._times = np.array(times, dtype=np.int64)
        self._states = np.array(states, dtype=np.uint64)
        cdef Py_ssize_t n_arms = self._all_means.shape[1], runs = self._states.shape[0]
        if self._all_means.shape[0] not in (1, runs):
            raise ValueError(f"means must have a row, or one for each of {runs} runs, got {len(means)}")
        self._initial_rounds = initial_pulls * n_arms

        self.regret = np.zeros((runs, self._times.shape[0]))
        self.commit_time = np.full(runs, -1, dtype=np.int64)
        self.committed_arm = np.full(runs, -1, dtype=np.int64)
        self.pulls = np.zeros((runs, n_arms), dtype=np.int64)
        self._regret, self._pulls = self.regret, self.pulls
        self._commit_time, self._committed_arm = self.commit_time, self.committed_arm

        self._sums = np.zeros(n_arms)
        self._tape = np.empty((n_arms, TAPE))
        self._next = np.zeros(n_arms, dtype=np.intp)
        self._filled = np.zeros(n_arms, dtype=np.intp)
        self._common = common
        if common:
            self._streams = np.zeros((n_arms, 4), dtype=np.uint64)
        self._arms.n_arms = n_arms
        self._arms.horizon = self._times[self._times.shape[0] - 1]
        self._arms.sums = &self._sums[0]
        if squares:
            self._squares = np.zeros(n_arms)
            self._arms.squares = &self._squares[0]

    cdef void _set_gaps(self, double largest_origin) noexcept nogil:
        cdef Py_ssize_t row, arm
        cdef double best, origin
        for row in range(self._all_means.shape[0]):
            best = -INFINITY
            for arm in range(self._all_means.shape[1]):
                best = max(best, self._all_means[row, arm])
            origin = best if fabs(best) > largest_origin else 0.0
            for arm in range(self._all_means.shape[1]):
                self._all_gaps[row, arm] = best - self._all_means[row, arm]
                self._all_means[row, arm] -= origin

    @property
    def finished(self):
        """How many runs have been played to their end."""
        return self._run

    def drop_the_rest(self):
        """Leave out the runs that have not begun; how many are left."""
        self._states = self._states[:self._run + self._begun]
        return self._states.shape[0]

    def advance(self, double budget):
        """Play for about `budget` nanoseconds, one decision at least; whether there is more to play.

        Where a piece ends makes no difference to what is played.
        """
        with nogil:
            self._deadline = monotonic_ns() + <int64_t>fmin(fmax(budget, 0.0), 1e18)
            self._work = LOOK
            while self._run < self._states.shape[0]:
                if not self._begun:
                    self._begin()
                if not self._play():
                    break
                self._run += 1
                self._begun = False
                if late(self, self._arms.n_arms):
                    break
        if self._rewards.error is not None:
            raise self._rewards.error
        return self._run < self._states.shape[0]

    cdef void _begin(self) noexcept nogil:
        cdef Py_ssize_t i, row = self._run if self._all_means.shape[0] > 1 else 0
        self._means, self._gaps = &self._all_means[row, 0], &self._all_gaps[row, 0]
        for i in range(4):
            self._rng.s[i] = self._states[self._run, i]
        for i in range(self._arms.n_arms):
            self._sums[i] = 0.0
            if self._arms.squares != NULL:
                self._squares[i] = 0.0
            self._next[i] = self._filled[i] = 0
        if self._common:
            seed_apart(&self._rng, <Rng*>&self._streams[0, 0], self._arms.n_arms)
        self._arms.t = 0
        self._arms.all_squares = 0.0
        self._arms.most = 0
        self._arms.pulls = &self._pulls[self._run, 0]
        self._explore.restart()
        self._recorded = 0
        self._staying = False
        self._begun = True

    cdef bint _play(self) noexcept nogil:
        """Go on with the run; whether it is finished."""
        cdef Py_ssize_t arm
        cdef bint explored
        while self._arms.t < min(self._initial_rounds, self._arms.horizon):
            self._pull(<Py_ssize_t>(self._arms.t % self._arms.n_arms))
            if late(self, 1):
                return False
        explored = self._by_round() if self._optimism is None else self._by_index(self._optimism)
        if not explored:
            return False
        if self._arms.t < self._arms.horizon or self._ends_at_the_horizon():
            # Nothing is decided after the commitment: all that is left is added at once.
            arm = self._commit.choose(&self._arms, &self._rng)
            self._commit_time[self._run] = self._arms.t
            self._committed_arm[self._run] = arm
            self._count(arm, self._arms.horizon - self._arms.t)
        return True

    cdef bint _ends_at_the_horizon(self) noexcept nogil:
        """Does exploration end with the last round: is there a commitment, and nothing left to play?"""
        if self._arms.t < self._initial_rounds:
            return False
        if self._arms.squares != NULL:
            add_up_squares(&self._arms)
        return (self._stop.fires(&self._arms)
                or (self._explore.concludes and self._explore.select(&self._arms, &self._rng) < 0))

    cdef bint _by_round(self) noexcept nogil:
        """Ask the exploration before every pull; whether exploration is over."""
        cdef Py_ssize_t arm
        while self._arms.t < self._arms.horizon:
            if self._arms.squares != NULL:
                add_up_squares(&self._arms)
            if not self._explore.midway and self._stop.fires(&self._arms):
                return True
            while self._explore.prepares and not self._explore.prepare(&self._arms):
                if late(self, LOOK):
                    return False
            arm = self._explore.select(&self._arms, &self._rng)
            if arm < 0:
                return True
            self._pull(arm)
            # The rules may have looked at all arms.
            if late(self, LOOK if self._explore.slow else self._arms.n_arms):
                return False
        return True

    cdef bint _by_index(self, Optimism explore) noexcept nogil:
        """Pull the leader while its index stays above all others: the same arms, less work."""
        while self._arms.t < self._arms.horizon:
            if self._stop.fires(&self._arms):
                return True
            if not self._staying or self._arms.t == explore.until:
                explore.decide(&self._arms, &self._rng)
            if self._stop.foresees:
                self._foreseen(explore)
            else:
                self._streak(
                    explore, min(explore.until - self._arms.t, self._stop.quiet(&self._arms, explore.leader)))
            if late(self, self._arms.n_arms):
                return False
        return True

    cdef void _foreseen(self, Optimism explore) noexcept nogil:
        """A streak of rewards that lie ready, up to where the stopping rule is to be asked."""
        cdef Py_ssize_t arm = explore.leader, count = <Py_ssize_t>min(
            <int64_t>self._on_tape(arm), explore.until - self._arms.t), played, asked, i
        cdef const double* rewards = self._numbers(arm) + self._next[arm]
        cdef double n = <double>self._arms.pulls[arm], total = self._sums[arm]
        cdef double level = least_level(explore.bounds.level, n, <double>(self._arms.t + 1), <double>count)
        played = explore.bounds.streak(arm, &n, &total, rewards, count, level, explore.bar)
        asked = self._stop.foreseen(&self._arms, arm, rewards, played)
        self._staying = asked < played or explore.bounds.above(arm, n, total, level, explore.bar)
        for i in range(asked):
            self._sums[arm] += rewards[i]
        self._next[arm] += asked
        self._work += asked
        self._count(arm, asked)

    cdef void _streak(self, Optimism explore, int64_t limit) noexcept nogil:
        # In two steps: it adds to the work itself.
        cdef int64_t most = TAPE if self._rewards.slow else LOOK
        most = self._steps(explore, min(limit, most))
        self._work += most

    cdef int64_t _steps(self, Optimism explore, int64_t limit) noexcept nogil:
        cdef Py_ssize_t arm = explore.leader, count, played
        cdef int64_t left = limit
        cdef double n, level
        self._staying = True
        while self._staying and left > 0:
            n = <double>self._arms.pulls[arm]
            count = min(self._on_tape(arm), <Py_ssize_t>left)
            level = least_level(explore.bounds.level, n, <double>(self._arms.t + 1), <double>count)
            played = explore.bounds.streak(arm, &n, &self._sums[arm], &self._tape[arm, self._next[arm]],
                                           count, level, explore.bar)
            self._staying = explore.bounds.above(arm, n, self._sums[arm], level, explore.bar)
            self._next[arm] += played
            self._count(arm, played)
            left -= played
        return limit - left

    cdef void _pull(self, Py_ssize_t arm) noexcept nogil:
        self._on_tape(arm)
        if self._arms.squares != NULL:
            add_square(&self._arms, arm, self._tape[arm, self._next[arm]])
        self._sums[arm] += self._tape[arm, self._next[arm]]
        self._next[arm] += 1
        self._count(arm, 1)

    cdef double* _numbers(self, Py_ssize_t arm) noexcept nogil:
        return &self._tape[arm, 0]

    cdef Py_ssize_t _on_tape(self, Py_ssize_t arm) noexcept nogil:
        """The number of rewards that lie ready for an arm, at least one."""
        if self._next[arm] == self._filled[arm]:
            self._fill(arm)
        return self._filled[arm] - self._next[arm]

    cdef Rng* _rewind(self, Py_ssize_t arm) noexcept nogil:
        self._filled[arm] = <Py_ssize_t>min(max(self._arms.pulls[arm], <int64_t>1), <int64_t>TAPE)
        self._next[arm] = 0
        return <Rng*>&self._streams[arm, 0] if self._common else &self._rng

    cdef void _fill(self, Py_ssize_t arm) noexcept nogil:
        cdef Rng* rng = self._rewind(arm)
        self._rewards.fill(arm, self._means[arm], &self._tape[arm, 0], self._filled[arm], rng)
        if self._rewards.slow:
            self._work += LOOK

    cdef void _count(self, Py_ssize_t arm, int64_t pulls) noexcept nogil:
        cdef int64_t end = self._arms.t + pulls
        if self._recorded < self._times.shape[0] and self._times[self._recorded] <= end:
            self._record(arm, end)
        self._arms.t = end
        count_pulls(&self._arms, arm, pulls)

    cdef void _record(self, Py_ssize_t arm, int64_t end) noexcept nogil:
        """The regret at the times until `end`, if only `arm` is pulled."""
        cdef int64_t time
        cdef double others = 0.0
        cdef Py_ssize_t i
        self._work += self._arms.n_arms
        for i in range(self._arms.n_arms):
            if i != arm:
                others += self._gaps[i] * <double>self._arms.pulls[i]
        while self._recorded < self._times.shape[0] and self._times[self._recorded] <= end:
            time = self._times[self._recorded]
            self._regret[self._run, self._recorded] = (
                others + self._gaps[arm] * <double>(self._arms.pulls[arm] + time - self._arms.t))
            self._recorded += 1


cdef enum:
    ABREAST = 4


cdef inline void add_some(const double* row, double* mean, double* squares, double weight,
                          int count) noexcept nogil:
    """Welford's step in a few columns, at once: only numbers of its own are known not to overlap."""
    cdef double[ABREAST] before
    cdef double[ABREAST] square
    cdef int j
    for j in range(count):
        before[j] = row[j] - mean[j]
    for j in range(count):
        mean[j] += before[j] * weight
    for j in range(count):
        square[j] = before[j] * (row[j] - mean[j])
    for j in range(count):
        squares[j] += square[j]


def accumulate(int64_t count, double[::1] mean not None, double[::1] squares not None,
               const double[:, ::1] rows not None):
    """Welford's mean and sum of squared deviations of each column, one row after the other.

    `count` rows have been added before; returns how many have been now. Row by row, so that the
    result does not depend on how the rows are cut into batches.
    """
    cdef Py_ssize_t i, j, columns = rows.shape[1], most = columns - columns % ABREAST
    cdef double weight
    with nogil:
        for i in range(rows.shape[0]):
            count += 1
            weight = 1.0 / <double>count
            for j in range(most // ABREAST):
                add_some(&rows[i, ABREAST * j], &mean[ABREAST * j], &squares[ABREAST * j], weight, ABREAST)
            for j in range(most, columns):
                add_some(&rows[i, j], &mean[j], &squares[j], weight, 1)
    return count
