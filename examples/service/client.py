"""Visitors of the service, whose processes are killed meanwhile; in the end everything was counted once.

    python examples/service/client.py

starts a server on a store of its own. Every visitor asks for a ticket, and some of them buy. Requests that
get no response are repeated, and many that do get one, as a bad network would. Some process of the server is
killed all the time, and is started again.
"""

import argparse
import contextlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import robai

SERVER = Path(__file__).with_name("server.py")
CONVERSION = {"green": 0.05, "orange": 0.12, "blue": 0.06}
PATIENCE = 30.0  # seconds until a request is given up


class Client:
    """Calls that are repeated until there is a response."""

    def __init__(self, url):
        self.address = urlsplit(url).netloc

    def ticket(self, key):
        return self.ask("POST", "/experiments/buttons/tickets", {"key": key})

    def answer(self, ticket, reward):
        [outcome] = self.ask("POST", "/experiments/buttons/answers", [{"ticket": ticket, "reward": reward}])
        return outcome

    def ask(self, method, path, body=None):
        until = time.monotonic() + PATIENCE
        while True:
            try:
                status, answer = self.once(method, path, body)
            except (OSError, http.client.HTTPException):  # the process was killed, or never began
                status, answer = 503, None
            if status == 200:
                return answer
            if status != 503 or time.monotonic() > until:
                raise RuntimeError(f"{method} {path}: {status} {answer}")
            time.sleep(0.05)

    def once(self, method, path, body):
        connection = http.client.HTTPConnection(self.address, timeout=5)
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            return response.status, json.loads(response.read())


def visit(client, visitor):
    """What one visitor does; the arm, and whether it was a purchase."""
    chance = random.Random(visitor)
    tickets = [client.ticket(f"visitor {visitor}") for _ in range(chance.choice((1, 2)))]
    assert tickets[0] == tickets[-1], "one key, two tickets"
    bought = chance.random() < CONVERSION[tickets[0]["arm"]]
    if bought:
        outcomes = [client.answer(tickets[0]["id"], 1) for _ in range(chance.choice((1, 2)))]
        assert set(outcomes) <= {"held", "repeated"}, outcomes
        assert "held" not in outcomes[1:], "counted twice"
    return tickets[0]["arm"], bought


def kill(client, done, pause):
    """Kill one process of the server after the other; how many."""
    killed = 0
    while True:
        process = client.ask("GET", "/process")["id"]
        os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))
        killed += 1
        if done.wait(pause):
            return killed


def drive(url, visitors, threads=6, pause=1.0):
    """Visits, in several threads, while processes are killed; the arm and the purchase of every visitor."""
    client, done = Client(url), threading.Event()
    with ThreadPoolExecutor(threads + 1) as pool:
        killer = pool.submit(kill, client, done, pause)
        try:
            visits = list(pool.map(lambda visitor: visit(client, visitor), range(visitors)))
        finally:
            done.set()
        return visits, killer.result()


def check(path, visits):
    """What was acknowledged is counted, once: seen an hour later, when all windows have closed."""
    shown, bought = Counter(arm for arm, _ in visits), Counter(arm for arm, yes in visits if yes)
    with robai.Store(path, clock=lambda: time.time() + 4000.0) as store:
        agent = store.open("buttons")
        agent.refresh()
        assert agent.rounds == len(visits)
        assert agent.pulls.tolist() == [shown[arm] for arm in agent.labels]
        assert agent.sums.tolist() == [bought[arm] for arm in agent.labels]
        assert store.check() == []


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--visitors", type=int, default=3000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "live.db"
        command = [sys.executable, SERVER, path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                start = time.monotonic()
                visits, killed = drive(server.stdout.readline().strip(), options.visitors)
                seconds = time.monotonic() - start
            finally:
                server.terminate()
        check(path, visits)
        bought = sum(yes for _, yes in visits)
        print(f"{len(visits):,} visitors and {bought:,} purchases, each counted once, in {seconds:.1f} s")
        print(f"{killed} processes of the server were killed meanwhile")


if __name__ == "__main__":
    main()
