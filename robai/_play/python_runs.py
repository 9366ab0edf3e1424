"""Runs of policies written in Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robai._core.engine import TAPE_LENGTH
from robai._core.rng import Stream
from robai._play.request import Played, Simulation
from robai._play.workers import Interrupted, Stop
from robai.custom import CustomPolicy

_ROUNDS_BETWEEN_LOOKS = 256  # at whether the simulation was stopped


def play_custom(simulation: Simulation, policy: CustomPolicy, first: int, last: int, stop: Stop) -> Played:
    """Play runs first, ..., last - 1 of a policy written in Python; as `robai._play.batches.play`."""
    states = simulation.seed.states(first, last)
    shape = len(states), simulation.bandit.n_arms
    each = zip(np.broadcast_to(simulation.means, shape), np.broadcast_to(simulation.gaps, shape), strict=True)
    runs = [
        _play_run(simulation, policy, means, gaps, Stream(state), stop)
        for (means, gaps), state in zip(each, states, strict=True)
    ]
    return Played(*map(np.array, zip(*runs, strict=True)))


def _play_run(
    simulation: Simulation,
    policy: CustomPolicy,
    means: NDArray[np.float64],
    gaps: NDArray[np.float64],
    stream: Stream,
    stop: Stop,
) -> tuple[list[float], int, int, NDArray[np.int64]]:
    """One run. Rewards come off a tape as in engine.pyx, so that equal choices have equal runs."""
    family = simulation.bandit._core()
    asked = policy._ask(simulation.game, stream)
    state = asked.state
    pulls, sums = np.zeros(len(means), dtype=np.int64), np.zeros(len(means))
    state.show(pulls, sums, np.zeros_like(pulls))
    tapes: list[list[float]] = [[] for _ in means]
    regret: list[float] = []
    commit_time = committed_arm = -1
    for until in simulation.times:
        while state.t < until and committed_arm < 0:
            if state.t % _ROUNDS_BETWEEN_LOOKS == 0 and stop.is_set():
                raise Interrupted
            arm, commits = asked.choose()
            if commits:
                commit_time, committed_arm = state.t, arm
                break
            tape = tapes[arm]
            if not tape:
                count = min(max(int(pulls[arm]), 1), TAPE_LENGTH)
                tape += family.rewards(arm, means[arm], count, stream)[::-1].tolist()
            reward = tape.pop()
            pulls[arm] += 1
            sums[arm] += reward
            state.t += 1
            asked.update(arm, reward)
        if committed_arm >= 0:
            pulls[committed_arm] += until - state.t
            state.t = until
        regret.append(float(gaps @ pulls))
    return regret, commit_time, committed_arm, pulls
