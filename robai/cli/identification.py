"""`robai identify`: how long policies take to find the best arm, and how often they are wrong."""

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, get_args

from robai._base.directory import MANIFEST, replacing
from robai._play.request import Engine
from robai.cli import options as _options
from robai.cli.options import path, whole
from robai.identification import CAP, identify
from robai.plotting.style import new_figure
from robai.result import Identification, Identifications
from robai.result.identification_text import record

_FIGURES = {"stopping-time": "plot", "proportions": "plot_proportions", "error": "plot_error"}


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    named = "see `robai policies`; parameters after a colon, as in ucb-alpha:alpha=1.5; repeat for each"
    add("--policy", action="append", required=True, metavar="NAME", help=named)
    _options.add_bandit_options(parser, required=True)
    asked = parser.add_argument_group("one of three questions")
    delta = "how long, if the probability of an error may be so large?"
    asked.add_argument("--delta", type=float, metavar="X", help=delta)
    budget = "how often wrong after so many rounds? Several are divided by commas"
    asked.add_argument("--budget", type=_wholes, metavar="N,N,...", help=budget)
    horizon = f"T of policies that stop by themselves, up to 1e100; with --delta the most rounds ({CAP:.0e})"
    asked.add_argument("--horizon", type=whole, metavar="T", help=horizon.replace("e+0", "e"))
    add("--runs", type=whole, required=True, metavar="N", help="independent runs")
    add("--rng", type=whole, metavar="SEED", help="seed (a fresh one)")
    add("--engine", default="auto", metavar="NAME", help=f"{', '.join(get_args(Engine))} (auto)")
    add("--workers", type=whole, metavar="N", help="threads (all cores)")
    add("--checkpoint", type=path, metavar="DIR", help="keep finished batches here, go on from them")
    add(
        "--out",
        type=path,
        metavar="DIR",
        help="write arrays, numbers, summary and figures into this directory",
    )
    _options.add_policy_options(parser, without=("delta",))


def _wholes(text: str) -> list[int]:
    return [whole(each) for each in text.split(",")]


def run(options: argparse.Namespace, to_json: Callable[[Any], str]) -> None:
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
                _write(found, directory, to_json)
    finally:  # the disk may be full, but the numbers are there
        if found is not None:
            _print(found, options, to_json)


def _numbers(found: Identifications) -> Any:
    numbers = [record(each) for each in found.values()]
    return numbers if len(numbers) > 1 else numbers[0]


def _shown(found: Identifications) -> Identification | Identifications:
    return found if len(found) > 1 else next(iter(found.values()))


def _write(found: Identifications, directory: Path, to_json: Callable[[Any], str]) -> None:
    found.save(directory / "identification.npz")
    (directory / "summary.txt").write_text(_shown(found).summary() + "\n", encoding="utf-8")
    for name, method in _FIGURES.items():
        figure = new_figure(7.5, 4.5)
        getattr(found, method)(figure.subplots())
        figure.savefig(directory / f"{name}.png", dpi=150)
    files = sorted(each.name for each in directory.iterdir())
    report = {"identifications": [record(each) for each in found.values()], "files": files}
    (directory / MANIFEST).write_text(to_json(report), encoding="utf-8")


def _print(found: Identifications, options: argparse.Namespace, to_json: Callable[[Any], str]) -> None:
    if options.json:
        print(to_json(_numbers(found)))
        return
    print(_shown(found).summary())
    if options.rng is None:
        print(f"\nto repeat: --rng {next(iter(found.values())).meta['entropy'][0]}")
    if options.out:
        print(f"\n{options.out}")
