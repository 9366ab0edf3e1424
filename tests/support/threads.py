"""Threads of Python."""

import sys
import time


def no_more_threads_than(count):
    """Whether there are no more, in the end: one that is told to end takes a moment."""
    until = time.monotonic() + 10
    while len(sys._current_frames()) > count and time.monotonic() < until:
        time.sleep(0.001)
    return len(sys._current_frames()) <= count
