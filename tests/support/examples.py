"""Examples that the contract tests run over, every registered policy and bandit among them; one result."""

import dataclasses
import math
import statistics
from unittest import mock

import numpy as np

import robai
from robai._core.engine import Batch
from robai._play import batches

INDICES = [
    robai.UCB(sigma=1.0),
    robai.UCB(level="ratio", sigma=1.0),
    robai.UCB(level="round", sigma=1.0),
    robai.KLUCB(),
    robai.KLUCB(level="ratio"),
    robai.KLUCB(level="round"),
    robai.KLUCB(level="++"),
    robai.IMED(),
]
# Of the same kind, each with a level of its own.
MORE_INDICES = [
    robai.UCB(level="anytime", sigma=1.0),
    robai.KLUCB(level="loglog"),
    robai.KLUCB(level="plus"),
    robai.MOSS(sigma=1.0),
    robai.MOSS(anytime=True, sigma=1.0),
    robai.AdaUCB(sigma=1.0),
]
# What both engines play. Their parameters suit gaps of about 0.5.
LEAPING = [
    *INDICES,
    robai.EOCP(gap=0.5, sigma=1.0),
    robai.EOCPUG(sigma=1.0),
    robai.KLEOCP(kl=0.3),
    robai.KLEOCPUG(),
    robai.KLEOCPUG(guard=0.0),
    robai.LilUCB(sigma=1.0),
]
POLICIES = [
    robai.EOCP(gap=1.5, sigma=1.0),
    robai.EOCP(gap=2.0, inflation=0.2, sigma=1.5),
    robai.EOCPUG(sigma=1.0),
    robai.EOCPUG(inflation=0.0, sigma=0.5),
    robai.EOCPUG(bounds="bernstein"),
    robai.KLEOCP(kl=1.0),
    robai.KLEOCPUG(),
    robai.KLEOCPUG(inflation=0.2, guard=0.0),
    robai.LeadCommit(),
    robai.LeadCommit(exponent=0.8, factor=1.5, level="pulls"),
    robai.LeadCommit(level="horizon"),
    robai.LeadCommit(exponent=1.0, delta=0.1),
    *INDICES,
    *MORE_INDICES,
    robai.UCBV(zeta=1.2),
    robai.ThompsonSampling(),
    robai.ThompsonSampling(prior="uniform"),
    robai.BayesUCB(c=1.0),
    robai.BAIETC(sigma=1.0),
    robai.ETC(gap=0.5, sigma=1.0),
    robai.SPRTETC(gap=0.5, sigma=1.0),
    robai.DETC(sigma=1.0),
    robai.DETCK(sigma=1.0),
    robai.UCBAlpha(sigma=1.0),
    robai.UCBAlpha(alpha=1.5, delta=0.1, sigma=1.0),
    robai.TrackAndStop(),
    robai.TrackAndStop(delta=0.1, tracking="C"),
    robai.ActionElimination(sigma=1.0),
    robai.ActionElimination(delta=0.1, radius="even-dar", sigma=1.0),
    robai.Uniform(delta=0.1),
    robai.Uniform(stop="budget"),
    robai.KLLUCB(delta=0.1),
    robai.KLLUCB(delta=0.2, threshold="lucb"),
    robai.LUCB(delta=0.3, sigma=0.5),
    robai.UGapE(delta=0.1),
    robai.LilUCB(delta=0.1, sigma=0.5),
    robai.LilUCB(delta=0.2, sigma=0.5, heuristic=False),
    robai.TopTwo(delta=0.1, leader="empirical", beta=0.3),
    robai.TTTS(delta=0.2),
    robai.T3C(delta=0.1),
    robai.TTUCB(delta=0.1),
    robai.EBTCI(delta=0.1),
    robai.Racing(delta=0.1),
    robai.Racing(delta=0.1, test="likelihood"),
    robai.SequentialHalving(),
    robai.SequentialHalving(fresh=True),
    robai.SuccessiveRejects(),
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

TWO_ARMED = (robai.BAIETC, robai.DETC, robai.ETC, robai.SPRTETC)


def needs_an_interval(policy):
    """Is it for rewards in an interval?"""
    return isinstance(policy, robai.UCBV) or getattr(policy, "bounds", "") == "bernstein"


def takes_a_budget(policy):
    """Does it explore for about as many rounds as there are?"""
    return getattr(policy, "stop", None) == "budget" or isinstance(
        policy, robai.SequentialHalving | robai.SuccessiveRejects
    )


def fitting(policy, bandit):
    """The bandit with as many arms as the policy takes, or one whose rewards it takes."""
    coins = getattr(policy, "prior", "") == "uniform" and not isinstance(bandit, robai.Bernoulli)
    if coins or (needs_an_interval(policy) and math.inf in bandit.support):
        return robai.Bernoulli([0.6, 0.1, 0.3])
    if isinstance(policy, TWO_ARMED):
        return dataclasses.replace(bandit, means=bandit.means[:2])
    return bandit


def played_by_steps(policy, bandit, horizon, runs, seed):
    """Recorded after every round, from which `arms_played` reads the arms; all posteriors are drawn from."""
    with mock.patch.object(batches, "Thinned", Batch):
        return robai.simulate(
            policy, bandit, horizon, runs, rng=seed, times=range(1, horizon + 1), curves=True, engine="step"
        )


def arms_played(result, run):
    """The arm of every round before the commitment, from the increments of regret."""
    increments = np.diff(result.curves[run], prepend=0.0)
    arms = np.abs(increments[:, None] - result.gaps[None, :]).argmin(axis=1)
    assert np.abs(increments - result.gaps[arms]).max() < 1e-9
    end = result.commit_time[run]
    return arms[: end if end >= 0 else None].tolist()


# A result without symmetries: mean, median and quantiles all differ, as do the runs that never commit, 2, and
# those that commit wrongly, 3 of 5.
GAPS = (0.0, 0.5, 0.125)
PULLS = (
    (700, 200, 100),
    (400, 90, 510),
    (990, 4, 6),
    (250, 500, 250),
    (600, 150, 250),
    (80, 40, 880),
    (512, 256, 232),
)
COMMITMENTS = ((150, 0), (333, 2), (47, 0), (720, 1), (-1, -1), (88, 2), (-1, -1))  # rounds and arms
FINAL_REGRETS = (112.5, 108.75, 2.75, 281.25, 106.25, 130.0, 157.0)


def irregular(label="EOCP", pulls=PULLS, commitments=COMMITMENTS, horizon=1000, **meta):
    """The result without symmetries, or one with other pulls or commitments."""
    final = [sum(n * gap for n, gap in zip(row, GAPS, strict=True)) for row in pulls]
    return robai.Result(
        times=[10, 100, horizon],
        regret=[3.5, 41.25, statistics.fmean(final)],
        regret_sem=[0.75, 6.5, statistics.stdev(final) / math.sqrt(len(final))],
        final_regret=final,
        commit_time=[round_ for round_, _ in commitments],
        committed_arm=[arm for _, arm in commitments],
        pulls=pulls,
        gaps=GAPS,
        label=label,
        meta=meta,
    )


class PlainUCB:
    """As `robai.UCB(sigma=1.0)`, but that ties go to the first: of initial pulls and of indices."""

    def select(self, state):
        if state.t < state.n_arms:
            return state.t
        return int((state.means + np.sqrt(2 * math.log(state.horizon) / state.pulls)).argmax())

    def update(self, arm, reward):
        pass


class Turns:
    """A policy written in Python: all arms in turn."""

    def select(self, state):
        return state.t % state.n_arms

    def update(self, arm, reward):
        pass


def writable_arrays(result):
    """The names of a result's arrays that could be written to. Other processes can import it from here."""
    arrays = {name: value for name, value in vars(result).items() if isinstance(value, np.ndarray)}
    return [name for name, array in arrays.items() if array.flags.writeable]
