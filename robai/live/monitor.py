"""How an experiment stands: the table, the sentence and the figure of an agent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robai._base.text import align, percent
from robai._core.protocols import intervals
from robai.live import differences
from robai.live.reasons import Seen, certificate, doubts, level
from robai.plotting.style import COLOURS, axes, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robai.live.standing import Standing


class Row(NamedTuple):
    """One arm of an experiment; None where there is no such number yet, or ever.

    Attributes
    ----------
    arm : label
        What it is called.
    pulls, pending : int
        Pulls that were answered, and that were not yet.
    share : float
        Of all rounds: answered, pending, and given up when a window closed.
    mean : float or None
        Of the rewards.
    lower, upper : float or None
        The bounds that the policy compares, or of the same level on the other side.
    status : str
        "committed", "leading", "dropped", "exploring", "starting" or "closed".

    Examples
    --------
    >>> import robai
    >>> agent = robai.Agent(robai.KLEOCPUG(), ["A", "B"], 10_000, reward="bernoulli", rng=0)
    >>> agent.table()[0]
    Row(arm='A', pulls=0, pending=0, share=0.0, mean=None, lower=None, upper=None, status='starting')
    """

    arm: Any
    pulls: int
    pending: int
    share: float
    mean: float | None
    lower: float | None
    upper: float | None
    status: str


def table(agent: Standing[Any]) -> list[Row]:
    with agent._lock:
        now, pending, rounds = seen(agent), agent.pending.tolist(), max(agent.rounds, 1)
        dropped = agent._dropped()
        compared, status = intervals(agent._player.rules, now.evidence), _status(agent, now)
    return [
        Row(label, n, waiting, (n + waiting + lost) / rounds, total / n if n else None, lower, upper, state)
        for label, n, total, waiting, lost, (lower, upper), state in zip(
            now.labels, now.pulls, now.sums, pending, dropped, compared, status, strict=True
        )
    ]


def leading(rows: list[Row]) -> Row | None:
    """That of the largest mean, of which the certificate speaks; None without rewards."""
    return max((row for row in rows if row.mean is not None), key=lambda row: row.mean or 0.0, default=None)


def seen(agent: Standing[Any]) -> Seen:
    squares = None if agent.squares is None else agent.squares.tolist()
    return Seen(agent.labels, agent.horizon, agent.pulls.tolist(), agent.sums.tolist(), squares)


def _status(agent: Standing[Any], now: Seen) -> list[str]:
    arms = range(len(now.labels))
    if agent.committed:
        return ["committed" if label == agent.committed_arm else "closed" for label in now.labels]
    rules = agent._player.rules
    waiting = [pulls < max(rules.initial_pulls, 1) for pulls in now.pulls]
    if all(waiting) or (any(waiting) and not rules.explore.impatient):
        return ["starting"] * len(arms)
    active = rules.explore.memory().get("active") or arms
    return [
        "starting"
        if waiting[arm]
        else "leading"
        if arm == now.best
        else "exploring"
        if arm in active
        else "dropped"
        for arm in arms
    ]


def summary(agent: Standing[Any]) -> str:
    """Where the experiment stands, and the table."""
    rows = align([Row._fields, *map(texts, table(agent))])
    lines = [sentence(agent), *agent._history(), *agent.alarms, "", *rows]
    for text in about_bounds(agent):
        lines += ["", text]
    lines += differences.lines(agent, seen(agent))
    if not agent.committed:
        lines += doubts(agent._player.rules.explore, seen(agent), agent.pending.tolist())
    return "\n".join(lines)


def texts(row: Row) -> tuple[str, ...]:
    """As people read it."""
    counts = (f"{row.pulls:,}", f"{row.pending:,}", percent(row.share))
    figures = ("-" if each is None else f"{each:.4g}" for each in (row.mean, row.lower, row.upper))
    return str(row.arm), *counts, *figures, row.status


def about_bounds(agent: Standing[Any]) -> Iterator[str]:
    """How often the bounds are wrong, if they are of one level."""
    if (found := level(agent._player.rules, seen(agent))) is not None:
        chance = f"either is wrong with probability {math.exp(-found):.2g} at most for given pulls"
        yield f"lower and upper are of level {found:.4g}: {chance}"


def leader_certificate(agent: Standing[Any]) -> float:
    return certificate(agent, seen(agent))


def alarms(agent: Standing[Any]) -> Iterator[str]:
    """The arms whose rewards have contradicted the assumed sigma."""
    now = seen(agent)
    for arm in agent._player.alarms:
        sigma = np.broadcast_to(np.asarray(agent._experiment.sigma), len(now.labels))[arm]
        size = math.sqrt(now.squares[arm] / max(now.pulls[arm] - 1, 1)) if now.squares else math.nan
        over = f": sd {size:.4g} over {now.pulls[arm]:,} rewards" if math.isfinite(size) else ""
        yield (
            f"the rewards of {now.labels[arm]!r} vary more than sigma = {sigma:g} allows{over}; bounds are "
            "too narrow, and commitments not what the policy promises"
        )


def sentence(agent: Standing[Any]) -> str:
    policy, now = agent._experiment.policy.label(), seen(agent)
    if agent.committed:
        return (
            f"{policy} committed to {agent.committed_arm!r} after {agent.commit_time:,} rewards of "
            f"{agent.horizon:,}: {agent.commit_reason}."
        )
    where = f"{agent.rounds:,} of {agent.horizon:,} rounds, {int(agent.pending.sum()):,} of them pending"
    if min(now.pulls) > 0:
        where += f"; {now.labels[now.best]!r} has the largest mean, {now.mean(now.best):.4g}"
        if (delta := certificate(agent, now)) < 1.0:
            where += f", and certificate {delta:.2g}"
    if agent.rounds < agent.horizon:
        return f"{policy} is exploring: {where}."
    if inconclusive(agent):
        return f"{policy} reached the horizon without a commitment, the result is inconclusive: {where}."
    return f"{policy} has handed out all rounds, and may still commit: {where}."


def inconclusive(agent: Standing[Any]) -> bool:
    """Whether rounds and rewards are over, and the next call will not commit either."""
    if agent.committed or agent.rounds < agent.horizon or agent.pending.any():
        return False
    rules, now = agent._player.rules, seen(agent)
    return min(now.pulls) < max(rules.initial_pulls, 1) or not rules.stop.fires_on(now.evidence)


def plot(agent: Standing[Any], ax: Axes | None = None) -> Axes:
    ax = axes(ax)
    rows = table(agent)
    blue, red = COLOURS[:2]
    for place, row in enumerate(rows):
        if row.mean is None:
            continue
        colour = red if row.status == "committed" else blue
        # A bound that the policy does not have is drawn as none: the bar ends at the mean.
        ends = [row.mean if end is None else end for end in (row.lower, row.upper)]
        reach = np.abs(np.array(ends)[:, None] - row.mean)
        ax.errorbar([row.mean], [place], xerr=reach, fmt="o", color=colour, capsize=4)
    ax.set_yticks(range(len(rows)), [literal(str(row.arm)) for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)  # the first arm on top
    ax.set_xlabel("mean reward, with the bounds that the policy compares")
    if agent.committed:
        where = f"committed to {agent.committed_arm!r} after {agent.commit_time:,} rewards"
    else:
        where = f"exploring, round {agent.rounds:,} of {agent.horizon:,}"
    ax.set_title(literal(f"{agent._experiment.policy.label()}: {where}"))
    return ax
