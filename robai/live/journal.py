"""An append-only log of everything that happened to an agent, for those who cannot lose one update.

A line is a checksum and a record, a JSON array::

    5b2c90f1 ["update",2,1.0]

The checksum of a line continues that of the line before, so a line that is changed, missing,
repeated or out of place is found. The first record is the agent's state when the journal began.
"""

from __future__ import annotations

import json
import os
import warnings
import weakref
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robai._base.files import sync_directory
from robai._base.json import parse
from robai._base.locks import lock

_UNREAD = "its records have not been read yet"


class Journal:
    """An append-only file of records, made if it does not exist; it belongs to one agent of one process.

    A record is in the file, complete, before the call that made it returns: a process that is
    killed loses nothing that it acknowledged.

    Parameters
    ----------
    path : path
        Of the file.
    sync : bool
        Whether every record is forced to the disk as well, against power failures, at the price of
        milliseconds a call.

    Examples
    --------
    >>> import os, tempfile
    >>> import robai
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "experiment.journal")
    >>> for _ in range(2):  # the second agent goes on where the first one ended
    ...     with robai.Journal(path) as journal:
    ...         agent = robai.Agent(robai.KLUCB(), ["A", "B"], 1000, reward="poisson", rng=0, journal=journal)
    ...         agent.update("A", 7)
    >>> agent.sums.tolist()
    [14.0, 0.0]
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], *, sync: bool = False) -> None:
        self.path, self.sync = os.fspath(path), bool(sync)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file = os.open(self.path, flags, 0o666)
        self._close = weakref.finalize(self, os.close, self._file)
        try:
            lock(self._file)
        except OSError:
            self.close()
            raise RuntimeError(f"{self.path} is in use by another agent or process") from None
        if self.sync:
            sync_directory(Path(self.path).resolve().parent)
        self._status = os.fstat(self._file)
        self._absolute = os.path.abspath(self.path)
        self._process = os.getpid()
        self._checksum, self._trouble = 0, _UNREAD

    def read(self, repeat: Callable[[int, Any], None]) -> bool:
        """Hand every record to a function.

        They can be read once, by the agent that the journal is for, and then more can be appended. A last
        line without an end was being written when its process died. It was not acknowledged, so it is
        dropped, with a warning. Anything else that is wrong is a ValueError that names the line.

        Parameters
        ----------
        repeat : callable
            Called with the number of each line and its record.

        Returns
        -------
        bool
            Whether there are any.

        Examples
        --------
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder, Journal(os.path.join(folder, "new")) as journal:
        ...     journal.read(print)
        False
        """
        if self._trouble != _UNREAD:
            raise RuntimeError(f"{self.path}: {self._trouble or 'it belongs to another agent already'}")
        self._trouble = "its records are being read"
        end = 0
        with open(os.dup(self._file), "rb") as file:
            file.seek(0)
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    dropped = f"dropped line {number}, which was being written when a process died"
                    warnings.warn(f"{self.path}: {dropped}", RuntimeWarning, stacklevel=2)
                    os.ftruncate(self._file, end)
                    break
                text = line[9:-1]
                try:
                    if line != self._line(text):
                        raise ValueError("the checksum is wrong")
                    repeat(number, parse(text))
                except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
                    raise ValueError(f"{self.path}, line {number}: {error}") from error
                self._checksum = zlib.crc32(text, self._checksum)
                end += len(line)
        self._trouble = ""
        return end > 0

    def _line(self, text: bytes) -> bytes:
        return b"%08x %b\n" % (zlib.crc32(text, self._checksum), text)

    def check(self) -> None:
        """A RuntimeError that says why nothing can be appended, if so.

        Examples
        --------
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder, Journal(os.path.join(folder, "new")) as journal:
        ...     journal.check()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        RuntimeError: nothing can be appended to ...new: its records have not been read yet
        """
        if self._trouble:
            raise RuntimeError(f"nothing can be appended to {self.path}: {self._trouble}")
        if os.getpid() != self._process:
            raise RuntimeError(
                f"{self.path} belongs to process {self._process}, from which this one was forked"
            )
        try:
            status = os.stat(self._absolute)
        except OSError as error:
            raise RuntimeError(f"{self.path} is not there any more: {error}") from None
        if not os.path.samestat(status, self._status):
            raise RuntimeError(f"{self.path} is another file now; the journal was moved or deleted")

    def append(self, record: Any) -> None:
        """Write a record; after anything that interrupts it the journal refuses all others.

        Parameters
        ----------
        record : JSON value
            What to write.

        Examples
        --------
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "new")
        ...     with Journal(path) as journal:
        ...         _ = journal.read(print)
        ...         journal.append(["update", 0, 1.0])
        ...     with open(path) as file:
        ...         file.read().strip()
        'dac76556 ["update",0,1.0]'
        """
        self.check()
        text = json.dumps(record, allow_nan=False, separators=(",", ":")).encode()
        line = self._line(text)
        # Said before and taken back at the end: an exception, Ctrl-C for one, can come at any moment.
        self._trouble = "a record was interrupted while it was being written; make the agent again from it"
        written = os.write(self._file, line)
        while written < len(line):
            written += os.write(self._file, line[written:])
        if self.sync:
            os.fsync(self._file)
        self._checksum = zlib.crc32(text, self._checksum)
        self._trouble = ""

    def close(self) -> None:
        """Close the file; the agent can change no more.

        Examples
        --------
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     journal = Journal(os.path.join(folder, "new"))
        ...     journal.close()
        ...     journal.check()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        RuntimeError: nothing can be appended to ...new: it is closed
        """
        self._trouble = "it is closed"
        self._close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Journal({self.path!r}, sync={self.sync})"
