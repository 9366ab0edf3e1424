"""How an experiment went: its events repeated, and looked at now and then."""

from __future__ import annotations

from typing import Any, NamedTuple

from robai.live.course import Course, earliest
from robai.live.log import Kind, Log
from robai.live.monitor import Row, table
from robai.live.standing import Standing
from robai.live.terms import Terms
from robai.policies.base import BasePolicy

LOOKS = 300
ROWS = 30_000  # of all looks: of very many arms there are few


class Happened(NamedTuple):
    """Something that is told: when, in which round, and a short name of it."""

    time: float
    rounds: int
    what: str


class Timeline(NamedTuple):
    """The rows of `table` by rounds; `start` is where the events begin that are left, if some are not."""

    looks: dict[int, list[Row]]
    happened: list[Happened]
    start: Happened | None


class Moment(Standing[Any]):
    """How a course stands until it goes on."""

    def __init__(self, course: Course) -> None:
        self._experiment, self._player = course.experiment, course.player
        self._labels = course.experiment.labels
        self._lost = [course.dropped[arm] for arm in course.active]

    def _dropped(self) -> list[int]:
        return self._lost


def timeline(
    log: Log, number: int, terms: Terms, spec: dict[str, Any], policy: BasePolicy | None
) -> Timeline:
    course = earliest(log, number, terms, spec, policy)
    first, last = course.seq, log.last(number) or 0
    looks = max(min(LOOKS, ROWS // len(course.labels)), 2)
    every = max((last - first) // looks, 1)
    found = Timeline({}, [], Happened(course.time, course.player.rounds, "compacted") if first else None)
    if first:
        found.looks[course.player.rounds] = table(Moment(course))
    for event in log.events(number, first):
        course.repeat(event, log)
        if (event.seq - first) % every == 0 or event.seq == last:
            found.looks[course.player.rounds] = table(Moment(course))
        if what := _told(event.kind, event.arm, course):
            found.happened.append(Happened(event.time, course.player.rounds, what))
    return found


def _told(kind: int, arm: int | None, course: Course) -> str:
    match kind:
        case Kind.COMMIT:
            return f"committed to {Moment(course).committed_arm}"
        case Kind.EXTEND:
            return f"horizon {course.experiment.horizon:,}"
        case Kind.ADD_ARM:
            return f"{course.labels[-1]} added"
        case Kind.RETIRE_ARM if arm is not None:
            return f"{course.labels[arm]} retired"
        case Kind.REOPEN:
            return f"{course.earlier[-1].arm} not committed to any more"
    return ""
