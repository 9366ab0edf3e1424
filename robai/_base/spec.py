"""Specifications: frozen dataclasses whose parameters are checked when they are made.

    SIGMA = Kind(scale, "standard deviation of the rewards")

    @spec
    class UCB(Spec):
        sigma: float = parameter(SIGMA, default=1.0)

Policies, rules, families and bandits are specifications: comparable, hashable, picklable, never changed by
being used, and written to files by `to_dict`. A kind of parameter is described once: checks, messages, the
command line and the documentation read it there.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from array import array
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field
from functools import cache, cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    Self,
    TypeVar,
    dataclass_transform,
    get_args,
    overload,
)

from robai._base import checks

Check = Callable[[str, Any], Any]
Taken = TypeVar("Taken", contravariant=True)
Kept = TypeVar("Kept", covariant=True)
_T = TypeVar("_T")
Pairs = tuple[tuple[str, str], ...]

_DEEPEST = 20  # specifications within specifications
_LONGEST = 1000  # entries of a sequence in a description
_MOST_SHOWN = 50  # of them in a text


class Kind(NamedTuple):
    """A kind of parameter: check(name, value) returns what is kept or raises; `about` says what it is."""

    check: Check
    about: str


def parameter(kind: Kind, *, default: Any = MISSING, kw_only: bool = False) -> Any:
    """A field of a specification."""
    return field(default=default, kw_only=kw_only, metadata={"kind": kind})


@dataclass_transform(frozen_default=True, field_specifiers=(parameter,))
def spec(kind: type[_T]) -> type[_T]:
    """Makes a class a specification."""
    made: Any = dataclass(frozen=True, repr=False)(kind)
    if made.__doc__:
        made.__doc__ = _Documentation(made.__doc__)
    return made  # type: ignore[no-any-return]


class _Documentation:
    """A docstring that lists the parameters, by their kinds; put together when it is first read."""

    def __init__(self, text: str) -> None:
        self.text, self.whole = text, ""

    def __get__(self, instance: object, owner: type) -> str:
        if not self.whole:
            from robai._base.documentation import with_parameters

            bases = [vars(base).get("__doc__") for base in owner.__mro__[1:]]
            inherited = [each.text for each in bases if isinstance(each, _Documentation)]
            self.whole = with_parameters(owner, self.text, inherited)
        return self.whole


if TYPE_CHECKING:
    replaceable = property

    class Field(Generic[Taken, Kept]):
        """The type of a parameter that is not kept as it is taken: `Field[taken, kept]`."""

        @overload
        def __get__(self, instance: None, owner: type) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type) -> Kept: ...
        def __get__(self, instance: object, owner: type) -> Any: ...
        def __set__(self, instance: Any, value: Taken) -> None: ...

else:

    class replaceable:
        """A property that a field of a subclass can take the place of."""

        def __init__(self, get: Callable[[Any], Any]) -> None:
            self._get, self.__doc__ = get, get.__doc__

        def __get__(self, instance: object, owner: type) -> Any:
            return self if instance is None else self._get(instance)

    class Field:
        def __class_getitem__(cls, item: tuple[Any, Any]) -> Any:
            return item[0]


def optional(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def choice(literal: Any) -> Check:
    """One of the strings of a Literal type."""
    return lambda name, value: checks.one_of(name, value, get_args(literal))


def whole(low: int, high: int) -> Check:
    return lambda name, value: checks.whole(name, value, low, high)


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return value


def between(low: float, high: float) -> Check:
    return lambda name, value: checks.between(name, value, low, high)


def nonnegative(name: str, value: Any) -> float:
    return checks.at_least(name, value, 0.0)


# Of a class: they do not change.
_fields: Callable[[Any], tuple[dataclasses.Field[Any], ...]] = cache(dataclasses.fields)


class Spec:
    """What all specifications have."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    # Parameters of which one at least must have its default. Whether that was said or left out is not known:
    # copies and files say all.
    exclusive: ClassVar[Pairs] = ()

    def __post_init__(self) -> None:
        for each in _fields(type(self)):
            if "kind" in each.metadata:
                value = each.metadata["kind"].check(each.name, getattr(self, each.name))
                object.__setattr__(self, each.name, value)
        changed = dict(self._changed()) if self.exclusive else {}
        for first, second in self.exclusive:
            if first in changed and second in changed:
                given = f"{first}={changed[first]!r} and {second}={changed[second]!r}"
                raise ValueError(f"{type(self).__name__} takes {first} or {second}, got {given}")

    def _parameters(self) -> list[tuple[str, Any]]:
        return [(each.name, getattr(self, each.name)) for each in _fields(type(self))]

    def _changed(self) -> list[tuple[str, Any]]:
        """The parameters that are not at their default."""
        default = {each.name: each.default for each in _fields(type(self))}
        return [(name, value) for name, value in self._parameters() if value != default[name]]

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self._parameters())
        return f"{type(self).__name__}({parameters})"

    def label(self) -> str:
        """The name with the parameters that are not at their default, and these with theirs.

        Returns
        -------
        str

        Examples
        --------
        >>> import robai
        >>> robai.EOCP(gap=0.5, inflation=1.0).label()
        'EOCP(gap=0.5)'
        """
        labelled = (
            (name, value.label() if isinstance(value, Spec) else repr(value))
            for name, value in self._changed()
        )
        changed = ", ".join(f"{name}={text}" for name, text in labelled)
        return f"{type(self).__name__}({changed})"

    def to_dict(self) -> dict[str, Any]:
        """Its name under "type", and every parameter: a default that changes cannot change an old file.

        Returns
        -------
        dict

        Examples
        --------
        >>> import robai
        >>> robai.EOCP(gap=0.5).to_dict()
        {'type': 'EOCP', 'gap': 0.5, 'inflation': 1.0, 'sigma': None}
        """
        return {"type": type(self).__name__} | {name: _plain(value) for name, value in self._parameters()}

    def brief(self) -> dict[str, Any]:
        """`to_dict` in JSON values, with length and hash of sequences of more than 1,000 entries.

        Returns
        -------
        dict

        Examples
        --------
        >>> import robai
        >>> robai.Bernoulli([0.5] * 2000).brief()["means"]["length"]
        2000
        """
        description: dict[str, Any] = json.loads(self._brief)  # one for each who asks
        return description

    @cached_property
    def _brief(self) -> str:
        return json.dumps(_brief(self.to_dict()))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, depth: int = _DEEPEST) -> Self:
        """The specification that `to_dict` described; a ValueError or TypeError if there is none such.

        A parameter that is missing has its default. The type is looked up among robai's own.

        Parameters
        ----------
        data : mapping
            What `to_dict` returned, or what JSON made of it.
        depth : int
            How many specifications may be within each other.

        Returns
        -------
        Spec
            One of the class that this is called on.

        Examples
        --------
        >>> import robai
        >>> robai.UCB.from_dict({"type": "UCB", "level": "ratio"})
        UCB(level='ratio', sigma=None)
        """
        if depth == 0:
            raise ValueError("it is nested too deeply")
        if not isinstance(data, Mapping):
            raise TypeError(f"must be an object, got {str(data)[:40]!r}")
        arguments, kinds = dict(data), dict(_own(cls))
        kind = kinds[checks.one_of("type", arguments.pop("type", None), kinds)]
        known = {each.name for each in _fields(kind)}
        if not set(arguments) <= known:
            raise ValueError(f"{kind.__name__} has no parameter {sorted(set(arguments) - known)[0]!r}")
        for name, value in arguments.items():
            if isinstance(value, Mapping):
                arguments[name] = kind._part(name).from_dict(value, depth=depth - 1)
        return kind._from_file(arguments)

    @classmethod
    def _from_file(cls, arguments: dict[str, Any]) -> Self:
        return cls(**arguments)

    def _need_names(self, purpose: str) -> None:
        """A ValueError, which begins with the purpose, if its description does not tell all that it is."""
        for _, value in self._parameters():
            if isinstance(value, Spec):
                value._need_names(purpose)

    @classmethod
    def _part(cls, name: str) -> type[Spec]:
        """What a parameter of this name is if it is a specification itself."""
        return Part


class Part(Spec):
    """A specification that can be a parameter of another one: a rule or a family."""


def _plain(value: Any) -> Any:
    if isinstance(value, Spec):
        return value.to_dict()
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _own(cls: type[_T]) -> list[tuple[str, type[_T]]]:
    """The package's own specifications of a class, by name: files can name no others."""
    listed = [(cls.__name__, cls)] if "__dataclass_fields__" in vars(cls) else []
    for kind in cls.__subclasses__():
        if kind.__module__.startswith("robai."):
            listed += _own(kind)
    return listed


def _brief(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _brief(each) for name, each in value.items()}
    if isinstance(value, list) and len(value) <= _LONGEST:
        return [_brief(each) for each in value]
    if isinstance(value, list):
        return {"length": len(value), "sha256": hashlib.sha256(_bytes(value)).hexdigest()}
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return repr(value)  # in a specification that is not robai's own


def _bytes(value: list[Any]) -> bytes:
    """Numbers, or rows of them, as they are in memory: a text of them would take ten times as long."""
    kinds = set(map(type, value))
    if kinds == {float}:
        return array("d", value).tobytes()
    if kinds == {list}:
        return b"".join(b"[%d]" % len(each) + _bytes(each) for each in value)
    return json.dumps(value, default=repr).encode()


def as_text(description: Any) -> str:
    """A description as it could be typed, without long sequences; a text, which old files have, as it is."""
    return description if isinstance(description, str) else _text(description)


def _text(value: Any) -> str:
    match value:
        case {"type": kind, **parameters}:
            return f"{kind}({', '.join(f'{name}={_text(each)}' for name, each in parameters.items())})"
        case {"length": length, "sha256": _}:
            return f"({length:,} entries)"
        case list() if len(value) > _MOST_SHOWN:
            return f"({len(value):,} entries)"
        case [each]:
            return f"({_text(each)},)"
        case list():
            return f"({', '.join(map(_text, value))})"
    return repr(value)
