"""A lock on an open file, which ends with the file or its process: it tells whether another is at work."""

import errno
import os
import sys
from collections.abc import Callable

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# Windows locks bytes, and lets nobody else read or write them: so one that no file of ours has.
_FAR = 2**40


def lock(descriptor: int) -> None:
    """Lock the file until it is closed, or unlocked.

    A BlockingIOError if it is locked already, also by this process through another descriptor; any other
    OSError if the file system has no locks.
    """
    if sys.platform == "win32":
        position = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:  # all that Windows has to say
            raise BlockingIOError(errno.EAGAIN, "another process has locked the file") from error
        finally:
            os.lseek(descriptor, position, os.SEEK_SET)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def unlocking(descriptor: int) -> tuple[tuple[Callable[..., object], tuple[int, ...]], ...]:
    """What to call to unlock it again: functions in C, in which no signal is handled."""
    if sys.platform == "win32":
        return (os.lseek, (descriptor, _FAR, os.SEEK_SET)), (msvcrt.locking, (descriptor, msvcrt.LK_UNLCK, 1))
    return ((fcntl.flock, (descriptor, fcntl.LOCK_UN)),)
