"""What is said of the paper's claims: intervals against resampling, sentences against plain Python."""

import math
import statistics

import numpy as np
import pytest
from support.examples import FINAL_REGRETS, irregular

import robai
from robai.paper.claims import check, regret_after, regret_ratio
from robai.paper.gallery.zhang_ying2023 import CLAIMS
from robai.result import Comparison

Z = statistics.NormalDist().inv_cdf(0.975)
# Other pulls, whose regrets go along with those of the irregular result without being proportional to them.
SMALLER = (
    (800, 130, 70),
    (600, 60, 340),
    (992, 3, 5),
    (500, 300, 200),
    (700, 90, 210),
    (290, 50, 660),
    (610, 170, 220),
)
SMALLER_REGRETS = [n / 2 + few / 8 for _, n, few in SMALLER]
RATIO = sum(SMALLER_REGRETS) / sum(FINAL_REGRETS)
EARLY = ((640, 0), (1000, 0), (47, 0), (720, 1), (-1, -1), (588, 2), (-1, -1))


def interval():
    """The delta method, spelt out."""
    residuals = [own - RATIO * its for own, its in zip(SMALLER_REGRETS, FINAL_REGRETS, strict=True)]
    error = statistics.stdev(residuals) / math.sqrt(7) / statistics.fmean(FINAL_REGRETS)
    return RATIO - Z * error, RATIO + Z * error


def test_the_interval_of_a_ratio_is_that_of_the_delta_method():
    found = regret_ratio(irregular("EOCP", SMALLER), irregular("UCB"))
    assert found == (pytest.approx(RATIO), *map(pytest.approx, interval()))


def test_the_interval_of_a_ratio_is_that_of_resampled_runs():
    bandit = robai.Gaussian([0.7, 0.2])
    ours, theirs = robai.compare([robai.EOCP(gap=0.5), robai.UCB()], bandit, 10**4, 2000, rng=1).values()
    pairs = np.stack([ours.final_regret, theirs.final_regret])
    chance = np.random.default_rng(0)
    sums = [pairs[:, chance.integers(2000, size=2000)].sum(axis=1) for _ in range(2000)]
    spread = statistics.stdev(own / its for own, its in sums)
    ratio, low, high = regret_ratio(ours, theirs)
    assert high - ratio == pytest.approx(Z * spread, rel=0.1)
    assert ratio - low == pytest.approx(Z * spread, rel=0.1)


def test_a_ratio_of_different_runs_has_no_interval():
    assert all(
        map(math.isnan, regret_ratio(irregular(), irregular(pulls=SMALLER * 2, commitments=EARLY * 2))[1:])
    )


def test_the_regret_after_a_round_is_the_rest():
    mean = sum(FINAL_REGRETS) / 7
    assert regret_after(irregular(), 100) == pytest.approx(1 - 41.25 / mean)
    assert regret_after(irregular(), 11) == pytest.approx(1 - 41.25 / mean)
    assert regret_after(irregular(), 10) == pytest.approx(1 - 3.5 / mean)


def test_verdicts_say_the_numbers():
    results = [
        irregular("EOCP", SMALLER, EARLY),
        irregular("EOCP-UG"),
        irregular("UCB"),
        *(irregular(name, SMALLER[::-1]) for name in ("BAI-ETC", "DETC")),
    ]
    verdicts = {each.criterion: each for each in check(CLAIMS, {"fig1-gaussian": [Comparison(results)]})}
    low, high = interval()
    assert verdicts["at least 20 % below"].numbers == (
        f"{100 * (1 - RATIO):.1f} % below ({100 * (1 - high):.1f} to {100 * (1 - low):.1f} %)"
    )
    assert verdicts["at least 20 % below"].holds
    assert verdicts["median between 500 and 2000"].numbers == "median EOCP 640, EOCP-UG 150"
    assert not verdicts["median between 500 and 2000"].holds
    ratios = sum(FINAL_REGRETS) / sum(SMALLER_REGRETS)
    numbers = verdicts["regret at most 1.1 times EOCP's"].numbers
    assert numbers.startswith(f"regret {ratios:.3f} times (")
    assert numbers.endswith(f", commitment at {3338 / 7:,.0f} and {4995 / 7:,.0f}")
    small, large = statistics.fmean(SMALLER_REGRETS), statistics.fmean(FINAL_REGRETS)
    assert verdicts["above EOCP and UCB"].numbers == (
        f"BAI-ETC {small:.1f}, DETC {small:.1f}; EOCP and UCB at most {large:.1f}"
    )
    (later,) = (each for each in verdicts.values() if "comes later" in each.criterion)
    assert later.numbers == "after round 640: UCB 0.0 %, EOCP 0.00 %"
    assert verdicts["wrong in at most 0.1 %"].numbers == (
        "EOCP 2 of 5, at most 85 %; EOCP-UG 3 of 5, at most 94.7 %"
    )


def test_a_share_of_another_policy_is_in_percent():
    smaller = [irregular("KL-EOCP", SMALLER), irregular("KL-UCB", [SMALLER[0]] * 7)]
    larger = [irregular(name) for name in ("EOCP", "UCB", "EOCP-UG", "BAI-ETC", "DETC")]
    figures = {"fig1-bernoulli": [Comparison(smaller + larger)]}
    (verdict,) = (each for each in check(CLAIMS, figures) if "half" in each.criterion)
    shares = [100 * RATIO, 100 * SMALLER_REGRETS[0] / statistics.fmean(FINAL_REGRETS)]
    assert verdict.numbers == f"KL-EOCP {shares[0]:.0f} % of EOCP, KL-UCB {shares[1]:.0f} % of UCB"
