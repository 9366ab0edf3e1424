"""Every command that docs/command-line.md shows prints what the page says; ... stands for anything."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from support.stores import Clock, made

import robai
from robai.cli import _COMMANDS, main

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
SHOWN = re.findall(r"```console\n\$ robai (.*?)\n(.*?)```", PAGE.replace("\\\n", ""), re.S)


@pytest.fixture
def live(tmp_path):
    """The store of the page, live.db."""
    clock = Clock(1735722000.0)  # 2025-01-01 09:00 UTC
    terms = {"window": 3600.0, "missing": 0.0, "rng": 7}
    agent = made(tmp_path / "live.db", arms="ABC", horizon=200_000, clock=clock, name="buttons", **terms)
    agent.answers([(ticket, 1) for ticket in agent.tickets(300) if ticket.arm == "B"])
    clock.now += 3600.0
    agent.tickets(100)
    terms = {"reward": "bounded", "window": 600.0, "rng": 1}
    arms = ["old", "new"]
    made(tmp_path / "live.db", robai.EOCPUG(), arms, 10**4, clock=clock, name="ratings", **terms).tickets(2)


@pytest.mark.usefixtures("live")
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
    assert shown >= set(_COMMANDS) - {"completion", "watch"}
    assert "robai watch live.db" in PAGE
    assert "robai completion bash" in PAGE
