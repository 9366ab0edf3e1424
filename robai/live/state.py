"""What an agent is made for, and its durable form: versioned plain data, checked field by field when read.

Nothing in it is ever executed. Policies, rules and families are named from closed sets, and their
own checks guard their parameters; the counts must add up; memory is bounded by the size of the text.
Functions of the user's go by names that the program must have used itself.
Schema 3:

    format, schema, robai   "robai.Agent", 3, the version that wrote it
    policy                  {"type": "EOCP", "gap": 0.5, ...}; parts are nested likewise
    arms                    the labels, or the number of arms
    horizon                 rounds
    reward                  {"type": "Bernoulli"}, parameters likewise
    delta                   of the certificate that may stop it too, or null
    arms_ever               how many arms there have been
    held                    whether the policy's own stop has to be refuted before it may end it again
    spent                   rounds neither answered nor pending: without an answer, or of retired arms
    answered                the sum of pulls
    pulls, sums, pending    one number an arm
    squares                 null, or for each arm the squared deviations from its mean; null where unknown
    alarms                  the arms whose rewards have varied more than the assumed sigma allows
    generator               the four words of the generator, as strings: numbers are doubles to many readers
    exploration             what the exploration rule remembers
    commitment              null, or arm, answered, pulls and sums at that moment
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from robai import families, policies, rules
from robai._base import checks
from robai._base.json import parse
from robai._base.version import VERSION
from robai._core.ledger import Rewards
from robai._core.player import Player
from robai._core.rng import Stream
from robai._core.stopping import Either, Held
from robai._play.assumptions import resolved_sigma
from robai.bandits import Bandit
from robai.custom import as_policy, ask, written
from robai.policies.base import BasePolicy
from robai.rules.certificate import certified
from robai.rules.threshold import Certainty

SCHEMA = 3
FORMAT = "robai.Agent"
MOST_PULLS = 2**60
MOST_ARMS = 10**6
LARGEST_LABEL = 2**63  # of a number: every reader of JSON can have it
LARGEST_COUNT = 1e15  # of events in one reward; doubles of this size are exact integers

RewardLike = families.FamilyLike | Bandit
# What a player keeps of a commitment, in the order of `_COMMITMENT`.
Committed = tuple[int, int, list[int], list[float], list[float] | None]

_COMMITMENT = ("arm", "answered", "pulls", "sums", "squares")
_OLD_DEFAULTS = {"sigma": 1.0, "tracking": "C"}  # of schema 1, where it has become another
_WORD = re.compile("[0-9]{1,20}")
_T = TypeVar("_T")


class Experiment:
    """The arguments of an agent, checked, and what has become of them in a store.

    `delta` is that of the certificate which may stop the experiment too, `arms_ever` the number of arms that
    it speaks of, with those that are not there any more; after a commitment was taken back the policy's
    own stop is `held` until rewards have refuted it.
    """

    def __init__(
        self,
        policy: Any,
        arms: Any,
        horizon: Any,
        reward: Any,
        *,
        delta: float | None = None,
        arms_ever: int | None = None,
        held: bool = False,
    ) -> None:
        self.policy = as_policy(policy)
        self.labels = labels_of(arms)
        n_arms = len(self.labels)
        self.delta, self.arms_ever, self.held = delta, max(n_arms, arms_ever or 0), held
        self.numbered = self.labels == tuple(range(n_arms))
        try:
            self.family = families.as_family(reward)
        except (TypeError, ValueError) as error:
            raise type(error)(f"reward must be a family: {error}") from None
        (low, high), whole = self.family.support, self.family.whole
        self.rewards = Rewards(low, min(high, LARGEST_COUNT) if whole else high, whole)
        self.game = rules.Game.of(n_arms, horizon, self.family)
        self.horizon = self.game.rounds
        # The sigma that rewards are compared with: the policy's where nothing is known of them, or theirs.
        self.certainty = Certainty(self.family, self.game, self.arms_ever - 1)
        proxy = self.family.proxy if isinstance(self.family, families.Gaussian) else None
        self.sigma = resolved_sigma(self.policy, self.game) if self.family.proxy is None else proxy

    def player(self, stream: Stream) -> Player:
        """The experiment at its beginning; a ValueError if the policy is not for it."""
        game = self.game
        rule = written(self.policy)
        own = None if rule is None else ask(rule, game, stream)
        sigma = None if self.sigma is None else families.one_an_arm(self.sigma, game.n_arms)
        squares = sigma is not None or isinstance(self.family, families.Gaussian)
        started = self.policy.start(game)
        if self.held:
            started = started._replace(stop=Held(started.stop))
        if self.delta is not None:
            started = certified(started, game, self.delta * (game.n_arms - 1) / (self.arms_ever - 1))
        return Player(started, game.n_arms, game.rounds, self.rewards, stream, own, squares, sigma)

    def to_dict(self) -> dict[str, Any]:
        return {
            "policy": self.policy.to_dict(),
            "arms": len(self.labels) if self.numbered else list(self.labels),
            "horizon": self.horizon,
            "reward": self.family.to_dict(),
        }


def is_held(player: Player) -> bool:
    """Whether the policy's own stop is still waiting to be refuted."""
    stop = player.rules.stop
    own = stop.first if isinstance(stop, Either) else stop
    return isinstance(own, Held) and own.held


def label_of(name: str, label: Any) -> str | int | float:
    """What an arm can be called; an error names the argument."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, bool) or not isinstance(label, str | int | float):
        raise TypeError(f"{name} must be a string or a number, got {label!r}")
    if not isinstance(label, str) and not abs(label) <= LARGEST_LABEL:
        raise ValueError(f"{name} must be finite and at most 2^63, got a number that is not")
    return label


def labels_of(arms: Any) -> tuple[Any, ...]:
    """Names, or a number of arms, which are then called 0, 1, ..."""
    if isinstance(arms, str | bytes) or not isinstance(arms, Iterable) or getattr(arms, "ndim", 1) == 0:
        return tuple(range(checks.whole("arms", arms, 2, MOST_ARMS)))
    labels: dict[str | int | float, None] = {}
    for place, label in enumerate(islice(arms, MOST_ARMS + 1)):
        label = label_of(f"arms[{place}]", label)
        if label in labels:
            raise ValueError(f"arms must be different, got {label!r} twice")
        labels[label] = None
    if not 2 <= len(labels) <= MOST_ARMS:
        many = "more" if len(labels) > MOST_ARMS else len(labels)
        raise ValueError(f"arms must be from 2 to {MOST_ARMS:,}, got {many}")
    return tuple(labels)


def encode(experiment: Experiment, player: Player) -> str:
    return json.dumps(plain(experiment, player), allow_nan=False)


def plain(experiment: Experiment, player: Player) -> dict[str, Any]:
    """The experiment as it stands, as JSON values."""
    if (rule := written(experiment.policy)) is not None:
        raise TypeError(
            f"{type(rule).__name__} is written in Python and its state is unknown; a store can bring it back"
        )
    experiment.policy._need_names("saving")
    pulls, sums, squares, pending, alarms, generator, exploration, commitment = player.state()
    return {"format": FORMAT, "schema": SCHEMA, "robai": VERSION, **experiment.to_dict()} | {
        "delta": experiment.delta,
        "arms_ever": experiment.arms_ever,
        "held": is_held(player),
        "spent": player.rounds - sum(pulls) - sum(pending),
        "answered": sum(pulls),
        "pulls": pulls,
        "sums": sums,
        "squares": _unknown_as_none(squares),
        "pending": pending,
        "alarms": alarms,
        "generator": list(map(str, generator)),
        "exploration": exploration,
        "commitment": committed(commitment),
    }


def committed(found: Committed | None) -> dict[str, Any] | None:
    """A commitment, with the counts that it was based on, as JSON values."""
    if found is None:
        return None
    return dict(zip(_COMMITMENT, (*found[:4], _unknown_as_none(found[4])), strict=True))


def beginning(experiment: Experiment, player: Player) -> dict[str, Any]:
    """What an experiment is made for, and its generator: enough to repeat it, whoever wrote the policy."""
    made = {"format": FORMAT, "schema": SCHEMA, "robai": VERSION, **experiment.to_dict()}
    return made | {"delta": experiment.delta, "generator": list(map(str, player.stream.state))}


def policy_of(data: dict[str, Any]) -> BasePolicy | None:
    """The policy, unless it is written in Python or compiled elsewhere, and data cannot bring it back."""
    try:
        return BasePolicy.from_dict(data["policy"])
    except (TypeError, ValueError):
        return None


def begun(data: Any, policy: BasePolicy | None = None) -> tuple[Experiment, Player]:
    """The experiment at its beginning; `policy` is one that data cannot bring back."""
    data = _upgraded(mapping(data))
    if policy is None:
        policy = field(data, "policy", BasePolicy.from_dict)
    reward = field(data, "reward", families.Family.from_dict)
    delta = field(data, "delta", _delta)
    stream = Stream(field(data, "generator", _generator))
    try:
        experiment = Experiment(policy, data.get("arms"), data.get("horizon"), reward, delta=delta)
        return experiment, experiment.player(stream)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"policy, arms and horizon do not fit: {error}") from None


def _unknown_as_none(squares: list[float] | None) -> list[float | None] | None:
    """As JSON has it: null where a number is not known."""
    return None if squares is None else [each if math.isfinite(each) else None for each in squares]


def decode(text: str | bytes) -> tuple[Experiment, Player]:
    """The experiment as it stood, or a ValueError that says which field is wrong."""
    try:
        data = parse(text)
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    return restored(data)


def restored(data: Any) -> tuple[Experiment, Player]:
    """The same, of JSON values."""
    if not isinstance(data, dict):
        raise ValueError(f"this is not the state of an agent but {str(data)[:40]!r}")
    data = _upgraded(data)
    policy = field(data, "policy", BasePolicy.from_dict)
    arms = field(data, "arms", _arms, data.get("pulls"))
    reward = field(data, "reward", families.Family.from_dict)
    stream = Stream(field(data, "generator", _generator))
    delta = field(data, "delta", _delta)
    ever = field(data, "arms_ever", lambda value: checks.whole("it", value, len(data["pulls"]), MOST_ARMS))
    held = field(data, "held", _flag)
    try:
        experiment = Experiment(
            policy, arms, data.get("horizon"), reward, delta=delta, arms_ever=ever, held=held
        )
        player = experiment.player(stream)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"policy, arms and horizon do not fit: {error}") from None
    pulls = field(data, "pulls", _counts, len(experiment.labels))
    sums = field(data, "sums", _sums, pulls, experiment.rewards)
    squares = field(data, "squares", _squares, pulls, sums, experiment.rewards, player)
    pending = field(data, "pending", _counts, len(pulls))
    spent = field(data, "spent", lambda value: checks.whole("it", value, 0, MOST_PULLS))
    field(data, "answered", _check_sum, pulls)
    if sum(pulls) + sum(pending) + spent > MOST_PULLS:
        raise ValueError(f"field pending: there are more than {MOST_PULLS:,} pulls")
    commitment = field(data, "commitment", _commitment, pulls, experiment, player)
    alarms = field(data, "alarms", _alarms, pulls, experiment)
    player.restore(pulls, sums, squares or [0.0] * len(pulls), pending, alarms, commitment)
    player.spend(spent)
    field(data, "exploration", lambda memory: player.rules.explore.remember(mapping(memory), pulls))
    return experiment, player


def _upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """The data as this version writes it; a ValueError if it is of another kind, or of a later version."""
    if data.get("format") != FORMAT:
        raise ValueError(f"field format: must be {FORMAT!r}, got {data.get('format')!r}")
    schema = data.get("schema")
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        raise ValueError(f"field schema: this version of robai reads 1 to {SCHEMA}, got {schema!r}")
    if schema == 1:
        data = data | {name: _with_old_defaults(data.get(name)) for name in ("policy", "reward")}
        if data["reward"] == {"type": "bounded"}:
            data["reward"] = families.Bounded().to_dict()
        # Squares of deviations are kept since schema 2: of earlier rewards they are unknown.
        data["alarms"] = []
        for each in (data, data.get("commitment")):
            if isinstance(each, dict) and isinstance(each.get("pulls"), list):
                gaussian = isinstance(data["reward"], dict) and data["reward"].get("type") == "Gaussian"
                each["squares"] = [0.0 if n in (0, 1) else None for n in each["pulls"]] if gaussian else None
    if schema < 3:  # when there were no stores
        pulls = data.get("pulls")
        ever = len(pulls) if isinstance(pulls, list) else None
        data = data | {"delta": None, "arms_ever": ever, "held": False, "spent": 0}
    return data


def _with_old_defaults(value: Any, depth: int = 50) -> Any:
    """A specification of schema 1, of which a missing parameter means the default that it had then."""
    if not isinstance(value, dict) or depth == 0:  # which is refused later
        return value
    kind = vars(policies).get(str(value.get("type"))) or vars(rules).get(str(value.get("type")))
    kind = kind or vars(families).get(str(value.get("type")))
    names = [each.name for each in fields(kind)] if isinstance(kind, type) and is_dataclass(kind) else []
    old = {name: default for name, default in _OLD_DEFAULTS.items() if name in names}
    return old | {name: _with_old_defaults(each, depth - 1) for name, each in value.items()}


def field(data: dict[str, Any], name: str, check: Callable[..., _T], *others: Any) -> _T:
    """What check(value, *others) makes of a field; an error names it."""
    if name not in data:
        raise ValueError(f"field {name}: it is missing")
    try:
        return check(data[name], *others)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise ValueError(f"field {name}: {error}") from None


def _delta(value: Any) -> float | None:
    return None if value is None else checks.probability("delta", value)


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise TypeError(f"must be true or false, got {str(value)[:40]!r}")
    return value


def _arms(value: Any, pulls: Any) -> Any:
    # The number alone must not decide how much memory is taken.
    count = len(value) if isinstance(value, list) else value
    if not isinstance(pulls, list) or count != len(pulls):
        raise ValueError("there must be as many as there are pulls")
    return value


def mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"must be an object, got {str(value)[:40]!r}")
    return value


def _entries(value: Any, count: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != count:
        raise ValueError(f"must be a list of {count} entries, got {str(value)[:40]!r}")
    return value


def _counts(value: Any, count: int) -> list[int]:
    return [checks.whole(f"entry {i}", each, 0, MOST_PULLS) for i, each in enumerate(_entries(value, count))]


def _sums(value: Any, pulls: list[int], rewards: Rewards) -> list[float]:
    sums = [checks.real(f"entry {i}", each) for i, each in enumerate(_entries(value, len(pulls)))]
    for arm, (n, total) in enumerate(zip(pulls, sums, strict=True)):
        if not rewards.possible(n, total):
            raise ValueError(f"entry {arm}: {n} rewards cannot sum to {total!r}")
    return sums


def _squares(
    value: Any, pulls: list[int], sums: list[float], rewards: Rewards, player: Player
) -> list[float] | None:
    if value is None and player.squares is None:
        return None
    squares = [
        math.nan if each is None else checks.at_least(f"entry {i}", each, 0.0)
        for i, each in enumerate(_entries(value, len(pulls)))
    ]
    for arm, (n, total, square) in enumerate(zip(pulls, sums, squares, strict=True)):
        unknown = math.isnan(square) and n > 1
        if unknown and player.rules.moments > 1:
            raise ValueError(f"entry {arm}: must be a number, as the policy estimates the variance")
        if not unknown and not rewards.possible_squares(n, total, square):
            raise ValueError(
                f"entry {arm}: {n} rewards that sum to {total!r} cannot deviate from their mean by {square!r}"
            )
    return squares


def _alarms(value: Any, pulls: list[int], experiment: Experiment) -> list[int]:
    if not isinstance(value, list):
        raise TypeError(f"must be a list of arms, got {str(value)[:40]!r}")
    if value and experiment.sigma is None:
        raise ValueError("must be empty, as no sigma is assumed")
    arms = [checks.whole(f"entry {place}", arm, 0, len(pulls) - 1) for place, arm in enumerate(value)]
    if arms != sorted(set(arms)) or any(pulls[arm] < 3 for arm in arms):
        raise ValueError("must be increasing, of arms with 3 pulls at least")
    return arms


def _check_sum(value: Any, pulls: list[int]) -> None:
    if type(value) is not int or value != sum(pulls):
        raise ValueError(f"must be {sum(pulls)}, the sum of pulls, got {str(value)[:40]!r}")


def _generator(value: Any) -> tuple[int, ...]:
    words = [int(each) for each in _entries(value, 4) if isinstance(each, str) and _WORD.fullmatch(each)]
    if len(words) < 4 or not any(words) or max(words) >= 2**64:
        raise ValueError(f"must hold four numbers below 2^64 as strings, not all 0, got {str(value)[:99]!r}")
    return tuple(words)


def _commitment(value: Any, pulls: list[int], experiment: Experiment, player: Player) -> Committed | None:
    if value is None:
        return None
    parts = experiment.policy.parts()
    never = parts.stop == rules.Never() and experiment.delta is None
    if never and not isinstance(parts.explore, rules.STAGED):
        raise ValueError(f"must be null, {experiment.policy!r} never commits")
    if set(mapping(value)) != set(_COMMITMENT):
        raise ValueError(f"must have the fields {list(_COMMITMENT)}, got {sorted(value)}")
    arm = checks.whole("arm", value["arm"], 0, len(pulls) - 1)
    then = _counts(value["pulls"], len(pulls))
    if not all(1 <= n <= now for n, now in zip(then, pulls, strict=True)):
        raise ValueError("pulls must be at least 1 and not more than there are now")
    _check_sum(value["answered"], then)
    sums = _sums(value["sums"], then, experiment.rewards)
    return arm, sum(then), then, sums, _squares(value["squares"], then, sums, experiment.rewards, player)
