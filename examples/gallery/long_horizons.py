"""
Up to 10^15 rounds
==================

Regret of a good policy grows like log T, so the horizon has to grow by powers of ten to show it. The
leap engine does not play rounds that decide nothing: 10^15 of them take little longer than a million.
"""

import matplotlib.pyplot as plt
import numpy as np

import robai

policies = {
    "EOCP": robai.EOCP(gap=0.5),
    "EOCP-UG": robai.EOCPUG(),
    "UCB, log T": robai.UCB(),
    "UCB, log(T/N)": robai.UCB("ratio"),
}
horizons = [10**exponent for exponent in range(3, 16, 2)]
games = robai.sweep(policies, {"two arms": robai.Gaussian([0.7, 0.2])}, horizons, runs=200, rng=0)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
games.plot_scaling(left, quantity="regret")
games.plot_scaling(right, quantity="commitment")

# %%
# EOCP commits after a multiple of log T rounds, EOCP-UG, which does not know the gap, after a multiple
# of log² T. Below is the growth of regret per unit of log T. The constant of the theorems is 2/gap = 4;
# EOCP is below it because it is told the gap.

print(f"{'':15}{'10^3 to 10^9':>14}{'10^9 to 10^15':>15}")
for name in policies:
    ends = [games[name, "two arms", horizon].final_regret.mean() for horizon in (10**3, 10**9, 10**15)]
    slopes = np.diff(ends) / np.log(10**6)
    print(f"{name:15}{slopes[0]:14.2f}{slopes[1]:15.2f}")
