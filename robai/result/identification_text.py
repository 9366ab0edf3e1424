"""The texts of `Identification.summary` and `Identifications.summary`, and the numbers for scripts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from robai._base.intervals import Mean
from robai._base.spec import as_text
from robai._base.text import align, decimals, number, percent, printable, table
from robai.result.text import arm_names, mean_text, titled

if TYPE_CHECKING:
    from robai.result.identification import Identification
    from robai.result.identification_numbers import Errors, Failures, Time

_MOST_ARMS_SHOWN = 8


def asked(found: Identification) -> str:
    """Which of the three questions was asked."""
    if found.budget is not None:
        return f"budget {found.budget:,}"
    horizon = horizon_text(found.horizon)
    return f"horizon {horizon}" if found.delta is None else f"delta {found.delta:g}, at most {horizon} rounds"


def horizon_text(horizon: float) -> str:
    return f"{horizon:,}" if isinstance(horizon, int) else f"{horizon:g}".replace("e+", "e")


def one_summary(found: Identification) -> str:
    rows = [("policy", found.label)]
    policy = as_text(found.meta.get("policy", found.label))
    if policy != found.label:
        rows.append(("", policy))
    if "bandit" in found.meta:
        rows.append(("bandit", as_text(found.meta["bandit"])))
    rows += [("asked for", asked(found)), ("runs", f"{found.runs:,}")]
    if found.unfinished:
        rows.append(("unfinished", f"{found.unfinished:,} runs did not stop: see failures"))
    rows += titled("rounds", _time_lines(found))
    rows.append(("errors", _errors_text(found)))
    if found.unfinished:
        rows.append(("failures", f"{_count_text(found.failure())}: wrong, or unfinished"))
    if found.budget is not None and found.finished.any():
        rows.append(("regret", f"{mean_text(found.simple_regret())}  (gap of the recommended arm)"))
    rows += titled("pulls", _pull_lines(found))
    if "engine" in found.meta:
        seconds = f", {number(found.meta['seconds'])} s" if "seconds" in found.meta else ""
        rows.append(("engine", f"{found.meta['engine']}{seconds}"))
    return "\n".join(f"{title:<12}{printable(text)}" for title, text in rows)


def several_summary(several: list[Identification]) -> str:
    budgets = len({found.budget for found in several}) > 1
    first, confident = several[0], several[0].delta is not None
    rows = [
        (
            "policy",
            *(["budget"] if budgets else []),
            "unfinished",
            "runs",
            "rounds",
            "median",
            *(["rounds / lower"] if confident else []),
            "shares off w*",
            "wrong, 95 % interval",
        )
    ]
    marked = False
    for found in several:
        time, complexity, failure = found.time(), found.complexity, found.failure()
        lower = None if complexity is None else complexity.lower
        above = found.delta is not None and failure.low > found.delta
        marked = marked or above
        rows.append(
            (
                found.label,
                *([f"{found.budget:,}"] if budgets else []),
                f"{found.unfinished:,}",
                f"{found.runs:,}",
                _mean_time(time),
                _quantile(found, time.median),
                *([_least(time, f"{time.mean / lower:.2f}") if lower else "-"] if confident else []),
                _distance(found),
                _rate_text(found.error()) + (" !" if above else ""),
            )
        )
    notes = ["± is the standard error of the mean; wrong is of the runs that stopped"]
    if any(found.unfinished for found in several):
        notes.append(">= where runs did not stop, which count with the rounds that they were given")
    if marked:
        notes.append(f"! wrong or unfinished more often than delta = {first.delta:g}, at 95 %")
    bandit = f"{printable(as_text(first.meta['bandit']))}, " if "bandit" in first.meta else ""
    if not confident and first.budget is None and len({found.horizon for found in several}) > 1:
        title = f"{bandit}horizons of their own"
    else:
        title = f"{bandit}{asked(first) if not budgets else 'several budgets'}"
    if confident and (known := first.complexity) is not None:
        title += f"\nlower bound T* kl(delta, 1 - delta) = {known.lower:,.1f}, T* = {known.time:,.2f}"
    return "\n".join([title, "", *table(rows), "", *notes])


def record(found: Identification) -> dict[str, Any]:
    """The numbers of an identification that a script would read; None where there is nothing to say."""
    time, error, failure = found.time(), found.error(), found.failure()
    complexity, proportions = found.complexity, found.proportions()
    return {
        "label": found.label,
        "policy": found.meta.get("policy"),
        "bandit": found.meta.get("bandit"),
        "delta": found.delta,
        "budget": found.budget,
        "horizon": found.horizon,
        "runs": found.runs,
        "unfinished": found.unfinished,
        "time": time.mean,
        "time_sem": _known(time.sem),
        "time_is_lower_bound": time.at_least,
        "time_quantiles": [time.early, time.median, time.late],
        "wrong": error.count,
        "error": _known(error.rate),
        "error_low": error.low,
        "error_high": error.high,
        "failures": failure.count,
        "failure": failure.rate,
        "failure_low": failure.low,
        "failure_high": failure.high,
        "simple_regret": _known(found.simple_regret().value),
        "shares": proportions.shares.tolist(),
        "weights": None if complexity is None else complexity.weights.tolist(),
        "characteristic_time": complexity and complexity.time,
        "lower": complexity and complexity.lower,
        "first_order": complexity and complexity.first_order,
        "engine": found.meta.get("engine"),
        "entropy": found.meta.get("entropy"),
        "seconds": found.meta.get("seconds"),
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _least(time: Time, text: str) -> str:
    return f">= {text}" if time.at_least else text


def _mean_time(time: Time) -> str:
    if time.sem == 0.0:  # of a fixed number of rounds
        return _least(time, f"{time.mean:,.0f} ± 0")
    return _least(time, mean_text(Mean(time.mean, time.sem)))


def _quantile(found: Identification, rounds: float) -> str:
    """By which round so many had stopped: not yet, if it is the last one and some never did."""
    return ">= " * (found.unfinished > 0 and rounds >= found.rounds) + f"{rounds:,.0f}"


def _time_lines(found: Identification) -> list[str]:
    time, complexity = found.time(), found.complexity
    lines = [f"{_mean_time(time)}  (mean ± standard error)"]
    if found.runs > 1:
        early, median, late = (_quantile(found, each) for each in (time.early, time.median, time.late))
        lines.append(f"10 % of the runs stopped by {early}, half by {median}, 90 % by {late}")
    if complexity is not None and complexity.lower:
        times = _least(time, f"{time.mean / complexity.lower:.2f}")
        lines.append(f"{times} times the lower bound, T* kl(delta, 1 - delta) = {complexity.lower:,.1f}")
    return lines


def _errors_text(found: Identification) -> str:
    if not found.finished.any():
        return "no run stopped"
    mark = ""
    if found.delta is not None and found.failure().low > found.delta:
        mark = f"; failures are above delta = {found.delta:g}"
    return _count_text(found.error()) + mark


def _count_text(counted: Errors | Failures) -> str:
    """How many, of how many, and the ends of the interval."""
    count, of, rate, low, high = counted
    return f"{count:,} of {of:,}, {percent(rate)} ({percent(low)} to {percent(high)})"


def _rate_text(error: Errors) -> str:
    if error.finished == 0:
        return "-"
    return f"{error.count:,}, {percent(error.rate)} ({percent(error.low)} to {percent(error.high)})"


def _distance(found: Identification) -> str:
    """The largest difference of the shares from the optimal ones."""
    shares, _, optimal = found.proportions()
    return "-" if optimal is None else f"{np.abs(shares - optimal).max():.3f}"


def _pull_lines(found: Identification) -> list[str]:
    shares, errors, optimal = found.proportions()
    order = np.argsort(-shares, kind="stable")
    shown, others = np.sort(order[:_MOST_ARMS_SHOWN]), order[_MOST_ARMS_SHOWN:]
    names = arm_names(found)
    gaps = np.sort(found.gaps, axis=1).mean(axis=0) if found.own_means else found.gaps
    rows = [
        (
            names[arm],
            f"{shares[arm]:.{_digits(float(errors[arm]))}f}",
            "" if optimal is None else f"w* {optimal[arm]:.4f}",
            f"gap {gaps[arm]:.4g}" if gaps[arm] else "best",
        )
        for arm in shown.tolist()
    ]
    if len(others):
        rest = "" if optimal is None else f"w* {optimal[others].sum():.4f}"
        rows.append((f"{len(others):,} other arms", f"{shares[others].sum():.4f}", rest, ""))
    return align(rows)


def _digits(error: float) -> int:
    return 4 if math.isnan(error) else min(max(decimals(error, 1), 3), 6)
