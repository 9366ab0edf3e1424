"""Simulations of a reproduction, kept until its report is written: after a crash it goes on from them.

Each is a file of its own, written atomically. Its name is made of all that its numbers depend on, down to the
versions of robai and of the NumPy in its core, so that runs of other settings are never mixed up.
"""

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Self

from robai._base.version import VERSION
from robai._core.rng import NUMPY
from robai.paper.experiments import Experiment


class Kept:
    """Files in a directory, which is made when the first is saved; nothing is kept if it is None."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory
        self._own: set[Path] = set()

    @classmethod
    def beside(cls, report: str | os.PathLike[str]) -> Self:
        """Those of a report, in a directory beside its own."""
        target = Path(os.path.realpath(report))
        return cls(target.with_name(f"{target.name}.unfinished"))

    def count(self) -> int:
        """How many there are of this reproduction."""
        return sum(path.exists() for path in self._own)

    def path(self, experiment: Experiment, label: str, horizon: int, runs: int, entropy: int) -> Path | None:
        """Where a simulation is, or will be."""
        if self.directory is None:
            return None
        made = experiment.request(label, horizon) | {
            "runs": runs,
            "entropy": str(entropy),
            "robai": VERSION,
            "numpy": NUMPY,
        }
        digest = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()
        path = self.directory / f"{digest[:32]}.npz"
        self._own.add(path)
        return path

    def load(self, experiment: Experiment, path: Path | None) -> Any:
        """What was played, or None if it has to be (again): it is not there, or damaged."""
        try:
            return None if path is None else experiment.load(path)
        except (FileNotFoundError, ValueError):
            return None

    def save(self, path: Path | None, result: Any) -> None:
        if path is not None:
            path.parent.mkdir(exist_ok=True)
            result.save(path)

    def clear(self) -> None:
        """Remove what was kept for this reproduction, or left by a killed process, and nothing else."""
        if self.directory is None:
            return
        for path in self._own:
            for each in (path, *self.directory.glob(f".{path.name[:40]}.*.tmp")):
                each.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # others' files are in it, or it was never made
            self.directory.rmdir()
