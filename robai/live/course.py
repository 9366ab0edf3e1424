"""What the events of an experiment have come to, one after the other.

A process that makes an event and one that reads it do the same, by the same methods. Only what was decided is
not decided again: the rules are asked, because that moves the generator and their memory, and then what is
recorded is done, whatever they say.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from robai import rules
from robai._base import checks
from robai._base.json import parse
from robai._core.player import HorizonReached, Player
from robai.custom import written
from robai.live import state
from robai.live.alarms import Alarms
from robai.live.log import Event, Found, Kind, Log
from robai.live.state import Experiment
from robai.live.terms import Terms
from robai.policies.base import BasePolicy
from robai.rules.game import LONGEST_HORIZON

FORMAT = "robai.Course"
SCHEMA = 1
LARGEST_REWARD = 1e100  # so that sums and squares of all there can be are doubles


class Retired(NamedTuple):
    """The counts of an arm that is not handed out any more.

    Attributes
    ----------
    pulls : int
        Rewards that have come.
    total : float
        Their sum.
    pending : int
        Pulls without a reward yet.

    Examples
    --------
    >>> Retired(pulls=3, total=1.0, pending=1)
    Retired(pulls=3, total=1.0, pending=1)
    """

    pulls: int
    total: float
    pending: int


class Earlier(NamedTuple):
    """A commitment that was taken back.

    Attributes
    ----------
    arm : label
        Committed to.
    commit_time : int
        How many answers there were.
    commit_reason : str
        Why the policy committed.
    reason : str
        Why it was taken back.
    time : float
        When.

    Examples
    --------
    >>> Earlier("B", 1200, "...", "prices have changed", 0.0).reason
    'prices have changed'
    """

    arm: Any
    commit_time: int
    commit_reason: str
    reason: str
    time: float


class Course:
    """The state of an experiment after some of its events.

    Arms are numbers, in the order in which they came; `places` says where each is among those of the
    player, which knows nothing of retired ones.
    """

    def __init__(self, number: int, terms: Terms, experiment: Experiment, player: Player) -> None:
        self.number, self.terms = number, terms
        self.experiment, self.player = experiment, player
        self.labels = list(experiment.labels)
        self.numbers = {label: arm for arm, label in enumerate(self.labels)}
        self.places: list[int | None] = list(range(len(self.labels)))
        self.dropped = [0] * len(self.labels)
        self.retired: dict[int, Retired] = {}
        self.earlier: list[Earlier] = []
        self.seq, self.time = 0, -math.inf
        self.matured = 0  # the last event whose window has closed
        self.differences = 0  # decisions that this version would have made otherwise
        self.alarms = Alarms(len(self.labels))
        self._due = -math.inf  # no window closes that was opened before

    @property
    def active(self) -> list[int]:
        """The arms that can be handed out."""
        return [arm for arm, place in enumerate(self.places) if place is not None]

    # ---- what events do

    def begin(self, time: float, log: Log) -> None:
        """It is so late; windows that have closed by now are looked at, in the order of their tickets."""
        self.time = time
        if not self.terms.ends:
            return
        limit = time - self.terms.window  # type: ignore[operator]  # a number, as it ends
        if self._due > limit:
            return
        self._due = time  # of whatever comes next
        for found in log.scan(self.number, self.matured):
            if found.time > limit:
                self._due = found.time
                break
            if found.kind == Kind.TICKET:
                self._close(found)
            self.matured = found.seq

    def is_due(self, time: float, log: Log) -> bool:
        """Whether a window has closed by now that is open in the file."""
        if not self.terms.ends:
            return False
        for found in log.scan(self.number, self.matured):
            if self.terms.in_time(found.time, time):
                return False
            if found.kind == Kind.TICKET:
                return True
        return False

    def _close(self, ticket: Found) -> None:
        answered = ticket.answered is not None and self.terms.in_time(ticket.time, ticket.answered)
        if self.terms.missing is not None:  # silence is a reward, and nothing is missing
            self.count(ticket.arm, ticket.value if answered else self.terms.missing)  # type: ignore[arg-type]
            return
        self.alarms.closed(ticket.arm, answered, ticket.time + self.terms.window)  # type: ignore[operator]
        if not answered:
            self._drop(ticket.arm)

    def ask(self) -> tuple[int, bool]:
        """The arm of the next round, and whether it is committed to; moves generator and rules, no more."""
        place, commits = self.player.ask()
        return self.active[place] if self.retired else place, commits

    def commit(self, arm: int) -> None:
        self.player.commit(self._place(arm))

    def hand_out(self, arm: int) -> None:
        self.player.hand_out(self._place(arm))

    def _place(self, arm: int) -> int:
        if arm < 0:
            raise IndexError(f"there is no arm {arm}")
        place = self.places[arm]
        if place is None:
            raise ValueError(f"arm {self.labels[arm]!r} was retired")
        return place

    def count(self, arm: int, reward: float) -> None:
        """A reward is evidence from now on."""
        place = self.places[arm] if arm >= 0 else self._place(arm)
        if place is None:
            pulls, total, pending = self.retired[arm]
            self.retired[arm] = Retired(pulls + 1, total + reward, max(pending - 1, 0))
            return
        self.player.update(place, reward)
        self.alarms.reward(arm, reward, self.time)

    def _drop(self, arm: int) -> None:
        place = self.places[arm]
        self.dropped[arm] += 1
        if place is None:
            self.retired[arm] = self.retired[arm]._replace(pending=self.retired[arm].pending - 1)
        else:
            self.player.drop(place)

    def answer(self, ticket: int, arm: int, reward: float) -> str:
        """The first answer to a ticket; what becomes of it."""
        if ticket <= self.matured:
            return "late"
        if self.terms.missing is not None:
            return "held"
        self.count(arm, reward)
        return "counted"

    # ---- changes by people

    def check_changeable(self, what: str) -> None:
        """A ValueError if its rules cannot be started anew in the middle."""
        policy, reason = self.experiment.policy, None
        if written(policy) is not None:
            reason = "is written in Python"
        elif isinstance(policy.parts().explore, rules.STAGED) or self.player.rules.explore.memory():
            reason = "explores in stages, of which each is planned when it begins"
        if reason:
            raise ValueError(f"{what} is not possible: {policy.label()} {reason}")

    def extend(self, horizon: int) -> None:
        self._start_anew(self.active, horizon)

    def add_arm(self, label: Any) -> None:
        self.numbers[label] = len(self.labels)
        self.labels.append(label)
        self.places.append(len(self.experiment.labels))
        self.dropped.append(0)
        self._start_anew(self.active, self.experiment.horizon)
        self.alarms.add_arm()

    def retire_arm(self, arm: int) -> None:
        place = self._place(arm)
        pulls, sums, _, pending, *_ = self.player.state()
        self.retired[arm] = Retired(pulls[place], sums[place], pending[place])
        self._start_anew([each for each in self.active if each != arm], self.experiment.horizon)

    def reopen(self, earlier: Earlier) -> None:
        self.earlier.append(earlier)
        self._start_anew(self.active, self.experiment.horizon, held=True)

    def _start_anew(self, arms: list[int], horizon: int, held: bool | None = None) -> None:
        """The same rules for these arms and this horizon, with all counts; before a commitment."""
        old = self.player
        pulls, sums, squares, pending, alarms, *_ = old.state()
        rounds = old.rounds
        held = state.is_held(old) if held is None else held
        before = self.experiment
        self.experiment = Experiment(
            before.policy,
            [self.labels[arm] for arm in arms],
            horizon,
            before.family,
            delta=before.delta,
            arms_ever=len(self.labels),
            held=held,
        )
        self.player = self.experiment.player(old.stream)
        places = [self._place(arm) for arm in arms]

        def kept(values: list[Any] | None) -> list[Any]:
            found = dict(enumerate(values or []))
            return [found.get(place, 0) for place in places]

        self.player.restore(
            kept(pulls),
            [float(each) for each in kept(sums)],
            [float(each) for each in kept(squares)],
            kept(pending),
            [arm for arm, place in enumerate(places) if place in alarms],
            None,
        )
        self.player.spend(rounds - self.player.rounds)
        self.places = [arms.index(arm) if arm in arms else None for arm in range(len(self.labels))]

    # ---- events that others made

    def repeat(self, event: Event, log: Log) -> None:
        """Do what is recorded; a ValueError if it cannot have been."""
        try:
            self.begin(event.time, log)
            self._repeat(event)
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise ValueError(f"event {event.seq} cannot be repeated: {error}") from error
        self.seq = event.seq

    def _repeat(self, event: Event) -> None:
        arm, value, data = event.arm, event.value, event.data or ""
        match event.kind, arm, value:
            case Kind.SELECT | Kind.TICKET, int(arm), _:
                self._follow(arm)
            case Kind.ANSWER, int(arm), float(value) if event.ticket is not None:
                self.answer(event.ticket, arm, value)
            case Kind.UPDATE, int(arm), float(value):
                self.count(arm, value)
            case Kind.SELECT_BATCH, _, _:
                for each in parse(data):
                    self._follow(each)
            case Kind.UPDATE_BATCH, _, _:
                self.update_batch(*parse(data))
            case Kind.UPDATE_COUNTS, int(arm), float(value):
                self.update_counts(arm, value, *parse(data))
            case Kind.COMMIT, int(arm), _:
                self.differences += self._said() != (arm, True)
                self.commit(arm)
            case Kind.EXTEND, _, _:
                self.extend(checks.whole("horizon", parse(data), 1, LONGEST_HORIZON))
            case Kind.ADD_ARM, _, _:
                self.add_arm(parse(data))
            case Kind.RETIRE_ARM, int(arm), _:
                self.retire_arm(arm)
            case Kind.REOPEN, _, _:
                self.reopen(_earlier(parse(data)))
            case Kind.TICK, _, _:
                pass
            case _:
                raise ValueError(f"there is no such event: {event}")

    def _follow(self, arm: int) -> None:
        self.differences += self._said() != (arm, False)
        self.hand_out(arm)

    def _said(self) -> tuple[int, bool] | None:
        try:
            return self.ask()
        except HorizonReached:
            return None

    def update_batch(self, arms: Iterable[int], rewards: Iterable[float]) -> None:
        for arm, reward in zip(arms, rewards, strict=True):
            self.count(arm, reward)

    def update_counts(self, arm: int, total: float, n: int, squares: float | None) -> None:
        self.player.update_counts(self._place(arm), n, total, squares)

    # ---- as text

    def to_json(self) -> str:
        return json.dumps(
            {
                "format": FORMAT,
                "schema": SCHEMA,
                "agent": state.plain(self.experiment, self.player),
                "labels": self.labels,
                "active": self.active,
                "dropped": self.dropped,
                "retired": [[arm, *counts] for arm, counts in self.retired.items()],
                "earlier": self.earlier,
                "time": self.time,
                "matured": self.matured,
                "differences": self.differences,
                "alarms": self.alarms.to_dict(),
            },
            allow_nan=False,
        )

    @classmethod
    def from_json(cls, number: int, terms: Terms, seq: int, text: str) -> Course:
        """What `to_json` wrote after an event; a ValueError that says which field is wrong."""
        data = parse(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("schema") != SCHEMA:
            raise ValueError(f"this is not a snapshot of version {SCHEMA}")
        course = cls(number, terms, *state.field(data, "agent", state.restored))
        course.seq = seq
        for name in ("labels", "active", "dropped", "retired", "earlier", "time", "matured", "differences"):
            state.field(data, name, getattr(course, f"_restore_{name}"))
        course.alarms = state.field(data, "alarms", Alarms.from_dict)
        return course

    def _restore_labels(self, value: Any) -> None:
        self.labels = list(state.labels_of(value))
        self.numbers = {label: arm for arm, label in enumerate(self.labels)}

    def _restore_active(self, value: Any) -> None:
        arms = _numbers(value, len(self.labels) - 1)
        if [self.labels[arm] for arm in arms] != list(self.experiment.labels):
            raise ValueError("must be the arms of the agent")
        self.places = [arms.index(arm) if arm in arms else None for arm in range(len(self.labels))]

    def _restore_dropped(self, value: Any) -> None:
        self.dropped = _numbers(value, state.MOST_PULLS)
        if len(self.dropped) != len(self.labels):
            raise ValueError("there must be as many as labels")

    def _restore_retired(self, value: Any) -> None:
        for number, pulls, total, pending in value:
            arm = checks.whole("arm", number, 0, len(self.labels) - 1)
            counts = _numbers([pulls, pending], state.MOST_PULLS)
            self.retired[arm] = Retired(counts[0], checks.real("total", total), counts[1])
        if sorted(self.retired) != [arm for arm, place in enumerate(self.places) if place is None]:
            raise ValueError("must be the arms that are not active")

    def _restore_earlier(self, value: Any) -> None:
        self.earlier = list(map(_earlier, value))

    def _restore_time(self, value: Any) -> None:
        self.time = checks.real("it", value)

    def _restore_matured(self, value: Any) -> None:
        self.matured = checks.whole("it", value, 0, self.seq)

    def _restore_differences(self, value: Any) -> None:
        self.differences = checks.whole("it", value, 0, state.MOST_PULLS)


def _earlier(value: Any) -> Earlier:
    found = Earlier(*value)
    checks.whole("commit_time", found.commit_time, 0, state.MOST_PULLS)
    checks.real("time", found.time)
    texts = isinstance(found.commit_reason, str) and isinstance(found.reason, str)
    if not texts or not isinstance(found.arm, str | int | float):
        raise TypeError(f"must be a commitment that was taken back, got {str(value)[:40]!r}")
    return found


def _numbers(values: Any, largest: int) -> list[int]:
    return [checks.whole(f"entry {i}", each, 0, largest) for i, each in enumerate(values)]


def earliest(
    log: Log, number: int, terms: Terms, spec: dict[str, Any], policy: BasePolicy | None = None
) -> Course:
    """From where the events that are left go on: the beginning, unless it was compacted away."""
    if (log.first(number) or 1) == 1:
        return Course(number, terms, *state.begun(spec, policy))
    snapshots = log.snapshots(number)
    if not snapshots:
        raise ValueError("its first events are not there, and no snapshot is")
    return Course.from_json(number, terms, *snapshots[-1])


def opened(
    log: Log, number: int, terms: Terms, spec: dict[str, Any], policy: BasePolicy | None = None
) -> Course:
    """What the file says: the newest snapshot, or the beginning, and the events since."""
    found = log.snapshot(number) if policy is None else None
    if found is None:
        course = Course(number, terms, *state.begun(spec, policy))
    else:
        course = Course.from_json(number, terms, *found)
    for event in log.events(number, course.seq):
        course.repeat(event, log)
    return course
