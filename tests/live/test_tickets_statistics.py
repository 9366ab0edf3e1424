"""How often live experiments are wrong, and how many answers they take, where answers are late or lost."""

import collections
import math
import random
import statistics

import pytest
from support.stores import Clock, made

import robai
from robai import HorizonReached
from robai._core.rng import Stream, seed_block
from robai.live.state import Experiment


def driven(
    means, horizon, seed, *, delay, window=math.inf, missing=None, policy=None, delta=None, noise=None
):
    """An experiment of a ticket a second, as `test_tickets` says that a store plays it: its player alone.

    `delay(arm, reward, chance)` is after how many seconds an answer comes, infinite if it does not. Rewards
    are zeros and ones, or Gaussian of the deviation `noise`. What comes back is the arm committed to, with
    the counted answers, or None. A delta of 0 is none.
    """
    family = "bernoulli" if noise is None else robai.families.Gaussian(noise)
    delta = 1 / horizon if delta is None else delta or None
    experiment = Experiment(policy or robai.KLEOCPUG(), len(means), horizon, family, delta=delta)
    player = experiment.player(Stream(seed_block(seed, (), 0)[0]))
    chance, due = random.Random(seed), collections.defaultdict(list)
    for now in range(horizon):
        for change in due.pop(now, ()):
            change[0](*change[1:])
        try:
            arm, commits = player.ask()
        except HorizonReached:
            return None
        if commits:
            return arm, int(player.pulls.sum())
        player.hand_out(arm)
        reward = float(chance.random() < means[arm]) if noise is None else chance.gauss(means[arm], noise)
        late = delay(arm, reward, chance)
        if missing is not None:
            due[now + window].append((player.update, arm, reward if late < window else missing))
        elif late < window:
            due[now + max(1, math.ceil(late))].append((player.update, arm, reward))
        elif window < math.inf:
            due[now + window].append((player.drop, arm))
    return None


def experiments(runs, means, horizon, **options):
    """The answers at the commitments, and how many of these are wrong."""
    found = [driven(means, horizon, seed, **options) for seed in range(runs)]
    made = [each for each in found if each is not None]
    return [answers for _, answers in made], sum(means[arm] < max(means) for arm, _ in made)


def at_once(arm, reward, chance):
    return 0.0


def conversions_first(mean):
    """A conversion is known soon, anything else when nobody waits any more."""
    return lambda arm, reward, chance: chance.expovariate(1 / mean) if reward else 300.0


def better_ones_last(arm, reward, chance):
    """All is known in time, but a conversion of the better arm later than one of the other."""
    return 1.0 if reward and arm == 1 else 999.0


def half_lost(arm, reward, chance):
    return 100.0 if chance.random() < 0.5 else math.inf


@pytest.mark.parametrize("runs", [30, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("means", "mean"), [((0.1, 0.07), 30.0), ((0.3, 0.25), 100.0)])
def test_delays_that_tell_the_outcome_mislead_nobody_where_answers_are_held(runs, means, mean):
    options = {"delay": conversions_first(mean), "window": 300, "missing": 0.0}
    answers, wrong = experiments(runs, means, 20_000, **options)
    assert wrong == 0  # as of 0 without delay
    assert len(answers) > 0.4 * runs


def test_they_do_where_answers_count_when_they_come():
    setting = (0.5, 0.45), 20_000
    _, wrong = experiments(20, *setting, delay=better_ones_last, window=1000)
    assert wrong > 10
    _, wrong = experiments(20, *setting, delay=better_ones_last, window=1000, missing=0.0)
    assert wrong == 0


@pytest.mark.parametrize("runs", [40, pytest.param(300, marks=pytest.mark.slow)])
def test_half_of_the_answers_lost_take_no_more_answers(runs):
    setting = (0.1, 0.05), 50_000
    answers, wrong = experiments(runs, *setting, delay=half_lost, window=500)
    kept, _ = experiments(runs, *setting, delay=lambda *_: 100.0, window=500)
    assert wrong == 0
    assert len(answers) == len(kept) == runs
    assert statistics.median(answers) < 1.3 * statistics.median(kept)


@pytest.mark.parametrize("runs", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_certificates_end_what_is_late(runs):
    """Gaussian, half a sigma apart, 1,000 rounds, all answers 300 late: mostly an end, seldom a wrong one."""
    options = {"delay": lambda *_: 300.0, "noise": 1.0, "policy": robai.EOCPUG()}
    answers, wrong = experiments(runs, (0.5, 0.0), 1000, **options)
    assert len(answers) > 0.6 * runs
    assert wrong <= 1 + runs // 500
    assert experiments(20, (0.5, 0.0), 1000, **options, delta=0) == ([], 0)


@pytest.mark.slow
@pytest.mark.parametrize(("late", "ratio"), [(1000, 1.7), (2000, 1.7), (10_000, 1.5)])
def test_delays_of_many_rounds(late, ratio):
    """A fifth of sigma apart. Between these delays, where the two stops meet, it is up to twice as many."""
    setting, options = ((0.2, 0.0), 100_000), {"noise": 1.0, "policy": robai.EOCPUG()}
    before, _ = experiments(60, *setting, delay=at_once, **options)
    answers, wrong = experiments(60, *setting, delay=lambda *_: float(late), **options)
    assert wrong == 0
    assert len(answers) == len(before) == 60
    assert statistics.median(answers) <= ratio * statistics.median(before)


@pytest.mark.parametrize("runs", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_the_same_in_a_store(tmp_path, runs):
    """By batches of 100 visitors, whose conversions are heard of in any order."""
    means, horizon, committed = (0.1, 0.05), 20_000, []
    for seed in range(runs):
        chance, clock, waiting = random.Random(seed), Clock(0.0), []
        agent = made(
            tmp_path / "db",
            arms=2,
            horizon=horizon,
            name=f"{seed}",
            rng=seed,
            window=300.0,
            missing=0.0,
            clock=clock,
        )
        while agent.rounds < horizon and not agent.committed:
            for ticket in agent.tickets(100):
                if chance.random() < means[ticket.arm]:
                    waiting.append((clock.now + chance.expovariate(1 / 30), ticket))
            clock.now += 100.0
            chance.shuffle(waiting)
            outcomes = agent.answers([(ticket, 1) for time, ticket in waiting if time <= clock.now])
            assert set(outcomes) <= {"held", "late"}
            assert outcomes.count("late") <= 2
            waiting = [each for each in waiting if each[0] > clock.now]
        assert (agent.pulls + agent.pending).sum() == agent.rounds
        assert agent.committed_arm in (None, 0)
        committed.append(agent.committed)
        agent.store.close()
    assert any(committed)
