"""The durable form of an agent: plain data, versioned, and checked field by field when it is read.

Nothing in it is ever executed. Policies, rules and families are named from closed sets, and their
own checks guard their parameters; the counts must add up; memory is bounded by the size of the text.
Schema 1:

    format, schema, robai   "robai.Agent", 1, the version that wrote it
    policy                  {"type": "EOCP", "gap": 0.5, ...}; parts are nested likewise
    arms                    the labels, or the number of arms
    horizon                 rounds
    reward                  {"type": "bernoulli"}, parameters likewise, or {"type": "bounded"}
    answered                the sum of pulls
    pulls, sums, pending    one number an arm
    generator               the four words of the generator, as decimal strings
    exploration             what the exploration rule remembers
    commitment              null, or arm, answered, pulls and sums at that moment
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from robai import families, rules
from robai._base import checks
from robai._base.json import parse
from robai._base.version import VERSION
from robai._core.player import Player
from robai._core.rng import Stream
from robai.custom import CustomPolicy
from robai.live.experiment import Experiment
from robai.policies.base import BasePolicy

SCHEMA = 1
FORMAT = "robai.Agent"
JOURNAL_FORMAT = "robai.Journal"
MOST_PULLS = 2**60

_COMMITMENT = ("arm", "answered", "pulls", "sums")  # as the player has them

_T = TypeVar("_T")


def encode(experiment: Experiment, player: Player) -> str:
    if isinstance(experiment.policy, CustomPolicy):
        raise TypeError(
            f"{experiment.policy.label()} is written in Python and its state is unknown; "
            "a journal can bring it back"
        )
    pulls, sums, pending, generator, exploration, commitment = player.state()
    state = _head(FORMAT, experiment) | {
        "answered": sum(pulls),
        "pulls": pulls,
        "sums": sums,
        "pending": pending,
        "generator": _words(generator),
        "exploration": exploration,
        "commitment": None if commitment is None else dict(zip(_COMMITMENT, commitment, strict=True)),
    }
    return json.dumps(state, allow_nan=False)


def header(experiment: Experiment, player: Player) -> dict[str, Any]:
    """The first record of a journal: what the agent was made for, and its generator."""
    return _head(JOURNAL_FORMAT, experiment) | {"generator": _words(player.stream.state)}


def _head(written: str, experiment: Experiment) -> dict[str, Any]:
    return {"format": written, "schema": SCHEMA, "robai": VERSION, **experiment.to_dict()}


def _words(generator: tuple[int, ...]) -> list[str]:
    return [str(word) for word in generator]  # because the numbers of many JSON readers are doubles


def begin(data: Any, experiment: Experiment, player: Player) -> None:
    """Take the generator from a header, or raise a ValueError if the journal is about another experiment."""
    _check_format(_mapping(data), JOURNAL_FORMAT)
    for name, expected in experiment.to_dict().items():
        if data.get(name) != expected:
            raise ValueError(f"the journal is about {name} {data.get(name)!r}, the agent about {expected!r}")
    player.stream.state = _field(data, "generator", _generator)


def decode(text: str | bytes) -> tuple[Experiment, Player]:
    """The experiment as it stood, or a ValueError that says which field is wrong."""
    try:
        data = parse(text)
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise ValueError(f"this is not the state of an agent but {str(data)[:40]!r}")
    _check_format(data, FORMAT)
    experiment, player = _beginning(data)
    pulls = _field(data, "pulls", _counts, len(experiment.labels))
    sums = _field(data, "sums", _sums, pulls, experiment)
    pending = _field(data, "pending", _counts, len(pulls))
    _field(data, "answered", _check_sum, pulls)
    if sum(pulls) + sum(pending) > MOST_PULLS:
        raise ValueError(f"field pending: there are more than {MOST_PULLS:,} pulls")
    player.restore(pulls, sums, pending, _field(data, "commitment", _commitment, pulls, experiment))
    _field(data, "exploration", lambda memory: player.rules.explore.remember(_mapping(memory), pulls))
    return experiment, player


def _beginning(data: dict[str, Any]) -> tuple[Experiment, Player]:
    policy = _field(data, "policy", BasePolicy.from_dict)
    reward = _field(data, "reward", _reward)
    arms = _field(data, "arms", _arms, data.get("pulls"))
    stream = Stream(_field(data, "generator", _generator))
    try:
        experiment = Experiment(policy, arms, data.get("horizon"), reward)
        return experiment, experiment.player(stream)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"policy, arms and horizon do not fit: {error}") from None


def _check_format(data: dict[str, Any], expected: str) -> None:
    if data.get("format") != expected:
        raise ValueError(f"field format: must be {expected!r}, got {data.get('format')!r}")
    schema = data.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise ValueError(f"field schema: this version of robai reads {SCHEMA}, got {schema!r}")


def _field(data: dict[str, Any], name: str, check: Callable[..., _T], *others: Any) -> _T:
    """What check(value, *others) makes of a field; an error names it."""
    if name not in data:
        raise ValueError(f"field {name}: it is missing")
    try:
        return check(data[name], *others)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise ValueError(f"field {name}: {error}") from None


def _reward(value: Any) -> Any:
    return "bounded" if value == {"type": "bounded"} else families.Family.from_dict(value)


def _arms(value: Any, pulls: Any) -> Any:
    # The number alone must not decide how much memory is taken.
    count = len(value) if isinstance(value, list) else value
    if not isinstance(pulls, list) or count != len(pulls):
        raise ValueError("there must be as many as there are pulls")
    return value


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"must be an object, got {str(value)[:40]!r}")
    return value


def _entries(value: Any, count: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != count:
        raise ValueError(f"must be a list of {count} entries, got {str(value)[:40]!r}")
    return value


def _counts(value: Any, count: int) -> list[int]:
    return [checks.whole(f"entry {i}", each, 0, MOST_PULLS) for i, each in enumerate(_entries(value, count))]


def _sums(value: Any, pulls: list[int], experiment: Experiment) -> list[float]:
    sums = [checks.real(f"entry {i}", each) for i, each in enumerate(_entries(value, len(pulls)))]
    low, high = experiment.family.support
    for arm, (n, total) in enumerate(zip(pulls, sums, strict=True)):
        possible = n * low <= total <= n * high if n else total == 0.0
        if not possible or (experiment.whole and not total.is_integer()):
            raise ValueError(f"entry {arm}: {n} rewards cannot sum to {total!r}")
    return sums


def _check_sum(value: Any, pulls: list[int]) -> None:
    if type(value) is not int or value != sum(pulls):
        raise ValueError(f"must be {sum(pulls)}, the sum of pulls, got {str(value)[:40]!r}")


def _generator(value: Any) -> tuple[int, ...]:
    words = []
    for word in _entries(value, 4):
        if not isinstance(word, str) or not (word.isascii() and word.isdigit()) or len(word) > 20:
            raise ValueError(f"must hold four numbers as strings, got {str(word)[:40]!r}")
        words.append(int(word))
    if not any(words) or max(words) >= 2**64:
        raise ValueError("must hold four numbers below 2^64, not all 0")
    return tuple(words)


def _commitment(
    value: Any, pulls: list[int], experiment: Experiment
) -> tuple[int, int, list[int], list[float]] | None:
    if value is None:
        return None
    parts = experiment.policy.parts()
    if parts.stop == rules.Never() and not isinstance(parts.explore, rules.STAGED):
        raise ValueError(f"must be null, {experiment.policy!r} never commits")
    if set(_mapping(value)) != set(_COMMITMENT):
        raise ValueError(f"must have the fields {list(_COMMITMENT)}, got {sorted(value)}")
    arm = checks.whole("arm", value["arm"], 0, len(pulls) - 1)
    then = _counts(value["pulls"], len(pulls))
    if not all(1 <= n <= now for n, now in zip(then, pulls, strict=True)):
        raise ValueError("pulls must be at least 1 and not more than there are now")
    _check_sum(value["answered"], then)
    return arm, sum(then), then, _sums(value["sums"], then, experiment)
