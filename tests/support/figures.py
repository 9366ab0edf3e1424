"""Results to be drawn, and what can be read back from a figure."""

import numpy as np
from matplotlib.text import Text

from robai.result import Comparison, Result

GAP = 0.25
NAMES = [
    *("EOCP()", "EOCPUG()", "KLEOCPUG()", "UCB()", "UCB(level='ratio')", "ThompsonSampling()", "BAIETC()"),
    *("DETC()", "UCBAlpha()", "TrackAndStop()"),
]


def make(label="EOCP()", final=(3.0, 4.0, 5.0), commits=(9, 10, 12), *, horizon=1000, arms=2, **changes):
    """Runs with these final regrets and rounds of commitment, -1 for never, to the best arm."""
    final, commits = np.array(final, dtype=float), np.array(commits)
    pulls = np.zeros((len(final), arms), dtype=int)
    pulls[:, 1] = np.rint(final / GAP)
    pulls[:, 0] = horizon - pulls[:, 1]
    sem = final.std(ddof=1) / np.sqrt(len(final)) if len(final) > 1 else np.nan
    values = {
        "times": [1, 10, 100, horizon],
        "regret": [0.25, 1.0, 2.0, final.mean()],
        "regret_sem": [sem / 4, sem / 3, sem / 2, sem],
        "final_regret": final,
        "commit_time": commits,
        "committed_arm": np.where(commits < 0, -1, 0),
        "pulls": pulls,
        "gaps": [0.0, *[GAP] * (arms - 1)],
    }
    return Result(label=label, **(values | changes))


def ten(**changes):
    """Ten policies of which some end and commit close to each other, and three never commit."""
    regrets = [27.5, 25.25, 26.0, 31.5, 22.5, 21.75, 34.0, 45.25, 96.0, 88.0]
    commits = [785, 690, 760, -1, -1, -1, 140, 180, 1950, 360]
    return Comparison(
        [
            make(label, regret + np.array([-1.0, 0.0, 1.0]), [commit] * 3, horizon=10**4, **changes)
            for label, regret, commit in zip(NAMES, regrets, commits, strict=True)
        ]
    )


def boxes(ax):
    """Of what is written in or beside the axes, without lines that lead there."""
    return [Text.get_window_extent(text) for text in ax.texts if text.get_text()]


def labelled(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def legend(ax):
    return [] if ax.get_legend() is None else [text.get_text() for text in ax.get_legend().get_texts()]


def curves(ax):
    return [line for line in ax.lines if not line.get_label().startswith("_")]
