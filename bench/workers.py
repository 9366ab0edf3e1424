"""How much faster two workers are than one, and what keeps them from being twice as fast.

    python bench/workers.py
    python bench/workers.py --quick --workers 4

Calls with one worker and with several are interleaved, and of each the smallest is taken. The speed-up is of
wall time, and needs a machine that does nothing else: the first line says how busy it is. What follows holds
on a busy one as well: how much more CPU time the same runs take with several workers (caches, allocator,
the interpreter's lock), which share of it the kernel takes, and which the thread that merges. `at most` is
the speed-up that these leave room for: merging goes on beside one worker, but takes the time of several.
"""

import argparse
import os
import resource
import time

from table import platform_line, print_row

import robai

GAUSSIAN, BERNOULLI = robai.Gaussian([0.7, 0.2]), robai.Bernoulli([0.7] + [0.2] * 9)
# Microseconds to seconds a run, and means and sums of few and of many numbers.
CASES = {
    "UCB, leaps": (robai.UCB(), GAUSSIAN, 10**6, 40_000, {}),
    "the same, 20 times": (robai.UCB(), GAUSSIAN, 10**6, 40_000, {"times": 20}),
    "the same, summary": (robai.UCB(), GAUSSIAN, 10**6, 40_000, {"keep": "summary"}),
    "the same, curves": (robai.UCB(), GAUSSIAN, 10**6, 40_000, {"curves": True}),
    "EOCP-UG, leaps": (robai.EOCPUG(), GAUSSIAN, 10**4, 40_000, {}),
    "few short runs": (robai.EOCPUG(), GAUSSIAN, 10**4, 2000, {}),
    "Thompson, leaps": (robai.ThompsonSampling(), GAUSSIAN, 10**6, 20_000, {}),
    "KL-UCB, steps": (robai.KLUCB(), BERNOULLI, 10**5, 100, {"engine": "step"}),
    "Track-and-Stop, steps": (robai.TrackAndStop(), BERNOULLI, 10**4, 100, {}),
    "UCB, long steps": (robai.UCB(), GAUSSIAN, 10**7, 16, {"engine": "step"}),
}


def timed(workers, policy, bandit, horizon, runs, options):
    """Seconds of wall time, of CPU time, of the kernel's part of that, and of this thread's."""
    clocks = time.perf_counter, time.process_time, system, time.thread_time
    before = [clock() for clock in clocks]
    robai.simulate(policy, bandit, horizon, runs, rng=0, workers=workers, **options)
    return [clock() - start for clock, start in zip(clocks, before, strict=True)]


def system():
    return resource.getrusage(resource.RUSAGE_SELF).ru_stime


def measure(workers, repeats, case):
    """The smallest of each time, with one worker and with several."""
    found = {1: [], workers: []}
    for _ in range(repeats):
        for count, seconds in found.items():
            seconds.append(timed(count, *case))
    return [list(map(min, zip(*seconds, strict=True))) for seconds in found.values()]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions, a fifth of the runs")
    parser.add_argument("--workers", type=int, default=2, help="how many to compare with one (2)")
    options = parser.parse_args()
    print(platform_line())
    print(f"{os.cpu_count()} cores, of which {os.getloadavg()[0]:.1f} were busy in the last minute\n")
    head = ("runs", "us a run", "speed-up", "at most", "more CPU time", "kernel", "merging")
    print_row(*head)
    print_row("---", *["---:"] * (len(head) - 1))
    for name, (policy, bandit, horizon, runs, how) in CASES.items():
        runs = max(runs // 5, options.workers) if options.quick else runs
        case = policy, bandit, horizon, runs, how
        one, several = measure(options.workers, 3 if options.quick else 15, case)
        alone = max(one[1] - one[3], one[3])  # what is merged meanwhile takes no time of its own
        print_row(
            name, f"{1e6 * one[1] / runs:,.1f}", f"{one[0] / several[0]:.2f}",
            f"{alone / (several[1] / options.workers):.2f}", f"{several[1] / one[1] - 1.0:+.0%}",
            f"{several[2] / several[1]:.0%}", f"{several[3] / several[1]:.0%}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
