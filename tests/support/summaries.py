"""Simulations of which sums and counts are compared with those of single runs."""

import robai

GAUSSIAN = robai.Gaussian([0.7, 0.2, 0.1])
INSTANCES = robai.Instances("bernoulli", robai.priors.Uniform(), n_arms=3)
GAMES = {
    "commits": (robai.EOCPUG(), GAUSSIAN, 10**5),
    "never": (robai.UCB(), GAUSSIAN, 10**5),
    "some": (robai.KLEOCPUG(guard=0), robai.Bernoulli([0.95, 0.9]), 2000),
    "own means": (robai.KLEOCPUG(), INSTANCES, 1000),
    "ties": (robai.EOCPUG(), robai.Bernoulli([0.5, 0.5, 0.2]), 3000),
    "far": (robai.UCB(), robai.Gaussian([0.7, 0.2]), 10**15),
}
RUNS = 700


def play(game, runs=RUNS, **options):
    policy, bandit, horizon = GAMES[game]
    return robai.simulate(policy, bandit, horizon, runs, rng=3, **options)
