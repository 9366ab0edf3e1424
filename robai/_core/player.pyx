"""A live game: arms are handed out one by one or in batches, rewards come back in any order, later.

`ledger.pxd` says what each rule is shown while rewards are under way, `dealer.pyx` what is made of it.

Changes are all or nothing. Compiled rules change an experiment without a look at Python, so nothing can
come in between; where Python takes part (a policy of the user's), and in long batches, an exception is
possible at any moment, Ctrl-C for one. Then `select` goes back to a snapshot that was taken before, and
nothing has been counted by `update`.
"""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport NAN, isfinite
from libc.stdint cimport int64_t

import numpy as np

from robai._base.checks import whole as whole_number
from robai._core.dealer cimport AT_HORIZON, Dealer
from robai._core.ledger cimport MOST_PULLS, Ledger, Rewards
from robai._core.lock cimport Lock
from robai._core.protocols cimport Exploration
from robai._core.rng cimport Stream

cdef enum:
    PIECE = 4096                            # arms to look at between two looks at Ctrl-C


class HorizonReached(RuntimeError):
    """All rounds of the experiment have been handed out and the policy has not committed."""


@cython.final
cdef class Player:
    """The state of one experiment, whose arms are numbers; `robai.Agent` holds one.

    Threads may share it: every method holds the lock.

    `rules` are those of a policy, `protocols.Started`, and used by no other player; `rewards` those that are
    valid. A policy written in Python, `own`, is asked instead of the rules and told every reward. `squares`
    of deviations are kept even if no rule needs them, and compared with `sigma`.
    """
    cdef readonly int64_t horizon
    cdef readonly Stream stream
    cdef readonly object rules              # protocols.Started
    cdef readonly Lock lock
    # (arm, answers, pulls, sums, squares) of the moment of the commitment, or None.
    cdef readonly object commitment

    cdef object _own                        # a policy written in Python (custom.Asked), or None
    cdef Rewards _rewards
    cdef Dealer _dealer
    cdef Exploration _exploration           # the dealer's own, as is the ledger
    cdef Ledger _ledger
    cdef bint _changing                     # is a call under way that changes the state
    cdef str _doubt                         # why nothing may be changed any more, or None

    def __cinit__(self, rules, Py_ssize_t n_arms, int64_t horizon, Rewards rewards not None,
                  Stream stream not None, own=None, bint squares=False, sigma=None):
        self.rules, self._own = rules, own
        self._dealer = Dealer(rules, n_arms, horizon, squares, sigma)
        self._exploration, self._ledger = self._dealer.explore, self._dealer.ledger
        self.horizon, self.stream, self._rewards, self.lock = horizon, stream, rewards, Lock()

    def restore(self, pulls, sums, squares, pending, alarms, commitment):
        """Begin with these counts, whose values the caller has checked."""
        if commitment is not None and not 0 <= commitment[0] < self._ledger.answered.n_arms:
            raise ValueError(f"there is no arm {commitment[0]} to be committed to")
        self._ledger.restore(pulls, sums, squares, pending, alarms)
        self._write_down(commitment)

    # ---- all or nothing

    cdef int _begin(self) except -1:
        """Take the lock for a change, or say why there can be none."""
        self.lock.acquire()
        if not self._changing and self._doubt is None:
            self._changing = True
            return 0
        if self._changing and self.lock.depth == 1:     # the thread that was changing it is gone
            self._doubt = "this process was forked in the middle of a change"
            self._changing = False
        try:
            self._refuse()
        finally:
            self.lock.release()

    cdef int _refuse(self) except -1:
        if self._changing:
            raise RuntimeError(
                "the agent is in the middle of another call, from which this one was made (by a signal "
                "handler, or by its own policy); nothing has changed")
        raise RuntimeError(f"{self._doubt}, so that this agent may be half-changed: make it again")

    cdef void _end(self) noexcept:
        self._changing = False
        self.lock.release()

    cdef tuple _snapshot(self):
        """All that selections change."""
        return self._ledger.snapshot(), self.commitment, self.stream.state, self._exploration.memory()

    cdef int _go_back(self, tuple snapshot) except -1:
        doubt, self._doubt = self._doubt, "a change was interrupted, and then its undoing"
        counts, commitment, self.stream.state, memory = snapshot
        self._ledger.go_back(counts)
        self._write_down(commitment)
        self._exploration.restart()
        self._exploration.remember(memory, np.asarray(self._ledger.pulls).tolist())
        self._doubt = doubt
        return 0

    # ---- handing out

    def select(self):
        """The arm for the next round; HorizonReached if there is none and the policy has not committed."""
        cdef Py_ssize_t arm
        self._begin()                       # `with` looks methods up, as slow as all the rest
        try:
            if self._own is None and not self._exploration.fallible:
                arm = self._dealer.next(&self.stream.rng)
                if arm < 0:
                    arm = self._commit_to(self._concluded(arm))
                self._ledger.hand_out(arm, 1)
                return arm
            return self._deal(np.empty(1, dtype=np.int64))[0].item()
        finally:
            self._end()

    def select_batch(self, n):
        """The arms for the next `n` rounds: those that `n` calls of `select` would give, or a ValueError."""
        cdef int64_t left
        arms = np.empty(whole_number("n", n, 1, MOST_PULLS), dtype=np.int64)
        self._begin()
        try:
            left = self.horizon - self._dealer.rounds()
            if self._dealer.committed < 0 and not self._dealer.stops() and 0 < left < len(arms):
                raise ValueError(f"n must be at most {left}, the rounds left before the horizon, got {n!r}")
            return self._deal(arms)
        finally:
            self._end()

    cdef object _deal(self, arms):
        """Fill `arms` with choices; whatever is raised, none of them was made."""
        cdef int64_t[::1] view = arms
        cdef Py_ssize_t i = 0, end, arm
        snapshot = self._snapshot()
        self._exploration.complaint()                   # what a table has come to is of no interest
        try:
            while i < view.shape[0]:
                if self._dealer.committed >= 0:
                    end = min(view.shape[0], i + 256 * PIECE)
                    view[i:end] = self._dealer.committed
                    self._ledger.hand_out(self._dealer.committed, end - i)
                    i = end
                else:
                    arm = self._fill(view, &i) if self._own is None else self._ask(view, &i)
                    if arm < 0:
                        self._commit_to(self._concluded(arm))
                PyErr_CheckSignals()
            if (complaint := self._exploration.complaint()) is not None:
                raise ValueError(complaint)
        except BaseException:
            self._go_back(snapshot)
            raise
        return arms

    cdef Py_ssize_t _fill(self, int64_t[::1] arms, Py_ssize_t* i) noexcept:
        """A bounded number of choices from arms[i] on; what `_next` said last."""
        cdef Py_ssize_t arm = 0, piece = 1 if self._exploration.slow else PIECE
        cdef Py_ssize_t end = min(arms.shape[0], i[0] + max(1, piece // self._ledger.answered.n_arms))
        with nogil:
            while i[0] < end:
                arm = self._dealer.next(&self.stream.rng)
                if arm < 0:
                    break
                self._ledger.hand_out(arm, 1)
                arms[i[0]] = arm
                i[0] += 1
        return arm

    cdef Py_ssize_t _ask(self, int64_t[::1] arms, Py_ssize_t* i) except -1:
        """One choice of the user's own policy, unless it commits."""
        arm, commits = self._choice()
        if commits:
            return self._commit_to(arm)
        self._ledger.hand_out(arm, 1)
        arms[i[0]] = arm
        i[0] += 1
        return arm

    cdef tuple _choice(self):
        """An arm for the next round, and whether it is to be committed to; there is no commitment yet."""
        cdef Py_ssize_t arm = self._dealer.over() if self._own is not None else self._dealer.next(
            &self.stream.rng)
        if arm < 0:
            return self._concluded(arm), True
        if self._own is None:
            return arm, False
        return self._own.select(self)

    cdef Py_ssize_t _concluded(self, Py_ssize_t answer) except -1:
        """The arm to be committed to, where the dealer gave none."""
        if answer == AT_HORIZON and not self._ends_at_the_horizon():
            raise HorizonReached(
                f"all {self.horizon:,} rounds have been handed out and the policy has not committed")
        return self._dealer.commit.choose(&self._ledger.answered, &self.stream.rng)

    cdef bint _ends_at_the_horizon(self) except -1:
        """Does an exploration in stages end with the answer to the last round?"""
        if self._own is not None or not self._dealer.may_conclude():
            return False
        snapshot = self._snapshot()
        ends = self._exploration.select(&self._ledger.shown, &self.stream.rng) < 0
        if not ends:
            self._go_back(snapshot)
        return ends

    cdef Py_ssize_t _commit_to(self, Py_ssize_t arm) except -1:
        self._write_down((arm, self._ledger.answered.t, *self._ledger.lists()[:3]))
        return arm

    cdef int _write_down(self, commitment) except -1:
        with cython.critical_section(self):     # it is read without the lock, also where there is no GIL
            self.commitment = commitment
        self._dealer.committed = -1 if commitment is None else commitment[0]

    # ---- for a store, which keeps decisions by itself: it reads the state anew after an exception

    def ask(self):
        """As `select`, but nothing is handed out: the arm, and whether it is to be committed to."""
        self._begin()
        try:
            if self._dealer.committed >= 0:
                return self._dealer.committed, False
            self._exploration.complaint()               # what a table has come to is of no interest
            choice = self._choice()
            if (complaint := self._exploration.complaint()) is not None:
                raise ValueError(complaint)
            return choice
        finally:
            self._end()

    def hand_out(self, Py_ssize_t arm, int64_t count=1):
        """`count` pulls of `arm` are under way from now on, whatever the rules say."""
        self._begin()
        try:
            self._check(arm, count)
            self._ledger.hand_out(arm, count)
        finally:
            self._end()

    def commit(self, Py_ssize_t arm):
        """Write down a commitment to `arm`, with the counts of now."""
        self._begin()
        try:
            self._check(arm, 0)
            self._commit_to(arm)
        finally:
            self._end()

    def drop(self, Py_ssize_t arm, int64_t count=1):
        """Give up `count` pending pulls of `arm`: they are no evidence, and their rounds are spent."""
        self._begin()
        try:
            self._check(arm, count)
            if count > self._ledger.pending[arm]:
                raise ValueError(
                    f"count must be at most {self._ledger.pending[arm]:,}, the pending pulls, got {count:,}")
            self._dealer.drop(arm, count)
        finally:
            self._end()

    def spend(self, int64_t count):
        """`count` rounds were used elsewhere: they count against the horizon, and to no rule."""
        self._begin()
        try:
            self._check(0, count)
            self._dealer.spent += count
        finally:
            self._end()

    # ---- answers

    def update(self, Py_ssize_t arm, reward):
        """Record the reward of a pull of `arm`."""
        cdef double value = self._rewards.number("reward", reward), squares
        self._begin()
        try:
            self._check(arm, 1)
            if not self._rewards.possible(1.0, value) or not isfinite(self._ledger.sums[arm] + value):
                raise ValueError(f"reward must be {self._rewards}, got {reward!r}")
            squares = self._squares_with(arm, 1.0, value, 0.0) if self._ledger.keeps_squares else 0.0
            if self._own is not None:
                self._own.update(arm, value)
            self._ledger.count(arm, 1, self._ledger.sums[arm] + value, squares)
        finally:
            self._end()

    def update_counts(self, Py_ssize_t arm, n, total, squares=None):
        """Record `n` rewards of `arm`: their sum, and that of their squared deviations from their mean."""
        cdef int64_t count = whole_number("n", n, 0, MOST_PULLS)
        cdef double value = self._rewards.number("total", total), unknown = 0.0 if count < 2 else NAN
        cdef double deviations = unknown if squares is None else self._rewards.number("squares", squares)
        if self._own is not None:
            raise TypeError("a policy written in Python is told every reward; use update or update_batch")
        self._begin()
        try:
            self._check(arm, count)
            rewards = f"{count:,} rewards, each {self._rewards}"
            if not (self._rewards.possible(count, value) and isfinite(self._ledger.sums[arm] + value)):
                raise ValueError(f"total must be a sum of {rewards}, got {total!r}")
            known = squares is not None or self._dealer.estimates
            if known and not self._rewards.possible_squares(count, value, deviations):
                raise ValueError(
                    f"squares must be a sum of squared deviations of {rewards}, that sum to {value!r}, from "
                    f"their mean, got {squares!r}")
            deviations = self._squares_with(arm, <double>count, value, deviations)
            self._ledger.count(arm, count, self._ledger.sums[arm] + value, deviations)
        finally:
            self._end()

    def update_batch(self, arms, rewards):
        """Record many rewards, or none if one is invalid: an array of arms, one of rewards."""
        cdef const int64_t[::1] numbers = arms
        cdef const double[::1] values = rewards
        cdef Py_ssize_t i = 0, end, bad = -1
        self._begin()
        try:
            self._check(0, numbers.shape[0])
            self._ledger.begin_sums()
            while i < numbers.shape[0] and bad < 0:
                end = min(numbers.shape[0], i + 256 * PIECE)
                bad = self._ledger.sum_up(numbers, values, i, end, self._rewards)
                i = end
                PyErr_CheckSignals()
            if bad >= 0 and not 0 <= numbers[bad] < self._ledger.answered.n_arms:
                raise KeyError(
                    f"arms[{bad}] is {numbers[bad]!r}; the arms are 0 to {self._ledger.answered.n_arms - 1}")
            if bad >= 0:
                raise ValueError(f"rewards[{bad}] must be {self._rewards}, got {values[bad]!r}")
            if not self._ledger.sums_are_finite(self._dealer.estimates):
                raise ValueError("rewards must have a finite sum and variance, got more than a double holds")
            if self._own is not None:
                for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
                    self._own.update(arm, reward)
            self._ledger.count_sums()
        finally:
            self._end()

    cdef double _squares_with(self, Py_ssize_t arm, double count, double total, double squares) except? -1.0:
        squares = self._ledger.squares_with(arm, count, total, squares)
        if self._dealer.estimates and not isfinite(squares):
            raise ValueError("reward must have a square that a double can hold, as the variance is estimated")
        return squares

    cdef int _check(self, Py_ssize_t arm, int64_t count) except -1:
        """Is there such an arm, and room for so many more pulls?"""
        cdef int64_t most = MOST_PULLS - self._dealer.rounds()
        if not 0 <= arm < self._ledger.answered.n_arms:
            raise IndexError(f"there is no arm {arm}")
        if not 0 <= count <= most:
            raise ValueError(f"n must be from 0 to {most:,}, got {count:,}")
        return 0

    # ---- looking

    @property
    def pulls(self):
        """Answered pulls of every arm."""
        with self.lock:
            return np.array(self._ledger.pulls)

    @property
    def sums(self):
        """The sum of the rewards of every arm."""
        with self.lock:
            return np.array(self._ledger.sums)

    @property
    def squares(self):
        """Squared deviations of the rewards of every arm, summed; NaN where unknown. None if not kept."""
        with self.lock:
            return np.array(self._ledger.squares) if self._ledger.keeps_squares else None

    @property
    def alarms(self):
        """The arms whose rewards have varied more than the assumed sigma allows."""
        with self.lock:
            return self._ledger.lists()[4]

    @property
    def pending(self):
        """Pulls of every arm that were handed out and have no reward yet."""
        with self.lock:
            return np.array(self._ledger.pending)

    @property
    def rounds(self):
        """Rounds so far: answered, pending and spent."""
        return self._dealer.rounds()

    def state(self):
        """All that changes: pulls, sums, squares, pending, alarms, generator, memory and commitment."""
        with self.lock:
            if self._doubt is not None and not self._changing:
                self._refuse()
            return (*self._ledger.lists(), self.stream.state, self._exploration.memory(), self.commitment)
