"""Functions that the core calls without Python: compiled by numba or a C compiler, handed in as pointers.

A function is a `numba.cfunc`, a function of a `ctypes.CDLL`, an address, or "package.module:object", the name
of one of these, which is looked up where it is needed. Only a name means something in another process or
another week: the others can be neither pickled nor saved.
"""

from __future__ import annotations

import ctypes
import importlib
import inspect
import operator
from dataclasses import dataclass
from typing import Any, NamedTuple

from robai._base import checks

_HIGHEST = 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 1
_FUNCTION: Any = ctypes._CFuncPtr  # type: ignore[attr-defined]  # what all functions of ctypes are
_NEEDS_THE_LOCK = 4  # FUNCFLAG_PYTHONAPI, of a PyDLL

# Names that the program has used, as opposed to a file that it has read.
_used: set[str] = set()


class Signature(NamedTuple):
    """The parameters and the result of a function."""

    text: str  # as numba.cfunc takes it
    ctype: Any  # as ctypes has it
    where: str  # what to write for the text

    def __reduce__(self) -> tuple[Any, ...]:  # types of functions and pointers have no names to go by
        types = [self.ctype._restype_, *self.ctype._argtypes_]
        plain = [ctypes.c_void_p if each is not None and _points(each) else each for each in types]
        return _signature, (self.text, plain, self.where)


def _signature(text: str, types: list[Any], where: str) -> Signature:
    return Signature(text, ctypes.CFUNCTYPE(*types), where)


class Resolved(NamedTuple):
    """Where a function is in this process, and an object that keeps it there."""

    address: int
    owner: Any


@dataclass(frozen=True, eq=False, repr=False)
class Pointer:
    """A compiled function, which goes by a name or has an address.

    Attributes
    ----------
    given : a `numba.cfunc`, a function of ctypes, an address, or "package.module:object" with one of these
    expected : its Signature

    Examples
    --------
    >>> import ctypes
    >>> signature = Signature("float64(float64)", ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double), "...")
    >>> Pointer.of("func", "math:cos", signature)
    'math:cos'
    >>> Pointer.of("func", "math:cos", signature).address()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: 'math:cos' must be a numba.cfunc, ..., got <built-in function cos>; write numba.cfunc(...)(cos)
    """

    given: Any
    expected: Signature

    @classmethod
    def of(cls, name: str, value: Any, expected: Signature) -> Pointer:
        """A checked pointer; a TypeError for a plain Python function, which says what to write instead."""
        if isinstance(value, Pointer):
            return value
        pointer = cls(value, expected)
        if pointer.path is None:
            _resolved(name, value, expected)
            return pointer
        module, _, path = pointer.path.partition(":")
        if not all(part.isidentifier() for part in [*module.split("."), *path.split(".")]):
            raise ValueError(f'{name} must be "package.module:object" if it is a text, got {value!r}')
        _used.add(pointer.path)
        return pointer

    @property
    def path(self) -> str | None:
        """Where other processes find it too; None if they cannot."""
        return self.given if isinstance(self.given, str) else None

    def address(self) -> int:
        """Where it is in this process."""
        return self.resolve().address

    def resolve(self) -> Resolved:
        """Where it is in this process, and what keeps it there."""
        if self.path is None:
            return _resolved("the function", self.given, self.expected)
        module, _, names = self.path.partition(":")
        try:
            found = operator.attrgetter(names)(importlib.import_module(module))
        except (ImportError, AttributeError) as error:
            raise ValueError(f"there is no {self.path!r}: {error}") from error
        return _resolved(repr(self.path), found, self.expected)

    def need_path(self, purpose: str) -> None:
        """A ValueError, which begins with the purpose, unless it goes by a name."""
        if self.path is None:
            raise ValueError(
                f"{purpose} needs a function that goes by a name, and {self!r} is an address of this "
                'process, which means nothing elsewhere: give it as "package.module:object"'
            )

    def __repr__(self) -> str:
        return repr(self.path) if self.path else f"<{_name(self.given)}, compiled>"

    def _key(self) -> str | int:
        return self.path or self.address()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pointer) and self._key() == other._key()

    def __hash__(self) -> int:  # functions of ctypes have none
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        self.need_path("pickling")
        return type(self), (self.given, self.expected)

    def __copy__(self) -> Pointer:
        return self

    def __deepcopy__(self, memo: object) -> Pointer:
        return self


def resolve(func: Any, signature: Signature) -> Resolved:
    """The address of a function, in whichever way it is given, and what keeps it there."""
    return Pointer.of("func", func, signature).resolve()


def need_used(path: Any) -> None:
    """A ValueError for a name that this program has not used: a file that names it would choose what runs."""
    if path not in _used:
        raise ValueError(
            f"{path!r} is code to be run, which a file cannot ask for: use it in the program first"
        )


def is_pointer(value: Any) -> bool:
    """Is it a compiled function, or the address of one?"""
    if isinstance(value, bool) or inspect.isclass(value):
        return False
    return isinstance(value, int | _FUNCTION) or _is_cfunc(value)


def _is_cfunc(value: Any) -> bool:
    """Is it what `numba.cfunc` makes? Told by what it has: numba is not needed here."""
    return isinstance(getattr(value, "address", None), int) and hasattr(value, "native_name")


def _name(value: Any) -> str:
    if isinstance(value, int):
        return hex(value)
    return str(getattr(value, "__name__", None) or getattr(value, "native_name", None) or "function")


def _resolved(name: str, value: Any, expected: Signature) -> Resolved:
    """The address, after a look at how the function is declared, if it says so."""
    if not is_pointer(value):
        way = ""
        if callable(value) and not inspect.isclass(value):
            function = f"{_name(value)}.py_func" if hasattr(value, "py_func") else _name(value)  # of njit
            way = f"; write numba.cfunc({expected.where})({function})"
        raise TypeError(
            f'{name} must be a numba.cfunc, a function of ctypes, an address or "package.module:object", '
            f"got {value!r}{way}"
        )
    if isinstance(value, int):
        address, declared = value, None
    elif _is_cfunc(value):
        address, declared = value.address, value.ctypes
    else:
        address, declared = ctypes.cast(value, ctypes.c_void_p).value or 0, value
    checks.whole(name, address, 1, _HIGHEST)
    if declared is not None:
        _check(name, value, declared, expected)
    return Resolved(address, value)


def _check(name: str, value: Any, declared: Any, expected: Signature) -> None:
    """An error if a function is declared to be of another signature."""
    if declared._flags_ & _NEEDS_THE_LOCK:
        raise TypeError(f"{name} must not need Python's lock, got {value!r}: load it by ctypes.CDLL")
    result, parameters = declared.restype, declared.argtypes
    if parameters is None and result is ctypes.c_int:  # as a CDLL makes it: nothing is declared
        return
    wanted = expected.ctype._argtypes_
    if result is expected.ctype._restype_ and (
        parameters is None or (len(parameters) == len(wanted) and all(map(_fits, parameters, wanted)))
    ):
        return
    types = "?" if parameters is None else ", ".join(each.__name__ for each in parameters)
    found = f"{getattr(result, '__name__', result)}({types})"
    raise TypeError(f"{name} must be {expected.text}, got {value!r}, which is {found}")


def _fits(declared: Any, wanted: Any) -> bool:
    return declared is wanted or (_points(declared) and _points(wanted))


def _points(ctype: Any) -> bool:
    return ctype is ctypes.c_void_p or not issubclass(ctype, ctypes._SimpleCData)
