"""The text of `Result.summary` and `Comparison.summary`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robai import families
from robai._base.spec import as_text
from robai._base.text import align, decimals, number, percent, printable, table
from robai.result.arrays import smallest_gap

if TYPE_CHECKING:
    from robai._base.intervals import Mean
    from robai.result.comparison import Comparison
    from robai.result.digest import Digest, WrongCommit
    from robai.result.result import Result
    from robai.result.runs import Runs

_MOST_ARMS_SHOWN = 8
_LATE = ("delay", "batch", "loss", "window", "missing")  # of `meta`, where rewards did not come at once


def result_summary(result: Result) -> str:
    digest = result.digest()
    rows = [("policy", result.label)]
    policy = as_text(result.meta.get("policy", result.label))
    if policy != result.label:
        rows.append(("", policy))
    if "bandit" in result.meta:
        rows.append(("bandit", as_text(result.meta["bandit"])))
    rows += [("horizon", f"{result.horizon:,} rounds"), ("runs", f"{result.runs:,}")]
    if late := [f"{name} {as_words(result.meta[name])}" for name in _LATE if name in result.meta]:
        rows.append(("rewards", ", ".join(late)))
    rows += titled("regret", _regret_lines(result, digest))
    rows += titled("commitment", _commitment_lines(result, digest))
    if result.gaps.ndim == 2:
        rows += _told_rows(result)
    rows += titled("pulls", _pull_lines(result, digest))
    if "engine" in result.meta:
        seconds = f", {number(result.meta['seconds'])} s" if "seconds" in result.meta else ""
        rows.append(("engine", f"{result.meta['engine']}{seconds}"))
    if (sigma := result.meta.get("sigma")) is not None:
        rows.append(("sigma", " ".join(f"{each:g}" for each in np.atleast_1d(sigma)[:_MOST_ARMS_SHOWN])))
    return "\n".join(f"{title:<12}{printable(text)}" for title, text in rows)


def comparison_summary(comparison: Comparison) -> str:
    digests = {label: result.digest() for label, result in comparison.items()}
    smallest = min(digest.regret.value for digest in digests.values())
    best = {row for row, digest in enumerate(digests.values(), 1) if digest.regret.value == smallest}
    rows = [("policy", "runs", "regret", "committed", "median at", "wrong commitments, 95 % interval")]
    for label, digest in digests.items():
        row = (
            label,
            f"{comparison[label].runs:,}",
            mean_text(digest.regret) + (" *" if len(rows) in best else "  "),
            percent(digest.committed),
            median_text(digest),
            _wrong_text(comparison[label], digest.wrong),
        )
        rows.append(row)
    first = next(iter(comparison.values()))
    bandit = f"{printable(as_text(first.meta['bandit']))}, " if "bandit" in first.meta else ""
    notes = [
        "* smallest mean regret; ± is the standard error of the mean",
        "commitment times and wrong commitments are of the runs that committed",
    ]
    return "\n".join([f"{bandit}horizon {first.horizon:,}", "", *table(rows, best), "", *notes])


def as_words(value: Any) -> str:
    """Of a JSON value: a number, a word, or a list of such."""
    if isinstance(value, list):
        return " ".join(map(as_words, value))
    return f"{value:,}" if isinstance(value, int) else str(value) if isinstance(value, str) else f"{value:g}"


def mean_text(mean: Mean) -> str:
    """A mean and its standard error, to the second significant digit of the latter if there is one."""
    digits = decimals(mean.sem, 2) if mean.sem > 0.0 else decimals(abs(mean.value), 6)
    error = "unknown" if math.isnan(mean.sem) else f"{mean.sem:,.{digits}f}"
    return f"{mean.value:,.{digits}f} ± {error}"


def median_text(digest: Digest) -> str:
    return "-" if digest.commit_median is None else f"{digest.commit_median:,.0f}"


def count_text(wrong: WrongCommit | None) -> str:
    """How many commitments were wrong, and between which shares that puts their probability."""
    if wrong is None:
        return "-"
    return f"{wrong.count:,} of {wrong.committed:,}, {percent(wrong.low)} to {percent(wrong.high)}"


def _wrong_text(result: Result, wrong: WrongCommit | None) -> str:
    if result.best_arm is None:
        return "undefined: several best arms"
    return "-" if wrong is None else f"{percent(wrong.rate)} ({percent(wrong.low)} to {percent(wrong.high)})"


def arm_names(result: Runs) -> list[str]:
    """What the arms of `Digest.shares` are called."""
    if result.own_means:
        return [f"rank {rank}" for rank in range(1, result.n_arms + 1)]
    return list(result.names or (f"arm {arm}" for arm in range(result.n_arms)))


def _told_rows(result: Result) -> list[tuple[str, str]]:
    """In how many runs the smallest gap, or divergence, was below what the policy was told."""
    rows = []
    for title, name, smallest in (("gaps", "told_gap", _gaps), ("divergences", "told_kl", _divergences)):
        if (told := result.meta.get(name)) is not None:
            below = int((smallest(result) < told * (1.0 - 1e-9)).sum())
            text = f"{below:,} of {result.runs:,} runs had one below {told:g}, which the policy was told"
            rows.append((title, text))
    return rows


def _gaps(result: Result) -> NDArray[np.float64]:
    return smallest_gap(result.gaps)


def _divergences(result: Result) -> NDArray[np.float64]:
    from robai.theory.hardness import smallest_divergences  # which is not loaded with the package

    family = result.meta["told_family"] or result.meta["bandit"]["family"]
    return smallest_divergences(result.means, families.Family.from_dict(family))


def titled(title: str, lines: list[str]) -> list[tuple[str, str]]:
    """Lines of a page, the first with a title."""
    return [(title, lines[0]), *(("", line) for line in lines[1:])]


def _regret_lines(result: Result, digest: Digest) -> list[str]:
    mean = f"{mean_text(digest.regret)}  (mean ± standard error)"
    if result.runs == 1:
        return [mean]
    low, _, median, _, high = map(number, digest.quantiles)
    return [mean, f"5 % of the runs below {low}, half below {median}, 95 % below {high}"]


def _commitment_lines(result: Result, digest: Digest) -> list[str]:
    if digest.commit_time is None:
        return ["no run committed"]
    count = int(result.commitments.sum())
    who = "all runs" if count == result.runs else f"{count:,} of {result.runs:,} runs"
    when = f"at round {digest.commit_time.value:,.0f} on average, {median_text(digest)} in the median"
    wrong = _wrong_text(result, digest.wrong)
    if digest.wrong is None:
        return [f"{who}, {when}", *_answer_lines(result), f"wrong is {wrong}"]
    errors = f"wrong in {digest.wrong.count:,} of {count:,}: {wrong}, 95 % interval in brackets"
    return [f"{who}, {when}", *_answer_lines(result), errors]


def _answer_lines(result: Result) -> list[str]:
    if not result.single or not result._late:
        return []
    answers = result.answers[result.committed]
    return [f"after {answers.mean():,.0f} rewards on average, {np.median(answers):,.0f} in the median"]


def _pull_lines(result: Result, digest: Digest) -> list[str]:
    order = sorted(range(result.n_arms), key=lambda arm: -digest.shares[arm])
    shown, others = sorted(order[:_MOST_ARMS_SHOWN]), order[_MOST_ARMS_SHOWN:]
    names, kind = arm_names(result), "gap"
    gaps = result.gaps
    if result.own_means:
        gaps, kind = gaps if gaps.ndim == 1 else np.sort(gaps, axis=1).mean(axis=0), "mean gap"
    rows = [
        (
            printable(names[arm]),
            percent(digest.shares[arm]),
            f"{kind} {gaps[arm]:.4g}" if gaps[arm] else "best",
        )
        for arm in shown
    ]
    if others:
        rows.append((f"{len(others):,} other arms", percent(sum(digest.shares[arm] for arm in others)), ""))
    return align(rows)
