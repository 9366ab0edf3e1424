"""Tickets, answers, keys and windows: a store, against a list of what happened."""

import math
import random
import tempfile

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.reference_tickets import Refused, Tickets
from support.stores import Clock, events, forget, made

import robai
from robai import HorizonReached, Store

POLICIES = [
    robai.KLEOCPUG(),
    robai.UCB(),
    robai.ThompsonSampling(),
    robai.KLEOCP(kl=1.0),
    robai.DETCK(sigma=0.5),
    robai.LeadCommit(),
    robai.SequentialHalving(),
    robai.ActionElimination(delta=0.3, sigma=0.5),
    robai.TopTwo(delta=0.3),
]
TERMS = [(None, None), (math.inf, None), (5.0, None), (5.0, 0.0), (5.0, 1.0), (1.0, None), (1.0, 0.0)]
KEYS = [f"user {i}" for i in range(6)]


class Experiments(RuleBasedStateMachine):
    """Two processes with clocks of their own, restarts among them."""

    @initialize(
        policy=st.sampled_from(POLICIES),
        terms=st.sampled_from(TERMS),
        horizon=st.sampled_from([12, 60, 2000]),
        seed=st.integers(0, 9),
    )
    def begin(self, policy, terms, horizon, seed):
        self.folder = tempfile.TemporaryDirectory()
        self.clocks = [Clock(), Clock()]
        window, missing = terms
        options = {"reward": "bernoulli", "window": window, "missing": missing, "exist_ok": True}
        self.create = lambda store: store.create("it", policy, 3, horizon, rng=seed, **options)
        self.model = Tickets(policy, 3, horizon, "bernoulli", window, missing, seed)
        self.stores, self.agents = [None, None], [None, None]
        for which in (0, 1):
            self.open(which)
        self.other = self.stores[0].create("other", policy, 3, horizon, reward="bernoulli").ticket()
        self.tickets, self.keys, self.commitment = [], {}, None

    def open(self, which):
        self.stores[which] = Store(f"{self.folder.name}/live.db", clock=self.clocks[which])
        self.agents[which] = self.create(self.stores[which])

    def teardown(self):
        if hasattr(self, "folder"):
            assert self.stores[0].check() == []
            for store in self.stores:
                store.close()
            self.folder.cleanup()

    # ---- what may happen

    @rule(which=st.integers(0, 1), step=st.sampled_from([0.0, 0.25, 1.0, 2.5, 7.0, -3.0]))
    def time_passes(self, which, step):
        self.clocks[which].now += step

    @rule(which=st.integers(0, 1))
    def restart(self, which):
        self.stores[which].close()
        self.open(which)

    @rule(
        which=st.integers(0, 1),
        keys=st.lists(st.sampled_from(KEYS), min_size=1, max_size=4),
        one=st.booleans(),
    )
    def tickets_with_keys(self, which, keys, one):
        keys = keys[:1] if one else keys
        agent = self.agents[which]
        self.hand_out(which, keys, lambda: [agent.ticket(keys[0])] if one else agent.tickets(keys=keys))

    @rule(which=st.integers(0, 1), n=st.integers(1, 8), one=st.booleans())
    def tickets_without(self, which, n, one):
        agent = self.agents[which]
        self.hand_out(
            which, [None] * (1 if one else n), lambda: [agent.ticket()] if one else agent.tickets(n)
        )

    def hand_out(self, which, keys, call):
        try:
            places = self.model.tickets(self.clocks[which].now, keys)
        except Refused as refused:
            with pytest.raises(refused.kind):
                call()
            return
        found = call()
        assert [ticket.key for ticket in found] == keys
        for place, ticket in zip(places, found, strict=True):
            if place == len(self.tickets):
                self.tickets.append(ticket)
            assert ticket == self.tickets[place]
            assert ticket.arm == self.model.pulls[place].arm

    @precondition(lambda self: self.tickets)
    @rule(which=st.integers(0, 1), data=st.data(), many=st.booleans())
    def answers(self, which, data, many):
        places = st.integers(0, len(self.tickets) - 1)
        # Mostly the same answer for a ticket, so that batches are not always refused.
        rewards = st.sampled_from([None, None, None, 0.0, 1.0])
        pairs = data.draw(st.lists(st.tuples(places, rewards), min_size=1, max_size=6 if many else 1))
        pairs = [(place, float(place % 3 == 0) if reward is None else reward) for place, reward in pairs]
        given = [
            (self.tickets[place] if place % 2 else self.tickets[place].id, reward) for place, reward in pairs
        ]
        agent = self.agents[which]
        try:
            outcomes = self.model.answers(self.clocks[which].now, pairs)
        except Refused as refused:
            with pytest.raises(refused.kind) as caught:
                agent.answers(given) if many else agent.answer(*given[0])
            assert isinstance(caught.value, robai.AnswerConflict)
            return
        assert (agent.answers(given) if many else [agent.answer(*given[0])]) == outcomes

    @rule(which=st.integers(0, 1), kind=st.integers(0, 5))
    def refused(self, which, kind):
        agent = self.agents[which]
        number = agent._written.number
        ticket = [self.other, self.other.id, 2**24 * 10**6 + number, number, -1, 2**80][kind]
        good = [(self.tickets[-1], 0.0)] if self.tickets else []
        with pytest.raises((KeyError, robai.AnswerConflict)):
            agent.answers([*good, (ticket, 0.0)])

    @rule(which=st.integers(0, 1))
    def refresh(self, which):
        self.model.refresh(self.clocks[which].now)
        self.agents[which].refresh()

    # ---- what is true

    @invariant()
    def all_agree(self):
        if not hasattr(self, "tickets"):
            return
        with Store.reader(self.stores[0].path) as reader:
            written = reader.open("it")
            events = len(list(reader._log.events(written._written.number)))
            for which in (0, 1):  # has every change of the other, without another event
                self.stores[which]._log.transact(self.agents[which]._catch_up, (), self.agents[which]._cache)
            states = [agent._course.to_json() if events else "" for agent in (written, *self.agents)]
            assert len(set(states)) == 1
            assert events == len(list(reader._log.events(written._written.number)))
            assert written._course.differences == 0
            pulls, sums, dropped, pending = self.model.counts()
            assert written.pulls.tolist() == pulls
            assert written.sums.tolist() == pytest.approx(sums)
            assert written.dropped.tolist() == dropped
            assert written.pending.tolist() == pending
            assert written.rounds == len(self.model.pulls)
            assert written._player.state() == self.model.player.state()
            now = written.committed_arm, written.commit_time, written.commit_reason
            if self.commitment is not None:
                assert now == self.commitment
            elif written.committed:
                self.commitment = now


TestExperiments = Experiments.TestCase
TestExperiments.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


# ---- what is promised, case by case


def test_the_words_of_live_answers(tmp_path):
    clock = Clock(0.0)
    agent = made(tmp_path / "db", window=10.0, clock=clock)
    tickets = agent.tickets(4)
    clock.now = 9.9
    assert agent.answer(tickets[0], 1) == "counted"
    clock.now = 10.0  # closed: a window of 10 s has no answer after 10 s
    assert agent.answer(tickets[1], 1) == "late"
    assert agent.answer(tickets[1], 1) == "repeated"
    with pytest.raises(robai.AnswerConflict, match=r"answered by 1\.0, and now by 0\.0"):
        agent.answer(tickets[1], 0)
    assert agent.answers([(ticket, 0) for ticket in tickets[2:] * 2]) == ["late"] * 2 + ["repeated"] * 2
    assert (agent.pulls.sum(), agent.dropped.sum(), agent.pending.sum(), agent.rounds) == (1, 3, 0, 4)
    again = made(tmp_path / "db", window=10.0, clock=clock)
    assert again.dropped.tolist() == agent.dropped.tolist()


@pytest.mark.parametrize("missing", [0.0, 1.0])
def test_held_answers_enter_in_the_order_of_their_tickets(tmp_path, missing):
    clock = Clock(0.0)
    agent = made(tmp_path / "db", window=10.0, missing=missing, clock=clock)
    tickets = []
    for _ in range(6):
        tickets.append(agent.ticket())
        clock.now += 1.0
    for place in (4, 2, 0):
        assert agent.answer(tickets[place], 1 - missing) == "held"
    seen = []
    for now in (9.5, 10.0, 10.5, 11.0, 13.0, 20.0):
        clock.now = now
        agent.refresh()
        seen.append((int(agent.pulls.sum()), agent.sums.sum()))
    sums = [sum(missing if place % 2 else 1 - missing for place in range(count)) for count in range(7)]
    assert seen == [(count, sums[count]) for count in (0, 1, 1, 2, 4, 6)]
    assert agent.dropped.tolist() == [0, 0, 0]


def test_a_window_is_closed_by_an_event_and_by_nothing_else(tmp_path):
    clock = Clock(0.0)
    agent = made(tmp_path / "db", window=10.0, clock=clock)
    first = agent.ticket("ann")
    agent.answer(first, 1)
    agent.ticket("bob")
    before = events(agent)
    clock.now = 5.0
    agent.refresh()
    clock.now = 100.0
    assert agent.answer(first, 1) == "repeated"
    assert agent.ticket("ann") == first
    assert (agent.dropped.sum(), agent.pending.sum()) == (0, 1)
    assert events(agent) == before
    for _ in range(5):  # one tick is enough
        agent.refresh()
        clock.now += 100.0
    assert len(events(agent)) == len(before) + 1
    assert (agent.dropped.sum(), agent.pending.sum()) == (1, 0)


def test_a_clock_that_goes_back_opens_no_window(tmp_path):
    clocks = Clock(0.0), Clock(-1000.0)
    ahead, behind = (made(tmp_path / "db", window=10.0, clock=clock) for clock in clocks)
    first, second = ahead.tickets(2)
    clocks[0].now = 20.0
    assert ahead.answer(first, 1) == "late"
    assert behind.answer(second, 1) == "late"
    times = [event[1] for event in events(ahead)]
    assert times == sorted(times) == [0.0, 0.0, 20.0, 20.0]
    third = behind.ticket()
    assert ahead.answer(third, 1) == "counted"


def test_dropped_pulls_are_rounds(tmp_path):
    clock = Clock(0.0)
    agent = made(tmp_path / "db", robai.UCB(), 2, 12, window=10.0, clock=clock)
    tickets = agent.tickets(9)
    agent.answer(tickets[0], 1)
    clock.now = 20.0
    assert len(agent.tickets(3)) == 3
    assert (agent.rounds, agent.pulls.sum(), agent.dropped.sum(), agent.pending.sum()) == (12, 1, 8, 3)
    given = agent.pulls + agent.dropped + agent.pending
    assert [row.share for row in agent.table()] == pytest.approx((given / 12).tolist())
    before = events(agent)
    clock.now = 100.0
    for _ in range(2):
        with pytest.raises(HorizonReached, match="all 12 rounds have been handed out and the policy has not"):
            agent.ticket()
        with pytest.raises(HorizonReached):
            agent.tickets(keys=["ann", "bob"])
    assert events(agent) == before
    assert (agent.dropped.sum(), agent.pending.sum()) == (8, 3)  # nothing has changed
    agent.refresh()
    assert (agent.rounds, agent.dropped.sum(), agent.pending.sum()) == (12, 11, 0)


def test_a_commitment_is_never_changed_by_late_rewards(tmp_path):
    clock = Clock(0.0)
    agent = made(tmp_path / "db", arms=["a", "b"], horizon=1000, window=100.0, clock=clock)
    while not agent.committed:
        clock.now += 1.0
        tickets = agent.tickets(8)
        agent.answers([(ticket, ticket.arm == "b") for ticket in tickets[:4]])
    known = agent.committed_arm, agent.commit_time, agent.commit_reason
    assert known[0] == "b"
    ids = [event[0] * 2**24 + 1 for event in events(agent) if event[2] == 3]
    answered = {event[4] * 2**24 + 1 for event in events(agent) if event[2] == 4}
    left = [number for number in ids if number not in answered]
    arms = {event[0] * 2**24 + 1: event[3] for event in events(agent) if event[2] == 3}
    assert set(agent.answers([(number, arms[number] == 0) for number in left])) == {"counted"}
    for step in range(300):
        ticket = agent.ticket(f"user {step}")
        assert ticket.arm == "b"
        agent.answer(ticket, 0)
    assert agent.sums[0] / agent.pulls[0] > agent.sums[1] / agent.pulls[1]  # it looks wrong now
    forget(agent)
    assert (agent.committed_arm, agent.commit_time, agent.commit_reason) == known
    assert agent.ticket("user 7").id == agent.ticket("user 7").id
    assert agent.rounds > 300


def test_answers_that_are_late_are_certified(tmp_path):
    """Where all come 300 rounds late, the policy does not stop in 1,000 rounds; the certificate does."""
    family = robai.families.Gaussian(1.0)

    def played(window):
        chance, under_way = random.Random(0), []
        agent = made(
            tmp_path / "db", robai.EOCPUG(), 2, 1000, reward=family, window=window, name=f"{window}", rng=1
        )
        for _ in range(1000):
            ticket = agent.ticket()
            under_way.append((ticket, chance.gauss(0.7 * ticket.arm, 1.0)))
            if agent.committed:
                break
            if len(under_way) > 300:
                agent.answer(*under_way.pop(0))
        return agent

    assert not played(None).committed
    certified = played(math.inf)
    assert certified.committed_arm == 1
    assert certified.delta == 1 / 1000
    assert certified.certificate() <= certified.delta
    assert "certificate" in certified.commit_reason
