"""
When do they commit?
====================

A commitment time is a random number, but for EOCP, which is told the gap and fixes its round beforehand.
The figure is its distribution: the share of runs that have committed by each round.
"""

import robai

bandit = robai.Bernoulli([0.35, 0.25, 0.2])
policies = {
    "KL-EOCP": robai.KLEOCP(kl=robai.theory.kl_min(bandit)),
    "KL-EOCP-UG": robai.KLEOCPUG(),
    "LeadCommit": robai.LeadCommit(),
    "Track-and-Stop": robai.TrackAndStop(),
}
played = robai.compare(policies, bandit, horizon=10**5, runs=400, rng=0)
played.plot_commitment()

# %%
# Early is worth something only if it is right. The intervals are exact, those of Clopper and Pearson: no
# error in 400 runs does not mean that there are none.

played.plot_wrong_commit()
