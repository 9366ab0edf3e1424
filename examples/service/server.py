"""A service for live experiments: three processes on one store, behind one port of this machine.

    python examples/service/server.py live.db --port 8000

    curl -d '{"key": "user 7"}' localhost:8000/experiments/buttons/tickets
    curl -d '[{"ticket": 16777217, "reward": 1}]' localhost:8000/experiments/buttons/answers
    curl localhost:8000/experiments/buttons

All state is in the store. A process that dies is started again and has lost nothing, and every request may be
repeated: a key has one ticket, and a ticket one answer. So a caller that got no response asks again.
"""

import argparse
import functools
import json
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import wait
from pathlib import Path

import robai

LARGEST = 10**6  # bytes of a request
STATUS = {  # the first that fits
    robai.AnswerConflict: 409,
    robai.HorizonReached: 410,
    TimeoutError: 503,
    KeyError: 404,
    TypeError: 400,
    ValueError: 400,
}


def open_experiment(store):
    """The one experiment of this example. A purchase is a yes; after an hour without one it is a no."""
    arms = ["green", "orange", "blue"]
    return store.create(
        "buttons",
        robai.KLEOCPUG(),
        arms,
        200_000,
        reward="bernoulli",
        window=3600.0,
        missing=0.0,
        exist_ok=True,
    )


class Handler(BaseHTTPRequestHandler):
    timeout = 10  # seconds that a caller may keep us waiting
    agent: staticmethod  # of an experiment, by its name

    def do_GET(self):
        match self.path.split("/"):
            case ["", "experiments", name]:
                self.respond(describe, name)
            case ["", "process"]:
                self.send(200, {"id": os.getpid()})
            case _:
                self.send(404, {"error": f"there is no {self.path}"})

    def do_POST(self):
        match self.path.split("/"):
            case ["", "experiments", name, "tickets"]:
                self.respond(hand_out, name, self.body)
            case ["", "experiments", name, "answers"]:
                self.respond(take, name, self.body)
            case _:
                self.send(404, {"error": f"there is no {self.path}"})

    def body(self):
        length = int(self.headers.get("Content-Length", 0))
        if not 0 <= length <= LARGEST:
            raise ValueError(f"a request has at most {LARGEST:,} bytes, got {length:,}")
        return json.loads(self.rfile.read(length))

    def respond(self, function, name, *bodies):
        try:
            self.send(200, function(self.agent(name), *(body() for body in bodies)))
        except tuple(STATUS) as error:
            status = next(code for kind, code in STATUS.items() if isinstance(error, kind))
            self.send(status, {"error": str(error.args[0] if isinstance(error, KeyError) else error)})

    def send(self, status, value):
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *details):
        """Say nothing."""


def hand_out(agent, body):
    if not isinstance(body, dict) or set(body) != {"key"} or not isinstance(body["key"], str):
        raise ValueError('a request for a ticket is {"key": text}')
    return agent.ticket(body["key"])._asdict()


def take(agent, body):
    try:
        pairs = [(each["ticket"], each["reward"]) for each in body]
    except (KeyError, TypeError):
        raise ValueError('answers are [{"ticket": number, "reward": number}, ...]') from None
    return agent.answers(pairs)


def describe(agent):
    agent.refresh()
    return {
        "rounds": agent.rounds,
        "committed_arm": agent.committed_arm,
        "pulls": dict(zip(agent.labels, agent.pulls.tolist(), strict=True)),
        "summary": agent.summary(),
    }


def work(listener, path):
    """One of the processes. Its end comes by a signal, or with that of the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started it
    store = robai.Store(path)
    Handler.agent = staticmethod(functools.cache(store.open))
    server = ThreadingHTTPServer(listener.getsockname(), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener  # that of all the processes: whoever is free takes the next caller
    threading.Thread(target=server.serve_forever, daemon=True).start()
    multiprocessing.parent_process().join()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path, help="of the store")
    parser.add_argument("--port", type=int, default=0, help="0 for any that is free")
    parser.add_argument("--processes", type=int, default=3)
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit())  # which ends the processes, too
    with robai.Store(options.path) as store:
        open_experiment(store)
    listener = socket.create_server(("127.0.0.1", options.port), backlog=128)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    context, running = multiprocessing.get_context("spawn"), []
    while True:
        while len(running) < options.processes:
            running.append(context.Process(target=work, args=(listener, options.path), daemon=True))
            running[-1].start()
        wait([process.sentinel for process in running])
        running = [process for process in running if process.is_alive()]
        time.sleep(0.1)  # a process that cannot start does not keep the machine busy


if __name__ == "__main__":
    main()
