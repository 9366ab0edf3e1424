"""What a store costs: processor time of a ticket and its answer, of opening, of many experiments.

    python bench/live.py
    python bench/live.py --quick

A *pair* is one ticket and its answer, two transactions. Times are processor time, of the process and of the
kernel for it, the smallest of several blocks; a block is long enough to have its share of checkpoints. Blocks
of what is compared are interleaved. What is compared with a pair are two writes to the end of a file: of a
line that says the same, and of as many bytes as the store writes for it, which are whole pages. Neither locks
anything, looks anything up or decides. Seconds on the clock, of several processes and of `sync="full"`, are
those of a machine and a disk: the first line says how busy it is. Exits with 1 if a limit is missed.
"""

import argparse
import itertools
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from agent import Empty
from agent import pairs as in_memory
from table import platform_line, print_row

import robai

ARMS = 10
BATCH = 100
EXPERIMENTS = 10_000
EVENTS = 10**6
TAILS = 12  # lengths of what comes after a snapshot, each longer by a batch of pairs than the one before
LINE = b'{"seq": 123456, "time": 1790000000.123456, "kind": 3, "arm": 4, "ticket": null, "value": null}\n'
MOST = {"pair": 80.0, "ratio": 8.0, "batch": 25.0, "open": 20.0}  # in the units that are printed


class Limits:
    """The sentences about limits, and whether one was missed."""

    missed = False

    def met(self, name, value):
        self.missed |= value > MOST[name]
        return f"at most {MOST[name]:.0f}: {'missed' if value > MOST[name] else 'met'}"


def created(store, name="arms", **options):
    return store.create(name, robai.KLEOCPUG(), ARMS, 10**15, reward="bernoulli", rng=0, **options)


def one_by_one(agent, n):
    for i in range(n):
        agent.answer(agent.ticket(), i % 3 == 0)


def with_keys(agent, n):
    start = agent.rounds
    for i in range(n):
        agent.answer(agent.ticket(f"user {start + i}"), i % 3 == 0)


def batches(agent, n):
    for _ in range(n // BATCH):
        agent.answers([(ticket, i % 3 == 0) for i, ticket in enumerate(agent.tickets(BATCH))])


def without_tickets(agent, n):
    for i in range(n):
        agent.update(agent.select(), i % 3 == 0)


def appended(file, contents, n):
    for _ in range(n):
        for content in contents:
            os.write(file, content)


def measured(cases, rounds):
    """Microseconds a pair of each case: a function and its arguments, of which the last is how many pairs."""
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(rounds):
        for name, (function, *arguments) in cases.items():
            start = time.process_time()
            function(*arguments)
            best[name] = min(best[name], 1e6 * (time.process_time() - start) / arguments[-1])
    return best


def written(folder):
    """The bytes that a ticket and its answer add to the file in which SQLite writes ahead."""
    with robai.Store(folder / "bytes.db") as store:
        agent, log = created(store), folder / "bytes.db-wal"
        one_by_one(agent, 20)
        sizes = [log.stat().st_size]
        ticket = agent.ticket()
        sizes.append(log.stat().st_size)
        agent.answer(ticket, 1)
        sizes.append(log.stat().st_size)
    return [after - before for before, after in itertools.pairwise(sizes)]


def durable(folder, limits, quick):
    n, rounds = (500, 5) if quick else (2000, 15)
    pages = [bytes(size) for size in written(folder)]
    store = robai.Store(folder / "pairs.db")
    held = created(store, "held", window=3600.0, missing=0.0)
    with (
        open(folder / "lines", "ab", buffering=0) as lines,
        open(folder / "pages", "ab", buffering=0) as whole,
    ):
        best = measured(
            {
                "pair": (one_by_one, created(store, "pairs"), n),
                "pages": (appended, whole.fileno(), pages, n),
                "line": (appended, lines.fileno(), [LINE, LINE], n),
                "keys": (with_keys, created(store, "keys"), n),
                "held": (one_by_one, held, n),
                "plain": (without_tickets, created(store, "plain"), n),
                "batch": (batches, created(store, "batches"), n),
            },
            rounds,
        )
    store.close()
    ratio = best["pair"] / best["pages"]
    row("ticket and answer", f"{best['pair']:.1f} µs", limits.met("pair", best["pair"]))
    row(
        f"against appending as many bytes, {len(b''.join(pages)):,}",
        f"{ratio:.1f} times",
        limits.met("ratio", ratio),
    )
    row(f"against appending two lines of {len(LINE)} bytes", f"{best['pair'] / best['line']:.0f} times")
    row("with keys", f"{best['keys']:.1f} µs")
    row("answers that are held", f"{best['held']:.1f} µs")
    row("select and update", f"{best['plain']:.1f} µs")
    row(f"in batches of {BATCH}", f"{best['batch']:.1f} µs", limits.met("batch", best["batch"]))


def forced(folder, quick):
    """With a disk that is waited for."""
    n = 50 if quick else 200
    with robai.Store(folder / "full.db", sync="full") as store:
        agent = created(store)
        for name, function, pairs in (("", one_by_one, n), (f", batches of {BATCH}", batches, 10 * n)):
            clock, cpu = time.perf_counter(), time.process_time()
            function(agent, pairs)
            rate, cost = pairs / (time.perf_counter() - clock), 1e6 * (time.process_time() - cpu) / pairs
            row(f'sync="full"{name}', f"{cost:.0f} µs", f"{rate:,.0f} pairs a second")


def busy(path, seconds, ready, results):
    """One of several processes on an experiment."""
    with robai.Store(path) as store:
        agent = store.open("arms")
        ready.wait()
        pairs, longest, cpu, until = 0, 0.0, time.process_time(), time.perf_counter() + seconds
        while (start := time.perf_counter()) < until:
            agent.answer(agent.ticket(), pairs % 3 == 0)
            longest = max(longest, time.perf_counter() - start)
            pairs += 1
        results.put((pairs, longest, time.process_time() - cpu))


def together(folder, quick):
    path, seconds, context = (
        folder / "together.db",
        1.0 if quick else 5.0,
        multiprocessing.get_context("spawn"),
    )
    with robai.Store(path) as store:
        created(store)
    for count in (1, 3):
        ready, results = context.Barrier(count), context.Queue()
        processes = [context.Process(target=busy, args=(path, seconds, ready, results)) for _ in range(count)]
        for process in processes:
            process.start()
        found = [results.get() for _ in processes]
        for process in processes:
            process.join()
        pairs, cpu = sum(each for each, _, _ in found), sum(each for _, _, each in found)
        longest = max(each for _, each, _ in found)
        name = "one process" if count == 1 else f"{count} processes on one experiment"
        rate = f"{pairs / seconds:,.0f} pairs a second, none took longer than {longest:.2f} s"
        row(name, f"{1e6 * cpu / pairs:.0f} µs", rate)
    with robai.Store(path) as store:
        assert store.check() == []


def opening(folder, limits, quick):
    path, events = folder / "large.db", EVENTS // 10 if quick else EVENTS
    with robai.Store(path) as store:
        agent = created(store)
        for _ in range(events // 2000):
            agent.answers([(ticket, i % 3 == 0) for i, ticket in enumerate(agent.tickets(1000))])
    size, slowest = path.stat().st_size, 0.0
    for _ in range(TAILS):
        slowest = max(slowest, 1e-3 * measured({"open": (opened, path, 1)}, 3)["open"])
        with robai.Store(path) as store:
            batches(store.open("arms"), BATCH)
    row(f"opening {events:,} events, {size / 1e6:.1f} MB", f"{slowest:.1f} ms", limits.met("open", slowest))


def opened(path, _):
    with robai.Store(path) as store:
        store.open("arms")


def memory():
    """Bytes of this process, the most so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def many(folder, quick):
    count = EXPERIMENTS // 10 if quick else EXPERIMENTS
    path = folder / "many.db"
    store = robai.Store(path)
    start = time.process_time()
    for number in range(count):
        created(store, f"experiment {number}")
    row(f"creating one of {count:,} experiments", f"{1e6 * (time.process_time() - start) / count:.0f} µs")
    store.close()
    row("their file", f"{path.stat().st_size / 1e6:.1f} MB")
    store, before = robai.Store(path), memory()
    start = time.process_time()
    agents = [store.open(name) for name in store.names()]
    row("opening one of them", f"{1e6 * (time.process_time() - start) / count:.0f} µs")
    row("memory of one that is open", f"{(memory() - before) / len(agents) / 1e3:.0f} KB")
    store.close()


def without_a_store(quick):
    rewards = [float(i % 3 == 0) for i in range(2000 if quick else 20_000)]
    best = empty = float("inf")
    for _ in range(5 if quick else 15):
        agent = robai.Agent(robai.KLEOCPUG(), ARMS, 10**15, reward="bernoulli", rng=0)
        empty = min(empty, in_memory(Empty(), rewards))
        best = min(best, in_memory(agent, rewards))
    row(
        "select and update without a store",
        f"{1e6 * best:.2f} µs",
        f"{best / empty:.1f} times two empty methods",
    )


def row(name, value, note=""):
    print_row(name, value, note)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the events and experiments")
    quick, limits = parser.parse_args().quick, Limits()
    print(platform_line())
    print(f"KL-EOCP-UG on {ARMS} Bernoulli arms, processor time of a pair if nothing else is said\n")
    print_row("", "", "limit")
    print_row("---", "---:", "---")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        durable(folder, limits, quick)
        forced(folder, quick)
        together(folder, quick)
        opening(folder, limits, quick)
        many(folder, quick)
        without_a_store(quick)
    return limits.missed


if __name__ == "__main__":
    sys.exit(main())
