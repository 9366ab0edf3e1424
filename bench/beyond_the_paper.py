"""Tables and figure of docs/beyond-the-paper.md: errors far below what can be counted, and commitment times.

    python bench/beyond_the_paper.py
    python bench/beyond_the_paper.py --figure docs/beyond-the-paper.svg
    python bench/beyond_the_paper.py --quick --only eocp

Errors are T times the probability of a wrong commitment, by `robai.wrong_commit`, with their relative
standard error; "not covered" is what it refuses. Bounds are those that docs/beyond-the-paper.md proves.
"""

import argparse
import math

import robai
from robai import theory
from robai.plotting.style import new_figure

NEAR, FAR = robai.Gaussian([0.2, 0.0]), robai.Gaussian([0.7, 0.2])
COINS = robai.Bernoulli([0.95, 0.9])
INFLATIONS = {"0": 0.0, "1": 1.0, "2": 2.0, r"4 \sqrt{2}": theory.INFLATION}


def error(policy, bandit, horizon, precision):
    """T P(wrong) in words, and as a number."""
    try:
        found = robai.wrong_commit(policy, bandit, horizon, relative_error=precision, rng=0)
    except robai.NotCovered:
        return "not covered", math.nan
    return f"{found.scaled:.3g} ({found.relative_error:.1%})", found.scaled


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join("---" for _ in head) + " |")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def powers(horizons):
    return [f"$10^{{{round(math.log10(horizon))}}}$" for horizon in horizons]


def errors(precision, quick):
    """EOCP-UG on two Gaussian arms, its bound (1), and LeadCommit; the curves of the figure."""
    horizons = [10**2, 10**4] if quick else [10**2, 10**4, 10**6, 10**8, 10**12, 10**16]
    rows, curves = [], {}
    for bandit in (FAR, NEAR):
        means = ", ".join(map(str, bandit.means))
        policies = {f"$c = {name}$": robai.EOCPUG(c) for name, c in INFLATIONS.items()}
        for name, policy in (policies | {"LeadCommit": robai.LeadCommit()}).items():
            found = [error(policy, bandit, horizon, precision) for horizon in horizons]
            rows.append([f"({means})", name, *(text for text, _ in found)])
            curves[means, name] = [number for _, number in found]
            if name != "LeadCommit":
                bounds = [
                    horizon * theory.wrong_commit_bound_eocp_ug(bandit, horizon, inflation=policy.inflation)
                    for horizon in horizons
                ]
                rows.append(["", "bound (1)", *(f"{bound:.3g}" for bound in bounds)])
    table(["means", "", *powers(horizons)], rows)
    return horizons, curves


def bound(told, inflation, horizon):
    """T times the bound (4)."""
    if theory.commit_round_eocp(2, told, horizon, inflation=inflation) > horizon:
        return "-"
    found = theory.wrong_commit_bound_eocp(FAR, horizon, gap=told, inflation=inflation)
    return f"{horizon * found:.3g}"


def eocp(precision, quick):
    horizons = [10**3, 10**4] if quick else [10**3, 10**4, 10**6, 10**8, 10**12, 10**16]
    rows = []
    for told, inflation in [(0.5, 0.0), (0.5, 1.0), (0.25, 0.0), (0.8, 1.0)]:
        policy = robai.EOCP(gap=told, inflation=inflation)
        found = [error(policy, FAR, horizon, precision)[0] for horizon in horizons]
        rows.append([f"told {told}, $c = {inflation:.0f}$", *found])
        if told < 0.6:  # told more than the gap it has no bound
            rows.append(["bound (4)", *(bound(told, inflation, horizon) for horizon in horizons)])
    table(["EOCP", *powers(horizons)], rows)


def guard(precision, quick):
    horizons = [10**3, 10**4] if quick else [10**3, 10**4, 10**6, 10**8]
    rows = []
    for name, policy in {
        "guard 0": robai.KLEOCPUG(guard=0.0),
        "guard 0.7, the default": robai.KLEOCPUG(),
        "guard 1": robai.KLEOCPUG(guard=1.0),
        "guard 1, $c = 2$": robai.KLEOCPUG(inflation=2.0, guard=1.0),
    }.items():
        rows.append([name, *(error(policy, COINS, horizon, precision)[0] for horizon in horizons)])
    table(["KL-EOCP-UG, Bernoulli (0.95, 0.9)", *powers(horizons)], rows)


def fluid(precision, quick):
    """Regret and commitment time of EOCP-UG over the limit without noise, (6)."""
    rows = []
    for horizon in [10**4, 10**6] if quick else [10**4, 10**6, 10**9, 10**12, 10**18]:
        row = [powers([horizon])[0]]
        for inflation in (1.0, theory.INFLATION):
            played = robai.simulate(
                robai.EOCPUG(inflation), FAR, horizon, 400 if quick else 10_000, rng=11, times=1
            )
            root = math.sqrt(theory.exploration(horizon, inflation=inflation))
            right = played.committed_arm == played.best_arm
            regret, rounds = played.final_regret[right], played.commit_time[right]
            for values, limit in (
                (regret, 4.0 * (root - 1.0) ** 2),
                (rounds, 8.0 * (root - 1.0) ** 2 * (root * root + 1.0)),
            ):
                error = values.std() / limit / math.sqrt(len(values))
                row.append(f"{values.mean() / limit:.4f} ± {error:.4f}")
        rows.append(row)
    heads = [f"{what}, $c = {c}$" for c in ("1", r"4 \sqrt{2}") for what in ("regret", "$T_c$")]
    table(["T", *heads], rows)


def draw(horizons, curves, file):
    figure = new_figure(11, 4.5)
    titles = list(dict.fromkeys(means for means, _ in curves))
    for ax, title in zip(figure.subplots(1, len(titles), sharey=True), titles, strict=True):
        for (means, name), scaled in curves.items():
            if means == title:
                ax.plot(horizons, scaled, "o-", ms=3, label=name)
        ax.set(xscale="log", yscale="log", xlabel="horizon T", title=f"Gaussian ({title})")
        ax.axhline(1.0, color="0.5", lw=0.8)
    figure.axes[0].set_ylabel("T times the probability of a wrong commitment")
    figure.axes[0].legend(title="EOCP-UG")
    figure.savefig(file)


TABLES = {"errors": errors, "eocp": eocp, "guard": guard, "fluid": fluid}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES), help="which tables (all)")
    parser.add_argument("--precision", type=float, default=0.01, help="relative error of an estimate (0.01)")
    parser.add_argument("--figure", metavar="FILE", help="where to draw the errors (nowhere)")
    parser.add_argument("--quick", action="store_true", help="short horizons, rough estimates")
    arguments = parser.parse_args()
    for name in arguments.only:
        made = TABLES[name](0.05 if arguments.quick else arguments.precision, arguments.quick)
        if name == "errors" and arguments.figure:
            draw(*made, arguments.figure)
