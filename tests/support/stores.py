"""Stores for tests."""

import contextlib
import subprocess
import sys
from unittest import mock

from robai import KLEOCPUG, Store
from robai.live import recorded


class Clock:
    """The time is what a test says."""

    def __init__(self, now=1000.0):
        self.now = now

    def __call__(self):
        return self.now


def made(path, policy=None, arms=("a", "b", "c"), horizon=10**5, *, clock=None, name="it", **options):
    """An experiment that is created or opened; its `store` is its own."""
    store = Store(path, **({} if clock is None else {"clock": clock}))
    options = {"reward": "bernoulli", "rng": 3, "exist_ok": True} | options
    arms = arms if isinstance(arms, int) else list(arms)
    return store.create(name, KLEOCPUG() if policy is None else policy, arms, horizon, **options)


def events(agent):
    """All that is recorded of an experiment, as (number, time, kind, arm, ticket, value, data)."""
    return [tuple(event) for event in agent._log.events(agent._written.number)]


def forget(agent):
    """Let it read its state from the file again."""
    agent._cache.valid = False


def sql(agent, query, *values):
    """Change the file behind its back."""
    return agent._log.transact(lambda: agent._log._connection.execute(query, values).fetchall(), ())


def frequent_snapshots(every):
    """A snapshot after so many events, however long it is."""
    return mock.patch.multiple(recorded, _SNAPSHOT=every, _SHARE=10**9)


@contextlib.contextmanager
def locked(path):
    """Another process has its turn, and does not end it."""
    code = (
        "import fcntl, sys; file = open(sys.argv[1], 'a'); fcntl.flock(file, fcntl.LOCK_EX); "
        "print(flush=True); input()"
    )
    arguments = [sys.executable, "-c", code, f"{path}-lock"]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        try:
            yield
        finally:
            process.communicate("\n")
