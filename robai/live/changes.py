"""Changes that people make to a running experiment, each with what it does to the promises."""

from __future__ import annotations

import json
from reprlib import repr as brief
from typing import Any

from robai._base import checks
from robai.live import state
from robai.live.course import Earlier
from robai.live.log import Kind
from robai.live.recorded import Recorded
from robai.live.standing import Label
from robai.rules.game import LONGEST_HORIZON

LONGEST_REASON = 10_000


class Changeable(Recorded[Label]):
    """An agent of a store that can be changed while it runs."""

    def extend(self, horizon: int) -> None:
        """Go on for longer: a larger horizon, before a commitment.

        From the next decision on levels are those of the new horizon. The certificate keeps its delta; the
        theorems of a policy are about a horizon that was fixed before, and say nothing of one that was moved
        because of what had been seen.

        Parameters
        ----------
        horizon : int
            The number of rounds in all.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     agent.extend(1000)
        ...     agent.horizon
        1000
        """
        self._change(self._extend, horizon)

    def _extend(self, horizon: Any) -> None:
        self._need_no_commitment("extend")
        rounds = checks.whole("horizon", horizon, self.horizon + 1, LONGEST_HORIZON)
        self._course.check_changeable("another horizon")
        self._now().extend(rounds)
        self._write([(Kind.EXTEND, None, None, None, json.dumps(rounds))])

    def add_arm(self, label: Label) -> None:
        """One more arm, which is handed out first, as it has no pulls; before a commitment.

        Every ticket is of it until an answer of it counts, or it has as many pulls as another arm. The
        certificate counts all arms there have ever been, and may be wrong with delta once more. The new arm
        comes later than the others: where rewards change with time it is compared with other times.

        Parameters
        ----------
        label : str, int or float
            What it is called; not what another arm is or was called.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B"], 100, reward="bernoulli", rng=0)
        ...     agent.add_arm("C")
        ...     agent.labels
        ('A', 'B', 'C')
        """
        self._change(self._add_arm, label)

    def _add_arm(self, label: Any) -> None:
        self._need_no_commitment("add_arm")
        name = state.label_of("label", label)
        if name in self._course.labels:
            raise ValueError(f"label must be new, got {label!r}, as an arm is called, or was")
        self._course.check_changeable("another arm")
        self._now().add_arm(name)
        self._write([(Kind.ADD_ARM, None, None, None, json.dumps(name))])

    def retire_arm(self, label: Label) -> None:
        """Hand an arm out no more, and compare it no more; before a commitment.

        Its tickets can still be answered. The certificate goes on to count it: what it says is that no wrong
        arm is committed to *of those that are left*, which may be wrong with delta once more. Who retires the
        best arm has lost it.

        Parameters
        ----------
        label : str, int or float
            Which arm; two must be left.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.UCB(), ["A", "B", "C"], 100, reward="bernoulli", rng=0)
        ...     agent.retire_arm("B")
        ...     agent.labels, agent.retired
        (('A', 'C'), {'B': Retired(pulls=0, total=0.0, pending=0)})
        """
        self._change(self._retire_arm, label)

    def _retire_arm(self, label: Any) -> None:
        self._need_no_commitment("retire_arm")
        arm = self._number(label)
        if arm in self._course.retired:
            raise ValueError(f"arm {label!r} is retired already")
        if len(self.labels) <= 2:
            raise ValueError(f"two arms must be left, and there are no more than {list(self.labels)}")
        self._course.check_changeable("one arm less")
        self._now().retire_arm(arm)
        self._write([(Kind.RETIRE_ARM, arm, None, None, None)])

    def reopen(self, reason: str) -> None:
        """Take the commitment back, and go on; for people who decide so.

        The old commitment stays in the file and in the summary. What made the policy stop has to be refuted
        by new rewards before it may stop the experiment again, and about that second commitment the theorems
        say nothing. The certificate is about all time: its delta covers both commitments together, and
        where it is still reached the next call commits again.

        Parameters
        ----------
        reason : str
            Why, for those who read the summary.

        Examples
        --------
        >>> import tempfile
        >>> import robai
        >>> with tempfile.TemporaryDirectory() as folder, robai.Store(f"{folder}/live.db") as store:
        ...     agent = store.create("prices", robai.KLEOCPUG(), ["A", "B"], 10**4, reward="bernoulli", rng=0)
        ...     while not agent.committed:
        ...         agent.update_batch(arms := agent.select_batch(10), [arm == "B" for arm in arms])
        ...     agent.reopen("prices of A have changed")
        ...     agent.committed, agent.earlier[0].arm
        (False, 'B')
        """
        if not isinstance(reason, str) or not 0 < len(reason) <= LONGEST_REASON:
            raise ValueError(
                f"reason must be a text of 1 to {LONGEST_REASON:,} characters, got {brief(reason)}"
            )
        self._change(self._reopen, reason)

    def _reopen(self, reason: str) -> None:
        if not self.committed:
            raise ValueError(f"experiment {self.name!r} has not committed: there is nothing to take back")
        self._course.check_changeable("taking a commitment back")
        now = self._now()
        why = self.commit_reason or ""
        arm: Any = self.committed_arm
        earlier = Earlier(arm, self.commit_time or 0, why, reason, now.time)
        now.reopen(earlier)
        self._write([(Kind.REOPEN, None, None, None, json.dumps(earlier))])

    def _need_no_commitment(self, method: str) -> None:
        if self.committed:
            raise ValueError(
                f"{method} comes too late: experiment {self.name!r} has committed to {self.committed_arm!r}; "
                "reopen it first"
            )
