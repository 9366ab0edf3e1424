"""The command line: `robai`, or `python -m robai`.

Exit codes: 0 done; 1 a file or a missing package is in the way, or a claim of the paper fails; 2 the
arguments make no sense; 130 interrupted. Results go to standard output, all else to standard error.
"""

import argparse
import codecs
import inspect
import io
import json
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from robai._base import checks
from robai._base.files import check_writable, write_atomically
from robai._base.progress import Line
from robai._base.text import align, printable
from robai._base.version import VERSION
from robai._play.request import Engine
from robai.cli import options as _options
from robai.cli import plan as _plan
from robai.cli.options import path, whole
from robai.plotting.style import new_figure
from robai.policies import POLICIES
from robai.result import Comparison, Result
from robai.result.digest import record
from robai.simulation import compare

if TYPE_CHECKING:
    from robai.paper.reproduction import Reproduction
    from robai.paper.study import Study

_to_json = partial(json.dumps, indent=1, allow_nan=False)
_EXAMPLES = """
robai simulate --policy eocp --gap 0.5 --means 0.7,0.2 --horizon 1e6 --runs 1e4
robai simulate --policy kl-eocp-ug --bandit bernoulli --means 0.12,0.10 --horizon 1e6 --runs 1e3 --json
robai simulate --policy ucb:level=ratio --means 0.7,0.2 --horizon 1e5 --runs 1e3 --rng 7 --plot regret.png
robai compare --policy eocp --policy eocp-ug --policy ucb --gap 0.5 --means 0.7,0.2 --horizon 1e5 --runs 1e3
robai compare --policy "eocp:gap=0.5" --policy "eocp:gap=0.25" --means 0.7,0.2 --horizon 1e5 --runs 1e3
robai identify --policy track-and-stop --bandit bernoulli --means 0.5,0.45,0.43,0.4 --delta 0.1 --runs 1e3
robai identify --policy ucb --policy kl-ucb --bandit bernoulli --means 0.5,0.4 --budget 200,400 --runs 1e4
robai identify --policy eocp-ug --policy bai-etc --means 0.7,0.2 --horizon 1e100 --runs 1e3 --out here
robai plan --arms 4 --gap 0.05 --horizon 1e6
robai plan --bandit bernoulli --means 0.12,0.10 --horizon 1e7 --simulate --json
robai reproduce --quick                everything with few runs
robai reproduce                        everything at full scale, into robai-report/
robai reproduce --only fig1-gaussian --only table1 --out here
robai reproduce --list                 the publications that can be reproduced
robai reproduce garivier2016 --quick   one of them
robai policies
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    _make_print_safe()
    parser, commands = _parsers()
    try:
        given = _options.joined(sys.argv[1:] if arguments is None else arguments)
        _options.check_known(given, commands)
        options, rest = parser.parse_known_args(given)
        if rest:
            raise ValueError(f"unknown argument {rest[0]!r}")
        with warnings.catch_warnings():
            warn_once = cache(partial(_say, "warning"))
            warnings.showwarning = lambda message, *_, **__: warn_once(str(message))
            code: int | None = options.command(options)
        sys.stdout.flush()
        return code or 0
    except KeyboardInterrupt:
        print("robai: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError as error:  # the reader, `head` for instance, has seen enough
        _drop_output()
        return _fail(error.__context__, 1) if error.__context__ else 0
    except (ValueError, TypeError) as error:
        return _fail(error, 2)
    except ArithmeticError as error:
        return _fail(ValueError(f"an argument is too large, or too small, to compute with: {error}"), 2)
    except (OSError, ImportError, MemoryError) as error:
        return _fail(error, 1)


def _make_print_safe() -> None:
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


def _drop_output() -> None:
    """What is still to be written would fail once more, with a traceback, when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: BaseException, code: int) -> int:
    _say("error", str(error) or repr(error))
    try:
        sys.stdout.flush()
    except OSError:  # the disk is full, say
        _drop_output()
    return code


def _say(kind: str, text: str) -> None:
    print(f"robai: {kind}: {printable(text)}", file=sys.stderr)


def _parsers() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """That of the whole command line, and that of each command."""

    def texts(name: str, about: str) -> dict[str, Any]:
        examples = [line for line in _EXAMPLES.splitlines() if line.startswith(f"robai {name}")]
        return {
            "description": about[0].upper() + about[1:],
            "epilog": "\n  ".join(["examples:", *examples]),
            "formatter_class": argparse.RawDescriptionHelpFormatter,
            "allow_abbrev": False,
        }

    about = "bandits that earn while they learn and commit early."
    parser = argparse.ArgumentParser("robai", **texts("", about))
    parser.add_argument("--version", action="version", version=f"robai {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, about, command, add_options in (
        ("simulate", "play a policy on a bandit, many times", _simulate, partial(_add_game, "store")),
        ("compare", "play several policies on the same bandit", _simulate, partial(_add_game, "append")),
        ("identify", "how long policies take to find the best arm", _identify, _add_identification),
        ("reproduce", "a paper's figures, tables and claims, as a report", _reproduce, _add_reproduction),
        ("plan", "what to expect of an experiment, before it", _plan_ahead, _plan.add_options),
        ("policies", "the policies, with a line each", _list_policies, lambda parser: None),
    ):
        added = commands.add_parser(name, help=about, **texts(name, about))
        added.set_defaults(command=command)
        added.add_argument("--json", action="store_true", help="print JSON, for scripts")
        add_options(added)
    return parser, commands.choices


def _add_game(action: str, parser: argparse.ArgumentParser) -> None:
    add, more = parser.add_argument, "; repeat for each" if action == "append" else ""
    named = f"see `robai policies`; parameters after a colon, as in eocp:gap=0.5,inflation=0.2{more}"
    add("--policy", action=action, required=True, metavar="NAME", help=named)
    _options.add_bandit_options(parser, required=True)
    add("--horizon", type=whole, required=True, metavar="T", help="rounds of a run")
    add("--runs", type=whole, required=True, metavar="N", help="independent runs")
    add("--rng", type=whole, metavar="SEED", help="seed (a fresh one)")
    add("--engine", default="auto", metavar="NAME", help=f"{', '.join(get_args(Engine))} (auto)")
    add("--workers", type=whole, metavar="N", help="threads (all cores)")
    add("--checkpoint", type=path, metavar="DIR", help="keep finished batches here, go on from them")
    add("--save", type=path, metavar="FILE", help="write the arrays to an .npz file")
    add("--plot", type=path, metavar="FILE", help="draw regret to a .png, .svg or .pdf file")
    _options.add_policy_options(parser)


def _simulate(options: argparse.Namespace) -> None:
    several = isinstance(options.policy, list)
    policies = _options.read_policies(options.policy if several else [options.policy], options)
    bandit = _options.read_bandit(options)
    _check_outputs(options)
    names = ("horizon", "runs", "rng", "engine", "workers", "checkpoint")
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
            print(_to_json([record(each) for each in results.values()] if several else record(first)))
        else:
            print(shown.summary())
            if options.rng is None:
                print(f"\nto repeat: --rng {first.meta['entropy'][0]}")


def _add_identification(parser: argparse.ArgumentParser) -> None:
    from robai.cli.identification import add_options

    add_options(parser)


def _identify(options: argparse.Namespace) -> None:
    from robai.cli.identification import run

    run(options, _to_json)


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


def _add_reproduction(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("study", nargs="?", metavar="NAME", help="a publication, see --list (the paper of this package)")
    add("--list", action="store_true", help="the publications and their parts, and nothing else")
    add("--quick", action="store_true", help="a few hundred runs instead of the publication's thousands")
    add("--only", action="append", metavar="PART", help="a part; may be repeated (all)")
    add("--out", type=path, metavar="DIR", help="where to (robai-report, or robai-report-NAME)")
    add("--rng", type=whole, default=0, metavar="SEED", help="seed (0)")
    add("--workers", type=whole, metavar="N", help="threads (all cores)")


def _reproduce(options: argparse.Namespace) -> int:
    from robai._base.directory import replacing
    from robai.paper.gallery import GALLERY
    from robai.paper.kept import Kept
    from robai.paper.report import write_files
    from robai.paper.reproduction import reproduce

    if options.list:
        print(_listed(GALLERY, options.json))
        return 0
    study = next(iter(GALLERY.values()))
    out = options.out or "robai-report"
    if options.study is not None:
        study = GALLERY[checks.one_of("NAME", options.study, GALLERY)]
        out = options.out or f"robai-report-{study.name}"
    new_figure(1, 1)  # what could fail after minutes of work fails now
    line, reproduction, page = Line(rewritten=sys.stderr.isatty()), None, None
    kept = Kept.beside(out)
    try:
        with replacing(out) as directory:
            reproduction = reproduce(
                study,
                options.only,
                quick=options.quick,
                rng=options.rng,
                workers=options.workers,
                report=line.report,
                kept=kept,
            )
            line.report("drawing the figures", True)
            write_files(reproduction, directory)
        page = Path(out) / "index.html"
        kept.clear()
        return 1 if any(verdict.result == "fails" for verdict in reproduction.verdicts) else 0
    finally:  # as above
        line.close()
        if page is None and (played := kept.count()):
            print(f"the same command goes on from {played} simulations in {kept.directory}", file=sys.stderr)
        if reproduction is not None:
            _print_reproduction(reproduction, page, options.json)


def _listed(gallery: "Mapping[str, Study]", as_json: bool) -> str:
    """The publications with their parts, the first of which is played if none is named."""
    if as_json:
        found = {
            name: {"title": each.title, "source": each.source, "parts": list(each.sections)}
            for name, each in gallery.items()
        }
        return _to_json(found)
    lines = []
    for name, each in gallery.items():
        lines += [f"{name:<20}{each.source}", f"{'':<20}parts: {', '.join(each.sections)}"]
    return "\n".join(lines)


def _print_reproduction(reproduction: "Reproduction", page: Path | None, as_json: bool) -> None:
    from robai.paper.page import GROWTH_ON_A_TERMINAL, growth_rows, headline
    from robai.paper.report import summary

    if as_json:
        print(_to_json(summary(reproduction) | {"page": page and str(page)}))
        return
    for played in reproduction.played(reproduction.study.figures):
        print(f"{played.name}: {played.results.summary()}\n")
    if (growing := reproduction.study.growing) and reproduction.growth:
        shown = growth_rows(growing, reproduction.growth)
        rows = [[row[name] for name in GROWTH_ON_A_TERMINAL] for row in shown]
        print("\n".join(align([GROWTH_ON_A_TERMINAL, *rows])) + "\n")
    verdicts = reproduction.verdicts
    for (claim, criterion), group in groupby(verdicts, key=lambda each: (each.claim, each.criterion)):
        print(f"{claim}: {criterion}")
        for each in group:
            print(f"  {each.result:<14}{each.experiment:<16}{each.numbers}")
    if verdicts:
        print(f"\n{headline(verdicts)}")
    if page:
        print(f"\n{page}")


def _plan_ahead(options: argparse.Namespace) -> None:
    value, text = _plan.make(options)
    print(_to_json(value) if options.json else text)


def _list_policies(options: argparse.Namespace) -> None:
    listed, lines = {}, []
    for name, policy in POLICIES.items():
        about = (inspect.getdoc(policy) or "").partition("\n")[0]
        needs = [each.name for each in fields(policy) if each.default is MISSING]
        defaults = {each.name: each.default for each in fields(policy) if each.default is not MISSING}
        listed[name] = {"about": about, "needs": needs, "defaults": defaults}
        parameters = [*needs, *(f"{parameter}={default}" for parameter, default in defaults.items())]
        lines += [f"{name:<20}{about}", f"{'':<20}{', '.join(parameters)}"]
    print(_to_json(listed) if options.json else "\n".join(lines))
