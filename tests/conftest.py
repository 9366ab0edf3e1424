"""Examples that the contract tests run over; every registered policy and bandit must have one."""

import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import settings

import robai

sys.path.insert(0, str(Path(__file__).parent))  # for `import reference` and the like
# The same examples in every run, and no limit of time: the machine may be busy.
settings.register_profile("robai", derandomize=True, deadline=None)
settings.load_profile("robai")
os.environ["PYTHONSAFEPATH"] = "1"  # child processes import the installed package, not this directory

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
        return type(bandit)(bandit.means[:2], **{k: v for k, v in vars(bandit).items() if k != "means"})
    return bandit


def no_more_threads_than(count):
    """Whether there are no more threads of Python, in the end: one that is told to end takes a moment."""
    until = time.monotonic() + 10
    while len(sys._current_frames()) > count and time.monotonic() < until:
        time.sleep(0.001)
    return len(sys._current_frames()) <= count


@pytest.fixture(params=POLICIES, ids=lambda policy: policy.label())
def policy(request):
    return request.param


@pytest.fixture(params=BANDITS, ids=repr)
def bandit(request):
    return request.param
