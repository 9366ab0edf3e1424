"""
A live experiment, watched
==========================

An agent serves visitors and gets answers. What an engineer sees of it: a table, a sentence and a figure
with the bounds that the rule itself compares.
"""

import matplotlib.pyplot as plt
import numpy as np

import robai

CONVERSION = {"green": 0.05, "orange": 0.12, "blue": 0.06}
chance = np.random.default_rng(3)
agent = robai.Agent(robai.KLEOCPUG(), list(CONVERSION), horizon=100_000, reward="bernoulli", rng=7)


def serve(visitors):
    for _ in range(visitors):
        arm = agent.select()
        agent.update(arm, chance.random() < CONVERSION[arm])


figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
serve(1_500)
agent.plot(left)
serve(23_500)
agent.plot(right)

# %%
# Left after 1,500 visitors, right after 25,000. By then it had committed, and says why:

print(agent.summary())
