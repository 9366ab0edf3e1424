"""Functions that the core calls without Python: compiled by Numba or a C compiler, handed in as pointers.

A function is a `numba.cfunc`, a function of a `ctypes.CDLL`, an integer address, or "package.module:object",
the name of one of these, which is looked up where it is needed. Only a name means something in another
process or another week: the others can be neither pickled nor saved.

>>> import ctypes
>>> signature = Signature("float64(float64)", ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double), "its text")
>>> resolve(ctypes.CDLL(None).sin, signature)
<sin of ctypes>
>>> resolve("ctypes:sin", signature)
Traceback (most recent call last):
ValueError: func='ctypes:sin': ctypes has no sin
"""

from __future__ import annotations

import ctypes
import operator
import re
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_NEEDS_THE_GIL = 4  # FUNCFLAG_PYTHONAPI: of a PyDLL, which may be called by Python alone

# Names that a program has used, as opposed to a file that it has read.
_used: set[str] = set()


class Signature(NamedTuple):
    """The arguments and the result of a function."""

    text: str  # as numba.cfunc takes it
    ctype: Any  # as ctypes has it
    where: str  # what to write for the text


@dataclass(frozen=True, repr=False)
class Pointer:
    """The address of a function, and an object that keeps the function where it is."""

    address: int
    owner: Any = field(default=None, compare=False)
    text: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return f"<{self.text or hex(self.address)}>"


def resolve(func: Any, signature: Signature) -> Pointer:
    """The pointer; a TypeError or ValueError that says what is wrong with `func`."""
    if isinstance(func, str):
        return _pointer(_named(func), signature)
    return func if isinstance(func, Pointer) else _pointer(func, signature)


def kept(func: Any, signature: Signature) -> str | Pointer:
    """What a specification keeps: a name as it is, to be looked up later, anything else as a pointer."""
    if not isinstance(func, str):
        return resolve(func, signature)
    if not _NAME.fullmatch(func):
        raise ValueError(f"func must be a name like 'package.module:object', got {func!r}")
    _used.add(func)
    return func


def need_name(func: str | Pointer, purpose: str) -> None:
    """A ValueError unless the function goes by a name."""
    if not isinstance(func, str):
        raise ValueError(
            f"{purpose} needs a func that is named, 'package.module:object': "
            f"{func!r} is an address in this process, and means nothing elsewhere"
        )


def need_used(func: Any) -> None:
    """A ValueError for a name from a file that this program has not used: it would choose what runs."""
    if func not in _used:
        raise ValueError(
            f"the function {func!r} is code to be run, and a file cannot ask for it: make a rule of it in the "
            "program first"
        )


def _named(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
    except ImportError as error:
        raise ValueError(f"func={name!r}: {module} cannot be imported, {error}") from error
    try:
        return operator.attrgetter(path)(found)
    except AttributeError:
        raise ValueError(f"func={name!r}: {module} has no {path}") from None


def _pointer(func: Any, signature: Signature) -> Pointer:
    if isinstance(func, int) and not isinstance(func, bool):
        if not 0 < func < 256 ** ctypes.sizeof(ctypes.c_void_p):
            raise ValueError(f"func must be the address of a function, got {func}")
        return Pointer(func)
    if isinstance(func, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        _check(func, func, signature)
        address = ctypes.cast(func, ctypes.c_void_p).value
        if not address:
            raise ValueError(f"func must be the address of a function, got {func!r}, which is NULL")
        return Pointer(address, func, f"{getattr(func, '__name__', 'function')} of ctypes")
    address, declared = getattr(func, "address", None), getattr(func, "ctypes", None)
    if isinstance(address, int) and isinstance(declared, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        _check(func, declared, signature)
        return Pointer(address, func, f"{getattr(func, '__name__', 'function')} of numba")
    if callable(func) and not isinstance(func, type):
        name = getattr(func, "__name__", "function")
        name += ".py_func" if hasattr(func, "py_func") else ""  # of numba.njit
        raise TypeError(
            f"func must be compiled, got {func!r}; write numba.cfunc({signature.where})({name}) instead"
        )
    raise TypeError(
        "func must be a numba.cfunc, a function of a ctypes.CDLL, an address or 'package.module:object', "
        f"got {func!r}"
    )


def _check(func: Any, declared: Any, signature: Signature) -> None:
    """A TypeError if a function is declared to be of another signature."""
    if declared._flags_ & _NEEDS_THE_GIL:
        raise TypeError(f"func must not need Python's lock, got {func!r}: load its library by ctypes.CDLL")
    result, arguments = declared.restype, declared.argtypes
    if arguments is None and result is ctypes.c_int:  # as a CDLL makes it: nothing is declared
        return
    wanted = signature.ctype._argtypes_
    same = result is signature.ctype._restype_ and (
        arguments is None or (len(arguments) == len(wanted) and all(map(_fits, arguments, wanted)))
    )
    if not same:
        types = "?" if arguments is None else ", ".join(each.__name__ for each in arguments)
        raise TypeError(
            f"func must be {signature.text}, got {func!r}, which is "
            f"{getattr(result, '__name__', result)}({types})"
        )


def _fits(declared: Any, wanted: Any) -> bool:
    if declared is wanted:
        return True
    pointer = issubclass(wanted, ctypes._Pointer)
    return pointer and (declared is ctypes.c_void_p or not issubclass(declared, ctypes._SimpleCData))
