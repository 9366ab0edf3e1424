"""Policies, bandits and numbers as they are written on the command line."""

import argparse
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from typing import Any, TypeVar, get_args

from robai._base import checks
from robai._base.spec import Spec
from robai._play.request import Engine
from robai.bandits import BANDITS, Bandit
from robai.policies import POLICIES
from robai.policies.base import BasePolicy

_Kind = TypeVar("_Kind", bound=Spec)

_KINDS = [(each.name, each.metadata["kind"].about) for policy in POLICIES.values() for each in fields(policy)]
# One option serves all policies, also where its values are not the same for all.
_ABOUT = {
    name: "; ".join(dict.fromkeys(text for other, text in _KINDS if other == name)) for name, _ in _KINDS
}
PARAMETERS = sorted(_ABOUT)
"""The parameters that policies have, each an option of its own."""


def known(what: str, name: str, names: Iterable[str], listed: str = "") -> str:
    """The name, if it is one of them; else a ValueError with the nearest, or all, or where they are."""
    names = list(names)
    if name in names:
        return name
    others = f"see `{listed}`" if listed else f"there are {', '.join(names)}"
    close = checks.nearest(name.lower(), names) or f"; {others}"
    raise ValueError(f"there is no {what} {name!r}{close}")


def check_known(arguments: Sequence[str], parser: argparse.ArgumentParser) -> None:
    """A ValueError with the name that was probably meant, if an option of a command is unknown."""
    names = ["--", *parser._option_string_actions]
    for option in (each.partition("=")[0] for each in arguments if each.startswith("--")):
        known(f"option of {parser.prog}", option, names, f"{parser.prog} --help")


def joined(arguments: Sequence[str]) -> list[str]:
    """`--means -1,0` as `--means=-1,0`: argparse would take all but plain negative numbers for options."""
    result: list[str] = []
    for each in arguments:
        is_value = each.startswith("-") and not each.startswith("--") and each != "-h"
        if is_value and result and re.fullmatch(r"--[\w-]+", result[-1]):
            result[-1] += f"={each}"
        else:
            result.append(each)
    return result


def path(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("must be a path, got ''")
    return text


def whole(text: str) -> int:
    """An integer; 1e6 is one."""
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        if (number := float(text)).is_integer():
            return int(number)
    raise argparse.ArgumentTypeError(f"must be a whole number such as 1e6, got {text!r}")


def rounds(text: str) -> int | float:
    """The same, or inf."""
    return math.inf if text.lower() == "inf" else whole(text)


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(each) for each in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers such as 0.7,0.2, got {text!r}") from None


def _value(text: str) -> float | bool | str:
    """A number, true or false where it is one; every parameter checks its own."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    with suppress(ValueError):
        return float(text)
    return text


def add_game_options(parser: argparse.ArgumentParser, *, several: bool) -> Callable[..., Any]:
    """The policy, or several, and the bandit; the function that adds to this group."""
    add = parser.add_argument_group("what is played").add_argument
    more = "; repeat for each" if several else ""
    named = f"see `robai policies`; parameters after a colon, as in eocp:gap=0.5,inflation=0.2{more}"
    add("--policy", action="append" if several else "store", required=True, metavar="NAME", help=named)
    add_bandit_options(add, required=True)
    return add


def add_bandit_options(add: Callable[..., Any], *, required: bool) -> None:
    listed = f"{', '.join(BANDITS)} (gaussian); parameters after a colon, as in binomial:n=10"
    add("--bandit", default="gaussian", metavar="NAME", help=listed)
    means = "mean reward of each arm"
    add("--means", type=_numbers, required=required, metavar="M,M,...", help=means)


def add_run_options(parser: argparse.ArgumentParser) -> Callable[..., Any]:
    """How it is played and what is kept; the function that adds to the latter."""
    add = parser.add_argument_group("how it is played").add_argument
    add("--runs", type=whole, required=True, metavar="N", help="independent runs")
    add("--rng", type=whole, metavar="SEED", help="seed (a fresh one)")
    add("--engine", default="auto", metavar="NAME", help=f"{', '.join(get_args(Engine))} (auto)")
    add("--workers", type=whole, metavar="N", help="threads (all cores)")
    add("--checkpoint", type=path, metavar="DIR", help="keep finished batches here, go on from them")
    return parser.add_argument_group("what is written").add_argument


def add_policy_options(parser: argparse.ArgumentParser, without: Sequence[str] = ()) -> None:
    group = parser.add_argument_group("parameters of the policies, for those that have them")
    for name in (each for each in PARAMETERS if each not in without):
        group.add_argument(f"--{name}", type=_value, metavar="X", help=_ABOUT[name])


def read_policies(texts: list[str], options: argparse.Namespace) -> list[BasePolicy]:
    """The policies of `--policy`, with the options that apply."""
    policies = [read_policy(text, vars(options)) for text in texts]
    used = {"sigma"}.union(*(each.__dataclass_fields__ for each in policies))  # sigma: perhaps by the bandit
    for name in PARAMETERS:
        if getattr(options, name) is not None and name not in used:
            raise ValueError(f"--{name} is a parameter of none of the policies {', '.join(texts)}")
    return policies


def read_policy(text: str, options: Mapping[str, Any]) -> BasePolicy:
    return _read("policy", text, POLICIES, options)


def read_bandit(options: argparse.Namespace) -> Bandit:
    """The bandit of `--bandit` and `--means`."""
    return _read("bandit", options.bandit, BANDITS, vars(options))


def _read(what: str, text: str, kinds: Mapping[str, type[_Kind]], options: Mapping[str, Any]) -> _Kind:
    """What NAME or NAME:parameter=value,... stands for, with the options for what it does not say itself."""
    name, _, rest = (each.strip() for each in text.partition(":"))
    kind = kinds[known(what, name, kinds, "robai policies" if what == "policy" else "")]
    defaults = {each.name: each.default for each in fields(kind)}
    parameters = {key: options[key] for key in defaults if options.get(key) is not None}
    settable = [key for key in defaults if key != "means"]
    for each in filter(None, rest.split(",")):
        key, _, value = (part.strip() for part in each.partition("="))
        if not value:
            raise ValueError(f"{what} must be a name, or name:parameter=value,..., got {text!r}")
        if not settable:
            raise ValueError(f"{name} has no parameters, got {key!r}")
        parameters[known(f"parameter of {name}", key, settable)] = _value(value)
    for key, default in defaults.items():
        if default is MISSING and key not in parameters:
            how = f", the {_ABOUT[key]}: give --{key} or" if what == "policy" else ": write --bandit"
            raise ValueError(f"{what} {name} needs {key}{how} {name}:{key}=...")
    return kind(**parameters)
