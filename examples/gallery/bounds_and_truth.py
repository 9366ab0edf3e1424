"""
What is proved and what happens
===============================

The finite-time theorem bounds EOCP's regret by a sum of terms. `robai.theory` computes each of them, and
a simulation shows how much room is left.
"""

from dataclasses import asdict

import matplotlib.pyplot as plt

import robai
from robai import theory

bandit = robai.Gaussian([0.7, 0.2])
horizons = [10**exponent for exponent in range(4, 13, 2)]
policy = robai.EOCP(gap=0.5, inflation=theory.INFLATION)
games = robai.sweep(policy, bandit, horizons, runs=300, rng=0)
terms = [asdict(theory.regret_bound_eocp(bandit, horizon)) for horizon in horizons]

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
shown = ["leading", "inflation", "deviation", "first_pulls"]
ax.stackplot(horizons, [[each[name] for each in terms] for name in shown], labels=shown, alpha=0.4)
ax.plot(horizons, [result.final_regret.mean() for result in games.values()], "ko-", label="simulated")
limits = [theory.regret_lower_bound(bandit, horizon) for horizon in horizons]
ax.plot(horizons, limits, "k:", label="Lai and Robbins")
ax.set(xscale="log", xlabel="horizon T", ylabel="regret")
ax.legend()

# %%
# The other terms, for errors that have to happen first, are too small to be seen:

for horizon, each in zip(horizons, terms, strict=True):
    rest = {name: f"{value:.2g}" for name, value in each.items() if name not in shown}
    print(f"T = {horizon:.0e}: {rest}")
