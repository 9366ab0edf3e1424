"""Common rewards: the k-th reward of an arm is the same for every policy."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.examples import BANDITS, Turns, arms_played

import robai
from robai import rules
from robai._core.engine import TAPE_LENGTH
from robai._core.rng import Stream
from robai._play.seeds import Seed

GAUSSIAN = robai.Gaussian([0.7, -0.2, 0.1])
MASK = 2**64 - 1


def rotated(x, k):
    return ((x << k) | (x >> (64 - k))) & MASK


def streams(state, arms):
    """The generators of the arms of a run, by SplitMix64."""
    a, b, c, d = map(int, state)
    x = a ^ rotated(b, 16) ^ rotated(c, 32) ^ rotated(d, 48)
    for _ in range(arms):
        words = []
        for _ in range(4):
            x = (x + 0x9E3779B97F4A7C15) & MASK
            z = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            words.append(z ^ (z >> 31))
        yield Stream(words)


def rewards_of(bandit, state, count):
    """The first rewards of every arm, arms x count, drawn as the tape is filled."""
    family, drawn = bandit._core(), []
    for arm, stream in enumerate(streams(state, bandit.n_arms)):
        tape = []
        while len(tape) < count:
            tape += family.rewards(
                arm, bandit.means[arm], min(max(len(tape), 1), TAPE_LENGTH), stream
            ).tolist()
        drawn.append(tape)
    return drawn


def test_rewards_depend_on_run_arm_and_pull_alone():
    """UCB, played in plain Python on rewards drawn beforehand, plays the same arms. Gaussian: no ties."""
    runs, horizon = 8, 400
    played = robai.simulate(
        robai.UCB(level="round"),
        GAUSSIAN,
        horizon,
        runs,
        rng=11,
        times=range(1, 401),
        curves=True,
        common=True,
    )
    for run, state in enumerate(Seed.of(11).states(0, runs)):
        tapes = rewards_of(GAUSSIAN, state, horizon)
        pulls, sums, arms = np.zeros(3, int), np.zeros(3), []
        for t in range(horizon):
            arm = t if t < 3 else int(np.argmax(sums / pulls + np.sqrt(2 * np.log(t + 1) / pulls)))
            sums[arm] += tapes[arm][pulls[arm]]
            pulls[arm] += 1
            arms.append(arm)
        assert arms_played(played, run) == arms


@pytest.mark.parametrize("bandit", BANDITS, ids=repr)
def test_rewards_are_those_of_the_arms_streams(bandit):
    """A policy that commits to the largest mean after so many pulls of each arm chooses by them."""
    each, runs = 10, 40
    stop = robai.Policy(
        explore=rules.RoundRobin(), stop=rules.FixedRound(each * bandit.n_arms), commit=rules.LargestMean()
    )
    played = robai.simulate(stop, bandit, 10**3, runs, rng=4, common=True)
    for run, state in enumerate(Seed.of(4).states(0, runs)):
        totals = [sum(tape[:each]) for tape in rewards_of(bandit, state, each)]
        assert totals[played.committed_arm[run]] == pytest.approx(max(totals))


@pytest.mark.parametrize("bandit", BANDITS, ids=repr)
@pytest.mark.parametrize("policy", [robai.KLUCB(), robai.ThompsonSampling(), robai.KLEOCPUG()])
def test_the_law_is_the_same(policy, bandit):
    runs = 3000
    one = robai.simulate(policy, bandit, 300, runs, rng=1, times=1)
    other = robai.simulate(policy, bandit, 300, runs, rng=2, times=1, common=True)
    distance = one.regret[-1] - other.regret[-1]
    assert abs(distance) <= 5 * np.hypot(one.regret_sem[-1], other.regret_sem[-1])


def test_common_rewards_make_differences_more_exact():
    policies = [robai.UCB(), robai.EOCPUG()]
    bandit = robai.Gaussian([0.7, 0.2])
    errors = {
        common: robai.compare(policies, bandit, 10**4, 1000, rng=0, times=1, engine="step", common=common)
        .difference("UCB()", "EOCPUG()")
        .sem
        for common in (False, True)
    }
    assert errors[True] < 0.7 * errors[False]


def test_runs_depend_on_seed_and_run_alone():
    def play(runs=600, **options):
        return robai.simulate(robai.ThompsonSampling(), GAUSSIAN, 200, runs, rng=9, common=True, **options)

    whole = play()
    assert play(workers=1) == play(workers=3) == whole
    assert np.array_equal(play(runs=130).final_regret, whole.final_regret[:130])
    with ThreadPoolExecutor(2) as pool:
        assert play(executor=pool) == whole
    assert whole.meta["common"] is True
    assert whole.meta["engine"] == "step"
    assert "common" not in robai.simulate(robai.UCB(), GAUSSIAN, 100, 2, rng=0).meta


def test_arms_of_a_run_and_runs_are_independent():
    """Correlations of the first rewards: of arms in a run, of an arm in neighbouring runs."""
    states = Seed.of(0).states(0, 20_000)
    drawn = np.array([[stream.state[0] >> 11 for stream in streams(state, 3)] for state in states]) / 2.0**53
    limit = 5 / np.sqrt(len(drawn))
    assert np.abs(np.corrcoef(drawn.T)[np.triu_indices(3, 1)]).max() < limit
    assert abs(np.corrcoef(drawn[1:, 0], drawn[:-1, 0])[0, 1]) < limit
    assert abs(drawn.mean() - 0.5) < limit


def test_a_checkpoint_of_other_rewards_is_refused(tmp_path):
    def play(common):
        return robai.simulate(
            robai.UCB(), GAUSSIAN, 100, 70, rng=0, engine="step", common=common, checkpoint=tmp_path / "of"
        )

    first = play(True)
    assert play(True) == first
    with pytest.raises(ValueError, match="is of another simulation: its common is True, not None"):
        play(False)
    robai.simulate(robai.UCB(), GAUSSIAN, 100, 70, rng=0, engine="step", checkpoint=tmp_path / "new")
    with pytest.raises(ValueError, match="is of another simulation: its common is None, not True"):
        robai.simulate(
            robai.UCB(), GAUSSIAN, 100, 70, rng=0, engine="step", common=True, checkpoint=tmp_path / "new"
        )


def test_what_cannot_have_common_rewards_says_so():
    with pytest.raises(ValueError, match=r"engine='leap' does not apply: common=True draws the rewards"):
        robai.simulate(robai.UCB(), GAUSSIAN, 100, 2, engine="leap", common=True)
    with pytest.raises(ValueError, match="common must be False for Turns, which is written in Python"):
        robai.simulate(Turns(), GAUSSIAN, 100, 2, common=True)
