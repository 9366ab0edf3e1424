"""simulate() and compare(): every argument checked before any work starts, then batches of runs."""

from __future__ import annotations

import itertools
import math
import operator
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import robai
from robai import _checks
from robai._batches import Merger, Simulation, batch_size, in_order
from robai._checkpoint import BATCH, Checkpoint
from robai._core.rng import NUMPY
from robai._progress import Progress
from robai.bandits import Bandit
from robai.custom import CustomPolicy, PythonPolicy, as_policy
from robai.policies import BasePolicy
from robai.result import Comparison, Result

LONGEST_HORIZON = 10**18
ENGINES = ("auto", "step", "leap")
POOL_SIZE = 4  # of a SeedSequence

Rng = None | int | np.random.SeedSequence | np.random.Generator
Seed = tuple[tuple[int, ...], tuple[int, ...]]  # entropy and spawn key


def simulate(
    policy: BasePolicy | PythonPolicy,
    bandit: Bandit,
    horizon: int,
    runs: int,
    *,
    rng: Rng = None,
    times: int | Iterable[int] = 200,
    engine: str = "auto",
    workers: int | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[int, int], Any] = False,
    curves: bool = False,
) -> Result:
    """Play a policy on a bandit, many times, and return regret and commitments.

    Parameters
    ----------
    policy : policy
        One of `robai.policies`, or any object with `select(state)` and `update(arm, reward)`, which
        is slow (see `robai.custom`).
    bandit : bandit
        One of `robai.bandits`.
    horizon : int
        The number of rounds of a run, up to 10**18; at least the number of arms.
    runs : int
        The number of independent runs.
    rng : None, int, SeedSequence or Generator
        The seed. Run r depends on it and on r alone: any number of workers, any executor, and
        any larger number of runs give the same numbers.
    times : int or sequence of int
        How many log-spaced rounds to record regret at, or the rounds themselves. The horizon is
        always recorded.
    engine : "auto", "step" or "leap"
        "step" plays every round; "leap" jumps between the rounds at which anything is decided;
        "auto" leaps where that applies.
    workers : int or None
        The number of threads, all cores if None; of an executor's workers, if one is given: four
        batches for each are under way at a time.
    executor : concurrent.futures.Executor or None
        Where to run batches instead of own threads: a process pool, Dask's (`pure=False`), MPI's; but not
        the pool in which this call itself runs. Ctrl-C cancels the batches that wait there and stops those
        that are being played on this machine within a second; on others they come to their end.
    checkpoint : path or None
        A directory that finished batches are kept in; a simulation that was interrupted goes on
        from there when it is called again with the same arguments, or with more runs.
    progress : bool or callable
        True shows a bar (tqdm if installed); a callable is called with runs done and runs in all.
    curves : bool
        Keep the regret of every run at `times`, for quantile bands.

    Returns
    -------
    Result

    Notes
    -----
    Ctrl-C reaches the main thread alone. A simulation in another thread is not stopped by it, but ends
    (SystemExit) when the main thread has ended and the interpreter exits.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Gaussian([0.7, 0.2])
    >>> result = robai.simulate(robai.EOCP(gap=0.5), bandit, horizon=10**6, runs=1000, rng=0)
    >>> set(result.commit_time.tolist())
    {1124}
    """
    seed, fresh = seed_words(rng)
    simulation = _simulation(policy, bandit, horizon, times, seed, engine, checkpoint)
    options = _options(runs, workers, executor, checkpoint, progress, curves)
    _check_memory([simulation], options)
    _warn_of_ties(bandit)
    return _run(simulation, options, fresh, simulation.policy.label())


def compare(
    policies: Iterable[BasePolicy | PythonPolicy] | Mapping[str, BasePolicy | PythonPolicy],
    bandit: Bandit,
    horizon: int,
    runs: int,
    *,
    rng: Rng = None,
    times: int | Iterable[int] = 200,
    engine: str = "auto",
    workers: int | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[int, int], Any] = False,
    curves: bool = False,
) -> Comparison:
    """Play several policies on the same bandit.

    Parameters
    ----------
    policies : sequence of policies, or mapping from labels to policies
    bandit, horizon, runs, rng, times, engine, workers, executor, checkpoint, progress, curves
        As for `simulate`. Every policy gets the same seed, so each result is what `simulate`
        alone would return for it.

    Returns
    -------
    Comparison
        A mapping from labels to results.
    """
    named = _labelled(policies)
    seed, fresh = seed_words(rng)
    if isinstance(times, Iterator):  # which can be read once only
        times = list(times)
    simulations = [
        _simulation(each, bandit, horizon, times, seed, engine, checkpoint) for each in named.values()
    ]
    options = _options(runs, workers, executor, checkpoint, progress, curves)
    _check_memory(simulations, options)
    _warn_of_ties(bandit)
    results = {}
    for place, (label, simulation) in enumerate(zip(named, simulations, strict=True)):
        if options.checkpoint is not None:
            own = replace(options, checkpoint=options.checkpoint / f"policy-{place}")
        else:
            own = options
        simulation = replace(simulation, entropy=seed[0], spawn_key=seed[1])
        results[label] = _run(simulation, own, fresh, label)
        # A fresh seed gives way to that of the first checkpoint, for all policies.
        meta = results[label].meta
        seed, fresh = (tuple(map(int, meta["entropy"])), tuple(meta["spawn_key"])), False
    return Comparison(results)


def _run(simulation: Simulation, options: Options, fresh: bool, label: str) -> Result:
    started = time.perf_counter()
    store = None
    if options.checkpoint is not None:
        store = Checkpoint(options.checkpoint, simulation, fresh)
        simulation = store.simulation
    runs, entries = options.runs, max(len(simulation.times), simulation.bandit.n_arms)
    size = batch_size(runs, entries, options.workers, None if store is None else BATCH)
    spans = ((first, min(first + size, runs)) for first in range(0, runs, size))
    merger = Merger(simulation, runs, options.curves)
    with Progress(options.progress, runs, simulation.policy.label()) as bar:
        for played in in_order(simulation, spans, options.workers, options.executor, store):
            merger.add(played)
            bar.update(merger.count)
    meta = {
        "policy": repr(simulation.policy),
        "bandit": repr(simulation.bandit),
        "horizon": simulation.horizon,
        "runs": runs,
        "entropy": [str(word) for word in simulation.entropy],
        "spawn_key": list(simulation.spawn_key),
        "engine": simulation.engine,
        "robai": robai.__version__,
        "numpy": NUMPY,
        "seconds": time.perf_counter() - started,
    }
    return merger.result(label, meta)


@dataclass(frozen=True)
class Options:
    """How to run a simulation: nothing of this changes its numbers."""

    runs: int
    workers: int
    executor: Executor | None
    checkpoint: Path | None
    progress: bool | Callable[[int, int], Any]
    curves: bool


def _options(runs: Any, workers: Any, executor: Any, checkpoint: Any, progress: Any, curves: Any) -> Options:
    if executor is not None and (
        isinstance(executor, type) or not callable(getattr(executor, "submit", None))
    ):
        raise TypeError(f"executor must be a concurrent.futures.Executor, got {executor!r}")
    if isinstance(executor, ThreadPoolExecutor) and _runs_in(executor):
        raise ValueError(
            f"executor must not be the pool in which this call runs, whose threads could wait for each other "
            f"for ever, got {executor!r}; leave it out, or pass another"
        )
    if not (checkpoint is None or isinstance(checkpoint, str | os.PathLike)):
        raise TypeError(f"checkpoint must be a path, got {checkpoint!r}")
    if not (isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress must be True, False or a function of (done, total), got {progress!r}")
    return Options(
        runs=_checks.whole("runs", runs, 1, 2**53),
        workers=_cores() if workers is None else _checks.whole("workers", workers, 1, 4096),
        executor=executor,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        progress=progress,
        curves=bool(curves),
    )


def _runs_in(pool: ThreadPoolExecutor) -> bool:
    """Whether this thread is one of the pool's."""
    with pool._shutdown_lock:  # which it holds from the start of a thread until that is among its own
        return threading.current_thread() in pool._threads


def _check_memory(simulations: list[Simulation], options: Options) -> None:
    """A ValueError, before anything is played, if the machine cannot hold the results."""
    arms, times = simulations[0].bandit.n_arms, len(simulations[0].times)
    numbers = 3 + arms + (times if options.curves else 0)  # a run
    needed = 8 * numbers * options.runs * len(simulations)
    if needed > _memory():
        kept = f"{numbers:,} numbers a run" + (f", {times:,} of them curves" if options.curves else "")
        raise ValueError(
            f"runs must be fewer on this machine, got {options.runs:,}: results with {kept} need "
            f"{needed / 1e9:,.0f} GB of memory, and there are {_memory() / 1e9:,.0f} GB"
        )


def _memory() -> float:
    """The bytes of memory of the machine, infinite if it does not tell."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _labelled(policies: Any) -> dict[str, BasePolicy]:
    if isinstance(policies, BasePolicy | str) or not isinstance(policies, Iterable):
        raise TypeError(f"policies must be a sequence of policies, got {policies!r}")
    if isinstance(policies, Mapping):
        named = dict(policies)
        for label in named:
            if not isinstance(label, str) or not label:
                raise ValueError(f"policies must be labelled by non-empty strings, got {label!r}")
    else:
        named = {}
        for policy in map(as_policy, policies):
            if policy.label() in named:
                raise ValueError(f"policies holds {policy.label()} twice; pass a mapping to label them")
            named[policy.label()] = policy
    if not named:
        raise ValueError("policies must hold at least one policy, got none")
    return named


def _simulation(
    policy: Any, bandit: Any, horizon: Any, times: Any, seed: Seed, engine: Any, checkpoint: Any
) -> Simulation:
    policy = as_policy(policy)
    if checkpoint is not None and isinstance(policy, CustomPolicy):
        raise ValueError(
            f"checkpoint must be None for {policy.label()}, which is written in Python: "
            f"nobody can tell whether it is still the same, got {checkpoint!r}"
        )
    if not isinstance(bandit, Bandit):
        raise TypeError(f"bandit must be a bandit of robai.bandits, got {bandit!r}")
    horizon = _checks.whole("horizon", horizon, 1, LONGEST_HORIZON)
    if horizon < bandit.n_arms:
        raise ValueError(f"horizon must be at least the number of arms, {bandit.n_arms}, got {horizon}")
    engine = _engine(engine, policy, bandit)
    simulation = Simulation(policy, bandit, horizon, _times(times, horizon), *seed, engine)
    policy._start(simulation.game)  # a policy that does not fit the bandit says so
    return simulation


def _warn_of_ties(bandit: Bandit) -> None:
    best = bandit.best_arms
    if len(best) > 1:
        arms = ", ".join(map(str, best[:10])) + (f" and {len(best) - 10:,} more" if len(best) > 10 else "")
        warnings.warn(f"arms {arms} are all best: regret is defined, a wrong commitment is not", stacklevel=3)


def _times(times: Any, horizon: int) -> tuple[int, ...]:
    """Increasing rounds that end at the horizon."""
    if isinstance(times, Iterable) and getattr(times, "ndim", 1) > 0 and not isinstance(times, str | bytes):
        rounds = [_checks.whole("times", each, 1, horizon) for each in times]
        if not rounds:
            raise ValueError("times must hold at least one round, got none")
        for earlier, later in itertools.pairwise(rounds):
            if later <= earlier:
                raise ValueError(f"times must be increasing, got {later} after {earlier}")
    else:
        count = _checks.whole("times", times, 1, 10**6)
        grid = np.unique(np.rint(np.geomspace(1, horizon, count)).astype(np.int64)) if count > 1 else []
        # 10**18 is not exact in floating point.
        rounds = [int(each) for each in grid if each < horizon] + [horizon]
    return tuple(rounds) if rounds[-1] == horizon else (*rounds, horizon)


def seed_words(rng: Any) -> tuple[Seed, bool]:
    """Entropy and spawn key of a seed, and whether they are fresh from the system."""
    if isinstance(rng, np.random.Generator):
        return (tuple(int(word) for word in rng.integers(0, 2**32, size=8)), ()), False
    sequence = rng if isinstance(rng, np.random.SeedSequence) else _sequence(rng)
    if sequence.pool_size != POOL_SIZE:
        raise ValueError(f"rng must have a pool_size of {POOL_SIZE}, got {rng!r}")
    entropy = sequence.entropy
    words = (entropy,) if isinstance(entropy, int | np.integer) else tuple(entropy)
    try:
        return (tuple(map(operator.index, words)), tuple(map(int, sequence.spawn_key))), rng is None
    except TypeError:  # SeedSequence(["12"]) is possible
        raise TypeError(f"rng must have whole numbers as its entropy, got {rng!r}") from None


def _sequence(rng: Any) -> np.random.SeedSequence:
    if rng is None:
        return np.random.SeedSequence()
    try:
        return np.random.SeedSequence(_checks.whole("rng", rng, 0, 2**128 - 1))
    except TypeError:
        raise TypeError(
            f"rng must be None, a whole number, a SeedSequence or a Generator, got {rng!r}"
        ) from None


def _engine(engine: Any, policy: BasePolicy, bandit: Bandit) -> str:
    """The engine that plays: the one asked for, or the leap engine where it applies.

    It steps by itself where leaps are short, so that it is nowhere much slower than the step engine:
    `bench/leap.py` prints both over a range of horizons, bandits and policies.
    """
    _checks.one_of("engine", engine, ENGINES)
    obstacle = _obstacle(policy, bandit)
    if engine == "leap" and obstacle:
        raise ValueError(f"engine='leap' does not apply: {obstacle}")
    if engine != "auto":
        return engine
    return "leap" if obstacle is None else "step"


def _obstacle(policy: BasePolicy, bandit: Bandit) -> str | None:
    """Why the leap engine cannot play a policy on a bandit, if it cannot."""
    if isinstance(policy, CustomPolicy):
        return f"{policy.label()} is written in Python"
    explore, stop, _ = policy.parts()
    if not explore.leaps:
        return f"{explore!r} does not work by an index"
    if not stop.leaps:
        return f"{stop!r} has to be asked after every round"
    if bandit.family is None:
        return f"sums of rewards of {bandit!r} cannot be drawn at once"
    return None
