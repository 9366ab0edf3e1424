"""What would another policy have earned? From logged decisions, in a DataFrame with a row a visitor.

    python examples/replay.py

**Rejection sampling** (Li, Chu, Langford and Wang, 2011) plays a policy on the log: rows are read one after
the other, and those whose arm is not the one that the policy asks for are skipped. What is left has exactly
the law of a live experiment. It assumes

- that the logged arms were drawn *uniformly*, by a generator that knew nothing of the visitors,
- that visitors are alike from the first row to the last, and that none changes what another does,
- that there are enough rows: one in K is used.

**Importance weighting** says what every arm would have earned, had everybody got it: each reward counts as
often as its row was unlikely, 1/p times. It assumes

- that the probability p of the logged arm is in the row, that it is the one by which the arm was really
  drawn, and that it depends on nothing but what was known of the visitor,
- that no p is 0, nor so small that single rows decide: look at the standard errors.

It is for fixed choices. A policy that learns would have learned other things from other rewards, and weights
of whole histories are useless after a few rows. So a log with known probabilities is *thinned* before it is
played: a row is kept with probability min p / p, after which the arms are uniform.
"""

import numpy as np
import pandas as pd

import robai

CONVERSION = pd.DataFrame(
    {"A": [0.06, 0.16], "B": [0.04, 0.14], "C": [0.03, 0.10]}, index=["mobile", "desktop"]
)


def logged(rows, rng, shares):
    """A log that is made up: who came, what they were shown, with which probability, and whether they bought.

    `shares` are the probabilities of the arms for either kind of visitor; half of them are on a desktop.
    """
    kinds = rng.integers(0, 2, rows)
    probabilities = np.asarray(shares)[kinds]
    shown = (rng.random(rows)[:, None] > probabilities.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return pd.DataFrame(
        {
            "visitor": CONVERSION.index.to_numpy()[kinds],
            "arm": CONVERSION.columns.to_numpy()[shown],
            "probability": probabilities[np.arange(rows), shown],
            "reward": (rng.random(rows) < CONVERSION.to_numpy()[kinds, shown]).astype(float),
        }
    )


def replay(log, policy, rounds, rng=None):
    """Play the policy on a log whose arms were drawn uniformly; the agent, after so many rounds."""
    agent = robai.Agent(policy, sorted(log["arm"].unique()), rounds, reward="bernoulli", rng=rng)
    rows = zip(log["arm"].tolist(), log["reward"].tolist(), strict=True)
    for _ in range(rounds):
        arm = agent.select()
        reward = next((reward for shown, reward in rows if shown == arm), None)
        if reward is None:
            raise ValueError(
                f"the log is too short: it ended after {agent.rounds - 1:,} rounds of {rounds:,}"
            )
        agent.update(arm, reward)
    return agent


def thinned(log, rng):
    """The rows that are left when those of likely arms are dropped, so that all arms are equally likely."""
    least = log["probability"].min()
    return log[rng.random(len(log)) < least / log["probability"]]


def values(log):
    """What every arm would have earned of everybody, with the standard error."""
    weighted = log.assign(weight=1.0 / log["probability"])
    found = {}
    for arm, rows in weighted.groupby("arm"):
        value = np.average(rows["reward"], weights=rows["weight"])
        error = np.sqrt(((rows["weight"] * (rows["reward"] - value)) ** 2).sum()) / rows["weight"].sum()
        found[arm] = {"value": value, "error": error}
    return pd.DataFrame(found).T


def main():
    rng = np.random.default_rng(0)
    truth = CONVERSION.mean()

    uniform, rounds = logged(200_000, rng, [[1 / 3] * 3] * 2), 60_000
    print(f"Rejection sampling: {rounds:,} rounds out of {len(uniform):,} rows with uniform arms\n")
    for policy in (robai.Uniform(stop="budget"), robai.KLUCB(), robai.KLEOCPUG()):
        agent = replay(uniform, policy, rounds, rng=1)
        simulated = robai.simulate(policy, robai.Bernoulli(truth), rounds, 200, rng=1)
        expected = truth.max() - simulated.final_regret.mean() / rounds
        earned = agent.sums.sum() / rounds
        error = np.sqrt(earned * (1.0 - earned) / rounds)
        print(f"{policy.label():25} earned {earned:.4f} ± {error:.4f} a visitor, and {expected:.4f} in truth")

    skewed = logged(200_000, rng, [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    means = skewed.groupby("arm")["reward"].mean()
    print("\nImportance weighting: A was shown on mobiles, B on desktops, where people buy more\n")
    print(values(skewed).assign(plain=means, truth=truth).round(4).to_string())

    kept = thinned(skewed, rng)
    agent = replay(kept, robai.KLEOCPUG(), 15_000, rng=1)
    print(f"\nThinned: {len(kept):,} of {len(skewed):,} rows are left; played, 15,000 rounds\n")
    print(agent.summary())


if __name__ == "__main__":
    main()
