"""Instances, rules of one's own and analysis, all together."""

import signal
import threading
import time

import numpy as np
import pytest

import robai
from robai import priors, rules, theory
from robai.bandits import Bandit

INSTANCES = robai.Instances("bernoulli", priors.Uniform(0.1, 0.9), 4)
MANY = robai.Instances("bernoulli", priors.Uniform(0.1, 0.9), 12)


@pytest.fixture(scope="module")
def played():
    policies = {"EOCP-UG": robai.EOCPUG(), "KL-UCB": robai.KLUCB()}
    return robai.compare(policies, INSTANCES, 2000, 60, rng=1, curves=True)


def test_shares_in_a_figure_are_those_of_ranks(played):
    result = played["KL-UCB"]
    ax = robai.plotting.plot_pulls(result)
    drawn = [container.lines[0].get_xdata()[0] for container in ax.containers]
    ranked = np.take_along_axis(result.pulls, np.argsort(result.gaps, axis=1), axis=1) / 2000
    assert drawn == pytest.approx(ranked.mean(axis=0).tolist())
    assert drawn == pytest.approx(result.digest().shares)


def test_many_arms_by_rank():
    result = robai.simulate(robai.KLUCB(), MANY, 2000, 20, rng=1)
    ax = robai.plotting.plot_pulls(result)
    ranked = np.take_along_axis(result.pulls, np.argsort(result.gaps, axis=1), axis=1) / 2000
    assert ax.containers[0].lines[0].get_ydata() == pytest.approx(ranked.mean(axis=0)[1:])
    robai.figure(
        robai.compare([robai.KLUCB(), robai.EOCPUG()], MANY, 500, 5, rng=1), layout=("regret", "pulls")
    )


def test_every_number_of_a_comparison(played):
    result = played["KL-UCB"]
    assert played.difference("EOCP-UG", "KL-UCB").runs == 60
    assert "KL-UCB" in played.table()
    assert result.slope(100).sem > 0
    assert result.quantiles([0.5]).shape == (1, len(result.times))
    constants = [theory.lai_robbins(means, family="bernoulli") for means in result.means]
    expected = result.regret[-1] / (np.mean(constants) * np.log(2000))
    assert result.normalised()[-1] == pytest.approx(expected)
    for each in (played.plot, played.plot_commitment, played.plot_tradeoff, played.plot_final_regret):
        each()


def test_a_sweep_of_instances():
    sweep = robai.sweep([robai.KLUCB(), robai.EOCPUG()], INSTANCES, [500, 1000], 10, rng=0)
    frame = sweep.to_dataframe()
    result = next(iter(sweep.values()))
    share = [row[gaps == 0.0].sum() / 500 for row, gaps in zip(result.pulls, result.gaps, strict=True)]
    assert frame["best_arm_share"][0] == pytest.approx(np.mean(share))


def test_an_exploration_in_python_on_instances():
    class Turns:
        def select(self, state):
            return state.t % state.n_arms

        def update(self, arm, reward):
            pass

    own = robai.Policy(explore=Turns(), stop=rules.FixedRound(100), commit=rules.LargestMean())
    compiled = robai.Policy(rules.RoundRobin(), rules.FixedRound(100), rules.LargestMean())
    first, second = (
        robai.simulate(each, INSTANCES, 300, 8, rng=2, engine="step") for each in (own, compiled)
    )
    assert (first.pulls == second.pulls).all()
    assert (first.committed_arm == second.committed_arm).all()


def test_results_cannot_be_written_to_whichever_way_they_were_made():
    for runs in (3, 3000):
        result = robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 1000, runs, rng=0)
        for array in (result.regret, result.pulls, result.gaps):
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True


def test_a_file_cannot_have_code_loaded():
    data = {"type": "Sampler", "draw": "os:system", "means": [0.1, 0.2], "support": None, "sigma": None}
    with pytest.raises(ValueError, match="code to be run"):
        Bandit.from_dict({**data, "family": None})


def test_rewards_in_an_interval_have_no_limit_of_their_own():
    with pytest.raises(ValueError, match="one law for each mean"):
        theory.lai_robbins([0.6, 0.5], family="bounded")
    result = robai.simulate(robai.UCB(), robai.Beta([0.6, 0.5], 50), 100, 5, rng=0)
    with pytest.raises(ValueError, match="constant must be given"):
        result.normalised()
    assert result.normalised(2.0)[-1] == pytest.approx(result.regret[-1] / (2 * np.log(100)))


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals")
def test_a_slow_sampler_can_be_interrupted():
    def draw(arm, size, rng):
        time.sleep(0.02)
        return rng.normal(size=size)

    bandit = robai.Sampler(draw, [0.0, 0.1], sigma=1.0)
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    started = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            robai.simulate(robai.UCB(), bandit, 10**6, 2, rng=0, workers=1)
    finally:
        signal.signal(signal.SIGALRM, handler)
    assert time.perf_counter() - started < 30  # it would take minutes
