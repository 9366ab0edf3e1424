"""Late, batched and lost rewards: what is played is what an agent plays that gets its rewards so."""

import copy
import dataclasses
import math
import pickle
from concurrent.futures import ProcessPoolExecutor
from unittest import mock

import numpy as np
import pytest
from support.deliveries import driven
from support.examples import BANDITS, POLICIES, arms_played, fitting, played_by_steps

import robai
from robai._play import batches
from robai._play.arrivals import Arrivals
from robai._play.request import Simulation
from robai._play.seeds import Seed
from robai.result.digest import record

HORIZON = 250
GEOMETRIC = ("geometric", 7.5)
WAYS = [
    {"delay": 1},
    {"delay": 40},
    {"delay": GEOMETRIC},
    {"batch": 16},
    {"delay": 5, "batch": 32},
    {"loss": 0.3},
    {"loss": 0.3, "delay": GEOMETRIC, "batch": 3},
    {"window": math.inf, "delay": 10},
    {"window": 12, "loss": 0.4},
    {"window": 12, "delay": GEOMETRIC},
    {"window": 20, "delay": 4, "batch": 8, "loss": 0.1},
    {"window": 20, "delay": 15, "batch": 16},
    {"window": 9, "delay": GEOMETRIC, "loss": 0.2, "missing": 0.0},
    {"window": 30, "delay": 29 - 1, "missing": 1.0},
]


def simulated(policy, bandit, horizon, seed, runs=1, **way):
    return robai.simulate(
        policy, bandit, horizon, runs, rng=seed, times=range(1, horizon + 1), curves=True, **way
    )


def assert_as_driven(policy, bandit, horizon, seed, **way):
    played = simulated(policy, bandit, horizon, seed, **way)
    pulls, committed, time, answers = driven(policy, bandit, horizon, seed, **way)
    assert arms_played(played, 0) == [arm for arm, *_ in pulls]
    assert (played.committed_arm[0], played.commit_time[0], played.answers[0]) == (committed, time, answers)
    return played


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("way", WAYS, ids=repr)
def test_an_agent_plays_the_same_arms(policy, way):
    bandit = fitting(policy, robai.Bernoulli([0.9, 0.1, 0.4]))
    for seed in (1, 2):
        assert_as_driven(policy, bandit, HORIZON, seed, **way)


@pytest.mark.parametrize("bandit", BANDITS, ids=repr)
@pytest.mark.parametrize("way", [WAYS[5], WAYS[6], WAYS[10]], ids=repr)
def test_all_rewards(bandit, way):
    for policy in (robai.KLUCB(), robai.ThompsonSampling(), robai.LeadCommit()):
        assert_as_driven(policy, bandit, HORIZON, 3, **way)


def test_runs_that_go_on_until_they_commit():
    committed = set()
    for policy in (
        robai.KLEOCPUG(),
        robai.EOCPUG(sigma=0.5),
        robai.LeadCommit(),
        robai.ActionElimination(sigma=0.5),
    ):
        for way in (*WAYS[:6], *WAYS[7:11], WAYS[12]):
            played = assert_as_driven(policy, robai.Bernoulli([0.9, 0.2]), 3000, 4, **way)
            committed.add(int(played.committed_arm[0]))
            assert -1 <= played.answers[0] <= played.commit_time[0]
    assert 0 in committed


def test_many_arms():
    bandit = robai.Bernoulli(np.linspace(0.0, 0.98765, 30) ** 2)
    for policy in (robai.KLUCB(), robai.UCB(sigma=0.5), robai.TrackAndStop()):
        for way in (WAYS[3], WAYS[6], WAYS[9]):
            assert_as_driven(policy, bandit, 400, 5, **way)
    bandit = robai.Bernoulli(np.linspace(0.0, 0.98765, 120) ** 2)  # where proportions are prepared in parts
    assert_as_driven(robai.TrackAndStop(), bandit, 300, 5, **WAYS[4])


# ---- what is asked for


@pytest.mark.parametrize(
    ("way", "error", "message"),
    [
        ({"delay": -1}, ValueError, "delay must be from 0 to"),
        ({"delay": 1.5}, ValueError, "delay must be a whole number, got 1.5"),
        ({"delay": "soon"}, TypeError, "delay must be an integer"),
        ({"delay": ("poisson", 3.0)}, ValueError, "delay must be a number of rounds, or"),
        ({"delay": ("geometric",)}, ValueError, "delay must be a number of rounds, or"),
        ({"delay": ("geometric", 0.0)}, ValueError, r"delay\[1\] must be above 0"),
        ({"delay": ("geometric", math.inf)}, ValueError, r"delay\[1\] must be finite"),
        ({"batch": 0}, ValueError, "batch must be from 1"),
        ({"loss": -0.1}, ValueError, "loss must be from 0 to 1"),
        ({"loss": 1}, ValueError, "loss must be below 1, got 1"),
        ({"loss": math.nan}, ValueError, "loss must be finite"),
        ({"window": 0}, ValueError, "window must be from 1"),
        ({"window": 10.5}, ValueError, "window must be a whole number"),
        ({"window": -math.inf}, ValueError, "window must be"),
        ({"window": 10, "delay": 9}, ValueError, "window must be above 10, the rounds that a reward takes"),
        ({"window": 1}, ValueError, "window must be above 1"),
        ({"missing": 0.0}, ValueError, "window is None: give it a number of rounds, or leave out missing"),
        ({"missing": 0.0, "window": math.inf}, ValueError, "window is inf: give it a number of rounds"),
        (
            {"missing": 0.5, "window": 10},
            ValueError,
            "missing must be a possible reward, an integer from 0 to 1",
        ),
        ({"missing": math.nan, "window": 10}, ValueError, "missing must be finite"),
        ({"missing": "0", "window": 10}, TypeError, "missing must be a number"),
        (
            {"delay": 3, "engine": "leap"},
            ValueError,
            "engine='leap' does not apply: delay=3 is of the rewards of",
        ),
        (
            {"delay": 10**13},
            ValueError,
            "delay, batch and window must be smaller on this machine, got delay=",
        ),
        ({"delay": ("geometric", 1e13)}, ValueError, "delay, batch and window must be smaller"),
    ],
    ids=str,
)
def test_wrong_arguments(way, error, message):
    bandit = robai.Bernoulli([0.7, 0.2])
    for call in (robai.simulate, robai.sweep):
        with pytest.raises(error, match=message):
            call(robai.KLUCB(), bandit, 10**15, 1, **way)
    with pytest.raises(error, match=message):
        robai.compare([robai.KLUCB()], bandit, 10**15, 1, **way)


class First:
    def select(self, state):
        return 0

    def update(self, arm, reward):
        pass


def test_policies_in_python_get_their_rewards_at_once():
    message = "First is written in Python, and gets rewards at once: got delay=2, loss=0.5"
    with pytest.raises(ValueError, match=message):
        robai.simulate(First(), robai.Bernoulli([0.7, 0.2]), 100, 1, delay=2, loss=0.5)
    robai.simulate(First(), robai.Bernoulli([0.7, 0.2]), 100, 1, delay=0, loss=0.0)


def uniform(arm, size, rng):
    return rng.random(size) ** (arm + 1)


def test_rewards_of_a_function():
    bandit = robai.Sampler(uniform, means=[0.5, 1 / 3], support=(0.0, 1.0))
    policy = robai.UCB(sigma=0.5)
    played = robai.simulate(policy, bandit, 500, 3, rng=1, delay=("geometric", 20.0), loss=0.2, window=50)
    assert (played.pulls.sum(axis=1) == 500).all()
    with pytest.raises(ValueError, match="window must be None, because with a window a certificate can end"):
        robai.simulate(policy, robai.Sampler(uniform, means=[0.5, 1 / 3]), 500, 3, rng=1, window=50)

    def broken(arm, size, rng):
        raise ArithmeticError("no reward")

    bandit = robai.Sampler(broken, means=[0.5, 1 / 3], support=(0.0, 1.0))
    with pytest.raises(ArithmeticError, match="no reward"):
        robai.simulate(policy, bandit, 500, 3, rng=1, delay=3)


def test_the_defaults_change_nothing():
    plain = {
        "policy": robai.KLEOCPUG(),
        "bandit": robai.Bernoulli([0.9, 0.5]),
        "horizon": 10**4,
        "runs": 20,
        "rng": 3,
    }
    told = plain | {"delay": 0, "batch": 1, "loss": 0.0, "window": None, "missing": None}
    assert robai.simulate(**plain) == robai.simulate(**told)
    assert robai.simulate(**plain).meta["engine"] == "leap"
    assert not {"delay", "batch", "loss", "window", "missing"} & robai.simulate(**told).meta.keys()


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_rewards_that_are_not_late_are_those_of_the_step_engine(policy):
    bandit = fitting(policy, robai.Bernoulli([0.9, 0.1, 0.4]))
    with mock.patch("robai._play.arrivals.certified", lambda started, game, delta: started):
        late = simulated(policy, bandit, HORIZON, 7, runs=3, window=math.inf)
    plain = played_by_steps(policy, bandit, HORIZON, 3, 7)
    for name in ("curves", "commit_time", "committed_arm", "pulls", "answers"):
        assert np.array_equal(getattr(late, name), getattr(plain, name))


def test_common_rewards_are_the_same_whatever_else_is_drawn():
    # Delays of 0 rounds are drawn from the generator of the run, rewards are not.
    way = {
        "policy": robai.UCB(),
        "bandit": robai.Gaussian([0.5, 0.0, 0.2]),
        "horizon": 500,
        "runs": 20,
        "rng": 1,
    }
    plain, late = (robai.simulate(**way, common=True, delay=each) for each in (0, ("geometric", 1e-12)))
    assert np.array_equal(plain.pulls, late.pulls)
    assert not np.array_equal(plain.pulls, robai.simulate(**way, delay=("geometric", 1e-12)).pulls)


def test_instances_are_late_too():
    way = {"delay": 7, "loss": 0.1, "window": 30}
    instances = robai.Instances("bernoulli", robai.priors.Uniform(), n_arms=3)
    played = robai.simulate(robai.KLEOCPUG(), instances, 300, 40, rng=1, **way)
    assert np.allclose((played.pulls * played.gaps).sum(axis=1), played.final_regret)
    assert played.meta["window"] == 30


def test_missing_rewards_far_from_zero():
    # Of Gaussian rewards an engine counts from the best mean, and so has to count what is missing.
    near, far = (
        simulated(
            robai.EOCPUG(),
            robai.Gaussian([mean, mean - 0.5, mean - 1.25]),
            300,
            5,
            window=9,
            loss=0.3,
            missing=mean,
        )
        for mean in (0.0, 2.0**20)
    )
    assert np.allclose(near.curves, far.curves)
    assert (near.pulls == far.pulls).all()


# ---- results


LATE = {"delay": ("geometric", 20.0), "loss": 0.1, "window": 100, "missing": 0.0}


def some(runs=60, seed=4, **options):
    arguments = {"policy": robai.KLEOCPUG(), "bandit": robai.Bernoulli([0.9, 0.3]), "horizon": 2000}
    return robai.simulate(**arguments, runs=runs, rng=seed, **LATE | options)


def test_numbers_do_not_depend_on_workers_or_batches(tmp_path):
    first = some(runs=200)
    assert some(runs=200, workers=1) == first
    with ProcessPoolExecutor(2) as pool:
        assert some(runs=200, executor=pool) == first
    parts = [some(runs=range(70)), some(runs=range(70, 200))]
    merged = parts[1].merge(parts[0])
    assert np.array_equal(merged.answers, first.answers)
    assert np.array_equal(merged.pulls, first.pulls)


def test_answers_survive_files_and_pickles(tmp_path):
    played = some()
    assert played.committed.any()
    assert (played.answers < played.commit_time)[played.committed].all()
    assert not played.answers.flags.writeable
    played.save(tmp_path / "late.npz")
    for other in (
        robai.Result.load(tmp_path / "late.npz"),
        pickle.loads(pickle.dumps(played)),
        copy.deepcopy(played),
    ):
        assert other == played
        assert np.array_equal(other.answers, played.answers)
        assert other.meta == played.meta
    both = robai.Comparison(
        [played, robai.simulate(robai.KLUCB(), robai.Bernoulli([0.9, 0.3]), 2000, 60, rng=4)]
    )
    both.save(tmp_path / "both.npz")
    assert robai.Comparison.load(tmp_path / "both.npz") == both


def test_without_delays_answers_are_rounds_and_in_no_file(tmp_path):
    played = robai.simulate(robai.KLEOCPUG(), robai.Bernoulli([0.9, 0.3]), 2000, 20, rng=4)
    assert np.array_equal(played.answers, played.commit_time)
    played.save(tmp_path / "plain.npz")
    with np.load(tmp_path / "plain.npz") as file:
        assert "answers" not in file.files
    assert np.array_equal(robai.Result.load(tmp_path / "plain.npz").answers, played.commit_time)


def test_answers_that_cannot_be_are_refused():
    played = some()
    for wrong in (played.commit_time + 1, np.full(60, -1), played.answers[:-1]):
        with pytest.raises(ValueError, match="answers must"):
            dataclasses.replace(played, answers=wrong)


def test_checkpoints(tmp_path):
    whole = some(runs=100)
    assert some(runs=70, checkpoint=tmp_path / "one") == some(runs=70)
    assert some(runs=100, checkpoint=tmp_path / "one") == whole
    with pytest.raises(ValueError, match=r"of another simulation: its loss is 0\.1, not 0\.2"):
        some(checkpoint=tmp_path / "one", loss=0.2)
    with pytest.raises(ValueError, match="its delay is"):
        some(checkpoint=tmp_path / "one", delay=3)
    plain = {
        "policy": robai.KLUCB(),
        "bandit": robai.Bernoulli([0.9, 0.3]),
        "horizon": 500,
        "runs": 64,
        "rng": 1,
        "engine": "step",
    }
    played = robai.simulate(**plain, checkpoint=tmp_path / "plain")
    assert robai.simulate(**plain, checkpoint=tmp_path / "plain") == played
    with pytest.raises(ValueError, match="its delay is None, not 3"):
        robai.simulate(**plain, checkpoint=tmp_path / "plain", delay=3)


def test_a_summary_keeps_no_answers():
    played, kept = some(), some(keep="summary")
    assert kept.runs == played.runs
    assert kept.digest().commit_time.value == pytest.approx(played.digest().commit_time.value)
    assert "window 100" in kept.summary()
    with pytest.raises(AttributeError, match="answers is of single runs"):
        kept.answers  # noqa: B018


def test_what_people_are_told():
    played = some()
    text = played.summary()
    assert "rewards     delay geometric 20, loss 0.1, window 100, missing 0\n" in text
    answers = played.answers[played.committed]
    assert f"after {answers.mean():,.0f} rewards on average, {np.median(answers):,.0f} in the median" in text
    assert record(played)["answers_median"] == np.median(answers)
    pandas = pytest.importorskip("pandas")
    frame = played.to_dataframe("runs")
    assert frame["answers"].dropna().tolist() == answers.tolist()
    assert isinstance(frame, pandas.DataFrame)
    assert "answers" not in robai.simulate(
        robai.KLUCB(), robai.Bernoulli([0.9, 0.3]), 100, 2, rng=1
    ).to_dataframe("runs")


# ---- memory and time


def test_no_more_memory_than_is_said():
    horizon = 10**4
    for way, most in (
        ({"delay": 100}, 102),
        ({"delay": 100, "batch": 50}, 151),
        ({"delay": 100, "window": 150}, 102),
        ({"delay": 100, "window": 150, "loss": 0.1}, 151),
        ({"delay": 100, "window": 150, "missing": 0.0}, 151),
        ({"delay": 10**9}, horizon + 1),
        ({"delay": ("geometric", 98.0)}, 601),
    ):
        assert Arrivals.of(**way).under_way(horizon) == most


def test_random_delays_fit_with_room_to_spare():
    chance = np.random.default_rng(1)
    for mean in (1.0, 30.0, 1000.0):
        due = np.arange(20_000) + chance.geometric(1.0 / (1.0 + mean), 20_000)
        steps = np.bincount(np.minimum(due, 20_000), minlength=20_001)[:20_000]
        under_way = np.arange(1, 20_001) - np.cumsum(steps)
        assert under_way.max() < Arrivals.of(delay=("geometric", mean)).under_way(10**9) - 250


def test_one_piece_is_as_good_as_many():
    simulation = Simulation.of(
        robai.KLUCB(),
        robai.Bernoulli([0.9, 0.3, 0.5]),
        500,
        5,
        Seed((1,)),
        "step",
        False,
        Arrivals.of(batch=200, loss=0.1),
    )
    played = []
    for budget in (1e9, 0.0):
        runs = batches._Runs(simulation, 0, 4)
        while runs._advance(budget):
            pass
        played.append(runs.played())
    for name in ("regret", "pulls", "answers"):
        assert np.array_equal(getattr(played[0], name), getattr(played[1], name))
