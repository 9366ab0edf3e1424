"""A result as a table of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robai.result.arrays import complexity, smallest_gap
from robai.result.runs import import_pandas

if TYPE_CHECKING:
    import pandas as pd

    from robai.result.result import Result


def frame_of(result: Result, what: Any) -> pd.DataFrame:
    """As `Result.to_dataframe`."""
    if what not in ("curve", "runs"):
        raise ValueError(f'what must be "curve" or "runs", got {what!r}')
    pandas = import_pandas()
    columns: dict[str, Any]
    if what == "curve":
        columns = {"round": result.times, "regret": result.regret, "regret_sem": result.regret_sem}
    else:
        columns = {"run": np.arange(result.runs), "final_regret": result.final_regret}
        names = ("commit_time", *(("answers",) if result._late else ()), "committed_arm")
        for name in names:
            columns[name] = pandas.arrays.IntegerArray(getattr(result, name).copy(), ~result.committed)
        if result.own_means:
            columns |= {"gap_min": smallest_gap(result.gaps), "complexity": complexity(result.gaps)}
        arms = result.names or range(result.n_arms)
        columns |= {f"pulls_{name}": result.pulls[:, arm] for arm, name in enumerate(arms)}
    table: pd.DataFrame = pandas.DataFrame({"policy": result.label, **columns})
    return table
