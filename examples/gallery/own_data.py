"""
Rehearse on your own data
=========================

Revenue per visitor is mostly zero and sometimes large. Resampling last month's visitors shows how a
policy would have done before anyone is experimented on.
"""

import numpy as np

import robai

chance = np.random.default_rng(0)  # in place of a file
last_month = {
    "old checkout": (chance.random(20_000) < 0.040) * chance.lognormal(3.0, 0.5, 20_000),
    "new checkout": (chance.random(20_000) < 0.052) * chance.lognormal(3.0, 0.5, 20_000),
}
shop = robai.Empirical({name: np.minimum(revenue, 100.0) for name, revenue in last_month.items()})
print({name: round(mean, 3) for name, mean in zip(shop.names, shop.means, strict=True)})

# %%
# The variance is estimated with the means. Not every run ends with a decision: at this size of the
# difference 100,000 visitors are not many, and that is worth knowing before the test.

family = robai.families.Gaussian()
policies = {"KL-UCB": robai.KLUCB(family=family), "KL-EOCP-UG": robai.KLEOCPUG(family=family)}
played = robai.compare(policies, shop, horizon=100_000, runs=40, rng=0)
print(played.summary())

# %%
# Visitors that each checkout was given:

played.plot_pulls()
