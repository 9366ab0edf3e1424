"""What `robai.sweep` returns: results of policies, on bandits, over horizons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from robai.result.comparison import Comparison
from robai.result.digest import record
from robai.result.figures import Reported
from robai.result.result import Result
from robai.result.runs import import_pandas

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Cell = tuple[str, str, int]
_LEFT_OUT = {"label", "policy", "bandit", "horizon", "pull_shares"}


class Sweep(Mapping[Cell, Result], Reported):
    """Results by (policy, bandit, horizon), in the order in which they were played.

    Parameters
    ----------
    results : mapping from (str, str, int) to Result
        By policy, bandit and horizon.

    Attributes
    ----------
    policies, bandits : tuple of str
        The labels and names that there are.
    horizons : tuple of int
        The numbers of rounds that there are.

    Examples
    --------
    >>> import robai
    >>> bandits = {"easy": robai.Bernoulli([0.9, 0.1]), "hard": robai.Bernoulli([0.5, 0.4])}
    >>> played = robai.sweep([robai.KLUCB()], bandits, [1000, 2000], runs=100, rng=0)
    >>> {name: round(played["KLUCB()", name, 1000].regret[-1].item(), 1) for name in played.bandits}
    {'easy': 2.9, 'hard': 14.9}
    """

    def __init__(self, results: Mapping[Cell, Result]) -> None:
        self._results = dict(results)
        if not self._results:
            raise ValueError("results must hold at least one Result, got none")
        labels, names, rounds = zip(*self._results, strict=True)
        self.policies: tuple[str, ...] = tuple(dict.fromkeys(labels))
        self.bandits: tuple[str, ...] = tuple(dict.fromkeys(names))
        self.horizons: tuple[int, ...] = tuple(dict.fromkeys(rounds))

    def __getitem__(self, cell: Cell) -> Result:
        return self._results[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        sizes = f"{len(self.policies)} policies, {len(self.bandits)} bandits, {len(self.horizons)} horizons"
        return f"<Sweep of {sizes}>"

    def select(
        self, *, policy: str | None = None, bandit: str | None = None, horizon: int | None = None
    ) -> list[Result]:
        """The results of one policy, bandit or horizon, or of what is left free, in order.

        Parameters
        ----------
        policy, bandit : str or None
            Its label or name; None for all.
        horizon : int or None
            The number of rounds; None for all.

        Returns
        -------
        list of Result

        Examples
        --------
        >>> import robai
        >>> policies = [robai.EOCPUG(), robai.UCB()]
        >>> played = robai.sweep(policies, robai.Gaussian([0.7, 0.2]), [10**3, 10**4], runs=100, rng=0)
        >>> [result.horizon for result in played.select(policy="UCB()")]
        [1000, 10000]
        """
        wanted = (policy, bandit, horizon)
        known = {"policy": self.policies, "bandit": self.bandits, "horizon": self.horizons}
        for (name, there), each in zip(known.items(), wanted, strict=True):
            if each is not None and each not in there:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, there))}, got {each!r}")
        return [
            result
            for cell, result in self.items()
            if all(each in (None, own) for each, own in zip(wanted, cell, strict=True))
        ]

    def comparison(self, *, bandit: str | None = None, horizon: int | None = None) -> Comparison:
        """All policies on one bandit over one horizon.

        Parameters
        ----------
        bandit : str or None
            Its name; None if there is but one.
        horizon : int or None
            The number of rounds; None if there is but one.

        Returns
        -------
        Comparison

        Examples
        --------
        >>> import robai
        >>> policies = [robai.EOCPUG(), robai.UCB()]
        >>> played = robai.sweep(policies, robai.Gaussian([0.7, 0.2]), [10**3, 10**4], runs=100, rng=0)
        >>> played.comparison(horizon=10**4)
        <Comparison of EOCPUG(), UCB()>
        """
        return Comparison(
            self.select(
                bandit=self._only("bandit", bandit, self.bandits),
                horizon=self._only("horizon", horizon, self.horizons),
            )
        )

    @staticmethod
    def _only(name: str, given: Any, there: tuple[Any, ...]) -> Any:
        if given is not None:
            return given
        if len(there) != 1:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, there))}, got None")
        return there[0]

    def to_dataframe(self) -> pd.DataFrame:
        """A pandas table with a row a result: policy, bandit, horizon and the numbers of its digest.

        `best_arm_share` is the mean share of the rounds in which a best arm was played.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import robai
        >>> played = robai.sweep(robai.UCB(), robai.Gaussian([0.7, 0.2]), [10**3, 10**4], runs=100, rng=0)
        >>> played.to_dataframe()[["horizon", "regret", "best_arm_share"]].round(2).values.tolist()
        [[1000.0, 18.78, 0.96], [10000.0, 30.58, 0.99]]
        """
        pandas = import_pandas()
        rows = [
            {"policy": label, "bandit": name, "horizon": rounds}
            | {key: value for key, value in record(result).items() if key not in _LEFT_OUT}
            | {"best_arm_share": result._best_share()}
            for (label, name, rounds), result in self.items()
        ]
        frame: pd.DataFrame = pandas.DataFrame(rows)
        return frame

    def _page(self, title: str | None) -> str:
        from robai.result.pages import sweep_page

        return sweep_page(self, title)

    def plot_scaling(self, ax: Axes | None = None, *, bandit: str | None = None, **options: Any) -> Axes:
        """Draw regret or commitment time against the horizon; see `robai.plotting.plot_scaling`.

        Parameters
        ----------
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.
        bandit : str or None
            Its name; None if there is but one.
        **options
            Of `robai.plotting.plot_scaling`.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> played = robai.sweep(robai.UCB(), robai.Gaussian([0.7, 0.2]), [10**3, 10**4], runs=100, rng=0)
        >>> played.plot_scaling().get_ylabel()
        'mean regret / log T'
        """
        from robai.plotting import plot_scaling

        return plot_scaling(self.select(bandit=self._only("bandit", bandit, self.bandits)), ax, **options)

    def plot_parameter(self, name: str, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw regret or commitment time against a parameter of the policies.

        Policies of one kind make a curve for every bandit and horizon; a policy without the parameter is a
        level line, if there is but one. See `robai.plotting.plot_parameter`.

        Parameters
        ----------
        name : str
            The parameter.
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.
        **options
            Of `robai.plotting.plot_parameter`.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> policies = [robai.EOCPUG(inflation=c) for c in (0.5, 1.0, 2.0)]
        >>> played = robai.sweep(policies, robai.Gaussian([0.7, 0.2]), 10**4, runs=100, rng=0)
        >>> played.plot_parameter("inflation").get_xlabel()
        'inflation'
        """
        from robai.plotting import plot_parameter

        curves: dict[str, dict[float, Result]] = {}
        without: list[Result] = []
        for (_, bandit, rounds), result in self.items():
            policy = result.meta.get("policy")
            value = policy.get(name) if isinstance(policy, dict) else None
            if not isinstance(policy, dict) or not isinstance(value, int | float):
                without.append(result)
                continue
            parts = [policy["type"], *([bandit] if len(self.bandits) > 1 else [])]
            parts += [f"T = {rounds:,}"] if len(self.horizons) > 1 else []
            curves.setdefault(", ".join(parts), {})[value] = result
        if not curves:
            raise ValueError(f"name must be a parameter of one of {', '.join(self.policies)}, got {name!r}")
        values = sorted(next(iter(curves.values())))
        for label, own in curves.items():
            if sorted(own) != values:
                raise ValueError(
                    f"name must have the same values in every curve, got {sorted(own)} in {label}"
                )
        drawn = {label: [own[value] for value in values] for label, own in curves.items()}
        reference = without[0] if len(without) == 1 else None
        return plot_parameter(drawn, values, ax, **{"name": name, "reference": reference} | options)
