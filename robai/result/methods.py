"""The analysis of results as methods; `robai.result.analysis` and `robai.result.table` have the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robai._base.intervals import Mean
from robai._base.text import printable
from robai.result import analysis
from robai.result.analysis import Difference, Quantity
from robai.result.figures import Plottable
from robai.result.table import Column, Format, table

if TYPE_CHECKING:
    from robai.result.result import Result


class OfOne(Plottable):
    """What is asked of the runs of one policy."""

    def quantiles(self, q: ArrayLike) -> NDArray[np.float64]:
        """Quantiles over the runs of cumulative regret at `times`; needs `curves=True`.

        Parameters
        ----------
        q : float or sequence of float
            Levels, from 0 to 1.

        Returns
        -------
        ndarray of float
            One row for each of `q`, or a vector if `q` is a number.

        Examples
        --------
        >>> import robai
        >>> played = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0, curves=True)
        >>> played.quantiles([0.1, 0.5, 0.9])[:, -1].tolist()
        [6.0, 11.0, 18.0]
        """
        return analysis.quantiles(self._drawn()[0], q)

    def area(self, log: bool = True) -> float:
        """Mean regret, averaged over log t from the first recorded round to the horizon.

        A single number for a whole curve, in which early rounds count as much as late ones. Between recorded
        rounds regret is taken as linear.

        Parameters
        ----------
        log : bool
            Whether it is averaged over log t; else over t.

        Returns
        -------
        float

        Examples
        --------
        >>> import robai
        >>> played = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0)
        >>> round(played.area(), 1), round(played.area(log=False), 1), round(played.regret[-1].item(), 1)
        (5.8, 10.3, 11.9)
        """
        return analysis.area(self._drawn()[0], log)

    def normalised(self, constant: float | None = None) -> NDArray[np.float64]:
        """Mean regret at `times`, divided by c log t: towards 1 if the policy is asymptotically optimal.

        Parameters
        ----------
        constant : float or None
            c, by default `robai.theory.lai_robbins` of the bandit. A bandit that is not in `meta`, has no
            family or more than 1,000 arms does not tell it: then it must be given.

        Returns
        -------
        ndarray of float
            NaN at round 1.

        Examples
        --------
        >>> import robai
        >>> played = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 10**12, 100, rng=0)
        >>> played.normalised()[-1].round(2).item(), played.normalised(constant=4.0)[-1].round(2).item()
        (1.0, 0.5)
        """
        return analysis.normalised(self._drawn()[0], constant)

    def slope(self, since: float) -> Mean:
        """The slope of regret in log t, by least squares; needs `curves=True`.

        Its standard error is that of the slopes of the runs. An asymptotically optimal policy comes to the
        constant of Lai and Robbins.

        Parameters
        ----------
        since : float
            From which round on.

        Returns
        -------
        Mean

        Examples
        --------
        >>> import robai
        >>> policy = robai.UCB(level="anytime")
        >>> played = robai.simulate(policy, robai.Gaussian([1, 0]), 10**9, 1000, rng=0, curves=True)
        >>> slope, error = played.slope(since=10**6)
        >>> round(slope, 2), round(error, 2)
        (2.27, 0.04)
        """
        return analysis.slope(self._drawn()[0], since)

    def log_slope(self, since: float) -> Mean:
        """The slope of log regret in log t: 1/2 for sqrt(t), 1 for a linear regret.

        By least squares, as `slope`, of the logarithm of the mean; needs `curves=True`.

        Parameters
        ----------
        since : float
            From which round on.

        Returns
        -------
        Mean

        Examples
        --------
        >>> import robai
        >>> explore = robai.Policy(explore=robai.rules.RoundRobin())
        >>> played = robai.simulate(explore, robai.Gaussian([1, 0]), 10**4, 10, rng=0, curves=True)
        >>> round(played.log_slope(since=100).value, 2)
        1.0
        """
        return analysis.log_slope(self._drawn()[0], since)

    def regret_at(self, t: int) -> Mean:
        """Mean regret at a recorded round, with its standard error.

        Parameters
        ----------
        t : int
            The round.

        Returns
        -------
        Mean

        Raises
        ------
        ValueError
            If regret was not recorded at this round; it names the nearest others.

        Examples
        --------
        >>> import robai
        >>> played = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0, times=[10, 1000])
        >>> round(played.regret_at(10).value, 2)
        3.23
        """
        return analysis.regret_at(self._drawn()[0], t)

    def half_of_regret(self) -> int:
        """How many runs, those with the largest, make up half of the regret of all.

        A mean that few runs carry is known less well than its standard error says.

        Returns
        -------
        int

        Examples
        --------
        >>> import robai
        >>> played = robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 1000, 100, rng=0)
        >>> played.half_of_regret()
        35
        """
        return analysis.half_of_regret(self._drawn()[0])


class OfSeveral(Plottable):
    """What is asked of policies beside each other."""

    def difference(
        self,
        one: str,
        other: str,
        quantity: Quantity = "regret",
        paired: bool | Literal["auto"] = "auto",
        confidence: float = 0.95,
    ) -> Difference:
        """How much larger the mean regret, or commitment time, of one policy is than that of another.

        Parameters
        ----------
        one, other : str
            Labels of the policies.
        quantity : {"regret", "commitment"}
            Regret at the horizon, or the round of commitment, where a run that never commits counts as the
            horizon.
        paired : bool or "auto"
            Whether run r of one is compared with run r of the other. Runs of one `compare` share their seeds,
            so they are not independent, and their difference varies less than independent ones would. "auto"
            does so where seeds, bandit and number of runs agree, by `meta`; `Difference.paired` says whether
            it did.
        confidence : float
            Of the interval.

        Returns
        -------
        Difference

        Examples
        --------
        >>> import robai
        >>> policies = [robai.EOCPUG(), robai.UCB()]
        >>> played = robai.compare(policies, robai.Gaussian([0.7, 0.2]), 10**4, 1000, rng=0)
        >>> print(played.difference("UCB()", "EOCPUG()"))
        5.78 ± 0.52, 4.761 to 6.791, 1,000 pairs of runs with the same seed
        """
        return analysis.difference(self._named(one), self._named(other), quantity, paired, confidence)

    def regret_at(self, t: int) -> dict[str, Mean]:
        """Mean regret of every policy at a recorded round, with its standard error.

        Parameters
        ----------
        t : int
            The round.

        Returns
        -------
        dict
            From labels to `Mean`.

        Raises
        ------
        ValueError
            If regret was not recorded at this round; it names the nearest others.

        Examples
        --------
        >>> import robai
        >>> played = robai.compare([robai.UCB()], robai.Gaussian([1, 0]), 1000, 100, rng=0, times=[10, 1000])
        >>> list(played.regret_at(10))
        ['UCB()']
        >>> played.regret_at(500)
        Traceback (most recent call last):
        ...
        ValueError: t must be a recorded round of 'UCB()', the nearest are 10 and 1,000, got 500
        """
        return {result.label: analysis.regret_at(result, t) for result in self._drawn()}

    def table(
        self,
        columns: Sequence[Column] | None = None,
        format: Format = "text",
        *,
        baseline: str | None = None,
    ) -> str:
        r"""A table for a paper or a page, with a row a policy.

        Numbers are rounded to the second digit of their error. The smallest mean regret is bold (\* in a
        text) and so are all that cannot be told from it: whose difference has 0 in its 95 % interval.

        Parameters
        ----------
        columns : sequence of str, or None
            Of "regret" (mean and standard error at the horizon), "commitment" (median and 90 % quantile
            of the runs that committed), "wrong" (commitments, with their exact 95 % interval), "relative"
            (regret as a part of the baseline's, more or less, with its 95 % interval, paired as in
            `difference`) and "runs"; by default the first three, and "relative" if there is a baseline.
        format : {"text", "markdown", "latex", "csv"}
            LaTeX is of the package booktabs alone; CSV has plain numbers.
        baseline : str or None
            Label of the policy to compare with, by default the first.

        Returns
        -------
        str

        Examples
        --------
        >>> import robai
        >>> policies = [robai.EOCPUG(), robai.UCB()]
        >>> played = robai.compare(policies, robai.Gaussian([0.7, 0.2]), 10**4, 1000, rng=0)
        >>> print(played.table(["regret", "commitment"], "markdown"))
        | policy | regret | commitment, median (90 %) |
        | --- | ---: | ---: |
        | EOCPUG() | **25.24 ± 0.44** | 611 (1,180) |
        | UCB() | 31.01 ± 0.46 | never |
        """
        return table(self._drawn(), columns, format, baseline)

    def _named(self, label: str) -> Result:
        for result in self._drawn():
            if result.label == label:
                return result
        names = ", ".join(repr(printable(result.label)) for result in self._drawn())
        raise ValueError(f"a policy must be one of {names}, got {label!r}")
