"""`robai simulate` and `robai compare`: policies played on a bandit, many times."""

import argparse
import io
import os
import sys
from pathlib import Path
from typing import Any, get_args

from robai._base import checks
from robai._base.files import check_writable, write_atomically
from robai._play.request import Keep
from robai.cli import options as _options
from robai.cli.options import path, rounds, whole
from robai.cli.output import to_json
from robai.plotting.style import new_figure
from robai.result import Comparison, Result
from robai.result.digest import record
from robai.simulation import compare


def add_options(parser: argparse.ArgumentParser) -> None:
    game = _options.add_game_options(parser, several=parser.prog.endswith(" compare"))
    game("--horizon", type=whole, required=True, metavar="T", help="rounds of a run")
    out = _options.add_run_options(parser)
    kinds = f"{', '.join(get_args(Keep))} (runs); a summary is small for any number of runs"
    out("--keep", default="runs", metavar="WHAT", help=kinds)
    out("--save", type=path, metavar="FILE", help="write the arrays to an .npz file")
    out("--plot", type=path, metavar="FILE", help="draw regret to a .png, .svg or .pdf file")
    _add_arrival_options(parser)
    _options.add_policy_options(parser)


_ARRIVALS = ("delay", "batch", "loss", "window", "missing")


def _add_arrival_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("when rewards arrive, if not at once").add_argument
    add("--delay", type=_delay, default=0, metavar="D", help="rounds, or geometric:MEAN (0)")
    add("--batch", type=whole, default=1, metavar="B", help="they come in together, every so many rounds (1)")
    add("--loss", type=float, default=0.0, metavar="P", help="chance that one never comes (0)")
    more = "with one, also inf, a certificate can end the exploration (none)"
    add("--window", type=rounds, metavar="W", help=f"rounds after which one is given up; {more}")
    add(
        "--missing", type=float, metavar="X", help="what counts where none has come; needs a window (nothing)"
    )


def _delay(text: str) -> int | tuple[str, float]:
    law, _, mean = text.partition(":")
    if not mean:
        return whole(text)
    try:
        return law, float(mean)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be rounds, or geometric:MEAN, got {text!r}") from None


def run(options: argparse.Namespace) -> None:
    several = isinstance(options.policy, list)
    policies = _options.read_policies(options.policy if several else [options.policy], options)
    bandit = _options.read_bandit(options)
    _check_outputs(options)
    names = ("horizon", "runs", "rng", "engine", "workers", "checkpoint", "keep", *_ARRIVALS)
    given: dict[str, Any] = {name: getattr(options, name) for name in names}
    results = compare(policies, bandit, **given, progress=sys.stderr.isatty())
    first = next(iter(results.values()))
    shown: Result | Comparison = results if several else first
    try:
        if options.save:
            shown.save(options.save)
        if options.plot:
            figure, buffer = new_figure(7.5, 4.5), io.BytesIO()
            shown.plot(figure.subplots())
            figure.savefig(buffer, format=Path(options.plot).suffix[1:].lower(), dpi=150)
            write_atomically(options.plot, buffer.getvalue())
    finally:  # the disk may be full, but the numbers are there
        if options.json:
            print(to_json([record(each) for each in results.values()] if several else record(first)))
        else:
            print(shown.summary())
            if options.rng is None:
                print(f"\nto repeat: --rng {first.meta['entropy'][0]}")


def _check_outputs(options: argparse.Namespace) -> None:
    """Whether what is asked for can be written, before hours of simulation."""
    given = [each for each in (options.save, options.plot, options.checkpoint) if each]
    if len(set(map(os.path.realpath, given))) < len(given):
        raise ValueError(f"--save, --plot and --checkpoint must be different, got {', '.join(given)}")
    for file in filter(None, (options.save, options.plot)):
        check_writable(file)
    if options.plot:
        new_figure(1, 1)  # is Matplotlib there?
        checks.one_of("the end of --plot", Path(options.plot).suffix.lower(), (".pdf", ".png", ".svg"))
