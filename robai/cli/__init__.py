"""The command line: `robai`, or `python -m robai`.

Exit codes: 0 done; 1 a file or a missing package is in the way, a claim of a paper or a check of `robai
doctor` fails; 2 the arguments make no sense; 130 interrupted. Results go to standard output, all
else to standard error.
"""

import argparse
import importlib
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any, NoReturn

from robai._base.text import Terminal, painted, printable, shown_on
from robai._base.version import VERSION
from robai.cli import options as _options
from robai.cli.output import drop_output, make_print_safe, terminal

_COMMANDS = {
    "simulate": ("play a policy on a bandit, many times", "simulation"),
    "compare": ("play several policies on the same bandit", "simulation"),
    "identify": ("how long policies take to find the best arm", "identification"),
    "confidence": ("how likely policies are to commit to a wrong arm", "confidence"),
    "reproduce": ("a paper's figures, tables and claims, as a report", "reproduction"),
    "plan": ("what to expect of an experiment, before it", "plan"),
    "status": ("how the live experiments of a store stand", "live"),
    "watch": ("the same, again and again, until Ctrl-C", "live"),
    "policies": ("the policies, with a line each", "policies"),
    "doctor": ("what is installed here, and whether it computes what it should", "doctor"),
    "completion": ("a script with which a shell completes the words of robai", "completion"),
}
_EXAMPLES = """
robai simulate --policy eocp --gap 0.5 --means 0.7,0.2 --horizon 1e6 --runs 1e4
robai simulate --policy kl-eocp-ug --bandit bernoulli --means 0.12,0.10 --horizon 1e6 --runs 1e3 --json
robai simulate --policy ucb:level=ratio --means 0.7,0.2 --horizon 1e5 --runs 1e3 --rng 7 --plot regret.png
robai compare --policy eocp --policy eocp-ug --policy ucb --gap 0.5 --means 0.7,0.2 --horizon 1e5 --runs 1e3
robai compare --policy "eocp:gap=0.5" --policy "eocp:gap=0.25" --means 0.7,0.2 --horizon 1e5 --runs 1e3
robai identify --policy track-and-stop --bandit bernoulli --means 0.5,0.45,0.43,0.4 --delta 0.1 --runs 1e3
robai identify --policy ucb --policy kl-ucb --bandit bernoulli --means 0.5,0.4 --budget 200,400 --runs 1e4
robai identify --policy eocp-ug --policy bai-etc --means 0.7,0.2 --horizon 1e100 --runs 1e3 --out here
robai confidence --policy eocp-ug --policy lead-commit --means 0.7,0.2 --horizon 1e4,1e8,1e12
robai plan --arms 4 --gap 0.05 --horizon 1e6
robai plan --policy ucb --policy lead-commit --bandit bernoulli --means 0.12,0.10 --horizon 1e7 --json
robai reproduce --quick                everything with few runs
robai reproduce                        everything at full scale, into robai-report/
robai reproduce --only fig1-gaussian --only table1 --out here
robai reproduce --list                 the publications that can be reproduced
robai reproduce garivier2016 --quick   one of them
robai status live.db
robai status live.db buttons
robai status live.db --json
robai watch live.db --every 10
robai policies
robai doctor
eval "$(robai completion bash)"
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        make_print_safe()
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("robai: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError as error:  # the reader, `head` for instance, has seen enough
        drop_output()
        return _fail(error.__context__, 1) if error.__context__ else 0
    except (ValueError, TypeError) as error:
        return _fail(error, 2)
    except ArithmeticError as error:
        return _fail(ValueError(f"an argument is too large, or too small, to compute with: {error}"), 2)
    except (OSError, ImportError, MemoryError) as error:
        return _fail(error, 1)


def _run(arguments: Sequence[str]) -> int:
    given = _options.joined(arguments)
    parser, commands = parsers(given[0] if given else "")
    if not given:
        raise ValueError(f"a command is needed: {', '.join(_COMMANDS)}; see `robai --help`")
    if not given[0].startswith("-"):
        _options.check_known(given, commands[_options.known("command", given[0], _COMMANDS)])
    try:
        options, rest = parser.parse_known_args(given)
    except SystemExit:  # --help or --version, which are printed
        return 0
    if rest:
        raise ValueError(f"unknown argument {rest[0]!r}")
    with warnings.catch_warnings(), shown_on(terminal(sys.stdout)):
        warn_once = cache(partial(_say, "warning"))
        warnings.showwarning = lambda message, *_, **__: warn_once(str(message))
        code: int | None = options.run(options)
    return code or 0


def _fail(error: BaseException, code: int) -> int:
    _say("error", str(error) or repr(error))
    try:
        sys.stdout.flush()
    except OSError:  # the disk is full, say
        drop_output()
    return code


def _say(kind: str, text: str) -> None:
    with shown_on(Terminal(colour=terminal(sys.stderr).colour)):
        print(f"robai: {painted(kind, f'{kind}:')} {printable(text)}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; see `{self.prog} --help`")


def parsers(asked: str | None) -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """That of the whole command line, and that of each command: with options if asked for, all if None."""

    def texts(name: str, about: str) -> dict[str, Any]:
        examples = [line for line in _EXAMPLES.splitlines() if f"robai {name}" in line]
        if not name:  # one a command
            examples = [next(line for line in examples if f"robai {each}" in line) for each in _COMMANDS]
        return {
            "description": about[0].upper() + about[1:],
            "epilog": "\n  ".join(["examples:", *examples]),
            "formatter_class": argparse.RawDescriptionHelpFormatter,
            "allow_abbrev": False,
        }

    parser = _Parser("robai", **texts("", "bandits that earn while they learn and commit early."))
    parser.add_argument("-V", "--version", action="version", version=f"robai {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (about, module) in _COMMANDS.items():
        added = commands.add_parser(name, help=about, **texts(name, about))
        if asked in (name, None):
            command = importlib.import_module(f"robai.cli.{module}")
            added.set_defaults(run=command.run)
            added.add_argument("--json", action="store_true", help="print JSON, for scripts")
            command.add_options(added)
            needed = [each for each in added._actions if each.required or not each.option_strings]
            words = (f"{' '.join(each.option_strings)} {each.metavar}".strip() for each in needed)
            added.usage = " ".join([added.prog, *words, "[options]"])
    return parser, commands.choices
