"""The step engine: runs of a policy on a bandit, every round of them played.

Rewards come from a tape: each arm has a buffer of rewards drawn ahead, so that drawing and
deciding are two tight loops instead of two calls a round. A buffer is filled with as many
rewards as the arm has pulls, at most `TAPE`; what a run does not use is thrown away with it.
"""

from libc.stdint cimport int64_t, uint64_t

import numpy as np

from robai._core.bounds cimport least_level
from robai._core.families cimport Family
from robai._core.optimism cimport Optimism
from robai._core.policies cimport Arms, Commitment, Exploration, Stopping
from robai._core.rng cimport Rng

cdef enum:
    TAPE = 64

cdef enum Outcome:
    REACHED                         # the round asked for
    STOPPED                         # exploration is over
    PAUSED                          # the budget is used up

TAPE_LENGTH = TAPE


cdef class Batch:
    """Some runs of one simulation: `advance` plays them, in pieces of bounded time.

    Parameters
    ----------
    explore, stop, commit
        The rules of the policy; used by no other batch.
    initial_pulls
        How often every arm is pulled before the rules are asked.
    family, means
        The bandit.
    times
        Rounds at which regret is recorded, increasing, the last one being the horizon.
    states
        The generator's state for each run.
    """
    cdef readonly object regret             # runs x times
    cdef readonly object commit_time
    cdef readonly object committed_arm
    cdef readonly object pulls              # runs x arms

    cdef Exploration _explore
    cdef Optimism _optimism                 # the same object, or None if it does not work by an index
    cdef Stopping _stop
    cdef Commitment _commit
    cdef Family _family
    cdef int64_t _initial_rounds
    cdef double[::1] _means
    cdef double[::1] _gaps
    cdef int64_t[::1] _times
    cdef uint64_t[:, ::1] _states
    cdef double[:, ::1] _regret
    cdef int64_t[::1] _commit_time
    cdef int64_t[::1] _committed_arm
    cdef int64_t[:, ::1] _pulls

    # The run being played.
    cdef Py_ssize_t _run
    cdef Py_ssize_t _recorded               # how many of the times
    cdef bint _begun
    cdef bint _staying                      # is the leader's streak going on
    cdef Arms _arms
    cdef Rng _rng
    cdef double[::1] _sums
    cdef double[:, ::1] _tape
    cdef Py_ssize_t[::1] _next              # position on the tape of each arm
    cdef Py_ssize_t[::1] _filled

    def __init__(self, Exploration explore not None, Stopping stop not None, Commitment commit not None,
                 int64_t initial_pulls, Family family not None, means, times, states):
        self._explore, self._stop, self._commit, self._family = explore, stop, commit, family
        self._optimism = explore if isinstance(explore, Optimism) else None
        self._means = np.array(means, dtype=np.float64)
        self._gaps = np.max(means) - np.asarray(self._means)
        self._times = np.array(times, dtype=np.int64)
        self._states = np.array(states, dtype=np.uint64)
        cdef Py_ssize_t n_arms = self._means.shape[0], runs = self._states.shape[0]
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
        self._arms.n_arms = n_arms
        self._arms.horizon = self._times[self._times.shape[0] - 1]
        self._arms.sums = &self._sums[0]

    def advance(self, double budget):
        """Play for about `budget` nanoseconds; whether there is more to play."""
        with nogil:
            while self._run < self._states.shape[0] and budget > 0.0:
                if not self._begun:
                    self._begin()
                if self._play(&budget):
                    self._run += 1
                    self._begun = False
        return self._run < self._states.shape[0]

    cdef void _begin(self) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(4):
            self._rng.s[arm] = self._states[self._run, arm]
        for arm in range(self._arms.n_arms):
            self._sums[arm] = 0.0
            self._next[arm] = self._filled[arm] = 0
        self._arms.t = 0
        self._arms.most = 0
        self._arms.pulls = &self._pulls[self._run, 0]
        self._explore.restart()
        self._recorded = 0
        self._staying = False
        self._begun = True

    cdef bint _play(self, double* budget) noexcept nogil:
        """Go on with the run; whether it is finished."""
        cdef Outcome outcome
        while self._recorded < self._times.shape[0]:
            outcome = self._play_until(self._times[self._recorded], budget)
            if outcome == PAUSED:
                return False
            if outcome == STOPPED:
                self._commit_now()
            else:
                self._regret[self._run, self._recorded] = self._regret_so_far()
                self._recorded += 1
        return True

    cdef Outcome _play_until(self, int64_t until, double* budget) noexcept nogil:
        while self._arms.t < min(until, self._initial_rounds):
            self._pull(<Py_ssize_t>(self._arms.t % self._arms.n_arms))
            budget[0] -= 20.0
        if self._optimism is not None:
            return self._by_index(self._optimism, until, budget)
        return self._by_round(until, budget)

    cdef Outcome _by_round(self, int64_t until, double* budget) noexcept nogil:
        """Ask the exploration before every pull."""
        cdef Py_ssize_t arm
        while self._arms.t < until:
            if budget[0] <= 0.0:
                return PAUSED
            if self._stop.fires(&self._arms):
                return STOPPED
            arm = self._explore.select(&self._arms, &self._rng)
            if arm < 0:
                return STOPPED
            self._pull(arm)
            budget[0] -= self._explore.cost
        return REACHED

    cdef Outcome _by_index(self, Optimism explore, int64_t until, double* budget) noexcept nogil:
        """Pull the leader while its index stays above all others: the same arms, less work."""
        cdef int64_t start
        while self._arms.t < until:
            if budget[0] <= 0.0:
                return PAUSED
            if self._stop.fires(&self._arms):
                return STOPPED
            if not self._staying or self._arms.t == explore.until:
                explore.decide(&self._arms, &self._rng)
            start = self._arms.t
            self._streak(explore, min(min(until, explore.until) - start,
                                      self._stop.quiet(&self._arms, explore.leader)))
            budget[0] -= explore.cost + 8.0 * <double>(self._arms.t - start)
        return REACHED

    cdef void _streak(self, Optimism explore, int64_t limit) noexcept nogil:
        """Pull the leader at most `limit` times, while its index stays surely above the bar."""
        cdef Py_ssize_t arm = explore.leader, count, played
        cdef int64_t before = self._arms.pulls[arm], most = min(limit, <int64_t>1 << 18)
        cdef double n = <double>before, level
        self._staying = True
        limit = most
        while self._staying and limit > 0:
            count = min(self._on_tape(arm, <int64_t>n), <Py_ssize_t>limit)
            level = least_level(explore.bounds.level, n, <double>(self._arms.t + 1), count)
            played = explore.bounds.streak(&n, &self._sums[arm], &self._tape[arm, self._next[arm]],
                                           count, level, explore.bar)
            self._staying = explore.bounds.side(n, self._sums[arm], level, explore.bar) > 0
            self._next[arm] += played
            limit -= played
        self._count(arm, most - limit)

    cdef void _pull(self, Py_ssize_t arm) noexcept nogil:
        self._on_tape(arm, self._arms.pulls[arm])
        self._sums[arm] += self._tape[arm, self._next[arm]]
        self._next[arm] += 1
        self._count(arm, 1)

    cdef void _count(self, Py_ssize_t arm, int64_t pulls) noexcept nogil:
        self._arms.t += pulls
        self._arms.pulls[arm] += pulls
        if self._arms.pulls[arm] > self._arms.pulls[self._arms.most]:
            self._arms.most = arm

    cdef Py_ssize_t _on_tape(self, Py_ssize_t arm, int64_t pulls) noexcept nogil:
        """The number of rewards that lie ready for an arm, at least one."""
        if self._next[arm] == self._filled[arm]:
            self._filled[arm] = <Py_ssize_t>min(max(pulls, <int64_t>1), <int64_t>TAPE)
            self._next[arm] = 0
            self._family.fill(arm, self._means[arm], &self._tape[arm, 0], self._filled[arm], &self._rng)
        return self._filled[arm] - self._next[arm]

    cdef void _commit_now(self) noexcept nogil:
        """Nothing is decided after the commitment: all that is left is added at once."""
        cdef Py_ssize_t arm = self._commit.choose(&self._arms, &self._rng)
        cdef double regret = self._regret_so_far()
        self._commit_time[self._run] = self._arms.t
        self._committed_arm[self._run] = arm
        while self._recorded < self._times.shape[0]:
            self._regret[self._run, self._recorded] = (
                regret + self._gaps[arm] * <double>(self._times[self._recorded] - self._arms.t))
            self._recorded += 1
        self._count(arm, self._arms.horizon - self._arms.t)

    cdef double _regret_so_far(self) noexcept nogil:
        cdef Py_ssize_t arm
        cdef double regret = 0.0
        for arm in range(self._arms.n_arms):
            regret += self._gaps[arm] * <double>self._arms.pulls[arm]
        return regret


def accumulate(int64_t count, double[::1] mean not None, double[::1] squares not None,
               const double[:, ::1] rows not None):
    """Welford's mean and sum of squared deviations of each column, one row after the other.

    `count` rows have been added before; returns how many have been now. Row by row, so that the
    result does not depend on how the rows are cut into batches.
    """
    cdef Py_ssize_t i, j
    cdef double weight, delta
    with nogil:
        for i in range(rows.shape[0]):
            count += 1
            weight = 1.0 / <double>count
            for j in range(rows.shape[1]):
                delta = rows[i, j] - mean[j]
                mean[j] += delta * weight
                squares[j] += delta * (rows[i, j] - mean[j])
    return count
