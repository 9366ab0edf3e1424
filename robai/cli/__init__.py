"""The command line: `robai`, or `python -m robai`.

Exit codes: 0 done; 1 a file or a missing package is in the way, or a claim of the paper does not hold; 2 the
arguments make no sense; 130 interrupted. Results go to standard output, progress and errors to standard
error.
"""

import argparse
import codecs
import inspect
import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from robai._base import checks
from robai._base.files import check_writable, write_atomically
from robai._base.text import align, printable
from robai._base.version import VERSION
from robai._play.request import Engine
from robai.cli import options as _options
from robai.cli import plan as _plan
from robai.plotting.style import new_figure
from robai.policies import POLICIES
from robai.result import Comparison, Result
from robai.result.digest import record
from robai.simulation import compare

if TYPE_CHECKING:
    from robai.paper.reproduction import Reproduction

_DRAWINGS = (".pdf", ".png", ".svg")

_EXAMPLES = {
    "robai": """
examples:
  robai simulate --policy eocp --gap 0.5 --means 0.7,0.2 --horizon 1e6 --runs 1e4
  robai compare --policy eocp --policy eocp-ug --policy ucb --gap 0.5 --means 0.7,0.2 --horizon 1e5 --runs 1e3
  robai plan --arms 4 --gap 0.05 --horizon 1e6
  robai reproduce --quick
  robai policies
""",
    "simulate": """
examples:
  robai simulate --policy eocp --gap 0.5 --bandit gaussian --means 0.7,0.2 --horizon 1e6 --runs 1e5
  robai simulate --policy kl-eocp-ug --bandit bernoulli --means 0.12,0.10 --horizon 1e6 --runs 1e3 --json
  robai simulate --policy ucb:level=ratio --means 0.7,0.2 --horizon 1e5 --runs 1e3 --rng 7 --plot regret.png
""",
    "compare": """
examples:
  robai compare --policy eocp --policy eocp-ug --policy ucb --gap 0.5 --means 0.7,0.2 --horizon 1e5 --runs 1e3
  robai compare --policy "eocp:gap=0.5" --policy "eocp:gap=0.25" --means 0.7,0.2 --horizon 1e5 --runs 1e3
""",
    "reproduce": """
examples:
  robai reproduce                        everything at full scale, into robai-report/
  robai reproduce --quick                everything with few runs
  robai reproduce --only fig1-gaussian --only table1 --out here
""",
    "plan": """
examples:
  robai plan --arms 4 --gap 0.05 --horizon 1e6
  robai plan --arms 2 --gap 0.5 --horizon 1e6 --simulate
  robai plan --bandit bernoulli --means 0.12,0.10 --horizon 1e7 --json
""",
    "policies": """
examples:
  robai policies
  robai policies --json
""",
}


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
            warnings.showwarning = _warn_once()
            code: int = options.command(options)
        sys.stdout.flush()
        return code
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
    print(f"robai: error: {printable(str(error) or repr(error))}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:  # the disk is full, say
        _drop_output()
    return code


def _warn_once() -> Callable[..., None]:
    """Prints a warning as a sentence, the first time it is given."""
    seen = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in seen:
            print(f"robai: warning: {printable(str(message))}", file=sys.stderr)
        seen.add(str(message))

    return show


def _parsers() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """That of the whole command line, and that of each command."""
    parser = _new(argparse.ArgumentParser, "robai", "Bandits that earn while they learn and commit early.")
    parser.add_argument("--version", action="version", version=f"robai {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, command: Callable[[argparse.Namespace], int], about: str) -> argparse.ArgumentParser:
        added = _new(commands.add_parser, name, about, help=about)
        added.set_defaults(command=command)
        added.add_argument("--json", action="store_true", help="print JSON, for scripts")
        return added

    for name, about in (
        ("simulate", "play a policy on a bandit, many times"),
        ("compare", "play several policies on the same bandit"),
    ):
        _add_simulation(add(name, _simulate, about), several=name == "compare")

    reproduce = add("reproduce", _reproduce, "the paper's figures, table and claims, as a report")
    reproduce.add_argument("--quick", action="store_true", help="a few hundred runs instead of 10^4 and 10^5")
    reproduce.add_argument("--only", action="append", metavar="NAME", help="a part; may be repeated (all)")
    reproduce.add_argument(
        "--out", type=_options.path, default="robai-report", metavar="DIR", help="where to (robai-report)"
    )
    reproduce.add_argument("--rng", type=_options.whole, default=0, metavar="SEED", help="seed (0)")
    reproduce.add_argument("--workers", type=_options.whole, metavar="N", help="threads (all cores)")

    _plan.add_options(add("plan", _show_plan, "what to expect of an experiment, before it"))
    add("policies", _list_policies, "the policies, with a line each")
    return parser, commands.choices


def _new(
    make: Callable[..., argparse.ArgumentParser], name: str, about: str, **more: str
) -> argparse.ArgumentParser:
    """A parser whose help ends with examples."""
    return make(
        name,
        description=about[0].upper() + about[1:],
        epilog=_EXAMPLES[name],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        **more,
    )


def _add_simulation(parser: argparse.ArgumentParser, *, several: bool) -> None:
    parser.add_argument(
        "--policy",
        action="append" if several else "store",
        required=True,
        metavar="NAME",
        help="see `robai policies`; parameters after a colon, as in eocp:gap=0.5,inflation=0.2"
        + ("; repeat for each" if several else ""),
    )
    _options.add_bandit_options(parser, required=True)
    parser.add_argument("--horizon", type=_options.whole, required=True, metavar="T", help="rounds of a run")
    parser.add_argument("--runs", type=_options.whole, required=True, metavar="N", help="independent runs")
    parser.add_argument("--rng", type=_options.whole, metavar="SEED", help="seed (a fresh one)")
    parser.add_argument(
        "--engine", default="auto", metavar="NAME", help=f"{', '.join(get_args(Engine))} (auto)"
    )
    parser.add_argument("--workers", type=_options.whole, metavar="N", help="threads (all cores)")
    parser.add_argument(
        "--checkpoint", type=_options.path, metavar="DIR", help="keep finished batches here, go on from them"
    )
    parser.add_argument("--save", type=_options.path, metavar="FILE", help="write the arrays to an .npz file")
    parser.add_argument(
        "--plot", type=_options.path, metavar="FILE", help="draw regret to a .png, .svg or .pdf file"
    )
    _options.add_policy_options(parser)


def _simulate(options: argparse.Namespace) -> int:
    several = isinstance(options.policy, list)
    policies = _options.read_policies(options.policy if several else [options.policy], options)
    bandit = _options.read_bandit(options.bandit, options.means, options.sigma)
    _check_outputs(options)
    results = compare(
        policies,
        bandit,
        options.horizon,
        options.runs,
        rng=options.rng,
        engine=options.engine,
        workers=options.workers,
        checkpoint=options.checkpoint,
        progress=sys.stderr.isatty(),
    )
    shown: Result | Comparison = results if several else next(iter(results.values()))
    try:
        if options.save:
            shown.save(options.save)
        if options.plot:
            write_atomically(options.plot, _drawn(shown, _suffix(options.plot)))
    finally:  # the disk may be full, but the numbers are there
        _print_results(results, shown, options)
    return 0


def _print_results(results: Comparison, shown: Result | Comparison, options: argparse.Namespace) -> None:
    if options.json:
        records = [record(result) for result in results.values()]
        _print_json(records if shown is results else records[0])
    else:
        print(shown.summary())
        if options.rng is None:
            print(f"\nto repeat: --rng {next(iter(results.values())).meta['entropy'][0]}")


def _check_outputs(options: argparse.Namespace) -> None:
    """Whether what is asked for can be written, before hours of simulation."""
    given = [path for path in (options.save, options.plot, options.checkpoint) if path]
    if len({os.path.realpath(path) for path in given}) < len(given):
        raise ValueError(f"--save, --plot and --checkpoint must be different, got {', '.join(given)}")
    for path in filter(None, (options.save, options.plot)):
        check_writable(path)
    if options.plot:
        new_figure(1, 1)  # is Matplotlib there?
        checks.one_of("the end of --plot", _suffix(options.plot), _DRAWINGS)


def _suffix(path: str) -> str:
    return Path(path).suffix.lower()


def _drawn(shown: Result | Comparison, suffix: str) -> bytes:
    figure, buffer = new_figure(7.5, 4.5), io.BytesIO()
    shown.plot(figure.subplots())
    figure.savefig(buffer, format=suffix.removeprefix("."), dpi=150)
    return buffer.getvalue()


def _reproduce(options: argparse.Namespace) -> int:
    from robai._base.directory import replacing
    from robai.paper.report import write_files
    from robai.paper.reproduction import reproduce

    new_figure(1, 1)  # what could fail after minutes of work fails now
    reproduction = page = None
    try:
        with replacing(options.out) as directory:
            reproduction = reproduce(
                options.only,
                quick=options.quick,
                rng=options.rng,
                workers=options.workers,
                report=_Lines().report,
            )
            print("drawing the figures", file=sys.stderr)
            write_files(reproduction, directory)
        page = Path(options.out) / "index.html"
        return 0 if all(verdict.holds for verdict in reproduction.verdicts) else 1
    finally:  # as above
        if reproduction is not None:
            _print_reproduction(reproduction, page, options.json)


class _Lines:
    """Progress on standard error: a line a policy, and on a terminal one that is written over meanwhile."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()

    def report(self, line: str, final: bool) -> None:
        if self._terminal:
            print(f"\r\x1b[K{line}", end="\n" if final else "", file=sys.stderr, flush=True)
        elif final:
            print(line, file=sys.stderr, flush=True)


def _print_reproduction(reproduction: "Reproduction", page: Path | None, as_json: bool) -> None:
    from robai.paper.experiments import FIGURES
    from robai.paper.page import TABLE_ON_A_TERMINAL, headline, table_rows
    from robai.paper.report import summary

    if as_json:
        _print_json(summary(reproduction) | {"page": page and str(page)})
        return
    for played in reproduction.played(FIGURES):
        print(f"{played.name}: {played.results.summary()}\n")
    if reproduction.table:
        rows = [[row[name] for name in TABLE_ON_A_TERMINAL] for row in table_rows(reproduction.table)]
        print("\n".join(align([TABLE_ON_A_TERMINAL, *rows])) + "\n")
    verdicts = reproduction.verdicts
    for (claim, criterion), group in groupby(verdicts, key=lambda each: (each.claim, each.criterion)):
        print(f"{claim}: {criterion}")
        for each in group:
            print(f"  {each.result:<14}{each.experiment:<16}{each.numbers}")
    if verdicts:
        print(f"\n{headline(verdicts)}")
    if page:
        print(f"\n{page}")


def _show_plan(options: argparse.Namespace) -> int:
    plan = _plan.make(options)
    if options.json:
        _print_json(plan.as_dict())
    else:
        print(plan.text())
    return 0


def _list_policies(options: argparse.Namespace) -> int:
    about = {name: (inspect.getdoc(policy) or "").partition("\n")[0] for name, policy in POLICIES.items()}
    if options.json:
        _print_json(
            {
                name: {
                    "about": about[name],
                    "needs": [each.name for each in fields(policy) if each.default is MISSING],
                    "defaults": {
                        each.name: each.default for each in fields(policy) if each.default is not MISSING
                    },
                }
                for name, policy in POLICIES.items()
            }
        )
        return 0
    for name, policy in POLICIES.items():
        parameters = [
            each.name if each.default is MISSING else f"{each.name}={each.default}" for each in fields(policy)
        ]
        print(f"{name:<20}{about[name]}\n{'':<20}{', '.join(parameters)}")
    return 0


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=1, allow_nan=False))
