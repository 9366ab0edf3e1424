"""How workers are told to stop."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import weakref
from pathlib import Path

# Set when the main thread has ended and the others are to be waited for. What is registered with
# `atexit` is called only after that, so that a simulation in another thread would have to be waited for.
exiting = threading.Event()
threading._register_atexit(exiting.set)  # type: ignore[attr-defined]


class Interrupted(Exception):
    """Raised in a worker that was told to stop."""


class Token:
    """What Gone watches."""


class Gone:
    """An event that is set when an object is gone: nothing has to be called, which Ctrl-C could prevent."""

    def __init__(self, token: Token) -> None:
        self._token = weakref.ref(token)

    def is_set(self) -> bool:
        return self._token() is None


class StopFile:
    """An event that other processes of the machine can see: a file that is no longer empty.

    Where there is no such file, on another machine, it is never set.
    """

    def __init__(self) -> None:
        self.path = ""
        with contextlib.suppress(OSError):  # nowhere to write: batches come to their end then
            file, self.path = tempfile.mkstemp(prefix=".robai-", suffix=".tmp")
            os.close(file)

    def is_set(self) -> bool:
        try:
            return os.stat(self.path).st_size > 0
        except OSError:
            return False

    def set(self) -> None:
        with contextlib.suppress(OSError), open(self.path, "r+b") as file:
            file.write(b"stop")

    def remove(self) -> None:
        if self.path:
            Path(self.path).unlink(missing_ok=True)


Stop = Gone | StopFile
