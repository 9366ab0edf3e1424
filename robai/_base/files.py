"""Files that are complete or absent, and archives of arrays that cannot run code when they are read."""

import contextlib
import errno
import io
import json
import math
import os
import secrets
import stat
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from robai._base.json import parse

_HEADER = "header"  # the archive's member that says, as JSON, what the others mean
_LARGEST_HEADER = 2**26  # bytes: every reader takes them on trust
_MOST_DEFLATED = 1032  # bytes that a byte of a deflated member can become
_PIECE = 2**20  # bytes to compress at a time, some 30 ms
_PATIENCE = 1.0  # seconds, with those who read a file that is to be replaced

Declared = dict[str, tuple[np.dtype, tuple[int, ...]]]  # type and shape of arrays that are not read yet


def check_writable(path: str | os.PathLike[str]) -> None:
    """An OSError that says what is in the way, if `write_atomically` could not write to `path`."""
    with _temporary(_replaceable(path)):
        pass


def _replaceable(path: str | os.PathLike[str]) -> Path:
    """The real path, if nothing is there or a regular file: /dev/null would never be itself again."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such directory to write into", str(target.parent))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "cannot write a file where a directory is", str(target))
    if os.path.lexists(target) and not target.is_file():
        raise FileExistsError(errno.EEXIST, "cannot replace what is not a regular file", str(target))
    return target


def write_atomically(path: str | os.PathLike[str], data: bytes, *, replace: bool = True) -> None:
    """Write `data` to `path` so that a crash at any moment leaves the old content or the new, never a part.

    The data goes to a temporary file in the same directory (a rename is atomic only within one file system),
    is forced to the disk, and then takes the place of `path`. A symbolic link is followed, and an existing
    file keeps its permissions. Without `replace` it also keeps its content, wherever the file system has
    links: one cannot take the place of another file.
    """
    target = _replaceable(path)
    with _temporary(target) as temporary:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        if replace or not _linked(temporary, target):
            _take_place(temporary, target)
    sync_directory(target.parent)


def _take_place(file: Path, target: Path) -> None:
    """`os.replace`, which Windows refuses while anybody has the target open: who reads it is done soon."""
    until = time.monotonic() + (_PATIENCE if sys.platform == "win32" else 0.0)
    while True:
        try:
            os.replace(file, target)
        except PermissionError:
            if time.monotonic() >= until:
                raise
            time.sleep(_PATIENCE / 100)
        else:
            return


def _linked(file: Path, target: Path) -> bool:
    """Make `file` known as `target` too, unless there is one; False where there are no links."""
    try:
        os.link(file, target)
    except FileExistsError:
        pass
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """A new empty file beside `target`, which is gone at the end, however that comes about."""
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.tmp")
    try:
        open(temporary, "xb").close()
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def sync_directory(directory: Path) -> None:
    """Make a rename durable, where directories can be opened (not on Windows); it is atomic without."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def save_arrays(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write `arrays` and a JSON header to one compressed .npz file at exactly `path`."""
    text = np.array(json.dumps(header, allow_nan=False))
    if text.nbytes > _LARGEST_HEADER:
        raise ValueError(
            f"{os.fspath(path)}: the description must have at most {_LARGEST_HEADER // 4:,} characters, "
            f"got {text.nbytes // 4:,}"
        )
    buffer = io.BytesIO()
    archive = zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED)
    try:
        for name, array in ({_HEADER: text} | arrays).items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(_InPieces(member), array, version=(1, 0), allow_pickle=False)
        archive.close()
    except BaseException:
        archive.fp = None  # given up: it would refuse to be closed in the middle of a member
        raise
    write_atomically(path, buffer.getvalue())


class _InPieces:
    """A file that is written a piece at a time: Ctrl-C waits for the end of a call."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, data: bytes) -> None:
        for start in range(0, len(data), _PIECE):
            self._file.write(data[start : start + _PIECE])


def load_arrays(
    path: str | os.PathLike[str], check: Callable[[dict[str, Any], Declared], None] = lambda *_: None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `save_arrays` wrote.

    `check` is shown the header and what the arrays declare to be, and raises a ValueError or a TypeError if
    that is not wanted: no array is expanded before. All errors are ValueErrors that name the path.
    """
    data = Path(path).read_bytes()
    with _blamed_on(path):
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if len(members) < len(archive.infolist()):
            raise ValueError("two members have the same name")
        declared = {name: _declared(archive, info) for name, info in members.items()}
        dtype, shape = declared.pop(_HEADER)
        if dtype.kind != "U" or shape != () or dtype.itemsize > _LARGEST_HEADER:
            raise ValueError(f"the header must be a short text, got {dtype} of shape {shape}")
        header = parse(str(_expanded(archive, members.pop(_HEADER))))
        if not isinstance(header, dict):
            raise ValueError("the header is not a JSON object")
    try:
        check(header, declared)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error
    with _blamed_on(path):
        return header, {name: _expanded(archive, info) for name, info in members.items()}


@contextlib.contextmanager
def _blamed_on(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except MemoryError:  # it is as large as it says
        raise
    except Exception as error:  # damaged bytes make zipfile, zlib and NumPy raise a dozen types of exception
        raise ValueError(f"{os.fspath(path)} is damaged or was not written by robai: {error!r}") from error


def _declared(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[np.dtype, tuple[int, ...]]:
    """Type and shape of a member, after its first few bytes; it is as large as they say."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{info.filename} is compressed in another way")
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        if version != (1, 0):
            raise ValueError(f"{info.filename} has version {version} of NumPy's format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(member)
        size = member.tell() + math.prod(shape) * dtype.itemsize
    if size != info.file_size or size > _MOST_DEFLATED * info.compress_size:
        raise ValueError(f"{info.filename} does not have the size that it declares")
    return dtype, shape


def _expanded(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    # Which compares the checksum at the end, and that is where this reads to.
    with archive.open(info) as member:
        return np.lib.format.read_array(member, allow_pickle=False)
