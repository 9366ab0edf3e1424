"""Exceptions at chosen, or at random, moments; for tests with `no_collections`."""

import contextlib
import signal
import sys


class Interruption(BaseException):
    """As KeyboardInterrupt, but certainly ours."""


class AtInstruction:
    """Interrupts the n-th bytecode of the package that is run once it has begun."""

    def __init__(self, number):
        self.left, self.before = number, sys.gettrace()

    def begin(self):
        sys.settrace(self.trace)

    def trace(self, frame, event, argument):
        frame.f_trace_opcodes = True
        if event == "opcode" and "tests" not in frame.f_code.co_filename:
            self.left -= 1
            if self.left == 0:
                raise Interruption
        return self.trace


@contextlib.contextmanager
def interrupted_at_random(chance):
    """What sets a timer, and how often it has rung."""
    seen = []

    def ring(*_):
        seen.append(1)
        raise Interruption

    before = signal.signal(signal.SIGALRM, ring)
    try:
        yield lambda: signal.setitimer(signal.ITIMER_REAL, 10 ** chance.uniform(-5, -1.5)), seen
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
