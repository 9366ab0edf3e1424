"""A directory of finished batches, from which an interrupted simulation goes on.

`manifest.json` says which simulation the batches belong to; each batch is one file, written
atomically. A damaged batch is played again; a manifest of another simulation is an error.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING

from robai._base.files import load_arrays, save_arrays, write_atomically

if TYPE_CHECKING:
    from robai._play.batches import Played, Simulation

FORMAT = "robai.checkpoint"
SCHEMA = 1
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
        self.entropy, self.spawn_key = simulation.entropy, simulation.spawn_key
        self._times, self._arms = len(simulation.times), simulation.bandit.n_arms
        wanted = {
            "format": FORMAT,
            "schema": SCHEMA,
            "policy": repr(simulation.policy),
            "bandit": repr(simulation.bandit),
            "rewards": hashlib.sha256(repr(astuple(simulation.bandit)).encode()).hexdigest(),
            "horizon": simulation.horizon,
            "times": list(simulation.times),
            "engine": simulation.engine,
        }
        seed = {"entropy": list(map(str, self.entropy)), "spawn_key": list(self.spawn_key)}
        manifest = self._path / "manifest.json"
        if not manifest.exists():
            write_atomically(manifest, json.dumps(wanted | seed, indent=1).encode())
            return
        try:
            found = json.loads(manifest.read_bytes())
            known = {name: found[name] for name in (*wanted, *seed)}
            entropy = tuple(int(word) for word in known["entropy"])
            spawn_key = tuple(int(word) for word in known["spawn_key"])
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{manifest} is damaged: {error!r}") from error
        if fresh:
            self.entropy, self.spawn_key = entropy, spawn_key
        else:
            wanted |= seed
        for name, value in wanted.items():
            if known[name] != value:
                raise ValueError(
                    f"checkpoint {os.fspath(path)!r} is of another simulation: its {name} is "
                    f"{known[name]!r}, not {value!r}"
                )

    def load(self, span: tuple[int, int]) -> Played | None:
        """A finished batch, or None if it has to be played (again)."""
        from robai._play.batches import Played

        try:
            header, arrays = load_arrays(self._file(span))
            played = Played(**arrays)
        except (FileNotFoundError, ValueError, TypeError):
            return None
        return played if header == self._header(span) and self._fits(played, span) else None

    def _fits(self, played: Played, span: tuple[int, int]) -> bool:
        runs = span[1] - span[0]
        shapes = {"regret": (runs, self._times), "pulls": (runs, self._arms)}
        return all(
            array.shape == shapes.get(name, (runs,)) and array.dtype == ("f8" if name == "regret" else "i8")
            for name, array in vars(played).items()
        )

    def save(self, span: tuple[int, int], played: Played) -> None:
        save_arrays(self._file(span), self._header(span), vars(played))

    def _file(self, span: tuple[int, int]) -> Path:
        return self._path / f"runs-{span[0]}-{span[1]}.npz"

    def _header(self, span: tuple[int, int]) -> dict:
        return {"first": span[0], "last": span[1], "entropy": list(map(str, self.entropy))}
