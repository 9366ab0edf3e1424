"""
Regret
======
Text.
"""

import robai

robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 10**4, 100, rng=0).plot()
