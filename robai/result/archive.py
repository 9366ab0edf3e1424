"""Results in files: one .npz with the arrays of one or several, and what they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from robai._base.files import Declared, load_arrays, save_arrays
from robai.result.arrays import check_shapes, check_type
from robai.result.runs import Runs

_SCHEMA = 1  # of saved files; raise it when the meaning of a field changes
_ALONE = ("robai.Result", "robai.Summary", "robai.Identification")
_Kind = TypeVar("_Kind", bound=Runs)


def save(path: str | os.PathLike[str], kind: str, results: Sequence[Runs]) -> None:
    described = [
        {"keep": result.KEEP} | {name: getattr(result, name) for name in ("label", "meta", *result.SCALARS)}
        for result in results
    ]
    arrays = {
        _prefix(kind, i) + name: array
        for i, result in enumerate(results)
        for name, array in result._kept().items()
    }
    save_arrays(path, {"format": kind, "schema": _SCHEMA, "results": described}, arrays)


def load(path: str | os.PathLike[str], kind: str, *kinds: type[_Kind]) -> list[_Kind]:
    """What `save` wrote, every number checked. Nothing in the file is ever executed."""
    header, arrays = load_arrays(
        path, lambda header, declared: _check_declared(kind, kinds, header, declared)
    )
    try:
        return [of(**given) for of, given in _divided(kind, kinds, header, arrays)]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def _prefix(kind: str, position: int) -> str:
    """What the names of a result's arrays start with in a file: nothing if it is alone."""
    return "" if kind in _ALONE else f"{position}."


def _divided(
    kind: str, kinds: Sequence[type[_Kind]], header: dict[str, Any], arrays: dict[str, Any]
) -> Iterator[tuple[type[_Kind], dict[str, Any]]]:
    """What is said of every result in a file, and what belongs to it of `arrays`, which is taken away."""
    by_name = {of.KEEP: of for of in kinds}
    for i, each in enumerate(header["results"]):
        of = by_name[each.get("keep", kinds[0].KEEP)]
        names = {name: _prefix(kind, i) + name for name in of.LAYOUT}
        own = {name: arrays.pop(long) for name, long in names.items() if long in arrays}
        yield of, {name: each[name] for name in ("label", "meta", *of.SCALARS)} | own


def _check_declared(
    kind: str, kinds: Sequence[type[Runs]], header: dict[str, Any], declared: Declared
) -> None:
    """Whether the arrays of a file are those of results, before any of them is expanded."""
    try:
        if header["format"] != kind:
            raise ValueError(f"format must be {kind!r}, got {header['format']!r}")
        if header["schema"] != _SCHEMA:
            schema = header["schema"]
            raise ValueError(f"schema must be {_SCHEMA}, got {schema!r}: another version of robai wrote it")
        left = dict(declared)
        for of, own in _divided(kind, kinds, header, left):
            if missing := set(of.LAYOUT) - set(of.OPTIONAL) - set(own):
                raise ValueError(f"results must have all their arrays, got none for {sorted(missing)}")
            arrays = {name: own[name] for name in of.LAYOUT if name in own}
            for name, (dtype, _) in arrays.items():
                check_type(name, dtype)
            check_shapes({name: shape for name, (_, shape) in arrays.items()}, of.LAYOUT)
        if left or not header["results"]:
            count = len(header["results"])
            raise ValueError(f"results must describe every array, got {count} and, besides, {list(left)}")
    except KeyError as error:
        raise ValueError(f"the header has no {error}") from error
