"""Input that an agent refuses, and that never changes it."""

import itertools
import json
import math

import numpy as np
import pytest
from support.agents import twins

import robai
from robai import families

STRANGE = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize(
    ("reward", "bad", "good"),
    [
        ("bernoulli", [*STRANGE, -1, 0.5, 2], [0, 1, True, np.float32(1), 1.0]),
        ("bounded", [*STRANGE, -0.001, 1.001], [0, 0.5, 1]),
        ("gaussian", STRANGE, [-1e300, 0, 1e300]),
        (robai.families.Binomial(5), [*STRANGE, -1, 5.5, 6], [0, 3, 5]),
        ("poisson", [*STRANGE, -1, 1.5], [0, 1e6]),
        ("exponential", [*STRANGE, -0.1], [0, 1e-300, 12.5]),
        (robai.families.Gamma(2.0), [*STRANGE, -0.1], [0, 12.5]),
        (robai.families.NegativeBinomial(2.0), [*STRANGE, -1, 0.5], [0, 12]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_the_family_says_which_rewards_are_valid(reward, bad, good):
    agent = robai.Agent(robai.UCB(sigma=1.0), ["a", "b"], 100, reward=reward, rng=0)
    for value in good:
        agent.update("a", value)
    before = agent.to_json()
    for value in bad:
        with pytest.raises(ValueError, match="reward must be"):
            agent.update("a", value)
        with pytest.raises(ValueError, match=r"rewards\[1\] must be"):
            agent.update_batch(["a", "b", "a"], [good[0], value, good[0]])
        with pytest.raises(ValueError, match="total must be"):
            agent.update_counts("a", 1, value)
    assert agent.to_json() == before


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (KeyError, lambda agent: agent.update("d", 1.0)),
        (KeyError, lambda agent: agent.update(0, 1.0)),
        (KeyError, lambda agent: agent.update_counts("d", 1, 1.0)),
        (KeyError, lambda agent: agent.update_batch(["a", "d"], [1.0, 1.0])),
        (TypeError, lambda agent: agent.update("a", "1.0")),
        (TypeError, lambda agent: agent.update("a", None)),
        (TypeError, lambda agent: agent.update_batch("ab", [1.0, 1.0])),
        (ValueError, lambda agent: agent.update("a", 10**400)),
        (ValueError, lambda agent: agent.update_counts("a", 1, -(10**400))),
        (ValueError, lambda agent: agent.update_counts("a", 10**400, 0)),
        (ValueError, lambda agent: agent.update_batch(["a"], [10**400])),
        (TypeError, lambda agent: agent.update_batch(["a"], ["1"])),
        (TypeError, lambda agent: agent.update_batch(3, [1.0])),
        (ValueError, lambda agent: agent.update_batch(["a"], [1.0, 1.0])),
        (ValueError, lambda agent: agent.update_batch(["a"], [[1.0]])),
        (ValueError, lambda agent: agent.update_counts("a", -1, 0.0)),
        (ValueError, lambda agent: agent.update_counts("a", 1.5, 1.0)),
        (ValueError, lambda agent: agent.update_counts("a", 2**62, 0.0)),
        (ValueError, lambda agent: agent.update_counts("a", 0, 1.0)),
        (ValueError, lambda agent: agent.update_counts("a", 3, 4.0)),
        (ValueError, lambda agent: agent.select_batch(0)),
        (ValueError, lambda agent: agent.select_batch(10**9)),
        (TypeError, lambda agent: agent.select_batch("3")),
    ],
)
def test_what_is_refused_changes_nothing(error, call):
    (agent,) = twins(1, arms=["a", "b", "c"])
    agent.update_batch(agent.select_batch(10)[:5], [1.0] * 5)
    before = agent.to_json()
    with pytest.raises(error):
        call(agent)
    assert agent.to_json() == before


def test_numbered_arms_are_checked_in_batches():
    (agent,) = twins(1)
    for bad in (3, -1):
        with pytest.raises(KeyError, match=r"arms\[1\]"):
            agent.update_batch([0, bad], [1.0, 1.0])
    with pytest.raises(ValueError, match="finite"):
        robai.Agent(robai.UCB(), 2, 9, reward=robai.families.Gaussian(1.0)).update_batch(
            [0, 0], [1.5e308, 1.5e308]
        )
    assert agent.rounds == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": robai.UCB}, "call it"),
        ({"policy": 3}, "policy"),
        ({"arms": 1}, "arms"),
        ({"arms": "abc"}, "arms"),
        ({"arms": ["a"]}, "arms"),
        ({"arms": ["a", "a"]}, "'a' twice"),
        ({"arms": ["a", None]}, r"arms\[1\]"),
        ({"arms": ["a", math.nan]}, r"arms\[1\]"),
        ({"arms": ["a", 10**30]}, r"arms\[1\]"),
        ({"arms": ["a", 10**5000]}, r"arms\[1\]"),
        ({"arms": np.array([[1, 2], [3, 4]])}, r"arms\[0\]"),
        ({"arms": [*range(200_000), 7]}, "7 twice"),
        ({"arms": itertools.count()}, "got more"),
        ({"horizon": 2}, "horizon"),
        ({"horizon": 1.5}, "horizon"),
        ({"reward": "normal"}, "reward"),
        ({"reward": "binomial"}, "reward"),
        ({"rng": "a"}, "rng"),
        ({"policy": robai.DETC()}, "two arms only"),
        ({"policy": robai.KLUCB(family="bernoulli"), "reward": "gaussian"}, "rewards in"),
    ],
)
def test_a_bad_argument_is_named(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        twins(1, **options)


@pytest.mark.parametrize(
    ("arms", "labels"),
    [
        (np.array([10, 20]), (10, 20)),
        (np.array(["x", "y"]), ("x", "y")),
        ([np.float32(0.5), np.int8(3)], (0.5, 3)),
        (np.array(2), (0, 1)),
    ],
)
def test_numpy_arms_are_arms(arms, labels):
    agent = robai.Agent(robai.UCB(), arms, 100, reward="bernoulli", rng=0)
    assert agent.labels == labels
    assert {type(label) for label in agent.labels} <= {int, float, str}
    agent.update(labels[0], 1)
    agent.update(arms[0] if np.ndim(arms) else 0, 1)
    assert robai.Agent.from_json(agent.to_json()).labels == labels
    assert agent.pulls.tolist() == [2, 0]


def test_there_is_room_for_every_pull_that_can_be_restored():
    (agent,) = twins(1)
    agent.update_counts(0, 2**60, 0.0)
    for call in (lambda: agent.update(0, 1), lambda: agent.update_batch([0], [1]), agent.select):
        with pytest.raises((ValueError, robai.HorizonReached)):
            call()
    assert robai.Agent.from_json(agent.to_json()).rounds == 2**60


@pytest.mark.parametrize(
    ("reward", "n", "total", "squares"),
    [
        (families.Bounded(0, 2), 4, 2.0, 3.01),  # one at 2 and three at 0 deviate by 3
        (families.Bounded(-1, 3), 4, 0.0, 12.01),
        (families.Bounded(), 3, 3.0, 0.1),
        (families.Bounded(), 3, 1.0, -0.1),
        ("bernoulli", 10, 4.0, 2.3),  # two kinds of rewards only: 2.4
        ("bernoulli", 10, 4.0, 2.5),
        (families.Binomial(5), 4, 10.0, 25.1),
        (families.Binomial(5), 4, 10.0, 0.9),  # 2, 2, 3 and 3 deviate by 1
    ],
)
def test_squares_that_rewards_of_a_range_cannot_have_are_refused(reward, n, total, squares):
    agent = robai.Agent(robai.UCBV(), 2, 1000, reward=reward, rng=0)
    with pytest.raises(ValueError, match=r"squares must be .* got"):
        agent.update_counts(0, n, total, squares)
    assert agent.rounds == 0
    agent.update_counts(0, 2, 0.0, 0.0)
    state = json.loads(agent.to_json())
    state |= {"pulls": [n, 0], "sums": [total, 0.0], "squares": [squares, 0.0], "answered": n}
    with pytest.raises(ValueError, match="field squares: entry 0"):
        robai.Agent.from_json(json.dumps(state))


@pytest.mark.parametrize(
    "reward",
    ["bernoulli", families.Binomial(7), families.Bounded(-0.1, 0.3), families.Bounded(1e6, 1e6 + 1)],
    ids=repr,
)
def test_squares_of_rewards_at_the_ends_of_their_range_are_taken(reward):
    """However they were computed, and added up."""
    rng = np.random.default_rng(1)
    agent = robai.Agent(robai.UCBV(), 2, 10**9, reward=reward, rng=0)
    ends = families.as_family(reward).support
    for n in (2, 3, 10, 1000, 10**5):
        for share in (0.0, 0.01, 0.5, 1.0):
            values = np.where(rng.random(n) < share, *ends)
            total = values.sum()
            agent.update_counts(0, n, total, ((values - values.mean()) ** 2).sum())
            agent.update_counts(0, n, total, max((values**2).sum() - total**2 / n, 0.0))
            agent.update_batch([1] * n, values)
            robai.Agent.from_json(agent.to_json())
