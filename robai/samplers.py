"""Rewards that a function of one's own draws, written in Python or compiled."""

# pyright: reportIncompatibleMethodOverride=false
# Fields take the place of properties: see `replaceable`.
from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np

from robai import families
from robai._base import checks, pointers
from robai._base.intervals import Mean
from robai._base.pointers import Pointer, Signature, is_pointer
from robai._base.spec import Field, Kind, optional, parameter, spec
from robai._core import families as _core
from robai._core.engine import TAPE_LENGTH
from robai._core.rng import Stream
from robai._core.samplers import CompiledDraws, PythonDraws
from robai.bandits.base import LARGEST_REWARD, MEANS, MOST_ARMS_SHOWN, Bandit, Means

__all__ = ["Sampler"]

Draw = Callable[[int, int, np.random.Generator], Any]
STANDARD_ERRORS = 5.0


def _draw(name: str, value: Any) -> Draw | Pointer:
    if isinstance(value, str | Pointer) or is_pointer(value):
        signature = Signature(Sampler.signature, Sampler.ctypes_signature, "robai.Sampler.signature")
        return Pointer.of(name, value, signature)
    if isinstance(value, type) or not callable(value):
        raise TypeError(f"{name} must be a function draw(arm, size, rng) or a compiled one, got {value!r}")
    draw: Draw = value
    return draw


def _support(name: str, value: Any) -> tuple[float, float]:
    try:
        low, high = map(float, value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be the smallest and the largest reward, got {value!r}") from None
    if not low < high:
        raise ValueError(f"{name} must be the smallest and then the largest reward, got {value!r}")
    return low, high


@spec
class Sampler(Bandit):
    """A bandit whose rewards a function draws. Every round is played.

    Parameters
    ----------
    draw : callable or compiled function
        `draw(arm, size, rng)` returns an array of `size` rewards, 64 at most; `rng` is a NumPy Generator on
        the stream of the run, the only source to draw from. Or a compiled function, a `numba.cfunc`, one of
        ctypes, its address, or "package.module:object" with one of these, which alone can be sent to other
        processes and used with checkpoints::

            void draw(int64_t arm, double* out, int64_t size, bitgen_t* bitgen)

        `Sampler.signature` is that for numba, where a `bitgen_t*` is a pointer to the pointer to the four
        words of the generator's state; `Sampler.ctypes_signature` is that for ctypes.
    means
        The mean of each arm, from which regret is reckoned: a promise, see `check`.
    support : (float, float) or None, default None
        The smallest and the largest reward, if there are.
    sigma : float, sequence of float or None, default None
        A sigma for which the rewards are sigma-sub-Gaussian, if it is known to be smaller than half the
        length of the support.
    family
        What KL policies and Thompson sampling take the rewards for; `families.Bounded` of the support, if
        None.

    Examples
    --------
    >>> import robai
    >>> def draw(arm, size, rng):
    ...     return rng.triangular(0.0, 0.25 + 0.5 * arm, 1.0, size)
    >>> bandit = robai.Sampler(draw, [1.25 / 3, 1.75 / 3], support=(0, 1))
    >>> robai.simulate(robai.UCB(), bandit, horizon=1000, runs=20, rng=0).best_arm
    1
    """

    signature: ClassVar[str] = "void(int64, CPointer(float64), int64, CPointer(CPointer(uint64)))"
    ctypes_signature: ClassVar[Any] = ctypes.CFUNCTYPE(
        None, ctypes.c_int64, ctypes.POINTER(ctypes.c_double), ctypes.c_int64, ctypes.c_void_p
    )

    draw: Field[Any, Draw | Pointer] = parameter(Kind(_draw, "what draws the rewards"))
    means: Means = parameter(MEANS)
    _: KW_ONLY
    support: Field[tuple[float, float] | None, tuple[float, float]] = parameter(
        Kind(optional(_support), "smallest and largest reward"), default=None
    )
    sigma: Field[Any, families.Scale | None] = parameter(
        Kind(optional(checks.scales), "for which the rewards are sub-Gaussian"), default=None
    )
    family: Field[families.FamilyLike | None, families.Family | None] = parameter(
        Kind(optional(lambda _, value: families.as_family(value)), "what the rewards are taken for"),
        default=None,
    )

    @classmethod
    def _from_file(cls, arguments: dict[str, Any]) -> Self:
        pointers.need_used(arguments.get("draw"))  # else a file could have any code loaded
        return super()._from_file(arguments)

    def __post_init__(self) -> None:
        super().__post_init__()
        own: Any = (-math.inf, math.inf) if self.family is None else self.family.support
        support: tuple[float, float] = own if self.support is None else self.support
        if self.family is None and all(map(math.isfinite, support)):
            object.__setattr__(self, "family", families.Bounded(*support))
        if support[0] < own[0] or support[1] > own[1]:
            raise ValueError(
                f"family={self.family!r} is for rewards in [{own[0]:g}, {own[1]:g}], got support={support!r}"
            )
        object.__setattr__(self, "support", support)
        means = tuple(checks.real(f"means[{arm}]", mean) for arm, mean in enumerate(self.means))
        for arm, mean in enumerate(means):
            low, high = self._limits()
            if not low <= mean <= high:
                raise ValueError(f"means[{arm}] must be from {low:g} to {high:g}, got {mean!r}")
        object.__setattr__(self, "means", means)
        if self.sigma is not None:
            families.one_an_arm(self.sigma, self.n_arms)

    @property
    def proxy(self) -> families.Scale | None:
        if self.sigma is not None:
            return self.sigma
        low, high = self.support
        if math.isfinite(high - low):
            return (high - low) / 2.0  # Hoeffding's lemma
        return None if self.family is None else self.family.proxy

    def check(self, n: int = 10**5, rng: Any = 0) -> tuple[Mean, ...]:
        """Draw n rewards of each arm; a ValueError if their mean is not the promised one.

        Parameters
        ----------
        n : int
            How many rewards of each arm.
        rng : None, int, SeedSequence or Generator
            The seed.

        Returns
        -------
        tuple of Mean
            The mean of each arm's rewards with its standard error; none is more than five of these from the
            mean that was promised.

        Examples
        --------
        >>> coin = Sampler(lambda arm, size, rng: rng.random(size) < 0.3, [0.3, 0.3], support=(0, 1))
        >>> round(coin.check()[0].sem, 4)
        0.0014
        """
        n = checks.whole("n", n, 2, 10**9)
        stream = Stream(np.random.default_rng(rng).integers(1, 2**63, size=4).tolist())
        drawn = tuple(self._measure(arm, n, stream) for arm in range(self.n_arms))
        for arm, (promised, found) in enumerate(zip(self.means, drawn, strict=True)):
            # Sums of n equal numbers differ from n times the number by rounding.
            rounding = 1e-12 * max(abs(promised), abs(found.value))
            if abs(found.value - promised) > STANDARD_ERRORS * found.sem + rounding:
                raise ValueError(
                    f"means[{arm}] must be the mean of the rewards, got {promised!r}: {n:,} of them have "
                    f"mean {found.value:.6g}, with a standard error of {found.sem:.2g}"
                )
        return drawn

    def _measure(self, arm: int, n: int, stream: Stream) -> Mean:
        core, mean, sizes = self._core(), self.means[arm], range(0, n, TAPE_LENGTH)
        pieces = [core.rewards(arm, mean, min(TAPE_LENGTH, n - done), stream) for done in sizes]
        rewards = np.concatenate(pieces)
        return Mean(float(rewards.mean()), float(rewards.std(ddof=1) / math.sqrt(n)))

    def to_dict(self) -> dict[str, Any]:
        described = super().to_dict()
        name = self.draw.path or repr(self.draw) if isinstance(self.draw, Pointer) else _name(self.draw)
        # JSON has no infinities.
        support = [end if math.isfinite(end) else str(end) for end in self.support]
        return described | {"draw": name, "support": support}

    def obstacle(self) -> str:
        if not isinstance(self.draw, Pointer):
            return f"draw={_name(self.draw)} is written in Python"
        return "" if self.draw.path else f"draw={self.draw!r} is an address of this process"

    def __repr__(self) -> str:
        draw = repr(self.draw) if isinstance(self.draw, Pointer) else _name(self.draw)
        means = f"{self.n_arms:,} means" if self.n_arms > MOST_ARMS_SHOWN else repr(self.means)
        return f"Sampler({draw}, {means})"

    def _limits(self) -> tuple[float, float]:
        low, high = self.support
        return max(low, -LARGEST_REWARD), min(high, LARGEST_REWARD)

    def _core(self) -> _core.Sampler:
        if isinstance(self.draw, Pointer):
            return CompiledDraws(self.draw.address(), *self._limits())
        return PythonDraws(self.draw, *self._limits())


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))
