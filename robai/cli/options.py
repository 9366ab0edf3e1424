"""Policies, bandits and numbers as they are written on the command line."""

import argparse
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from robai._base import checks
from robai.bandits import BANDITS, Bandit
from robai.policies import POLICIES
from robai.policies.base import BasePolicy

PARAMETERS = sorted({each.name for policy in POLICIES.values() for each in fields(policy)})
"""The parameters that policies have, each an option of its own."""

_ABOUT = {each.name: each.metadata["kind"].about for policy in POLICIES.values() for each in fields(policy)}


def check_known(arguments: Sequence[str], commands: Mapping[str, argparse.ArgumentParser]) -> None:
    """A ValueError with the name that was probably meant, if the command or one of its options is unknown."""
    if not arguments or arguments[0].startswith("-"):
        return
    command = checks.one_of("command", arguments[0], commands)
    known = ["--", "--help", *re.findall(r"--[\w-]+", commands[command].format_usage())]
    for option in (each.partition("=")[0] for each in arguments if each.startswith("--")):
        if option not in known:
            raise ValueError(f"{command} has no option {option!r}{checks.nearest(option, known)}")


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
    try:
        return int(text.replace("_", ""))
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number such as 1e6, got {text!r}") from None
    if not (math.isfinite(number) and number.is_integer()):
        raise argparse.ArgumentTypeError(f"must be a whole number such as 1e6, got {text!r}")
    return int(number)


def numbers(text: str) -> tuple[float, ...]:
    """Numbers with commas between them."""
    try:
        return tuple(float(each) for each in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers such as 0.7,0.2, got {text!r}") from None


def add_policy_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("parameters of the policies, for those that have them")
    for name in PARAMETERS:
        group.add_argument(f"--{name}", type=_value, metavar="X", help=_ABOUT[name])


def add_bandit_options(parser: argparse._ActionsContainer, *, required: bool) -> None:
    parser.add_argument(
        "--bandit",
        default="gaussian",
        metavar="NAME",
        help=f"{', '.join(BANDITS)} (gaussian); parameters after a colon, as in binomial:n=10",
    )
    parser.add_argument(
        "--means",
        type=numbers,
        required=required,
        metavar="M,M,...",
        help="mean reward of each arm",
    )


def read_policies(texts: list[str], options: argparse.Namespace) -> list[BasePolicy]:
    """The policies of `--policy NAME` or `--policy NAME:parameter=value,...`, with the options that apply."""
    given = {name: getattr(options, name) for name in PARAMETERS if getattr(options, name) is not None}
    policies, used = [], {"sigma"}  # which the bandit may be the one to use
    for text in texts:
        name, own = _split("policy", text)
        kind = POLICIES[checks.one_of("policy", name, POLICIES)]
        accepted = [each.name for each in fields(kind)]
        _check_names(name, own, accepted)
        used |= set(accepted)
        parameters = {key: value for key, value in given.items() if key in accepted} | own
        for each in fields(kind):
            if each.default is MISSING and each.name not in parameters:
                raise ValueError(
                    f"policy {name} needs {each.name}, the {_ABOUT[each.name]}: give --{each.name} or "
                    f"{name}:{each.name}=..."
                )
        policies.append(kind(**parameters))
    unused = [name for name in given if name not in used]
    if unused:
        raise ValueError(f"--{unused[0]} is a parameter of none of the policies {', '.join(texts)}")
    return policies


def read_bandit(text: str, means: tuple[float, ...], sigma: float | None = None) -> Bandit:
    """The bandit of `--bandit NAME` or `--bandit NAME:parameter=value` and `--means`."""
    name, own = _split("bandit", text)
    kind = BANDITS[checks.one_of("bandit", name, BANDITS)]
    required = {each.name: each.default is MISSING for each in fields(kind) if each.name != "means"}
    _check_names(name, own, required)
    if sigma is not None and "sigma" in required:
        own = {"sigma": sigma} | own
    for parameter, is_needed in required.items():
        if is_needed and parameter not in own:
            raise ValueError(f"bandit {name} needs {parameter}: write --bandit {name}:{parameter}=...")
    return kind(means, **own)


def _split(what: str, text: str) -> tuple[str, dict[str, Any]]:
    """NAME and the parameters after its colon."""
    name, _, rest = text.partition(":")
    parameters = {}
    for each in filter(None, rest.split(",")):
        key, equals, value = each.partition("=")
        if not equals or not value:
            raise ValueError(f"{what} must be a name, or name:parameter=value,..., got {text!r}")
        parameters[key.strip()] = _value(value.strip())
    return name.strip(), parameters


def _check_names(name: str, given: Mapping[str, Any], accepted: Collection[str]) -> None:
    for key in given:
        if not accepted:
            raise ValueError(f"{name} has no parameters, got {key!r}")
        checks.one_of(f"parameter of {name}", key, accepted)


def _value(text: str) -> float | str:
    """A number where it is one; every parameter checks its own."""
    try:
        return float(text)
    except ValueError:
        return text
