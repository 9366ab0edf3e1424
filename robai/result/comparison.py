"""What a simulation of several policies returns: `Comparison`."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from robai.result.archive import load, save
from robai.result.kept import Summary
from robai.result.methods import OfSeveral
from robai.result.result import Result
from robai.result.runs import import_pandas
from robai.result.text import comparison_summary

if TYPE_CHECKING:
    import pandas as pd


class Comparison(OfSeveral, Mapping[str, Result]):
    """Results of several policies on the same bandit and horizon, by label, in the order given.

    It is what `robai.compare` returns, a mapping; results of different calls make one, too.

    Parameters
    ----------
    results : sequence of Result, or mapping from their labels
        What to compare.

    Examples
    --------
    >>> import robai
    >>> policies, bandit = (robai.UCB(), robai.EOCPUG()), robai.Gaussian([0.7, 0.2])
    >>> robai.Comparison(robai.simulate(policy, bandit, 10**4, 100, rng=0) for policy in policies)
    <Comparison of UCB(), EOCPUG()>
    """

    def __init__(self, results: Mapping[str, Result] | Iterable[Result]) -> None:
        self._results: dict[str, Result] = {}
        named = results.items() if isinstance(results, Mapping) else ((None, result) for result in results)
        for name, result in named:
            if not isinstance(result, Result):
                raise TypeError(f"results must be Result objects, got {result!r}")
            if name not in (None, result.label):
                raise ValueError(f"results must be named by their labels, got {name!r} for {result.label!r}")
            if result.label in self._results:
                raise ValueError(f"results must have different labels, got {result.label!r} twice")
            first = next(iter(self._results.values()), result)
            if result.horizon != first.horizon or not np.array_equal(result.gaps, first.gaps):
                raise ValueError(
                    f"results must share horizon and gaps, got {first.horizon} and {first.gaps} for "
                    f"{first.label!r}, {result.horizon} and {result.gaps} for {result.label!r}"
                )
            self._results[result.label] = result
        if not self._results:
            raise ValueError("results must hold at least one Result, got none")

    def __getitem__(self, label: str) -> Result:
        return self._results[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self)}>"

    def summary(self) -> str:
        r"""A table with a row a policy; the smallest mean regret is marked.

        Returns
        -------
        str

        Examples
        --------
        >>> import robai
        >>> policies = [robai.EOCPUG(), robai.UCB()]
        >>> played = robai.compare(policies, robai.Gaussian([0.7, 0.2]), 10**6, 100, rng=0)
        >>> print("\n".join(played.summary().splitlines()[2:5]))
        policy    runs        regret  committed  median at  wrong commitments, 95 % interval
        EOCPUG()   100  40.0 ± 1.8 *      100 %      1,447  0 % (0 % to 3.6 %)
        UCB()      100  53.9 ± 1.9          0 %          -  -
        """
        return comparison_summary(self)

    def to_dataframe(self, what: Literal["curve", "runs"] = "curve") -> "pd.DataFrame":
        """The tables of all results, one below the other, with the label in the column `policy`.

        Parameters
        ----------
        what : {"curve", "runs"}
            As for `Result.to_dataframe`.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import robai
        >>> played = robai.compare([robai.EOCPUG(), robai.UCB()], robai.Gaussian([0.7, 0.2]), 1000, 10, rng=0)
        >>> played.to_dataframe("runs").groupby("policy").size().to_dict()
        {'EOCPUG()': 10, 'UCB()': 10}
        """
        frames = [result.to_dataframe(what) for result in self.values()]
        table: pd.DataFrame = import_pandas().concat(frames, ignore_index=True)
        return table

    def _drawn(self) -> list[Result]:
        return list(self.values())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all to one .npz file; a crash leaves the old file or the new one.

        Parameters
        ----------
        path : path
            Exactly where; no suffix is added.

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> played = robai.compare([robai.EOCPUG(), robai.UCB()], robai.Gaussian([0.7, 0.2]), 1000, 10, rng=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     played.save(os.path.join(folder, "both.npz"))
        ...     os.listdir(folder)
        ['both.npz']
        """
        save(path, "robai.Comparison", list(self.values()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Comparison":
        """A new Comparison, read from a file that `save` wrote. Nothing in the file is ever executed.

        Parameters
        ----------
        path : path
            Of the file.

        Returns
        -------
        Comparison

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> played = robai.compare([robai.EOCPUG(), robai.UCB()], robai.Gaussian([0.7, 0.2]), 1000, 10, rng=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "both.npz")
        ...     played.save(path)
        ...     list(robai.Comparison.load(path))
        ['EOCPUG()', 'UCB()']
        """
        return cls(load(path, "robai.Comparison", Result, Summary))
