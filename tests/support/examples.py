"""Examples that the contract tests run over; every registered policy and bandit must have one."""

import dataclasses

import numpy as np

import robai

POLICIES = [
    robai.EOCP(gap=1.5),
    robai.EOCP(gap=2.0, inflation=0.2, sigma=1.5),
    robai.EOCPUG(),
    robai.EOCPUG(inflation=0.0, sigma=0.5),
    robai.KLEOCP(kl=1.0),
    robai.KLEOCPUG(),
    robai.KLEOCPUG(inflation=0.2, guard=0.0),
    robai.UCB(),
    robai.UCB(level="ratio"),
    robai.UCB(level="round"),
    robai.KLUCB(),
    robai.KLUCB(level="ratio"),
    robai.KLUCB(level="round"),
    robai.KLUCB(level="++"),
    robai.ThompsonSampling(),
    robai.BAIETC(),
    robai.DETC(),
    robai.DETCK(),
    robai.UCBAlpha(),
    robai.UCBAlpha(alpha=1.5, delta=0.1),
    robai.TrackAndStop(),
    robai.TrackAndStop(delta=0.1, tracking="D"),
    robai.ActionElimination(),
    robai.ActionElimination(delta=0.1, radius="even-dar"),
]
assert {type(policy) for policy in POLICIES} == set(robai.policies.POLICIES.values())

# Distinct gaps, so that regret tells which arm was played.
BANDITS = [
    robai.Gaussian([0.7, -0.2, 0.1]),
    robai.Gaussian([-0.5, 2.0], sigma=1.5),
    robai.Bernoulli([0.7, 0.2, 0.5]),
    robai.Bernoulli([0.0, 1.0, 0.75]),
    robai.Binomial([2.5, 1.0, 4.0], n=5),
    robai.Poisson([1.0, 0.0, 2.5]),
    robai.Exponential([2.0, 1.0, 0.25]),
    robai.Gamma([2.0, 1.0, 0.5], shape=2.5),
    robai.NegativeBinomial([1.0, 3.0, 0.5], r=1.5),
]
assert {type(bandit) for bandit in BANDITS} == set(robai.bandits.BANDITS.values())

TWO_ARMED = (robai.BAIETC, robai.DETC)


def fitting(policy, bandit):
    """The bandit with as many arms as the policy takes."""
    if isinstance(policy, TWO_ARMED):
        return dataclasses.replace(bandit, means=bandit.means[:2])
    return bandit


def arms_played(result, run):
    """The arm of every round before the commitment, from the increments of regret."""
    increments = np.diff(result.curves[run], prepend=0.0)
    arms = np.abs(increments[:, None] - result.gaps[None, :]).argmin(axis=1)
    assert np.abs(increments - result.gaps[arms]).max() < 1e-9
    end = result.commit_time[run]
    return arms[: end if end >= 0 else None].tolist()


class Turns:
    """A policy written in Python: all arms in turn."""

    def select(self, state):
        return state.t % state.n_arms

    def update(self, arm, reward):
        pass
