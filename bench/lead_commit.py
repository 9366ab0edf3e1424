"""LeadCommit beside the policies of the paper: how it grows with the horizon, regret, commitments and errors.

    python bench/lead_commit.py
    python bench/lead_commit.py --quick
    python bench/lead_commit.py --only growth speed
    python bench/lead_commit.py --only comparison --horizons 1e5 --work 2e7

Regret is that of the rounds before the commitment. Wrong commitments are counted beside it: they are so
rare, and cost so much, that an average over both would say nothing. Commitment times are mean and median. The
number of runs is chosen such that a cell plays about `--work` rounds, 20 runs at least.

Four tables: growth on two unit Gaussian arms up to T = 10^100; errors where they are frequent enough to be
counted; the comparison, on the bandits with which the defaults of LeadCommit were chosen (marked *) and on
others, which had no part in that; nanoseconds a round.
"""

import argparse
import math
import time

import numpy as np

import robai

GAUSSIAN = robai.Gaussian([0.7, 0.2])
# Several settings were tried on these, and the defaults chosen.
CHOSEN_ON = [
    GAUSSIAN,
    robai.Gaussian([0.7, 0.2, 0.2, 0.2]),
    robai.Bernoulli([0.7, 0.2]),
    robai.Bernoulli([0.7, 0.2, 0.2, 0.2]),
    robai.Bernoulli([0.95, 0.9]),
    robai.Bernoulli([0.5, 0.45]),
    robai.Bernoulli([0.9, 0.8, 0.5, 0.1]),
    robai.Bernoulli([0.5, *[0.45] * 3, *[0.4] * 3, *[0.35] * 2, 0.3]),
]
# On these nothing was tried before the defaults were fixed.
OTHERS = [
    robai.Gaussian([0.5, 0.45]),
    robai.Gaussian([2.0, 0.0]),
    robai.Gaussian([0.3, 0.2, 0.1, 0.0, -0.1]),
    robai.Gaussian([1.0, 0.0], sigma=(1.0, 3.0)),
    robai.Bernoulli([0.05, 0.02]),
    robai.Bernoulli([0.6, 0.5, 0.4, 0.3, 0.2]),
    robai.Binomial([3.0, 2.5], n=5),
    robai.Poisson([2, 1.5]),
    robai.Exponential([1, 0.5]),
    robai.Gamma([1.0, 0.7, 0.7], shape=2.5),
    robai.NegativeBinomial([2.0, 1.0], r=1.5),
]
INFLATIONS = {"0": 0.0, "1": 1.0, "2": 2.0, "4 sqrt 2": 4 * math.sqrt(2)}


class Cell:
    """Many runs of a policy up to its commitment."""

    def __init__(self, policy, bandit, horizon, most, work, seed=0):
        few = robai.identify(policy, bandit, horizon=horizon, runs=10, rng=seed)
        runs = int(min(most, max(20, work / few.stopping_time.mean())))
        self.played = robai.identify(policy, bandit, horizon=horizon, runs=runs, rng=seed + 1)
        self.runs, self.times = runs, self.played.stopping_time
        self.before = self.played.pulls @ np.asarray(bandit.gaps)
        self.never = int((self.played.recommended_arm < 0).sum())
        wrong = np.asarray(bandit.gaps)[self.played.recommended_arm] > 0
        self.wrong = int((wrong & (self.played.recommended_arm >= 0)).sum())

    def row(self):
        late = (
            "never" if self.never == self.runs else f"{self.times.mean():,.0f} / {np.median(self.times):,.0f}"
        )
        return [mean_and_error(self.before), late, str(self.wrong), str(self.never), f"{self.runs:,}"]


def mean_and_error(values):
    error = values.std() / math.sqrt(len(values))
    digits = max(0, 1 - math.floor(math.log10(error))) if error > 0 else 1
    return f"{values.mean():,.{digits}f} ± {error:.{digits}f}"


def print_table(header, rows):
    for row in [header, ["---"] * len(header), *rows]:
        print(f"| {' | '.join(row)} |", flush=True)


def power(horizon):
    return f"10^{math.log10(horizon):.0f}"


# ---- growth


def growth(most, work):
    """Two unit Gaussian arms of gap 0.5. Limits of "horizon": 2 / (factor gap) and 2 factor / gap^2."""
    gap, rows = 0.5, []
    for horizon in (1e4, 1e6, 1e9, 1e15, 1e30, 1e60, 1e100):
        log = math.log(horizon)
        ratio, bar = (
            Cell(robai.LeadCommit(level=level), GAUSSIAN, horizon, most, work)
            for level in ("ratio", "horizon")
        )
        paper = Cell(robai.EOCPUG(), GAUSSIAN, horizon, most, work) if horizon <= 1e30 else None
        excess = (bar.before - 2 / gap * log) / math.sqrt(log)
        rows.append(
            [
                power(horizon),
                f"{2 / gap * log:.1f}",
                mean_and_error(ratio.before),
                f"{ratio.times.mean():,.0f}",
                mean_and_error(bar.before),
                mean_and_error(excess),
                f"{bar.times.mean():,.0f}",
                f"{bar.times.mean() / log**1.5:.1f}",
                mean_and_error(paper.before) if paper else "",
                f"{paper.times.mean():,.0f}" if paper else "",
            ]
        )
    print("\nGrowth: LeadCommit with level ratio, with level horizon, EOCP-UG; excess over (2/gap) log T\n")
    columns = ["ratio: regret", "T_c", "horizon: regret", "excess / sqrt(log T)", "T_c", "T_c / log^1.5 T"]
    print_table(["T", "(2/gap) log T", *columns, "EOCP-UG: regret", "T_c"], rows)


# ---- comparison


def contestants(bandit):
    """LeadCommit and the policies of the paper, told the exact gap or divergence where they have to be."""
    yield "LeadCommit", robai.LeadCommit()
    yield "level pulls", robai.LeadCommit(level="pulls")
    yield "level horizon", robai.LeadCommit(level="horizon")
    yield "exponent 1", robai.LeadCommit(exponent=1.0)
    gaussian = isinstance(bandit, robai.Gaussian)
    for name, inflation in INFLATIONS.items():
        if gaussian:
            yield f"EOCP-UG, c = {name}", robai.EOCPUG(inflation)
            yield f"EOCP told the gap, c = {name}", robai.EOCP(sorted(bandit.gaps)[1], inflation)
        else:
            yield f"KL-EOCP-UG, c = {name}", robai.KLEOCPUG(inflation)
            yield f"KL-EOCP told, c = {name}", robai.KLEOCP(robai.theory.kl_min(bandit), inflation)
    if bandit.n_arms == 2 and bandit.proxy is not None and np.ndim(bandit.proxy) == 0:
        yield "BAI-ETC", robai.BAIETC()


def short(bandit):
    means = ", ".join(f"{mean:g}" for mean in bandit.means[:5]) + (", ..." if bandit.n_arms > 5 else "")
    others = "".join(f"; {name} {value}" for name, value in bandit._changed() if name != "means")
    return f"{type(bandit).__name__} ({means}{others}){'*' if bandit in CHOSEN_ON else ''}"


def comparison(horizons, most, work):
    ratios = {"level pulls": [], "level horizon": []}
    for horizon in horizons:
        print(f"\nT = {power(horizon)}; * marks bandits on which the defaults of LeadCommit were chosen\n")
        header = ["bandit", "policy", "regret before", "T_c mean / median", "wrong", "never", "runs"]
        print_table(header, [])
        for bandit in CHOSEN_ON + OTHERS:
            found = {}
            for name, policy in contestants(bandit):
                found[name] = Cell(policy, bandit, horizon, most, work)
                print(f"| {' | '.join([short(bandit), name, *found[name].row()])} |", flush=True)
            for name, values in ratios.items():
                values.append(found[name].before.mean() / found["LeadCommit"].before.mean())
    for name, values in ratios.items():
        low, high = min(values), max(values)
        print(f"\nregret before commitment, {name} over the default: {low:.2f} to {high:.2f}")


# ---- errors


def errors(runs):
    """T times the probability of a wrong commitment, where it is large enough to be counted."""
    policies = {
        "LeadCommit": robai.LeadCommit(),
        "level pulls": robai.LeadCommit(level="pulls"),
        "level horizon": robai.LeadCommit(level="horizon"),
        **{f"EOCP-UG, c = {name}": robai.EOCPUG(inflation) for name, inflation in INFLATIONS.items()},
    }
    print(f"\nT times the probability of a wrong commitment, two unit Gaussian arms, {runs:,} runs\n")
    rows = []
    for gap in (1.0, 0.5, 0.2):
        for horizon in (10**3, 10**4):
            cells = [power(horizon), f"{gap:g}"]
            for policy in policies.values():
                found = robai.identify(policy, robai.Gaussian([gap, 0.0]), horizon=horizon, runs=runs, rng=0)
                count = int((found.recommended_arm == 1).sum())
                cells.append(f"{horizon * count / runs:.2g} ± {horizon * math.sqrt(count + 1) / runs:.1g}")
            rows.append(cells)
    print_table(["T", "gap", *policies], rows)


# ---- speed


def speed(work):
    print("\nProcessor time of one worker, the smallest of three\n")
    rows = []
    for bandit in (*CHOSEN_ON, robai.Poisson([2, 1.5]), robai.Exponential([1, 0.5])):
        runs, fastest = Cell(robai.LeadCommit(), bandit, 10**5, 10**5, work).runs, math.inf
        for seed in range(3):
            begin = time.process_time()
            found = robai.identify(robai.LeadCommit(), bandit, horizon=10**5, runs=runs, rng=seed, workers=1)
            fastest = min(fastest, (time.process_time() - begin) / found.stopping_time.sum())
        rows.append([short(bandit), f"{1e9 * fastest:.0f}", f"{1e9 * fastest / bandit.n_arms:.0f}"])
    print_table(["bandit", "ns a round", "an arm"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few runs, two horizons")
    parser.add_argument("--only", nargs="+", choices=["growth", "errors", "comparison", "speed"])
    parser.add_argument("--horizons", nargs="+", type=float, help="of the comparison")
    parser.add_argument("--work", type=float, help="rounds that a cell may play")
    options = parser.parse_args()
    work = options.work or (2e5 if options.quick else 5e6)
    most = 400 if options.quick else 10_000
    only = options.only or ["growth", "errors", "comparison", "speed"]
    if "growth" in only:
        growth(most, 4 * work)
    if "errors" in only:
        errors(2000 if options.quick else 20_000)
    if "comparison" in only:
        comparison(options.horizons or ((1e3, 1e15) if options.quick else (1e3, 1e5, 1e9, 1e15)), most, work)
    if "speed" in only:
        speed(work)


if __name__ == "__main__":
    main()
