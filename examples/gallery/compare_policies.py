"""
Five policies on one bandit
===========================

Two Gaussian arms and a million rounds. Which policy loses least, and which of them says when it is done?
"""

import robai

bandit = robai.Gaussian([0.7, 0.2])
policies = [robai.EOCP(gap=0.5), robai.EOCPUG(), robai.LeadCommit(), robai.UCB(), robai.KLUCB("ratio")]
played = robai.compare(policies, bandit, horizon=10**6, runs=2000, rng=0)
print(played.summary())

# %%
# Regret against rounds, with the 95 % confidence band of the mean. A dot is the median round of the
# commitment: from there on the curve is flat, unless some runs have committed to the wrong arm. The grey
# line has the slope that Lai and Robbins prove to be the least in the long run.

played.plot(lower_bound=robai.theory.lai_robbins(bandit))

# %%
# Further left is an earlier commitment, lower is less regret. No policy with a filled point is beaten in
# both.

played.plot_tradeoff()
