"""KL-UCB plays the arm with the largest index, though it hardly ever computes one.

The engine asks whether the leader's index is still above the others' by one divergence. Here every
arm that it plays is compared with indices of 40 digits.
"""

import mpmath
import numpy as np
import pytest
from support import reference

import robai

CLOSE = 1e-13  # relative difference below which either arm may be played


@pytest.fixture(autouse=True)
def forty_digits():
    with mpmath.workdps(40):
        yield


def bernoulli_divergence(p, q):
    divergence = mpmath.mpf(0)
    if p > 0:
        divergence += p * mpmath.log(p / q)
    if p < 1:
        divergence += (1 - p) * mpmath.log((1 - p) / (1 - q))
    return divergence


def precise_index(successes, pulls, level):
    """The q >= p with pulls d(p, q) = level: bisection, then Newton's method."""
    p = mpmath.mpf(successes) / pulls
    level = level / pulls
    if p == 1 or level == 0:
        return p
    if p == 0:
        return 1 - mpmath.exp(-level)
    low, high = p, mpmath.mpf(1)
    for _ in range(12):  # close enough for Newton's method
        middle = (low + high) / 2
        low, high = (middle, high) if bernoulli_divergence(p, middle) < level else (low, middle)
    q = high if high < 1 else (low + high) / 2
    for _ in range(60):
        step = (bernoulli_divergence(p, q) - level) * q * (1 - q) / (q - p)
        if not p < q - step < 1:
            step = (q - (p if step > 0 else 1)) / 2
        q -= step
        if abs(step) < mpmath.mpf(10) ** -34:
            break
    assert abs(bernoulli_divergence(p, q) - level) < mpmath.mpf(10) ** -28
    return q


def precise_level(kind, horizon, n_arms, pulls, round):
    def log_plus(x):
        return mpmath.log(x) if x > 1 else mpmath.mpf(0)

    match kind:
        case "horizon":
            return mpmath.log(horizon)
        case "ratio":
            return log_plus(mpmath.mpf(horizon) / pulls)
        case "round":
            return mpmath.log(round)
        case "loglog":
            return mpmath.log(round) + 3 * mpmath.log(max(1, mpmath.log(round)))
        case "plus":
            return log_plus(mpmath.mpf(round) / pulls)
        case "++":
            y = mpmath.mpf(horizon) / (n_arms * pulls)
            return log_plus(y * (1 + log_plus(y) ** 2))


@pytest.mark.parametrize("level", ["horizon", "ratio", "round", "loglog", "plus", "++"])
@pytest.mark.parametrize("means", [(0.6, 0.5), (0.97, 0.9, 0.5), (0.05, 0.01, 0.02)], ids=str)
def test_the_arm_played_has_the_largest_precise_index(means, level):
    horizon, runs, seed = 400, 1, 11
    bandit = robai.Bernoulli(means)
    result = robai.simulate(
        robai.KLUCB(level), bandit, horizon, runs, rng=seed, times=range(1, horizon + 1), curves=True,
        engine="step",
    )  # fmt: skip
    known, decided = {}, 0

    def index(successes, pulls, round):
        f = (successes, pulls, round if level in ("round", "loglog", "plus") else None)
        if f not in known:
            height = precise_level(level, horizon, len(means), pulls, round)
            known[f] = precise_index(successes, pulls, height)
        return known[f]

    for run in range(runs):
        increments = np.diff(result.curves[run], prepend=0.0)
        arms = np.abs(increments[:, None] - result.gaps).argmin(axis=1)
        state = reference.State(bandit, horizon, reference.stream_of(seed, run))
        for t, arm in enumerate(arms.tolist()):
            if t >= len(means):
                indices = [index(int(s), n, t + 1) for s, n in zip(state.s, state.n, strict=True)]
                largest = max(indices)
                assert indices[arm] >= largest * (1 - CLOSE), f"run {run}, round {t + 1}: {indices}"
                decided += sum(each >= largest * (1 - CLOSE) for each in indices) == 1
                state.argmax(indices)  # draws if there is a tie, as the engine does
            state.pull(arm)
    assert decided > 0.5 * runs * horizon  # most rounds have one right answer
