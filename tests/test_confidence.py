"""Wrong commitments, estimated far below what counting sees."""

import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest

import robai
from robai import EOCP, EOCPUG, KLEOCPUG, Bernoulli, Gaussian, LeadCommit
from robai._play.mixture import Mixture
from robai._play.request import Simulation
from robai._play.seeds import Seed
from robai._play.tapes import in_order


class Point(NamedTuple):
    """T P(wrong), and its standard error in per cent; None where the estimate is refused."""

    policy: robai.policies.BasePolicy
    bandit: robai.bandits.Bandit
    horizon: float
    scaled: float | None
    percent: float = 0.0


def row(policy, bandit, *points):
    return [Point(policy, bandit, *point) for point in points]


HALF, FIFTH = Gaussian([0.7, 0.2]), Gaussian([0.2, 0.0])
FAR, NEAR = Gaussian([0.9, 0.7, 0.3, -0.5]), Gaussian([0.9, 0.8, 0.5, 0.1])
HIGH, COINS, FOUR = Bernoulli([0.95, 0.9]), Bernoulli([0.7, 0.2]), Bernoulli([0.9, 0.8, 0.5, 0.1])

# By counting: `robai.simulate`, rng=5. Probabilities, with their standard errors.
COUNTED = [
    (EOCPUG(), HALF, 100, 7.503e-3, 0.087e-3),
    (EOCPUG(), HALF, 1e3, 7.48e-4, 0.27e-4),
    (EOCPUG(), HALF, 3e3, 2.53e-4, 0.16e-4),
    (EOCPUG(inflation=0), HALF, 100, 3.903e-2, 0.020e-2),
    (EOCPUG(inflation=0), HALF, 1e3, 6.992e-3, 0.084e-3),
    (EOCPUG(inflation=0), HALF, 1e4, 9.35e-4, 0.22e-4),
    (EOCP(gap=0.5, inflation=0), HALF, 1e3, 6.2e-5, 0.8e-5),
    (EOCP(gap=0.5, inflation=0), HALF, 3e3, 1.8e-5, 0.4e-5),
    (EOCP(gap=1.0, inflation=0), HALF, 1e3, 5.129e-3, 0.041e-3),
    (EOCPUG(inflation=0), FAR, 300, 2.392e-2, 0.015e-2),
    (EOCPUG(inflation=0), FAR, 3e3, 2.44e-3, 0.05e-3),
    (KLEOCPUG(guard=0), HIGH, 1e3, 7.384e-2, 0.061e-2),
    (KLEOCPUG(guard=0), HIGH, 1e4, 5.157e-2, 0.051e-2),
    (KLEOCPUG(guard=0), HIGH, 1e5, 3.93e-2, 0.09e-2),
    (KLEOCPUG(), HIGH, 1e3, 2.12e-3, 0.10e-3),
    (KLEOCPUG(), HIGH, 1e4, 2.0e-4, 0.3e-4),
    (KLEOCPUG(guard=1), HIGH, 1e3, 9.0e-5, 2.1e-5),
    (KLEOCPUG(guard=0), FOUR, 1e3, 2.611e-2, 0.036e-2),
    (KLEOCPUG(), FOUR, 1e3, 3.05e-4, 0.39e-4),
]

# By another program, with mixtures of its own.
GAUSSIAN = [
    *row(EOCPUG(inflation=0), HALF, (1e2, 3.90, 0.3), (1e3, 7.00, 0.3), (1e4, 9.27, 0.4)),
    *row(EOCPUG(inflation=0), HALF, (1e6, 20.3, 0.5), (1e8, 33.5, 0.5), (1e12, 92.9, 0.7), (1e16, 224, 0.7)),
    *row(EOCPUG(), HALF, (1e2, 0.755, 0.3), (1e3, 0.734, 0.4), (1e4, 0.718, 0.4), (1e6, 0.737, 0.5)),
    *row(EOCPUG(), HALF, (1e8, 0.766, 0.6), (1e12, 0.830, 0.7), (1e16, 0.888, 0.8), (1e30, 1.17, 2.0)),
    *row(EOCPUG(inflation=2), HALF, (1e2, 0.136, 0.4), (1e3, 0.0757, 0.4), (1e4, 0.0524, 0.5)),
    *row(EOCPUG(inflation=2), HALF, (1e6, 0.0267, 0.6), (1e8, 0.0147, 0.6), (1e12, 6.30e-3, 0.7)),
    *row(EOCPUG(inflation=2), HALF, (1e16, 3.40e-3, 0.9), (1e30, 4.7e-4, 3.9)),
    *row(EOCPUG(inflation=4 * math.sqrt(2)), HALF, (1e2, 1.50e-4, 0.5), (1e3, 1.80e-5, 0.6)),
    *row(EOCPUG(inflation=4 * math.sqrt(2)), HALF, (1e4, 2.75e-6, 0.6), (1e6, 1.39e-7, 0.7)),
    *row(EOCPUG(inflation=4 * math.sqrt(2)), HALF, (1e8, 1.04e-8, 0.9), (1e12, 1.36e-10, 1.3)),
    *row(EOCPUG(inflation=4 * math.sqrt(2)), HALF, (1e16, 3.58e-12, 1.8)),
    *row(EOCPUG(inflation=0), FIFTH, (1e4, 49.4, 0.9), (1e6, 143, 1.2), (1e8, 324, 1.8), (1e12, 1290, 2.6)),
    *row(EOCPUG(inflation=0), FIFTH, (1e16, 4170, 4.1)),
    *row(EOCPUG(), FIFTH, (1e4, 4.89, 1.1), (1e6, 6.70, 0.7), (1e8, 8.69, 1.8), (1e12, 13.5, 1.7)),
    *row(EOCPUG(), FIFTH, (1e16, 20.0, 2.4)),
    *row(EOCPUG(inflation=2), FIFTH, (1e4, 0.422, 0.9), (1e6, 0.299, 1.2), (1e8, 0.215, 1.6)),
    *row(EOCPUG(inflation=2), FIFTH, (1e12, 0.127, 1.9), (1e16, 0.0932, 3.1)),
    *row(EOCPUG(), Gaussian([1, 0]), (1e4, 0.0563, 0.7), (1e6, 0.0381, 0.9), (1e8, 0.0282, 0.8)),
    *row(EOCPUG(), Gaussian([1, 0]), (1e12, 0.0164, 1.0), (1e16, 0.0105, 1.1)),
    *row(EOCPUG(), NEAR, (1e4, 0.83, 1.7), (1e6, 0.236, 3.3), (1e8, 0.061, 5.6), (1e12, 4.7e-3, 6.6)),
    *row(EOCPUG(), FAR, (1e4, 0.214, 1.5), (1e6, 0.0336, 2.4), (1e8, 5.6e-3, 2.7), (1e12, 4.7e-4, 4.1)),
    *row(EOCP(gap=0.5, inflation=0), HALF, (1e3, 0.0657, 0.8), (1e4, 0.0458, 1.0), (1e6, 0.0264, 1.1)),
    *row(EOCP(gap=0.5, inflation=0), HALF, (1e8, 0.0166, 1.5), (1e12, 7.9e-3, 1.9), (1e16, 4.6e-3, 2.4)),
    *row(EOCP(gap=0.5), HALF, (1e3, 3.24e-3, 1.0), (1e4, 1.52e-3, 1.1), (1e6, 4.4e-4, 1.5)),
    *row(EOCP(gap=0.5), HALF, (1e8, 1.58e-4, 1.7), (1e12, 2.99e-5, 2.5), (1e16, 7.1e-6, 3.0)),
    *row(EOCP(gap=0.25, inflation=0), HALF, (1e3, None), (1e4, 0.0234, 1.9), (1e6, 0.0121, 2.5)),
    *row(EOCP(gap=0.25, inflation=0), HALF, (1e8, 6.7e-3, 3.1), (1e12, 3.2e-3, 4.7), (1e16, 1.45e-3, 5.8)),
    *row(EOCP(gap=0.25), HALF, (1e3, None), (1e4, 6.8e-4, 2.6), (1e6, 1.83e-4, 3.3)),
    *row(EOCP(gap=0.25), HALF, (1e8, 6.4e-5, 4.0), (1e12, 1.04e-5, 4.3), (1e16, 2.3e-6, 5.4)),
    *row(EOCP(gap=0.8), HALF, (1e4, 0.078, 3.9), (1e6, 0.096, 1.9), (1e8, 0.143, 2.1)),
]

BERNOULLI = [
    *row(KLEOCPUG(guard=0), HIGH, (1e3, 73.8, 0.6), (1e4, 521, 0.8), (1e5, 3900, 0.9), (1e6, 29500, 1.1)),
    *row(KLEOCPUG(guard=0), HIGH, (1e8, 1.85e6, 1.5)),
    *row(KLEOCPUG(), HIGH, (1e3, 2.18, 0.6), (1e4, 2.10, 1.0), (1e5, 2.82, 1.1), (1e6, 3.42, 1.2)),
    *row(KLEOCPUG(), HIGH, (1e8, 5.31, 1.3)),
    *row(KLEOCPUG(guard=1), HIGH, (1e3, 0.122, 0.8), (1e4, 0.0601, 1.2), (1e5, 0.0302, 1.8)),
    *row(KLEOCPUG(guard=1), HIGH, (1e6, 0.0145, 1.9), (1e8, 3.4e-3, 2.2)),
    *row(KLEOCPUG(guard=0), COINS, (1e3, 1.21e-3, 1.7), (1e4, 1.23e-4, 1.7), (1e5, 5.7e-5, 2.0)),
    *row(KLEOCPUG(guard=0), COINS, (1e6, 5.3e-6, 2.6), (1e8, 2.3e-7, 3.4)),
    *row(KLEOCPUG(), COINS, (1e3, 1.86e-7, 1.1), (1e4, 7.1e-11, 1.4), (1e5, 1.56e-14, 2.6)),
    *row(KLEOCPUG(), COINS, (1e6, 2.6e-18, 4.0), (1e8, 5.0e-26, 3.5)),
    *row(KLEOCPUG(guard=1), COINS, (1e3, 2.4e-12, 3.2), (1e4, 1.1e-16, 2.2), (1e5, 4.9e-21, 3.3)),
    *row(KLEOCPUG(guard=0), FOUR, (1e3, 25.8, 1.1), (1e4, 137, 1.5), (1e5, 868, 2.3), (1e6, 4570, 2.4)),
    *row(KLEOCPUG(guard=0), FOUR, (1e8, 1.8e5, 3.2)),
    *row(KLEOCPUG(), FOUR, (1e3, 0.297, 2.2), (1e4, 0.174, 3.3), (1e5, 0.097, 3.6), (1e6, 0.052, 4.3)),
    *row(KLEOCPUG(guard=1), FOUR, (1e3, 8.7e-3, 4.0), (1e4, 2.5e-3, 3.7), (1e5, 5.3e-4, 4.5)),
    *row(KLEOCPUG(guard=1), FOUR, (1e6, 1.6e-4, 5.4), (1e8, 1.0e-5, 4.2)),
    *row(KLEOCPUG(inflation=2), HIGH, (1e6, 3.20, 0.7)),
    *row(KLEOCPUG(inflation=2, guard=1), HIGH, (1e6, 0.0149, 1.0)),
]


def lead(level, gap, *points):
    """T P(wrong) and its standard error, of two unit Gaussian arms."""
    policy = EOCPUG() if level is None else LeadCommit(level=level)
    return row(policy, Gaussian([gap, 0.0]), *((T, value, 100 * error / value) for T, value, error in points))


LEAD = [
    *lead("ratio", 1.0, (1e3, 0.077, 0.002), (1e4, 0.040, 0.001), (1e6, 0.0152, 0.0005)),
    *lead("ratio", 1.0, (1e9, 0.0052, 0.0002), (1e12, 0.0020, 0.0001), (1e16, 0.00064, 0.00004)),
    *lead("horizon", 1.0, (1e3, 0.0109, 0.0004), (1e4, 0.0066, 0.0003), (1e6, 0.0030, 0.0002)),
    *lead("horizon", 1.0, (1e9, 0.00100, 0.00007), (1e12, 0.00043, 0.00004), (1e16, 0.00016, 0.00002)),
    *lead(None, 1.0, (1e3, 0.078, 0.003), (1e9, 0.021, 0.002)),
    *lead("ratio", 0.5, (1e3, 1.219, 0.009), (1e4, 0.773, 0.008), (1e6, 0.363, 0.005)),
    *lead("ratio", 0.5, (1e9, 0.178, 0.004), (1e12, 0.101, 0.003), (1e16, 0.054, 0.002)),
    *lead("pulls", 0.5, (1e3, 0.170, 0.002), (1e4, 0.106, 0.001), (1e6, 0.055, 0.001)),
    *lead("pulls", 0.5, (1e9, 0.0248, 0.0007), (1e12, 0.0147, 0.0005), (1e16, 0.0083, 0.0003)),
    *lead("horizon", 0.5, (1e3, 0.084, 0.001), (1e4, 0.061, 0.001), (1e6, 0.037, 0.001)),
    *lead("horizon", 0.5, (1e9, 0.0211, 0.0007), (1e12, 0.0127, 0.0005), (1e16, 0.0073, 0.0003)),
    *lead(None, 0.5, (1e9, 0.78, 0.03)),
    *lead("ratio", 0.2, (1e3, 21.2, 0.7), (1e4, 13.5, 0.2), (1e6, 8.0, 0.2), (1e9, 4.7, 0.1)),
    *lead("ratio", 0.2, (1e12, 3.2, 0.1), (1e16, 2.06, 0.08)),
    *lead("horizon", 0.2, (1e3, 0.383, 0.007), (1e4, 0.329, 0.008), (1e6, 0.253, 0.008)),
    *lead("horizon", 0.2, (1e9, 0.187, 0.008), (1e12, 0.124, 0.007), (1e16, 0.098, 0.006)),
    *lead(None, 0.2, (1e3, 3.90, 0.07), (1e9, 9.9, 0.5)),
    *lead("ratio", 0.05, (1e4, 388, 17), (1e6, 301, 11), (1e9, 206, 10)),
    *lead("horizon", 0.05, (1e4, 1.38, 0.06), (1e6, 1.27, 0.07), (1e9, 1.06, 0.08)),
    *lead("pulls", 0.2, (1e6, 0.88, 0.03)),
    *lead("pulls", 0.05, (1e6, 33, 1)),
    *lead(None, 0.05, (1e6, 43, 3)),
]

TABLES = [*GAUSSIAN, *BERNOULLI, *LEAD]


def name(point):
    return f"{point.policy.label()}-{point.bandit.means}-{point.horizon:.0e}"


@pytest.mark.slow
@pytest.mark.parametrize("point", TABLES, ids=name)
def test_the_tables(point):
    if point.scaled is None:
        with pytest.raises(robai.NotCovered, match="no laws were found"):
            robai.wrong_commit(point.policy, point.bandit, point.horizon, rng=3)
        return
    found = robai.wrong_commit(point.policy, point.bandit, point.horizon, rng=3)
    error = math.hypot(found.scaled * found.relative_error, point.scaled * point.percent / 100)
    rounded = 0.5 * 10.0 ** (math.floor(math.log10(point.scaled)) - 1)  # two digits, at least
    assert abs(found.scaled - point.scaled) < 5 * error + rounded
    assert found.relative_error <= 0.02


def agrees(policy, bandit, horizon, probability, error):
    found = robai.wrong_commit(policy, bandit, horizon, rng=3)
    own = found.probability * found.relative_error
    return abs(found.probability - probability) < 5 * math.hypot(own, error)


@pytest.mark.parametrize("point", [COUNTED[i] for i in (0, 8, 9, 11)], ids=str)
def test_counting_says_the_same(point):
    assert agrees(*point)


@pytest.mark.slow
@pytest.mark.parametrize("point", COUNTED, ids=str)
def test_counting_says_the_same_everywhere(point):
    assert agrees(*point)


def test_it_depends_on_the_seed_alone():
    ask = (EOCPUG(), HALF, 100)
    one, two = (robai.wrong_commit(*ask, relative_error=0.1, rng=7, workers=workers) for workers in (1, 3))
    assert one == two
    assert robai.wrong_commit(*ask, relative_error=0.1, rng=8) != one
    with ThreadPoolExecutor(2) as pool:
        assert robai.wrong_commit(*ask, relative_error=0.1, rng=7, executor=pool) == one


def test_equal_arms_in_another_order_and_a_shift_make_no_difference():
    """Of Gaussian arms; the laws are those of the arms, wherever they stand."""
    found = [
        robai.wrong_commit(EOCPUG(), Gaussian(means), 1000, rng=4)
        for means in ([0.7, 0.2], [0.2, 0.7], [1e7 + 0.7, 1e7 + 0.2])
    ]
    assert all(abs(each.scaled - 0.734) < 5 * 0.734 * 0.02 for each in found)


def test_unequal_sigmas_against_counting():
    bandit = Gaussian([0.5, 0.0], sigma=(2.0, 0.5))
    counted = robai.simulate(EOCPUG(), bandit, 200, 20_000, rng=1).wrong_commit()
    rate = counted.count / 20_000
    assert agrees(EOCPUG(), bandit, 200, rate, math.sqrt(rate / 20_000))


@pytest.mark.parametrize(
    ("policy", "bandit"),
    [
        (robai.KLEOCPUG(guard=0), robai.Poisson([2.0, 1.5])),
        (robai.LeadCommit(), robai.Exponential([1.0, 0.5])),
        (robai.LeadCommit(), robai.Binomial([3.5, 2.5], n=5)),
        (robai.BAIETC(), Gaussian([0.7, 0.2])),
        (robai.TrackAndStop(), Gaussian([0.7, 0.2])),
        (
            robai.Policy(robai.rules.RoundRobin(), robai.rules.FixedRound(20), robai.rules.LargestMean()),
            FIFTH,
        ),
    ],
    ids=str,
)
def test_other_policies_and_families_against_counting(policy, bandit):
    """Where errors are common enough to be counted."""
    runs = 20_000
    rate = robai.simulate(policy, bandit, 100, runs, rng=1, times=1).committed_arm == 1
    rate = max(rate.mean(), 5 / runs)
    assert agrees(policy, bandit, 100, rate, math.sqrt(rate / runs))


def test_what_is_asked_for_is_reached():
    found = robai.wrong_commit(EOCPUG(), HALF, 1e6, relative_error=0.01, rng=0)
    assert found.relative_error <= 0.01
    assert found.low < found.probability < found.high
    assert math.isclose(
        found.high / found.probability, math.exp(1.959964 * found.relative_error), rel_tol=1e-6
    )
    assert found.scaled == 1e6 * found.probability
    assert found.hits < found.runs
    assert f"{found.probability:.3g}" in found.summary()
    less = robai.wrong_commit(EOCPUG(), HALF, 1e6, relative_error=0.001, max_runs=9000, rng=0)
    assert less.runs == 9000
    assert less.relative_error > 0.01


def test_what_is_refused_says_why():
    with pytest.raises(robai.NotCovered, match="no laws were found") as never:
        robai.wrong_commit(robai.UCB(), HALF, 1e4, rng=0)
    assert (never.value.estimate.runs, never.value.estimate.hits) == (0, 0)
    with pytest.raises(robai.NotCovered, match="fewer than 200 runs were wrong") as few:
        robai.wrong_commit(EOCPUG(), HALF, 1e4, max_runs=200, rng=0)
    assert few.value.estimate.runs == 200
    with pytest.raises(robai.NotCovered, match=r"0 is refused, of 2 runs, 0 of them wrong$") as none:
        robai.wrong_commit(EOCPUG(), HALF, 1e4, max_runs=2, rng=12)
    assert (none.value.estimate.low, none.value.estimate.high) == (0.0, math.inf)
    again = pickle.loads(pickle.dumps(few.value))
    assert str(again) == str(few.value)
    assert again.estimate == few.value.estimate


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"bandit": Gaussian([0.5, 0.5])}, ValueError, "one best arm"),
        ({"bandit": robai.Empirical([[0, 1], [1, 1]])}, ValueError, "rewards of a family"),
        ({"bandit": "gaussian"}, TypeError, "bandit must be"),
        ({"policy": "eocp"}, TypeError, "policy"),
        ({"horizon": 1}, ValueError, "horizon must be"),
        ({"relative_error": 0.0}, ValueError, "relative_error must be"),
        ({"max_runs": 0}, ValueError, "max_runs must be"),
        ({"workers": 0}, ValueError, "workers must be"),
    ],
)
def test_arguments_are_checked(change, error, text):
    arguments = {"policy": EOCPUG(), "bandit": HALF, "horizon": 100, **change}
    with pytest.raises(error, match=text):
        robai.wrong_commit(**arguments)


def test_the_weight_is_the_density_ratio():
    """Half of the runs commit to the rival whatever the rewards: the mean weight is 1/2, by any mixture."""
    arm, length = np.array([0, 0, 1]), np.array([2, 5, 3])
    shift = np.array([-0.6, -0.3, 0.4])
    mixture = Mixture(
        arm=arm,
        length=length,
        shift=shift,
        slope=shift,  # of unit variance
        loss=shift**2 / 2,
        first=np.array([0, 2, 3]),
        alpha=np.array([0.05, 0.5, 0.45]),
        best_tilt=np.array([-1, 0, 1]),
        rival_tilt=np.array([-1, 2, -1]),
        place=np.array([-1, 0, 0]),
        gamma=np.empty(0),
        side=np.empty(0, dtype=np.int64),
        sides=np.array([[0, 0, 0]]),
        offset=0.0,
        limit=1000,
    )
    policy = robai.Policy(robai.rules.RoundRobin(), robai.rules.FixedRound(8), robai.rules.MostPulled())
    bandit = Gaussian([0.0, -1e-9])  # commits to either arm with probability 1/2, whatever it has seen
    simulation = Simulation.of(policy, bandit, 100, 1, Seed((1,)), "step")
    batches = [each.weights for each in in_order(simulation, mixture, 0, range(20_000), 1, None)]
    total = sum(each.total for each in batches)
    squares = sum(each.squares for each in batches)
    assert abs(total / 20_000 - 0.5) < 5 * math.sqrt(squares) / 20_000
