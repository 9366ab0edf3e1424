"""Changes to a running experiment: what they do to counts, rounds, decisions and promises."""

import json
import math
import random

import numpy as np
import pytest
from support.examples import POLICIES, fitting
from support.stores import forget, frequent_snapshots

import robai
from robai.live import recorded

EQUALLY = robai.Policy(robai.rules.RoundRobin())  # which has no stop of its own
OPTIONS = {"reward": "bernoulli", "rng": 3}
MEANS = {"a": 0.1, "b": 0.5, "c": 0.3, "d": 0.9, 0: 0.1, 1: 0.5, 2: 0.3}


@pytest.fixture
def store(tmp_path):
    with robai.Store(tmp_path / "live.db", clock=lambda: clock[0]) as store:
        clock = [0.0]
        store.clock = clock
        yield store


def played(agent, rounds, seed=0):
    """Rounds with immediate rewards; the arms that were handed out."""
    chance, arms = np.random.default_rng(seed), []
    for _ in range(rounds):
        ticket = agent.ticket()
        arms.append(ticket.arm)
        agent.answer(ticket, float(chance.random() < MEANS[ticket.arm]))
    return arms


def assert_same_again(store, agent):
    """What is read from the file, by events and by a snapshot, is the same."""
    assert store.check() == []
    again = store.open(agent.name)
    assert again.to_json() == agent.to_json()
    assert again.summary() == agent.summary()
    assert (again.labels, again.retired, again.earlier) == (agent.labels, agent.retired, agent.earlier)


# ---- a longer horizon


def test_a_longer_horizon_is_that_of_the_next_decisions(store):
    agent = store.create("e", robai.UCB(), ["a", "b", "c"], 1000, **OPTIONS)
    played(agent, 500)
    agent.extend(10**6)
    before = robai.Agent(robai.UCB(), ["a", "b", "c"], 10**6, **OPTIONS)
    for arm, n, total in zip(agent.labels, agent.pulls.tolist(), agent.sums.tolist(), strict=True):
        before.update_counts(arm, n, total)
    assert agent.horizon == 10**6
    assert agent.rounds == 500
    for ours, plain in zip(agent.table(), before.table(), strict=True):
        assert ours == plain  # bounds of the new level
    played(agent, 100)
    assert_same_again(store, agent)


def test_an_experiment_at_its_horizon_goes_on(store):
    agent = store.create("e", robai.UCB(), 3, 10, **OPTIONS)
    played(agent, 10)
    with pytest.raises(robai.HorizonReached):
        agent.ticket()
    agent.extend(12)
    played(agent, 2)
    with pytest.raises(robai.HorizonReached):
        agent.ticket()
    assert_same_again(store, agent)


@pytest.mark.parametrize("horizon", [1000, 999, 0, -1, 10**19, 1000.5, "many", None, True])
def test_a_horizon_that_is_not_longer_is_refused(store, horizon):
    agent = store.create("e", robai.UCB(), 3, 1000, **OPTIONS)
    played(agent, 10)
    before = agent.to_json()
    with pytest.raises((ValueError, TypeError), match="horizon"):
        agent.extend(horizon)
    assert agent.to_json() == before
    assert_same_again(store, agent)


def test_delta_stays_what_it_was(store):
    agent = store.create("e", robai.UCB(), 3, 1000, **OPTIONS, window=10.0)
    assert agent.delta == 1 / 1000
    agent.extend(10**5)
    assert agent.delta == 1 / 1000
    assert_same_again(store, agent)


# ---- another arm


def test_a_new_arm_is_handed_out_first_and_then_like_the_others(store):
    agent = store.create("e", robai.KLUCB(), ["a", "b"], 10**4, **OPTIONS)
    played(agent, 200)
    agent.add_arm("d")
    assert agent.labels == ("a", "b", "d")
    assert agent.pulls[-1] == 0
    arms = played(agent, 1000)
    assert arms[0] == "d"
    assert arms.count("d") > 800  # it is the best one
    assert_same_again(store, agent)


def test_the_certificate_counts_all_arms_there_have_been(store):
    agent = store.create("e", robai.KLUCB(), ["a", "b"], 10**4, **OPTIONS)
    agent.update_batch(["a"] * 50 + ["b"] * 50, [1] * 20 + [0] * 30 + [1] * 38 + [0] * 12)
    alone = agent.certificate()
    agent.add_arm("c")
    agent.update_batch(["c"] * 50, [0] * 50)
    with_three = agent.certificate()
    assert with_three == pytest.approx(2 * alone)
    agent.retire_arm("c")
    assert agent.certificate() == pytest.approx(2 * alone)
    assert_same_again(store, agent)


def test_the_certificate_that_stops_counts_them_too(store):
    """It fires exactly when `certificate()` comes to delta."""
    agent = store.create("e", EQUALLY, ["a", "b"], 10**4, **OPTIONS, window=math.inf, delta=0.01)
    for label in ("c", "d"):
        agent.add_arm(label)
        agent.retire_arm(label)
    while not agent.committed:
        reached = agent.certificate() <= 0.01
        ticket = agent.ticket()
        assert agent.committed == reached
        agent.answer(ticket, float(ticket.arm == "b"))
    assert agent.committed_arm == "b"
    assert "its certificate" in agent.commit_reason


@pytest.mark.parametrize("label", ["a", True, None, float("nan"), ["b"]])
def test_a_label_that_cannot_be_is_refused(store, label):
    agent = store.create("e", robai.UCB(), ["a", "b", "c"], 1000, **OPTIONS)
    agent.retire_arm("c")
    before = agent.to_json()
    for wrong in (label, "c"):  # also that of an arm that was retired
        with pytest.raises((ValueError, TypeError), match="label must be "):
            agent.add_arm(wrong)
    assert agent.to_json() == before
    assert_same_again(store, agent)


def test_an_arm_for_which_there_is_no_sigma_is_refused(store):
    agent = store.create("e", robai.UCB(sigma=[1.0, 2.0]), 2, 1000, reward="gaussian", rng=0)
    for change in (lambda: agent.add_arm(7), lambda: agent.retire_arm(0)):
        with pytest.raises(ValueError, match=r"sigma|two arms"):
            change()
    assert agent.labels == (0, 1)
    agent.update(agent.select(), 1.0)
    assert_same_again(store, agent)


# ---- an arm less


def test_a_retired_arm_is_not_handed_out_and_its_tickets_are_answered(store):
    agent = store.create("e", robai.UCB(), ["a", "b", "c"], 10**4, **OPTIONS, window=100.0)
    tickets = agent.tickets(30)
    of_b = [ticket for ticket in tickets if ticket.arm == "b"]
    for ticket in of_b[:4]:
        agent.answer(ticket, 1)
    agent.retire_arm("b")
    assert agent.labels == ("a", "c")
    assert agent.retired == {"b": (4, 4.0, 6)}
    assert agent.rounds == 30
    assert "b" not in played(agent, 200)
    assert [agent.answer(ticket, 1) for ticket in of_b[:6]] == ["repeated"] * 4 + ["counted"] * 2
    assert agent.retired == {"b": (6, 6.0, 4)}
    store.clock[0] = 1000.0
    agent.refresh()
    assert agent.retired == {"b": (6, 6.0, 0)}
    assert agent.rounds == 230
    assert agent.pulls.sum() + agent.dropped.sum() + agent.retired["b"].pulls + 4 == 230
    assert_same_again(store, agent)


def test_numbered_arms_keep_their_numbers(store):
    agent = store.create("e", robai.UCB(), 4, 10**4, **OPTIONS)
    agent.retire_arm(1)
    assert agent.labels == (0, 2, 3)
    assert set(agent.select_batch(30)) == {0, 2, 3}
    agent.update(3, 1)
    assert agent.pulls.tolist() == [0, 0, 1]
    agent.add_arm(9)
    assert agent.ticket().arm == 9
    agent.update(1, 1)
    assert agent.retired[1].pulls == 1
    with pytest.raises(KeyError, match="no arm 4"):
        agent.update(4, 1)
    with pytest.raises(ValueError, match="retired"):
        agent.update_counts(1, 2, 1)
    assert_same_again(store, agent)


def test_a_horizon_beyond_all_doubles_is_kept(store):
    agent = store.create("e", robai.UCB(), ["a", "b"], 1000, **OPTIONS)
    agent.extend(10**17 + 1)
    forget(agent)
    assert agent.horizon == 10**17 + 1


def test_two_arms_must_be_left(store):
    agent = store.create("e", robai.UCB(), ["a", "b", "c"], 1000, **OPTIONS)
    agent.retire_arm("a")
    for label, error in (("b", "two arms"), ("a", "retired already"), ("z", "no arm 'z'")):
        with pytest.raises((ValueError, KeyError), match=error):
            agent.retire_arm(label)
    assert agent.labels == ("b", "c")


# ---- a commitment taken back


def committed(store, **options):
    agent = store.create("e", robai.EOCPUG(), ["a", "b"], 10**4, **OPTIONS, **options)
    while not agent.committed:
        ticket = agent.ticket()
        agent.answer(ticket, float(ticket.arm == "b"))
    return agent


def test_a_commitment_that_was_taken_back_stays_in_the_summary(store):
    agent = committed(store)
    why, time = agent.commit_reason, agent.commit_time
    agent.reopen("logs of a were lost")
    assert not agent.committed
    assert agent.commit_reason is agent.commit_time is None
    [earlier] = agent.earlier
    assert earlier[:4] == ("b", time, why, "logs of a were lost")
    assert "taken back" in agent.summary()
    assert "logs of a were lost" in agent.summary()
    assert_same_again(store, agent)


def test_a_reason_cannot_write_over_a_terminal(store):
    agent = committed(store)
    agent.reopen("logs\nof \x1b[2J were lost")
    assert "logs\\nof \\x1b[2J were lost." in agent.summary()
    assert agent.earlier[0].reason == "logs\nof \x1b[2J were lost"


def test_what_stopped_it_has_to_be_refuted_before_it_stops_it_again(store):
    agent = committed(store)
    agent.reopen("look again")
    ones, again = int(agent.pulls.max()), []
    while not agent.committed:  # now a wins always
        ticket = agent.ticket()
        if not agent.committed:
            again.append(ticket.arm)
            agent.answer(ticket, float(ticket.arm == "a"))
    assert again.count("a") > 10  # it was explored
    assert agent.committed_arm == "a" or agent.pulls[0] > ones / 100
    assert_same_again(store, agent)


def test_a_new_arm_after_a_commitment_has_a_chance(store):
    agent = committed(store)
    with pytest.raises(ValueError, match="reopen"):
        agent.add_arm("d")
    agent.reopen("a new design")
    agent.add_arm("d")
    while not agent.committed:
        ticket = agent.ticket()
        if not agent.committed:
            agent.answer(ticket, {"a": 0.0, "b": float(agent.rounds % 2), "d": 1.0}[ticket.arm])
    assert agent.committed_arm == "d"
    assert_same_again(store, agent)


def test_the_certificate_is_about_all_time(store):
    """It was reached, so it commits again."""
    agent = store.create("e", EQUALLY, ["a", "b"], 10**4, **OPTIONS, window=math.inf, delta=0.01)
    while not agent.committed:
        ticket = agent.ticket()
        if not agent.committed:
            agent.answer(ticket, float(ticket.arm == "b"))
    agent.reopen("by mistake")
    assert agent.ticket().arm == agent.committed_arm == "b"
    assert_same_again(store, agent)


@pytest.mark.parametrize("reason", ["", None, 7, "x" * 10_001])
def test_a_reason_must_be_given(store, reason):
    agent = committed(store)
    with pytest.raises(ValueError, match="reason"):
        agent.reopen(reason)
    assert agent.committed


def test_what_has_not_committed_cannot_be_reopened(store):
    agent = store.create("e", robai.EOCPUG(), 2, 1000, **OPTIONS)
    with pytest.raises(ValueError, match="nothing to take back"):
        agent.reopen("why not")


@pytest.mark.parametrize("method", ["extend", "retire_arm", "add_arm"])
def test_after_the_commitment_it_is_too_late(store, method):
    agent = committed(store)
    with pytest.raises(ValueError, match=f"{method} comes too late"):
        getattr(agent, method)({"extend": 10**5, "retire_arm": "a", "add_arm": "d"}[method])


# ---- any policy


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.label())
def test_any_policy_can_be_changed_or_says_why_not(store, policy, monkeypatch):
    monkeypatch.setattr(recorded, "_SNAPSHOT", 5)
    bandit = fitting(policy, robai.Bernoulli([0.2, 0.5, 0.3]))
    agent = store.create("e", policy, bandit.n_arms, 10**4, reward=bandit.family, rng=0)
    before = agent.to_json()
    changed, refused = [], []
    for change in (
        lambda: agent.extend(10**5),
        lambda: agent.add_arm("new"),
        lambda: agent.retire_arm("new"),
    ):
        try:
            change()
            changed.append(True)
        except ValueError as error:
            refused.append(str(error))
            changed.append(False)
        except KeyError:
            assert not changed[-1]  # of the arm that was refused
    assert all("stages" in text or "two arms" in text or "sigma" in text for text in refused)
    if not any(changed):
        assert agent.to_json() == before
    rewards = bandit.family.support
    for _ in range(20):
        if agent.committed:
            break
        ticket = agent.ticket()
        agent.answer(ticket, float(np.clip(0.0, *rewards)))
    assert_same_again(store, agent)


def test_a_policy_in_python_cannot_be_changed(store):
    class Turns:
        def select(self, state):
            return state.t % state.n_arms

        def update(self, arm, reward):
            pass

    agent = store.create("e", Turns(), 3, 1000, **OPTIONS)
    for change in (lambda: agent.extend(2000), lambda: agent.add_arm(7), lambda: agent.retire_arm(0)):
        with pytest.raises(ValueError, match="Turns is written in Python"):
            change()
    played(agent, 5)
    assert agent.pulls.tolist() == [2, 2, 1]


def test_changes_are_seen_by_other_processes(store, monkeypatch):
    monkeypatch.setattr(recorded, "_SNAPSHOT", 10)
    ours = store.create("e", robai.UCB(), ["a", "b", "c"], 10**4, **OPTIONS)
    with robai.Store(store.path) as elsewhere:
        theirs = elsewhere.open("e")
        ours.retire_arm("b")
        assert "b" not in played(theirs, 30)
        theirs.add_arm("d")
        assert played(ours, 1) == ["d"]
        theirs.extend(10**5)
        ours.refresh()
        assert ours.horizon == 10**5
        theirs.refresh()
        assert theirs.to_json() == ours.to_json()
    assert json.loads(ours.to_json())["arms_ever"] == 4
    assert_same_again(store, ours)


@pytest.mark.parametrize("seed", range(12))
def test_changes_tickets_and_compactions_of_two_processes_in_any_order(tmp_path, seed):
    """Memory, snapshots and events say the same, and every ticket is somewhere."""
    chance, now, path = random.Random(seed), [0.0], tmp_path / "live.db"
    window, missing = [(None, None), (math.inf, None), (7.0, None), (7.0, 0.0)][seed % 4]
    terms = {"window": window, "missing": missing, "delta": window and 0.2, "exist_ok": True}
    policy = [robai.KLEOCPUG(), robai.ThompsonSampling(), robai.UCB()][seed % 3]
    tickets, refused = [], []
    with (
        frequent_snapshots(5),
        robai.Store(path, clock=lambda: now[0]) as one,
        robai.Store(path, clock=lambda: now[0] - 3.0) as two,
    ):
        agents = [store.create("e", policy, ["a", "b"], 60, **OPTIONS, **terms) for store in (one, two)]

        def answer(agent):
            known = [each for each in tickets if chance.random() < 0.2]
            agent.answers([(each, float(each.id % 3 == 0)) for each in known])

        def compact(agent):
            first = agent.store.compact("e", before=now[0] - 5.0) and one._log.first(agent._written.number)
            tickets[:] = [each for each in tickets if each.id >= (first or 0) * 2**24]

        does = {
            "ticket": lambda agent: tickets.append(agent.ticket(chance.choice([None, f"{len(tickets)}"]))),
            "answer": answer,
            "time": lambda agent: now.append(now.pop() + chance.choice([1.0, 8.0])),
            "extend": lambda agent: agent.extend(agent.horizon + 20),
            "add": lambda agent: agent.add_arm(chance.choice("abcdef")),
            "retire": lambda agent: agent.retire_arm(chance.choice("abcdef")),
            "reopen": lambda agent: agent.reopen("look again"),
            "forget": forget,
            "compact": compact,
        }
        for what in chance.choices(list(does), [12, 12, 6, 1, 1, 1, 1, 1, 1], k=250):
            agent = chance.choice(agents)
            try:
                does[what](agent)
            except (ValueError, KeyError, robai.HorizonReached) as error:
                refused.append(type(error))
            agent.refresh()
            for each in agents:
                each._log.transact(each._catch_up, (), each._cache)
            states = [each._course.to_json() if each.rounds else "" for each in agents]
            assert states[0] == states[1]
            pulls, dropped = agent.pulls + agent.pending, agent._course.dropped
            left = sum(each.pulls + each.pending for each in agent.retired.values())
            assert pulls.sum() + sum(dropped) + left == agent.rounds
        assert agent.rounds > 40
        assert len(refused) < 100
        assert_same_again(one, agents[0])
