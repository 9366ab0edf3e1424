"""How long a small call of simulate() takes, beyond the play itself.

    python bench/calls.py

Minima of many calls; the play is what a call of ten times as many runs takes more, by nine. A sweep over
hundreds of parameters costs this much for each.
"""

import argparse
import time
from functools import partial

import robai

LIMIT = 200.0  # microseconds of a call beyond its play


def least(call, seconds):
    """The smallest time of a call, in microseconds."""
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
    return 1e6 * best


def measure(policy, bandit, runs, horizon, seconds):
    """Microseconds of a call, and of its play."""
    call = partial(robai.simulate, policy, bandit, horizon, rng=0, workers=1)
    once, more = least(partial(call, runs=runs), seconds), least(partial(call, runs=10 * runs), seconds)
    return once, max((more - once) / 9, 0.0)


def main(seconds):
    gaussian, bernoulli = robai.Gaussian([0.7, 0.2]), robai.Bernoulli([0.7, 0.2])
    print(f"{'simulate(...), T = 1,000':<36}{'a call':>10}{'play':>10}{'beyond':>10}   limit {LIMIT:.0f} us")
    for policy, bandit in (
        (robai.UCB(), gaussian),
        (robai.EOCPUG(), gaussian),
        (robai.KLUCB(), bernoulli),
        (robai.KLEOCPUG(), bernoulli),
        (robai.KLEOCP(kl=0.1), bernoulli),
    ):
        for runs in (1, 10):
            once, play = measure(policy, bandit, runs, 1000, seconds)
            title = f"{policy.label()}, {type(bandit).__name__}, {runs} runs"
            met = "met" if once - play <= LIMIT else "missed"
            print(f"{title:<36}{once:>7.0f} us{play:>7.0f} us{once - play:>7.0f} us   {met}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement (1)")
    main(parser.parse_args().seconds)
