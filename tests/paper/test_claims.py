"""What is said of the paper's claims: intervals against resampling, sentences against plain Python."""

import math
import statistics

import numpy as np
import pytest
from support.examples import FINAL_REGRETS, irregular

import robai
from robai.paper.claims import check, regret_after, regret_ratio, wrong_commitments
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
    assert regret_after(irregular(), 100).value == pytest.approx(1 - 41.25 / mean)
    assert regret_after(irregular(), 11).value == pytest.approx(1 - 41.25 / mean)
    assert regret_after(irregular(), 10).value == pytest.approx(1 - 3.5 / mean)


def test_the_error_of_the_rest_is_no_smaller_than_that_of_the_runs():
    played = robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 10**4, 500, rng=1, curves=True)
    place = int(np.searchsorted(played.times, 1000))
    rest = 1.0 - played.curves[:, place].mean() / played.final_regret.mean()
    residual = played.final_regret - played.curves[:, place] - rest * played.final_regret
    error = residual.std(ddof=1) / math.sqrt(500) / played.final_regret.mean()
    value, low, high = regret_after(played, 1000)
    assert value == pytest.approx(rest)
    assert high - value == pytest.approx(value - low)
    assert Z * error <= high - value <= 4 * Z * error


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
    assert verdicts["at least 20 % below"].result == "holds"
    assert high < 0.8
    assert verdicts["median between 500 and 2000"].numbers == "median EOCP 720, EOCP-UG 333"
    assert verdicts["median between 500 and 2000"].result == "not decided"
    ratios = sum(FINAL_REGRETS) / sum(SMALLER_REGRETS)
    numbers = verdicts["regret at most 1.1 times EOCP's"].numbers
    assert numbers.startswith(f"regret {ratios:.3f} times (")
    assert numbers.endswith(f", commitment at {3338 / 7:,.0f} and {4995 / 7:,.0f}")
    small, large = statistics.fmean(SMALLER_REGRETS), statistics.fmean(FINAL_REGRETS)
    assert verdicts["above EOCP and UCB"].numbers == (
        f"BAI-ETC {small:.1f}, DETC {small:.1f}; EOCP and UCB at most {large:.1f}"
    )
    (later,) = (each for each in verdicts.values() if "comes later" in each.criterion)
    reach = 100 * Z * 2 * statistics.stdev(FINAL_REGRETS) / math.sqrt(7) / large
    assert later.numbers == (
        f"after round 720: UCB 0.0 % ({-reach:.1f} to {reach:.1f} %), EOCP in 5 of 7 runs, at most 96.3 %"
    )
    assert later.result == "fails"  # more than 1 % of EOCP's runs go on
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


def commits(label, wrong, runs):
    """So many runs, some of which commit to the wrong arm."""
    return irregular(label, [SMALLER[0]] * runs, [(600, 1)] * wrong + [(600, 0)] * (runs - wrong))


@pytest.mark.parametrize(
    ("wrong", "runs", "word"),
    [
        (0, 400, "not decided"),  # up to 0.92 %
        (0, 3000, "not decided"),  # up to 0.123 %
        (0, 4000, "holds"),  # up to 0.092 %
        (3, 400, "fails"),  # from 0.15 % on
        (2, 400, "not decided"),  # from 0.06 % on
    ],
)
def test_a_proportion_is_decided_by_its_exact_interval(wrong, runs, word):
    (check_arms,) = (claim.check for claim in CLAIMS if claim.criterion == "wrong in at most 0.1 %")
    assert check_arms(Comparison([commits("EOCP", wrong, runs)]))[0] == word


@pytest.mark.parametrize(
    ("early", "word"), [(10, "holds"), (45, "not decided"), (55, "not decided"), (75, "fails")]
)
def test_a_median_is_decided_by_the_shares_on_both_sides(early, word):
    (near,) = (claim.check for claim in CLAIMS if claim.criterion == "median between 500 and 2000")
    times = [(499, 0)] * early + [(500, 0)] * (100 - early)
    results = [irregular(name, [SMALLER[0]] * 100, times) for name in ("EOCP", "EOCP-UG")]
    assert near(Comparison(results))[0] == word


def scaled(label, factor, spread):
    """Runs whose regret is about so large, and varies so much."""
    pulls = [(1000 - n - 1, n, 1) for n in (round(100 * factor) + step * spread for step in range(-3, 4))]
    return irregular(label, pulls)


@pytest.mark.parametrize(
    ("factor", "spread", "word"),
    [(0.7, 0, "holds"), (0.78, 6, "not decided"), (0.82, 6, "not decided"), (0.9, 0, "fails")],
)
def test_a_ratio_is_decided_by_its_interval(factor, spread, word):
    (claim,) = (claim for claim in CLAIMS if claim.criterion == "at least 20 % below")
    assert claim.check(Comparison([scaled("EOCP", factor, spread), scaled("UCB", 1.0, 0)]))[0] == word


@pytest.mark.parametrize(("level", "word"), [(90.0, "fails"), (30.0, "not decided"), (1.0, "holds")])
def test_more_regret_early_is_decided_by_both_errors(level, word):
    """At round 100, the next recorded one after half of EOCP's runs have committed."""
    (claim,) = (claim for claim in CLAIMS if "more regret than UCB" in claim.criterion)
    early = [(88, 0)] * 7
    ours = [irregular(name, commitments=early) for name in ("EOCP", "EOCP-UG")]
    theirs = irregular("UCB")
    arrays = {
        name: getattr(theirs, name) for name in ("times", "final_regret", "commit_time", "pulls", "gaps")
    }
    arrays["committed_arm"] = theirs.committed_arm
    regret = [0.5, level, float(theirs.regret[-1])]
    ucb = robai.Result(regret=regret, regret_sem=theirs.regret_sem, label="UCB", meta={}, **arrays)
    found, numbers = claim.check(Comparison([*ours, ucb]))
    assert found == word
    assert numbers == f"after round 100: EOCP 41.2, EOCP-UG 41.2; UCB {level:.1f}"


def test_kl_ucb_goes_on_when_kl_eocp_has_committed():
    (claim,) = (claim for claim in CLAIMS if claim.text.startswith("KL-UCB over-explores"))
    assert claim.experiments == ("fig1-bernoulli", "fig2-bernoulli")
    bandit = robai.Bernoulli([0.7, 0.2])
    policies = {"KL-EOCP": robai.KLEOCP(kl=0.5), "KL-UCB": robai.KLUCB()}
    played = robai.compare(policies, bandit, 10**5, 500, rng=1)
    word, numbers = claim.check(played)
    assert word == "holds"
    assert numbers.startswith(f"after round {played['KL-EOCP'].commit_time[0]:,}: KL-UCB ")
    assert "KL-EOCP in 0 of 500 runs" in numbers


def test_wrong_commitments_are_estimated_where_there_are_two_arms():
    """T times the probability is 0.737 there; of four arms, or of results alone, what was seen counts."""
    played = robai.simulate(robai.EOCPUG(), robai.Gaussian([0.7, 0.2]), 10**6, 50, rng=1)
    (low, high), words = wrong_commitments(played)
    assert 0.737e-6 / 1.6 < low < high < 1.6 * 0.737e-6
    assert words.endswith(f" ({low:.2g} to {high:.2g})")
    four = robai.simulate(robai.EOCPUG(), robai.Gaussian([0.7, 0.2, 0.2, 0.2]), 10**4, 50, rng=1)
    assert wrong_commitments(four) == ((0.0, pytest.approx(1 - 0.025**0.02)), "0 of 50, at most 7.1 %")
    assert wrong_commitments(irregular())[1] == "3 of 5, at most 94.7 %"
