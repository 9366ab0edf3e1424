"""Files that are complete or absent, and archives of arrays that cannot run code when they are read."""

import contextlib
import errno
import io
import json
import os
import secrets
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

_HEADER = "header"  # the archive's member that says, as JSON, what the others mean


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


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to `path` so that a crash at any moment leaves the old content or the new, never a part.

    The data goes to a temporary file in the same directory (a rename is atomic only within one file system),
    is forced to the disk, and then takes the place of `path`. A symbolic link is followed, and an existing
    file keeps its permissions.
    """
    target = _replaceable(path)
    with _temporary(target) as temporary:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    sync_directory(target.parent)


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
    buffer = io.BytesIO()
    text = np.array(json.dumps(header, allow_nan=False))
    np.savez_compressed(buffer, **{_HEADER: text}, **arrays)
    write_atomically(path, buffer.getvalue())


def load_arrays(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `save_arrays` wrote. Damaged or foreign files raise a ValueError that names the path."""
    data = Path(path).read_bytes()
    try:
        # NumPy stops reading once it has what a member's own header promises, so it can miss a checksum.
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if damaged := archive.testzip():
                raise ValueError(f"the checksum of {damaged} is wrong")
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(str(arrays.pop(_HEADER)))
        if not isinstance(header, dict):
            raise ValueError("the header is not a JSON object")
    except Exception as error:  # damaged bytes make zipfile, zlib and NumPy raise a dozen types of exception
        raise ValueError(f"{os.fspath(path)} is damaged or was not written by robai: {error!r}") from error
    return header, arrays
