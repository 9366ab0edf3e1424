"""`robai plan`: what theory, and on request a simulation, say of an experiment before it is run."""

import argparse
import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from robai import families, theory
from robai._base import checks
from robai._base.intervals import Mean, normal_quantile
from robai._base.text import align, number, percent
from robai.bandits import Bandit, Gaussian
from robai.cli import options as _options
from robai.policies import POLICIES
from robai.result import Comparison
from robai.result.digest import record
from robai.result.text import count_text, median_text
from robai.simulation import compare


def add_options(parser: argparse.ArgumentParser) -> None:
    arms = parser.add_argument_group("the arms: how many and how far apart, or their means")
    add, whole = parser.add_argument, _options.whole
    arms.add_argument("--arms", type=whole, metavar="K", help="number of arms, one better than the rest")
    gap = "lower bound on the gap (the smallest of the means)"
    arms.add_argument("--gap", type=float, metavar="X", help=gap)
    _options.add_bandit_options(arms, required=False)
    sigma = "standard deviation of Gaussian rewards (1), or that policies assume (theirs)"
    arms.add_argument("--sigma", type=float, metavar="X", help=sigma)
    add("--horizon", type=whole, required=True, metavar="T", help="rounds")
    add("--inflation", type=float, default=1.0, metavar="C", help="c in l (1)")
    add("--simulate", action="store_true", help="estimate by simulation, too")
    add("--runs", type=whole, default=1000, metavar="N", help="of the simulation (1000)")
    add("--rng", type=whole, default=0, metavar="SEED", help="of the simulation (0)")


_LIMITS = {
    "regret": "regret, as T grows (Lai and Robbins)",
    "commit_round_gap_known": "commitment round with so little regret, gap known",
    "commit_round_gap_unknown": "commitment round with so little regret, gap unknown",
    "identification_rounds": "rounds to find the best arm with error 1/T, as T grows",
}


def make(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """The plan that the command line asks for: for scripts, and for people."""
    problem = _problem(options)
    bandit, horizon, sigma = problem["bandit"], problem["horizon"], problem["sigma"]
    if not math.isfinite(theory.exploration(horizon, options.inflation)):
        raise ValueError(f"inflation must leave l finite, got {options.inflation}")
    names = []
    if isinstance(bandit.family, families.Gaussian | families.Bernoulli | families.Binomial):
        names += ["EOCP", "EOCP-UG"]
    if not isinstance(bandit, Gaussian):  # for which the two are the same
        names += ["KL-EOCP", "KL-EOCP-UG"]
    known = [name for name in names if name != "KL-EOCP-UG"]  # those with theorems
    bounds: list[dict[str, Any]] = [
        {"inflation": c, "level": theory.exploration(horizon, c)}
        | {name: _bounds(name, problem | {"inflation": c}) for name in known}
        for c in dict.fromkeys((options.inflation, theory.INFLATION))  # one column if they are the same
    ]
    low, high = bandit.support
    if math.isfinite(length := high - low):
        for each in bounds:  # what is left of Bernstein's bound where the variance is 0
            each["bernstein_pulls"] = 3 * length * each["level"] / problem["gap"]
    limits = _limits(bandit, horizon)
    text = [f"{bandit!r}, {bandit.n_arms:,} arms, horizon {horizon:,}", ""]
    text += _bounds_text(bounds, known, horizon, horizon * max(bandit.gaps))
    rows = [(_LIMITS[name], "-" if value is None else _large(value), "") for name, value in limits.items()]
    text += ["", *align([("limits for any policy", "", ""), *rows])]
    records = None
    if options.simulate:
        given = problem | {"inflation": options.inflation}
        policies = {name: _call(POLICIES[name.lower()], given) for name in names}
        results = compare(policies, bandit, horizon, options.runs, rng=options.rng)
        records = [record(result) for result in results.values()]
        runs = next(iter(results.values())).runs
        text += ["", f"simulated, c = {options.inflation:.3g}, {runs:,} runs", *_simulated_text(results)]
    plan = {"bandit": repr(bandit), "horizon": horizon, "sigma": sigma, "bounds": bounds, "limits": limits}
    return plan | {"simulated": records}, "\n".join(text)


def _problem(options: argparse.Namespace) -> dict[str, Any]:
    """The bandit, the horizon, the gap that policies are told, the sigma that they assume."""
    if options.means is None:
        if options.arms is None or options.gap is None:
            raise ValueError("plan needs --arms and --gap, or --means")
        if options.bandit != "gaussian":
            raise ValueError(f"--bandit {options.bandit} needs --means: its rewards depend on where they are")
        arms, gap = checks.whole("arms", options.arms, 2, 10**5), checks.positive("gap", options.gap)
        options.means = (gap,) + (0.0,) * (arms - 1)
    elif options.arms not in (None, len(options.means)):
        raise ValueError(f"--arms is {options.arms}, but --means has {len(options.means)}")
    bandit = _options.read_bandit(options)
    if len(bandit.best_arms) > 1:
        raise ValueError(f"means must have a unique largest one, got {bandit!r}")
    smallest = min((gap for gap in bandit.gaps if gap > 0.0), default=0.0)
    gap = smallest if options.gap is None else checks.positive("gap", options.gap)
    if gap > smallest:
        raise ValueError(f"gap must be at most the smallest gap of the means, {smallest:g}, got {gap:g}")
    horizon = checks.whole("horizon", options.horizon, 16, 10**18)
    if horizon < bandit.n_arms:
        raise ValueError(f"horizon must be at least the number of arms, {bandit.n_arms:,}, got {horizon}")
    sigma = options.sigma or bandit.proxy
    return {"bandit": bandit, "n_arms": bandit.n_arms, "horizon": horizon, "gap": gap, "sigma": sigma}


def _bounds(policy: str, given: dict[str, Any]) -> dict[str, Any]:
    """What is known of a policy. None where a condition of the theorem fails; `why` says which."""
    bounds, why = {}, ""
    for name in ("commit_round", "regret", "wrong_commit"):
        theorem = name if name == "commit_round" else f"{name}_bound"
        function = getattr(theory, f"{theorem}_{policy.lower().replace('-', '_')}")
        bounds[name], reason = _value(partial(_call, function, given))
        why = reason or why
    return bounds | {"why": why}


def _call(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """A function, or a policy, of those of its parameters that are given; they go by their names."""
    names = inspect.signature(function).parameters
    if "kl" in names:
        given = given | {"kl": theory.kl_min(given["bandit"])}
    return function(**{name: given[name] for name in names if name in given})


def _value(quantity: Callable[[], Any]) -> tuple[float | None, str]:
    """What a theorem says, or None and the reason where it says nothing."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            value = quantity()
            if isinstance(value, theory.CommitRound):
                value = value.expected
            elif isinstance(value, theory.RegretBound):
                value = value.total
    except ValueError as error:
        return None, str(error)
    except ArithmeticError:
        value = math.inf
    if math.isfinite(value):
        return float(value), ""
    return None, "numbers become too large, or too small, for it"


def _limits(bandit: Bandit, horizon: int) -> dict[str, float | None]:
    """What no policy can beat, by the names of `_LIMITS`; None where it cannot be computed."""
    limits = {"regret": lambda: theory.regret_lower_bound(bandit, horizon)}
    if isinstance(bandit, Gaussian) and bandit.n_arms == 2:
        size = {"gap": max(bandit.gaps), "horizon": horizon, "sigma": float(np.max(bandit.sigma))}
        limits["commit_round_gap_known"] = lambda: theory.commit_limit_fixed(**size)
        limits["commit_round_gap_unknown"] = lambda: theory.commit_limit_adaptive(**size)
    limits["identification_rounds"] = lambda: theory.weights(bandit)[1] * math.log(horizon)
    return {name: _value(limit)[0] for name, limit in limits.items()}


def _bounds_text(bounds: list[dict[str, Any]], names: list[str], horizon: int, worst: float) -> list[str]:
    columns = [f"c = {each['inflation']:.3g}" for each in bounds]
    levels = (_large(each["level"], ".2f") for each in bounds)
    rows, notes = [("upper bounds", *columns, ""), ("l = log T + c sqrt(log T)", *levels, "")], []
    for name in names:
        when = "commits before round, on average" if name == "EOCP-UG" else "commits at round"
        own = [each[name] for each in bounds]
        rows += [
            (f"{name} {when}", *(_bound(each["commit_round"], horizon) for each in own), ""),
            (f"{name} regret", *(_bound(each["regret"], worst) for each in own), ""),
            (f"{name} wrong commitment", *(_bound(each["wrong_commit"], 1.0, ".1e") for each in own), ""),
        ]
        notes += [f"{name}, {c}: {each['why']}" for c, each in zip(columns, own, strict=True) if each["why"]]
    if "bernstein_pulls" in bounds[0]:
        pulls = (_large(each["bernstein_pulls"], ",.0f") for each in bounds)
        rows.append(("Bernstein bounds need pulls of an arm, 3 b l / gap", *pulls, ""))
    legend = "none: no better than the horizon or certainty; -: the theorem does not apply"
    return [*align(rows), legend, *notes]


def _simulated_text(results: Comparison) -> list[str]:
    rows = [("policy", "regret, 95 % interval", "committed", "mean at", "median at", "wrong, 95 % interval")]
    for name, result in results.items():
        digest = result.digest()
        regret = f"{number(digest.regret.value)}, {_interval(digest.regret)}"
        mean = _bound(digest.commit_time and digest.commit_time.value, math.inf)
        committed, median, wrong = percent(digest.committed), median_text(digest), count_text(digest.wrong)
        rows.append((name, regret, committed, mean, median, wrong))
    return align(rows)


def _interval(mean: Mean) -> str:
    if math.isnan(mean.sem):
        return "unknown"
    error = normal_quantile(0.95) * mean.sem
    return f"{number(max(0.0, mean.value - error))} to {number(mean.value + error)}"


def _bound(value: float | None, trivial: float, form: str = ",.0f") -> str:
    """A bound, if it says more than the trivial one."""
    return "-" if value is None else format(value, form) if value < trivial else "none"


def _large(value: float, form: str = "") -> str:
    """As people write it; with an exponent where there would be more zeros than anybody counts."""
    return f"{value:.3e}" if value >= 1e15 else format(value, form) if form else number(value)
