"""A directory that is replaced as a whole, and never at the cost of files that are not its own.

Work goes on beside it, in a directory with a random name, `.NAME.TOKEN.robai`, which has

    lock    held by the process at work, and the name of what it will replace
    new     what is being written
    old     what was there, where the system cannot exchange two directories at once

A process that is killed leaves it behind. The next one that writes to the same place can tell by the lock
that nobody is at work there: it puts back what was moved away, and removes the rest.
"""

import contextlib
import ctypes
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from robai._base.files import sync_directory
from robai._base.json import parse
from robai._base.locks import lock

MANIFEST = "report.json"  # lists the files of the directory under "files"
_LOCK, _NEW, _OLD = "lock", "new", "old"


def check_replaceable(path: str | os.PathLike[str]) -> Path:
    """The real path, if nothing is there or only what a manifest lists; else an error that says what is."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent} is not a directory to write into")
    if not target.exists():
        return target
    if not target.is_dir():
        raise NotADirectoryError(f"{target} is a file, not a directory")
    listed = {MANIFEST} | _listed(target / MANIFEST)
    for name in _files(target):
        if name not in listed:
            raise FileExistsError(f"{target} has files that are not of a report, such as {name}")
    if os.path.ismount(target):
        raise OSError(f"{target} is a mount point and cannot be replaced: name a directory in it")
    if not os.access(target, os.W_OK | os.X_OK):
        raise PermissionError(f"{target} may not be changed, so that it cannot be replaced")
    return target


def _listed(manifest: Path) -> set[str]:
    try:
        return set(parse(manifest.read_text())["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _files(directory: Path) -> Iterator[str]:
    """Everything in it that is not a directory, a link to one included, by its path from there."""
    for folder, folders, names in os.walk(directory):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in sorted(names + links):
            yield Path(folder, name).relative_to(directory).as_posix()


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """An empty directory to write into, which takes the place of `path` at the end, unless anything fails.

    It is made beside `path`, because a rename is atomic only within one file system, and before anything is
    worked out, so that it is known whether it can be. What is written should end with the manifest, without
    which the directory will not be replaced again.
    """
    target = Path(os.path.realpath(path))
    _clean_up(target)
    check_replaceable(target)
    work = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.robai")
    work.mkdir()
    try:
        with open(work / _LOCK, "xb") as file:
            _hold(file.fileno())
            file.write(_claim(target))
            file.flush()
            (work / _NEW).mkdir()
            yield work / _NEW
            _sync(work / _NEW)
            _install(work, target)
    finally:
        _dissolve(work, target)
    sync_directory(target.parent)


def _claim(target: Path) -> bytes:
    return b"robai is writing " + os.fsencode(target.name) + b"\n"


def _hold(descriptor: int) -> None:
    try:
        lock(descriptor)
    except BlockingIOError:  # somebody took it for a leftover in the instant since it was made
        raise
    except OSError:  # no locks on this file system: then nobody can take it for a leftover
        pass


def _sync(directory: Path) -> None:
    """Force to the disk what is in it, before it takes its place."""
    for folder, _, names in os.walk(directory):
        for name in names:
            with open(Path(folder, name), "rb+") as file:
                os.fsync(file.fileno())
        sync_directory(Path(folder))


def _install(work: Path, target: Path) -> None:
    """Put the new directory in the target's place; the old one, if any, is in `work` afterwards."""
    if target.exists():
        check_replaceable(target)  # again: minutes have passed
        if _exchange(work / _NEW, target):
            try:
                check_replaceable(work / _NEW)  # once more, now that nobody can find it to put a file into it
            except BaseException:
                _exchange(work / _NEW, target)
                raise
            return
        target.rename(work / _OLD)
    (work / _NEW).rename(target)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two directories at once; False where the system, or the file system, cannot."""
    if sys.platform == "win32":
        return False
    swap, here = 2, -100  # RENAME_EXCHANGE, which macOS calls RENAME_SWAP; AT_FDCWD
    first, second = os.fsencode(one), os.fsencode(other)
    with contextlib.suppress(AttributeError):  # no such function
        return bool(ctypes.CDLL(None).renameat2(here, first, here, second, swap) == 0)
    with contextlib.suppress(AttributeError):
        return bool(ctypes.CDLL(None).renamex_np(first, second, swap) == 0)
    return False


def _dissolve(work: Path, target: Path) -> None:
    """Put the old directory back if only the first of two renames was made; remove everything else.

    The lock goes last, because it says what the rest is.
    """
    new, old = work / _NEW, work / _OLD
    if new.exists() and old.exists():
        if target.exists():  # somebody made it in between: nothing is removed that was not replaced
            return
        old.rename(target)
    with contextlib.suppress(OSError):  # whatever is left is removed next time
        for each in (new, old):
            if each.exists():
                shutil.rmtree(each)
        (work / _LOCK).unlink(missing_ok=True)
        work.rmdir()


def _clean_up(target: Path) -> None:
    """Dissolve what killed processes left behind, and nothing that could be anything else."""
    ours = re.compile(rf"\.{re.escape(target.name[:40])}\.[0-9a-f]{{16}}\.robai")
    with contextlib.suppress(OSError):
        for name in filter(ours.fullmatch, os.listdir(target.parent)):
            _clean_up_one(target.with_name(name), target)


def _clean_up_one(work: Path, target: Path) -> None:
    with contextlib.suppress(OSError):  # it is in use, or another's
        found = set(os.listdir(work))
        if work.is_symlink() or not found <= {_LOCK, _NEW, _OLD}:
            return
        if not found:  # killed before it had a lock
            work.rmdir()
            return
        with open(work / _LOCK, "rb+") as file:
            lock(file.fileno())
            if not _claim(target).startswith(file.read()):
                return
            _dissolve(work, target)
        if sys.platform == "win32":  # where an open file, the lock, cannot be removed
            _dissolve(work, target)
