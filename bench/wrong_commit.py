"""T times the probability of a wrong commitment, over horizons: python bench/wrong_commit.py [--quick]

Each entry has its relative standard error in per cent and the seconds of one core that it took.
"""

import sys
import time

import robai

HORIZONS = (10**3, 10**4, 10**6, 10**8, 10**12, 10**16)
PLAYED = {
    robai.Gaussian([0.7, 0.2]): [
        *(robai.EOCPUG(inflation=c) for c in (0.0, 1.0, 2.0, robai.theory.INFLATION)),
        *(robai.EOCP(gap=gap, inflation=c) for gap in (0.5, 0.25) for c in (0.0, 1.0)),
        *(robai.LeadCommit(level=level) for level in ("ratio", "pulls", "horizon")),
        robai.BAIETC(),
        robai.TrackAndStop(),
    ],
    robai.Gaussian([0.2, 0.0]): [robai.EOCPUG(inflation=c) for c in (0.0, 1.0, 2.0)] + [robai.LeadCommit()],
    robai.Gaussian([0.9, 0.8, 0.5, 0.1]): [robai.EOCPUG(), robai.LeadCommit()],
    **{
        bandit: [*(robai.KLEOCPUG(guard=guard) for guard in (0.0, 0.7, 1.0)), robai.LeadCommit()]
        for bandit in (
            robai.Bernoulli([0.95, 0.9]),
            robai.Bernoulli([0.7, 0.2]),
            robai.Bernoulli([0.9, 0.8, 0.5, 0.1]),
        )
    },
}


def entry(policy, bandit, horizon, relative_error):
    began = time.process_time()
    try:
        found = robai.wrong_commit(policy, bandit, horizon, relative_error=relative_error, rng=0, workers=1)
    except robai.NotCovered:
        return "refused"
    seconds = time.process_time() - began
    return f"{found.scaled:.3g} ({100 * found.relative_error:.1f} %, {seconds:.1f} s)"


def main(quick):
    horizons = HORIZONS[:2] if quick else HORIZONS
    for bandit, policies in PLAYED.items():
        print(f"\n{bandit}\n\n| | {' | '.join(f'T = {T:.0e}' for T in horizons)} |")
        print("| --- " * (1 + len(horizons)) + "|")
        for policy in policies[:1] if quick else policies:
            cells = [entry(policy, bandit, T, 0.1 if quick else 0.02) for T in horizons]
            print(f"| {policy.label()} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
