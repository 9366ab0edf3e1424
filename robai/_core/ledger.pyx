"""The books of ledger.pxd."""

cimport cython
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs, floor, isfinite, log
from libc.stdint cimport int64_t

import numpy as np

from robai._core.protocols cimport Exploration, add_up_squares, count_pulls
from robai._core.tails cimport point_of

cdef int64_t MOST_PULLS = <int64_t>1 << 60


@cython.final
cdef class Rewards:
    """From `low` to `high`, which may be infinite; integers only if `whole`."""

    def __init__(self, double low, double high, bint whole):
        self.low, self.high, self.whole = max(low, -DBL_MAX), min(high, DBL_MAX), whole

    cpdef bint possible(self, double count, double total) noexcept nogil:
        # Sums are rounded: of rewards at an end of the range they may be a little beyond.
        cdef double slack = 0.0 if self.whole else 2.3e-16 * count * count
        cdef double least = count * self.low - slack * fabs(self.low)
        cdef double most = count * self.high + slack * fabs(self.high)
        if not isfinite(total) or not least <= total <= most:
            return False
        # Beyond 2^53 every double is an integer.
        return not self.whole or not -9e15 < total < 9e15 or total == <double><int64_t>total

    cpdef bint possible_squares(self, double count, double total, double squares) noexcept nogil:
        # Largest if rewards are at the ends of the range, least if they are equal or neighbouring integers.
        cdef double least = 0.0, above, mean, slack
        if count < 2.0:
            return squares == 0.0
        mean = total / count
        slack = 2.3e-16 * (count + 4.0) * (squares + total * mean)      # of squared rewards that were summed
        if self.whole:
            above = total - count * floor(mean)
            least = above * (count - above) / count
        if not least - slack <= squares < INFINITY or squares < 0.0:
            return False
        if self.low == -DBL_MAX or self.high == DBL_MAX:
            return True
        return squares <= max(total - count * self.low, 0.0) * max(self.high - mean, 0.0) + slack

    cdef double number(self, name, value) except? -1.0:
        try:
            return value
        except TypeError:
            raise TypeError(f"{name} must be a number, got {value!r}") from None
        except OverflowError:
            raise ValueError(f"{name} must be {self}, got more than a double can hold") from None

    def __str__(self):
        kind = "an integer" if self.whole else "a finite number"
        if self.low == -DBL_MAX:
            return kind
        if self.high == DBL_MAX:
            return f"{kind}, at least {self.low:g}"
        return f"{kind} from {self.low:g} to {self.high:g}"


@cython.final
cdef class Ledger:
    """The counts of `n_arms` arms, for an exploration; every arm has its initial pulls first."""

    def __cinit__(self, Py_ssize_t n_arms, int64_t horizon, Exploration exploration not None,
                  int64_t initial_pulls, bint keeps_squares, sigma=None):
        if n_arms < 1:
            raise ValueError(f"n_arms must be at least 1, got {n_arms}")
        self._plain = exploration.concludes or exploration.discerns
        self._initial_pulls, self.keeps_squares = initial_pulls, keeps_squares
        self.pulls = np.zeros(n_arms, dtype=np.int64)
        self.sums = np.zeros(n_arms)
        self.pending = np.zeros(n_arms, dtype=np.int64)
        self._scratch_pulls = np.zeros(n_arms, dtype=np.int64)
        self._scratch_sums = np.zeros(n_arms)
        self.squares, self._scratch_squares = np.zeros(n_arms), np.zeros(n_arms)
        self._shown_squares = self.squares if self._plain else np.zeros(n_arms)
        self.alarms, self._scratch_alarms = np.zeros(n_arms, dtype=np.int8), np.zeros(n_arms, dtype=np.int8)
        self.assumes = sigma is not None
        self.sigma = np.array(sigma if self.assumes else [], dtype=np.float64)
        if self._plain:
            self._shown_pulls, self._shown_sums = self.pulls, self.sums
        else:
            self._shown_pulls, self._shown_sums = np.zeros(n_arms, dtype=np.int64), np.zeros(n_arms)
        self.answered.n_arms = self.shown.n_arms = n_arms
        self.answered.horizon = self.shown.horizon = horizon
        self.answered.pulls, self.answered.sums = &self.pulls[0], &self.sums[0]
        self.shown.pulls, self.shown.sums = &self._shown_pulls[0], &self._shown_sums[0]
        self.answered.squares, self.shown.squares = &self.squares[0], &self._shown_squares[0]
        if exploration.discerns:
            self.shown.pending = &self.pending[0]
        self.restart()

    cdef void restart(self) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(self.answered.n_arms):
            self.pulls[arm] = self.pending[arm] = self._shown_pulls[arm] = 0
            self.sums[arm] = self.squares[arm] = self._shown_sums[arm] = self._shown_squares[arm] = 0.0
            self.alarms[arm] = False
        self.answered.t = self.shown.t = self._least = 0
        self.answered.most = self.shown.most = self._searched = 0
        self.beginners = self.answered.n_arms if self._initial_pulls > 0 else 0
        self.leader = -1
        self.stale = True

    cdef int restore(self, pulls, sums, squares, pending, alarms) except -1:
        cdef Py_ssize_t arm, n_arms = self.answered.n_arms
        if not len(pulls) == len(sums) == len(squares) == len(pending) == n_arms:
            raise ValueError(f"there must be {n_arms} pulls, sums, squares and pending pulls")
        for arm in range(n_arms):
            self.count(arm, pulls[arm], sums[arm], squares[arm])
            self.hand_out(arm, pending[arm])
            self.alarms[arm] = arm in alarms
        return 0

    cdef void hand_out(self, Py_ssize_t arm, int64_t count) noexcept nogil:
        self.pending[arm] += count
        self.shown.t += count
        self._show(arm)

    cdef void drop(self, Py_ssize_t arm, int64_t count) noexcept nogil:
        cdef int64_t left
        cdef Py_ssize_t other
        self.pending[arm] -= count
        self.shown.t -= count
        left = self.pulls[arm] + self.pending[arm]
        if left < self._least or (left == self._least and arm < self._searched):
            self._least, self._searched = left, arm
        self._show(arm)
        if arm == self.shown.most:          # it may have fewer now than another
            for other in range(self.shown.n_arms):
                if self._shown_pulls[other] > self._shown_pulls[self.shown.most]:
                    self.shown.most = other
        self.stale = True                   # rounds have gone back, and levels with them

    cdef double squares_with(self, Py_ssize_t arm, double count, double total, double squares) noexcept nogil:
        cdef double n = <double>self.pulls[arm], apart
        if not self.keeps_squares or count == 0.0:
            return self.squares[arm]
        if n == 0.0:
            return squares
        apart = total / count - self.sums[arm] / n
        return self.squares[arm] + squares + apart * apart * (n / (n + count)) * count

    cdef bint contradict(self, Py_ssize_t arm, int64_t n, double squares) noexcept nogil:
        # At n = 4, 8, 16, ...: squares of normal rewards are chi-square with n - 1 degrees of freedom.
        # The k-th look is at level 1 / (100 K k (k + 1)): all of them, of all arms, add up to 0.01.
        cdef double at = 4.0, k = 1.0
        if not self.assumes or n < 3:
            return False
        while at < <double>n:               # the next look; squares do not fall on the way there
            at *= 2.0
            k += 1.0
        k = log(100.0 * <double>self.answered.n_arms * k * (k + 1.0))
        return squares > 2.0 * self.sigma[arm] * self.sigma[arm] * point_of(0.5 * (at - 1.0), INFINITY, k).s

    cdef void add_squares_up(self) noexcept nogil:
        add_up_squares(&self.answered)
        add_up_squares(&self.shown)

    cdef void count(self, Py_ssize_t arm, int64_t count, double new_sum, double new_squares) noexcept nogil:
        cdef int64_t answered = min(count, self.pending[arm]), before = self.pulls[arm]
        self.sums[arm], self.squares[arm] = new_sum, new_squares
        count_pulls(&self.answered, arm, count)
        if count > 1 or before & (before + 1) == 0:
            self.alarms[arm] |= self.contradict(arm, self.pulls[arm], new_squares)
        self.pending[arm] -= answered
        self.answered.t += count
        self.shown.t += count - answered
        if before < self._initial_pulls <= before + count:
            self.beginners -= 1
        self._show(arm)

    cdef void _show(self, Py_ssize_t arm) noexcept nogil:
        """Let the exploration see an arm whose counts have changed."""
        cdef int64_t n = self.pulls[arm], seen = n
        if not self._plain:
            if n > 0:
                seen += self.pending[arm]
            self._shown_sums[arm] = self.sums[arm] if seen == n else self.sums[arm] / <double>n * <double>seen
            if self.keeps_squares:
                self._shown_squares[arm] = (
                    self.squares[arm] if seen == n else self.squares[arm] / <double>n * <double>seen)
        count_pulls(&self.shown, arm, seen - self._shown_pulls[arm])
        if arm != self.leader:
            self.stale = True

    cdef Py_ssize_t fewest(self) noexcept nogil:
        # Pulls grow, so the search goes on where it has been, or where some were dropped.
        cdef Py_ssize_t arm, n_arms = self.answered.n_arms
        while True:
            while self._searched < n_arms:
                if self.pulls[self._searched] + self.pending[self._searched] == self._least:
                    return self._searched
                self._searched += 1
            self._searched, self._least = 0, self.pulls[0] + self.pending[0]
            for arm in range(1, n_arms):
                self._least = min(self._least, self.pulls[arm] + self.pending[arm])

    cdef bint dealt(self) noexcept nogil:
        cdef Py_ssize_t arm = self.fewest()
        return self.pulls[arm] + self.pending[arm] >= self._initial_pulls

    cdef void begin_sums(self) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(self.answered.n_arms):
            self._scratch_pulls[arm], self._scratch_sums[arm] = 0, self.sums[arm]
            self._scratch_squares[arm], self._scratch_alarms[arm] = self.squares[arm], self.alarms[arm]

    cdef Py_ssize_t sum_up(self, const int64_t[::1] arms, const double[::1] rewards, Py_ssize_t start,
                           Py_ssize_t end, Rewards valid) noexcept nogil:
        # Local copies: the compiler cannot know that the stores do not change the originals.
        cdef Py_ssize_t i, arm, n_arms = self.answered.n_arms
        cdef int64_t* pulls = &self._scratch_pulls[0]
        cdef double* sums = &self._scratch_sums[0]
        cdef double* squares = &self._scratch_squares[0]
        cdef double low = valid.low, high = valid.high, reward, n, deviation
        cdef int64_t before
        cdef bint whole = valid.whole, keeps = self.keeps_squares
        for i in range(start, end):
            arm, reward = arms[i], rewards[i]
            if <size_t>arm >= <size_t>n_arms or not low <= reward <= high:
                return i
            if whole and reward != <double><int64_t>reward:     # the bounds of counts fit an int64
                return i
            if keeps:
                before = self.pulls[arm] + pulls[arm]
                n = <double>before
                if before > 0:
                    deviation = reward - sums[arm] / n
                    squares[arm] += deviation * deviation * (n / (n + 1.0))
                    if before & (before + 1) == 0:
                        self._scratch_alarms[arm] |= self.contradict(arm, before + 1, squares[arm])
            pulls[arm] += 1
            sums[arm] += reward
        return -1

    cdef bint sums_are_finite(self, bint squares_too) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(self.answered.n_arms):
            if not (isfinite(self._scratch_sums[arm])
                    and (isfinite(self._scratch_squares[arm]) or not squares_too)):
                return False
        return True

    cdef void count_sums(self) noexcept nogil:
        cdef Py_ssize_t arm
        for arm in range(self.answered.n_arms):
            if self._scratch_pulls[arm] > 0:
                self.count(arm, self._scratch_pulls[arm], self._scratch_sums[arm], self._scratch_squares[arm])
                self.alarms[arm] = self._scratch_alarms[arm]

    cdef tuple lists(self):
        return (np.asarray(self.pulls).tolist(), np.asarray(self.sums).tolist(),
                np.asarray(self.squares).tolist() if self.keeps_squares else None,
                np.asarray(self.pending).tolist(), np.flatnonzero(self.alarms).tolist())

    cdef tuple snapshot(self):
        return np.array(self.pending), self.shown.t, self.shown.most

    cdef int go_back(self, tuple snapshot) except -1:
        cdef Py_ssize_t arm
        cdef const int64_t[::1] pending = snapshot[0]
        self.pending[:] = pending
        for arm in range(self.answered.n_arms):
            self._show(arm)
        _, self.shown.t, self.shown.most = snapshot
        self._least = self._searched = 0
        self.stale = True
        return 0
