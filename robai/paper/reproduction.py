"""Plays the experiments of the paper and measures what its Table 1 states.

`reproduce()` returns the numbers; `robai.paper.report` makes figures and a page of them, `robai.paper.claims`
checks what the paper says about them.
"""

import math
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from robai._base import checks
from robai._base.intervals import Mean
from robai.paper.claims import Verdict, check
from robai.paper.experiments import FIGURES, SENSITIVITY, TABLE, Experiment
from robai.result import Comparison, Result, WrongCommit
from robai.result.text import mean_text
from robai.simulation import compare
from robai.theory import table

SECTIONS = (*FIGURES, "table1", "sensitivity")
"""What `reproduce(only=)` can choose from."""

_PILOT = 200  # one run of so many is played first, to know how long all will take

Report = Callable[[str, bool], Any]
"""Called with a line and whether it is final, or to be replaced by the next."""


class Task(NamedTuple):
    """One simulation of the reproduction."""

    section: str
    experiment: Experiment
    label: str
    runs: int

    def play(self, runs: int, **options: Any) -> Result:
        experiment = self.experiment
        policy = {self.label: experiment.policies[self.label]}
        return compare(policy, experiment.bandit, experiment.horizon, runs, **options)[self.label]


@dataclass
class Reproduction:
    """The numbers of a reproduction; sections that were not asked for are empty."""

    quick: bool
    entropy: int
    figures: dict[str, Comparison] = field(default_factory=dict)
    table: "list[Growth]" = field(default_factory=list)
    sensitivity: dict[str, Comparison] = field(default_factory=dict)
    seconds: float = 0.0

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """What the paper says about the figures, checked."""
        return check(self.figures)

    def simulations(self) -> dict[str, list[Result]]:
        """Every result, by section."""
        sections = {name: list(results.values()) for name, results in self.figures.items()}
        sections["table1"] = [result for growth in self.table for result in growth.results]
        sections["sensitivity"] = [
            result for results in self.sensitivity.values() for result in results.values()
        ]
        return sections


def reproduce(
    only: Iterable[str] | None = None,
    *,
    quick: bool = False,
    rng: int | None = 0,
    workers: int | None = None,
    report: Report | None = None,
) -> Reproduction:
    """Play the paper's experiments.

    Parameters
    ----------
    only : names from `SECTIONS`, all if None
    quick : a few hundred runs instead of the paper's 10^4 and 10^5
    rng : seed of every simulation; fresh if None
    workers : number of threads, as for `simulate`
    report : called with a line for each policy and the time left, see `Report`

    Examples
    --------
    >>> reproduction = reproduce(["sensitivity"], quick=True)
    >>> list(reproduction.sensitivity)
    ['EOCP', 'EOCP-UG']
    """
    chosen = SECTIONS if only is None else [checks.one_of("only", name, SECTIONS) for name in only]
    sections = [name for name in SECTIONS if name in chosen]
    entropy = secrets.randbits(128) if rng is None else checks.whole("rng", rng, 0, 2**128 - 1)
    started = time.perf_counter()
    done = Reproduction(quick, entropy)
    tasks = [
        Task(section, experiment, label, experiment.quick_runs if quick else experiment.runs)
        for section in sections
        for experiment in _experiments(section)
        for label in experiment.policies
    ]
    played: dict[str, list[Result]] = {}
    options = {"rng": entropy, "workers": workers}
    for task, result in zip(tasks, _play(tasks, options, report or (lambda line, final: None)), strict=True):
        played.setdefault(task.experiment.name, []).append(result)
    comparisons = {name: Comparison(results) for name, results in played.items()}
    done.figures = {name: comparisons[name] for name in FIGURES if name in comparisons}
    if "table1" in sections:
        done.table = [
            Growth(name, [comparisons[each.name][name] for each in _horizons(name)]) for name in TABLE
        ]
    if "sensitivity" in sections:
        done.sensitivity = {name: comparisons[each.name] for name, each in SENSITIVITY.items()}
    done.seconds = time.perf_counter() - started
    return done


def _experiments(section: str) -> list[Experiment]:
    if section == "table1":
        return [each for name in TABLE for each in _horizons(name)]
    return list(SENSITIVITY.values()) if section == "sensitivity" else [FIGURES[section]]


def _horizons(name: str) -> list[Experiment]:
    """The experiments behind a row of Table 1."""
    row = TABLE[name]
    return [
        Experiment(
            f"table1-{name.lower()}-{scientific(horizon)}",
            f"{name}, T = {scientific(horizon)}",
            row.bandit,
            horizon,
            row.runs,
            row.quick_runs,
            {name: row.policy},
        )
        for horizon in row.horizons
    ]


class _Clock:
    """How long the tasks will take: known from a pilot of each, corrected as the work goes on."""

    def __init__(self, tasks: list[Task], options: dict[str, Any]) -> None:
        self._expected = []
        for task in tasks:
            pilot = min(task.runs, max(4, task.runs // _PILOT))
            seconds = task.play(pilot, **options).meta["seconds"]
            self._expected.append(seconds * task.runs / pilot)
        self._started = time.perf_counter()

    def left(self, tasks_done: int, part_of_next: float = 0.0) -> str:
        partly = part_of_next * self._expected[tasks_done] if part_of_next else 0.0
        done = sum(self._expected[:tasks_done]) + partly
        seconds = (time.perf_counter() - self._started) / done * (sum(self._expected) - done)
        return f"{duration(seconds)} left"


def _play(tasks: list[Task], options: dict[str, Any], report: Report) -> Iterator[Result]:
    """Every simulation in turn, each with a line that says what came out and how much time is left."""
    report("estimating the time", False)
    clock = _Clock(tasks, options)
    for place, task in enumerate(tasks):
        name = f"{task.section:<15} {task.label:<19} T = {scientific(task.experiment.horizon):<4}"

        def update(done: int, total: int, place: int = place, name: str = name) -> None:
            report(f"{name} {100 * done // total:3d} %, {clock.left(place, done / total)}", False)

        result = task.play(task.runs, progress=update, **options)
        took = f"{result.meta['seconds']:6.1f} s"
        report(f"{name} {mean_text(result.digest().regret):>16}  {took}, {clock.left(place + 1)}", True)
        yield result


def scientific(number: int) -> str:
    """1e6 for a million."""
    return f"{number:.0e}".replace("e+0", "e").replace("e+", "e")


def duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


@dataclass(frozen=True)
class Growth:
    """What Table 1 states of a policy, measured between two horizons of the same runs."""

    policy: str
    results: list[Result]  # by horizon

    @property
    def short(self) -> Result:
        return self._at(TABLE[self.policy].between[0])

    @property
    def long(self) -> Result:
        return self._at(TABLE[self.policy].between[1])

    def _at(self, horizon: int) -> Result:
        return next(result for result in self.results if result.horizon == horizon)

    @property
    def slope(self) -> Mean:
        """Regret gained for each unit of log T; run by run, because both horizons share their seeds."""
        gained = (self.long.final_regret - self.short.final_regret) / self._log_ratio
        return Mean(float(gained.mean()), float(gained.std(ddof=1) / math.sqrt(len(gained))))

    @property
    def constant(self) -> float:
        """What the table says the slope tends to."""
        row = next(row for row in table() if row.policy == self.policy)
        return row.constant(TABLE[self.policy].bandit)

    @property
    def commitments(self) -> tuple[Mean, Mean] | None:
        """Mean commitment times at the two horizons, or None if runs never commit."""
        if not (self.short.committed.any() and self.long.committed.any()):
            return None
        return self.short.digest().capped_time, self.long.digest().capped_time

    @property
    def exponent(self) -> Mean | None:
        """The p at which commitment times grow like log^p T, between the two horizons."""
        if self.commitments is None:
            return None
        first, second = self.commitments
        scale = math.log(math.log(self.long.horizon) / math.log(self.short.horizon))
        error = math.hypot(first.sem / first.value, second.sem / second.value)
        return Mean(math.log(second.value / first.value) / scale, error / scale)

    @property
    def wrong(self) -> WrongCommit:
        """At the shorter horizon, where errors are the likelier."""
        return self.short.wrong_commit()

    @property
    def _log_ratio(self) -> float:
        return math.log(self.long.horizon / self.short.horizon)
