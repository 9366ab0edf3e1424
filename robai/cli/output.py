"""JSON for scripts, and what a terminal can show: how much in a line, which characters, which colours."""

import codecs
import io
import json
import math
import os
import shutil
import sys
from functools import partial
from typing import TextIO

from robai._base.text import Terminal

to_json = partial(json.dumps, indent=1, allow_nan=False)


def terminal(stream: TextIO) -> Terminal:
    """Tables are as wide as they are where nobody looks: in files and pipes."""
    seen = stream.isatty()
    return Terminal(shutil.get_terminal_size().columns if seen else math.inf, _has_colour(seen))


def _has_colour(seen: bool) -> bool:
    """By the variables that programs have agreed on, in the order in which Python itself asks for them."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return seen and _obeys()


def _obeys() -> bool:
    """Whether a terminal does what escape sequences say."""
    old = sys.platform == "win32" and "WT_SESSION" not in os.environ
    return not old and os.environ.get("TERM") != "dumb"


def is_rewritten(stream: TextIO) -> bool:
    """Whether what is on the screen can be written over."""
    return stream.isatty() and _obeys()


def fitting(text: str) -> str:
    """The lines that the screen has room for."""
    lines, room = text.splitlines(), shutil.get_terminal_size().lines
    if len(lines) > room:
        lines[room - 1 :] = [f"... and {len(lines) - room + 1:,} lines more"]
    return "\n".join(lines)


def make_print_safe() -> None:
    """Whatever the terminal cannot show is written in ASCII, instead of an exception after hours of work.

    A stream that was closed is None, and printing to None would be printing to standard output.
    """
    sys.stdout, sys.stderr = (each or open(os.devnull, "w") for each in (sys.stdout, sys.stderr))  # noqa: SIM115
    codecs.register_error("robai", _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="robai")


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return ascii(error.object[error.start : error.end].replace("±", "+-"))[1:-1], error.end


def drop_output() -> None:
    """What is still to be written would fail once more, with a traceback, when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
