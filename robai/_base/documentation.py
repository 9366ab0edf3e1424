"""What `help` shows of a specification: its docstring, with a section on every parameter.

A class writes there what is its own. What it does not say of a parameter a class that it inherits from says,
or the kind of the parameter; types and defaults are those of the field, unless they are written.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import textwrap
import types
from collections.abc import Callable, Iterable
from typing import Any, Literal, Union, get_args, get_origin

_TITLE = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)
_WIDTH = 106


def with_parameters(kind: type, text: str, inherited: list[str]) -> str:
    """The docstring of a class with all its parameters; `inherited` are those of the classes before it."""
    head, sections = _sections(text)
    before = (_sections(each)[1].get("Parameters", "") for each in inherited)
    written = [_entries(section) for section in (sections.pop("Parameters", ""), *before)]
    fields = [each for each in dataclasses.fields(kind) if each.init]
    if not fields:
        return text
    parameters = []
    for each in fields:
        own = next((entries[each.name] for entries in written if each.name in entries), "")
        form, _, about = own.partition("\n")
        parameters.append(f"{each.name} : {form or _form(kind, each)}".rstrip(" :"))
        parameters.append(about or _about(each))
    sections = {"Parameters": "\n".join(filter(None, parameters))} | sections
    return "\n\n".join([head, *(f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections.items())])


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """What comes before the sections, and these by their titles."""
    head, *rest = _TITLE.split(inspect.cleandoc(text))
    return head.strip(), {title: body.strip() for title, body in zip(rest[::2], rest[1::2], strict=True)}


def _entries(section: str) -> dict[str, str]:
    """The type, which may be missing, and on the next lines the text, of every parameter of a section."""
    found: dict[str, str] = {}
    for entry in filter(None, re.split(r"\n(?=\S)", section)):
        header, _, about = entry.partition("\n")
        names, _, form = header.partition(" : ")
        found |= {name: f"{form}\n{about}" for name in names.split(", ")}
    return found


def _about(field: dataclasses.Field[Any]) -> str:
    about: str = field.metadata["kind"].about if "kind" in field.metadata else ""
    first, _, _ = about.partition(" ")
    if len(first) > 1 or first == "a":  # no symbol
        about = f"{about[0].upper()}{about[1:]}"
    return textwrap.indent(textwrap.fill(about and f"{about}.", _WIDTH), "    ")


def _form(kind: type, field: dataclasses.Field[Any]) -> str:
    default = "" if field.default is dataclasses.MISSING else f"default {field.default!r}"
    return ", ".join(filter(None, [_shown(_type(kind, field.name)), default]))


def _type(kind: type, name: str) -> Any:
    for base in kind.__mro__:
        if name in vars(base).get("__annotations__", {}):
            form = base.__annotations__[name]
            try:
                return eval(form, vars(sys.modules[base.__module__])) if isinstance(form, str) else form
            except NameError:  # a name that is there for type checkers alone
                return Any
    return Any


def _shown(form: Any) -> str:
    """A type as people write it; nothing where it says nothing."""
    if form is Any:
        return ""
    if form is type(None):
        return "None"
    origin, parts = get_origin(form), get_args(form)
    if origin is Literal:
        return f"{{{', '.join(map(repr, parts))}}}"
    if origin in (Union, types.UnionType):
        *first, last = map(_shown, parts)
        return f"{', '.join(first)} or {last}"
    if origin is Callable:
        return "callable"
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return f"sequence of {_shown(parts[0])}"
    return str(form.__name__)
