"""Runs that were played apart, of one simulation or with seeds of their own, put together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from robai._core.engine import accumulate
from robai.result.arrays import Floats
from robai.result.runs import Runs

_Kind = TypeVar("_Kind", bound=Runs)
_OF_RUNS = ("entropy", "spawn_key", "first_run", "runs", "seeds", "seconds")  # of `meta`: may differ


class Part(NamedTuple):
    """Runs first, ..., last - 1 of a seed."""

    entropy: list[str]
    spawn_key: list[int]
    first: int
    last: int

    @property
    def seed(self) -> tuple[list[str], list[int]]:
        return self.entropy, self.spawn_key

    def __str__(self) -> str:
        return f"{self.first:,} to {self.last - 1:,} of seed {', '.join(self.entropy)}"


def joined(
    one: _Kind, others: Sequence[_Kind], same: Sequence[str] = ()
) -> tuple[list[_Kind], dict[str, Any]]:
    """Results in the order of their runs, and what `meta` says of them together.

    A TypeError or a ValueError if they do not belong together: apart from their runs all is the same, and the
    runs of each seed are a range without a gap. `same` are attributes that have to agree as well.
    """
    for each in others:
        _check_alike(one, each, same)
    parts: dict[int, list[Part]] = {id(each): _parts(each) for each in (one, *others)}
    seeds: list[Any] = []
    for part in (part for each in parts.values() for part in each):
        if part.seed not in seeds:
            seeds.append(part.seed)

    def place(each: Runs) -> tuple[int, int]:
        own = parts[id(each)]
        return (seeds.index(own[0].seed), own[0].first) if own else (len(seeds), 0)

    ordered = sorted((one, *others), key=place)
    known = [part for each in ordered for part in parts[id(each)]]
    for seed in seeds:
        _check_a_range(sorted((part for part in known if part.seed == seed), key=lambda part: part.first))
    meta = {name: value for name, value in one.meta.items() if name not in _OF_RUNS}
    meta |= {"runs": sum(each.runs for each in ordered), **_told(known)}
    meta["seconds"] = sum(each.meta.get("seconds", 0.0) for each in ordered)
    return ordered, meta


def _check_alike(one: Runs, other: Any, same: Sequence[str]) -> None:
    if type(other) is not type(one):
        raise TypeError(f"others must be {type(one).__name__} objects, got {other!r}")
    for name in ("label", *same):
        own, its = getattr(one, name), getattr(other, name)
        if not np.array_equal(own, its):
            raise ValueError(f"others must have the same {name}, {own!r}, got {its!r}")
    for name in sorted((one.meta.keys() | other.meta.keys()) - set(_OF_RUNS)):
        own, its = one.meta.get(name), other.meta.get(name)
        if own != its:
            raise ValueError(f"others must be of the same {name}, {own!r}, got {its!r}")
    if one.own_means != other.own_means or not (
        one.own_means or np.array_equal(one.means, other.means, equal_nan=True)
    ):
        raise ValueError(f"others must have the same means, {one.means}, got {other.means}")


def _parts(result: Runs) -> list[Part]:
    """Which runs it has, as far as its `meta` tells."""
    meta = result.meta
    if "entropy" not in meta:
        return [Part(*each) for each in meta.get("seeds", [])]
    first = meta.get("first_run", 0)
    return [Part(meta["entropy"], meta.get("spawn_key", []), first, first + result.runs)]


def _check_a_range(parts: list[Part]) -> None:
    for before, after in itertools.pairwise(parts):
        if after.first < before.last:
            raise ValueError(f"others must have other runs or seeds, got runs {after} twice")
        if after.first > before.last:
            raise ValueError(f"others must go on where runs end, after runs {before}, got {after}")


def _told(parts: list[Part]) -> dict[str, Any]:
    """For `meta`: one seed, as of a single simulation, or all of them."""
    whole: list[Part] = []
    for part in parts:
        if whole and whole[-1].seed == part.seed and whole[-1].last == part.first:
            whole[-1] = whole[-1]._replace(last=part.last)
        else:
            whole.append(part)
    if len(whole) != 1:
        return {"seeds": [list(part) for part in whole]} if whole else {}
    [only] = whole
    first = {"first_run": only.first} if only.first else {}
    return {"entropy": only.entropy, "spawn_key": only.spawn_key} | first


def of_rows(rows: Floats) -> tuple[Floats, Floats]:
    """Means of columns and their standard errors, as a simulation computes them."""
    mean, squares = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    count = accumulate(0, mean, squares, rows)
    return mean, errors(squares, count)


def errors(squares: Floats, count: int) -> Floats:
    """Standard errors of means, of the sums of squared deviations from them."""
    freedom = count - 1 if count > 1 else math.nan  # one run cannot tell
    found: Floats = np.sqrt(squares / freedom / count)
    return found


def of_means(parts: Sequence[tuple[int, Floats, Floats]]) -> tuple[Floats, Floats]:
    """The same of numbers of runs, their means and standard errors (Chan, Golub and LeVeque, 1983)."""
    count, mean, squares = 0, np.zeros(1), np.zeros(1)
    for runs, own, sem in parts:
        weight, apart = runs / (count + runs), own - mean
        within = np.nan_to_num(sem) ** 2 * runs * (runs - 1)
        squares = squares + within + apart * apart * count * weight
        mean, count = mean + apart * weight, count + runs
    return mean, errors(squares, count)
