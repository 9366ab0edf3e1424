"""Priors: where the means of the arms come from if every run has its own (see `robai.Instances`).

A function of one's own, `prior(rng, size)`, that returns `size` rows with a mean for each arm, does as well,
and so does an array with a row an instance.

>>> import robai
>>> instances = robai.Instances("bernoulli", robai.priors.Beta(1.0, 9.0), n_arms=5)
>>> robai.simulate(robai.KLUCB(), instances, horizon=1000, runs=10, rng=0).means.shape
(10, 5)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai._base import checks
from robai._base.spec import Field, Kind, Spec, between, nonnegative, parameter, spec

__all__ = ["Beta", "Function", "Gaps", "Given", "Normal", "Prior", "Uniform", "as_prior"]

Means = NDArray[np.float64]


@spec
class Prior(Spec):
    """What all priors have.

    Examples
    --------
    >>> isinstance(as_prior("prior", [[0.7, 0.2], [0.5, 0.4]]), Prior)
    True
    """

    def draw(self, rng: np.random.Generator, runs: range, n_arms: int) -> Means:
        """The means of these runs, a row each.

        Parameters
        ----------
        rng : numpy.random.Generator
            Where to draw from.
        runs : range
            The numbers of the runs.
        n_arms : int
            The number of arms.

        Returns
        -------
        ndarray of float
            Runs x arms.

        Examples
        --------
        >>> Uniform().draw(np.random.default_rng(0), range(2), 3).shape
        (2, 3)
        """
        raise NotImplementedError


NUMBER = Kind(checks.real, "a mean")
SPREAD = Kind(checks.scale, "standard deviation of the means")
SHAPE = Kind(between(1e-3, 1e9), "parameter of a beta distribution")


@spec
class Uniform(Prior):
    """Independent means, uniform from `low` to `high`.

    Examples
    --------
    >>> Uniform(0.0, 1.0).draw(np.random.default_rng(0), range(1), 3).round(3).tolist()
    [[0.637, 0.27, 0.041]]
    """

    low: float = parameter(NUMBER, default=0.0)
    high: float = parameter(NUMBER, default=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.high - self.low < np.inf:
            raise ValueError(f"high must be above low, got {self.high!r} and {self.low!r}")

    def draw(self, rng: np.random.Generator, runs: range, n_arms: int) -> Means:
        return rng.uniform(self.low, self.high, (len(runs), n_arms))


@spec
class Normal(Prior):
    """Independent means, normal around `mean` with standard deviation `sd`.

    Examples
    --------
    >>> Normal(1.0, 0.5).draw(np.random.default_rng(0), range(1), 3).round(3).tolist()
    [[1.063, 0.934, 1.32]]
    """

    mean: float = parameter(NUMBER, default=0.0)
    sd: float = parameter(SPREAD, default=1.0)

    def draw(self, rng: np.random.Generator, runs: range, n_arms: int) -> Means:
        return rng.normal(self.mean, self.sd, (len(runs), n_arms))


@spec
class Beta(Prior):
    """Independent means in [0, 1], of the beta distribution with parameters a and b.

    Examples
    --------
    >>> Beta(1.0, 9.0).draw(np.random.default_rng(0), range(1), 3).round(3).tolist()
    [[0.076, 0.0, 0.054]]
    """

    a: float = parameter(SHAPE, default=1.0)
    b: float = parameter(SHAPE, default=1.0)

    def draw(self, rng: np.random.Generator, runs: range, n_arms: int) -> Means:
        return rng.beta(self.a, self.b, (len(runs), n_arms))


@spec
class Gaps(Prior):
    """In random order one mean `best`, one `best - gap`, the others uniform in the `spread` below that.

    Parameters
    ----------
    best
        The largest mean.

    Examples
    --------
    >>> Gaps(0.8, 0.25, 0.25).draw(np.random.default_rng(0), range(1), 3).round(3).tolist()
    [[0.54, 0.8, 0.55]]
    """

    best: float = parameter(NUMBER)
    gap: float = parameter(Kind(checks.positive, "difference of the two best means"))
    spread: float = parameter(Kind(nonnegative, "how far below these the others are"), default=0.0)

    def draw(self, rng: np.random.Generator, runs: range, n_arms: int) -> Means:
        second = self.best - self.gap
        means = second - self.spread * rng.random((len(runs), n_arms))
        means[:, 0], means[:, 1] = self.best, second
        return rng.permuted(means, axis=1)


@spec
class Function(Prior):
    """Means that a function draws.

    Parameters
    ----------
    function
        `function(rng, size)` returns an array with `size` rows and a column an arm.

    Examples
    --------
    >>> prior = Function(lambda rng, size: np.sort(rng.random((size, 3))))
    >>> prior.draw(np.random.default_rng(0), range(1), 3).round(3).tolist()
    [[0.041, 0.27, 0.637]]
    """

    function: Callable[[np.random.Generator, int], ArrayLike] = parameter(
        Kind(lambda name, value: value, "the function")
    )

    def draw(self, rng: np.random.Generator, runs: range, n_arms: int) -> Means:
        drawn = np.asarray(self.function(rng, len(runs)))
        if drawn.shape != (len(runs), n_arms) or drawn.dtype.kind not in "biuf":
            raise ValueError(
                f"prior must return an array of numbers of shape {(len(runs), n_arms)}, "
                f"got {drawn.dtype} of shape {drawn.shape}"
            )
        return drawn.astype(np.float64)

    def __repr__(self) -> str:
        return f"Function({self._name()})"

    def _name(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__qualname__))

    def to_dict(self) -> dict[str, Any]:
        return {"type": "Function", "name": self._name()}


def _table(name: str, value: Any) -> Means:
    array = np.asarray(value)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf":
        shape = f"{array.dtype} of shape {array.shape}"
        raise ValueError(f"{name} must be an array of numbers, instances x arms, got {shape}")
    array = array.astype(np.float64)
    array.flags.writeable = False
    return array


@spec
class Given(Prior):
    """Means of an array, of which run r takes row r modulo their number.

    Parameters
    ----------
    means : array
        Instances x arms.

    Examples
    --------
    >>> Given([[0.7, 0.2], [0.5, 0.4]]).draw(np.random.default_rng(0), range(2, 5), 2).tolist()
    [[0.7, 0.2], [0.5, 0.4], [0.7, 0.2]]
    """

    means: Field[ArrayLike, Means] = parameter(Kind(_table, "means of every instance"))

    def draw(self, rng: np.random.Generator, runs: range, n_arms: int) -> Means:
        drawn: Means = self.means[np.arange(runs.start, runs.stop) % len(self.means)]
        return drawn

    def __repr__(self) -> str:
        instances, arms = self.means.shape
        return f"Given({instances:,} instances of {arms:,} arms)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Given) and np.array_equal(self.means, other.means)

    def __hash__(self) -> int:
        return hash((self.means.shape, self.means.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.means,)

    def to_dict(self) -> dict[str, Any]:
        return {"type": "Given", "means": self.means.tolist()}


@spec
class Drawn(Prior):
    """Means that have been drawn already: all that a worker, who is handed those of its runs, sees."""


def as_prior(name: str, value: Any) -> Prior:
    """The prior that a prior, a function or an array stands for.

    Parameters
    ----------
    name : str
        What to call it in messages.
    value : Prior, callable or array
        As for `robai.Instances`.

    Returns
    -------
    Prior

    Examples
    --------
    >>> as_prior("prior", [[0.7, 0.2], [0.5, 0.4]])
    Given(2 instances of 2 arms)
    """
    if isinstance(value, Prior):
        return value
    if isinstance(value, type):
        raise TypeError(f"{name} must be a prior, got {value!r}; call it to make one")
    if callable(value):
        function: Any = value
        return Function(function)
    if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
        kinds = "a prior of robai.priors, a function prior(rng, size) or an array, instances x arms"
        raise TypeError(f"{name} must be {kinds}, got {value!r}")
    return Given(value)
