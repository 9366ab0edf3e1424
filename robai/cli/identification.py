"""`robai identify`: how long policies take to find the best arm, and how often they are wrong."""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from robai._base.directory import MANIFEST, replacing
from robai.cli import options as _options
from robai.cli.options import path, whole
from robai.cli.output import to_json
from robai.identification import CAP, identify
from robai.plotting.style import new_figure
from robai.result import Identification, Identifications
from robai.result.identification_text import record

_FIGURES = {"stopping-time": "plot", "proportions": "plot_proportions", "error": "plot_error"}


def add_options(parser: argparse.ArgumentParser) -> None:
    _options.add_game_options(parser, several=True)
    asked = parser.add_argument_group("one of three questions").add_argument
    asked(
        "--delta", type=float, metavar="X", help="how long, if the probability of an error may be so large?"
    )
    budget = "how often wrong after so many rounds? Several are divided by commas"
    asked("--budget", type=_wholes, metavar="N,N,...", help=budget)
    horizon = f"T of policies that stop by themselves, up to 1e100; with --delta the most rounds ({CAP:.0e})"
    asked("--horizon", type=whole, metavar="T", help=horizon.replace("e+0", "e"))
    out = _options.add_run_options(parser)
    files = "write arrays, numbers, summary and figures into this directory"
    out("--out", type=path, metavar="DIR", help=files)
    _options.add_policy_options(parser, without=("delta",))


def _wholes(text: str) -> list[int]:
    return [whole(each) for each in text.split(",")]


def run(options: argparse.Namespace) -> None:
    # delta is told to all policies by `identify`, and is no parameter of theirs here
    policies = _options.read_policies(options.policy, argparse.Namespace(**vars(options) | {"delta": None}))
    bandit = _options.read_bandit(options)
    names = ("delta", "budget", "horizon", "runs", "rng", "engine", "workers", "checkpoint")
    asked: dict[str, Any] = {name: getattr(options, name) for name in names}
    found = None
    if options.out:
        new_figure(1, 1)  # is Matplotlib there?
    try:
        with ExitStack() as stack:
            directory = stack.enter_context(replacing(options.out)) if options.out else None
            found = identify(policies, bandit, **asked, progress=sys.stderr.isatty())
            if directory is not None:
                _write(found, directory)
    finally:  # the disk may be full, but the numbers are there
        if found is not None:
            _print(found, options)


def _shown(found: Identifications) -> Identification | Identifications:
    return found if len(found) > 1 else next(iter(found.values()))


def _write(found: Identifications, directory: Path) -> None:
    found.save(directory / "identification.npz")
    (directory / "summary.txt").write_text(_shown(found).summary() + "\n", encoding="utf-8")
    for name, method in _FIGURES.items():
        figure = new_figure(7.5, 4.5)
        getattr(found, method)(figure.subplots())
        figure.savefig(directory / f"{name}.png", dpi=150)
    files = sorted(each.name for each in directory.iterdir())
    report = {"identifications": [record(each) for each in found.values()], "files": files}
    (directory / MANIFEST).write_text(to_json(report), encoding="utf-8")


def _print(found: Identifications, options: argparse.Namespace) -> None:
    if options.json:
        print(to_json([record(each) for each in found.values()]))
        return
    print(_shown(found).summary())
    if options.rng is None:
        print(f"\nto repeat: --rng {next(iter(found.values())).meta['entropy'][0]}")
    if options.out:
        print(f"\n{options.out}")
