"""Results as plain records, for JSON and CSV."""

import csv
import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from robai.plotting.style import mean_of
from robai.result import Result


def record(result: Result) -> dict[str, Any]:
    """The numbers of a simulation that a script would read; None where there is nothing to say.

    Commitment times are of the runs that committed, as is the rate of wrong commitments.
    """
    times = result.commit_time[result.committed]
    wrong = result.wrong_commit() if result.best_arm is not None and len(times) else None
    return {
        "label": result.label,
        "policy": result.meta.get("policy"),
        "bandit": result.meta.get("bandit"),
        "horizon": result.horizon,
        "runs": result.runs,
        "regret": float(result.regret[-1]),
        "regret_sem": _known(mean_of(result, "regret").sem),
        "committed": float(result.committed.mean()),
        "commit_time_mean": float(times.mean()) if len(times) else None,
        "commit_time_median": float(np.median(times)) if len(times) else None,
        "wrong_commits": wrong and wrong.count,
        "wrong_commit_rate": wrong and wrong.rate,
        "wrong_commit_low": wrong and wrong.low,
        "wrong_commit_high": wrong and wrong.high,
        "pull_shares": (result.pulls / result.horizon).mean(axis=0).tolist(),
        "engine": result.meta.get("engine"),
        "entropy": result.meta.get("entropy"),
        "seconds": result.meta.get("seconds"),
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def csv_bytes(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()
