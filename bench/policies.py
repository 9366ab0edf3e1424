"""Nanoseconds a round of every registered policy, beside the policy that is nearest to it.

    python bench/policies.py [--quick] [--policy NAME ...] [--arms 2,10]

Policies are the examples of tests/support/examples.py, so that a new one is timed without a line here;
NEAREST can tell beside which older one. Each is played by the step engine, and by leaps where it leaps, there
over a hundred times more rounds. A number is the least processor time of several interleaved repetitions,
divided by the rounds before the commitment; policies that commit early are played more often.
"""

import argparse
import math
import sys
import time
from pathlib import Path

import numpy as np

import robai
from robai.policies import POLICIES

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.examples import POLICIES as EXAMPLES
from support.examples import TWO_ARMED, fitting

# By the name on the command line, and the level if there are several: on Gaussian arms, and on coins.
ROUND = robai.UCB("round", sigma=1.0), robai.KLUCB("round")
RATIO = robai.UCB("ratio", sigma=1.0), robai.UCB("ratio", sigma=1.0)
NEAREST = {
    "ucb anytime": (ROUND[0], ROUND[0]),
    "kl-ucb loglog": ROUND,
    "kl-ucb plus": ROUND,
    "moss": RATIO,
    "moss anytime": (ROUND[0], ROUND[0]),
    "ada-ucb": RATIO,
    "ucb-v": ROUND,
    "bayes-ucb": ROUND,
    "thompson uniform": (robai.ThompsonSampling(),) * 2,
    "etc": (robai.BAIETC(sigma=1.0),) * 2,
    "sprt-etc": (robai.BAIETC(sigma=1.0),) * 2,
}
# Nanoseconds a round of steps, at most, stopping rule included.
LIMITS = {("track-and-stop", "10 Bernoulli"): 2000.0}
HORIZON = 10**4
FURTHER = 100  # times as many rounds are leapt over


def name_of(policy):
    """As the command line has it, with the level or the like that makes it another policy."""
    name = next(name for name, kind in POLICIES.items() if kind is type(policy))
    variants = (getattr(policy, each) for each in ("level", "prior", "threshold") if hasattr(policy, each))
    variant = "anytime" if getattr(policy, "anytime", False) else next(variants, "")
    return name if variant in ("", "horizon", "jeffreys", "practical") else f"{name} {variant}"


def bandits(policy, sizes):
    for kind, which in ((robai.Gaussian, 0), (robai.Bernoulli, 1)):
        for arms in (2,) if isinstance(policy, TWO_ARMED) else sizes:
            bandit = kind([0.7] + [0.2] * (arms - 1))
            if fitting(policy, bandit) == bandit:
                yield bandit, which


def leaps(policy, bandit):
    return robai.simulate(policy, bandit, 100, 1, rng=0).meta["engine"] == "leap"


def explored(result):
    """Rounds before the commitment, of all runs."""
    return int(np.where(result.commit_time < 0, result.horizon, result.commit_time).sum())


def timed(policy, bandit, engine, runs):
    """Processor time, in nanoseconds a round that was explored."""
    horizon = HORIZON * (FURTHER if engine == "leap" else 1)
    options = {"rng": 0, "times": 1, "workers": 1, "engine": engine}
    runs *= max(horizon // explored(robai.simulate(policy, bandit, horizon, 1, **options)), 1)
    start = time.process_time()
    result = robai.simulate(policy, bandit, horizon, runs, **options)
    return 1e9 * (time.process_time() - start) / explored(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer runs and repetitions")
    parser.add_argument("--policy", action="append", choices=list(POLICIES), help="only this one")
    parser.add_argument("--arms", default="2,10", help="numbers of arms (2,10)")
    options = parser.parse_args()
    sizes = [int(size) for size in options.arms.split(",")]
    runs, repetitions = (5, 2) if options.quick else (20, 7)
    missed = []
    chosen = {name_of(each): each for each in reversed(EXAMPLES)}  # the first example of each
    print(f"{'policy':<22} {'arms':<14} {'engine':<6} {'ns a round':>10}  {'times that of'}")
    for name, policy in reversed(chosen.items()):
        if options.policy and name.split()[0] not in options.policy:
            continue
        for bandit, which in bandits(policy, sizes):
            near = NEAREST[name][which] if name in NEAREST else None
            for engine in ("step", "leap") if leaps(policy, bandit) else ("step",):
                sides = (
                    [policy]
                    if near is None or (engine == "leap" and not leaps(near, bandit))
                    else [policy, near]
                )
                least = np.min(
                    [[timed(side, bandit, engine, runs) for side in sides] for _ in range(repetitions)], 0
                )
                beside = f"{least[0] / least[1]:.2f} {sides[1].label()}" if len(sides) == 2 else ""
                arms = f"{bandit.n_arms} {type(bandit).__name__}"
                print(f"{name:<22} {arms:<14} {engine:<6} {least[0]:>10.3g}  {beside}", flush=True)
                if engine == "step" and least[0] > LIMITS.get((name, arms), math.inf):
                    missed.append(f"{name} on {arms}")
    if missed:
        print("above their limits:", ", ".join(missed))
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
