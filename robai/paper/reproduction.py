"""Plays the experiments of a publication.

`reproduce()` returns the numbers; `robai.paper.report` makes figures and a page of them, `robai.paper.claims`
checks what the publication says about them.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from robai._base import checks
from robai.paper.claims import Verdict, check
from robai.paper.experiments import Experiment
from robai.paper.growth import Growth
from robai.paper.study import Study
from robai.result.text import mean_text


@dataclass
class Reproduction:
    """The results of a study, by experiment, those of all its policies for each of its horizons."""

    study: Study
    quick: bool
    entropy: int
    results: dict[str, list[Any]] = field(default_factory=dict)
    seconds: float = 0.0

    def played(self, experiments: Mapping[str, Experiment]) -> "Iterator[Played]":
        """What was played of some experiments."""
        for experiment in experiments.values():
            for results in self.results.get(experiment.name, ()):
                yield Played(experiment, results)

    def simulations(self) -> "Iterator[tuple[str, Experiment, Any]]":
        """Every result, with the section and the experiment that it is of."""
        for section, experiments in self.study.sections.items():
            for played in self.played(experiments):
                for result in played.results.values():
                    yield section, played.experiment, result

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """What the publication says about its experiments, checked."""
        return check(self.study.claims, self.results)

    @cached_property
    def growth(self) -> list[Growth]:
        """Of every policy that was played for it."""
        if (growing := self.study.growing) is None:
            return []
        return [
            Growth.of(growing.stated[label], each.bandit, [results[label] for results in played])
            for each in growing.experiments.values()
            if (played := self.results.get(each.name))
            for label in each.policies
        ]


class Played(NamedTuple):
    """An experiment at one of its horizons."""

    experiment: Experiment
    results: Any

    @property
    def name(self) -> str:
        """What its files are called."""
        several = len(self.experiment.horizons) > 1
        return self.experiment.name + (f"-{scientific(self.first.horizon)}" if several else "")

    @property
    def first(self) -> Any:
        return next(iter(self.results.values()))


def scientific(number: int) -> str:
    """1e6 for a million."""
    return f"{number:.0e}".replace("e+0", "e").replace("e+", "e")


def reproduce(
    study: Study,
    only: Iterable[str] | None = None,
    *,
    quick: bool = False,
    rng: int | None = 0,
    workers: int | None = None,
    report: Callable[[str, bool], Any] = lambda line, final: None,
) -> Reproduction:
    """Play the experiments of a publication.

    Parameters
    ----------
    study : one of `robai.paper.gallery.GALLERY`
    only : names of its sections, all if None
    quick : a few hundred runs instead of as many as it says
    rng : seed of every simulation; fresh if None
    workers : number of threads, as for `simulate`
    report : called with a line for each policy, and whether it is final or to be replaced by the next

    Examples
    --------
    >>> from robai.paper.gallery import GALLERY
    >>> reproduction = reproduce(GALLERY["zhang-ying2023"], ["sensitivity"], quick=True)
    >>> list(reproduction.results)
    ['sensitivity-eocp', 'sensitivity-eocp-ug']
    """
    sections = study.sections
    chosen = sections if only is None else [checks.one_of("only", name, sections) for name in only]
    entropy = secrets.randbits(128) if rng is None else checks.whole("rng", rng, 0, 2**128 - 1)

    def play(section: str, experiment: Experiment, label: str, horizon: int) -> Any:
        name = f"{section:<15} {label:<19} T = {scientific(horizon):<4}"
        result = experiment.play(
            [label],
            horizon,
            experiment.quick_runs if quick else experiment.runs,
            rng=entropy,
            workers=workers,
            progress=lambda done, total: report(f"{name} {100 * done // total:3d} %", False),
        )[label]
        report(f"{name} {mean_text(experiment.mean(result)):>16}  {result.meta['seconds']:6.1f} s", True)
        return result

    started = time.perf_counter()
    results = {
        experiment.name: [
            experiment.gather(play(section, experiment, label, horizon) for label in experiment.policies)
            for horizon in experiment.horizons
        ]
        for section, experiments in sections.items()
        if section in chosen
        for experiment in experiments.values()
    }
    return Reproduction(study, quick, entropy, results, time.perf_counter() - started)
