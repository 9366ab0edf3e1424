"""A live game: arms are handed out one by one or in batches, rewards come back in any order, later.

A pull that was handed out and has no reward yet is pending. What each rule is shown:

    stopping, commitment       the N answered pulls of each arm; t is the number of answers
    exploration                N + m pulls with the mean of the N, m of them pending: as if each
                               missing reward were the mean. t is the number of rounds, answered
                               and pending. So bounds shrink, and tracking moves on, while rewards
                               are under way, and a batch spreads over the arms.
    exploration that concludes the N answered pulls, with t the number of rounds: its turns go on
                               while rewards are under way, but no arm is dropped on their account

Until every arm has its initial pulls answered, the arm with the fewest pulls, answered or
pending, is handed out, the first one if there are several. (Where no initial pull is needed,
posterior sampling sees an arm without an answer as it is, with its prior.) With immediate
rewards nothing is pending when an arm is chosen, and the arms are those of the step engine.

The stopping rule is asked when an arm is chosen, never by an update.
"""

from reprlib import repr as brief

from libc.math cimport isfinite
from libc.stdint cimport int64_t

import numpy as np

from robai._checks import whole as whole_number

from robai._core.bounds cimport Bounds
from robai._core.lock cimport Lock
from robai._core.optimism cimport Optimism
from robai._core.policies cimport Arms, Commitment, Exploration, Stopping
from robai._core.rewards cimport Rewards
from robai._core.rng cimport Stream

cdef int64_t MOST_PULLS = <int64_t>1 << 60


class HorizonReached(RuntimeError):
    """All rounds of the experiment have been handed out and the policy has not committed."""


cdef class Player:
    """The state of one experiment; `robai.Agent` is made of it.

    Every method holds the lock, so that threads may share a player.

    Parameters
    ----------
    rules
        The compiled rules of a policy, `policies.Started`, used by no other player.
    labels
        The arms as the user names them, unique.
    horizon
        The number of rounds.
    rewards
        The valid ones.
    stream
        The generator.
    own
        A policy written in Python, which is asked instead of the rules and told every reward.
    """
    cdef readonly tuple labels
    cdef readonly int64_t horizon
    cdef readonly Stream stream
    cdef readonly object rules              # policies.Started
    cdef readonly Lock lock
    # Called with a record of every change, before it is acknowledged, if not None.
    cdef public object log
    # (arm, answers, pulls, sums) of the moment of the commitment, or None.
    cdef readonly object commitment

    cdef dict _numbers                      # of the arms, by label
    cdef bint _numbered                     # are the labels 0, 1, ..., K - 1
    cdef object _own                        # a policy written in Python (custom.Asked), or None
    cdef Exploration _exploration
    cdef Optimism _optimism                 # the same object, or None if it does not work by an index
    cdef Stopping _stop
    cdef Commitment _commit
    cdef int64_t _initial_pulls
    cdef Rewards _rewards

    cdef Arms _answered
    cdef Arms _shown                        # to the exploration
    cdef int64_t[::1] _pulls
    cdef double[::1] _sums
    cdef int64_t[::1] _pending
    cdef int64_t[::1] _shown_pulls
    cdef double[::1] _shown_sums
    cdef int64_t[::1] _scratch_pulls        # of a batch that may yet be refused
    cdef double[::1] _scratch_sums
    cdef Py_ssize_t _beginners              # arms that still miss answers to their initial pulls
    cdef Py_ssize_t _committed_arm          # or -1
    cdef bint _stale                        # has an arm but the leader changed since the last index

    def __init__(self, rules, tuple labels not None, int64_t horizon, Rewards rewards not None,
                 Stream stream not None, own=None):
        cdef Py_ssize_t n_arms = len(labels)
        self.rules, self._own = rules, own
        self._exploration, self._stop, self._commit, self._initial_pulls = rules
        self._optimism = self._exploration if isinstance(self._exploration, Optimism) else None
        self.labels, self.horizon, self.stream, self._rewards = labels, horizon, stream, rewards
        self._numbers = {label: number for number, label in enumerate(labels)}
        self._numbered = labels == tuple(range(n_arms))
        self.lock = Lock()

        self._pulls = np.zeros(n_arms, dtype=np.int64)
        self._sums = np.zeros(n_arms)
        self._pending = np.zeros(n_arms, dtype=np.int64)
        self._scratch_pulls = np.zeros(n_arms, dtype=np.int64)
        self._scratch_sums = np.zeros(n_arms)
        if self._exploration.concludes:
            self._shown_pulls, self._shown_sums = self._pulls, self._sums
        else:
            self._shown_pulls, self._shown_sums = np.zeros(n_arms, dtype=np.int64), np.zeros(n_arms)
        self._answered.n_arms = self._shown.n_arms = n_arms
        self._answered.horizon = self._shown.horizon = horizon
        self._answered.pulls, self._answered.sums = &self._pulls[0], &self._sums[0]
        self._shown.pulls, self._shown.sums = &self._shown_pulls[0], &self._shown_sums[0]
        self._beginners = n_arms if self._initial_pulls > 0 else 0
        self._committed_arm = -1
        self._stale = True
        self._exploration.restart()

    def restore(self, pulls, sums, pending, commitment):
        """Begin with these counts, which the caller has checked."""
        cdef Py_ssize_t arm
        for arm in range(self._answered.n_arms):
            self._count(arm, pulls[arm], sums[arm])
            self._pending[arm] = pending[arm]
            self._shown.t += self._pending[arm]
            self._show(arm)
        if commitment is not None:
            self.commitment = commitment
            self._committed_arm = commitment[0]

    # ---- handing out

    def select(self):
        """The arm for the next round.

        After the commitment it is always the committed arm, also beyond the horizon.

        Raises
        ------
        HorizonReached
            If all rounds have been handed out and the policy has not committed.
        """
        cdef Py_ssize_t arm
        self.lock.acquire()                 # `with` looks methods up, as slow as all the rest
        try:
            arm = self._choose()
            if self.log is not None:
                self.log(("select", arm))
            return self.labels[arm]
        finally:
            self.lock.release()

    def select_batch(self, n):
        """The arms for the next `n` rounds: those that `n` calls of `select` would give.

        An array if the arms are numbered, a list of labels if they have names. If fewer rounds
        are left than are asked for, nothing is handed out and a ValueError says how many are.
        """
        cdef Py_ssize_t i, count = whole_number("n", n, 1, MOST_PULLS)
        cdef int64_t[::1] view
        with self.lock:
            self._stop_if_due()
            left = self.horizon - self._shown.t
            if self._committed_arm < 0 and 0 < left < count:
                raise ValueError(f"n must be at most {left}, the rounds left before the horizon, got {n!r}")
            arms = np.empty(count, dtype=np.int64)
            view = arms
            for i in range(count):
                try:
                    view[i] = self._choose()
                except BaseException:           # of a policy in Python: what was handed out is recorded
                    if self.log is not None and i > 0:
                        self.log(("select_batch", arms[:i].tolist()))
                    raise
            if self.log is not None:
                self.log(("select_batch", arms.tolist()))
            return arms if self._numbered else [self.labels[view[i]] for i in range(count)]

    cdef Py_ssize_t _choose(self) except -1:
        """The arm of the next round, which is then pending."""
        cdef Py_ssize_t arm = -1
        self._stop_if_due()
        if self._committed_arm < 0:
            if self._shown.t >= self.horizon:
                raise HorizonReached(
                    f"all {self.horizon:,} rounds have been handed out and the policy has not committed")
            arm = self._fewest() if self._beginners else self._explore()
            if arm < 0:
                self._commit_to(self._commit.choose(&self._answered, &self.stream.rng))
        if self._committed_arm >= 0:
            arm = self._committed_arm
        self._pending[arm] += 1
        self._shown.t += 1
        self._show(arm)
        return arm

    cdef int _stop_if_due(self) except -1:
        # As in the engine, nothing is decided once the last reward has been answered.
        if (self._committed_arm < 0 and self._beginners == 0 and self._answered.t < self.horizon
                and self._stop.fires(&self._answered)):
            self._commit_to(self._commit.choose(&self._answered, &self.stream.rng))
        return 0

    cdef Py_ssize_t _explore(self) except -2:
        if self._own is not None:
            arm, commits = self._own.select(self)
            if commits:
                self._commit_to(arm)
            return arm
        if self._optimism is None:
            return self._exploration.select(&self._shown, &self.stream.rng)
        # While only the leader changes, one index is computed instead of all.
        if self._stale:
            self._optimism.restart()
            self._stale = False
        self._optimism.decide(&self._shown, &self.stream.rng)
        return self._optimism.leader

    cdef int _commit_to(self, Py_ssize_t arm) except -1:
        self._committed_arm = arm
        self.commitment = (arm, self._answered.t, np.asarray(self._pulls).tolist(),
                           np.asarray(self._sums).tolist())
        return 0

    cdef Py_ssize_t _fewest(self) noexcept:
        cdef Py_ssize_t arm, best = 0
        for arm in range(1, self._answered.n_arms):
            if self._pulls[arm] + self._pending[arm] < self._pulls[best] + self._pending[best]:
                best = arm
        return best

    cdef void _show(self, Py_ssize_t arm) noexcept nogil:
        """Let the exploration see an arm whose counts have changed."""
        cdef int64_t n = self._pulls[arm], waiting = self._pending[arm]
        if not self._exploration.concludes:
            if n == 0 or waiting == 0:
                self._shown_pulls[arm], self._shown_sums[arm] = n, self._sums[arm]
            else:
                self._shown_pulls[arm] = n + waiting
                self._shown_sums[arm] = self._sums[arm] / <double>n * <double>(n + waiting)
        if self._shown_pulls[arm] > self._shown_pulls[self._shown.most]:
            self._shown.most = arm
        if self._optimism is not None and arm != self._optimism.leader:
            self._stale = True

    # ---- answers

    def update(self, arm, reward):
        """Record the reward of a pull of `arm`.

        Answers may come in any order and at any time, and need no token: the number of pending
        pulls of the arm falls by one. With none pending the reward counts all the same, which is
        how data from elsewhere gives a warm start.

        Raises
        ------
        KeyError
            If there is no such arm.
        ValueError
            If it is not a possible reward. Nothing has changed then.
        """
        cdef Py_ssize_t number
        cdef double value = self._number_from("reward", reward)
        self.lock.acquire()
        try:
            number = self._number(arm)
            if not self._rewards.possible(1.0, value) or not isfinite(self._sums[number] + value):
                raise ValueError(f"reward must be {self._rewards}, got {reward!r}")
            if self.log is not None:
                self.log(("update", number, value))
            self._count(number, 1, self._sums[number] + value)
            if self._own is not None:
                self._own.update(number, value)
        finally:
            self.lock.release()

    def update_counts(self, arm, n, total):
        """Record `n` rewards of `arm` that sum to `total`."""
        cdef Py_ssize_t number
        cdef int64_t count = whole_number("n", n, 0, MOST_PULLS)
        cdef double value = self._number_from("total", total)
        if self._own is not None:
            raise TypeError("a policy written in Python is told every reward; use update or update_batch")
        with self.lock:
            number = self._number(arm)
            if count > MOST_PULLS - self._shown.t:
                raise ValueError(f"n must be at most {MOST_PULLS - self._shown.t:,}, got {n!r}")
            if not self._rewards.possible(<double>count, value) or not isfinite(self._sums[number] + value):
                raise ValueError(
                    f"total must be a sum of {count:,} rewards, each {self._rewards}, got {total!r}")
            if self.log is not None:
                self.log(("update_counts", number, count, value))
            self._count(number, count, self._sums[number] + value)

    def update_batch(self, arms, rewards):
        """Record many rewards, or none if one is invalid; fastest with arrays and numbered arms."""
        cdef Py_ssize_t bad, arm
        try:
            values = np.ascontiguousarray(rewards, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"rewards must each be {self._rewards}, got {brief(rewards)}") from None
        numbers = self._numbers_of(arms)
        if values.ndim != 1 or len(values) != len(numbers):
            raise ValueError(
                f"arms and rewards must be of the same length, got {len(numbers)} and shape {values.shape}")
        with self.lock:
            bad = self._sum_up(numbers, values)
            if bad >= 0 and not 0 <= numbers[bad] < self._answered.n_arms:
                raise KeyError(f"arms[{bad}] is {numbers[bad]!r}; the arms are 0 to {len(self.labels) - 1}")
            if bad >= 0:
                raise ValueError(f"rewards[{bad}] must be {self._rewards}, got {float(values[bad])!r}")
            if not np.isfinite(self._scratch_sums).all():
                raise ValueError("rewards must have a finite sum, got more than a double can hold")
            if self.log is not None:
                self.log(("update_batch", numbers.tolist(), values.tolist()))
            for arm in range(self._answered.n_arms):
                if self._scratch_pulls[arm] > 0:
                    self._count(arm, self._scratch_pulls[arm], self._scratch_sums[arm])
            if self._own is not None:
                for number, reward in zip(numbers.tolist(), values.tolist(), strict=True):
                    self._own.update(number, reward)

    cdef Py_ssize_t _number(self, arm) except -1:
        try:
            return self._numbers[arm]
        except (KeyError, TypeError):           # a TypeError if it cannot be a label at all
            raise KeyError(f"there is no arm {arm!r}; the arms are {brief(self.labels)}") from None

    cdef double _number_from(self, name, value) except? -1.0:
        try:
            return value
        except TypeError:
            raise TypeError(f"{name} must be a number, got {value!r}") from None

    cdef object _numbers_of(self, arms):
        """Arm numbers as an array; those of numbered arms are yet to be checked."""
        if self._numbered:
            numbers = np.asarray(arms)
            if numbers.ndim == 1 and numbers.dtype.kind in "iu":
                return np.ascontiguousarray(numbers, dtype=np.int64)
        if isinstance(arms, (str, bytes)):
            raise TypeError(f"arms must be a sequence of arms, got {arms!r}")
        return np.array([self._number(arm) for arm in arms], dtype=np.int64)

    cdef Py_ssize_t _sum_up(self, const int64_t[::1] arms, const double[::1] rewards) noexcept nogil:
        """The pulls of a batch and the sums after it into the scratch; the first bad entry, or -1."""
        # Local copies: the compiler cannot know that the stores do not change the originals.
        cdef Py_ssize_t i, arm, n_arms = self._answered.n_arms
        cdef int64_t* pulls = &self._scratch_pulls[0]
        cdef double* sums = &self._scratch_sums[0]
        cdef double low = self._rewards.low, high = self._rewards.high, reward
        cdef bint whole = self._rewards.whole
        for arm in range(n_arms):
            pulls[arm], sums[arm] = 0, self._sums[arm]
        for i in range(arms.shape[0]):
            arm, reward = arms[i], rewards[i]
            if <size_t>arm >= <size_t>n_arms or not low <= reward <= high:
                return i
            if whole and reward != <double><int64_t>reward:     # the bounds of counts fit an int64
                return i
            pulls[arm] += 1
            sums[arm] += reward
        return -1

    cdef void _count(self, Py_ssize_t arm, int64_t count, double new_sum) noexcept nogil:
        """`count` more answers of an arm, whose rewards then sum to `new_sum`."""
        cdef int64_t answered = min(count, self._pending[arm]), before = self._pulls[arm]
        self._sums[arm] = new_sum
        self._pulls[arm] += count
        self._pending[arm] -= answered
        self._answered.t += count
        self._shown.t += count - answered
        if before < self._initial_pulls <= before + count:
            self._beginners -= 1
        if self._pulls[arm] > self._pulls[self._answered.most]:
            self._answered.most = arm
        self._show(arm)

    # ---- looking

    @property
    def pulls(self):
        """Answered pulls of every arm."""
        with self.lock:
            return np.array(self._pulls)

    @property
    def sums(self):
        """The sum of the rewards of every arm."""
        with self.lock:
            return np.array(self._sums)

    @property
    def pending(self):
        """Pulls of every arm that were handed out and have no reward yet."""
        with self.lock:
            return np.array(self._pending)

    @property
    def rounds(self):
        """Rounds so far: answered and pending."""
        return self._shown.t


def bounds_of(Bounds bounds not None, double n, double total, double t):
    """The lower and the upper confidence bound of an arm with n pulls, at the decision of round t."""
    return bounds.lower(n, total, t), bounds.upper(n, total, t)
