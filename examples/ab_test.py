"""An experiment on a website: three buttons, late conversions, and a server that restarts.

    python examples/ab_test.py

Every visitor sees the button that the agent selects, and has some hours to buy. The answer is
passed on when the time is up, yes or no: if a yes came as soon as it is known, young buttons would
look better than they are. The journal records every step before the page is served, so the server
may die at any moment: the same call brings the agent back.
"""

import random
import tempfile
from collections import deque
from pathlib import Path

import robai

CONVERSION = {"green": 0.05, "orange": 0.12, "blue": 0.06}
VISITORS_A_DAY = 1000
TIME_TO_BUY = 400  # visitors


def open_experiment(journal):
    """What the server does when it starts, the first time and after every crash."""
    return robai.Agent(
        robai.KLEOCPUG(), arms=list(CONVERSION), horizon=200_000, reward="bernoulli", rng=7, journal=journal
    )


def serve(agent, waiting, chance):
    """One day: select for each visitor, and pass on the answers that are due."""
    for _ in range(VISITORS_A_DAY):
        arm = agent.select()
        waiting.append((arm, chance.random() < CONVERSION[arm]))
        if len(waiting) > TIME_TO_BUY:
            agent.update(*waiting.popleft())


def run(journal, days, restarts=True, report=print):
    chance, waiting = random.Random(3), deque()
    agent = open_experiment(journal)
    for day in range(1, days + 1):
        serve(agent, waiting, chance)
        if day % 5 == 0 or day == days:
            report(f"--- day {day}\n{agent.summary()}\n")
        if restarts and day % 4 == 0:
            agent.journal.close()  # as the end of the process would
            agent = open_experiment(journal)
    return agent


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        run(Path(directory) / "experiment.journal", days=25)
