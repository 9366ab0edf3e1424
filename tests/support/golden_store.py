"""Experiments of the golden file of a store, and what is expected of it.

python tests/support/golden_store.py     # writes both anew, where a version of the file begins
"""

import gzip
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.stores import Clock, frequent_snapshots

import robai
from robai import Store


def plain(store, clock):
    agent = store.create("plain", robai.KLEOCPUG(), ["a", "b", "c"], 10**4, reward="bernoulli", rng=1)
    agent.update_counts("a", 20, 9)
    while not agent.committed:
        clock.now += 60.0
        arms = agent.select_batch(8)
        agent.update_batch(arms, [arm == "b" for arm in arms])
        agent.update(agent.select(), 0)
        agent.answer(agent.ticket(), 1)


def held(store, clock):
    agent = store.create(
        "held",
        robai.ThompsonSampling(),
        2,
        500,
        reward="bernoulli",
        rng=2,
        window=90.5,
        missing=0.0,
        delta=0.01,
    )
    tickets = []
    for step in range(60):
        clock.now += 10.0
        tickets.append(agent.ticket(f"user {step}"))
        if step % 3:
            late = max(step - 3 * (step % 5), 0)
            agent.answer(tickets[late], late % 2)
    clock.now += 1000.0
    agent.refresh()
    agent.answer(tickets[-1], 1)


def dropped(store, clock):
    family = robai.families.Gaussian(2.5)
    agent = store.create("dropped", robai.UCB(), ["x", "y"], 1000, reward=family, rng=3, window=30.0)
    for step in range(50):
        clock.now += 7.0
        first, _ = agent.tickets(2)
        agent.answer(first, (step * 37 % 11) / 4)


def changed(store, clock):
    agent = store.create(
        "changed", robai.KLUCB(), ["a", "b"], 300, reward="bounded", rng=4, window=float("inf")
    )
    tickets = agent.tickets(40)
    agent.answers([(ticket, 0.25 if ticket.arm == "a" else 0.75) for ticket in tickets[:30]])
    agent.extend(10**4)
    agent.add_arm("c")
    agent.ticket("ann")
    agent.retire_arm("a")
    agent.answers([(ticket, 0.5) for ticket in tickets[30:]])
    while not agent.committed:
        clock.now += 1.0
        agent.answers([(ticket, 0.9 if ticket.arm == "b" else 0.0) for ticket in agent.tickets(20)])
    agent.reopen("it was a test")
    agent.ticket()


def staged(store, clock):
    agent = store.create("staged", robai.DETCK(), 3, 400, reward="bernoulli", rng=5)
    for step in range(90):
        agent.update(agent.select(), step % 2)


STORES = {"plain": plain, "held": held, "dropped": dropped, "changed": changed, "staged": staged}


def described(agent):
    """What has to be the same for ever; generators and memories may be others in later versions."""
    text = {
        "pulls": agent.pulls.tolist(),
        "sums": agent.sums.tolist(),
        "pending": agent.pending.tolist(),
        "dropped": agent.dropped.tolist(),
        "rounds": agent.rounds,
        "labels": agent.labels,
        "horizon": agent.horizon,
        "window": None if agent.window is None else str(agent.window),
        "missing": agent.missing,
        "delta": agent.delta,
        "committed_arm": agent.committed_arm,
        "commit_time": agent.commit_time,
        "retired": {label: list(counts) for label, counts in agent.retired.items()},
        "earlier": [[each.arm, each.commit_time, each.reason, each.time] for each in agent.earlier],
    }
    return json.loads(json.dumps(text))


def write(folder):
    clock = Clock()
    with tempfile.TemporaryDirectory() as temporary, frequent_snapshots(50):
        path = Path(temporary, "db")
        with Store(path, clock=clock) as store:
            for each in STORES.values():
                each(store, clock)
            assert store.check() == []
            expected = {name: described(store.open(name)) for name in STORES}
            store._log._connection.execute("VACUUM")
        (folder / "store-1.db.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    (folder / "store-1.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    write(Path(__file__).parent / "data")
