"""Intervals for the difference of two means, right at all times: certificates, read the other way.

The certificate of two arms is below an error where their likelihood ratio exceeds asked + r_a + r_b: r is
what an arm loses as likelihoods are averaged over a prior, or what a threshold adds for its count. The
interval is that of p - q for all means p and q with

    N_a d(m_a, p) + N_b d(m_b, q) <= asked + r_a + r_b

or, for Gaussian rewards, whose averages are known at every p and q, with averages no larger than that. The
true means are ever outside with probability `error` at most, by the same martingale. The likelihood ratio is
the least left side of all p = q, so 0 is outside exactly where the certificate is below `error`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robai import families
from robai._core.protocols import Evidence
from robai.rules.game import Game
from robai.rules.threshold import Certainty

ZOOMS, PLACES = 8, 33  # each leaves a 16th of a quarter of a circle: in the end 4e-10 of it
DOUBLINGS, HALVINGS = 60, 45  # of a standard error, and to the last digits but a few


class Pair:
    """What has been seen of two arms, out of the counts of all; both must have been pulled."""

    def __init__(
        self,
        family: families.Family,
        arms: tuple[int, int],
        pulls: Sequence[int],
        sums: Sequence[float],
        squares: Sequence[float] | None,
    ) -> None:
        if isinstance(family, families.Gaussian) and isinstance(family.sigma, tuple):
            family = replace(family, sigma=tuple(family.sigma[arm] for arm in arms))
        self._family, self._certainty = family, Certainty(family, Game.of(2, 2, family))
        self._pulls = [pulls[arm] for arm in arms]
        self._means = [sums[arm] / pulls[arm] for arm in arms]
        self._squares = None if squares is None else [squares[arm] for arm in arms]

    def found(self) -> float:
        """What speaks for the larger mean."""
        return self._found_of(self._pulls, self._means)

    def interval(self, error: float) -> tuple[float, float]:
        """The ends, which may be infinite."""
        asked = self._certainty.asked(error)
        if isinstance(self._family, families.Gaussian):
            middle = self._means[0] - self._means[1]
            sigma = self._family.sigma
            reach = self._estimated(asked) if sigma is None else self._known(asked, np.full(2, sigma))
            return middle - reach, middle + reach
        asked += self._lost(0) + self._lost(1)
        return -self._above(1, 0, asked), self._above(0, 1, asked)

    def _found_of(self, pulls: list[int], means: list[float]) -> float:
        sums = [n * mean for n, mean in zip(pulls, means, strict=True)]
        return self._certainty.found(Evidence(pulls, sums, 2, self._squares))

    def _lost(self, arm: int) -> float:
        """r: an arm and the same again have the likelihood ratio 0."""
        return -0.5 * self._found_of([self._pulls[arm]] * 2, [self._means[arm]] * 2)

    def _above(self, arm: int, other: int, most: float) -> float:
        """The largest p - q.

        p takes the share sin^2 of what the sum may be, q the share cos^2: by the angle nothing is steep.
        Where divergences are not convex, as those of exponential rewards are not, there may be more than one
        summit: a heuristic, then, which a finer grid has not improved on.
        """
        core, (low, high), largest = self._family._core(), (0.0, 0.5 * math.pi), -math.inf
        for _ in range(ZOOMS):
            angle = np.linspace(low, high, PLACES)
            p = core.elementwise("upper", self._means[arm], np.sin(angle) ** 2 * most / self._pulls[arm])
            q = core.elementwise("lower", self._means[other], np.cos(angle) ** 2 * most / self._pulls[other])
            apart = p - q
            best = int(apart.argmax())
            low, high = angle[max(best - 1, 0)], angle[min(best + 1, PLACES - 1)]
            largest = max(largest, float(apart[best]))
        return largest

    def _known(self, asked: float, sigma: np.ndarray) -> float:
        """From the logarithm of both averages, gap^2 / (2 square) - (log(1 + N_a) + log(1 + N_b)) / 2."""
        n = np.array(self._pulls, dtype=float)
        square = float((sigma**2 * (n + 1.0) / n**2).sum())
        return math.sqrt(square * (2.0 * asked + float(np.log1p(n).sum())))

    def _estimated(self, asked: float) -> float:
        """The gap at which as much is found, with these variances; it is more at a larger one."""
        squares = self._squares or [0.0, 0.0]
        if not min(squares) > 0.0:  # equal rewards, or squares that nobody knows
            return math.inf

        def enough(gap: float) -> bool:
            return self._found_of(self._pulls, [gap, 0.0]) >= asked

        low, high = 0.0, math.hypot(*(math.sqrt(s) / n for s, n in zip(squares, self._pulls, strict=True)))
        for _ in range(DOUBLINGS):
            if enough(high):
                break
            low, high = high, 2.0 * high
        else:
            return math.inf
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high
