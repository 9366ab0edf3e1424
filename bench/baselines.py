"""What a researcher writes in an afternoon: the loops that robai is timed against.

Three ways to write each policy:

    python   one run after the other, lists and `random`
    numpy    all runs of a call at once, one round after the other
    numba    one run after the other, compiled, with a NumPy Generator

A loop is called with (means, rounds, level, runs, seed) and returns how often every arm was
pulled and what it earned, two arrays of runs x arms. `regret` makes final regrets of them.

The level stays at log T (or l, for EOCP), so only the index of the arm just pulled changes and
only that one is computed again. Ties go to the first arm, where robai tosses a coin; no
difference of the mean regrets is large enough to be seen by the check in table.py.
"""

import functools
import importlib.util
import math
import random

import numpy as np

PRECISION = 1e-6  # of the index of KL-UCB, by bisection
TINY = 1e-15  # keeps 0 log 0 out of the divergence


def regret(side, policy, means, horizon, runs, seed):
    """Final regret of each run: `side` is "python", "numpy" or "numba", `policy` a key of `LOOPS`."""
    loop = _loop(side, policy)
    n_arms, gaps = len(means), max(means) - np.array(means)
    if policy != "eocp":
        pulls, _ = loop(means, horizon, math.log(horizon), runs, seed)
        return pulls @ gaps
    level = math.log(horizon) + math.sqrt(math.log(horizon))
    rounds = min(rounds_of_eocp(n_arms, horizon), horizon)
    pulls, sums = loop(means, rounds, level, runs, seed)
    committed = np.argmax(sums / pulls - np.sqrt(2.0 * level / pulls), axis=1)
    return pulls @ gaps + (horizon - rounds) * gaps[committed]


def rounds_of_eocp(n_arms, horizon, gap=0.5):
    """The round at which EOCP commits."""
    level = math.log(horizon) + math.sqrt(math.log(horizon))
    return int(8 * n_arms * level / gap**2 + n_arms)


def sides(policy):
    """The sides that have this policy and can run here."""
    found = [side for side, loops in LOOPS.items() if policy in loops]
    return found if importlib.util.find_spec("numba") else [side for side in found if side != "numba"]


@functools.cache
def _loop(side, policy):
    loop = LOOPS[side][policy]
    if side == "numpy":
        return lambda means, rounds, level, runs, seed: loop(
            np.array(means), rounds, level, runs, np.random.default_rng(seed)
        )
    if side == "numba":
        from numba import njit  # slow to import, and not everyone has it

        compiled = njit(loop)
        return lambda means, rounds, level, runs, seed: compiled(
            np.array(means), rounds, level, runs, np.random.default_rng(seed)
        )
    return lambda means, rounds, level, runs, seed: _one_by_one(loop, means, rounds, level, runs, seed)


# ------------------------------------------------------------------------------ pure Python


def _one_by_one(loop, means, rounds, level, runs, seed):
    rng = random.Random(seed)
    played = [loop(means, rounds, level, rng) for _ in range(runs)]
    return np.array([pulls for pulls, _ in played]), np.array([sums for _, sums in played])


def ucb_python(means, rounds, level, rng):
    pulls, sums = [0] * len(means), [0.0] * len(means)
    index = [math.inf] * len(means)
    for _ in range(rounds):
        arm = index.index(max(index))
        pulls[arm] += 1
        sums[arm] += rng.gauss(means[arm], 1.0)
        index[arm] = sums[arm] / pulls[arm] + math.sqrt(2.0 * level / pulls[arm])
    return pulls, sums


def kl_ucb_python(means, rounds, level, rng):
    pulls, sums = [0] * len(means), [0] * len(means)
    index = [math.inf] * len(means)
    for _ in range(rounds):
        arm = index.index(max(index))
        pulls[arm] += 1
        sums[arm] += rng.random() < means[arm]
        index[arm] = kl_upper_python(sums[arm] / pulls[arm], level / pulls[arm])
    return pulls, sums


def kl_upper_python(mean, level):
    low, high = mean, 1.0
    while high - low > PRECISION:
        middle = 0.5 * (low + high)
        if kl_python(mean, middle) > level:
            high = middle
        else:
            low = middle
    return low


def kl_python(p, q):
    p = min(max(p, TINY), 1.0 - TINY)
    return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))


def thompson_gaussian_python(means, rounds, level, rng):
    arms = range(len(means))
    pulls, sums = [1] * len(means), [rng.gauss(mean, 1.0) for mean in means]
    for _ in range(rounds - len(means)):
        draws = [rng.gauss(sums[arm] / pulls[arm], pulls[arm] ** -0.5) for arm in arms]
        arm = draws.index(max(draws))
        pulls[arm] += 1
        sums[arm] += rng.gauss(means[arm], 1.0)
    return pulls, sums


def thompson_bernoulli_python(means, rounds, level, rng):
    arms = range(len(means))
    pulls, sums = [0] * len(means), [0] * len(means)
    for _ in range(rounds):
        draws = [rng.betavariate(0.5 + sums[arm], 0.5 + pulls[arm] - sums[arm]) for arm in arms]
        arm = draws.index(max(draws))
        pulls[arm] += 1
        sums[arm] += rng.random() < means[arm]
    return pulls, sums


# ------------------------------------------------------------------- NumPy, over the runs
# Arm a of run r is cell r K + a: one flat index is twice as fast as a pair of them.


def ucb_numpy(means, rounds, level, runs, rng):
    first = np.arange(runs) * len(means)
    pulls = np.ones(runs * len(means))
    sums = np.tile(means, runs) + rng.standard_normal(pulls.size)
    index = sums + np.sqrt(2.0 * level)
    for _ in range(rounds - len(means)):
        arm = index.reshape(runs, -1).argmax(axis=1)
        cell = first + arm
        n = pulls[cell] + 1.0
        total = sums[cell] + means[arm] + rng.standard_normal(runs)
        pulls[cell], sums[cell] = n, total
        index[cell] = total / n + np.sqrt(2.0 * level / n)
    return pulls.reshape(runs, -1), sums.reshape(runs, -1)


def kl_ucb_numpy(means, rounds, level, runs, rng):
    first = np.arange(runs) * len(means)
    pulls = np.ones(runs * len(means))
    sums = (rng.random(pulls.size) < np.tile(means, runs)).astype(float)
    index = kl_upper_numpy(sums, level)
    for _ in range(rounds - len(means)):
        arm = index.reshape(runs, -1).argmax(axis=1)
        cell = first + arm
        n = pulls[cell] + 1.0
        total = sums[cell] + (rng.random(runs) < means[arm])
        pulls[cell], sums[cell] = n, total
        index[cell] = kl_upper_numpy(total / n, level / n)
    return pulls.reshape(runs, -1), sums.reshape(runs, -1)


def kl_upper_numpy(mean, level):
    p = np.clip(mean, TINY, 1.0 - TINY)
    entropy = p * np.log(p) + (1.0 - p) * np.log(1.0 - p)  # does not change while q is looked for
    low, high = mean, np.ones_like(mean)
    for _ in range(math.ceil(-math.log2(PRECISION))):
        middle = 0.5 * (low + high)
        far = entropy - p * np.log(middle) - (1.0 - p) * np.log(1.0 + TINY - middle) > level
        low, high = np.where(far, low, middle), np.where(far, middle, high)
    return low


def thompson_gaussian_numpy(means, rounds, level, runs, rng):
    first = np.arange(runs) * len(means)
    pulls = np.ones(runs * len(means))
    sums = np.tile(means, runs) + rng.standard_normal(pulls.size)
    for _ in range(rounds - len(means)):
        draws = sums / pulls + rng.standard_normal(pulls.size) / np.sqrt(pulls)
        arm = draws.reshape(runs, -1).argmax(axis=1)
        pulls[first + arm] += 1.0
        sums[first + arm] += means[arm] + rng.standard_normal(runs)
    return pulls.reshape(runs, -1), sums.reshape(runs, -1)


def thompson_bernoulli_numpy(means, rounds, level, runs, rng):
    first = np.arange(runs) * len(means)
    pulls, sums = np.zeros(runs * len(means)), np.zeros(runs * len(means))
    for _ in range(rounds):
        arm = rng.beta(0.5 + sums, 0.5 + pulls - sums).reshape(runs, -1).argmax(axis=1)
        pulls[first + arm] += 1.0
        sums[first + arm] += rng.random(runs) < means[arm]
    return pulls.reshape(runs, -1), sums.reshape(runs, -1)


# ------------------------------------- numba: plain functions, compiled when they are asked for


def ucb_numba(means, rounds, level, runs, rng):
    n_arms = len(means)
    all_pulls, all_sums = np.empty((runs, n_arms)), np.empty((runs, n_arms))
    for run in range(runs):
        pulls, sums, index = np.zeros(n_arms), np.zeros(n_arms), np.full(n_arms, np.inf)
        for _ in range(rounds):
            arm = 0
            for other in range(1, n_arms):
                if index[other] > index[arm]:
                    arm = other
            pulls[arm] += 1.0
            sums[arm] += means[arm] + rng.standard_normal()
            index[arm] = sums[arm] / pulls[arm] + math.sqrt(2.0 * level / pulls[arm])
        all_pulls[run], all_sums[run] = pulls, sums
    return all_pulls, all_sums


def kl_ucb_numba(means, rounds, level, runs, rng):
    n_arms = len(means)
    all_pulls, all_sums = np.empty((runs, n_arms)), np.empty((runs, n_arms))
    for run in range(runs):
        pulls, sums, index = np.zeros(n_arms), np.zeros(n_arms), np.full(n_arms, np.inf)
        for _ in range(rounds):
            arm = 0
            for other in range(1, n_arms):
                if index[other] > index[arm]:
                    arm = other
            pulls[arm] += 1.0
            sums[arm] += 1.0 if rng.random() < means[arm] else 0.0
            mean = sums[arm] / pulls[arm]
            p = min(max(mean, TINY), 1.0 - TINY)
            entropy = p * math.log(p) + (1.0 - p) * math.log(1.0 - p)
            low, high = mean, 1.0
            while high - low > PRECISION:
                middle = 0.5 * (low + high)
                kl = entropy - p * math.log(middle) - (1.0 - p) * math.log(1.0 - middle)
                if kl > level / pulls[arm]:
                    high = middle
                else:
                    low = middle
            index[arm] = low
        all_pulls[run], all_sums[run] = pulls, sums
    return all_pulls, all_sums


def thompson_gaussian_numba(means, rounds, level, runs, rng):
    n_arms = len(means)
    all_pulls, all_sums = np.empty((runs, n_arms)), np.empty((runs, n_arms))
    for run in range(runs):
        pulls, sums = np.ones(n_arms), means + rng.standard_normal(n_arms)
        for _ in range(rounds - n_arms):
            arm, best = 0, -np.inf
            for other in range(n_arms):
                draw = sums[other] / pulls[other] + rng.standard_normal() / math.sqrt(pulls[other])
                if draw > best:
                    arm, best = other, draw
            pulls[arm] += 1.0
            sums[arm] += means[arm] + rng.standard_normal()
        all_pulls[run], all_sums[run] = pulls, sums
    return all_pulls, all_sums


def thompson_bernoulli_numba(means, rounds, level, runs, rng):
    n_arms = len(means)
    all_pulls, all_sums = np.empty((runs, n_arms)), np.empty((runs, n_arms))
    for run in range(runs):
        pulls, sums = np.zeros(n_arms), np.zeros(n_arms)
        for _ in range(rounds):
            arm, best = 0, -1.0
            for other in range(n_arms):
                draw = rng.beta(0.5 + sums[other], 0.5 + pulls[other] - sums[other])
                if draw > best:
                    arm, best = other, draw
            pulls[arm] += 1.0
            sums[arm] += 1.0 if rng.random() < means[arm] else 0.0
        all_pulls[run], all_sums[run] = pulls, sums
    return all_pulls, all_sums


# EOCP explores as UCB does, at another level, and then stops.
LOOPS = {
    "python": {
        "ucb": ucb_python,
        "eocp": ucb_python,
        "kl-ucb": kl_ucb_python,
        "thompson-gaussian": thompson_gaussian_python,
        "thompson-bernoulli": thompson_bernoulli_python,
    },
    "numpy": {
        "ucb": ucb_numpy,
        "eocp": ucb_numpy,
        "kl-ucb": kl_ucb_numpy,
        "thompson-gaussian": thompson_gaussian_numpy,
        "thompson-bernoulli": thompson_bernoulli_numpy,
    },
    "numba": {
        "ucb": ucb_numba,
        "eocp": ucb_numba,
        "kl-ucb": kl_ucb_numba,
        "thompson-gaussian": thompson_gaussian_numba,
        "thompson-bernoulli": thompson_bernoulli_numba,
    },
}
