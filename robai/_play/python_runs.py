"""Runs of policies written in Python."""

from __future__ import annotations

import numpy as np

from robai._core.engine import TAPE_LENGTH
from robai._core.rng import Stream
from robai._play.request import Played, Simulation
from robai._play.stop import Interrupted, Stop
from robai.custom import CustomPolicy

_ROUNDS_BETWEEN_LOOKS = 256  # at whether the simulation was stopped


def play_custom(simulation: Simulation, policy: CustomPolicy, first: int, last: int, stop: Stop) -> Played:
    """Play runs first, ..., last - 1 of a policy written in Python; as `robai._play.batches.play`."""
    states = simulation.states(first, last)
    runs = [_Run(simulation, policy, Stream(words)) for words in states]
    for run in runs:
        run.play(stop)
    return Played(
        np.array([run.regret for run in runs]),
        np.array([run.commit_time for run in runs]),
        np.array([run.committed_arm for run in runs]),
        np.array([run.pulls for run in runs]),
    )


class _Run:
    """One run. Rewards come off a tape as in engine.pyx, so that equal choices have equal runs."""

    def __init__(self, simulation: Simulation, policy: CustomPolicy, stream: Stream) -> None:
        bandit = simulation.bandit
        self.means, self.gaps = bandit.means, np.array(bandit.gaps)
        self.times = simulation.times
        self.family = bandit._core()
        self.stream = stream
        self.asked = policy._ask(simulation.game, stream)
        self.pulls = np.zeros(bandit.n_arms, dtype=np.int64)
        self.sums = np.zeros(bandit.n_arms)
        self.asked.state.show(self.pulls, self.sums, np.zeros_like(self.pulls))
        self.tape: list[list[float]] = [[] for _ in self.means]
        self.regret: list[float] = []
        self.commit_time = self.committed_arm = -1

    def play(self, stop: Stop) -> None:
        state = self.asked.state
        for until in self.times:
            while state.t < until and self.committed_arm < 0:
                if state.t % _ROUNDS_BETWEEN_LOOKS == 0 and stop.is_set():
                    raise Interrupted
                self._round()
            if self.committed_arm >= 0:
                self.pulls[self.committed_arm] += until - state.t
                state.t = until
            self.regret.append(float(self.gaps @ self.pulls))

    def _round(self) -> None:
        arm, commits = self.asked.choose()
        if commits:
            self.commit_time, self.committed_arm = self.asked.state.t, arm
            return
        reward = self._reward(arm)
        self.pulls[arm] += 1
        self.sums[arm] += reward
        self.asked.state.t += 1
        self.asked.update(arm, reward)

    def _reward(self, arm: int) -> float:
        tape = self.tape[arm]
        if not tape:
            count = min(max(int(self.pulls[arm]), 1), TAPE_LENGTH)
            tape += self.family.rewards(arm, self.means[arm], count, self.stream)[::-1].tolist()
        return tape.pop()
