"""Whether what is in a store can have happened, and what of it is still needed."""

from __future__ import annotations

import math
from collections.abc import Iterable

from robai._base.json import parse
from robai.live import state
from robai.live.course import Course, earliest, opened
from robai.live.log import Kind, Log, Written
from robai.live.terms import specification


def wrong(log: Log, found: Written) -> Iterable[str]:
    """Sentences about an experiment, none if all is well: events, and what they come to."""
    number = found.number
    agent, terms = specification(found.spec)
    snapshots = log.snapshots(number)
    expected, time = log.first(number) or 1, -math.inf
    for event in log.events(number):
        if event.seq != expected:
            yield f"event {expected} is missing"
            expected = event.seq
        expected += 1
        if not (isinstance(event.time, float) and event.time >= time):
            yield f"event {event.seq} is of a time before that of the last one"
        else:
            time = event.time
        if event.kind == Kind.ANSWER:
            ticket = log.find(number, event.ticket or 0)
            if ticket is None and (event.ticket or 0) >= (log.first(number) or 0):
                yield f"event {event.seq} answers ticket {event.ticket}, which there is not"
            elif ticket is not None and (ticket.kind != Kind.TICKET or ticket.arm != event.arm):
                yield f"event {event.seq} answers event {event.ticket}, which is not a ticket of its arm"
    if state.policy_of(agent) is None:
        return
    course = earliest(log, number, terms, agent)
    texts = dict(snapshots)
    for event in log.events(number, course.seq):
        course.repeat(event, log)
        if event.seq in texts:
            kept = Course.from_json(number, terms, event.seq, texts[event.seq])
            if not _same(kept, course):
                yield f"the snapshot after event {event.seq} is not what the events come to"
    if course.differences:
        yield (
            f"{course.differences:,} decisions would be made otherwise by this version of robai; those that "
            "are recorded stand"
        )
    if snapshots and not _same(opened(log, number, terms, agent), course):
        yield "what is read from the newest snapshot is not what the events come to"


def _same(kept: Course, repeated: Course) -> bool:
    """Are they one state? What rules remember cannot be repeated where they were others."""
    states = [parse(course.to_json()) for course in (kept, repeated)]
    if repeated.differences:
        for each in states:
            del each["differences"], each["agent"]["generator"], each["agent"]["exploration"]
    return bool(states[0] == states[1])


def first_needed(log: Log, found: Written, before: float) -> int:
    """The first event that has to stay, if what is older than a time is to go."""
    snapshots, since = log.snapshots(found.number), log.since(found.number, before)
    if len(snapshots) < 2 or since is None:
        return 0
    (_, _), (seq, text) = snapshots[:2]
    _, terms = specification(found.spec)
    if terms.ends:
        needed = Course.from_json(found.number, terms, seq, text).matured + 1
    else:
        needed = log.unanswered(found.number) or seq + 1
    return min(since, seq + 1, needed)
