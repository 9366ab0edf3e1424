"""How much slower or faster one version of the package is than another.

    python bench/versions.py --before OLD/bin/python --after NEW/bin/python
    python bench/versions.py --before OLD/bin/python --after NEW/bin/python --only UCB,Agent

Each interpreter has its version installed. Both play in turn, in a process each; a number is the smallest
processor time of a whole call, of one worker, over all turns. "other arms" says that the two did not play the
same: the ratio is then one of different things. Exits with 1 if a ratio is above the limit.
"""

import argparse
import itertools
import json
import subprocess
import sys
import time

LIMIT = 1.05

# What both versions know. Sigma is given, as its default has changed.
GAUSSIAN, BERNOULLI = "Gaussian([0.7] + [0.2] * {})", "Bernoulli([0.7] + [0.2] * {})"
CLOSE = "Bernoulli([0.5] + [0.4] * {})"
MANY = {2: 60, 3: 40, 5: 20, 10: 10, 20: 4, 50: 2}
SIMULATED = [  # policy, bandit, horizon, engine, {arms: runs}
    ("UCB(sigma=1.0)", GAUSSIAN, 10**5, "step", {2: 100, 10: 100, 100: 40}),
    ("UCB(sigma=1.0)", GAUSSIAN, 10**6, "step", {2: 1}),
    ("UCB(sigma=1.0)", GAUSSIAN, 10**6, "leap", {2: 3000, 10: 600}),
    ("UCB(level='ratio', sigma=1.0)", GAUSSIAN, 10**5, "step", {2: 100, 10: 60}),
    ("UCB(level='ratio', sigma=1.0)", GAUSSIAN, 10**6, "leap", {2: 2000}),
    ("UCB(level='round', sigma=1.0)", GAUSSIAN, 10**5, "step", {2: 100, 10: 60}),
    ("UCB(level='round', sigma=1.0)", GAUSSIAN, 10**6, "leap", {2: 500}),
    ("UCB(sigma=0.5)", BERNOULLI, 10**4, "step", {2: 1000, 10: 300, 100: 60}),
    ("UCB(sigma=0.5)", BERNOULLI, 10**6, "leap", {2: 300, 100: 20}),
    ("KLUCB()", BERNOULLI, 10**5, "step", {2: 60, 10: 40}),
    ("KLUCB()", BERNOULLI, 10**6, "leap", {2: 500}),
    ("KLUCB(level='round')", BERNOULLI, 10**5, "step", {2: 40}),
    ("EOCP(gap=0.5, sigma=1.0)", GAUSSIAN, 10**6, "step", {2: 4000}),
    ("EOCPUG(sigma=1.0)", GAUSSIAN, 10**6, "step", {2: 3000, 10: 500, 100: 40}),
    ("EOCPUG(sigma=1.0)", GAUSSIAN, 10**6, "leap", {2: 3000, 10: 500, 100: 40}),
    ("KLEOCPUG()", BERNOULLI, 10**6, "step", {2: 1000}),
    ("KLEOCPUG()", BERNOULLI, 10**6, "leap", {2: 1500}),
    ("ThompsonSampling()", GAUSSIAN, 10**4, "step", {2: 150, 10: 60}),
    ("ThompsonSampling()", BERNOULLI, 10**4, "step", {2: 50}),
    ("UCBAlpha(sigma=1.0)", GAUSSIAN, 10**5, "step", {2: 150, 10: 40}),
    ("BAIETC(sigma=1.0)", GAUSSIAN, 10**6, "step", {2: 3000}),
    ("DETC(sigma=1.0)", GAUSSIAN, 10**6, "step", {2: 3000}),
    ("DETCK(sigma=1.0)", GAUSSIAN, 10**6, "step", {2: 3000, 10: 800}),
    ("TrackAndStop(tracking='D')", GAUSSIAN, 10**4, "step", {2: 800, 10: 10}),
    ("TrackAndStop(tracking='D')", BERNOULLI, 10**4, "step", {2: 1000, 10: 40}),
    ("ActionElimination(sigma=1.0)", GAUSSIAN, 10**5, "step", {2: 1500, 10: 60}),
    *(
        (f"KLLUCB(delta=0.1, threshold={threshold!r})", CLOSE, 10**5, "step", MANY)
        for threshold in ("practical", "lucb")
    ),
    ("UGapE(delta=0.1)", CLOSE, 10**5, "step", {2: 20, 5: 6, 20: 2}),
    ("BayesUCB()", BERNOULLI, 10**4, "step", {2: 30, 10: 10}),
    ("LeadCommit()", GAUSSIAN, 10**6, "step", {2: 3000, 10: 300}),
]
LIVE = ["UCB(sigma=1.0)", "KLUCB()", "EOCPUG(sigma=1.0)", "ThompsonSampling()"]

# Title: the function of `play_in_turn`, and what it is called with.
CASES = {
    f"{policy}, {bandit.split('(')[0]}, {arms} arms, T = {horizon:.0e}, {runs} runs, {engine}": (
        f"simulated({policy}, {bandit.format(arms - 1)}, {horizon}, {runs}, {engine!r})"
    )
    for policy, bandit, horizon, engine, sizes in SIMULATED
    for arms, runs in sizes.items()
} | {f"Agent({policy}), 10 arms, 20,000 pairs": f"live({policy}, 20_000)" for policy in LIVE}


def play_in_turn():
    """Play what standard input asks for; print the nanoseconds, and a number that tells plays apart."""
    import robai

    def simulated(policy, bandit, horizon, runs, engine):
        def play():
            result = robai.simulate(policy, bandit, horizon, runs, rng=0, times=1, workers=1, engine=engine)
            return int(result.commit_time.sum() + result.pulls.sum(axis=0) @ range(bandit.n_arms))

        return play

    def live(policy, pairs):
        def play():
            agent = robai.Agent(policy, 10, 10**15, reward="bernoulli", rng=0)
            for reward in itertools.islice(itertools.cycle((0.0, 1.0, 1.0)), pairs):
                agent.update(agent.select(), reward)
            return int(agent.pulls @ range(10))

        return play

    plays = {}
    for line in sys.stdin:
        case = json.loads(line)
        if case not in plays:
            plays[case] = eval(case, vars(robai) | {"simulated": simulated, "live": live})
            plays[case]()
        start = time.process_time_ns()
        played = plays[case]()
        print(time.process_time_ns() - start, played, flush=True)


def asked(process, case):
    process.stdin.write(json.dumps(case) + "\n")
    process.stdin.flush()
    return tuple(map(int, process.stdout.readline().split()))


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", metavar="PYTHON", help="the interpreter of the old version")
    parser.add_argument("--after", metavar="PYTHON", help="and of the new one")
    parser.add_argument("--turns", type=int, default=15, help="of each (15)")
    parser.add_argument("--only", default="", help="cases with one of these words in their title")
    parser.add_argument("--play", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.play:
        play_in_turn()
        return 0
    if not (options.before and options.after):
        parser.error("--before and --after are needed")
    words, worst = options.only.split(","), 0.0
    command = [__file__, "--play"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    both = [
        subprocess.Popen([python, "-W", "ignore", *command], **pipes)
        for python in (options.before, options.after)
    ]
    print(f"{'milliseconds of a call':<76}{'before':>9}{'after':>9}{'ratio':>7}")
    for title, case in CASES.items():
        if any(word in title for word in words):
            turns = [[asked(each, case) for each in both] for _ in range(options.turns)]
            before, after = (min(each) for each in zip(*turns, strict=True))
            ratio = after[0] / before[0]
            worst = max(worst, ratio)
            note = "  other arms" if after[1] != before[1] else "  slower" if ratio > LIMIT else ""
            print(f"{title:<76}{before[0] / 1e6:>9.2f}{after[0] / 1e6:>9.2f}{ratio:>7.3f}{note}", flush=True)
    for each in both:
        each.stdin.close()
        each.wait()
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
