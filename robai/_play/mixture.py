"""Mixtures of tilted laws, under which wrong commitments are common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from robai._play.tilts import DEAREST, Floats, Ints, Search, Way

TRUE_LAW = 0.05  # its part in a mixture
FLATTER = 0.35  # parts of components, before any run, are exp(-0.35 cost)
LEARNED = 0.7  # of a part, from the runs so far
STAYS, STAYS_IF_BETTER = 0.7, 0.3  # parts of the true law of other arms, if they are worse than the rival
ONE_BY_ONE, APART = 8, 1.5  # lengths of the tilts of other arms

Tilt = tuple[int, int, float]  # arm, length and mean
_NO_TILT = -1


@dataclass(frozen=True)
class Mixture:
    """The tables of `robai._core.tapes.Mixed`."""

    arm: Ints  # of each tilt
    length: Ints
    shift: Floats
    slope: Floats
    loss: Floats
    first: Ints  # where the tilts of each arm begin
    alpha: Floats  # of each component, first the true law
    best_tilt: Ints
    rival_tilt: Ints
    place: Ints  # of the rival
    gamma: Floats  # of the tilts of other arms
    side: Ints
    sides: Ints  # where those of each arm begin, for each rival
    offset: float  # exp(-offset) is the unit of weights
    limit: int  # pulls of the best arm with which a run is given up, mostly

    def adapted(self, explained: Floats, sides: Floats) -> Mixture:
        """With larger parts of those that have explained more of the weights of some runs."""
        if not explained.sum() > 0.0:
            return self
        alpha, gamma = _learned(self.alpha, explained), self.gamma.copy()
        alpha[1:] *= (1.0 - TRUE_LAW) / alpha[1:].sum()
        alpha[0] = TRUE_LAW
        for row in self.sides:
            for first, end in pairwise(row):
                if sides[first:end].sum() > 0.0:
                    gamma[first:end] = _learned(gamma[first:end], sides[first:end])
        return replace(self, alpha=alpha, gamma=gamma)


def _learned(parts: Floats, explained: Floats) -> Floats:
    learned: Floats = LEARNED * explained / explained.sum() + (1.0 - LEARNED) * parts
    return learned


def mixture_of(searches: Iterable[Search], ratio: float, over: float) -> Mixture | None:
    """Of the cheap ways of all rivals, tilted further by a part of each tilt; None if there are none."""
    found = [(search, search.ways(ratio)) for search in searches]
    costs = [way.cost for _, ways in found for way in ways]
    if not costs:
        return None
    tables = _Tables(min(costs), over)
    for search, ways in found:
        if near := [way for way in ways if way.cost <= tables.least + DEAREST]:
            tables.add(search, near)
    return tables.mixture()


class _Tables:
    """What a mixture is made of: components, with the mixtures of other arms that go with each rival."""

    def __init__(self, least: float, over: float) -> None:
        self.least, self._over = least, over
        self._tilts: dict[Tilt, tuple[float, float, float]] = {}
        self._components: list[tuple[Tilt | None, Tilt | None, int, float]] = []
        self._sides: list[list[list[tuple[Tilt | None, float]]]] = []

    def add(self, search: Search, ways: list[Way]) -> None:
        best, rival = search.best, search.rival
        for way in ways:
            x = way.x - self._over * min(search.means[best] - way.x, way.x - search.low)
            y = way.y + self._over * min(way.y - search.means[rival], search.high - way.y)
            tilts = self._tilt(search, best, way.length, x), self._tilt(search, rival, way.rival_length, y)
            self._components.append((*tilts, len(self._sides), way.cost))
        down = _spread(ways)
        self._sides.append([self._side(search, arm, down) for arm in range(len(search.means))])

    def _side(self, search: Search, arm: int, down: list[Way]) -> list[tuple[Tilt | None, float]]:
        """Of an arm that takes no part: its own law, or as far down as the best arm."""
        if arm in (search.best, search.rival):
            return []
        own = search.means[arm]
        tilts = [self._tilt(search, arm, way.length, way.x) for way in down if way.x < own]
        stays = STAYS if own < search.means[search.rival] else STAYS_IF_BETTER
        return [(None, stays), *((tilt, (1.0 - stays) / len(tilts)) for tilt in tilts)] if tilts else []

    def _tilt(self, search: Search, arm: int, length: int, mean: float) -> Tilt | None:
        """To a mean which leaves some chance of all rewards; None if that is the arm's own."""
        own, grain = search.means[arm].item(), search.grains[arm].item() / length
        mean = (
            min(max(mean, search.low + grain), own)
            if mean < own
            else max(min(mean, search.high - grain), own)
        )
        if mean == own:
            return None
        there, back = search.divergences(arm, mean)
        self._tilts[arm, length, mean] = mean - own, (there + back) / (mean - own), back
        return arm, length, mean

    def mixture(self) -> Mixture:
        tilts = sorted(self._tilts)
        number: dict[Tilt | None, int] = {None: _NO_TILT} | {tilt: i for i, tilt in enumerate(tilts)}
        shift, slope, loss = np.array([self._tilts[tilt] for tilt in tilts]).reshape(-1, 3).T.copy()
        best, rival, place, cost = zip(*self._components, strict=True)
        parts = np.exp(FLATTER * (self.least - np.array(cost)))
        rows = [each for sides in self._sides for each in sides]
        starts = np.cumsum([0, *map(len, rows)])
        n_arms = len(self._sides[0])
        arms = _whole(tilt[0] for tilt in tilts)
        longest = max((tilt[1] for tilt in best if tilt is not None), default=0)
        return Mixture(
            arm=arms,
            length=_whole(tilt[1] for tilt in tilts),
            shift=shift,
            slope=slope,
            loss=loss,
            first=_whole(np.searchsorted(arms, range(n_arms + 1))),
            alpha=np.array([TRUE_LAW, *((1.0 - TRUE_LAW) * parts / parts.sum())]),
            best_tilt=_whole([_NO_TILT, *(number[tilt] for tilt in best)]),
            rival_tilt=_whole([_NO_TILT, *(number[tilt] for tilt in rival)]),
            place=_whole([-1, *place]),
            gamma=np.array([part for row in rows for _, part in row], dtype=float),
            side=_whole(number[tilt] for row in rows for tilt, _ in row),
            sides=np.array([starts[i * n_arms : (i + 1) * n_arms + 1] for i in range(len(self._sides))]),
            offset=self.least,
            limit=longest + longest // 2 + 4,
        )


def _spread(ways: list[Way]) -> list[Way]:
    """The cheapest of each length, and not of all lengths."""
    cheapest = {way.length: way for way in sorted(ways, key=lambda way: -way.cost)}
    spread: list[Way] = []
    for length, way in sorted(cheapest.items()):
        if length <= ONE_BY_ONE or not spread or length >= APART * spread[-1].length:
            spread.append(way)
    return spread


def _whole(values: Iterable[int]) -> Ints:
    return np.array([*values], dtype=np.int64)
