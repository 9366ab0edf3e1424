"""The optimal proportions w*: followed from one estimate to the next, and searched for from nothing."""

import numpy as np
import pytest
from support.agents import agent_for
from support.reference import play
from support.reference_divergences import optimal_weights

import robai
from robai import families
from robai._core.proportions import Proportions

FAMILIES = [
    families.Gaussian(1.0),
    families.Bernoulli(),
    families.Binomial(4),
    families.Poisson(),
    families.Exponential(),
    families.Gamma(2.5),
    families.NegativeBinomial(2.0),
    families.Bounded(-1.0, 3.0),
]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=repr)


def solver(family, n_arms):
    return Proportions(family._core(n_arms), n_arms)


def domain(family):
    low, high = family.support
    return max(low, -2.0), min(high, 4.0)


def walks(family, rng, walks=40, length=25):
    """Means that move by anything from little to much: some alike, some at the edge of the domain."""
    low, high = domain(family)
    for walk in range(walks):
        n_arms = int(rng.integers(2, 13))
        edge = 10.0 ** rng.uniform(-9, -1)
        means = low + (high - low) * rng.choice([edge, 1 - edge, *rng.random(4)], size=n_arms)
        step = (high - low) * 10.0 ** rng.uniform(-7, -0.5)
        for _ in range(length):
            arm = rng.integers(n_arms)
            if walk % 4 == 0:  # exactly as good as another one
                means[arm] = means[rng.integers(n_arms)]
            else:
                means[arm] += step * rng.uniform(-1, 1)
            means = np.clip(means, low + 1e-9, high - 1e-9)
            yield means.copy(), n_arms


@every_family
def test_what_is_followed_is_what_is_found_from_nothing(family):
    rng, solvers, followed, far = np.random.default_rng(4), {}, 0, 0
    for means, n_arms in walks(family, rng):
        near = solvers.setdefault(n_arms, solver(family, n_arms))
        weights, fresh = near.of(means), solver(family, n_arms).of(means)
        best, *others = np.sort(means)[::-1]
        if others[0] == best:
            assert weights.tolist() == fresh.tolist() == ((means == best) / np.sum(means == best)).tolist()
            continue
        followed += near.followed
        # Of a gap, means have only so many digits.
        error = 1e-10 + 1e-14 * np.abs(means).max() / (best - others[0])
        np.testing.assert_allclose(weights, fresh, rtol=error, atol=1e-300)
        far += 1
    assert followed > 0.6 * far > 300


@every_family
@pytest.mark.parametrize("states", [6, pytest.param(400, marks=pytest.mark.slow)])
def test_both_are_those_of_nested_bisection(family, states):
    if isinstance(family, families.Bounded):
        pytest.skip("Bernoulli's, on another scale")
    rng, (low, high) = np.random.default_rng(8), domain(family)
    for _ in range(states):
        n_arms = int(rng.integers(2, 6))
        means = rng.uniform(low + 0.02, high - 0.02, size=n_arms)
        expected = optimal_weights(family, means.tolist())
        if np.diff(np.sort(means)[-2:]) < 0.05:  # the reference's divergences cancel
            continue
        near = solver(family, n_arms)
        near.of(means + 1e-3 * rng.uniform(-1, 1, size=n_arms))
        assert near.of(means) == pytest.approx(expected, rel=1e-10)
        assert near.followed or n_arms == 2
        assert solver(family, n_arms).of(means) == pytest.approx(expected, rel=1e-10)


def test_with_a_sigma_for_each_arm_costs_are_equal_and_ratios_sum_to_one():
    """The ratio of divergences is (w_a / V_a)^2 V_a V_b / w_b^2 with V = sigma^2."""
    rng = np.random.default_rng(5)
    sigma = rng.uniform(0.3, 3.0, size=6)
    near = solver(families.Gaussian(sigma.tolist()), 6)
    means = rng.normal(size=6)
    for _ in range(300):
        means[rng.integers(6)] += 0.01 * rng.normal()
        w, best = near.of(means), np.argmax(means)
        others = np.arange(6) != best
        costs = (means[best] - means[others]) ** 2 / (sigma[best] ** 2 / w[best] + (sigma**2 / w)[others])
        assert costs == pytest.approx(costs[0], rel=1e-10)
        squares = (w / sigma) ** 2
        assert squares[others].sum() == pytest.approx(squares[best], rel=1e-10)


def test_means_that_move_little_take_few_steps():
    rng = np.random.default_rng(6)
    near, means = solver(families.Bernoulli(), 10), rng.uniform(0.2, 0.8, size=10)
    steps = []
    for pulls in range(100, 1000):
        arm = rng.integers(10)
        means[arm] += ((rng.random() < 0.5) - means[arm]) / pulls
        near.of(means)
        assert near.followed or not steps
        steps.append(near.steps)
    assert np.mean(steps[1:]) < 3.5


@pytest.mark.parametrize("tracking", ["C", "D"])
def test_an_agent_that_is_restored_in_every_round_chooses_the_same_arms(tracking):
    """What it follows is all in its state."""
    policy, bandit = robai.TrackAndStop(tracking=tracking), robai.Bernoulli([0.6, 0.55, 0.5, 0.3, 0.2])
    straight = agent_for(policy, bandit, 500, rng=2)
    again = agent_for(policy, bandit, 500, rng=2)
    rewards = np.random.default_rng(3)
    for _ in range(400):
        arm = straight.select()
        assert again.select() == arm
        reward = float(rewards.random() < bandit.means[arm])
        straight.update(arm, reward)
        again.update(arm, reward)
        again = robai.Agent.from_json(again.to_json())
    assert again.to_json() == straight.to_json()


@pytest.mark.slow
@pytest.mark.parametrize("tracking", ["C", "D"])
@pytest.mark.parametrize("seed", range(4))
def test_hundreds_of_rounds_are_those_of_nested_bisection(tracking, seed):
    policy, bandit = robai.TrackAndStop(tracking=tracking), robai.Bernoulli([0.6, 0.55, 0.5, 0.3])
    arms, _, _ = play(policy, bandit, 400, seed, 0)
    played = robai.simulate(policy, bandit, 400, 1, rng=seed, engine="step")
    assert np.bincount(arms, minlength=4).tolist() == played.pulls[0].tolist()
