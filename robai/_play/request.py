"""What is asked for: a simulation, which decides its numbers, and options, which do not."""

from __future__ import annotations

import itertools
import math
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from robai._base import checks
from robai._base.version import VERSION
from robai._core.explore_index import Optimism
from robai._core.rng import NUMPY
from robai._play.arrivals import Arrivals
from robai._play.assumptions import resolved_sigma
from robai._play.seeds import Seed
from robai.bandits import Bandit
from robai.custom import written
from robai.instances import Instances
from robai.policies.base import BasePolicy
from robai.result.arrays import MOST_RUNS
from robai.result.totals import size_of
from robai.rules import Game, Index
from robai.rules.game import FARTHEST_HORIZON, LONGEST_HORIZON

Engine = Literal["auto", "step", "leap"]
Keep = Literal["runs", "summary"]


@dataclass(frozen=True)
class Simulation:
    """All that the runs of one simulation have in common, and the means of those that have their own."""

    policy: BasePolicy
    bandit: Bandit
    horizon: int | float
    times: tuple[int, ...]
    seed: Seed
    engine: Literal["step", "leap"]
    means: NDArray[np.float64] = field(repr=False, compare=False)  # of each arm, or runs x arms
    common: bool = False
    arrivals: Arrivals | None = None  # None if rewards arrive at once
    drawn_for: range = field(default=range(0), repr=False, compare=False)  # runs with means of their own

    @classmethod
    def of(
        cls,
        policy: BasePolicy,
        bandit: Any,
        horizon: Any,
        times: Any,
        seed: Seed,
        engine: Any,
        common: Any = False,
        arrivals: Arrivals | None = None,
        *,
        farthest: float = LONGEST_HORIZON,
    ) -> Simulation:
        """Every argument checked. A horizon beyond what is played to must be recorded once, at the end."""
        if not isinstance(bandit, Bandit):
            raise TypeError(f"bandit must be a bandit of robai.bandits, got {bandit!r}")
        game = Game.of(bandit.n_arms, horizon, bandit, farthest)
        rounds = _times(times, game.rounds)
        means = np.empty((0, bandit.n_arms)) if isinstance(bandit, Instances) else np.array(bandit.means)
        late = None if arrivals is None or arrivals.at_once else arrivals
        chosen = _engine(engine, policy, bandit, game, bool(common), late)
        simulation = cls(policy, bandit, game.horizon, rounds, seed, chosen, means, bool(common), late)
        vars(simulation)["game"] = game
        return simulation

    @cached_property
    def game(self) -> Game:
        return Game.of(self.bandit.n_arms, self.horizon, self.bandit, FARTHEST_HORIZON)

    @cached_property
    def gaps(self) -> NDArray[np.float64]:
        gaps: NDArray[np.float64] = self.means.max(axis=-1, keepdims=True) - self.means
        return gaps

    def drawn(self, runs: range, like: Simulation | None = None) -> Simulation:
        """The same with the means of these runs, if every run has its own.

        They are drawn, or taken from one with the same bandit, seed and runs.
        """
        if not isinstance(self.bandit, Instances):
            return self
        means = self.seed.means(self.bandit, runs) if like is None else like.means
        return replace(self, means=means, drawn_for=runs)

    def with_seed(self, seed: Seed) -> Simulation:
        """The same with another seed."""
        return self if seed == self.seed else replace(self, seed=seed).drawn(self.drawn_for)

    def part(self, first: int, last: int) -> Simulation:
        """What plays runs first, ..., last - 1: no more means than theirs, and no prior."""
        if not isinstance(self.bandit, Instances):
            return self
        whole = self if self.drawn_for else self.drawn(range(first, last))
        start = whole.drawn_for.start
        return replace(whole, bandit=self.bandit.drawn(), means=whole.means[first - start : last - start])

    def to_dict(self) -> dict[str, Any]:
        """All that the numbers of a run depend on, as JSON values: for checkpoints, and a result's `meta`."""
        sigma = resolved_sigma(self.policy, self.game)
        return {
            "policy": self.policy.brief(),
            "bandit": self.bandit.brief(),
            "horizon": self.horizon,
            "engine": self.engine,
            "sigma": list(sigma) if isinstance(sigma, tuple) else sigma,
            **({} if self.bandit.names is None else {"names": list(self.bandit.names)}),
            "entropy": list(map(str, self.seed.entropy)),
            "spawn_key": list(self.seed.spawn_key),
            "robai": VERSION,
            "numpy": NUMPY,
            **({"common": True} if self.common else {}),
            **({} if self.arrivals is None else self.arrivals.to_dict()),
        }


@dataclass(frozen=True)
class Played:
    """What a batch of runs returns."""

    regret: NDArray[np.float64]  # runs x times
    commit_time: NDArray[np.int64]
    committed_arm: NDArray[np.int64]
    pulls: NDArray[np.int64]
    answers: NDArray[np.int64] | None = None  # at the commitment, where rewards do not arrive at once

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Those that there are, by name."""
        return {name: array for name, array in vars(self).items() if array is not None}


def _times(times: Any, horizon: int) -> tuple[int, ...]:
    """Increasing rounds that end at the horizon."""
    if isinstance(times, Iterable) and getattr(times, "ndim", 1) > 0 and not isinstance(times, str | bytes):
        rounds = [checks.whole("times", each, 1, horizon) for each in times]
        if not rounds:
            raise ValueError("times must hold at least one round, got none")
        for earlier, later in itertools.pairwise(rounds):
            if later <= earlier:
                raise ValueError(f"times must be increasing, got {later} after {earlier}")
        return tuple(rounds) if rounds[-1] == horizon else (*rounds, horizon)
    return _grid(checks.whole("times", times, 1, 10**6), horizon)


@lru_cache(maxsize=64)
def _grid(count: int, horizon: int) -> tuple[int, ...]:
    """So many log-spaced rounds."""
    grid = np.geomspace(1, horizon, count) if count > 1 else np.empty(0)
    # 10**18 is not exact in floating point.
    return (*sorted(each for each in set(np.rint(grid).astype(np.int64).tolist()) if each < horizon), horizon)


def _engine(
    engine: Any, policy: BasePolicy, bandit: Bandit, game: Game, common: bool, arrivals: Arrivals | None
) -> Literal["step", "leap"]:
    """The engine that plays: the one asked for, or the leap engine where it applies.

    It steps by itself where leaps are short, so that it is nowhere much slower than the step engine:
    `bench/leap.py` prints both over a range of horizons, bandits and policies.
    """
    checks.one_of("engine", engine, get_args(Engine))
    started, obstacle = policy.start(game), ""  # a policy that does not fit the bandit says so
    rule = written(policy)
    if common and rule is not None:
        raise ValueError(
            f"common must be False for {type(rule).__name__}, which is written in Python, got True"
        )
    if arrivals is not None and rule is not None:
        raise ValueError(
            f"{type(rule).__name__} is written in Python, and gets rewards at once: got {arrivals}"
        )
    if arrivals is not None:
        arrivals.check(policy, bandit, game)
        obstacle = f"{arrivals} is of the rewards of every round"
    elif common:
        obstacle = "common=True draws the rewards of every round"
    elif rule is not None:
        obstacle = f"{type(rule).__name__} is written in Python"
    elif isinstance(policy._parts.explore, Index):
        obstacle = f"nothing but values is known of Index {policy._parts.explore.name!r}; a Level leaps"
    elif isinstance(started.explore, Optimism) and not started.explore.leaps:
        obstacle = f"it is not known that the leader of {policy._parts.explore!r} stays in a convex region"
    elif max(started.explore.moments, started.stop.moments, started.commit.moments) > 1:
        obstacle = f"{policy!r} needs the variance of the rewards of every round"
    elif not started.explore.leaps:
        obstacle = f"{policy._parts.explore!r} neither works by an index nor samples posteriors"
    elif not started.stop.leaps:
        obstacle = f"{policy._parts.stop!r} has to be asked after every round"
    elif not bandit._core().leaps:
        obstacle = f"sums of rewards of {bandit!r} cannot be drawn at once"
    if engine == "leap" and obstacle:
        raise ValueError(f"engine='leap' does not apply: {obstacle}")
    return "step" if obstacle or engine == "step" else "leap"


def _runs(runs: Any) -> range:
    """Which runs: so many, or a range of them."""
    if not isinstance(runs, range):
        return range(checks.whole("runs", runs, 1, MOST_RUNS))
    if not runs or runs.step != 1 or not 0 <= runs.start < runs.stop <= MOST_RUNS:
        raise ValueError(f"runs must be a number, or a range from 0 or later in steps of 1, got {runs!r}")
    return runs


class Options:
    """How to run a simulation: nothing of this changes its numbers. Every argument is checked."""

    def __init__(
        self,
        runs: Any,
        workers: Any,
        executor: Any,
        checkpoint: Any,
        progress: Any,
        curves: Any = False,
        keep: Any = "runs",
    ) -> None:
        if executor is not None and (
            isinstance(executor, type) or not callable(getattr(executor, "submit", None))
        ):
            raise TypeError(f"executor must be a concurrent.futures.Executor, got {executor!r}")
        if isinstance(executor, ThreadPoolExecutor) and _runs_in(executor):
            raise ValueError(
                f"executor must not be the pool in which this call runs, whose threads could wait for each "
                f"other for ever, got {executor!r}; leave it out, or pass another"
            )
        if not (checkpoint is None or isinstance(checkpoint, str | os.PathLike)):
            raise TypeError(f"checkpoint must be a path, got {checkpoint!r}")
        if not (isinstance(progress, bool) or callable(progress)):
            raise TypeError(f"progress must be True, False or a function of (done, total), got {progress!r}")
        self.runs = _runs(runs)
        self.workers = _cores() if workers is None else checks.whole("workers", workers, 1, 4096)
        self.executor: Executor | None = executor
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self.progress: bool | Callable[[int, int], Any] = progress
        self.curves = bool(curves)
        self.keep = checks.one_of("keep", keep, get_args(Keep))
        if self.curves and self.keep == "summary":
            raise ValueError("curves must be False with keep='summary', which keeps no single runs, got True")

    def check(self, simulations: list[Simulation]) -> None:
        """A ValueError, before anything is played, if these cannot be played so."""
        for policy in (simulation.policy for simulation in simulations):
            if self.checkpoint is None:
                continue
            policy._need_names(f"checkpoint={os.fspath(self.checkpoint)!r} with")
            if (rule := written(policy)) is not None:
                raise ValueError(
                    f"checkpoint must be None for {type(rule).__name__}, which is written in Python: "
                    f"nobody can tell whether it is still the same, got {os.fspath(self.checkpoint)!r}"
                )
        for bandit in (each.bandit for each in simulations):
            if self.checkpoint is not None and (obstacle := bandit.obstacle()):
                raise ValueError(
                    f"checkpoint must be None, because {obstacle}: nobody can tell whether it is still the "
                    f"same, got {os.fspath(self.checkpoint)!r}"
                )
        for each in simulations:
            if each.arrivals is not None:
                self._check_late(each.arrivals, each.game.rounds)
        if self.keep == "summary":
            self._check_sums(simulations)
            return
        # pulls, and means and gaps where every run has its own
        own = [each.bandit.n_arms * (3 if isinstance(each.bandit, Instances) else 1) for each in simulations]
        sizes = [(n, len(each.times) if self.curves else 0) for n, each in zip(own, simulations, strict=True)]
        needed = 8 * len(self.runs) * sum(3 + arms + times for arms, times in sizes)
        if needed > _memory():
            arms, times = max(sizes, key=sum)
            numbers = 3 + arms + times
            kept = f"{numbers:,} numbers a run" + (f", {times:,} of them curves" if self.curves else "")
            raise ValueError(
                f"runs must be fewer on this machine, got {len(self.runs):,}: results with {kept} need "
                f"{needed / 1e9:,.0f} GB of memory, and there are {_memory() / 1e9:,.0f} GB; "
                "keep='summary' needs no more for more runs"
            )

    def _check_late(self, arrivals: Arrivals, horizon: int) -> None:
        count, needed = arrivals.under_way(horizon), self.workers * arrivals.bytes(horizon)
        if needed > _memory():
            raise ValueError(
                f"delay, batch and window must be smaller on this machine, got {arrivals}: up to {count:,} "
                f"rewards under way need {needed / 1e9:,.0f} GB with {self.workers} workers, and there are "
                f"{_memory() / 1e9:,.0f} GB"
            )

    def _check_sums(self, simulations: list[Simulation]) -> None:
        under_way = 4 * self.workers + 3  # sums that there are at a time, with those that come together
        for each in simulations:
            arms, own = each.bandit.n_arms, isinstance(each.bandit, Instances)
            needed = under_way * size_of(len(each.times), arms, own)
            if needed > _memory():
                raise ValueError(
                    f"keep must be 'runs' on this machine, got 'summary': sums for {len(each.times):,} times "
                    f"and {arms:,} arms need {needed / 1e9:,.0f} GB with {self.workers} workers, "
                    f"and there are {_memory() / 1e9:,.0f} GB"
                )


def _runs_in(pool: ThreadPoolExecutor) -> bool:
    """Whether this thread is one of the pool's."""
    with pool._shutdown_lock:  # which it holds from the start of a thread until that is among its own
        return threading.current_thread() in pool._threads


@cache
def _memory() -> float:
    """The bytes of memory of the machine, infinite if it does not tell."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
