"""`robai plan`: what theory, and on request a simulation, say of an experiment before it is run."""

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robai import families, theory
from robai._base import checks
from robai._base.intervals import Mean, normal_quantile
from robai._base.text import align, number, percent
from robai.bandits import Bandit, Bernoulli, Gaussian
from robai.cli import options as _options
from robai.policies import EOCP, EOCPUG, KLEOCP, KLEOCPUG
from robai.policies.base import BasePolicy
from robai.result import Comparison
from robai.result.digest import record
from robai.result.text import count_text, median_text
from robai.simulation import compare

_MOST_ARMS = 10**5
_SUB_GAUSSIAN = (families.Gaussian, families.Bernoulli, families.Binomial)
_LIMITS = {
    "regret": "regret, as T grows (Lai and Robbins)",
    "commit_round_gap_known": "commitment round with so little regret, gap known",
    "commit_round_gap_unknown": "commitment round with so little regret, gap unknown",
    "identification_rounds": "rounds to find the best arm with error 1/T, as T grows",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    arms = parser.add_argument_group("the arms: how many and how far apart, or their means")
    arms.add_argument(
        "--arms", type=_options.whole, metavar="K", help="number of arms, one better than the rest"
    )
    arms.add_argument(
        "--gap", type=float, metavar="X", help="lower bound on the gap (the smallest of the means)"
    )
    _options.add_bandit_options(arms, required=False)
    arms.add_argument("--sigma", type=float, metavar="X", help="standard deviation of the rewards (1)")
    parser.add_argument("--horizon", type=_options.whole, required=True, metavar="T", help="rounds")
    parser.add_argument("--inflation", type=float, default=1.0, metavar="C", help="c in l (1)")
    parser.add_argument("--simulate", action="store_true", help="estimate by simulation, too")
    parser.add_argument(
        "--runs", type=_options.whole, default=1000, metavar="N", help="of the simulation (1000)"
    )
    parser.add_argument("--rng", type=_options.whole, default=0, metavar="SEED", help="of the simulation (0)")


@dataclass(frozen=True)
class Bounds:
    """What is known of a policy. None where a condition of the theorem fails; `why` says which."""

    commit_round: float | None
    regret: float | None
    wrong_commit: float | None
    why: str = ""


@dataclass(frozen=True)
class Plan:
    """Bounds for two values of c, limits that hold for every policy, and results if they were asked for."""

    bandit: Bandit
    horizon: int
    sigma: float
    bounds: dict[float, dict[str, Bounds]]  # by c, by name of the policy
    limits: dict[str, float | None]
    simulated: Comparison | None

    def as_dict(self) -> dict[str, Any]:
        return {
            "bandit": repr(self.bandit),
            "horizon": self.horizon,
            "sigma": self.sigma,
            "bounds": [
                {"inflation": c, "level": theory.exploration(self.horizon, c)}
                | {name: vars(bounds) for name, bounds in policies.items()}
                for c, policies in self.bounds.items()
            ],
            "limits": self.limits,
            "simulated": [record(each) for each in self.simulated.values()] if self.simulated else None,
        }

    def text(self) -> str:
        problem = f"{self.bandit!r}, {self.bandit.n_arms:,} arms, horizon {self.horizon:,}"
        parts = [problem, *self._bounds_text(), *self._limits_text()]
        if self.sigma > 0.5 and isinstance(self.bandit, Bernoulli):
            parts.append("rewards in [0, 1] allow --sigma 0.5, with which EOCP commits earlier")
        if self.simulated is not None:
            parts += self._simulated_text(self.simulated)
        return "\n".join(parts)

    def _bounds_text(self) -> list[str]:
        columns = {c: f"c = {c:.3g}" for c in self.bounds}
        levels = (_large(theory.exploration(self.horizon, c), ".2f") for c in columns)
        rows = [("upper bounds", *columns.values(), ""), ("l = log T + c sqrt(log T)", *levels, "")]
        notes = []
        for name in next(iter(self.bounds.values())):
            each = [self.bounds[c][name] for c in columns]
            when = "commits before round, on average" if name == "EOCP-UG" else "commits at round"
            rows.append((f"{name} {when}", *(_or_none(one.commit_round, self.horizon) for one in each), ""))
            worst = self.horizon * max(self.bandit.gaps)
            rows.append((f"{name} regret", *(_or_none(one.regret, worst) for one in each), ""))
            rows.append((f"{name} wrong commitment", *(_chance(one.wrong_commit) for one in each), ""))
            notes += [
                f"{name}, {columns[c]}: {one.why}" for c, one in zip(columns, each, strict=True) if one.why
            ]
        legend = "none: no better than the horizon or certainty; -: the theorem does not apply"
        return ["", *align(rows), legend, *notes]

    def _limits_text(self) -> list[str]:
        rows = [
            (_LIMITS[name], "-" if value is None else _large(value), "")
            for name, value in self.limits.items()
        ]
        return ["", *align([("limits for any policy", "", ""), *rows])]

    def _simulated_text(self, results: Comparison) -> list[str]:
        rows = [
            ("policy", "regret, 95 % interval", "committed", "mean at", "median at", "wrong, 95 % interval")
        ]
        for name, result in results.items():
            digest = result.digest()
            rows.append(
                (
                    name,
                    f"{number(digest.regret.value)}, {_interval(digest.regret)}",
                    percent(digest.committed),
                    _or_none(digest.commit_time and digest.commit_time.value, math.inf),
                    median_text(digest),
                    count_text(digest.wrong),
                )
            )
        runs = next(iter(results.values())).runs
        return ["", f"simulated, c = {next(iter(self.bounds)):.3g}, {runs:,} runs", *align(rows)]


def _or_none(value: float | None, trivial: float) -> str:
    """A bound, if it says more than the trivial one."""
    return "-" if value is None else f"{value:,.0f}" if value < trivial else "none"


def _large(value: float, form: str = "") -> str:
    """As people write it; with an exponent where there would be more zeros than anybody counts."""
    return f"{value:.3e}" if value >= 1e15 else format(value, form) if form else number(value)


def _interval(mean: Mean) -> str:
    if math.isnan(mean.sem):
        return "unknown"
    error = normal_quantile(0.95) * mean.sem
    return f"{number(max(0.0, mean.value - error))} to {number(mean.value + error)}"


def _chance(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}" if value < 1.0 else "none"


def make(options: argparse.Namespace) -> Plan:
    """The plan that the command line asks for."""
    bandit, gap, sigma = _problem(options)
    horizon = checks.whole("horizon", options.horizon, 16, 10**18)
    if horizon < bandit.n_arms:
        raise ValueError(f"horizon must be at least the number of arms, {bandit.n_arms:,}, got {horizon}")
    if not math.isfinite(theory.exploration(horizon, options.inflation)):
        raise ValueError(f"inflation must leave l finite, got {options.inflation}")
    inflations = dict.fromkeys((options.inflation, theory.INFLATION))  # one column if they are the same
    bounds = {c: _bounds(bandit, horizon, gap, sigma, c) for c in inflations}
    simulated = None
    if options.simulate:
        policies = _policies(bandit, gap, sigma, options.inflation)
        simulated = compare(policies, bandit, horizon, options.runs, rng=options.rng)
    return Plan(bandit, horizon, sigma, bounds, _limits(bandit, horizon), simulated)


def _problem(options: argparse.Namespace) -> tuple[Bandit, float, float]:
    """The bandit, the gap that policies are told, and the sigma that they assume."""
    if options.means is None:
        if options.arms is None or options.gap is None:
            raise ValueError("plan needs --arms and --gap, or --means")
        if options.bandit != "gaussian":
            raise ValueError(f"--bandit {options.bandit} needs --means: its rewards depend on where they are")
        arms, gap = checks.whole("arms", options.arms, 2, _MOST_ARMS), checks.positive("gap", options.gap)
        options.means = (gap,) + (0.0,) * (arms - 1)
    elif options.arms not in (None, len(options.means)):
        raise ValueError(f"--arms is {options.arms}, but --means has {len(options.means)}")
    bandit = _options.read_bandit(options.bandit, options.means, options.sigma)
    smallest = min((gap for gap in bandit.gaps if gap > 0.0), default=0.0)
    if len(bandit.best_arms) > 1:
        raise ValueError(f"means must have a unique largest one, got {bandit!r}")
    gap = smallest if options.gap is None else checks.positive("gap", options.gap)
    if gap > smallest:
        raise ValueError(f"gap must be at most the smallest gap of the means, {smallest:g}, got {gap:g}")
    sigma = getattr(bandit, "sigma", None) or options.sigma or 1.0
    return bandit, gap, sigma


def _policies(bandit: Bandit, gap: float, sigma: float, inflation: float) -> dict[str, BasePolicy]:
    policies: dict[str, BasePolicy] = {}
    if isinstance(bandit.family, _SUB_GAUSSIAN):
        policies["EOCP"] = EOCP(gap, inflation, sigma)
        policies["EOCP-UG"] = EOCPUG(inflation, sigma)
    if not isinstance(bandit, Gaussian):  # for which the two are the same
        policies["KL-EOCP"] = KLEOCP(theory.kl_min(bandit), inflation)
        policies["KL-EOCP-UG"] = KLEOCPUG(inflation)
    return policies


def _bounds(bandit: Bandit, horizon: int, gap: float, sigma: float, c: float) -> dict[str, Bounds]:
    arms, bounds = bandit.n_arms, {}
    if isinstance(bandit.family, _SUB_GAUSSIAN):
        bounds["EOCP"] = _known(
            lambda: theory.commit_round_eocp(arms, gap, horizon, inflation=c, sigma=sigma),
            lambda: theory.regret_bound_eocp(bandit, horizon, gap, inflation=c, sigma=sigma).total,
            lambda: theory.wrong_commit_bound_eocp(bandit, horizon, gap, inflation=c, sigma=sigma),
        )
        bounds["EOCP-UG"] = _known(
            lambda: theory.commit_round_eocp_ug(bandit, horizon, inflation=c, sigma=sigma).expected,
            lambda: theory.regret_bound_eocp_ug(bandit, horizon, inflation=c, sigma=sigma).total,
            lambda: theory.wrong_commit_bound_eocp_ug(bandit, horizon, inflation=c, sigma=sigma),
        )
    if not isinstance(bandit, Gaussian):
        bounds["KL-EOCP"] = _known(
            lambda: theory.commit_round_kl_eocp(arms, theory.kl_min(bandit), horizon, inflation=c),
            lambda: theory.regret_bound_kl_eocp(bandit, horizon, inflation=c).total,
            lambda: theory.wrong_commit_bound_kl_eocp(bandit, horizon, inflation=c),
        )
    return bounds


def _known(*quantities: Callable[[], float]) -> Bounds:
    (commit_round, regret, wrong_commit), reasons = zip(*map(_value, quantities), strict=True)
    return Bounds(commit_round, regret, wrong_commit, why=next(filter(None, reversed(reasons)), ""))


def _value(quantity: Callable[[], float]) -> tuple[float | None, str]:
    """What a theorem says, or None and the reason where it says nothing."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            value = float(quantity())
    except ValueError as error:
        return None, str(error)
    except ArithmeticError:
        value = math.inf
    return (value, "") if math.isfinite(value) else (None, "numbers become too large, or too small, for it")


def _limits(bandit: Bandit, horizon: int) -> dict[str, float | None]:
    """What no policy can beat, by the names of `_LIMITS`; None where it cannot be computed."""
    limits = {"regret": lambda: theory.regret_lower_bound(bandit, horizon)}
    if isinstance(bandit, Gaussian) and bandit.n_arms == 2:
        size = {"gap": max(bandit.gaps), "horizon": horizon, "sigma": bandit.sigma}
        limits["commit_round_gap_known"] = lambda: theory.commit_limit_fixed(**size)
        limits["commit_round_gap_unknown"] = lambda: theory.commit_limit_adaptive(**size)
    limits["identification_rounds"] = lambda: theory.weights(bandit)[1] * math.log(horizon)
    return {name: _value(limit)[0] for name, limit in limits.items()}
