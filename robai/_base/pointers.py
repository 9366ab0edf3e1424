"""Addresses of compiled functions, however they are given: numba's, those of ctypes, numbers, names."""

from __future__ import annotations

import ctypes
import importlib
import inspect
import operator
from dataclasses import dataclass
from typing import Any

from robai._base import checks

_HIGHEST = 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 1
_FUNCTION: Any = ctypes._CFuncPtr  # type: ignore[attr-defined]  # what all functions of ctypes are


@dataclass(frozen=True)
class Pointer:
    """A compiled function.

    Attributes
    ----------
    given : a `numba.cfunc`, a function of ctypes, an address, or "package.module:object" with one of these
    parameters : how many it takes

    Examples
    --------
    >>> import ctypes
    >>> Pointer.of("func", ctypes.CDLL(None).cos, 1, "").address() > 0
    True
    """

    given: Any
    parameters: int

    @classmethod
    def of(cls, name: str, value: Any, parameters: int, instead: str) -> Pointer:
        """A checked pointer; a TypeError for a plain Python function, which says what to write `instead`."""
        if isinstance(value, Pointer):
            return value
        if isinstance(value, str):
            module, _, path = value.partition(":")
            if not all(part.isidentifier() for part in [*module.split("."), *path.split(".")]):
                raise ValueError(f'{name} must be "package.module:object" if it is a text, got {value!r}')
        elif not is_pointer(value):
            way = f"; write {instead}" if callable(value) and instead else ""
            raise TypeError(
                f'{name} must be a numba.cfunc, a function of ctypes, an address or "package.module:object", '
                f"got {value!r}{way}"
            )
        pointer = cls(value, parameters)
        if pointer.path is None:
            _address(name, value, parameters)
        return pointer

    @property
    def path(self) -> str | None:
        """Where other processes find it too; None if they cannot."""
        return self.given if isinstance(self.given, str) else None

    def address(self) -> int:
        """Where it is in this process."""
        if self.path is None:
            return _address("the function", self.given, self.parameters)
        module, _, names = self.path.partition(":")
        try:
            found = operator.attrgetter(names)(importlib.import_module(module))
        except (ImportError, AttributeError) as error:
            raise ValueError(f"there is no {self.path!r}: {error}") from error
        if not is_pointer(found):
            raise TypeError(
                f"{self.path!r} must be a numba.cfunc, a function of ctypes or an address, got {found!r}"
            )
        return _address(repr(self.path), found, self.parameters)

    def __repr__(self) -> str:
        return repr(self.path) if self.path else f"<{_name(self.given)}, compiled>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is None:
            raise ValueError(
                f"{self!r} is an address of this process, and cannot be sent to another, saved or copied: "
                'give it as "package.module:object"'
            )
        return type(self), (self.given, self.parameters)


def is_pointer(value: Any) -> bool:
    """Is it a compiled function, or the address of one?"""
    if isinstance(value, bool) or inspect.isclass(value):
        return False
    return isinstance(value, int | _FUNCTION) or _is_cfunc(value)


def _is_cfunc(value: Any) -> bool:
    """Is it what `numba.cfunc` makes? Told by what it has: numba is not needed here."""
    return isinstance(getattr(value, "address", None), int) and hasattr(value, "native_name")


def _name(value: Any) -> str:
    name = getattr(value, "__name__", None) or getattr(value, "native_name", None)
    return str(name or (hex(value) if isinstance(value, int) else type(value).__name__))


def _address(name: str, value: Any, parameters: int) -> int:
    """The address, after a look at how many parameters the function is declared with, if it says so."""
    if isinstance(value, _FUNCTION):
        address, declared = ctypes.cast(value, ctypes.c_void_p).value or 0, value.argtypes
    elif _is_cfunc(value):
        address, declared = value.address, getattr(getattr(value, "_sig", None), "args", None)
    else:
        address, declared = value, None
    if declared is not None and len(declared) != parameters:
        raise ValueError(f"{name} must take {parameters} parameters, got {value!r} with {len(declared)}")
    return checks.whole(name, address, 1, _HIGHEST)
