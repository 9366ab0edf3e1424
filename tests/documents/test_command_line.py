"""Every command that docs/command-line.md shows prints what the page says; ... stands for anything."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from robai.cli import _COMMANDS, main

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
SHOWN = re.findall(r"```console\n\$ robai (.*?)\n(.*?)```", PAGE.replace("\\\n", ""), re.S)


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command.split()[0] for command, _ in SHOWN])
def test_a_command_prints_what_is_shown(capsys, tmp_path, monkeypatch, command, output):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    code = main(shlex.split(command))
    out, err = capsys.readouterr()
    assert (code > 0) == (out == "")
    assert doctest.OutputChecker().check_output(output, out or err, doctest.ELLIPSIS), out or err


def test_every_command_is_shown():
    shown = {command.split()[0] for command, _ in SHOWN}
    assert shown >= set(_COMMANDS) - {"completion"}
    assert "robai completion bash" in PAGE
