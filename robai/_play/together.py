"""The simulations of one call, one after the other."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from robai._base.progress import Progress
from robai._play.assumptions import told, warn_of_assumptions
from robai._play.batches import Adder, Merger, batch_size, begin, chunk_size, in_order, shares
from robai._play.checkpoint import BATCH, Checkpoint
from robai._play.request import Options, Simulation
from robai.custom import as_policy
from robai.instances import Instances
from robai.policies.base import BasePolicy

SECONDS = 2.0  # between two states of sums that a checkpoint keeps


@dataclass(frozen=True)
class Finished:
    """The arrays of a Result or a Summary, and how they came about, as JSON values."""

    arrays: dict[str, Any]
    meta: dict[str, Any]
    small: bool  # all of it was played at once


def labelled(policies: Any) -> dict[str, BasePolicy]:
    """Policies by their labels, or by those that they are given."""
    if isinstance(policies, BasePolicy | str) or not isinstance(policies, Iterable):
        raise TypeError(f"policies must be a sequence of policies, got {policies!r}")
    if isinstance(policies, Mapping):
        for label in policies:
            if not isinstance(label, str) or not label:
                raise ValueError(f"policies must be labelled by non-empty strings, got {label!r}")
        named = {label: as_policy(policy) for label, policy in policies.items()}
    else:
        named = {}
        for policy in map(as_policy, policies):
            if policy.label() in named:
                raise ValueError(f"policies holds {policy.label()} twice; pass a mapping to label them")
            named[policy.label()] = policy
    if not named:
        raise ValueError("policies must hold at least one policy, got none")
    return named


def play_all(
    simulations: list[Simulation], options: Options, folders: list[str], names: list[str] | None = None
) -> list[Finished]:
    """What each simulation comes to; its checkpoint has a folder of its own.

    `names` are those of the policies, in warnings and on progress bars, if not their labels. Warnings are
    addressed to who called the caller's caller.
    """
    names = [simulation.policy.label() for simulation in simulations] if names is None else names
    options.check(simulations)
    drawn: dict[int, Simulation] = {}  # instances are drawn once a bandit
    for place, simulation in enumerate(simulations):
        first = drawn.get(id(simulation.bandit))
        if options.keep == "runs":
            simulations[place] = simulation.drawn(options.runs, first)
        drawn.setdefault(id(simulation.bandit), simulations[place])
    warn_of_assumptions(
        [(name, each.policy, each.game, each.bandit) for name, each in zip(names, simulations, strict=True)],
        stacklevel=4,
    )
    stores: list[Checkpoint | None] = [None] * len(simulations)
    if options.checkpoint is not None:
        seed = simulations[0].seed
        for place, (simulation, folder) in enumerate(zip(simulations, folders, strict=True)):
            # A fresh seed gives way to that of the first checkpoint, for all of them.
            store = Checkpoint(options.checkpoint / folder, simulation.with_seed(seed))
            stores[place], seed = store, store.simulation.seed
    how = _play if options.keep == "runs" else _sum
    return [
        how(name, each, store, options) for name, each, store in zip(names, simulations, stores, strict=True)
    ]


def _sum(name: str, simulation: Simulation, store: Checkpoint | None, options: Options) -> Finished:
    """What is kept of the runs is sums, of `keep="summary"`."""
    started, runs = time.perf_counter(), options.runs
    if store is not None:
        simulation = store.simulation
    adder = Adder(simulation, None if store is None else store.load_sums(runs))
    size = chunk_size(len(runs), simulation.bandit.n_arms, options.workers)
    with Progress(options.progress, len(runs), name) as bar:
        bar.update(adder.count)
        spans = shares(runs[adder.count :], size, options.workers)
        saved = time.perf_counter()
        for played in in_order(simulation, spans, options.workers, options.executor, sums=True):
            adder.add(played)
            if store is not None and (adder.count == len(runs) or time.perf_counter() > saved + SECONDS):
                store.save_sums(runs.start, adder.arrays())
                saved = time.perf_counter()
            bar.update(adder.count)
    return Finished(adder.arrays(), _meta(simulation, options, started), False)


def _meta(simulation: Simulation, options: Options, started: float) -> dict[str, Any]:
    runs = options.runs
    meta = {**simulation.to_dict(), "runs": len(runs), "seconds": time.perf_counter() - started}
    if runs.start:
        meta["first_run"] = runs.start
    if isinstance(simulation.bandit, Instances):
        meta |= told(simulation.policy)
    return meta


def _play(name: str, simulation: Simulation, store: Checkpoint | None, options: Options) -> Finished:
    started = time.perf_counter()
    if store is not None:
        simulation = store.simulation
    runs, entries = options.runs, max(len(simulation.times), simulation.bandit.n_arms)
    size = batch_size(len(runs), entries, options.workers, None if store is None else BATCH)
    merger = Merger(simulation, len(runs), options.curves)
    with Progress(options.progress, len(runs), name) as bar:
        begun = begin(simulation, runs) if store is None and options.executor is None else None
        small = begun is not None and begun.finished and begun.count == len(runs)
        left = runs if begun is None else runs[begun.count :]
        spans = shares(left, size, options.workers, even=store is not None)
        for played in in_order(simulation, spans, options.workers, options.executor, store, begun):
            merger.add(played)
            bar.update(merger.count)
    return Finished(merger.arrays(), _meta(simulation, options, started), small)
