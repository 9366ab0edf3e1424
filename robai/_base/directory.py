"""A directory that is replaced as a whole, and never at the cost of files that are not its own."""

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

MANIFEST = "report.json"  # lists the files of the directory under "files"


def check_replaceable(path: str | os.PathLike[str]) -> Path:
    """The real path, if nothing is there or only what a manifest lists; else an error that says what is."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent} is not a directory to write into")
    if not target.exists():
        return target
    if not target.is_dir():
        raise NotADirectoryError(f"{target} is a file, not a directory")
    found = {str(each.relative_to(target)) for each in target.rglob("*") if not each.is_dir()}
    foreign = sorted(found - _listed(target / MANIFEST) - {MANIFEST})
    if foreign:
        raise FileExistsError(f"{target} has files that are not of a report, such as {foreign[0]}")
    return target


def _listed(manifest: Path) -> set[str]:
    try:
        return set(json.loads(manifest.read_text())["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """An empty directory to write into, which takes the place of `path` at the end, unless anything fails.

    It is made beside `path`, because a rename is atomic only within one file system. What is written should
    end with the manifest, without which the directory will not be replaced again.
    """
    target = check_replaceable(path)
    stem = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}")
    fresh, old = stem.with_suffix(".new"), stem.with_suffix(".old")
    fresh.mkdir()
    try:
        yield fresh
        if target.exists():
            check_replaceable(target)  # again: minutes have passed
            target.rename(old)
        try:
            fresh.rename(target)
        except BaseException:
            if old.exists():
                old.rename(target)
            raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
