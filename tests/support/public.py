"""The public names of the package, found and not listed."""

import inspect
import pydoc
import re
import sys
from operator import attrgetter
from types import ModuleType

import robai

MODULES = [robai, *(value for name in robai.__all__ if isinstance(value := getattr(robai, name), ModuleType))]
PROPERTIES = ("fget", "func", "_get")  # where a property, a cached one and a replaceable have their function


def names():
    """Functions and classes of every `__all__`, what these return, their methods and properties; and data.

    By the full name of where they are written. Not what Python or NumPy wrote, nor what is compiled.
    """
    found, waiting = {}, dict(_exported())
    while waiting:
        name, value = waiting.popitem()
        found[name] = value
        members = dict(_members(value)) if inspect.isclass(value) else {}
        found |= members
        for each in [value, *members.values()]:
            waiting |= {_name(kind): kind for kind in _returned(each) if _name(kind) not in found}
    return dict(sorted(found.items()))


def _name(value):
    return f"{value.__module__}.{value.__qualname__}"


def _exported():
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield _name(value), value
            elif not isinstance(value, ModuleType):
                yield f"{module.__name__}.{name}", value


def _members(kind):
    """The public methods and properties that a class has from robai; fields of tuples are its parameters."""
    for name in filter(lambda name: not name.startswith("_"), dir(kind)):
        owner = next(base for base in kind.__mro__ if name in vars(base))
        value = inspect.getattr_static(kind, name)
        value = getattr(value, "__func__", value)
        written = inspect.isfunction(value) or any(hasattr(value, each) for each in PROPERTIES)
        if written and owner.__module__.startswith("robai."):
            yield f"{_name(owner)}.{name}", value


def _returned(value):
    """The classes of robai in the annotation of what a function or a property returns."""
    function = next((getattr(value, each) for each in PROPERTIES if hasattr(value, each)), value)
    annotation = getattr(function, "__annotations__", {}).get("return", "")
    for name in re.findall(r"[\w.]+", annotation if isinstance(annotation, str) else repr(annotation)):
        try:
            kind = attrgetter(name)(sys.modules[function.__module__])
        except AttributeError:  # its full name, or one that is there for type checkers alone
            kind = pydoc.locate(name)
        if inspect.isclass(kind) and kind.__module__.startswith("robai.") and "._core" not in kind.__module__:
            yield kind
