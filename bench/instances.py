"""What it costs to give every run means of its own, and whether the runs are those of single bandits.

    python bench/instances.py
    python bench/instances.py --quick

First the runs are compared with a loop over single bandits with the same means: run by run under
engine="step", the mean regret (five standard errors) with the engine that "auto" takes. Then times: processor
time of one worker, the smallest of several interleaved repetitions (see table.py). A run costs what its means
make it cost, so runs are compared that have the same means: those of one bandit with instances that are all
equal to it ("same means"), and those of ten bandits, 500 runs of each, with instances that take their means
in turn ("10 in turn"). Both ratios must be at most 1.5.
"""

import argparse
import math
import sys

import numpy as np
from table import Contestant, Effort, interleave, platform_line, print_row

import robai
from robai import families, priors

ARMS = 10
BANDITS = 10
INSTANCES = 500
HORIZON = 10**4
STANDARD_ERRORS = 5.0
LIMIT = 1.5

FULL = Effort(repetitions=12, piece=0.0, least=3, longest=3.0, many=())
QUICK = Effort(repetitions=5, piece=0.0, least=2, longest=1.0, many=())

UNIFORM = priors.Uniform(0, 1)
LAWS = {
    "Bernoulli": (robai.Instances("bernoulli", UNIFORM, ARMS), robai.Bernoulli),
    "Gaussian": (robai.Instances(families.Gaussian(1.0), priors.Normal(0, 1), ARMS), robai.Gaussian),
    "Poisson": (robai.Instances("poisson", UNIFORM, ARMS), robai.Poisson),
}
POLICIES = (robai.UCB(), robai.KLUCB(), robai.KLEOCPUG())


def plays(policy, instances):
    return not (isinstance(policy, robai.UCB) and instances.proxy is None)


def alone(policy, law, means, run, engine):
    """Run number `run` on a bandit of these means."""
    _, bandit = law
    return robai.simulate(policy, bandit(means), HORIZON, run + 1, rng=0, times=1, workers=1, engine=engine)


def check(policy, law, runs):
    """Is a run that of a bandit with its means? Returns how far the means are apart, in standard errors."""
    stepped = robai.simulate(policy, law[0], HORIZON, runs, rng=0, times=1, engine="step")
    for run, means in enumerate(stepped.means):
        one = alone(policy, law, means, run, "step")
        if not (one.pulls[run] == stepped.pulls[run]).all():
            raise SystemExit(f"{policy}: run {run} is not that of a bandit with its means")
    played = robai.simulate(policy, law[0], HORIZON, 4 * INSTANCES, rng=0, times=1)
    # Runs of other seeds, a bandit for each of the same instances.
    looped = np.array(
        [
            robai.simulate(policy, law[1](means), HORIZON, 1, rng=10**6 + run, times=1, engine="step").regret[
                -1
            ]
            for run, means in enumerate(played.means)
        ]
    )
    difference = played.final_regret - looped
    error = difference.std(ddof=1) / math.sqrt(difference.size)
    if not abs(difference.mean()) <= STANDARD_ERRORS * error:
        raise SystemExit(
            f"{policy}: mean regret differs by {difference.mean():.2f}, standard error {error:.2f}"
        )
    return played.regret[-1], looped.mean(), difference.mean() / error


def contestants(policy, law):
    """One bandit; instances like it; instances like some bandits; all instances; these bandits."""
    instances, bandit = law
    drawn = robai.simulate(policy, instances, HORIZON, INSTANCES, rng=0, times=1).means
    some = drawn[:BANDITS]
    one = drawn[0]

    def play(game):
        def runs(count):
            robai.simulate(policy, game, HORIZON, count, rng=0, times=1, workers=1)
            return count

        return runs

    def play_some(count):
        for means in some:
            robai.simulate(policy, bandit(means), HORIZON, count // BANDITS, rng=0, times=1, workers=1)
        return count

    same = robai.Instances(instances.family, one[np.newaxis])
    few = robai.Instances(instances.family, some)
    games = [Contestant(play(game), INSTANCES) for game in (bandit(one), same, few, instances)]
    return [*games, Contestant(play_some, BANDITS * INSTANCES)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, for a look")
    quick = parser.parse_args().quick
    effort = QUICK if quick else FULL
    print(platform_line())
    print(f"{INSTANCES} instances x {ARMS} arms, T = {HORIZON:,}, one worker\n")
    print_row("rewards", "policy", "regret", "of a loop", "apart, s.e.", "us a run, one bandit", "same means",
              "10 bandits, us", "10 in turn", "all 500, us")  # fmt: skip
    print_row("---", "---", *["---:"] * 8)
    worst = 0.0
    for name, law in LAWS.items():
        for policy in POLICIES:
            if not plays(policy, law[0]):
                continue
            regret, loop, apart = check(policy, law, 20 if quick else 100)
            timed = contestants(policy, law)
            interleave(timed, effort)
            one, same, few, every, some = (1e6 * each.seconds / each.runs for each in timed)
            worst = max(worst, same / one, few / some)
            print_row(name, policy.label(), f"{regret:.2f}", f"{loop:.2f}", f"{apart:+.1f}", f"{one:.1f}",
                      f"{same / one:.2f}", f"{some:.1f}", f"{few / some:.2f}", f"{every:.1f}")  # fmt: skip
    print(f"\nlargest ratio {worst:.2f}, allowed {LIMIT}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
