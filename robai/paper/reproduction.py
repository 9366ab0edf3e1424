"""Plays the experiments of a publication.

`reproduce()` returns the numbers; `robai.paper.report` makes figures and a page of them, `robai.paper.claims`
checks what the publication says about them.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from typing import Any, NamedTuple

from robai._base import checks
from robai._base.progress import TimeLeft
from robai.paper.claims import Verdict, check
from robai.paper.experiments import Experiment
from robai.paper.growth import Growth
from robai.paper.kept import Kept
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


class _Simulation(NamedTuple):
    """One of those that make up a reproduction."""

    section: str
    experiment: Experiment
    label: str
    horizon: int
    runs: int

    @property
    def name(self) -> str:
        """As it is shown while it is played."""
        return f"{self.section:<15} {self.label:<19} T = {scientific(self.horizon):<4}"


def reproduce(
    study: Study,
    only: Iterable[str] | None = None,
    *,
    quick: bool = False,
    rng: int | None = 0,
    workers: int | None = None,
    report: Callable[[str, bool], Any] | None = None,
    kept: Kept | None = None,
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
    kept : where finished simulations are saved, and looked for

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
    kept = kept or Kept(None)
    simulations = [
        _Simulation(section, each, label, horizon, each.quick_runs if quick else each.runs)
        for section, experiments in sections.items()
        if section in chosen
        for each in experiments.values()
        for horizon in each.horizons
        for label in each.policies
    ]
    paths = [kept.path(*each[1:], entropy) for each in simulations]
    found = [kept.load(each.experiment, path) for each, path in zip(simulations, paths, strict=True)]
    before, say = sum(each is not None for each in found), report or (lambda line, final: None)
    if before:
        say(f"going on: {before} of {len(found)} simulations are in {kept.directory}", True)
    clock = None if report is None else _Clock(simulations, found, say)
    for place, (simulation, path) in enumerate(zip(simulations, paths, strict=True)):
        if found[place] is None:
            _, experiment, label, horizon, runs = simulation
            progress = False if clock is None else partial(clock.report, place)
            played = experiment.play([label], horizon, runs, rng=entropy, workers=workers, progress=progress)
            found[place] = played[label]
            kept.save(path, found[place])
        mean = mean_text(simulation.experiment.mean(found[place]))
        say(f"{simulation.name} {mean:>16}  {found[place].meta['seconds']:6.1f} s", True)
    done = iter(found)
    results = {
        experiment.name: [
            experiment.gather(islice(done, len(experiment.policies))) for _ in experiment.horizons
        ]
        for section, experiments in sections.items()
        if section in chosen
        for experiment in experiments.values()
    }
    return Reproduction(study, quick, entropy, results, sum(each.meta["seconds"] for each in found))


class _Clock:
    """Says how far a simulation is, and how long all that are left will take.

    What one is expected to cost is found out before, by playing a few runs of each.
    """

    def __init__(
        self, simulations: list[_Simulation], found: list[Any], say: Callable[[str, bool], Any]
    ) -> None:
        self._simulations, self._say = simulations, say
        self._costs: list[float] = []
        for each, known in zip(simulations, found, strict=True):
            say(f"{each.name} estimating", False)
            own = 0.0 if known is not None else each.experiment.cost(each.label, each.horizon)
            self._costs.append(own * each.runs)
        self._left, self._started = TimeLeft(sum(self._costs)), time.perf_counter()

    def report(self, place: int, runs: int, of: int) -> None:
        done = sum(self._costs[:place]) + self._costs[place] * runs / of
        left = self._left.text(done, time.perf_counter() - self._started)
        self._say(f"{self._simulations[place].name} {100 * runs // of:3d} %{left}", False)
