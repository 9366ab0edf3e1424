"""Who plays batches, threads of this process or an executor that the caller lends, and how they are stopped.

Ctrl-C can come between any two instructions of the main thread. If it comes while that holds a lock of a
Future or a Thread, the lock is held for ever, and the worker that needs it does not come back. So answers
come through a SimpleQueue, which is one call of C, and own threads are started without a handshake.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import tempfile
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

LOOK = 0.05  # seconds: a wait without an end cannot always be interrupted

Answer = SimpleQueue[Future[Any]]  # of one, which is done

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
    """An event that other processes of the machine can see: a file that is no longer empty, or gone.

    Where there never was such a file, on another machine, it is never set.
    """

    def __init__(self) -> None:
        self.path = ""
        self._seen = False  # by this process
        with contextlib.suppress(OSError):  # nowhere to write: batches come to their end then
            file, self.path = tempfile.mkstemp(prefix=".robai-", suffix=".tmp")
            os.close(file)

    def is_set(self) -> bool:
        try:
            size = os.stat(self.path).st_size
        except OSError:
            return self._seen  # gone at once where an executor cancels what is under way
        self._seen = True
        return size > 0

    def set(self) -> None:
        with contextlib.suppress(OSError), open(self.path, "r+b") as file:
            file.write(b"stop")

    def remove(self) -> None:
        if self.path:
            Path(self.path).unlink(missing_ok=True)


Stop = Gone | StopFile


def wait(answer: Answer) -> Any:
    """The result, or the exception, of what a worker was given."""
    while True:
        try:
            future = answer.get(timeout=LOOK)
        except Empty:
            if exiting.is_set():
                raise SystemExit("the interpreter ends, and the simulation with it") from None
        else:
            return future.result()


class Threads:
    """Threads of this process, which end with this object at the latest."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._started = 0
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._ended: SimpleQueue[None] = SimpleQueue()
        self._token: Token | None = Token()
        self._stop = Gone(self._token)

    def submit(self, answer: Answer, function: Callable[..., Any], *arguments: Any) -> None:
        """Have function(*arguments, stop) called; its future is put into `answer` when it is done."""
        if self._started < self._count:
            _thread.start_new_thread(_work, (self._tasks, self._stop, self._ended))
            self._started += 1
        self._tasks.put((answer, function, arguments))

    def end(self) -> None:
        """Stop what is under way, and wait for that."""
        self._token = None
        for _ in range(self._count):
            self._tasks.put(None)  # to wake them
        for _ in range(self._started):
            self._ended.get()


def _work(tasks: SimpleQueue[Any], stop: Gone, ended: SimpleQueue[None]) -> None:
    while not stop.is_set():
        with contextlib.suppress(Empty):
            task = tasks.get(timeout=LOOK)
            if task is not None:
                answer, function, arguments = task
                answer.put(_called(function, *arguments, stop))
    ended.put(None)


def _called(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    future: Future[Any] = Future()
    try:
        future.set_result(function(*arguments))
    except BaseException as error:
        future.set_exception(error)
    return future


class Borrowed:
    """The workers of an executor, which belongs to the caller."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._stop = StopFile()
        self._under_way: set[Future[Any]] = set()
        self._over = False

    def submit(self, answer: Answer, function: Callable[..., Any], *arguments: Any) -> None:
        """Have function(*arguments, stop) called; its future is put into `answer` when it is done."""
        future = self._executor.submit(function, *arguments, self._stop)
        self._under_way.add(future)
        future.add_done_callback(answer.put)
        future.add_done_callback(self._done)

    def _done(self, future: Future[Any]) -> None:
        self._under_way.discard(future)
        if self._over and not self._under_way:
            self._stop.remove()

    def end(self) -> None:
        """Cancel what waits and stop what is under way, without waiting for that."""
        self._stop.set()
        for future in list(self._under_way):
            future.cancel()
        self._over = True
        if not self._under_way:  # else who looks at the file last removes it
            self._stop.remove()
