"""A directory of finished batches, from which an interrupted simulation goes on.

`manifest.json` says which simulation the directory is for: another one is refused. Each batch is one
file, written atomically, and says for itself what it is a part of, down to the versions of robai and of the
NumPy in its core, which may draw differently. What is damaged or of another simulation is played again; where
all runs are in one file, that of their sums, it is an error.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from robai._base.files import Declared, load_arrays, save_arrays, write_atomically
from robai._base.json import parse
from robai._play.arrivals import AT_ONCE
from robai._play.batches import Merger
from robai._play.request import Played, Simulation
from robai._play.seeds import Seed
from robai.result import Result, Summary
from robai.result.totals import Totals

FORMAT = "robai.checkpoint"
SCHEMA = 3
SUMS = "sums of runs"  # label of the file that they are in
BATCH = 64  # runs in a file: fixed, so that a longer simulation finds the batches of a shorter one


class Checkpoint:
    """The finished batches of a simulation, whose seed gives way to that of the manifest if it is fresh.

    `path` is the directory; it is made if it does not exist.
    """

    def __init__(self, path: Path, simulation: Simulation) -> None:
        self._path = path
        if path.exists() and not path.is_dir():
            raise ValueError(f"checkpoint must be a directory, got {os.fspath(path)!r}")
        path.mkdir(parents=True, exist_ok=True)
        manifest = path / "manifest.json"
        if not manifest.exists():
            write_atomically(manifest, json.dumps(_request(simulation), indent=1).encode(), replace=False)
        # Read even if it was written just now: of two processes that begin at once, one was first.
        try:
            # Which only those have that were asked for them.
            found = dict.fromkeys(("common", *vars(AT_ONCE))) | parse(manifest.read_bytes())
            if simulation.seed.fresh:
                simulation = simulation.with_seed(_seed(found))
            wanted = _request(simulation)
            other = next((name for name in wanted | found if found[name] != wanted.get(name)), None)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{manifest} is damaged: {error!r}") from error
        if other is not None:
            raise ValueError(
                f"checkpoint {os.fspath(path)!r} is of another simulation: its {other} is "
                f"{found[other]!r}, not {wanted.get(other)!r}"
            )
        self.simulation = simulation
        self._own = {
            "robai": wanted["robai"],
            "numpy": wanted["numpy"],
            "request": hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest(),
        }

    def load(self, span: tuple[int, int]) -> Played | None:
        """A finished batch, or None if it has to be played (again)."""
        simulation, runs = self.simulation, span[1] - span[0]
        whole = (np.dtype(np.int64), (runs,))
        expected = {
            "regret": (np.dtype(np.float64), (runs, len(simulation.times))),
            "commit_time": whole,
            "committed_arm": whole,
            "pulls": (np.dtype(np.int64), (runs, simulation.bandit.n_arms)),
            **({} if simulation.arrivals is None else {"answers": whole}),
        }

        def check(header: dict[str, Any], declared: Declared) -> None:
            if header != self._header(span) or declared != expected:
                raise ValueError("it is not the batch that is looked for")

        try:
            played = Played(**load_arrays(self._file(span), check)[1])
            merger = Merger(simulation.part(*span), runs, keep_curves=True)
            merger.add(played)
            Result(**merger.arrays(), label="of one batch")  # which checks the numbers
        except (FileNotFoundError, ValueError):
            return None
        return played

    def save(self, span: tuple[int, int], played: Played) -> None:
        save_arrays(self._file(span), self._header(span), played.arrays())

    def load_sums(self, runs: range) -> Totals | None:
        """Of the first of these runs, as many as are known, or None.

        A file that cannot be used is an error: it may hold all that was ever played.
        """
        file = self._sums(runs.start)
        try:
            known = Summary.load(file)
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise ValueError(f"{file} is damaged: remove it to play its runs again; {error}") from error
        if known.meta != self._header((runs.start, runs.start + known.runs)) or known.label != SUMS:
            raise ValueError(f"{file} has sums of another simulation: remove it to play these runs")
        if known.runs > len(runs):
            raise ValueError(
                f"runs must be at least the {known.runs:,} of which checkpoint {os.fspath(self._path)!r} has "
                f"the sums, from which none can be taken out again, got {len(runs):,}"
            )
        return known._totals

    def save_sums(self, first: int, arrays: dict[str, Any]) -> None:
        header = self._header((first, first + arrays["count"]))
        Summary(**arrays, label=SUMS, meta=header).save(self._sums(first))

    def _sums(self, first: int) -> Path:
        return self._path / f"sums-{first}.npz"

    def _file(self, span: tuple[int, int]) -> Path:
        return self._path / f"runs-{span[0]}-{span[1]}.npz"

    def _header(self, span: tuple[int, int]) -> dict[str, Any]:
        return {"first": span[0], "last": span[1], **self._own}


def _request(simulation: Simulation) -> dict[str, Any]:
    """Which simulation it is, and when its regret is recorded."""
    return {"format": FORMAT, "schema": SCHEMA, **simulation.to_dict(), "times": list(simulation.times)}


def _seed(request: dict[str, Any]) -> Seed:
    entropy, spawn_key = (tuple(map(int, request[name])) for name in ("entropy", "spawn_key"))
    np.random.SeedSequence(entropy, spawn_key=spawn_key)  # a ValueError for negative ones
    return Seed(entropy, spawn_key)
