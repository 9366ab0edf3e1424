"""The text of `Result.summary` and `Comparison.summary`."""

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from robai.result import Comparison, Result

_MOST_ARMS_SHOWN = 8


def result_summary(result: "Result") -> str:
    rows = [("policy", result.label)]
    if result.meta.get("policy", result.label) != result.label:
        rows.append(("", str(result.meta["policy"])))
    if "bandit" in result.meta:
        rows.append(("bandit", str(result.meta["bandit"])))
    rows += [("horizon", f"{result.horizon:,} rounds"), ("runs", f"{result.runs:,}")]
    rows += _titled("regret", _regret_lines(result))
    rows += _titled("commitment", _commitment_lines(result))
    rows += _titled("pulls", _pull_lines(result))
    if "engine" in result.meta:
        seconds = f", {number(result.meta['seconds'])} s" if "seconds" in result.meta else ""
        rows.append(("engine", f"{result.meta['engine']}{seconds}"))
    return "\n".join(f"{title:<12}{printable(text)}" for title, text in rows)


def comparison_summary(comparison: "Comparison") -> str:
    smallest = min(result.regret[-1] for result in comparison.values())
    rows = [("policy", "runs", "regret", "committed", "median at", "wrong commitments, 95 % interval")]
    for label, result in comparison.items():
        times = result.commit_time[result.committed]
        row = (
            label,
            f"{result.runs:,}",
            regret_text(result) + (" *" if result.regret[-1] == smallest else "  "),
            percent(len(times) / result.runs),
            f"{np.median(times):,.0f}" if len(times) else "-",
            _wrong_text(result),
        )
        rows.append(row)
    first = next(iter(comparison.values()))
    bandit = f"{printable(str(first.meta['bandit']))}, " if "bandit" in first.meta else ""
    notes = [
        "* smallest mean regret; ± is the standard error of the mean",
        "commitment times and wrong commitments are of the runs that committed",
    ]
    return "\n".join([f"{bandit}horizon {first.horizon:,}", "", *align(rows), "", *notes])


def _titled(title: str, lines: list[str]) -> list[tuple[str, str]]:
    return [(title, lines[0]), *(("", line) for line in lines[1:])]


def _regret_lines(result: "Result") -> list[str]:
    mean = f"{regret_text(result)}  (mean ± standard error)"
    if result.runs == 1:
        return [mean]
    low, median, high = map(number, np.quantile(result.final_regret, [0.05, 0.5, 0.95]))
    return [mean, f"5 % of the runs below {low}, half below {median}, 95 % below {high}"]


def regret_text(result: "Result") -> str:
    """Final regret and its standard error, to the second significant digit of the latter if there is one."""
    mean, sem = result.regret[-1], result.regret_sem[-1]
    digits = _decimals(sem, 2) if sem > 0.0 else _decimals(mean, 6)
    return f"{mean:,.{digits}f} ± " + ("unknown" if math.isnan(sem) else f"{sem:,.{digits}f}")


def number(value: float) -> str:
    """Four significant digits or all before the point, and never an exponent."""
    return f"{value:,.{_decimals(value, 4)}f}"


def percent(share: float) -> str:
    """To two digits of the distance to 0 or 1, whichever is nearer: 99.99 % never becomes 100 %."""
    return f"{100.0 * share:.{_decimals(100.0 * min(share, 1.0 - share), 2)}f} %"


def _decimals(scale: float, significant: int) -> int:
    """Digits after the point that show so many significant digits of a number as large as `scale`."""
    return 0 if scale == 0.0 else min(15, max(0, significant - 1 - math.floor(math.log10(scale))))


def _wrong_text(result: "Result") -> str:
    if result.best_arm is None:
        return "undefined: several best arms"
    wrong = result.wrong_commit()
    if wrong.committed == 0:
        return "-"
    return f"{percent(wrong.rate)} ({percent(wrong.low)} to {percent(wrong.high)})"


def _commitment_lines(result: "Result") -> list[str]:
    times = result.commit_time[result.committed]
    if len(times) == 0:
        return ["no run committed"]
    who = "all runs" if len(times) == result.runs else f"{len(times):,} of {result.runs:,} runs"
    lines = [f"{who}, at round {times.mean():,.0f} on average, {np.median(times):,.0f} in the median"]
    if result.best_arm is None:
        return [*lines, f"wrong is {_wrong_text(result)}"]
    count = result.wrong_commit().count
    return [*lines, f"wrong in {count:,} of {len(times):,}: {_wrong_text(result)}, 95 % interval in brackets"]


def _pull_lines(result: "Result") -> list[str]:
    # divided first: a mean of numbers up to 1 is never rounded above 1, and is exactly 1 if all are
    shares = (result.pulls / result.horizon).mean(axis=0)
    order = np.argsort(-shares, kind="stable")
    shown, others = sorted(order[:_MOST_ARMS_SHOWN]), order[_MOST_ARMS_SHOWN:]
    rows = [
        (f"arm {arm}", percent(shares[arm]), f"gap {result.gaps[arm]:.4g}" if result.gaps[arm] else "best")
        for arm in shown
    ]
    if len(others):
        rows.append((f"{len(others):,} other arms", percent(shares[others].sum()), ""))
    return align(rows)


def printable(text: str) -> str:
    """The text with its control characters, line breaks and the like written out: \\x1b clears no screen."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def align(rows: list[tuple[str, ...]]) -> list[str]:
    """Lines of a table: first and last column to the left, numbers to the right."""
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)),
                row[-1],
            ]
        ).rstrip()
        for row in rows
    ]
