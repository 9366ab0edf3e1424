"""`robai completion SHELL`: a script with which the shell completes what robai knows the names of."""

import argparse
from collections.abc import Iterable
from typing import get_args

from robai._play.request import Engine
from robai.bandits import BANDITS
from robai.cli import options as _options
from robai.cli import parsers
from robai.cli.output import to_json
from robai.paper.gallery import GALLERY
from robai.policies import POLICIES

_NAMES: dict[str, Iterable[str]] = {
    "policy": POLICIES,
    "bandit": BANDITS,
    "family": BANDITS,
    "engine": get_args(Engine),
    "study": GALLERY,
    "only": dict.fromkeys(part for study in GALLERY.values() for part in study.sections),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", help="bash, zsh, tcsh, or another that shtab knows")


def run(options: argparse.Namespace) -> None:
    try:
        import shtab
    except ImportError:
        raise ImportError('completion needs shtab: pip install "robai[completion]"') from None
    parser, names = parsers(None)
    _options.known("shell", options.shell, shtab.SUPPORTED_SHELLS)
    for command in names.values():
        for action in command._actions:
            if action.dest == "shell":
                action.choices = shtab.SUPPORTED_SHELLS
            elif action.dest in _NAMES:  # parameters may follow a name, so that they are choices here alone
                action.choices = list(_NAMES[action.dest])
            elif action.type is _options.path:
                action.complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]
    script = shtab.complete(parser, options.shell)
    print(to_json({"shell": options.shell, "script": script}) if options.json else script)
