"""What a terminal shows, and what a file gets: colours, widths, pipes that close, and Ctrl-C."""

import io
import math
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from robai._base.text import Terminal, painted, shown_on, table, wrapped
from robai.cli import main
from robai.cli.output import terminal

pty = pytest.importorskip("pty")

GAME = ["--means", "0.7,0.2", "--horizon", "1e3", "--runs", "20", "--rng", "1"]
COMPARE = ["compare", "--policy", "ucb", "--policy", "eocp-ug", *GAME]
VARIABLES = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "PYTHON_COLORS")


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return kept | {"TERM": "xterm"} | variables


def on_a_terminal(arguments, columns=200, **variables):
    """What a command writes to a terminal of so many columns, standard error included."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "robai", *arguments]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment(**variables)):
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # of Linux, at the end
            pass
        os.close(ours)
    return text.decode().replace("\r\n", "\n")


def plain(text):
    return re.sub(r"\x1b\[\d*m", "", text)


@pytest.fixture(scope="module")
def piped():
    command = [sys.executable, "-m", "robai", *COMPARE]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), check=True).stdout


def test_a_terminal_has_colours_and_nothing_else_changes(piped):
    text = on_a_terminal(COMPARE)
    assert "\x1b[1mpolicy" in text
    assert re.search(r"\x1b\[32mEOCPUG\(\).* \* .*\x1b\[0m", text)
    assert "\x1b[32mUCB" not in text
    assert plain(text).endswith(piped)


@pytest.mark.parametrize(
    ("seen", "variables", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": ""}, True),  # by its definition: present and not empty
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
    ],
)
def test_who_has_colours(monkeypatch, seen, variables, coloured):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: seen)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert terminal(stream).colour is coloured
    assert math.isinf(terminal(stream).width) is not seen


def test_forced_colours_change_nothing_else(capsys, monkeypatch, piped):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(COMPARE) == 0
    text = capsys.readouterr().out
    assert "\x1b[32m" in text
    assert plain(text) == piped
    assert main([*COMPARE, "--json"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    assert main(["simulat"]) == 2
    assert capsys.readouterr().err.startswith("robai: \x1b[31merror:\x1b[0m there is no command")
    assert painted("best", "x") == "x"  # nothing is left set


def numbers(text):
    return sorted(re.findall(r"\d[\d.,]*", plain(text)))


def test_a_narrow_terminal_folds_a_table_and_loses_nothing(piped):
    text = on_a_terminal(COMPARE, columns=60, NO_COLOR="1")
    text = text[text.index("Gaussian(means") :]  # after the bars of progress
    tables = [line for line in text.splitlines() if line.startswith(("policy", "UCB()", "EOCPUG()"))]
    assert max(map(len, tables)) <= 60
    assert sum(line.startswith("policy") for line in tables) > 1
    assert set(numbers(piped)) == set(numbers(text))


ROWS = [("name", "first", "second", "last"), ("a", "1", "22", "three"), ("bb", "4", "5", "six")]


def test_tables_fold_where_the_next_column_would_not_fit():
    with shown_on(Terminal(width=19)):
        assert table(ROWS) == [
            *("name  first  second", "a         1      22", "bb        4       5", ""),
            *("name  last", "a     three", "bb    six"),
        ]
    with shown_on(Terminal(width=18)):
        assert table(ROWS)[::4] == ["name  first", "name  second", "name  last"]
    with shown_on(Terminal(width=26)):
        assert len(table(ROWS)) == 3
    with shown_on(Terminal(width=1)):
        assert [line for line in table(ROWS) if line.startswith("a ")] == [
            "a         1",
            "a         22",
            "a     three",
        ]
    assert len(table(ROWS)) == 3


def test_painting_and_wrapping_are_for_terminals_alone():
    assert painted("error", "x") == "x"
    assert wrapped("one two " * 20, 4) == "one two " * 20
    with shown_on(Terminal(width=30, colour=True)):
        assert painted("error", "x") == "\x1b[31mx\x1b[0m"
        assert wrapped("aaaa " * 6 + "b", 4).splitlines() == ["aaaa aaaa aaaa aaaa aaaa", "    aaaa b"]
        assert table(ROWS, best={2})[2].startswith("\x1b[32mbb")
    assert painted("error", "x") == "x"


def test_the_list_of_policies_fits():
    lines = on_a_terminal(["policies"], columns=70, NO_COLOR="1").splitlines()
    assert max(map(len, lines)) <= 70


@pytest.mark.parametrize("command", [["--help"], ["simulate", "--help"], ["policies"], ["plan", "--help"]])
def test_a_reader_that_has_seen_enough(command):
    with subprocess.Popen(
        [sys.executable, "-m", "robai", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


LONG = {
    "simulate": [
        "--policy",
        "ucb",
        "--engine",
        "step",
        "--means",
        "1,0",
        "--horizon",
        "1e9",
        "--runs",
        "1e3",
    ],
    "compare": ["--policy", "ucb", "--engine", "step", "--means", "1,0", "--horizon", "1e9", "--runs", "1e3"],
    "identify": ["--policy", "uniform", "--means", "1e-6,0", "--delta", "0.1", "--runs", "1e3"],
    "plan": ["--policy", "successive-rejects", "--means", "1,0", "--horizon", "1e9", "--simulate"],
    "reproduce": ["--out", "report"],
}
STARTED = """
import _thread, sys
from robai.cli import main
from robai.cli.output import terminal
start = _thread.start_new_thread
def start_and_tell(*arguments):
    print("begun", file=sys.__stdout__, flush=True)
    return start(*arguments)
_thread.start_new_thread = start_and_tell
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", LONG)
def test_an_interruption_is_one_line(tmp_path, command):
    """Once the runs are being played."""
    with subprocess.Popen(
        [sys.executable, "-c", STARTED, command, *LONG[command]],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1:] == ["robai: interrupted"]
    assert "Traceback" not in err
    assert set(out.splitlines()) <= {"begun"}
    assert os.listdir(tmp_path) == []
