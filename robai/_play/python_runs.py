"""Runs of policies that explore in Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robai._core.engine import TAPE_LENGTH
from robai._core.protocols import Evidence
from robai._core.rng import Stream
from robai._play.request import Played, Simulation
from robai._play.workers import Interrupted, Stop
from robai.custom import PythonPolicy, ask

_ROUNDS_BETWEEN_LOOKS = 256  # at whether the simulation was stopped


def play_custom(simulation: Simulation, rule: PythonPolicy, first: int, last: int, stop: Stop) -> Played:
    """Play runs first, ..., last - 1 of an exploration written in Python; as `robai._play.batches.play`."""
    states = simulation.seed.states(first, last)
    shape = len(states), simulation.bandit.n_arms
    each = zip(np.broadcast_to(simulation.means, shape), np.broadcast_to(simulation.gaps, shape), strict=True)
    runs = [
        _play_run(simulation, rule, means, gaps, Stream(state), stop)
        for (means, gaps), state in zip(each, states, strict=True)
    ]
    return Played(*map(np.array, zip(*runs, strict=True)))


def _play_run(
    simulation: Simulation,
    rule: PythonPolicy,
    means: NDArray[np.float64],
    gaps: NDArray[np.float64],
    stream: Stream,
    stop: Stop,
) -> tuple[list[float], int, int, NDArray[np.int64]]:
    """One run. Rewards come off a tape as in engine.pyx, so that equal choices have equal runs."""
    family, game = simulation.bandit._core(), simulation.game
    rules, asked = simulation.policy.start(game), ask(rule, game, stream)
    state, nothing = asked.state, [0] * len(means)
    seen = Evidence(nothing, nothing, game.rounds, nothing if rules.moments > 1 else None)
    pulls = seen.pulls
    state.show(pulls, seen.sums, np.zeros_like(pulls))
    beginning = True  # some arm has fewer rewards than the stopping rule needs
    tapes: list[list[float]] = [[] for _ in means]
    regret: list[float] = []
    commit_time = committed_arm = -1
    for until in simulation.times:
        while state.t < until and committed_arm < 0:
            if state.t % _ROUNDS_BETWEEN_LOOKS == 0 and stop.is_set():
                raise Interrupted
            beginning = beginning and pulls.min() < rules.stop.initial_pulls
            if not beginning and rules.stop.fires_on(seen):
                commit_time, committed_arm = state.t, rules.commit.choose_on(seen, stream)
                break
            arm, commits = asked.choose()
            if commits:
                commit_time, committed_arm = state.t, arm
                break
            tape = tapes[arm]
            if not tape:
                count = min(max(int(pulls[arm]), 1), TAPE_LENGTH)
                tape += family.rewards(arm, means[arm], count, stream)[::-1].tolist()
            reward = tape.pop()
            seen.add(arm, reward)
            state.t += 1
            asked.update(arm, reward)
        if committed_arm >= 0:
            pulls[committed_arm] += until - state.t
            state.t = until
        regret.append(float(gaps @ pulls))
    if committed_arm < 0 and pulls.min() >= rules.stop.initial_pulls and rules.stop.fires_on(seen):
        commit_time, committed_arm = state.t, rules.commit.choose_on(seen, stream)  # at the horizon
    return regret, commit_time, committed_arm, pulls
