"""Track-and-Stop's thresholds: what they ask for, and how often they err."""

import math

import numpy as np
import pytest

import robai
from robai import families, rules
from robai._core.protocols import Evidence
from robai.rules import Game
from robai.rules.threshold import exponential_calibration, gaussian_calibration

FIVE = robai.Bernoulli([0.3, 0.21, 0.2, 0.19, 0.18])


def test_calibrations():
    points = (0.5, 1.0, math.log(10) / 2, 5.0, 10.0, 20.0)
    assert list(map(gaussian_calibration, points)) == pytest.approx(
        [1.9641, 2.5071, 2.6707, 6.7573, 11.9546, 22.2033], abs=1e-4
    )
    assert list(map(exponential_calibration, points)) == pytest.approx(
        [8.0148, 9.1045, 9.3960, 15.1914, 21.4468, 32.9148], abs=1e-4
    )


def report(rule, family, pulls, sums, squares=None):
    game = Game.of(len(pulls), 10**6, family)
    (found,) = rule.start(game).report(Evidence(pulls, sums, 10**6, squares))
    return found


@pytest.mark.parametrize("name", ["practical", "garivier-kaufmann", "kaufmann-koolen", "mixture", "proved"])
def test_what_is_compared_for_bernoulli_rewards(name):
    pulls, sums, delta = [50, 40], [40.0, 10.0], 0.05
    found = report(rules.LikelihoodRatio(delta=delta, threshold=name), families.Bernoulli(), pulls, sums)

    def log_likelihood(n, s, v):
        return s * math.log(v) + (n - s) * math.log(1 - v)

    ratio = sum(
        log_likelihood(n, s, s / n) - log_likelihood(n, s, 50 / 90) for n, s in zip(pulls, sums, strict=True)
    )
    if name in ("mixture", "proved"):  # likelihoods averaged over Beta(1/2, 1/2), by quadrature
        angle = (np.arange(200_000) + 0.5) / 200_000 * math.pi / 2  # v = sin^2 has that law
        for n, s in zip(pulls, sums, strict=True):
            average = np.mean(np.sin(angle) ** (2 * s) * np.cos(angle) ** (2 * (n - s)))
            ratio -= log_likelihood(n, s, s / n) - math.log(average)
    asked = {
        "practical": math.log((1 + math.log(90)) / delta),
        "garivier-kaufmann": math.log(2 * 90 / delta),
        "kaufmann-koolen": 2 * exponential_calibration(math.log(1 / delta) / 2)
        + sum(3 * math.log(1 + math.log(n)) for n in pulls),
    }.get(name, math.log(1 / delta))
    assert (found.value, found.asked) == pytest.approx((ratio, asked), rel=1e-8)
    assert found.fires == (ratio >= asked)


def test_what_is_compared_for_gaussian_rewards():
    pulls, sums, sigma = [50, 40, 30], [50.0, 10.0, 3.0], (1.0, 2.0, 0.5)
    family, delta = families.Gaussian(sigma), 0.05
    found = report(rules.LikelihoodRatio(delta=delta, threshold="kaufmann-koolen"), family, pulls, sums)
    ratio = 0.75**2 / 2 / (1 / 50 + 4 / 40)
    asked = 2 * gaussian_calibration(math.log(2 / delta) / 2) + 2 * math.log(4 + math.log(50))
    assert found.value == pytest.approx(ratio)
    assert found.asked == pytest.approx(asked + 2 * math.log(4 + math.log(40)))
    found = report(rules.LikelihoodRatio(delta=delta, threshold="mixture"), family, pulls, sums)
    assert found.asked == pytest.approx(math.log(2 / delta))
    # Likelihoods averaged over N(q, sigma^2) and divided by that at q; the least over q, on a fine grid.
    q = np.linspace(0.25, 1.0, 20_001)
    total = np.zeros_like(q)
    for n, s, scale in zip(pulls[:2], sums[:2], sigma[:2], strict=True):
        total += n**2 / (n + 1) * ((s / n - q) / scale) ** 2 / 2 - math.log(n + 1) / 2
    assert found.value == pytest.approx(total.min(), rel=1e-6)


def test_what_is_asked_where_the_variance_is_unknown():
    """The log x at which (1 + log x) / x, the tail of a product of two mixtures, is delta / (K - 1)."""
    rule = rules.LikelihoodRatio(delta=0.05, threshold="mixture")
    pulls, sums = [50, 40, 30], [50.0, 10.0, 3.0]
    level = report(rule, families.Gaussian(), pulls, sums, [20.0, 10.0, 5.0]).asked
    assert (1 + level) * math.exp(-level) == pytest.approx(0.05 / 2)


@pytest.mark.parametrize(
    ("family", "name"),
    [
        (families.Poisson(), "mixture"),
        (families.Poisson(), "garivier-kaufmann"),
        (families.Gaussian(1.0), "garivier-kaufmann"),
        (families.Gaussian(), "kaufmann-koolen"),
        (families.Bounded(0, 5), "kaufmann-koolen"),
        (families.Bounded(), "garivier-kaufmann"),
    ],
    ids=repr,
)
def test_a_threshold_that_is_not_proved_for_a_family_is_refused(family, name):
    with pytest.raises(
        ValueError, match=f"threshold='{name}' is not proved for rewards of .*: use '"
    ) as error:
        rules.LikelihoodRatio(threshold=name).start(Game.of(2, 100, family))
    instead = str(error.value).split(": use '")[1].split("'")[0]
    rules.LikelihoodRatio(threshold=instead).start(Game.of(2, 100, family))


@pytest.mark.parametrize(
    ("rewards", "family", "proved"),
    [
        (robai.Beta([0.5, 0.4], 1.0), families.Bernoulli(), ["mixture"]),
        (robai.Beta([0.5, 0.4], 1.0), families.Gaussian(0.5), ["mixture"]),
        (robai.Beta([0.5, 0.4], 1.0), families.Gaussian(), []),
        (robai.Beta([0.5, 0.4], 1.0), families.Poisson(), []),
        (robai.Empirical([[0, 3], [1, 2]]), families.Binomial(3), []),
        (robai.Poisson([5, 4]), families.Gaussian(9.0), []),
        (robai.Gaussian([0.5, 0.4]), families.Gaussian(), ["mixture"]),
        (robai.Gaussian([0.5, 0.4]), families.Gaussian(2.0), ["mixture", "kaufmann-koolen"]),
        (robai.Gaussian([0.5, 0.4]), families.Gaussian(0.9), []),
        (
            robai.Gaussian([0.5, 0.4], sigma=(1, 2)),
            families.Gaussian((1.0, 2.5)),
            ["mixture", "kaufmann-koolen"],
        ),
        (robai.Gaussian([0.5, 0.4], sigma=(1, 2)), families.Gaussian((2.0, 1.0)), []),
        (robai.Beta([0.5, 0.4], 1.0), families.Gaussian(0.4), []),
        (robai.Gamma([3, 2.5], shape=0.1), families.Gamma(5.0), []),
        (robai.Gamma([3, 2.5], shape=0.1), families.Exponential(), []),
        (robai.Gamma([3, 2.5], shape=2.0), families.Exponential(), ["kaufmann-koolen"]),
        (robai.Exponential([3, 2.5]), families.Gamma(0.5), ["kaufmann-koolen"]),
        (robai.Exponential([3, 2.5]), families.Gamma(1.5), []),
        (robai.NegativeBinomial([3, 2.5], r=2.0), families.NegativeBinomial(3.0), []),
        (robai.NegativeBinomial([3, 2.5], r=2.0), families.NegativeBinomial(1.0), ["kaufmann-koolen"]),
        (robai.Binomial([3, 2.5], n=4), families.Binomial(4), ["mixture", "kaufmann-koolen"]),
    ],
    ids=repr,
)
def test_thresholds_for_rewards_that_are_taken_for_others(rewards, family, proved):
    """Of these only bets that any rewards in the range, or any sub-Gaussian ones, cannot win have a proof."""
    game = Game.of(2, 100, rewards)
    for name in ("mixture", "garivier-kaufmann", "kaufmann-koolen", "proved"):
        rule = rules.LikelihoodRatio(threshold=name, family=family)
        if name in proved or (name == "proved" and proved):
            rule.start(game)
            continue
        with pytest.raises(ValueError, match=f"threshold='{name}' is not proved"):
            rule.start(game)
    racing = rules.Racing(threshold="lucb", family=family)
    if not proved:
        with pytest.raises(ValueError, match="threshold='lucb' is not proved for "):
            racing.start(game)


def test_the_lowest_threshold_with_a_proof():
    for family, mixture in (
        (families.Bernoulli(), True),
        (families.Bounded(), True),
        (families.Poisson(), False),
    ):
        rule = rules.LikelihoodRatio(threshold="proved").start(Game.of(2, 100, family))
        assert rule.mixture == mixture


def test_stopping_times_on_five_arms():
    """Times of an independent program: D 1,391 +- 16, C with its projection 1,774 +- 19."""
    for policy, value, error, runs in (
        (robai.TrackAndStop(delta=0.1), 1391, 16, 1000),
        (robai.TrackAndStop(delta=0.1, tracking="C"), 1774, 19, 500),
        (robai.TrackAndStop(delta=0.1, threshold="garivier-kaufmann"), 4031, 69, 150),
        (robai.TrackAndStop(delta=0.1, threshold="kaufmann-koolen"), 11_064, 99, 60),
    ):
        result = robai.simulate(policy, FIVE, 10**6, runs, rng=2)
        time = result.digest().commit_time
        assert abs(time.value - value) < 5 * math.hypot(time.sem, error), policy
        assert result.wrong_commit().count <= 0.02 * runs


@pytest.mark.parametrize("variance", ["known", "unknown"])
def test_the_mixture_errs_less_often_than_it_says(variance):
    """Two equal arms: any commitment within the horizon is an error."""
    family = families.Gaussian(1.0 if variance == "known" else None)
    rule = rules.LikelihoodRatio(delta=0.1, threshold="mixture", family=family)
    policy = robai.Policy(rules.RoundRobin(), rule)
    with pytest.warns(UserWarning, match="are all best"):
        result = robai.simulate(policy, robai.Gaussian([0.0, 0.0]), 2000, 2000, rng=1)
    assert 0 < result.committed.mean() < 0.1
