"""How an experiment stands: what can be read off an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from robai._base import checks
from robai._core.lock import Lock
from robai._core.player import Player
from robai.custom import CustomPolicy, PythonPolicy
from robai.live import differences, monitor, reasons
from robai.live.state import Experiment
from robai.policies.base import BasePolicy

if TYPE_CHECKING:
    import typing_extensions
    from matplotlib.axes import Axes

    Label = typing_extensions.TypeVar("Label", bound=str | int | float, default=int)  # numbered arms
else:
    Label = TypeVar("Label")


class Standing(Generic[Label]):
    """What an agent was made for, what it has seen, and what it says of that."""

    _experiment: Experiment
    _player: Player
    _labels: tuple[Label, ...]

    if TYPE_CHECKING:

        def _unknown(self, arm: Any) -> KeyError: ...  # that there is no such arm

    @property
    def _lock(self) -> Lock:
        """While it is held, nothing changes."""
        return self._player.lock

    @property
    def policy(self) -> BasePolicy | PythonPolicy:
        """The policy, as it was handed in."""
        policy = self._experiment.policy
        return policy.policy if isinstance(policy, CustomPolicy) else policy

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names of the arms."""
        return self._labels

    @property
    def horizon(self) -> int:
        """The number of rounds."""
        return self._experiment.horizon

    @property
    def pulls(self) -> NDArray[np.int64]:
        """Answered pulls of every arm."""
        return self._player.pulls

    @property
    def sums(self) -> NDArray[np.float64]:
        """The sum of the rewards of every arm."""
        return self._player.sums

    @property
    def squares(self) -> NDArray[np.float64] | None:
        """The squared deviations of the rewards of every arm from its mean, summed; NaN where unknown.

        None if they are not kept: for rewards that are not Gaussian, where no rule needs them.
        """
        return self._player.squares

    @property
    def pending(self) -> NDArray[np.int64]:
        """Pulls of every arm that were handed out and have no reward yet."""
        return self._player.pending

    @property
    def rounds(self) -> int:
        """Rounds so far: answered and pending."""
        return self._player.rounds

    @property
    def committed(self) -> bool:
        """Whether the policy has committed to an arm, which it does once and for all."""
        return self._player.commitment is not None

    @property
    def committed_arm(self) -> Label | None:
        """The arm committed to, or None."""
        commitment = self._player.commitment
        return None if commitment is None else self.labels[commitment[0]]

    @property
    def commit_time(self) -> int | None:
        """How many answers there were at the commitment, or None."""
        commitment = self._player.commitment
        return None if commitment is None else commitment[1]

    @property
    def commit_reason(self) -> str | None:
        """Why the policy committed, with the numbers that triggered it; None if it has not."""
        with self._lock:
            return reasons.reason(self)

    @property
    def alarms(self) -> list[str]:
        """What has contradicted the assumptions, in sentences, the gravest first. It changes nothing.

        Without a store that is rewards that vary more than the assumed sigma allows.
        """
        with self._lock:
            return list(monitor.alarms(self))

    def _dropped(self) -> list[int]:
        """Pulls of every arm that were given up, without a reward."""
        return [0] * len(self.labels)

    def _history(self) -> list[str]:
        """What else the summary tells."""
        return []

    def certificate(self) -> float:
        """An upper bound on the chance that the arm with the largest mean is not the best one.

        P(there is a time at which that arm is wrong and `certificate()` <= delta) <= delta, for every delta:
        for any policy, batches, and any way to stop or to look, as long as rewards are what they were said to
        be. For rewards in an interval that is any law, for each arm its own. Rewards may be late if the delay
        does not depend on the reward: where conversions arrive later than refusals it is not proved.

        It is (K-1) exp(-Z) with Z the least, over the other arms, logarithm of a likelihood that is averaged
        over a prior, divided by the largest one without a difference; what `rules.Certificate` stops by. For
        Poisson, exponential, gamma and negative binomial rewards it is by the threshold of Kaufmann and
        Koolen (2021), for Gaussian ones of unknown variance (K-1) (1 + Z) exp(-Z). It speaks of the arm that
        has the largest mean now: an earlier number is of the arm that had it then.

        Returns
        -------
        float
            1.0 if nothing can be said yet.

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], 10_000, reward="bernoulli", rng=0)
        >>> agent.update_counts("A", n=400, total=40)
        >>> agent.certificate()
        1.0
        >>> agent.update_counts("B", n=400, total=100)
        >>> round(agent.certificate(), 5)
        7e-05
        """
        with self._lock:
            return monitor.leader_certificate(self)

    def difference(self, arm: Label, other: Label, *, error: float = 0.05) -> differences.Difference:
        """The mean of an arm less that of another, with an interval that may be looked at at any time.

        P(the true difference is ever outside) <= `error`, for any policy, batches, and any way to stop or to
        look, as long as rewards are what they were said to be: the interval is proved as `certificate` is,
        and by the same numbers. So 0 is outside exactly where the certificate of the two arms alone is below
        `error`. The price is the width, a little more than twice that of an interval for a single look.

        Parameters
        ----------
        arm, other : label
            Which arms.
        error : float
            Between 0 and 1: how often an interval may be wrong. For some pairs that are all to be right
            together, divide it by their number.

        Returns
        -------
        Difference

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], 10_000, reward="bernoulli", rng=0)
        >>> agent.update_counts("A", n=400, total=40)
        >>> agent.update_counts("B", n=400, total=100)
        >>> found = agent.difference("B", "A")
        >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
        (0.15, 0.035, 0.266)
        """
        error = checks.probability("error", error)
        with self._lock:
            seen = monitor.seen(self)
            for each in (arm, other):
                if each not in seen.labels:
                    raise self._unknown(each)
            a, b = seen.labels.index(arm), seen.labels.index(other)
            if a == b:
                raise ValueError(f"arm and other must be different, got {arm!r} twice")
            return differences.difference(self, seen, a, b, error)

    def differences(self, *, error: float = 0.05) -> list[differences.Difference]:
        """The mean of the leader, or of the arm committed to, less that of every other arm.

        All are right together, at all times, with probability 1 - `error` at least, whichever arm leads: each
        is that of `difference` with `error` divided by the number of pairs of all arms that there have ever
        been, K (K - 1) / 2.

        Parameters
        ----------
        error : float
            Between 0 and 1: how often any of them may be wrong.

        Returns
        -------
        list of Difference

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B", "C"], 10_000, reward="bernoulli", rng=0)
        >>> for arm, total in {"A": 40, "B": 100, "C": 55}.items():
        ...     agent.update_counts(arm, n=400, total=total)
        >>> [(each.arm, each.other, each.low > 0) for each in agent.differences()]
        [('B', 'A', True), ('B', 'C', False)]
        """
        error = checks.probability("error", error)
        with self._lock:
            seen = monitor.seen(self)
            return differences.differences(self, seen, error, most=len(seen.pulls))

    def table(self) -> list[monitor.Row]:
        """One row an arm: what `summary` shows, as data.

        Returns
        -------
        list of Row

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], 10_000, reward="bernoulli", rng=0)
        >>> agent.update_batch(["A", "B", "B"], [0, 1, 1])
        >>> [(row.arm, row.mean, row.status) for row in agent.table()]
        [('A', 0.0, 'exploring'), ('B', 1.0, 'leading')]
        """
        return monitor.table(self)

    def summary(self) -> str:
        """One sentence on where the experiment stands, and a table of the arms.

        The sentence has the certificate of the arm with the largest mean, if it is below 1: see
        `certificate`. `lower` and `upper` are the bounds that the policy compares, or of the same level on
        the other side, of the answered pulls; - for none. A line says how often they are wrong. Then come
        `differences`, at most those of the ten arms against which there is the least evidence. Of LeadCommit
        one more table has the evidence against every arm but the leader, the bar that it has to reach, how
        many pulls the leader may have until the arm is played again (its claim), and how many more pulls of
        the arm it takes to clear it if no mean changes.

        Returns
        -------
        str

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], 10_000, reward="bernoulli", rng=0)
        >>> agent.update_batch(["A", "B", "B"], [0, 1, 1])
        >>> sentence, _, *table = agent.summary().splitlines()
        >>> sentence[sentence.index("'B'") :]
        "'B' has the largest mean, 1, and certificate 0.79."
        >>> print(*table, sep="\\n")
        arm  pulls  pending  share  mean     lower  upper  status
        A        1        0   33 %     0         0      1  exploring
        B        2        0   67 %     1  0.002193      1  leading
        <BLANKLINE>
        lower and upper are of level 12.25: either is wrong with probability 4.8e-06 at most for given pulls
        <BLANKLINE>
        the mean of 'B' less that of every other arm; all are right at all times with probability 95 %:
        <BLANKLINE>
        arm  difference      low  high  verdict
        A             1  -0.6015     1  open
        """
        with self._lock:
            return monitor.summary(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the means with the bounds that the policy compares, and mark the commitment.

        Parameters
        ----------
        ax : matplotlib Axes, or None
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import robai
        >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], 10_000, reward="bernoulli", rng=0)
        >>> agent.update_batch(["A", "B", "B"], [0, 1, 1])
        >>> agent.plot().get_title()
        'KLEOCPUG(): exploring, round 3 of 10,000'
        """
        return monitor.plot(self, ax)

    def __repr__(self) -> str:
        where = f"committed to {self.committed_arm!r}" if self.committed else "exploring"
        rounds = f"round {self.rounds:,} of {self.horizon:,}"
        return f"<Agent {self._experiment.policy.label()}: {len(self.labels)} arms, {rounds}, {where}>"
