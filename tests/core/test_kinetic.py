"""Levels that grow: the arms are those of a loop that computes all indices in every round."""

import dataclasses

import numpy as np
import pytest

import robai
from robai import rules
from robai._core.explore_index import FullOptimism
from robai.policies import Policy


class EveryUpperBound(rules.UpperBound):
    def start(self, game):
        return FullOptimism(game.n_arms, self.bounds(game))


class EveryKLUpperBound(rules.KLUpperBound):
    def start(self, game):
        return FullOptimism(game.n_arms, self.bounds(game))


def assert_same_arms(level, bandit, horizon, runs, rng=3):
    """Rewards are common: the k-th of an arm is the same, so a single other arm changes the rest of a run."""
    if isinstance(bandit, robai.Gaussian):
        pair = rules.UpperBound(level, sigma=1.0), EveryUpperBound(level, sigma=1.0)
    else:
        pair = rules.KLUpperBound(level), EveryKLUpperBound(level)
    one, every = (
        robai.simulate(Policy(explore=explore), bandit, horizon, runs, rng=rng, times=200, curves=True, common=True)
        for explore in pair
    )
    np.testing.assert_array_equal(one.pulls, every.pulls)
    np.testing.assert_array_equal(one.curves, every.curves)


if __name__ == "__main__":
    import sys, time

    near = [0.5] + [0.48] * 9
    for K, T, runs, means in (
        (2, 10**5, 60, (0.7, 0.2)), (2, 20000, 100, (0.5, 0.48)), (3, 20000, 50, (0.5, 0.48, 0.2)),
        (10, 10**5, 10, (0.7,) + (0.2,) * 9), (10, 20000, 30, tuple(near)), (10, 20000, 30, tuple(np.linspace(0.9, 0.1, 10))),
        (100, 20000, 10, (0.7,) + (0.2,) * 99), (100, 20000, 10, tuple(np.linspace(0.99, 0.01, 100))),
        (100, 20000, 10, (0.5,) + (0.48,) * 99), (100, 10**5, 3, (0.7,) + (0.2,) * 99),
    ):
        for level in ("round", "loglog", "anytime") if "-a" in sys.argv else ("round",):
            for B in [robai.Gaussian, robai.Bernoulli] + ([robai.Poisson, robai.Exponential, lambda m: robai.Binomial([5 * x for x in m], n=5), lambda m: robai.Gamma(m, shape=2.5), lambda m: robai.NegativeBinomial(m, r=1.5)] if "-f" in sys.argv else []):
                if level == "anytime" and B is not robai.Gaussian: continue
                s = time.process_time()
                try:
                    assert_same_arms(level, B(means), T, runs)
                    print("ok", K, T, level, type(B(means)).__name__, "%.1f" % (time.process_time() - s), flush=True)
                except AssertionError as e:
                    print("BAD", K, T, level, type(B(means)).__name__, str(e)[:300], flush=True)
