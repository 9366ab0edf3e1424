"""`robai status` and `robai watch`: how the experiments of a store stand, once, or until one has seen enough.

They show what is in the file. Windows that have closed since its last event are said to be due, and are not
counted: that is for the next process that writes, by its clock.
"""

import argparse
import json
import math
import sqlite3
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, NoReturn

from robai._base import checks
from robai._base.text import painted, printable, shown_on, table
from robai.cli import options as _options
from robai.cli.options import path
from robai.cli.output import fitting, is_rewritten, terminal, to_json
from robai.live import Store, StoredAgent, monitor
from robai.live.alarms import date

_HEADING = (
    *("experiment", "policy", "arms", "rounds", "horizon", "pending", "certificate", "alarms"),
    *("last event", "stands"),
)
_DUE = "windows are due: the next ticket or answer closes them, or refresh() of a process that writes"
_OTHER_SCREEN, _BACK = "\x1b[?1049h", "\x1b[?1049l"  # what was there before stays as it was
_CLEAR = "\x1b[H\x1b[2J"


class _Look(NamedTuple):
    """At an experiment, and whether windows are due; or why it cannot be read."""

    name: str
    agent: StoredAgent[Any] | None = None
    due: bool = False
    problem: str = ""


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("path", type=path, metavar="PATH", help="the file of the store")
    add(
        "names",
        nargs="*",
        default=(),
        metavar="[NAME ...]",
        help="experiments to show in full (a line for each)",
    )
    if parser.prog.endswith(" watch"):
        add("--every", type=float, default=2.0, metavar="SECONDS", help="between two looks (2)")


def run(options: argparse.Namespace) -> int:
    if hasattr(options, "every"):
        _watch(options)
    looks = _looks(options.path, options.names)
    print(to_json(list(map(_record, looks))) if options.json else _shown(looks, options))
    return 1 if any(look.problem for look in looks) else 0


def _watch(options: argparse.Namespace) -> NoReturn:
    """Until Ctrl-C: written over on a terminal; else a block, or a line of JSON, when something changes."""
    checks.between("--every", options.every, 0.1, 86_400.0)
    rewritten, before, text = is_rewritten(sys.stdout) and not options.json, "", ""
    try:
        while True:
            looks = _looks(options.path, options.names, known=bool(before))
            with shown_on(terminal(sys.stdout)):  # which may have become wider
                now = json.dumps(list(map(_record, looks))) if options.json else _shown(looks, options)
                when = painted("heading", f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC")
            if rewritten:
                text = f"{when}, every {options.every:g} s\n\n{now}"
                print(f"{_CLEAR if before else _OTHER_SCREEN}{fitting(text)}", end="", flush=True)
            elif now != before:
                print(now if options.json else f"{when}\n\n{now}\n", flush=True)
            before = now
            time.sleep(options.every)
    finally:
        if text:
            print(f"{_BACK}{text}", flush=True)


def _looks(path: str, names: Sequence[str], known: bool = False) -> list[_Look]:
    """At all experiments, or some. The file is opened anew: it may be another one by now."""
    try:
        with Store.reader(path) as store:
            listed = store.names()
            for name in () if known else names:
                _options.known("experiment", name, listed, f"robai status {path}")
            return [_look(store, name) for name in dict.fromkeys(names or listed)]
    except sqlite3.DatabaseError as error:
        raise OSError(f"{path}: SQLite: {error}") from error


def _look(store: Store, name: str) -> _Look:
    """In short transactions: while one is open, the log of the file cannot begin anew, and grows."""
    try:
        agent = store.open(name)
        return _Look(name, agent, agent.due)
    except KeyError:
        return _Look(name, problem="it was deleted")
    except (ValueError, sqlite3.DatabaseError) as error:
        return _Look(name, problem=printable(str(error)))


# ---- for people


def _shown(looks: Sequence[_Look], options: argparse.Namespace) -> str:
    """A table of all, or the summaries of those with a name."""
    if options.names:
        return "\n\n".join(map(_summary, looks))
    if not looks:
        return f"{options.path} has no experiments"
    rows = [_row(look) for look in looks]
    committed = {
        place for place, look in enumerate(looks, 1) if look.agent is not None and look.agent.committed
    }
    notes = [painted("error", f"{printable(look.name)}: {look.problem}") for look in looks if look.problem]
    if any(look.due for look in looks):
        notes.append(f"+ {_DUE}")
    return "\n".join([*table([_HEADING, *rows], committed), *[""] * bool(notes), *notes])


def _row(look: _Look) -> tuple[str, ...]:
    agent = look.agent
    if agent is None:
        return look.name, *["-"] * (len(_HEADING) - 2), "cannot be read"
    pending = f"{int(agent.pending.sum()):,}{'+' * look.due}"
    return (
        look.name,
        agent._experiment.policy.label(),
        f"{len(agent.labels):,}",
        f"{agent.rounds:,}",
        f"{agent.horizon:,}",
        pending,
        "-" if (delta := agent.certificate()) == 1.0 else f"{delta:.2g}",
        str(len(agent.alarms) or "-"),
        "-" if agent.last_event is None else date(agent.last_event),
        _stands(agent),
    )


def _stands(agent: StoredAgent[Any]) -> str:
    leader = _leader(agent)
    if agent.committed:
        ahead = "" if leader == agent.committed_arm else f", {leader} leads"
        return f"committed to {agent.committed_arm}{ahead}"
    if monitor.inconclusive(agent):
        return "inconclusive"
    return "no rewards yet" if leader is None else f"{leader} leads"


def _leader(agent: StoredAgent[Any]) -> Any:
    best = monitor.leading(agent.table())
    return None if best is None else best.arm


def _summary(look: _Look) -> str:
    agent, heading = look.agent, painted("heading", printable(look.name))
    if agent is None:
        return f"{heading}\n{painted('error', look.problem)}"
    return "\n".join([heading, agent._dates(), *[_DUE] * look.due, "", agent.summary()])


# ---- for scripts


def _record(look: _Look) -> dict[str, Any]:
    """What an agent says of itself; numbers are null where there are none."""
    agent = look.agent
    if agent is None:
        return {"name": look.name, "error": look.problem}
    return {
        "name": look.name,
        "error": None,
        **agent._experiment.to_dict(),
        **agent._terms.to_dict(),
        "delta": agent.delta,
        "created": agent.created,
        "last_event": agent.last_event,
        "due": look.due,
        "rounds": agent.rounds,
        "leader": _leader(agent),
        "certificate": agent.certificate(),
        "committed_arm": agent.committed_arm,
        "commit_time": agent.commit_time,
        "commit_reason": agent.commit_reason,
        "alarms": agent.alarms,
        "table": [row._asdict() for row in agent.table()],
        "differences": [
            {name: _finite(value) for name, value in each._asdict().items()} for each in agent.differences()
        ],
        "dropped": agent.dropped.tolist(),
        "retired": [{"arm": arm, **counts._asdict()} for arm, counts in agent.retired.items()],
        "earlier": [each._asdict() for each in agent.earlier],
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
