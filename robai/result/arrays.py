"""The arrays of a result: what each has to be, and what is read off the gaps of many instances."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TYPES: dict[str, type] = {
    **dict.fromkeys(("times", "commit_time", "committed_arm", "pulls", "answers"), np.int64),
    **dict.fromkeys(("stopping_time", "recommended_arm"), np.int64),
    **dict.fromkeys(("choices", "sum_digits", "square_digits", "counts"), np.int64),
    **dict.fromkeys(
        ("regret", "regret_sem", "final_regret", "gaps", "means", "curves", "counted"), np.float64
    ),
}

MOST_RUNS = 2**53

Layout = Mapping[str, tuple[str, ...]]  # the axes of each array; the first with an axis alone tells its size


def check_shapes(shapes: Mapping[str, tuple[int, ...]], layout: Layout) -> None:
    """Whether shapes agree; those of means and gaps are arms, or runs x arms if every run has its own."""
    own, sizes = len(shapes["gaps"]) == 2, dict[str, int]()
    for name, axes in layout.items():
        shape = shapes[name][1:] if name == "gaps" and own else shapes.get(name, ())
        axis, *others = axes
        if others or axis in sizes:
            continue
        if shape == (0,) and name == "gaps" and own:
            raise ValueError(f"gaps must have at least one arm, got shape {shapes[name]}")
        if len(shape) != 1 or shape == (0,):
            raise ValueError(f"{name} must be a non-empty vector, got shape {shape}")
        sizes[axis] = shape[0]
    *most, last = (f"{size} {axis}" for axis, size in sizes.items())
    for name, axes in layout.items():
        each = ("runs", "arms") if own and name in ("gaps", "means") else axes
        expected = tuple(sizes[axis] for axis in each)
        if shapes.get(name, expected) != expected:
            raise ValueError(
                f"{name} must have shape {expected} to agree with {', '.join(most)} and {last}, "
                f"got {shapes[name]}"
            )


def check_type(name: str, found: np.dtype) -> type:
    """What the entries of an array have to be; a TypeError if they cannot become it."""
    dtype = TYPES[name]
    if not np.can_cast(found, dtype, "same_kind"):
        raise TypeError(f"{name} must be an array of {dtype.__name__}, got {found}")
    return dtype


def owned(name: str, values: Any) -> NDArray[Any]:
    """A read-only array that nobody else can write to."""
    array = np.asarray(values)
    owner = array if array.base is None else array.base
    frozen = isinstance(owner, np.ndarray) and owner.flags.owndata and not owner.flags.writeable
    array = array.astype(check_type(name, array.dtype), copy=not frozen)
    array.flags.writeable = False
    return array.view()  # of which the flag cannot be set again


def agree(a: NDArray[np.float64], b: NDArray[np.float64], terms: int) -> bool:
    """Whether sums of so many terms, all at least 0, are equal up to rounding."""
    number = np.finfo(np.float64)
    return bool((np.abs(a - b) <= 4.0 * (terms + 4) * number.eps * a + number.tiny).all())


def within(array: NDArray[Any], low: float = 0.0, high: float = sys.float_info.max) -> bool:
    """Whether all entries are; by default at least 0 and finite."""
    return bool(((array >= low) & (array <= high)).all())


def best_arms(gaps: Floats) -> NDArray[np.int64]:
    """The arm with gap 0 in each row, -1 where there are several."""
    best: NDArray[np.int64] = np.where((gaps == 0.0).sum(axis=1) == 1, gaps.argmin(axis=1), -1)
    return best


def gaps_of(arms: NDArray[np.int64], gaps: Floats) -> Floats:
    """The gap of one arm a run; arms are numbered from 0."""
    return gaps[arms] if gaps.ndim == 1 else gaps[np.arange(len(arms)), arms]


def ranks_of(arms: NDArray[np.int64], gaps: Floats) -> NDArray[np.int64]:
    """The place of one arm a run in the order of its gaps, from the best arm to the worst."""
    order = np.argsort(gaps, axis=1, kind="stable")
    return np.nonzero(order == arms[:, np.newaxis])[1]


def by_rank(pulls: NDArray[np.int64], gaps: Floats) -> NDArray[np.int64]:
    """The columns of each row in the order of its gaps, from the best arm to the worst."""
    order = np.argsort(np.broadcast_to(gaps, pulls.shape), axis=1, kind="stable")
    return np.take_along_axis(pulls, order, axis=1)


def smallest_gap(gaps: Floats) -> Floats:
    """How far the second best arm of each row is below the best."""
    smallest: Floats = np.partition(gaps, 1, axis=-1)[..., 1]
    return smallest


def complexity(gaps: Floats) -> Floats:
    """The sum of 1/gap^2 over all arms of a row but the best; infinite if several are."""
    with np.errstate(divide="ignore", over="ignore"):
        inverse: Floats = (1.0 / np.square(np.sort(gaps, axis=-1)[..., 1:])).sum(axis=-1)
    return inverse
