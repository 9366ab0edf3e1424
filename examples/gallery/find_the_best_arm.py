"""
Finding the best arm at a given confidence
==========================================

Not what is earned counts here, but how many rounds it takes to name the best arm with an error of at
most 5 %. Bernoulli arms as in the experiments of Garivier and Kaufmann (2016).
"""

import robai

bandit = robai.Bernoulli([0.5, 0.45, 0.43, 0.4])
policies = [robai.TrackAndStop(), robai.TopTwo(), robai.KLLUCB(), robai.Uniform()]
found = robai.identify(policies, bandit, delta=0.05, runs=100, rng=0)
print(found.summary())

# %%
# Rounds until the policy names an arm. Nothing can take fewer than about T* log(1/delta) on average as
# delta falls:

weights, time = robai.theory.weights(bandit)
print(f"T* = {time:.0f}, optimal proportions {weights.round(2).tolist()}")
found.plot()

# %%
# The shares of the rounds that the arms were given. Track-and-Stop aims at the optimal ones.

found.plot_proportions()
