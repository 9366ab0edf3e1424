"""simulate() and compare(): seeds, batches of runs, workers, progress, interruption.

A batch of runs is a pure function of (policy, bandit, horizon, times, seed, first run, last run).
Run r depends on the seed and on r alone, and batches are merged in order, run by run, so the
numbers are the same for any number of workers, any executor and any size of batch.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import robai
from robai import _checks
from robai._checkpoint import BATCH, Checkpoint
from robai._core.engine import Batch, accumulate
from robai._core.rng import RUNS_PER_BLOCK, seed_block
from robai._progress import Progress
from robai.bandits import Bandit
from robai.policies import BasePolicy
from robai.result import Comparison, Result
from robai.rules import Game

LONGEST_HORIZON = 10**18
ENGINES = ("auto", "step", "leap")
PIECE = 4e6  # nanoseconds that a kernel may take before it returns to Python
LARGEST_BATCH = 256
LARGEST_BATCH_ENTRIES = 2**21  # of recorded regrets, to bound memory

Rng = None | int | np.random.SeedSequence | np.random.Generator


class Interrupted(Exception):
    """Raised in a worker that was told to stop."""


@dataclass(frozen=True)
class Simulation:
    """All that the runs of one simulation have in common."""

    policy: BasePolicy
    bandit: Bandit
    horizon: int
    times: tuple[int, ...]
    entropy: tuple[int, ...]
    spawn_key: tuple[int, ...]

    @property
    def game(self) -> Game:
        bandit = self.bandit
        return Game(bandit.n_arms, self.horizon, bandit.family, bandit.support)

    def states(self, first: int, last: int) -> np.ndarray:
        """The generator's state for runs first, ..., last - 1."""
        blocks = range(first // RUNS_PER_BLOCK, (last - 1) // RUNS_PER_BLOCK + 1)
        rows = np.concatenate([seed_block(self.entropy, self.spawn_key, block) for block in blocks])
        start = blocks[0] * RUNS_PER_BLOCK
        return rows[first - start : last - start]


@dataclass(frozen=True)
class Played:
    """What a batch of runs returns."""

    regret: np.ndarray  # runs x times
    commit_time: np.ndarray
    committed_arm: np.ndarray
    pulls: np.ndarray


def play(simulation: Simulation, first: int, last: int, stop: threading.Event | None = None) -> Played:
    """Play runs first, ..., last - 1."""
    rules = simulation.policy._start(simulation.game)
    bandit = simulation.bandit
    batch = Batch(
        rules.explore,
        rules.stop,
        rules.commit,
        rules.initial_pulls,
        bandit._core(),
        bandit.means,
        simulation.times,
        simulation.states(first, last),
    )
    while batch.advance(PIECE):
        if stop is not None and stop.is_set():
            raise Interrupted
    return Played(batch.regret, batch.commit_time, batch.committed_arm, batch.pulls)


class Merger:
    """Batches, in the order of their runs, into the arrays of a Result."""

    def __init__(self, times: int, keep_curves: bool) -> None:
        self.count = 0
        self.mean = np.zeros(times)
        self.squares = np.zeros(times)
        self.batches: list[Played] = []
        self.keep_curves = keep_curves

    def add(self, played: Played) -> None:
        self.count = accumulate(self.count, self.mean, self.squares, played.regret)
        kept = played.regret if self.keep_curves else played.regret[:, -1:].copy()
        self.batches.append(replace(played, regret=kept))

    def result(self, simulation: Simulation, meta: dict[str, Any]) -> Result:
        def joined(name: str) -> np.ndarray:
            return np.concatenate([getattr(batch, name) for batch in self.batches])

        with np.errstate(invalid="ignore"):
            sem = np.sqrt(self.squares / np.float64(self.count - 1) / self.count)
        regret = joined("regret")
        return Result(
            times=np.array(simulation.times),
            regret=self.mean,
            regret_sem=sem,
            final_regret=regret[:, -1],
            commit_time=joined("commit_time"),
            committed_arm=joined("committed_arm"),
            pulls=joined("pulls"),
            curves=regret if self.keep_curves else None,
            label=simulation.policy.label(),
            gaps=np.array(simulation.bandit.gaps),
            meta=meta,
        )


def simulate(
    policy: BasePolicy,
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
        One of `robai.policies`.
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
        "auto" takes the faster one that applies.
    workers : int or None
        The number of threads; all cores if None.
    executor : concurrent.futures.Executor or None
        Where to run batches instead of own threads: a process pool, Dask's (`pure=False`), MPI's.
    checkpoint : path or None
        A directory that finished batches are kept in; a simulation that was interrupted goes on
        from there when it is called again with the same arguments.
    progress : bool or callable
        True shows a bar (tqdm if installed); a callable is called with runs done and runs in all.
    curves : bool
        Keep the regret of every run at `times`, for quantile bands.

    Returns
    -------
    Result

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Gaussian([0.7, 0.2])
    >>> result = robai.simulate(robai.EOCP(gap=0.5), bandit, horizon=10**6, runs=1000, rng=0)
    >>> set(result.commit_time.tolist())
    {1124}
    """
    seed, fresh = _seed(rng)
    simulation = _simulation(policy, bandit, horizon, times, seed)
    runs = _checks.whole("runs", runs, 1, 2**53)
    engine = _engine(engine, simulation)
    workers = _workers(workers)
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must be a concurrent.futures.Executor, got {executor!r}")
    store = None
    if checkpoint is not None:
        store = Checkpoint(checkpoint, simulation, engine, fresh)
        simulation = replace(simulation, entropy=store.entropy, spawn_key=store.spawn_key)

    started = time.perf_counter()
    merger = Merger(len(simulation.times), bool(curves))
    size = BATCH if store is not None else _batch_size(runs, len(simulation.times), workers)
    spans = ((first, min(first + size, runs)) for first in range(0, runs, size))
    with Progress(progress, runs, simulation.policy.label()) as bar:
        for played in _in_order(simulation, spans, workers, executor, store):
            merger.add(played)
            bar.update(merger.count)
    meta = {
        "policy": repr(policy),
        "bandit": repr(bandit),
        "horizon": simulation.horizon,
        "runs": runs,
        "entropy": [str(word) for word in simulation.entropy],
        "spawn_key": list(simulation.spawn_key),
        "engine": engine,
        "robai": robai.__version__,
        "numpy": np.__version__,
        "seconds": time.perf_counter() - started,
    }
    return merger.result(simulation, meta)


def compare(
    policies: Iterable[BasePolicy] | Mapping[str, BasePolicy],
    bandit: Bandit,
    horizon: int,
    runs: int,
    **options: Any,
) -> Comparison:
    """Play several policies on the same bandit.

    Parameters
    ----------
    policies : sequence of policies, or mapping from labels to policies
    bandit, horizon, runs, **options
        As for `simulate`. Every policy gets the same seed, so each result is what `simulate`
        alone would return for it.

    Returns
    -------
    Comparison
        A mapping from labels to results.
    """
    if isinstance(policies, BasePolicy):
        raise TypeError(f"policies must be a sequence of policies, got {policies!r}")
    named = policies if isinstance(policies, Mapping) else _labelled(policies)
    if not named:
        raise ValueError("policies must hold at least one policy, got none")
    (entropy, spawn_key), _ = _seed(options.pop("rng", None))
    checkpoint = options.pop("checkpoint", None)
    for policy in named.values():
        _simulation(policy, bandit, horizon, options.get("times", 200), (entropy, spawn_key))
    results = {}
    for place, (label, policy) in enumerate(named.items()):
        results[label] = replace(
            simulate(
                policy,
                bandit,
                horizon,
                runs,
                rng=np.random.SeedSequence(entropy, spawn_key=spawn_key),
                checkpoint=None if checkpoint is None else os.path.join(checkpoint, f"policy-{place}"),
                **options,
            ),
            label=label,
        )
    return Comparison(results)


def _labelled(policies: Iterable[BasePolicy]) -> dict[str, BasePolicy]:
    named: dict[str, BasePolicy] = {}
    for policy in policies:
        if not isinstance(policy, BasePolicy):
            raise TypeError(f"policies must hold policies only, got {policy!r}")
        if policy.label() in named:
            raise ValueError(f"policies holds {policy.label()} twice; pass a mapping to label them")
        named[policy.label()] = policy
    return named


def _simulation(policy: Any, bandit: Any, horizon: Any, times: Any, seed: tuple) -> Simulation:
    """Everything checked before any work starts."""
    if not isinstance(policy, BasePolicy):
        hint = "; call it to make one" if isinstance(policy, type) and issubclass(policy, BasePolicy) else ""
        raise TypeError(f"policy must be a policy of robai.policies, got {policy!r}{hint}")
    if not isinstance(bandit, Bandit):
        raise TypeError(f"bandit must be a bandit of robai.bandits, got {bandit!r}")
    horizon = _checks.whole("horizon", horizon, 1, LONGEST_HORIZON)
    if horizon < bandit.n_arms:
        raise ValueError(f"horizon must be at least the number of arms, {bandit.n_arms}, got {horizon}")
    simulation = Simulation(policy, bandit, horizon, _times(times, horizon), *seed)
    policy._start(simulation.game)  # a policy that does not fit the bandit says so
    if len(bandit.best_arms) > 1:
        warnings.warn(
            f"arms {', '.join(map(str, bandit.best_arms))} are all best: regret is defined, "
            "a wrong commitment is not",
            stacklevel=3,
        )
    return simulation


def _times(times: Any, horizon: int) -> tuple[int, ...]:
    """Increasing rounds that end at the horizon."""
    if np.ndim(times) == 0:
        count = _checks.whole("times", times, 1, 10**6)
        if count == 1:
            return (horizon,)
        # From 1 on; in Python integers, because 10**18 is not exact in floating point.
        grid = np.unique(np.rint(np.geomspace(1, horizon, count)).astype(np.int64))
        rounds = [min(int(each), horizon) for each in grid]
    else:
        rounds = [_checks.whole("times", each, 1, horizon) for each in times]
        if not rounds:
            raise ValueError("times must hold at least one round, got none")
        if any(later <= earlier for earlier, later in itertools.pairwise(rounds)):
            raise ValueError(f"times must be increasing, got {times!r}")
    return tuple(rounds) if rounds[-1] == horizon else (*rounds, horizon)


def _seed(rng: Any) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], bool]:
    """Entropy and spawn key of a seed, and whether they are fresh from the system."""
    if isinstance(rng, np.random.Generator):
        return (tuple(int(word) for word in rng.integers(0, 2**32, size=8)), ()), False
    if isinstance(rng, np.random.SeedSequence):
        sequence = rng
    else:
        sequence = np.random.SeedSequence(None if rng is None else _checks.whole("rng", rng, 0, 2**128 - 1))
    entropy = sequence.entropy
    words = (entropy,) if isinstance(entropy, int | np.integer) else tuple(entropy)
    return (tuple(map(int, words)), tuple(map(int, sequence.spawn_key))), rng is None


def _engine(engine: Any, simulation: Simulation) -> str:
    if _checks.one_of("engine", engine, ENGINES) == "leap":
        raise NotImplementedError("engine='leap' is not there yet; 'auto' and 'step' play every round")
    return "step"


def _workers(workers: Any) -> int:
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _checks.whole("workers", workers, 1, 4096)


def _batch_size(runs: int, times: int, workers: int) -> int:
    """Small enough to share the runs out, large enough for the overhead of a batch not to matter."""
    return max(1, min(LARGEST_BATCH, runs // (8 * workers), LARGEST_BATCH_ENTRIES // times))


def _in_order(
    simulation: Simulation,
    spans: Iterator[tuple[int, int]],
    workers: int,
    executor: Executor | None,
    store: Checkpoint | None,
) -> Iterator[Played]:
    """Batches in the order of their runs, played by several workers at once.

    A bounded number is under way. Whatever ends the loop, an error, Ctrl-C or a caller that
    loses interest, stops the workers.
    """
    stop = threading.Event()
    pool = executor or ThreadPoolExecutor(workers, thread_name_prefix="robai")
    pending: deque[tuple[tuple[int, int], Future]] = deque()

    def submit(span: tuple[int, int]) -> Future:
        known = store.load(span) if store is not None else None
        if known is not None:
            future: Future = Future()
            future.set_result(known)
            return future
        return pool.submit(play, simulation, *span, *(() if executor else (stop,)))

    try:
        for span in spans:
            pending.append((span, submit(span)))
            if len(pending) >= 4 * workers:
                yield _finish(*pending.popleft(), store)
        while pending:
            yield _finish(*pending.popleft(), store)
    finally:
        stop.set()
        for _, future in pending:
            future.cancel()
        if executor is None:
            pool.shutdown(wait=True, cancel_futures=True)


def _finish(span: tuple[int, int], future: Future, store: Checkpoint | None) -> Played:
    played = future.result()
    if store is not None:
        store.save(span, played)
    return played
