"""Cheap ways to a wrong commitment, found by playing a policy on rewards without noise."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robai import families
from robai._core.tapes import WithoutNoise
from robai._play.batches import PIECE
from robai._play.request import Simulation
from robai._play.seeds import Seed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DEAREST = 14.0  # nats above the cheapest way
SHARES = (0.0, 0.06, 0.14, 0.3, 0.5, 0.65, 0.8, 0.9, 0.96, 1.0)  # of the shift that are the best arm's
FURTHER = (1.0, 1.15, 1.4, 1.8)  # times the least shift
SINGLE = 12  # lengths one by one, from there on in ratios
HOPELESS = 64  # a length up to which there is a way, if there is one
LONGEST = 2**24  # rounds that a run is played
GRAIN = 0.02  # expected rewards other than the smallest, or the largest, that a tilt leaves

_UP, _DOWN, _STEPS = 1.4, 0.7, 6  # how the least shift is looked for, and to what precision
_WITHOUT_END = np.iinfo(np.int64).max


class Way(NamedTuple):
    """The first `length` rewards of the best arm have mean x, the first `rival_length` of the rival y."""

    rival: int
    length: int
    x: float
    rival_length: int
    y: float
    cost: float  # in nats: n d(x, mu_1) + k d(y, mu_a)


class Search:
    """For ways in which the best arm has so many pulls at most, and a rival is committed to.

    Rewards are their means: x of the best arm and y of the rival. Other arms that are no worse than the
    rival have x as well, if that is less than their own. x = mu_1 - share shift, y = mu_a + (1 - share)
    shift, and the least shift that does it is looked for.
    """

    def __init__(self, simulation: Simulation, best: int, rival: int) -> None:
        family = simulation.bandit.family
        assert family is not None  # as was checked
        self.best, self.rival, self.means = best, rival, np.array(simulation.bandit.means)
        self.low, self.high = family.support
        scale = np.ones(len(self.means)) if family.whole or math.isinf(self.low) else self.means - self.low
        self.grains: Floats = GRAIN * scale
        self._simulation = simulation
        self._divergences = [_of_arm(family, arm)._core(1) for arm in range(len(self.means))]
        self._shifts: dict[float, float] = {}  # the least one, of each share
        self._budget = 4.0 * math.log(simulation.horizon) + 60.0  # nats
        # l N pulls of a rival end the exploration of EOCP-UG. Others wait for longer: if need be twice as
        # long as without a tilt.
        self._patience = 64.0 * len(self.means) * (math.log(simulation.horizon) + 5.0)
        self._wait = 2.0 * self._commit_time()

    def ways(self, ratio: float) -> list[Way]:
        """The cheap ones, for lengths in a grid, and for more of them where it is cheapest."""
        found: list[Way] = []
        length = 1
        while length <= self._simulation.game.rounds and (found or length <= HOPELESS):
            new = self._of_length(length)
            if found and not new:
                break
            found += new
            length = max(length + 1, round(length * ratio) if length >= SINGLE else 0)
        if not found:
            return []
        cheapest = min(found, key=_cost).length
        around = np.linspace(cheapest / ratio, cheapest * ratio, SINGLE).round().astype(int)
        for length in sorted({*around.tolist()} - {0, *(way.length for way in found)}):
            found += self._of_length(length)
        least = min(map(_cost, found))
        return [way for way in found if way.cost <= least + DEAREST]

    def divergences(self, arm: int, mean: float) -> tuple[float, float]:
        """That of the member with this mean from the arm's own, and that of its own from it."""
        core, own = self._divergences[arm], self.means[arm]
        there, back = (core.elementwise("divergence", *pair) for pair in ((mean, own), (own, mean)))
        return there.item(), back.item()

    def _of_length(self, length: int) -> list[Way]:
        """Ways for each share, and for shares near the best."""
        shares, found = self._with_shares(length, np.array(SHARES))
        if found:
            best = SHARES.index(shares[min(range(len(found)), key=lambda i: found[i].cost)])
            near = SHARES[max(best - 1, 0) : best + 2]
            between = np.array([0.5 * (low + high) for low, high in pairwise(near)])
            found += self._with_shares(length, between)[1]
            self._budget = min(self._budget, min(map(_cost, found)) + 2.0 * DEAREST)
        return found

    def _with_shares(self, length: int, share: Floats) -> tuple[list[float], list[Way]]:
        """Ways with the least shift of each share; with larger ones, where a policy then stops earlier.

        But not much earlier: these are ways of other lengths.
        """
        shares: list[float] = []
        found: list[Way] = []
        shift, read = self._least(length, share)
        for further in FURTHER:
            if further > 1.0:
                before, read = read, self._read(length, *self._tilted(further * shift, share))
                earlier = read[:, self.rival] < before[:, self.rival]
                read[~earlier | (2 * read[:, self.best] < length)] = 0
            rows = np.flatnonzero(read[:, self.rival])
            x, y = self._tilted(further * shift[rows], share[rows])
            n, k = read[rows, self.best], read[rows, self.rival]
            cost = self._cost(n, x, k, y)
            for i in np.flatnonzero(cost <= self._budget):
                shares.append(share[rows[i]].item())
                way = n[i].item(), x[i].item(), k[i].item(), y[i].item(), cost[i].item()
                found.append(Way(self.rival, *way))
        return shares, found

    def _least(self, length: int, share: Floats) -> tuple[Floats, Ints]:
        """The least shift for each share, and what is read then of all tapes: nothing if there is none."""
        gap = self.means[self.best] - self.means[self.rival]
        high = np.array([self._shifts.get(each, gap) for each in share.tolist()])
        low, read = np.zeros(len(share)), np.zeros((len(share), len(self.means)), dtype=np.int64)

        def tried(rows: Ints, shift: Floats) -> NDArray[np.bool_]:
            """For which rows a shift does it; it is their `high` then, and their `low` otherwise."""
            found = self._read(length, *self._tilted(shift, share[rows]))
            done: NDArray[np.bool_] = found[:, self.rival] > 0
            high[rows[done]], low[rows[~done]] = shift[done], shift[~done]
            read[rows[done]] = found[done]
            return done

        rows = np.arange(len(share))
        done = tried(rows, high)
        larger, smaller = rows[~done], rows[done]
        while len(larger := larger[self._larger_ones(low[larger], share[larger])]):
            larger = larger[~tried(larger, _UP * low[larger])]
        while len(smaller := smaller[high[smaller] > 1e-6 * gap]):
            smaller = smaller[tried(smaller, _DOWN * high[smaller])]
        rows = np.flatnonzero(read[:, self.rival])
        for _ in range(_STEPS if len(rows) else 0):
            tried(rows, 0.5 * (low[rows] + high[rows]))
        self._shifts |= dict(zip(share[rows].tolist(), high[rows].tolist(), strict=True))
        return high, read

    def _tilted(self, shift: Floats, share: Floats) -> tuple[Floats, Floats]:
        x = np.clip(self.means[self.best] - share * shift, self.low, self.high)
        y = np.clip(self.means[self.rival] + (1.0 - share) * shift, self.low, self.high)
        return x, y

    def _larger_ones(self, shift: Floats, share: Floats) -> NDArray[np.bool_]:
        """Whether a larger shift makes a difference that can be paid for."""
        x, y = self._tilted(shift, share)
        at_the_ends = ((x <= self.low) | (share == 0.0)) & ((y >= self.high) | (share == 1.0))
        affordable: NDArray[np.bool_] = ~at_the_ends & (self._cost(1, x, 1, y) <= self._budget)
        return affordable

    def _cost(self, n: Ints | int, x: Floats, k: Ints | int, y: Floats) -> Floats:
        cost: Floats = n * self._divergence(self.best, x) + k * self._divergence(self.rival, y)
        return cost

    def _divergence(self, arm: int, mean: Floats) -> Floats:
        return self._divergences[arm].elementwise("divergence", mean, self.means[arm])

    def _commit_time(self) -> int:
        """Of a run without any tilt; 0 if it does not commit in a time that can be waited for."""
        nothing = np.zeros((1, len(self.means)))
        played = self._play(np.full(nothing.shape, _WITHOUT_END), nothing, np.array([LONGEST]))
        time = int(played.commit_time[0])
        return time if 0 <= time < LONGEST else 0

    def _read(self, length: int, x: Floats, y: Floats) -> Ints:
        """What is read of every tape, in a run for each x and y; nothing if the rival is not committed to."""
        shifts = np.where(
            self.means >= self.means[self.rival], np.minimum(x[:, None], self.means), self.means
        )
        shifts[:, self.rival] = y
        lengths = np.full(shifts.shape, _WITHOUT_END)
        lengths[:, self.best] = length
        with np.errstate(divide="ignore", over="ignore"):
            affordable = len(self.means) * (length + self._budget / self._divergence(self.rival, y))
        caps = np.minimum(affordable, max(self._patience * (length + 15), self._wait)) + 1000.0
        caps = np.minimum(caps, 2.0**62)
        played = self._play(lengths, shifts - self.means, caps.astype(np.int64))
        return np.where((played.committed_arm == self.rival)[:, None], played.read, 0)

    def _play(self, lengths: Ints, shifts: Floats, caps: Ints) -> WithoutNoise:
        simulation = self._simulation
        runs = WithoutNoise(
            *simulation.policy.start(simulation.game),
            simulation.bandit._core(),
            self.means,
            simulation.times,
            Seed((0,)).states(0, len(caps)),
            self.best,
            lengths=lengths,
            shifts=shifts,
            caps=caps,
        )
        while runs.advance(PIECE):
            pass
        return runs


def _cost(way: Way) -> float:
    return way.cost


def _of_arm(family: families.Family, arm: int) -> families.Family:
    if isinstance(family, families.Gaussian) and isinstance(family.sigma, tuple):
        return families.Gaussian(family.sigma[arm])
    return family
