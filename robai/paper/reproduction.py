"""Plays the experiments of the paper and measures what its Table 1 states.

`reproduce()` returns the numbers; `robai.paper.report` makes figures and a page of them, `robai.paper.claims`
checks what the paper says about them.
"""

import math
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from robai._base import checks
from robai._base.intervals import Mean
from robai.paper.claims import Verdict, check
from robai.paper.experiments import SECTIONS, TABLE, Experiment
from robai.result import Comparison, Result, WrongCommit
from robai.result.text import mean_text
from robai.simulation import compare
from robai.theory import table


@dataclass
class Reproduction:
    """The results of a reproduction, by experiment, one comparison for each of its horizons."""

    quick: bool
    entropy: int
    results: dict[str, list[Comparison]] = field(default_factory=dict)
    seconds: float = 0.0

    def played(self, experiments: Mapping[str, Experiment]) -> "Iterator[Played]":
        """What was played of some experiments."""
        for experiment in experiments.values():
            for results in self.results.get(experiment.name, ()):
                yield Played(experiment, results)

    def simulations(self) -> Iterator[tuple[str, Result]]:
        """Every result, and the section that it is of."""
        for section, experiments in SECTIONS.items():
            for played in self.played(experiments):
                for result in played.results.values():
                    yield section, result

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """What the paper says about its experiments, checked over their longest horizons."""
        return check({name: results[-1] for name, results in self.results.items()})

    @cached_property
    def table(self) -> "list[Growth]":
        """The rows of Table 1."""
        return [
            Growth.of(row, [each[label] for each in self.results[row.name]])
            for label, row in TABLE.items()
            if row.name in self.results
        ]


class Played(NamedTuple):
    """An experiment at one of its horizons."""

    experiment: Experiment
    results: Comparison

    @property
    def name(self) -> str:
        """What its files are called."""
        several = len(self.experiment.horizons) > 1
        return self.experiment.name + (f"-{scientific(self.first.horizon)}" if several else "")

    @property
    def first(self) -> Result:
        return next(iter(self.results.values()))


def scientific(number: int) -> str:
    """1e6 for a million."""
    return f"{number:.0e}".replace("e+0", "e").replace("e+", "e")


def reproduce(
    only: Iterable[str] | None = None,
    *,
    quick: bool = False,
    rng: int | None = 0,
    workers: int | None = None,
    report: Callable[[str, bool], Any] = lambda line, final: None,
) -> Reproduction:
    """Play the paper's experiments.

    Parameters
    ----------
    only : names from `SECTIONS`, all if None
    quick : a few hundred runs instead of the paper's 10^4 and 10^5
    rng : seed of every simulation; fresh if None
    workers : number of threads, as for `simulate`
    report : called with a line for each policy, and whether it is final or to be replaced by the next

    Examples
    --------
    >>> reproduction = reproduce(["sensitivity"], quick=True)
    >>> list(reproduction.results)
    ['sensitivity-eocp', 'sensitivity-eocp-ug']
    """
    chosen = SECTIONS if only is None else [checks.one_of("only", name, SECTIONS) for name in only]
    entropy = secrets.randbits(128) if rng is None else checks.whole("rng", rng, 0, 2**128 - 1)

    def play(section: str, experiment: Experiment, label: str, horizon: int) -> Result:
        name = f"{section:<15} {label:<19} T = {scientific(horizon):<4}"
        result = compare(
            {label: experiment.policies[label]},
            experiment.bandit,
            horizon,
            experiment.quick_runs if quick else experiment.runs,
            rng=entropy,
            workers=workers,
            progress=lambda done, total: report(f"{name} {100 * done // total:3d} %", False),
        )[label]
        report(f"{name} {mean_text(result.digest().regret):>16}  {result.meta['seconds']:6.1f} s", True)
        return result

    started = time.perf_counter()
    results = {
        experiment.name: [
            Comparison([play(section, experiment, label, horizon) for label in experiment.policies])
            for horizon in experiment.horizons
        ]
        for section, experiments in SECTIONS.items()
        if section in chosen
        for experiment in experiments.values()
    }
    return Reproduction(quick, entropy, results, time.perf_counter() - started)


class Growth(NamedTuple):
    """A row of Table 1: what the paper states of a policy, and what was measured between two horizons."""

    policy: str
    bandit: str
    horizons: tuple[int, int]
    constant: float  # what the table says the slope tends to
    slope: Mean  # regret gained for each unit of log T
    commitments: tuple[Mean, Mean] | None  # mean times at the two horizons; None if runs never commit
    exponent: Mean | None  # the p at which those times grow like log^p T
    wrong: WrongCommit  # at the shorter horizon, where errors are the likelier

    @classmethod
    def of(cls, row: Experiment, results: Iterable[Result]) -> "Growth":
        """From the longest horizon, and the shortest one from which log T at most doubles."""
        by_horizon = sorted(results, key=lambda result: result.horizon)
        long = by_horizon[-1]
        short = next(result for result in by_horizon if result.horizon**2 >= long.horizon)
        # run by run, because both horizons share their seeds
        gained = (long.final_regret - short.final_regret) / math.log(long.horizon / short.horizon)
        asymptotics = next(each for each in table() if each.policy == long.label)
        commitments = exponent = None
        if short.committed.any() and long.committed.any():
            commitments = first, second = short.digest().capped_time, long.digest().capped_time
            scale = math.log(math.log(long.horizon) / math.log(short.horizon))
            error = math.hypot(first.sem / first.value, second.sem / second.value)
            exponent = Mean(math.log(second.value / first.value) / scale, error / scale)
        return cls(
            policy=long.label,
            bandit=type(row.bandit).__name__,
            horizons=(short.horizon, long.horizon),
            constant=asymptotics.constant(row.bandit, sigma=1.0),
            slope=Mean(float(gained.mean()), float(gained.std(ddof=1) / math.sqrt(len(gained)))),
            commitments=commitments,
            exponent=exponent,
            wrong=short.wrong_commit(),
        )
