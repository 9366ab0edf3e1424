"""Tickets and windows in the slow way: all follows from a list of what happened, read from its start."""

import dataclasses
import math

from robai import HorizonReached
from robai._core.rng import Stream, seed_block
from robai.live.state import Experiment


class Refused(Exception):
    """Of a call that changes nothing; `kind` is what is raised."""

    def __init__(self, kind):
        super().__init__(kind.__name__)
        self.kind = kind


@dataclasses.dataclass
class Pull:
    time: float
    arm: int
    key: str | None
    reward: float | None = None
    answered: float = math.inf


class Tickets:
    """An experiment with tickets and, unless `window` is None, windows; arms are numbers.

    A ticket is called by its place in `pulls`. The rules are asked through a player, which sees the rewards
    that count, in the order in which they do, and is made anew after a call that changed nothing.
    """

    def __init__(self, policy, n_arms, horizon, reward, window, missing, seed):
        self.window, self.missing, self.seed = window, missing, seed
        delta = None if window is None else 1 / horizon
        self.experiment = Experiment(policy, n_arms, horizon, reward, delta=delta)
        self.n_arms, self.time = n_arms, -math.inf
        self.history = []  # what the player has been told
        self.pulls = []
        self._start()

    def _start(self):
        self.player = self.experiment.player(Stream(seed_block(self.seed, (), 0)[0]))
        for method, *arguments in self.history:
            getattr(self.player, method)(*arguments)

    def _tell(self, method, *arguments):
        result = getattr(self.player, method)(*arguments)
        self.history.append((method, *arguments))
        return result

    # ---- what is true at a time

    def closed(self, pull, time):
        return self.window is not None and pull.time <= time - self.window

    def in_time(self, pull):
        return pull.reward is not None and not self.closed(pull, pull.answered)

    def evidence(self, time):
        """(arm, reward) of all that count, and the arms of those dropped and pending."""
        counted, dropped, pending = [], [], []
        for pull in self.pulls:
            closed = self.closed(pull, time)
            if self.in_time(pull) and (closed or self.missing is None):
                counted.append((pull.arm, pull.reward))
            elif closed and self.missing is not None:
                counted.append((pull.arm, self.missing))
            elif closed:
                dropped.append(pull.arm)
            else:
                pending.append(pull.arm)
        return counted, dropped, pending

    def counts(self):
        """Of the last event: pulls, sums, dropped and pending of every arm."""
        counted, dropped, pending = self.evidence(self.time)
        arms = range(self.n_arms)
        return (
            [sum(each == arm for each, _ in counted) for arm in arms],
            [math.fsum(reward for each, reward in counted if each == arm) for arm in arms],
            [dropped.count(arm) for arm in arms],
            [pending.count(arm) for arm in arms],
        )

    # ---- calls

    def _pass(self, clock):
        """It is later; windows close in the order of their tickets."""
        time = max(self.time, clock)
        for pull in self.pulls:
            if self.closed(pull, time) and not self.closed(pull, self.time):
                if self.missing is not None:
                    self._tell("update", pull.arm, pull.reward if self.in_time(pull) else self.missing)
                elif not self.in_time(pull):
                    self._tell("drop", pull.arm)
        return time

    def tickets(self, clock, keys):
        """The places of tickets for these keys, None for no key."""
        known = {pull.key: place for place, pull in enumerate(self.pulls) if pull.key is not None}
        if all(key in known for key in keys):
            return [known[key] for key in keys]
        before, count = list(self.history), len(self.pulls)
        time = self._pass(clock)
        places = []
        try:
            for key in keys:
                if key not in known or key is None:
                    known[key] = len(self.pulls)
                    arm, commits = self._tell("ask")
                    if commits:
                        self._tell("commit", arm)
                    self._tell("hand_out", arm)
                    self.pulls.append(Pull(time, arm, key))
                places.append(known[key])
        except HorizonReached:
            kind = HorizonReached if len(self.pulls) == count else ValueError
            self.history = before
            del self.pulls[count:]
            self._start()
            raise Refused(kind) from None
        self.time = time
        return places

    def answers(self, clock, pairs):
        """What becomes of (place, reward), all or none."""
        first = {}
        for place, reward in pairs:
            if not 0 <= place < len(self.pulls):
                raise Refused(KeyError)
            known = self.pulls[place].reward
            known = first.setdefault(place, reward) if known is None else known
            if known != reward:
                raise Refused(ValueError)
        if not any(self.pulls[place].reward is None for place, _ in pairs):
            return ["repeated"] * len(pairs)
        self.time = time = self._pass(clock)
        outcomes = []
        for place, reward in pairs:
            pull = self.pulls[place]
            if pull.reward is not None:
                outcomes.append("repeated")
                continue
            pull.reward, pull.answered = reward, time
            if self.closed(pull, time):
                outcomes.append("late")
            elif self.missing is not None:
                outcomes.append("held")
            else:
                outcomes.append("counted")
                self._tell("update", pull.arm, reward)
        return outcomes

    def refresh(self, clock):
        """Windows close; nothing happens if none does."""
        time = max(self.time, clock)
        if any(self.closed(pull, time) and not self.closed(pull, self.time) for pull in self.pulls):
            self.time = self._pass(clock)
