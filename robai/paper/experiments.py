"""What a publication has played, as data: some policies on one bandit, to be played, tabulated and drawn.

>>> from robai.paper.gallery import GALLERY
>>> (results,) = GALLERY["zhang-ying2023"].figures["fig1-gaussian"].run(runs=100, rng=0)
>>> int(results["EOCP"].commit_time.max())
1124
"""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from robai._base.intervals import Mean, normal_quantile
from robai._base.verdicts import Word, within
from robai.bandits import Bandit
from robai.families import Bounded
from robai.identification import identify
from robai.plotting.style import new_figure
from robai.policies.base import BasePolicy
from robai.report import html
from robai.report.figures import Chart, Colours
from robai.result import (
    Comparison,
    Identification,
    Identifications,
    Result,
    charts,
    identification_page,
    identification_text,
    pages,
)
from robai.result.digest import record
from robai.result.text import mean_text
from robai.simulation import compare
from robai.theory import lai_robbins

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_PROBE = 0.005  # seconds: long beside what it takes to begin


class Picture(NamedTuple):
    """What a figure of an experiment is called behind the experiment's name, and what is said of it."""

    suffix: str
    text: str
    caption: str


@dataclass(frozen=True)
class Experiment(ABC):
    """Some policies, by the names that the publication gives them, on one bandit.

    `beside` has columns of numbers from elsewhere, by their headings; the first is what ours are held
    against. Where their standard errors are unknown (NaN) they are taken to be ours, of `runs` runs.
    """

    name: str
    title: str
    policies: Mapping[str, BasePolicy]
    bandit: Bandit
    horizons: tuple[int, ...]
    runs: int
    quick_runs: int  # enough to see the claims, few enough for a minute
    beside: Mapping[str, Mapping[str, Mean]] = field(default_factory=dict)
    tolerance: float = 0.04  # part of a number from elsewhere by which ours may differ

    quantity: ClassVar[str]  # what is measured
    about: ClassVar[Mapping[str, str]]  # the columns of the table, explained
    pictures: ClassVar[tuple[Picture, ...]]

    def run(self, runs: int | None = None, **options: Any) -> list[Any]:
        """Play every policy over each horizon; `options` are those of `robai.simulate`."""
        return [self.play(self.policies, horizon, runs or self.runs, **options) for horizon in self.horizons]

    @abstractmethod
    def play(self, labels: Iterable[str], horizon: int, runs: int, **options: Any) -> Any:
        """Play some of the policies, and return their results by label."""

    def request(self, label: str, horizon: int) -> dict[str, Any]:
        """What is played, as JSON values."""
        policy, bandit = self.policies[label].brief(), self.bandit.brief()
        return {"label": label, "policy": policy, "bandit": bandit, "horizon": horizon}

    def cost(self, label: str, horizon: int) -> float:
        """About how many seconds of a processor a run takes, by playing a few."""
        runs, seconds = 0, [0.0, 0.0]
        while seconds[1] < _PROBE and runs < self.runs:
            runs = 4 * runs or 1
            started = time.process_time()
            self.play([label], horizon, runs, rng=0, workers=1)
            seconds = [seconds[1], time.process_time() - started]
            if runs == 1:  # which has to load things
                seconds[1] = 0.0
        # What it takes to begin is in both.
        return max(seconds[1] - seconds[0], 0.1 * seconds[1]) / (0.75 * runs)

    @abstractmethod
    def load(self, path: Path) -> Any:
        """A result of a single policy that was saved."""

    @abstractmethod
    def gather(self, results: Iterable[Any]) -> Any:
        """Results of single policies, as `play` returns them for several."""

    @abstractmethod
    def mean(self, result: Any) -> Mean:
        """The quantity that is held against other numbers."""

    @abstractmethod
    def cells(self, result: Any) -> dict[str, str]:
        """What else a table says of a policy."""

    @abstractmethod
    def chart(self, results: Any, colours: Colours, title: str) -> Chart:
        """The first figure, for a page."""

    @abstractmethod
    def details(self, results: Any, colours: Colours) -> str:
        """More of the same runs, for a page."""

    @abstractmethod
    def draw(self, results: Any) -> "tuple[Figure, ...]":
        """The figures, in the order of `pictures`."""

    @abstractmethod
    def numbers(self, results: Any) -> tuple[tuple[str, ...], Iterable[tuple[Any, ...]]]:
        """Header and rows of what the first figure shows."""

    @abstractmethod
    def record(self, result: Any) -> dict[str, Any]:
        """The numbers that a script would read."""

    def size(self, result: Any) -> str:
        return f"T = {result.horizon:,}, {result.runs:,} runs"

    def row(self, result: Any) -> dict[str, str]:
        """A line of the experiment's table."""
        mean = self.mean(result)
        row = {"policy": result.label, self.quantity: mean_text(mean)}
        for place, (heading, column) in enumerate(self.beside.items()):
            other = column.get(result.label)
            row[heading] = fixed_text(other)
            if place == 0:
                apart = None if other is None else self.apart(result, other)
                row["apart by"] = "-" if apart is None else apart.text()
                row["verdict"] = "-" if apart is None else apart.verdict
        return row | self.cells(result)

    def apart(self, result: Any, other: Mean) -> "Apart":
        """How far a result is from a number from elsewhere."""
        mean, theirs = self.mean(result), other.sem
        if math.isnan(theirs):
            theirs = mean.sem * math.sqrt(result.runs / self.runs)
        return Apart(mean, other, math.hypot(mean.sem, theirs), self.tolerance)


class Apart(NamedTuple):
    """A mean of ours, one from elsewhere, the standard error of their difference, and how far is too far."""

    ours: Mean
    other: Mean
    sem: float
    tolerance: float

    @property
    def errors(self) -> float:
        """The difference in standard errors of it."""
        return (self.ours.value - self.other.value) / self.sem

    @property
    def share(self) -> float:
        """The difference as a part of the number from elsewhere."""
        return self.ours.value / self.other.value - 1.0

    @property
    def matches(self) -> Word:
        """Whether both are the same, within 5 standard errors of the difference and some percent."""
        reach = normal_quantile(0.95) * self.sem / self.other.value
        word = within((self.share - reach, self.share + reach), -self.tolerance, self.tolerance)
        return "fails" if abs(self.errors) > 5.0 else word

    @property
    def verdict(self) -> str:
        return {"holds": "matched", "fails": "not matched", "not decided": "not decided"}[self.matches]

    def text(self) -> str:
        errors = f"{self.errors:+.1f} s.e."
        return f"{100.0 * self.share:+.1f} %, {errors}" if math.isnan(self.other.sem) else errors


@dataclass(frozen=True)
class RegretExperiment(Experiment):
    """One of regret, over one horizon or several."""

    quantity = "regret"
    about = charts.ABOUT
    pictures = (
        Picture(
            "",
            "mean regret against rounds",
            "Mean regret of every policy. The thin line, where rewards are of a family, is the Lai-Robbins "
            "constant times log t: a limit as t grows, not a bound at any one round.",
        ),
        Picture(
            "-details",
            "details of the same runs",
            "Share of the rounds that went to each arm; final regret of the runs. Before them, if any policy "
            "commits: share of runs that have committed; regret against commitment time; how often a "
            "commitment was wrong.",
        ),
    )

    def play(self, labels: Iterable[str], horizon: int, runs: int, **options: Any) -> Comparison:
        return compare(
            {label: self.policies[label] for label in labels}, self.bandit, horizon, runs, **options
        )

    def load(self, path: Path) -> Result:
        return Result.load(path)

    def gather(self, results: Iterable[Result]) -> Comparison:
        return Comparison(results)

    def mean(self, result: Result) -> Mean:
        return result.digest().regret

    def cells(self, result: Result) -> dict[str, str]:
        return charts.cells(result)

    def chart(self, results: Comparison, colours: Colours, title: str) -> Chart:
        return charts.regret_chart(list(results.values()), colours, title, self._bound())

    def details(self, results: Comparison, colours: Colours) -> str:
        return pages.details(list(results.values()), colours)

    def _bound(self) -> float | None:
        """The constant of Lai and Robbins, where rewards are of a family."""
        family = self.bandit.family
        return None if family is None or isinstance(family, Bounded) else lai_robbins(self.bandit)

    def draw(self, results: Comparison) -> "tuple[Figure, ...]":
        curves = new_figure(7.5, 4.5)
        ax = results.plot(curves.subplots(), lower_bound=self._bound())
        ax.set_title(f"{self.title}, {next(iter(results.values())).runs:,} runs", pad=36)
        if any(result.committed.any() for result in results.values()):
            details = new_figure(11, 4 + 1.2 * len(results))
            axes = details.subplot_mosaic(
                [["commitment", "tradeoff"], ["wrong", "pulls"], ["final", "final"]]
            )
            results.plot_commitment(axes["commitment"])
            results.plot_tradeoff(axes["tradeoff"])
            results.plot_wrong_commit(axes["wrong"])
        else:
            details = new_figure(11, 4)
            axes = details.subplot_mosaic([["pulls", "final"]])
        results.plot_pulls(axes["pulls"])
        results.plot_final_regret(axes["final"])
        return curves, details

    def numbers(self, results: Comparison) -> tuple[tuple[str, ...], Iterable[tuple[Any, ...]]]:
        rounds = (
            (label, *row)
            for label, result in results.items()
            for row in zip(result.times, result.regret, result.regret_sem, strict=True)
        )
        return ("policy", "round", "regret", "regret_sem"), rounds

    def record(self, result: Result) -> dict[str, Any]:
        return record(result)


@dataclass(frozen=True, kw_only=True)
class ConfidenceExperiment(Experiment):
    """One of identification with fixed confidence; runs that have not stopped by the horizon are given up."""

    delta: float

    quantity = "stopping time"
    about = identification_page.ABOUT
    pictures = (
        Picture(
            "",
            "distribution of the stopping time",
            "Share of the runs that have stopped; the circle is the mean. The dashed line is T* kl(delta, "
            "1 - delta), which no policy that errs with probability delta at most, on every bandit, is below "
            "on average (Garivier and Kaufmann 2016, Theorem 1).",
        ),
        Picture(
            "-details",
            "details of the same runs",
            "Left: share of the rounds that went to each arm, beside the optimal proportions. Right: how "
            "often a run was wrong or did not stop, with 95 % intervals, beside delta.",
        ),
    )

    def play(self, labels: Iterable[str], horizon: int, runs: int, **options: Any) -> Identifications:
        policies = {label: self.policies[label] for label in labels}
        return identify(policies, self.bandit, delta=self.delta, horizon=horizon, runs=runs, **options)

    def request(self, label: str, horizon: int) -> dict[str, Any]:
        return super().request(label, horizon) | {"delta": self.delta}

    def load(self, path: Path) -> Identification:
        return Identification.load(path)

    def gather(self, results: Iterable[Identification]) -> Identifications:
        return Identifications(results)

    def size(self, result: Identification) -> str:
        return f"delta = {self.delta:g}, {result.runs:,} runs of at most {result.horizon:,} rounds"

    def mean(self, result: Identification) -> Mean:
        time = result.time()
        return Mean(time.mean, time.sem)

    def cells(self, result: Identification) -> dict[str, str]:
        return identification_page.cells(result)

    def chart(self, results: Identifications, colours: Colours, title: str) -> Chart:
        return identification_page.stopping_chart(list(results.values()), colours, title)

    def details(self, results: Identifications, colours: Colours) -> str:
        return html.beside(identification_page.details(list(results.values()), colours))

    def draw(self, results: Identifications) -> "tuple[Figure, ...]":
        times, details = new_figure(7.5, 4.5), new_figure(11, 4)
        ax = results.plot(times.subplots())
        ax.set_title(f"{self.title}, {next(iter(results.values())).runs:,} runs", pad=36)
        left, right = details.subplots(1, 2)
        results.plot_proportions(left)
        results.plot_error(right)
        return times, details

    def numbers(self, results: Identifications) -> tuple[tuple[str, ...], Iterable[tuple[Any, ...]]]:
        shares = np.linspace(0.0, 1.0, 101)
        rows = (
            (result.label, share, rounds)
            for result in results.values()
            for share, rounds in zip(shares, np.quantile(result.stopping_time, shares), strict=True)
        )
        return ("policy", "share of the runs", "rounds"), rows

    def record(self, result: Identification) -> dict[str, Any]:
        return identification_text.record(result)


def fixed_text(mean: Mean | None) -> str:
    """A number from elsewhere, with the digits and the error that it came with."""
    if mean is None:
        return "-"
    if math.isnan(mean.sem):
        return f"{mean.value:,.0f}"
    digits = 3 if 0.0 < mean.sem < 0.005 else 2
    return f"{mean.value:.{digits}f} ± {mean.sem:.{digits}f}" if mean.sem > 0.0 else f"{mean.value:.2f}"
