"""What `robai.identify` returns for several policies, or budgets: `Identifications`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from robai.result.archive import load, save
from robai.result.figures import Found
from robai.result.identification import Identification
from robai.result.identification_text import asked, several_summary
from robai.result.runs import import_pandas

if TYPE_CHECKING:
    import pandas as pd

Key = str | tuple[str, int]


class Identifications(Found, Mapping[Key, Identification]):
    """Identifications on the same bandit, by label, in the order given.

    If there are several budgets they are by (label, budget).

    Parameters
    ----------
    found : sequence of Identification
        Asked the same question.

    Examples
    --------
    >>> import robai
    >>> found = robai.identify(robai.Uniform(), robai.Gaussian([1, 0]), budget=[10, 20], runs=100, rng=0)
    >>> list(found), found["Uniform()", 20].error().count
    ([('Uniform()', 10), ('Uniform()', 20)], 3)
    """

    def __init__(self, found: Iterable[Identification]) -> None:
        listed = list(found)
        if not listed:
            raise ValueError("found must hold at least one Identification, got none")
        for each in listed:
            if not isinstance(each, Identification):
                raise TypeError(f"found must hold Identification objects, got {each!r}")
            first = listed[0]
            if not np.array_equal(each.gaps, first.gaps):
                raise ValueError(f"found must share their gaps, got {first.gaps} and {each.gaps}")
            if each.delta != first.delta or (each.budget is None) != (first.budget is None):
                raise ValueError(
                    f"found must be asked the same, got {asked(first)} for {first.label!r}, "
                    f"{asked(each)} for {each.label!r}"
                )
        budgets = len({each.budget for each in listed}) > 1
        self._found: dict[Key, Identification] = {}
        for each in listed:
            key = (each.label, each.budget) if budgets and each.budget is not None else each.label
            if key in self._found:
                raise ValueError(f"found must have different labels, got {key!r} twice")
            self._found[key] = each

    def __getitem__(self, key: Key) -> Identification:
        return self._found[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<Identifications of {', '.join(dict.fromkeys(each.label for each in self.values()))}>"

    def summary(self) -> str:
        """A table with a row a policy, or a policy and a budget.

        Returns
        -------
        str

        Examples
        --------
        >>> import robai
        >>> policies = [robai.TTUCB(), robai.Uniform()]
        >>> found = robai.identify(policies, robai.Gaussian([1.0, 0.5, 0.0]), delta=0.1, runs=100, rng=0)
        >>> print(found.summary())
        Gaussian(means=(1.0, 0.5, 0.0), sigma=1.0), delta 0.1, at most 1,000,000,000 rounds
        lower bound T* kl(delta, 1 - delta) = 60.3, T* = 34.28
        <BLANKLINE>
        policy     unfinished  runs    rounds  median  rounds / lower  shares off w*  wrong, 95 % interval
        TTUCB()             0   100  138 ± 10     129            2.29          0.062  0, 0 % (0 % to 3.6 %)
        Uniform()           0   100  175 ± 14     130            2.91          0.262  0, 0 % (0 % to 3.6 %)
        <BLANKLINE>
        ± is the standard error of the mean; wrong is of the runs that stopped
        """
        return several_summary(list(self.values()))

    def to_dataframe(self) -> pd.DataFrame:
        """The tables of all, one below the other.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import robai
        >>> policies = [robai.TTUCB(), robai.Uniform()]
        >>> found = robai.identify(policies, robai.Gaussian([1, 0]), delta=0.1, runs=100, rng=0)
        >>> found.to_dataframe().groupby("policy")["stopping_time"].mean().round(1).to_dict()
        {'TTUCB()': 29.1, 'Uniform()': 28.1}
        """
        frames = [each.to_dataframe() for each in self.values()]
        table: pd.DataFrame = import_pandas().concat(frames, ignore_index=True)
        return table

    def _drawn(self) -> list[Identification]:
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
        >>> found = robai.identify([robai.TTUCB()], robai.Gaussian([1, 0]), delta=0.1, runs=10, rng=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(os.path.join(folder, "found.npz"))
        ...     os.listdir(folder)
        ['found.npz']
        """
        save(path, "robai.Identifications", list(self.values()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Identifications:
        """New Identifications, read from a file that `save` wrote. Nothing in the file is ever executed.

        Parameters
        ----------
        path : path
            Of the file.

        Returns
        -------
        Identifications

        Examples
        --------
        >>> import os, tempfile
        >>> import robai
        >>> found = robai.identify([robai.TTUCB()], robai.Gaussian([1, 0]), delta=0.1, runs=10, rng=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(os.path.join(folder, "found.npz"))
        ...     list(robai.Identifications.load(os.path.join(folder, "found.npz")))
        ['TTUCB()']
        """
        return cls(load(path, "robai.Identifications", Identification))
