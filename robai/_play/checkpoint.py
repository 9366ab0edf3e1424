"""A directory of finished batches, from which an interrupted simulation goes on.

`manifest.json` says which simulation the directory is for: another one is refused. Each batch is one
file, written atomically, and says for itself what it is a part of, down to the versions of robai and of the
NumPy in its core, which may draw differently. What is damaged or of another simulation is played again.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from robai._base.files import Declared, load_arrays, save_arrays, write_atomically
from robai._base.json import parse
from robai._base.version import VERSION
from robai._core.rng import NUMPY
from robai._play.batches import Merger
from robai._play.request import Played, Simulation
from robai._play.seeds import Seed
from robai.bandits import Bandit

FORMAT = "robai.checkpoint"
SCHEMA = 2
BATCH = 64  # runs in a file: fixed, so that a longer simulation finds the batches of a shorter one


class Checkpoint:
    """The finished batches of a simulation.

    Parameters
    ----------
    path
        The directory; made if it does not exist.
    simulation
        Whose batches these are.
    fresh
        Whether the seed is fresh from the system: then that of the manifest takes its place.
    """

    def __init__(self, path: str | os.PathLike[str], simulation: Simulation, fresh: bool) -> None:
        self._path = Path(path)
        if self._path.exists() and not self._path.is_dir():
            raise ValueError(f"checkpoint must be a directory, got {os.fspath(path)!r}")
        self._path.mkdir(parents=True, exist_ok=True)
        manifest = self._path / "manifest.json"
        if not manifest.exists():
            _create(manifest, json.dumps(_request(simulation), indent=1).encode())
        # Read even if it was written just now: of two processes that begin at once, one was first.
        try:
            found = parse(manifest.read_bytes())
            if fresh:
                entropy, spawn_key = _seed(found)
                simulation = replace(simulation, entropy=entropy, spawn_key=spawn_key)
            wanted = _request(simulation)
            other = next((name for name in wanted if found[name] != wanted[name]), None)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{manifest} is damaged: {error!r}") from error
        if other is not None:
            raise ValueError(
                f"checkpoint {os.fspath(path)!r} is of another simulation: its {other} is "
                f"{found[other]!r}, not {wanted[other]!r}"
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
        }

        def check(header: dict[str, Any], declared: Declared) -> None:
            if header != self._header(span) or declared != expected:
                raise ValueError("it is not the batch that is looked for")

        try:
            played = Played(**load_arrays(self._file(span), check)[1])
            merger = Merger(simulation, runs, keep_curves=True)
            merger.add(played)
            merger.result("of one batch", {})  # which checks the numbers
        except (FileNotFoundError, ValueError):
            return None
        return played

    def save(self, span: tuple[int, int], played: Played) -> None:
        save_arrays(self._file(span), self._header(span), vars(played))

    def _file(self, span: tuple[int, int]) -> Path:
        return self._path / f"runs-{span[0]}-{span[1]}.npz"

    def _header(self, span: tuple[int, int]) -> dict[str, Any]:
        return {"first": span[0], "last": span[1], **self._own}


def _request(simulation: Simulation) -> dict[str, Any]:
    """All that the numbers of a run depend on, and when they are recorded."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "robai": VERSION,
        "numpy": NUMPY,
        "policy": simulation.policy.to_dict(),
        "bandit": repr(simulation.bandit),
        "rewards": _digest(simulation.bandit),
        "horizon": simulation.horizon,
        "times": list(simulation.times),
        "engine": simulation.engine,
        "entropy": list(map(str, simulation.entropy)),
        "spawn_key": list(simulation.spawn_key),
    }


def _seed(request: dict[str, Any]) -> Seed:
    entropy, spawn_key = (tuple(map(int, request[name])) for name in ("entropy", "spawn_key"))
    np.random.SeedSequence(entropy, spawn_key=spawn_key)  # a ValueError for negative ones
    return entropy, spawn_key


def _digest(bandit: Bandit) -> str:
    """A hash of all the data of a bandit, of which its text may leave out some."""
    return hashlib.sha256(json.dumps(bandit.to_dict()).encode()).hexdigest()


def _create(path: Path, data: bytes) -> None:
    """Write a file, whole and at once, unless somebody else did.

    A link to a finished file cannot take the place of another. Where there are no links a later one may:
    two simulations share the directory then, and keep their own batches apart.
    """
    own = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        write_atomically(own, data)
        try:
            os.link(own, path)
        except FileExistsError:
            pass
        except OSError:
            os.replace(own, path)
    finally:
        own.unlink(missing_ok=True)
