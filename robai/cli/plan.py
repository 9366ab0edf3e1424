"""`robai plan`: what is proved, what holds as T grows, and what simulations say, before an experiment."""

import argparse
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robai import families, theory
from robai._base import checks
from robai._base.intervals import Mean, normal_quantile
from robai._base.text import number, percent, table, wrapped
from robai._play.request import Simulation
from robai._play.seeds import Seed
from robai.bandits import Bandit, Gaussian
from robai.cli import known
from robai.cli import options as _options
from robai.cli.output import to_json
from robai.policies import POLICIES, TTTS, BayesUCB, TrackAndStop
from robai.result import Result
from robai.result.digest import record
from robai.result.text import count_text
from robai.rules import Game
from robai.simulation import compare

QUANTITIES = {"regret": "regret", "commit_round": "commits at round", "wrong_commit": "wrong commitment"}
_LIMITS = {
    "regret": "regret, as T grows (Lai and Robbins)",
    "commit_round_gap_known": "commitment round with so little regret, gap known",
    "commit_round_gap_unknown": "commitment round with so little regret, gap unknown",
    "identification_rounds": "rounds to find the best arm with error 1/T, as T grows",
}
_LEGEND = (
    "proved: an upper bound at this T; asymptotic: an upper bound to leading order, as T grows",
    "predicted: by equations without noise, no bound; simulated: with a 95 % interval",
    "vacuous: no better than gap T, the horizon or certainty; -: nothing, and why:",
)
_CASES = {
    "equal rivals": "several arms are second best, and the last of them decides when it commits",
    "guard": "noise decides when the guard lets it commit",
    "horizon": "the commitment is near the horizon, or beyond",
    "never commits": known.NEVER.reason,
}
_NO_ERRORS = "nothing is wrong without noise: `robai confidence` estimates errors"
_AFFORDABLE = 10**9  # looks at an arm: seconds
_PRICES = {TrackAndStop: 100, TTTS: 10_000, BayesUCB: 20}  # of a look


def add_options(parser: argparse.ArgumentParser) -> None:
    whole = _options.whole
    add = parser.add_argument_group("the arms: how many and how far apart, or their means").add_argument
    add("--arms", type=whole, metavar="K", help="number of arms, one better than the rest")
    add("--gap", type=float, metavar="X", help="lower bound on the gap (the smallest of the means)")
    _options.add_bandit_options(add, required=False)
    sigma = "standard deviation of Gaussian rewards (1), or that policies assume (theirs)"
    add("--sigma", type=float, metavar="X", help=sigma)
    add = parser.add_argument_group("the experiment").add_argument
    add("--horizon", type=whole, required=True, metavar="T", help="rounds")
    named = "see `robai policies`, or all; repeat for each (those of the paper that apply, and lead-commit)"
    add("--policy", action="append", metavar="NAME", help=named)
    add("--inflation", type=float, default=1.0, metavar="C", help="c in l (1)")
    add = parser.add_argument_group("the simulation").add_argument
    simulated = "whether to simulate (where that takes seconds)"
    add("--simulate", action=argparse.BooleanOptionalAction, help=simulated)
    add("--runs", type=whole, default=1000, metavar="N", help="independent runs (1000)")
    add("--rng", type=whole, default=0, metavar="SEED", help="seed (0)")


def run(options: argparse.Namespace) -> None:
    bandit, horizon, given = _problem(options)
    level = theory.exploration(horizon, options.inflation)
    if not math.isfinite(level):
        raise ValueError(f"inflation must leave l finite, got {options.inflation}")
    settings, refused = _settings(options.policy, bandit, horizon, given)
    unplayed = {label: _obstacle(setting, options) for label, setting in settings.items()}
    results: Mapping[str, Result] = {}
    if played := {label: each.policy for label, each in settings.items() if not unplayed[label]}:
        seen = sys.stderr.isatty()
        results = compare(played, bandit, horizon, options.runs, rng=options.rng, progress=seen)
    plan: dict[str, Any] = {
        "bandit": repr(bandit),
        "horizon": horizon,
        "sigma": options.sigma or bandit.proxy,
    }
    plan |= {"gap": given["gap"], "inflation": options.inflation, "level": level}
    low, high = bandit.support
    if math.isfinite(length := high - low):  # what is left of Bernstein's bound where the variance is 0
        plan["bernstein_pulls"] = 3 * length * level / given["gap"]
    plan["policies"] = [
        _answers(label, setting, results.get(label), unplayed[label]) for label, setting in settings.items()
    ]
    plan |= {"refused": refused, "limits": _limits(bandit, horizon)}
    print(to_json(plan) if options.json else _text(plan, bandit, options.runs))


def _problem(options: argparse.Namespace) -> tuple[Bandit, int, dict[str, Any]]:
    """The bandit, the horizon, and what policies are told: the gap, inflation, a sigma if there is one."""
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
    return bandit, horizon, {"gap": gap, "inflation": options.inflation, "sigma": options.sigma}


def _settings(
    asked: list[str] | None, bandit: Bandit, horizon: int, given: dict[str, Any]
) -> tuple[dict[str, known.Setting], dict[str, str]]:
    """The policies that play this bandit, and why the others do not."""
    settings, refused = {}, {}
    for label, text in (_usual(bandit, given["inflation"]) if asked is None else _named(asked)).items():
        name = _options.known("policy", text.partition(":")[0].strip(), POLICIES, "robai policies")
        told = dict(given)
        try:
            if name == "kl-eocp":
                told["kl"] = theory.kl_min(bandit)
        except ValueError as error:
            refused[label] = str(error)
            continue
        policy = _options.read_policy(text, told)
        try:
            policy.start(Game.of(bandit.n_arms, horizon, bandit))
        except ValueError as error:
            refused[label] = str(error)
        else:
            settings[label] = known.Setting(policy, bandit, horizon)
    if not settings:
        raise ValueError("; ".join(f"{label}: {reason}" for label, reason in refused.items()))
    return settings, refused


def _named(asked: list[str]) -> dict[str, str]:
    return {each: each for text in asked for each in (POLICIES if text == "all" else [text])}


def _usual(bandit: Bandit, inflation: float) -> dict[str, str]:
    """Those of the paper that apply, also with the inflation of its theorems, and LeadCommit."""
    names = []
    if isinstance(bandit.family, families.Gaussian | families.Bernoulli | families.Binomial):
        names += ["eocp", "eocp-ug"]
    if not isinstance(bandit, Gaussian):  # for which the two are the same
        names += ["kl-eocp"]
    usual = {name: name for name in names}
    if inflation != theory.INFLATION:
        usual |= {
            f"{name}, c = {theory.INFLATION:.3g}": f"{name}:inflation={theory.INFLATION}" for name in names
        }
    usual |= {name: name for name in ("kl-eocp-ug",) if "kl-eocp" in names}
    return usual | {"lead-commit": "lead-commit"}


def _obstacle(setting: known.Setting, options: argparse.Namespace) -> str:
    """Why the policy is not simulated, if it is not."""
    if options.simulate is not None:
        return "" if options.simulate else "not simulated: --no-simulate"
    policy, bandit, rounds = setting.policy, setting.bandit, float(setting.horizon)
    if Simulation.of(policy, bandit, setting.horizon, 1, Seed.of(0), "auto").engine == "leap":
        # measured: the time of a run grows like the square root of the pulls of a worse arm
        regret = known.theorem(theory.regret_lower_bound, vars(setting)).value or 0.0
        pulls = min(rounds, regret / float(setting.gaps[0]))
        looks = math.sqrt(pulls * bandit.n_arms) * (300 if isinstance(bandit, Gaussian) else 3000)
    else:
        rounds = min(rounds, _expected(setting))
        looks = rounds * _PRICES.get(type(policy), 1) * bandit.n_arms
    if options.runs * looks <= _AFFORDABLE:
        return ""
    return f"not simulated: some {_large(rounds, ',.0f')} rounds a run; --simulate plays them all the same"


def _expected(setting: known.Setting) -> float:
    """Rounds that are played one by one, roughly."""
    limit = known.limits(setting)[1]
    if setting.never_commits or limit == known.BUDGET:
        return math.inf
    if limit.value is None:
        time = known.theorem(lambda bandit: theory.weights(bandit)[1], vars(setting)).value
        return math.inf if time is None else 3 * time * setting.asked
    return 2 * limit.value


def _answers(label: str, setting: known.Setting, result: Result | None, unplayed: str) -> dict[str, Any]:
    """What is known of a policy, for scripts; a bound that says nothing is none."""
    worst, last = setting.horizon * max(setting.bandit.gaps), float(setting.horizon)
    trivial = {"regret": (worst, "gap T"), "commit_round": (last, "T"), "wrong_commit": (1.0, "certainty")}
    known_of = {"proved": known.bounds(setting), "asymptotic": known.limits(setting)}
    predicted, simulated = _predicted(setting), _simulated(result, setting, unplayed)
    entry: dict[str, Any] = {"label": label, "policy": setting.policy.to_dict()}
    for place, name in enumerate(QUANTITIES):
        entry[name] = {kind: _said(answers[place], *trivial[name]) for kind, answers in known_of.items()} | {
            "predicted": predicted[name],
            "simulated": simulated[name],
        }
    return entry | {"simulation": result and record(result)}


def _said(answer: known.Answer, trivial: float, what: str) -> dict[str, Any]:
    value, order, reason = answer
    if value is not None and value >= trivial:
        reason = f"vacuous: {_large(value)} is not below {what}, {_large(trivial)}"
        value, order = None, "vacuous"
    elif value is not None:
        value = max(value, sys.float_info.min)  # 0 is no bound
    return {"value": value, "order": order or None, "reason": reason or None}


def _predicted(setting: known.Setting) -> dict[str, Any]:
    """The fluid limit."""
    found = theory.predict(setting.policy, setting.bandit, setting.horizon)
    why = f"no prediction: {_CASES.get(found.case, found.case)}"
    late, wrong = (known.NEVER.reason, known.NEVER.reason) if setting.never_commits else (why, _NO_ERRORS)
    reasons = {"regret": why, "commit_round": late, "wrong_commit": wrong}
    values = {"regret": found.regret, "commit_round": found.commit_time, "wrong_commit": None}
    return {
        name: {"value": value, "order": None, "reason": reasons[name] if value is None else None}
        for name, value in values.items()
    }


def _simulated(result: Result | None, setting: known.Setting, unplayed: str) -> dict[str, Any]:
    never = known.NEVER.reason if setting.never_commits else "no run committed"
    nothing = {"value": None, "low": None, "high": None, "reason": never}
    found: dict[str, Any] = dict.fromkeys(QUANTITIES, nothing)
    if result is None:
        again = nothing | {"reason": unplayed}
        return {"regret": again} | dict.fromkeys(
            list(QUANTITIES)[1:], nothing if setting.never_commits else again
        )
    digest = result.digest()
    found["regret"] = _interval(digest.regret)
    if digest.commit_time is not None:
        found["commit_round"] = _interval(digest.commit_time) | {"committed": digest.committed}
    if digest.wrong is not None:
        count, wrong = count_text(digest.wrong), digest.wrong
        found["wrong_commit"] = {"value": wrong.rate, "low": wrong.low, "high": wrong.high, "reason": None}
        found["wrong_commit"]["count"] = count
    return found


def _interval(mean: Mean) -> dict[str, Any]:
    if math.isnan(mean.sem):
        return {"value": mean.value, "low": None, "high": None, "reason": "one run has no interval"}
    error = normal_quantile(0.95) * mean.sem
    return {
        "value": mean.value,
        "low": max(0.0, mean.value - error),
        "high": mean.value + error,
        "reason": None,
    }


def _limits(bandit: Bandit, horizon: int) -> dict[str, float | None]:
    """What no policy can beat, by the names of `_LIMITS`; None where it cannot be computed."""
    limits: dict[str, Callable[[], float]] = {"regret": lambda: theory.regret_lower_bound(bandit, horizon)}
    if isinstance(bandit, Gaussian) and bandit.n_arms == 2:
        size = {"gap": max(bandit.gaps), "horizon": horizon, "sigma": float(np.max(bandit.sigma))}
        limits["commit_round_gap_known"] = lambda: theory.commit_limit_fixed(**size)
        limits["commit_round_gap_unknown"] = lambda: theory.commit_limit_adaptive(**size)
    limits["identification_rounds"] = lambda: theory.weights(bandit)[1] * math.log(horizon)
    return {name: known.theorem(limit, {}).value for name, limit in limits.items()}


def _text(plan: dict[str, Any], bandit: Bandit, runs: int) -> str:
    rows: list[tuple[str, ...]] = [
        ("policy", "proved", "asymptotic", "predicted", f"simulated, {runs:,} runs")
    ]
    notes: dict[str, dict[str, None]] = {}  # a reason, and of whom it is
    for entry in plan["policies"]:
        for name, words in QUANTITIES.items():
            answers = list(entry[name].values())
            for reason in filter(None, (answer["reason"] for answer in answers)):
                notes.setdefault(reason, {})[entry["label"]] = None
            if any(answer["reason"] != known.NEVER.reason for answer in answers):
                form = ".1e" if name == "wrong_commit" else ",.0f"
                cells = (_cell(answer, form) for answer in answers[:3])
                rows.append((f"{entry['label']} {words}", *cells, _simulated_cell(name, answers[3])))
    text = [f"{bandit!r}, {bandit.n_arms:,} arms, horizon {plan['horizon']:,}"]
    text += [
        f"l = log T + c sqrt(log T) = {_large(plan['level'], '.2f')} for c = {plan['inflation']:.3g}",
        "",
    ]
    text += [*table(rows), "", *map(_wrapped, _LEGEND), ""]
    text += [_wrapped(f"{', '.join(labels)}: {reason}") for reason, labels in notes.items()]
    text += [_wrapped(f"{label} does not play here: {reason}") for label, reason in plan["refused"].items()]
    least = [
        (_LIMITS[name], "-" if value is None else _large(value)) for name, value in plan["limits"].items()
    ]
    if "bernstein_pulls" in plan:
        pulls = _large(plan["bernstein_pulls"], ",.0f")
        least.append(("Bernstein bounds need pulls of an arm, 3 b l / gap", pulls))
    return "\n".join([*text, "", *table([("limits for any policy", ""), *least])])


def _wrapped(text: str) -> str:
    return wrapped(text, 0)


def _cell(answer: dict[str, Any], form: str) -> str:
    value = answer["value"]
    return answer["order"] or "-" if value is None else _large(value, form)


def _simulated_cell(name: str, found: dict[str, Any]) -> str:
    if found["value"] is None:
        return "-"
    if name == "wrong_commit":
        count: str = found["count"]
        return count
    show = number if name == "regret" else "{:,.0f}".format
    ends = "" if found["low"] is None else f" ({show(found['low'])} to {show(found['high'])})"
    share = found.get("committed", 1.0)
    return show(found["value"]) + ends + (f", {percent(share)} of the runs" if share < 1.0 else "")


def _large(value: float, form: str = "") -> str:
    """As people write it; with an exponent where there would be more zeros than anybody counts."""
    return f"{value:.3e}" if value >= 1e15 else format(value, form) if form else number(value)
