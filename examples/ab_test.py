"""An experiment on a website: three buttons, late purchases, and a server that restarts.

    python examples/ab_test.py

Every visitor sees the button of their ticket, and has six hours to buy. Only purchases are reported. Who has
not bought when the six hours are over has not bought (`missing=0.0`), and before that nothing counts: if a
yes counted as soon as it is known, young buttons would look better than they are. Whatever a call has
returned is in the file, so the server may die at any moment: the same call brings the experiment back.
"""

import random
import tempfile
from heapq import heappop, heappush
from pathlib import Path

import robai

CONVERSION = {"green": 0.05, "orange": 0.12, "blue": 0.06}
VISITORS_A_DAY = 1000
HOUR = 3600.0


class Clock:
    """Simulated time; a server leaves the store its own, `time.time`."""

    now = 0.0

    def __call__(self):
        return self.now


def open_experiment(store):
    """What the server does when it starts, the first time and after every crash."""
    return store.create(
        "buttons",
        robai.KLEOCPUG(),
        arms=list(CONVERSION),
        horizon=200_000,
        reward="bernoulli",
        rng=7,
        window=6 * HOUR,
        missing=0.0,
        exist_ok=True,
    )


def serve(agent, clock, day, purchases, chance):
    """One day: a button for every visitor, and the purchases that come in meanwhile, some of them twice."""
    for visitor in range(VISITORS_A_DAY):
        clock.now += 24 * HOUR / VISITORS_A_DAY
        while purchases and purchases[0][0] <= clock.now:
            _, ticket = heappop(purchases)
            for _ in range(chance.choice((1, 2))):
                agent.answer(ticket, 1)
        ticket = agent.ticket(f"visitor {visitor} of day {day}")
        if chance.random() < CONVERSION[ticket.arm]:
            heappush(purchases, (clock.now + chance.expovariate(1 / HOUR), ticket.id))


def run(path, days, restarts=True, report=print):
    clock, chance, purchases = Clock(), random.Random(3), []
    store = robai.Store(path, clock=clock)
    agent = open_experiment(store)
    for day in range(1, days + 1):
        serve(agent, clock, day, purchases, chance)
        if day % 5 == 0 or day == days:
            report(f"--- day {day}\n{agent.summary()}\n")
        if restarts and day % 4 == 0:
            store.close()  # as the end of the process would
            store = robai.Store(path, clock=clock)
            agent = open_experiment(store)
    return agent


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        run(Path(directory) / "live.db", days=25).store.close()
