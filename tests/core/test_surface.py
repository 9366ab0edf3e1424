"""The functions of the core are those that the Python layer calls; what tests need beyond is in `probes`."""

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import robai
from robai import _core

MODULES = {module.name for module in pkgutil.iter_modules(_core.__path__)} - {"probes", "_shared"}
AFTER_A_FORK = {"_forked"}  # called by Python itself


def functions(module):
    """The functions and methods of a compiled module, without special ones and those that Cython adds."""
    spaces = [vars(module)]
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__ and not issubclass(value, tuple):
            spaces.append(vars(value))
    return {
        name
        for space in spaces
        for name, value in space.items()
        if type(value).__name__ in ("cython_function_or_method", "method_descriptor")
        and not name.startswith("__")
    }


def looked_up(path):
    """The names that a Python file looks up."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id


CALLED = {name for path in Path(robai.__file__).parent.rglob("*.py") for name in looked_up(path)}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_function_of_the_core_is_called_by_the_package(name):
    assert functions(importlib.import_module(f"robai._core.{name}")) - AFTER_A_FORK <= CALLED


def test_functions_are_found():
    assert functions(importlib.import_module("robai._core.engine")) == {
        "advance",
        "accumulate",
        "drop_the_rest",
    }
