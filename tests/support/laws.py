"""When samples have the same law, or the law that a distribution function says."""

import math

import numpy as np


def assert_same_law(first, second):
    """The Kolmogorov-Smirnov distance has a p-value above 1e-6, and means are within 5 standard errors.

    With ties, as discrete numbers have them, the test is conservative.
    """
    joint = np.sort(np.concatenate([first, second]))
    places = (np.searchsorted(np.sort(each), joint, side="right") / len(each) for each in (first, second))
    distance = np.abs(np.subtract(*places)).max()
    size = len(first) * len(second) / (len(first) + len(second))
    assert 2 * math.exp(-2 * size * distance**2) > 1e-6
    error = math.sqrt(first.var() / len(first) + second.var() / len(second))
    assert abs(first.mean() - second.mean()) <= 5 * error


def assert_distribution(values, cdf, runs):
    """Massart's inequality: P(sup |F_n - F| > e) <= 2 exp(-2 n e^2). Infinite values only count."""
    values = np.sort(values[np.isfinite(values)])
    expected, place = cdf(values), np.arange(len(values) + 1) / runs
    distance = max(np.abs(place[1:] - expected).max(), np.abs(place[:-1] - expected).max())
    assert distance < math.sqrt(math.log(2e6) / (2 * runs))


def assert_same_counts(first, second):
    """Chi-square of histograms of whole numbers is below 5 sigma, by Wilson and Hilferty."""
    both = np.bincount(np.concatenate([first, second]))
    bins = np.maximum(np.cumsum(both) - 1, 0) // 200  # of about so many, and as many more as one number has
    rows = [np.bincount(bins[each], minlength=bins[-1] + 1) for each in (first, second)]
    table = np.array(rows)[:, np.sum(rows, axis=0) > 0]
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    square, freedom = ((table - expected) ** 2 / expected).sum(), table.shape[1] - 1
    spread = 2 / (9 * freedom)
    assert (square / freedom) ** (1 / 3) < 1 - spread + 5 * math.sqrt(spread)
