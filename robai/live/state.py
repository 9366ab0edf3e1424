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
from typing import Any, NamedTuple, TypeVar

from robai import families, rules
from robai._base import checks
from robai._base.json import parse
from robai._base.version import VERSION
from robai.live.experiment import BOUNDED, Experiment, Reward, as_reward
from robai.policies.base import BasePolicy

SCHEMA = 1
FORMAT = "robai.Agent"
JOURNAL_FORMAT = "robai.Journal"
MOST_PULLS = 2**60

_T = TypeVar("_T")


class Commitment(NamedTuple):
    """What the commitment was based on."""

    arm: int
    answered: int
    pulls: list[int]
    sums: list[float]


class Counts(NamedTuple):
    """All that changes in the course of an experiment."""

    pulls: list[int]
    sums: list[float]
    pending: list[int]
    generator: tuple[int, ...]
    exploration: dict[str, Any]
    commitment: Commitment | None


def encode(experiment: Experiment, counts: Counts) -> dict[str, Any]:
    commitment = counts.commitment
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "robai": VERSION,
        **describe(experiment),
        "answered": sum(counts.pulls),
        "pulls": counts.pulls,
        "sums": counts.sums,
        "pending": counts.pending,
        # Strings, because the numbers of many JSON readers are doubles.
        "generator": [str(word) for word in counts.generator],
        "exploration": counts.exploration,
        "commitment": None if commitment is None else commitment._asdict(),
    }


def describe(experiment: Experiment) -> dict[str, Any]:
    """The fields that never change."""
    reward = experiment.reward
    return {
        "policy": experiment.policy.to_dict(),
        "arms": len(experiment.labels) if experiment.numbered else list(experiment.labels),
        "horizon": experiment.horizon,
        "reward": {"type": "bounded"} if reward == BOUNDED else reward.family.to_dict(),
    }


def header(experiment: Experiment, words: tuple[int, ...]) -> dict[str, Any]:
    """The first record of a journal: what the agent was made for, and its generator."""
    return {
        "format": JOURNAL_FORMAT,
        "schema": SCHEMA,
        "robai": VERSION,
        **describe(experiment),
        "generator": [str(word) for word in words],
    }


def decode_header(data: Any, experiment: Experiment) -> tuple[int, ...]:
    """The words of the generator, or a ValueError if the journal is about another experiment."""
    if _schema(_mapping(data), JOURNAL_FORMAT) != SCHEMA:
        raise ValueError(f"field schema: must be {SCHEMA}, got {data['schema']!r}")
    for name, expected in describe(experiment).items():
        if data.get(name) != expected:
            raise ValueError(f"the journal is about {name} {data.get(name)!r}, the agent about {expected!r}")
    return _field(data, "generator", _generator)


def dumps(data: dict[str, Any]) -> str:
    return json.dumps(data, allow_nan=False)


def loads(text: str | bytes) -> dict[str, Any]:
    """JSON text as an object, or a ValueError."""
    try:
        data = parse(text)
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise ValueError(f"this is not the state of an agent but {str(data)[:40]!r}")
    return data


def decode(data: dict[str, Any]) -> tuple[Experiment, Counts]:
    """The experiment and its counts, or a ValueError that says which field is wrong."""
    data = _MIGRATIONS[_schema(data, FORMAT)](data)
    experiment = decode_experiment(data)
    n_arms, reward = len(experiment.labels), experiment.reward
    pulls = _field(data, "pulls", lambda value: _whole_numbers(value, n_arms, MOST_PULLS))
    sums = _field(data, "sums", lambda value: _sums(value, pulls, reward))
    pending = _field(data, "pending", lambda value: _whole_numbers(value, n_arms, MOST_PULLS))
    answered = sum(pulls)
    _field(data, "answered", lambda value: _equal(value, answered, "the sum of pulls"))
    if answered + sum(pending) > MOST_PULLS:
        raise ValueError(f"field pending: there are more than {MOST_PULLS:,} pulls")
    return experiment, Counts(
        pulls,
        sums,
        pending,
        _field(data, "generator", _generator),
        _field(data, "exploration", _mapping),
        _field(data, "commitment", lambda value: _commitment(value, pulls, experiment)),
    )


def decode_experiment(data: dict[str, Any]) -> Experiment:
    policy = _field(data, "policy", BasePolicy.from_dict)
    reward = _field(data, "reward", _reward)
    arms = _field(data, "arms", lambda value: _arms(value, data))
    try:
        experiment = Experiment.of(policy, arms, data.get("horizon"), reward)
        policy._start(experiment.game)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"policy, arms and horizon do not fit: {error}") from None
    return experiment


def _schema(data: dict[str, Any], expected: str) -> int:
    if data.get("format") != expected:
        raise ValueError(f"field format: must be {expected!r}, got {data.get('format')!r}")
    schema = data.get("schema")
    if type(schema) is not int or schema not in _MIGRATIONS:
        raise ValueError(f"field schema: this version of robai reads {list(_MIGRATIONS)}, got {schema!r}")
    return schema


# How to bring the data of each schema up to the present one.
_MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: lambda data: data}


def _field(data: dict[str, Any], name: str, check: Callable[[Any], _T]) -> _T:
    if name not in data:
        raise ValueError(f"field {name}: it is missing")
    try:
        return check(data[name])
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise ValueError(f"field {name}: {error}") from None


def _reward(value: Any) -> Reward:
    if _mapping(value) == {"type": "bounded"}:
        return BOUNDED
    return as_reward(families.Family.from_dict(value))


def _arms(value: Any, data: dict[str, Any]) -> Any:
    # The number alone must not decide how much memory is taken.
    count = len(value) if isinstance(value, list) else value
    if not isinstance(data.get("pulls"), list) or count != len(data["pulls"]):
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


def _whole_numbers(value: Any, count: int, high: int) -> list[int]:
    return [checks.whole(f"entry {i}", each, 0, high) for i, each in enumerate(_entries(value, count))]


def _sums(value: Any, pulls: list[int], reward: Reward) -> list[float]:
    sums = [checks.real(f"entry {i}", each) for i, each in enumerate(_entries(value, len(pulls)))]
    low, high = reward.family.support
    for arm, (n, total) in enumerate(zip(pulls, sums, strict=True)):
        possible = (total >= n * low and total <= n * high) if n else total == 0.0
        if not possible or (reward.whole and not total.is_integer()):
            raise ValueError(f"entry {arm}: {n} rewards cannot sum to {total!r}")
    return sums


def _equal(value: Any, expected: int, what: str) -> None:
    if type(value) is not int or value != expected:
        raise ValueError(f"must be {expected}, {what}, got {str(value)[:40]!r}")


def _generator(value: Any) -> tuple[int, ...]:
    words = []
    for word in _entries(value, 4):
        if not isinstance(word, str) or not (word.isascii() and word.isdigit()) or len(word) > 20:
            raise ValueError(f"must hold four numbers as strings, got {str(word)[:40]!r}")
        words.append(int(word))
    if not any(words) or max(words) >= 2**64:
        raise ValueError("must hold four numbers below 2^64, not all 0")
    return tuple(words)


def _commitment(value: Any, pulls: list[int], experiment: Experiment) -> Commitment | None:
    if value is None:
        return None
    parts = experiment.policy.parts()
    if parts.stop == rules.Never() and not isinstance(parts.explore, rules.STAGED):
        raise ValueError(f"must be null, {experiment.policy!r} never commits")
    if set(_mapping(value)) != set(Commitment._fields):
        raise ValueError(f"must have the fields {list(Commitment._fields)}, got {sorted(value)}")
    arm = checks.whole("arm", value["arm"], 0, len(pulls) - 1)
    then = _whole_numbers(value["pulls"], len(pulls), MOST_PULLS)
    if not all(1 <= n <= now for n, now in zip(then, pulls, strict=True)):
        raise ValueError("pulls must be at least 1 and not more than there are now")
    _equal(value["answered"], sum(then), "the sum of its pulls")
    return Commitment(arm, sum(then), then, _sums(value["sums"], then, experiment.reward))
