"""wrong_commit(): how likely a wrong commitment is, also where it is too rare to be counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

from robai import families
from robai._base import checks
from robai._base.intervals import normal_quantile
from robai._base.progress import Progress
from robai._base.text import align, percent
from robai._core.families import Family
from robai._play.assumptions import warn_of_assumptions
from robai._play.mixture import Mixture, mixture_of
from robai._play.request import Options, Simulation
from robai._play.seeds import Rng, Seed
from robai._play.tapes import BATCH, Batch, Weights, in_order
from robai._play.tilts import Search
from robai.bandits import Bandit
from robai.custom import as_policy, written
from robai.instances import Instances
from robai.policies.base import BasePolicy
from robai.rules.game import FARTHEST_HORIZON

# Two mixtures share the runs, so that what one of them does not cover shows: the ratio of lengths in their
# grids, and how much further than needed they tilt.
MIXTURES = ((1.3, 0.06), (1.15, 0.16))
PILOTS = 3  # that parts of a mixture are learned from, and that are not counted
PILOT_RUNS = 4 * BATCH
FIRST_RUNS = 8 * BATCH  # of each mixture
ENOUGH = 200  # hits, and effective runs
LARGEST_SHARE = 0.05
FARTHEST = 4.0  # standard errors between two estimates of one number
NO_HIT = 2**17  # runs without any, after which nothing more is tried

TAPES = 0x7A9E  # in the spawn keys of these runs


@dataclass(frozen=True)
class WrongCommitEstimate:
    """The probability of a wrong commitment, estimated by `wrong_commit`.

    Attributes
    ----------
    probability : float
        That the policy commits to an arm that is not the best, by the horizon.
    relative_error : float
        Its standard error, divided by it.
    runs : int
        How many were played for it.
    hits : int
        How many of them committed to a wrong arm, under the laws that they were played with.
    effective_runs : float
        (sum w)^2 / sum w^2 of their weights w: so many equal ones would say as much.
    largest_share : float
        Of the largest weight in the sum of all.
    horizon : int or float
        The number of rounds.
    policy, bandit : str
        What was played.
    entropy : tuple of int
        Of the seed.

    Examples
    --------
    >>> import robai
    >>> found = robai.wrong_commit(robai.EOCPUG(), robai.Gaussian([0.7, 0.2]), 10**8, rng=0)
    >>> f"{found.probability:.0e}, {found.scaled:.1f}"
    '8e-09, 0.8'
    """

    probability: float
    relative_error: float
    runs: int
    hits: int
    effective_runs: float
    largest_share: float
    horizon: int | float
    policy: str
    bandit: str
    entropy: tuple[int, ...] = field(default=(), repr=False)

    @property
    def low(self) -> float:
        """The lower end of a 95 % interval, in the logarithm."""
        return self.probability * math.exp(-normal_quantile(0.95) * self.relative_error)

    @property
    def high(self) -> float:
        """The upper end; infinite if no run was wrong."""
        factor = math.exp(normal_quantile(0.95) * self.relative_error)
        return self.probability * factor if self.hits else math.inf

    @property
    def scaled(self) -> float:
        """Horizon times probability, which stays bounded if the error is O(1/T)."""
        return self.horizon * self.probability

    def summary(self) -> str:
        """All of it, as text.

        Returns
        -------
        str

        Examples
        --------
        >>> import robai
        >>> found = robai.wrong_commit(robai.LeadCommit(), robai.Bernoulli([0.7, 0.2]), 10**5, rng=0)
        >>> print(found.summary().splitlines()[0])
        policy     LeadCommit()
        """
        weight = f"{self.effective_runs:,.0f} equal ones, {percent(self.largest_share)} the largest"
        rows = [
            ("policy", self.policy),
            ("bandit", self.bandit),
            ("horizon", f"{self.horizon:{',' if isinstance(self.horizon, int) else 'g'}} rounds"),
            (
                "wrong",
                f"{self.probability:.3g} ({self.low:.3g} to {self.high:.3g}), 95 % interval in brackets",
            ),
            ("T x wrong", f"{self.scaled:.3g}, relative standard error {percent(self.relative_error)}"),
            ("runs", f"{self.runs:,}, {self.hits:,} of them wrong, with weights worth {weight}"),
        ]
        return "\n".join(align(rows))


class NotCovered(ValueError):
    """`wrong_commit` found no laws that cover the ways to a wrong commitment.

    Attributes
    ----------
    estimate : WrongCommitEstimate
        What is refused.

    Examples
    --------
    >>> import robai
    >>> try:
    ...     robai.wrong_commit(robai.UCB(), robai.Gaussian([0.7, 0.2]), 10**4, rng=0)
    ... except robai.NotCovered as error:
    ...     print(error.estimate.hits)
    0
    """

    estimate: WrongCommitEstimate

    def __init__(self, message: str, estimate: WrongCommitEstimate | None = None) -> None:
        super().__init__(message)
        if estimate is not None:  # pickles have it by themselves
            self.estimate = estimate


def wrong_commit(
    policy: BasePolicy,
    bandit: Bandit,
    horizon: int | float,
    *,
    relative_error: float = 0.02,
    rng: Rng = None,
    workers: int | None = None,
    executor: Executor | None = None,
    max_runs: int | float = 10**7,
    progress: bool | Callable[[int, int], Any] = False,
) -> WrongCommitEstimate:
    """The probability that a policy commits to a wrong arm, also where that is far too rare to be counted.

    Runs are played on rewards of other laws, under which wrong commitments are common, and weighted by how
    likely what they have read is under the true one: importance sampling by a mixture. The mean weight is
    the probability, whatever the laws; they are chosen by the policy's own play on rewards without noise.

    Parameters
    ----------
    policy : policy
        One of `robai.policies`, or a `Policy` of rules, that commits.
    bandit : bandit
        With one best arm and rewards of a family.
    horizon : int or float
        T, up to 1e100.
    relative_error : float
        Go on until the standard error of the estimate is no more than this part of it.
    rng, workers, executor
        As for `simulate`: the estimate depends on the seed alone.
    max_runs : int
        When to stop before that; the estimate then says what its relative error is. The laws are found by
        other runs before, some ten thousand.
    progress : bool or function
        As for `simulate`; how many runs are planned may grow.

    Returns
    -------
    WrongCommitEstimate

    Raises
    ------
    NotCovered
        If the estimate is not to be trusted: no way to a wrong commitment was found, fewer than 200 runs
        committed to a wrong arm or their weights are worth less than 200 equal ones, the largest weight is
        more than 5 % of their sum, or two halves, or the two mixtures, contradict each other.

    See Also
    --------
    simulate : Counts wrong commitments, among other things.

    Notes
    -----
    A run that does not commit is not wrong. Runs are played round by round, so that the time depends on that
    of commitments. Wrong commitments that take bad luck with many arms at once are the hard ones: four arms
    of which three are equal, say.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Gaussian([0.7, 0.2])
    >>> for policy in [robai.EOCP(gap=0.5), robai.EOCPUG()]:
    ...     found = robai.wrong_commit(policy, bandit, 10**12, rng=0)
    ...     print(f"{policy.label()}: {found.probability:.0e}")
    EOCP(gap=0.5): 3e-17
    EOCPUG(): 8e-13
    """
    simulation = _asked(policy, bandit, horizon, Seed.of(rng))
    target = checks.probability("relative_error", relative_error)
    options = Options(
        checks.whole("max_runs", max_runs, len(MIXTURES), 2**40), workers, executor, None, progress, False
    )
    warn_of_assumptions(
        [(simulation.policy.label(), simulation.policy, simulation.game, bandit)], stacklevel=2
    )
    return _Estimator(simulation, target, options).result()


def _asked(policy: Any, bandit: Any, horizon: Any, seed: Seed) -> Simulation:
    policy = as_policy(policy)
    if (rule := written(policy)) is not None:
        raise ValueError(f"policy must consist of compiled rules, and {type(rule).__name__} is in Python")
    if not isinstance(bandit, Bandit):
        raise TypeError(f"bandit must be a bandit of robai.bandits, got {bandit!r}")
    core = None if isinstance(bandit, Instances) else bandit._core()
    if not (isinstance(core, Family) and isinstance(bandit.family, families.Family)):
        raise ValueError(
            f"bandit must have means and rewards of a family, whose laws are known, got {bandit!r}"
        )
    if len(bandit.best_arms) > 1:
        raise ValueError(f"bandit must have one best arm, or nothing is wrong, got {bandit!r}")
    return Simulation.of(policy, bandit, horizon, 1, seed, "step", farthest=FARTHEST_HORIZON)


class _Estimator:
    """The runs of one estimate so far."""

    def __init__(self, simulation: Simulation, target: float, options: Options) -> None:
        self._simulation, self._target, self._options = simulation, target, options
        self._best = simulation.bandit.best_arms[0]
        self._batches: list[list[Weights]] = [[] for _ in MIXTURES]
        self._mixtures: list[Mixture] = []

    def result(self) -> WrongCommitEstimate:
        arms = [arm for arm in range(self._simulation.bandit.n_arms) if arm != self._best]
        searches = [Search(self._simulation, self._best, arm) for arm in arms]
        for ratio, over in MIXTURES:
            if (mixture := mixture_of(searches, ratio, over)) is None:
                raise NotCovered(
                    f"no laws were found under which {self._label} commits to a wrong arm before round "
                    f"{self._simulation.horizon:,}: does it commit at all?",
                    self._estimate(),
                )
            self._mixtures.append(mixture)
        offset = self._mixtures[0].offset
        self._mixtures = [replace(each, offset=offset) for each in self._mixtures]
        self._learn()
        planned, most = 0, len(self._options.runs) // len(MIXTURES)
        while planned < most and (more := self._more(planned)) > planned:
            self._play(planned, planned := min(more, most))
        return self._checked()

    @property
    def _label(self) -> str:
        return self._simulation.policy.label()

    def _seed(self, which: int, phase: int) -> Simulation:
        seed = self._simulation.seed
        return self._simulation.with_seed(seed._replace(spawn_key=(*seed.spawn_key, TAPES, which, phase)))

    def _learn(self) -> None:
        """Better parts of the components, from pilots."""
        for which, mixture in enumerate(self._mixtures):
            for pilot in range(1, PILOTS + 1):
                _, explained, sides = zip(*self._runs(which, pilot, range(PILOT_RUNS)), strict=True)
                mixture = mixture.adapted(reduce(add, explained), reduce(add, sides))
                self._mixtures[which] = mixture

    def _runs(self, which: int, phase: int, runs: range) -> Iterator[Batch]:
        return in_order(
            self._seed(which, phase),
            self._mixtures[which],
            self._best,
            runs,
            self._options.workers,
            self._options.executor,
        )

    def _more(self, runs: int) -> int:
        """How many runs of each mixture there should be; no more than there are if that is enough."""
        if runs == 0:
            return FIRST_RUNS
        found = self._estimate()
        if found.hits == 0:
            return 4 * runs if runs < NO_HIT else runs
        if found.relative_error <= self._target and not _weakness(found):
            return runs
        wanted = 1.1 * runs * (found.relative_error / self._target) ** 2
        return BATCH * math.ceil(min(max(wanted, 1.5 * runs), 4.0 * runs) / BATCH)

    def _play(self, first: int, last: int) -> None:
        with Progress(self._options.progress, len(MIXTURES) * last, self._label) as bar:
            done = len(MIXTURES) * first
            for which, batches in enumerate(self._batches):
                for batch in self._runs(which, 0, range(first, last)):
                    batches.append(batch.weights)
                    done += batch.weights.runs
                    bar.update(done)

    def _estimate(self) -> WrongCommitEstimate:
        """The mean of the estimates of the mixtures, each of as many runs."""
        simulation = self._simulation
        sums = [reduce(add, batches) for batches in self._batches if batches]
        total, squares = sum(each.total for each in sums), sum(each.squares for each in sums)
        mean, error = math.nan, math.inf
        if sums:
            mean = sum(each.mean for each in sums) / len(sums)
            error = math.sqrt(sum(each.variance for each in sums)) / len(sums)
        return WrongCommitEstimate(
            probability=mean * math.exp(-self._mixtures[0].offset) if sums else math.nan,
            relative_error=error / mean if total > 0.0 else math.inf,
            runs=sum(each.runs for each in sums),
            hits=sum(each.hits for each in sums),
            effective_runs=total * total / squares if total > 0.0 else 0.0,
            largest_share=max(each.largest for each in sums) / total if total > 0.0 else 0.0,
            horizon=simulation.horizon,
            policy=self._label,
            bandit=repr(simulation.bandit),
            entropy=simulation.seed.entropy,
        )

    def _checked(self) -> WrongCommitEstimate:
        found = self._estimate()
        first, second = ([batch for all_of in self._batches for batch in all_of[i::2]] for i in (0, 1))
        pairs = {"two halves of the runs": (first, second), "two mixtures": tuple(self._batches)}
        why = _weakness(found) or next(
            (f"{what} differ" for what, pair in pairs.items() if _differ(*pair)), ""
        )
        if why:
            weights = (
                f", with weights worth {found.effective_runs:,.0f} equal ones, {found.largest_share:.1%} the "
                "largest"
            )
            raise NotCovered(
                f"the laws that were found do not cover the wrong commitments of {self._label}: {why}. "
                f"{found.probability:.3g} is refused, of {found.runs:,} runs, {found.hits:,} of them wrong"
                f"{weights if found.hits else ''}",
                found,
            )
        return found


def _weakness(found: WrongCommitEstimate) -> str:
    if found.hits < ENOUGH:
        return f"fewer than {ENOUGH} runs were wrong"
    if found.effective_runs < ENOUGH:
        return f"weights are worth less than {ENOUGH} equal ones"
    return "one weight outweighs many" if found.largest_share > LARGEST_SHARE else ""


def _differ(*parts: list[Weights]) -> bool:
    """Are two estimates too far from each other?"""
    if not all(parts):
        return False
    one, other = (reduce(add, part) for part in parts)
    return abs(one.mean - other.mean) > FARTHEST * math.sqrt(one.variance + other.variance)
