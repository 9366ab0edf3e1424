"""Regret and commitment time of every policy on bandits of the paper, as docs/policies.md shows them.

    python bench/tradeoff.py [--quick] [--figure FILE]

Policies that have to be told a gap or a divergence are told the true one; all else is as by default.
"""

import argparse
import time

import robai
from robai.plotting.style import new_figure
from robai.policies import POLICIES
from robai.theory import kl_min

PANELS = [  # bandit, horizon, runs
    (robai.Gaussian([0.7, 0.2]), 10**6, 4000),
    (robai.Bernoulli([0.7, 0.2, 0.2, 0.2]), 10**5, 2000),
]
# For a budget, which is the horizon here; and what another name is for as well.
UNSHOWN = ("sequential-halving", "successive-rejects", "top-two")
STEPPED = 200  # runs of a policy that plays every round to the horizon


def told(policy, bandit):
    """The policy with what it has to be told about the bandit; None if it is for other bandits."""
    fields = policy.__dataclass_fields__
    known = {"gap": min(gap for gap in bandit.gaps if gap > 0.0), "kl": kl_min(bandit)}
    made = policy(**{name: known[name] for name in fields if name in known})
    try:
        robai.simulate(made, bandit, 100, 1, rng=0)
    except ValueError:
        return None
    return made


def play(bandit, horizon, runs):
    results = []
    for name, policy in POLICIES.items():
        made = told(policy, bandit)
        if made is None:
            continue
        started = time.perf_counter()
        robai.simulate(made, bandit, horizon, 2, rng=1)
        slow = time.perf_counter() - started > 0.05
        played = robai.compare({name: made}, bandit, horizon, min(runs, STEPPED) if slow else runs, rng=0)
        results += played.values()
    return results


def main(figure, quick):
    drawn = new_figure(13, 6)
    for ax, (bandit, horizon, runs) in zip(drawn.subplots(1, len(PANELS)), PANELS, strict=True):
        results = play(bandit, horizon // 100 if quick else horizon, runs // 20 if quick else runs)
        print(f"{bandit!r}, T = {results[0].horizon:,}")
        print(f"{'policy':<22}{'regret':>20}{'runs':>8}{'committed':>11}{'mean T_c':>11}{'wrong':>7}")
        for result in sorted(results, key=lambda each: each.regret[-1]):
            digest = result.digest()
            when = f"{digest.commit_time.value:,.0f}" if digest.commit_time else "-"
            wrong = "-" if digest.wrong is None else digest.wrong.count
            regret = f"{digest.regret.value:,.2f} ± {digest.regret.sem:,.2f}"
            print(
                f"{result.label:<22}{regret:>20}{result.runs:>8}{digest.committed:>11.1%}{when:>11}{wrong:>7}"
            )
        ax.set_yscale("log")
        shown = [each for each in results if each.label not in UNSHOWN]
        robai.plotting.plot_tradeoff(shown, ax)
        ax.set_title(f"{bandit!r}, T = {results[0].horizon:,}")
        print()
    if figure:
        drawn.savefig(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--figure", metavar="FILE", help="where to draw (nowhere)")
    parser.add_argument("--quick", action="store_true", help="shorter and fewer runs")
    arguments = parser.parse_args()
    main(arguments.figure, arguments.quick)
