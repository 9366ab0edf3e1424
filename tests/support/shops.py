"""An experiment of a store, and what is known to have happened in it."""

import fcntl

import pytest

import robai

WINDOWS = {"none": {}, "held": {"window": 50.0, "missing": 0.0}, "dropped": {"window": 50.0}}


def is_held(lock_file):
    """By whoever it may be."""
    try:
        fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(lock_file, fcntl.LOCK_UN)
    return False


class Shop:
    """An experiment, its clock, and what is known to have happened in it."""

    def __init__(self, path, policy, window="none"):
        self.path, self.policy, self.options = path, policy, WINDOWS[window]
        self.now, self.visitors, self.known = 0.0, 0, {}
        self.store = robai.Store(path, clock=lambda: self.now)
        self.agent = self.open(self.store)
        other = self.store.create("other", robai.UCB(), 3, 100, reward="bernoulli", rng=1, exist_ok=True)
        self.foreign = other.ticket("somebody")

    def open(self, store):
        return store.create(
            "shop", self.policy, 3, 10**6, reward="bernoulli", rng=3, exist_ok=True, **self.options
        )

    def serve(self, once):
        """A visitor; every call is made again until it comes back, by `once`."""
        self.visitors += 1
        self.now += 1.0
        key, reward = f"{self.visitors}", float(self.visitors % 3 == 0)
        ticket = once(lambda: self.agent.ticket(key))
        outcome = once(lambda: self.agent.answer(ticket, reward))
        assert outcome in ("repeated", "held" if self.options.get("missing") is not None else "counted")
        self.known[ticket.id] = ticket.arm, reward
        with pytest.raises(KeyError, match="not a ticket of experiment 'shop'"):
            self.agent.answer(self.foreign, 1)

    def assert_sound(self):
        """What memory and file say is what happened, each once."""
        assert len(self.known) == self.visitors
        with robai.Store(self.path, clock=lambda: self.now) as store:
            again = self.open(store)
            for agent in (self.agent, again):
                counts = agent.pulls + agent.pending
                assert counts.sum() == self.visitors == agent.rounds
                arms = [arm for arm, _ in self.known.values()]
                assert counts.tolist() == [arms.count(arm) for arm in range(3)]
            if not isinstance(self.policy, Told):
                assert again.to_json() == self.agent.to_json()
            assert again.sums.tolist() == self.agent.sums.tolist()
            if not self.options:
                told = [sum(reward for arm, reward in self.known.values() if arm == a) for a in range(3)]
                assert again.sums.tolist() == told
            assert store.check() == []

    def assert_free(self):
        """Nobody has the lock, and no transaction is open."""
        assert not self.store._log._connection.in_transaction
        assert not self.store._log.mine
        with open(f"{self.path}-lock") as file:
            assert not is_held(file)


class Told:
    """A policy in Python whose choices depend on all that it was told, and on its draws."""

    def __init__(self):
        self.sum = 0.0

    def select(self, state):
        return (int(state.rng.integers(state.n_arms)) + int(self.sum)) % state.n_arms

    def update(self, arm, reward):
        self.sum += reward + arm
