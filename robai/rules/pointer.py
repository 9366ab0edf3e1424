"""Rules that are a function of the user's, compiled elsewhere and called by its address."""

from __future__ import annotations

import ctypes
import itertools
import math
from functools import cached_property
from typing import Any, ClassVar, Self

from robai._base import checks, pointers
from robai._base.spec import Field, Kind, Part, flag, parameter, spec
from robai._core.levels import Level as CoreLevel
from robai._core.pointers import FunctionLevel
from robai.rules.game import Game

Function = Field[Any, pointers.Pointer]
_SLACK = 1e-9  # relative, for rounding: the margin that bounds have as well


def _unchecked(name: str, value: Any) -> Any:
    return value  # but by `Pointed`, which knows the signature


def _name(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{name} must be a non-empty string, got {value!r}")
    return value


FUNCTION = Kind(_unchecked, "a numba.cfunc, a ctypes function, an address or 'package.module:object'")
NAME = Kind(_name, "what to call it")
GROWS = Kind(flag, "whether it depends on the round")
MOMENTS = Kind(lambda name, value: checks.whole(name, value, 1, 2), "2 to be given sums of squares, else 1")
INITIAL_PULLS = Kind(lambda name, value: checks.whole(name, value, 1, 2**31), "of every arm, at first")


class Pointed(Part):
    """A rule with a function `func`; only one that goes by a name can be pickled or saved."""

    signature: ClassVar[str]
    ctypes_signature: ClassVar[Any]
    func: Function
    name: str

    def __post_init__(self) -> None:
        super().__post_init__()
        where = f"robai.rules.{type(self).__name__}.signature"
        expected = pointers.Signature(self.signature, self.ctypes_signature, where)
        object.__setattr__(self, "func", pointers.Pointer.of("func", self.func, expected))

    def label(self) -> str:
        return self.name

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"func": self.func.path or repr(self.func)}

    @classmethod
    def _from_file(cls, arguments: dict[str, Any]) -> Self:
        pointers.need_used(arguments.get("func"))
        return super()._from_file(arguments)

    def _need_names(self, purpose: str) -> None:
        self.func.need_path(f"{purpose} {type(self).__name__} {self.name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        self._need_names("pickling")
        return _made, (type(self), dict(self._parameters()) | {"func": self.func.path})

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


def _made(kind: type[Pointed], arguments: dict[str, Any]) -> Pointed:
    return kind(**arguments)


@spec
class Level(Pointed):
    """The level f of confidence bounds, as a function: `UpperBound(level=Level(...))`, `KLUpperBound(...)`.

    It must not be negative, must rise or fall with the pulls but not both, and must not fall with the round.
    So it **leaps**: rounds in which nothing is decided are not played. Where it is infinite for few pulls,
    every arm is pulled in turn until it is not.

    Parameters
    ----------
    func : numba.cfunc, ctypes function, int or str
        double f(double pulls, double t, double horizon, double arms): the level of an arm with so many
        pulls, before round t (1, 2, ...). A string is "package.module:object", looked up where it is
        needed; only a function that is named so can be pickled, checkpointed, saved and sent to processes.
    name
        What to call it, in labels and messages.
    grows
        Whether it depends on t.

    Examples
    --------
    MOSS, whose level is 2 log+(T / (K N)), compiled by numba::

        @numba.cfunc(rules.Level.signature)
        def moss(pulls, t, horizon, arms):
            return 2 * max(math.log(horizon / (arms * pulls)), 0.0)

        policy = robai.Policy(explore=rules.UpperBound(level=rules.Level(moss, name="MOSS")))

    >>> Level.signature
    'float64(float64, float64, float64, float64)'
    >>> Level("my_levels:moss", name="MOSS")
    Level(func='my_levels:moss', name='MOSS', grows=False)
    """

    signature: ClassVar[str] = "float64(float64, float64, float64, float64)"
    ctypes_signature: ClassVar[Any] = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * 4)
    func: Function = parameter(FUNCTION)
    name: str = parameter(NAME, kw_only=True)
    grows: bool = parameter(GROWS, default=False, kw_only=True)

    def start(self, game: Game) -> CoreLevel:
        """The compiled level, for a game; the function is looked at first.

        Parameters
        ----------
        game : Game
            The number of arms, the horizon and what the rewards are.

        Returns
        -------
        compiled level

        Raises
        ------
        ValueError
            If it is not what a level has to be.

        Examples
        --------
        >>> from robai import families
        >>> rising = Level.ctypes_signature(lambda pulls, t, horizon, arms: math.log(t))
        >>> Level(rising, name="log t").start(Game.of(2, 1000, families.Gaussian(1.0)))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ValueError: Level 'log t' depends on t: say grows=True; ...
        """
        found = self.func.resolve()
        level = FunctionLevel(*found, self.name, self.grows, game.horizon, game.n_arms)
        case = found.address, game.horizon, game.n_arms
        if case not in self._checked:
            self._check(level, game)
            self._checked.add(case)
        return level

    @cached_property
    def _checked(self) -> set[tuple[int, float, int]]:
        """What the function was looked at for; kept with what keeps it at its address."""
        return set()

    def _check(self, level: FunctionLevel, game: Game) -> None:
        """A ValueError if it is not what a level has to be; looks at some values, up to the horizon."""
        last = float(game.horizon)
        pulls = [float(level.first)]
        while pulls[-1] < last:
            pulls.append(min(2.0 * pulls[-1], last))
        at_last = [level.value(n, last) for n in pulls]
        for n, then in zip(pulls, at_last, strict=True):
            for t in (n, math.sqrt(n * last)):
                now = level.value(n, t)
                if now > then + _SLACK * abs(then) or (not self.grows and now < then - _SLACK * abs(then)):
                    why = "must not fall with t" if self.grows else "depends on t: say grows=True"
                    raise ValueError(
                        f"Level {self.name!r} {why}; it is {now:g} at t={t:g} and {then:g} at t={last:g}, "
                        f"for pulls={n:g}"
                    )
        complaint = level.complaint()
        if complaint is not None:
            raise ValueError(complaint)
        if at_last[0] == math.inf:
            raise ValueError(f"Level {self.name!r} must be finite, and is infinite for pulls={pulls[0]:g}")
        steps = [
            (after - before, place)
            for place, (before, after) in enumerate(itertools.pairwise(at_last))
            if abs(after - before) > _SLACK * max(before, after)
        ]
        turn = next((place for step, place in steps if (step > 0) != (steps[0][0] > 0)), None)
        if turn is not None:
            shown = ", ".join(f"{at_last[i]:g} at {pulls[i]:g}" for i in (0, turn, turn + 1))
            raise ValueError(
                f"Level {self.name!r} must rise or fall with the pulls, not both: it is {shown}; "
                "an Index may do as it likes"
            )
