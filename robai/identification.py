"""identify(): how long policies take to find the best arm, and how often they are wrong."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, TypedDict, TypeVar, Unpack, overload

import numpy as np

from robai import rules
from robai._base import checks
from robai._base.spec import Part, Spec
from robai._play.assumptions import AssumptionWarning, rules_of
from robai._play.request import Engine, Options, Simulation
from robai._play.seeds import Rng, Seed
from robai._play.together import Finished, labelled, play_all
from robai.bandits import Bandit
from robai.custom import PythonPolicy, as_policy, written
from robai.policies.base import BasePolicy, Policy
from robai.result import Identification, Identifications
from robai.rules.game import FARTHEST_HORIZON, LONGEST_HORIZON
from robai.rules.pointer import Pointed
from robai.rules.python import has_its_methods

CAP = 10**9  # rounds of a run at a given confidence
_Part = TypeVar("_Part", bound=Spec)


class _Settings(TypedDict, total=False):
    """What `identify` takes besides a policy, a bandit, a budget and a number of runs."""

    delta: float | None
    horizon: int | float | None
    rng: Rng
    engine: Engine
    workers: int | None
    executor: Executor | None
    checkpoint: str | os.PathLike[str] | None
    progress: bool | Callable[[int, int], Any]


@overload
def identify(
    policy: BasePolicy | PythonPolicy,
    bandit: Bandit,
    *,
    runs: int | float | range,
    budget: int | float | None = None,
    **settings: Unpack[_Settings],
) -> Identification: ...
@overload
def identify(
    policy: BasePolicy | PythonPolicy,
    bandit: Bandit,
    *,
    runs: int | float | range,
    budget: Iterable[int | float],
    **settings: Unpack[_Settings],
) -> Identifications: ...
@overload
def identify(
    policy: Iterable[BasePolicy | PythonPolicy] | Mapping[str, BasePolicy | PythonPolicy],
    bandit: Bandit,
    *,
    runs: int | float | range,
    budget: int | float | Iterable[int | float] | None = None,
    **settings: Unpack[_Settings],
) -> Identifications: ...
def identify(
    policy: Any,
    bandit: Bandit,
    *,
    delta: float | None = None,
    budget: int | float | Iterable[int | float] | None = None,
    horizon: int | float | None = None,
    runs: int | float | range,
    rng: Rng = None,
    engine: Engine = "auto",
    workers: int | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[int, int], Any] = False,
) -> Identification | Identifications:
    """Play a policy until it stops, many times: how long that takes, and whether it finds the best arm.

    There are three questions, and exactly one is asked. Nothing is played after the stop, and regret is not
    recorded; apart from that runs are those of `simulate`.

    Parameters
    ----------
    policy : policy, sequence of policies, or mapping from labels to policies
        As for `simulate`.
    bandit : bandit
        As for `simulate`; with `robai.Instances` every run is judged by means of its own.
    delta : float
        *Fixed confidence.* The probability of error that is allowed. Rules of the policy that take a delta
        and have none are given this one.
    budget : int or sequence of int
        *Fixed budget.* How many rounds there are; several make a result each. A policy that has not stopped
        when they are used up recommends by its commitment rule; one that explores in stages, of which the
        last is not over then, does not.
    horizon : int or float
        *Own horizon*, if it is given alone: T of policies that stop by themselves and are told nothing else,
        up to 1e100. With `delta` it is the number of rounds after which a run is given up, 10^9 by default.
    runs, rng, engine, workers, executor, checkpoint, progress
        As for `simulate`. All policies have the same seed.

    Returns
    -------
    Identification or Identifications
        The latter, a mapping, of several policies or budgets.

    See Also
    --------
    simulate : Regret, with or without a commitment.

    Notes
    -----
    A run that has not stopped by the horizon, or after 2^62 rounds, is *unfinished*: it recommends nothing.
    `Identification.error` is of the others; `Identification.failure` counts it as wrong.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Bernoulli([0.5, 0.45, 0.43, 0.4])
    >>> found = robai.identify(robai.TrackAndStop(), bandit, delta=0.1, runs=100, rng=0)
    >>> found.complexity.lower < found.time().mean < 3 * found.complexity.lower
    True
    >>> far = robai.identify(robai.EOCPUG(), robai.Gaussian([0.7, 0.2]), horizon=1e100, runs=10, rng=0)
    >>> far.unfinished, far.error().count
    (0, 0)
    """
    _check_question(delta, budget, horizon)
    one = isinstance(policy, BasePolicy | type) or has_its_methods(policy) or not isinstance(policy, Iterable)
    named = {each.label(): each for each in [as_policy(policy)]} if one else labelled(policy)
    if not isinstance(bandit, Bandit):
        raise TypeError(f"bandit must be a bandit of robai.bandits, got {bandit!r}")
    if delta is not None:
        delta = checks.probability("delta", delta)
        horizon = checks.whole("horizon", CAP if horizon is None else horizon, 1, LONGEST_HORIZON)
    budgets = [None] if budget is None else _budgets(budget, bandit.n_arms)
    seed, asked = Seed.of(rng), []
    for label, each in named.items():
        for rounds in budgets:
            T = horizon if rounds is None else rounds
            each.start(rules.Game.of(bandit.n_arms, T, bandit, FARTHEST_HORIZON))  # says what does not fit
            played = _asked(label, each, delta, rounds)
            game = Simulation.of(played, bandit, T, 1, seed, engine, farthest=FARTHEST_HORIZON)
            asked.append((label, rounds, game))
    options = Options(runs, workers, executor, checkpoint, progress)
    found = _found(asked, delta, options)
    return found[0] if one and not isinstance(budget, Iterable) else Identifications(found)


def _check_question(delta: Any, budget: Any, horizon: Any) -> None:
    if budget is not None and delta is not None:
        raise ValueError(f"delta and budget exclude each other, got delta={delta!r} and budget={budget!r}")
    if budget is not None and horizon is not None:
        raise ValueError(
            f"budget and horizon exclude each other, as the budget is the horizon, "
            f"got budget={budget!r} and horizon={horizon!r}"
        )
    if delta is None and budget is None and horizon is None:
        raise ValueError("one of delta, budget and horizon must be given, got none")


def _budgets(budget: Any, n_arms: int) -> list[int]:
    several = isinstance(budget, Iterable) and getattr(budget, "ndim", 1) > 0 and not isinstance(budget, str)
    budgets = [
        checks.whole("budget", each, n_arms, LONGEST_HORIZON) for each in (budget if several else [budget])
    ]
    if not budgets or len(set(budgets)) < len(budgets):
        raise ValueError(f"budget must be one or several different numbers, got {budgets}")
    return budgets


def _asked(label: str, policy: BasePolicy, delta: float | None, budget: int | None) -> BasePolicy:
    """The policy that answers the question; a ValueError if it never will."""
    parts = policy._parts
    fires, staged = _fires(parts.stop), isinstance(parts.explore, rules.STAGED)
    if budget is not None:
        if staged or parts.stop == rules.Budget():
            return policy
        stop = parts.stop | rules.Budget() if fires else rules.Budget()
        return Policy(parts.explore, stop, parts.commit)
    if any(getattr(rule, "budgeted", False) for rule in rules_of(parts)):
        raise ValueError(f"{label} explores for a budget: ask for budget=, not for delta= or horizon=")
    if not (fires or staged) and written(policy) is None:  # which may return a Commit
        what = f"stop=rules.LikelihoodRatio(delta={delta:g})" if delta is not None else "a stop= that does"
        raise ValueError(f"{label} never stops: give it {what}, or ask for a budget=")
    if delta is None:
        return policy
    told = _with_delta(label, policy, delta)
    own = written(policy) is not None or any(isinstance(rule, Pointed) for rule in rules_of(parts))
    if not own and all(getattr(rule, "delta", None) != delta for rule in rules_of(told._parts)):
        warnings.warn(
            f"{label} takes no delta: it stops by other rules, and {delta:g} is only what its errors are "
            "compared with",
            AssumptionWarning,
            stacklevel=3,
        )
    return told


def _fires(stop: rules.Stopping) -> bool:
    """Whether a stopping rule ever does."""
    if isinstance(stop, rules.Both):
        return _fires(stop.first) and _fires(stop.second)
    if isinstance(stop, rules.Either):
        return _fires(stop.first) or _fires(stop.second)
    return not isinstance(stop, rules.Never)


def _with_delta(label: str, rule: _Part, delta: float) -> _Part:
    """The same with this delta wherever there is none; a ValueError where there is another."""
    changes: dict[str, Any] = {}
    for name, value in rule._parameters():
        if isinstance(value, Part):
            changes[name] = _with_delta(label, value, delta)
        elif name == "delta" and getattr(rule, "share", None) is None:
            if value not in (None, delta):
                raise ValueError(f"{label} has delta={value:g} already, got delta={delta:g}")
            _check_nothing_excludes(label, rule, delta)
            changes[name] = delta
    changes = {name: value for name, value in changes.items() if value is not getattr(rule, name)}
    return replace(rule, **changes) if changes else rule


def _check_nothing_excludes(label: str, rule: Spec, delta: float) -> None:
    given = dict(rule._changed())
    for pair in rule.exclusive:
        for other in set(pair) - {"delta"}:
            if "delta" in pair and other in given:
                raise ValueError(
                    f"{label} has {other}={given[other]!r}, which excludes delta, and identify was asked for "
                    f"delta={delta:g}: take {type(rule).__name__} without {other}="
                )


def _found(
    asked: list[tuple[str, int | None, Simulation]], delta: float | None, options: Options
) -> list[Identification]:
    folders = [""] if len(asked) == 1 else [f"cell-{place}" for place in range(len(asked))]
    names = [label for label, _, _ in asked]
    played = play_all([simulation for _, _, simulation in asked], options, folders, names)
    return [
        _identification(each, label, delta, budget, simulation.game)
        for (label, budget, simulation), each in zip(asked, played, strict=True)
    ]


def _identification(
    finished: Finished, label: str, delta: float | None, budget: int | None, game: rules.Game
) -> Identification:
    """Up to the stop: what an engine counts after it, all of the arm committed to, is taken away."""
    time, arm, pulls = (finished.arrays[name] for name in ("commit_time", "committed_arm", "pulls"))
    stopped, pulls = np.flatnonzero(arm >= 0), pulls.copy()
    pulls[stopped, arm[stopped]] -= game.rounds - time[stopped]
    return Identification(
        stopping_time=np.where(arm >= 0, time, game.rounds),
        recommended_arm=arm,
        pulls=pulls,
        gaps=finished.arrays["gaps"],
        means=finished.arrays["means"],
        horizon=game.horizon,
        label=label,
        delta=delta,
        budget=budget,
        meta=finished.meta,
    )
