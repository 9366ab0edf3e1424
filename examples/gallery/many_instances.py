"""
New means in every run
======================

A comparison on one bandit says who is better there. Here every run has ten Bernoulli arms with means of
its own, drawn uniformly, and the regret is an average over bandits. All policies meet the same ones.
"""

import robai

instances = robai.Instances("bernoulli", robai.priors.Uniform(0, 1), n_arms=10)
policies = [robai.UCB(), robai.KLUCB(), robai.ThompsonSampling(), robai.KLEOCPUG()]
played = robai.compare(policies, instances, horizon=10**4, runs=400, rng=0)
played.plot()

# %%
# The average hides the bandits. Regret of single runs spreads over two orders of magnitude:

played.plot_final_regret()

# %%
# Since the instances are the same, differences are known far better than the two averages are:

difference = played.difference("UCB()", "KLUCB()")
print(f"UCB loses {difference.mean:.1f} more, 95 % interval {difference.low:.1f} to {difference.high:.1f}")
