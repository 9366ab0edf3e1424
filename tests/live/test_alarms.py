"""Alarms: how often they ring without a cause, what they see and when, which stored states are believed."""

import json
import math

import numpy as np
import pytest
from support.stores import Clock, forget, made

import robai
from robai import Store, families
from robai.live.alarms import Alarms, _tail

ALPHA, ROUNDS = 0.01, 8192


def drifts(values):
    """At which n the drift of one arm of one rings, or None."""
    alarms = Alarms(1)
    for value in values.tolist():
        alarms.reward(0, value, 0.0)
    drift = alarms.to_dict()["rewards"][0]["drift"]
    return drift and drift["n"]


def closed(arms, answered, n_arms):
    """At how many tickets the shares of arms ring, and their change over time; None for neither."""
    alarms = Alarms(n_arms)
    for arm, came in zip(arms.tolist(), answered.tolist(), strict=True):
        alarms.closed(arm, came, 0.0)
    state = alarms.to_dict()
    unequal, drift = state["unequal"], state["tickets"]["drift"]
    return unequal and sum(unequal["closed"]), drift and drift["n"]


def shifted(generator, by, at=1000):
    values = generator.normal(size=ROUNDS)
    values[at:] += by
    return values


def shares(generator, other, second=0.1):
    """Answered with .9, the second arm, which has few tickets, with another share."""
    arms = (generator.random(ROUNDS) < second).astype(int)
    return closed(arms, generator.random(ROUNDS) < np.where(arms, other, 0.9), 2)[0]


def halved(generator):
    return closed(
        np.zeros(ROUNDS, int), generator.random(ROUNDS) < np.where(np.arange(ROUNDS) < 2000, 0.8, 0.4), 1
    )[1]


def many_arms(generator):
    arms = generator.integers(0, 5, ROUNDS) * generator.integers(
        0, 2, ROUNDS
    )  # half of it is the first arm's
    return closed(arms, generator.random(ROUNDS) < 0.3, 5)[0]


def steady(generator):
    return closed(np.zeros(ROUNDS, int), generator.random(ROUNDS) < 0.8, 1)[1]


def noise(generator, ratio=1.0):
    """Two arms, one with rewards whose standard deviation is so many times what was said."""
    agent = robai.Agent(robai.UCB(), 2, 10**6, reward=families.Gaussian(1.0))
    for n in 4 * 2 ** np.arange(12):
        missing = int(n - agent.pulls[0])
        agent.update_batch(np.zeros(missing, int), generator.normal(0, ratio, missing))
        if "vary more" in agent.summary():
            return int(n)
    return None


NOTHING_WRONG = {
    "drift, normal": lambda generator: drifts(generator.normal(size=ROUNDS)),
    "drift, Bernoulli": lambda generator: drifts((generator.random(ROUNDS) < 0.05) + 0.0),
    "missing by arm": lambda generator: shares(generator, other=0.9),
    "missing by arm of five": many_arms,
    "missing over time": lambda generator: closed(np.zeros(ROUNDS, int), generator.random(ROUNDS) < 0.8, 1)[
        1
    ],
    "sigma": noise,
}

# What is seen in so many of 300 runs, and at which n in half of them.
SEEN = {
    "drift by .1": (lambda generator: drifts(shifted(generator, 0.1)), 28, None),
    "drift by .2": (lambda generator: drifts(shifted(generator, 0.2)), 262, None),
    "drift by .5": (lambda generator: drifts(shifted(generator, 0.5)), 300, 2048),
    "shares .9 and .88": (lambda generator: shares(generator, 0.88), 20, None),
    "shares .9 and .85": (lambda generator: shares(generator, 0.85), 215, None),
    "shares .9 and .8": (lambda generator: shares(generator, 0.8), 300, 2048),
    "shares halve": (halved, 300, 4096),
    "sigma 5 % low": (lambda generator: noise(generator, 1 / 0.95), 298, 4096),
    "sigma 10 % low": (lambda generator: noise(generator, 1 / 0.9), 300, 1024),
    "sigma 25 % low": (lambda generator: noise(generator, 1 / 0.75), 300, 64),
}


def found(law, runs, seed=0):
    generator = np.random.default_rng(seed)
    return [law(generator) for _ in range(runs)]


def rarely(name, runs):
    rung = sum(each is not None for each in found(NOTHING_WRONG[name], runs))
    print(f"{name}: {rung} of {runs}")
    assert rung <= ALPHA * runs + 5 * math.sqrt(ALPHA * runs)


def as_often(name, runs):
    law, expected, usual = SEEN[name]
    rung = [each for each in found(law, runs) if each is not None]
    at = np.median(rung) if rung else None
    print(f"{name}: {len(rung)} of {runs}, median {at}")
    share = min(expected / 300, 1 - 1 / 300)
    assert abs(len(rung) - share * runs) <= 5 * math.sqrt(share * (1 - share) * runs) + 1
    if usual:
        assert usual / 2 <= at <= usual * (2 if runs < 100 else 1)


@pytest.mark.parametrize("name", NOTHING_WRONG)
def test_alarms_without_a_cause(name):
    rarely(name, 100)


@pytest.mark.parametrize("name", SEEN)
def test_what_is_seen(name):
    as_often(name, 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTHING_WRONG)
def test_alarms_without_a_cause_in_full(name):
    rarely(name, 2000)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEN)
def test_what_is_seen_in_full(name):
    as_often(name, 300)


# ---- what is said, and kept


def rung():
    """An experiment in which all three have rung."""
    generator, alarms = np.random.default_rng(1), Alarms(3)
    for n in range(4096):
        arm, time = int(generator.integers(0, 2)), 1.7e9 + 3600 * n
        answered = bool(generator.random() < (0.9, 0.6)[arm] * (1 if n < 2048 else 0.5))
        alarms.closed(arm, answered, time)
        if answered:
            alarms.reward(arm, float(generator.normal(2.0 * (arm == 1 and n > 1000))), time)
    return alarms


def test_the_sentences():
    shout, answers, rewards = rung().sentences(["old", "new", "late"])
    assert shout == (
        "ATTENTION: some arms are answered more often than others: 84 % of 32 for 'old', 50 % of 32 "
        "for 'new' (2023-11-17 13:13 UTC). No certificate, interval or commitment can be trusted until it is "
        "known why"
    )
    assert answers == (
        "answers have become rarer: 75 % of the first 2,048 tickets whose window closed, 34 % of the next "
        "2,048 (2024-05-03 13:13 UTC)"
    )
    assert rewards.startswith("the rewards of 'new' have changed: mean ")
    assert Alarms(2).sentences(["A", "B"]) == []


def test_the_state_is_json_and_goes_on_alike():
    straight = rung()
    again = Alarms.from_dict(json.loads(json.dumps(straight.to_dict())))
    for alarms in (straight, again):
        alarms.add_arm()
        for n in range(200):
            alarms.reward(3, n % 2 + 5.0 * (n > 64), 1.8e9)
            alarms.closed(3, n % 2 == 0, 1.8e9)
    assert again.to_dict() == straight.to_dict()
    assert again.sentences("abcd") == straight.sentences("abcd")
    assert any(sentence.startswith("the rewards of 'd'") for sentence in again.sentences("abcd"))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["alpha"], 2, "alpha must be"),
        (["rewards"], [], "rewards must be a list"),
        (["rewards", 0], None, r"rewards\[0\] must be an object"),
        (["rewards", 0, "n"], -1, r"rewards\[0\].n must be"),
        (["rewards", 0, "mean"], "1", r"rewards\[0\].mean must be"),
        (["rewards", 0, "squares"], -1.0, r"rewards\[0\].squares must be"),
        (["rewards", 1, "half"], None, r"rewards\[1\].half must be"),
        (["rewards", 1, "drift", "n"], 100, r"rewards\[1\].drift.n must be a power of two"),
        (["rewards", 1, "drift", "time"], 1e18, r"rewards\[1\].drift.time must be"),
        (["rewards", 1, "drift", "first"], True, r"rewards\[1\].drift.first must be"),
        (["closed"], [1], "closed must be a list of 3"),
        (["closed", 0], 10**6, "tickets.n must be"),
        (["answered", 0], 10**6, r"answered\[0\] must be"),
        (["tickets", "n"], 1, "tickets.drift.n must be"),
        (["unequal", "closed", 2], 5, r"unequal.closed\[2\] must be"),
        (["unequal", "answered"], {}, "unequal.answered must be a list"),
        (["unequal", "time"], [], "unequal.time must be"),
        (["unequal", "more"], 1, "unequal must be an object"),
        (["more"], 1, "alarms must be an object"),
    ],
    ids=str,
)
def test_a_damaged_state_is_refused(path, value, message):
    state = rung().to_dict()
    *way, last = path
    place = state
    for key in way:
        place = place[key]
    place[last] = value
    with pytest.raises((TypeError, ValueError), match=message):
        Alarms.from_dict(state)


def test_equal_and_extreme_rewards_are_no_drift():
    for value in (0.1, 1e100, -1e-300):
        assert drifts(np.full(1024, value)) is None
    assert drifts(np.repeat([1.0, 2.0], 64)) == 128  # nothing varies within the halves
    assert drifts(np.repeat([1e100, -1e100], 64)) == 128


def test_arms_with_few_tickets_are_not_compared():
    alarms = Alarms(3)
    for n in range(1024):
        alarms.closed(0, n % 2 == 0, 0.0)
    for _ in range(9):
        alarms.closed(2, False, 0.0)
    for n in range(1024):
        alarms.closed(0, n % 2 == 0, 0.0)
    assert alarms.sentences("abc") == []


def test_the_tail_of_chi_square():
    """Against the gamma law of the core, whose quantiles the alarm of sigma uses."""
    generator = np.random.default_rng(0)
    for degrees in (1, 2, 3, 8, 99, 100):
        x = float(generator.chisquare(degrees))
        counted = (generator.chisquare(degrees, 100_000) >= x).mean()
        assert _tail(x, degrees) == pytest.approx(counted, abs=5 * 0.5 / math.sqrt(100_000))
    assert _tail(0.0, 3) == 1.0
    assert _tail(1e5, 7) == 0.0


def test_batches_and_single_rewards_raise_the_alarm_of_sigma_at_the_same_looks():
    for seed in range(20):
        values = np.random.default_rng(seed).normal(0, 1.3, 300)
        single, batch = (robai.Agent(robai.UCB(), 2, 10**6, reward=families.Gaussian(1.0)) for _ in range(2))
        for value in values.tolist():
            single.update(0, value)
        batch.update_batch(np.zeros(300, int), values)
        assert single._player.alarms == batch._player.alarms


def test_the_level_of_the_alarm_of_sigma():
    """The 1 - 0.01 / (2 * 2) quantile of chi-square(3) is 14.3203."""
    for squares, alarms in ((14.320, []), (14.321, [0])):
        agent = robai.Agent(robai.UCB(), 2, 10**6, reward=families.Gaussian(1.0))
        agent.update_counts(0, 4, 0.0, squares=squares)
        assert agent._player.alarms == alarms


# ---- where they are shown


def test_who_looks_at_a_store_is_told(tmp_path):
    clock = Clock(1.7e9)
    agent = made(tmp_path / "live.db", robai.UCB(), ["a", "b"], clock=clock, window=60.0)
    for n in range(60):
        tickets = agent.tickets(10)
        heard = [each for each in tickets if each.arm == "a" or n % 2] if n < 20 else tickets[:2]
        agent.answers([(each, n >= 20 and i % 2) for i, each in enumerate(heard)])
        clock.now += 60.0
    agent.refresh()
    missing, rarer, drift = agent.alarms
    assert missing.startswith("ATTENTION: some arms are answered more often than others: 100 % of ")
    assert "for 'a'" in missing
    assert "(2023-11-14 " in missing
    assert rarer.startswith("answers have become rarer: ")
    assert drift.startswith("the rewards of 'b' have changed: mean 0 of the first ")
    lines = agent.summary().splitlines()
    assert lines[1] == "Windows that closed without an answer: 7 of 'a', 364 of 'b'."
    assert lines[2:5] == [missing, rarer, drift]
    assert Store.reader(tmp_path / "live.db").open("it").alarms == agent.alarms
    forget(agent)  # the file says the same
    assert agent.summary().splitlines() == lines


def test_silence_that_is_a_reward_is_not_missing(tmp_path):
    clock = Clock()
    agent = made(tmp_path / "live.db", robai.UCB(), ["a", "b"], clock=clock, window=60.0, missing=0.0)
    agent.answers([(each, 1) for each in agent.tickets(400) if each.arm == "a"])
    clock.now += 60.0
    agent.refresh()
    assert agent.pulls.tolist() == [200, 200]
    assert agent.alarms == []


def test_alarms_of_sigma_are_among_those_of_a_store(tmp_path):
    agent = made(tmp_path / "live.db", robai.UCB(sigma=0.1), ["a", "b"], reward="gaussian", window=60.0)
    agent.answers([(each, (-1.0) ** (i // 2)) for i, each in enumerate(agent.tickets(400))])
    said = agent.alarms
    assert len(said) == 2
    for arm, text in zip("ab", said, strict=True):
        assert f"the rewards of {arm!r} vary more than sigma = 0.1 allows: sd 1." in text
    assert agent.summary().splitlines()[1:3] == said


def test_retired_arms_are_in_the_summary(tmp_path):
    agent = made(tmp_path / "live.db")
    agent.answers([(each, 1) for each in agent.tickets(30)])
    assert "Retired" not in agent.summary()
    agent.retire_arm("b")
    assert agent.summary().splitlines()[1] == "Retired: 'b' after 10 rewards."
