"""
How much to explore: c in l = log T + c sqrt(log T)
===================================================

The theorems need c = 4 sqrt 2, experiments use c = 1. A larger c explores more: more regret, a later
commitment, and fewer wrong ones. Arms that are close show the price.
"""

import matplotlib.pyplot as plt

import robai

values = [0.0, 0.5, 1.0, 2.0, robai.theory.INFLATION]
policies = [robai.EOCPUG(inflation=c) for c in values]
games = robai.sweep(policies, robai.Gaussian([0.5, 0.0]), 10**4, runs=10_000, rng=0)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
games.plot_parameter("inflation", ax=left, quantity="regret")
games.plot_parameter("inflation", ax=right, quantity="commitment")

# %%
# Wrong commitments, with their 95 % intervals:

for policy, result in zip(policies, games.values(), strict=True):
    wrong = result.wrong_commit()
    interval = f"{wrong.low:.3%} to {wrong.high:.3%}"
    print(f"c = {policy.inflation:.2f}: {wrong.count} of {wrong.committed}, {interval}")
