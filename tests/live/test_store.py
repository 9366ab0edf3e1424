"""The store: the arms of an agent in memory, whoever asks; names, wrong calls, locks and files."""

import math
import pickle

import numpy as np
import pytest
from support.examples import fitting
from support.stores import Clock, events, frequent_snapshots, made

import robai
from robai import HorizonReached, Store

BANDITS = [robai.Bernoulli([0.7, 0.2, 0.5]), robai.Gaussian([0.7, -0.2, 0.1])]


def rewards_of(bandit, rounds):
    """What every arm would give in every round."""
    chance, means = np.random.default_rng(4), np.array(bandit.means)
    if isinstance(bandit, robai.Bernoulli):
        return (chance.random((rounds, len(means))) < means).astype(float)
    return means + chance.normal(size=(rounds, len(means)))


def by_select(agent, rewards, t):
    arm = agent.select()
    agent.update(arm, rewards[t, arm])
    return [arm]


def by_ticket(agent, rewards, t):
    ticket = agent.ticket()
    assert agent.answer(ticket, rewards[t, ticket.arm]) == "counted"
    return [ticket.arm]


def by_batch(agent, rewards, t):
    """Of 1 to 9 rounds, answered in the end."""
    arms = agent.select_batch(min(t % 9 + 1, len(rewards) - t))
    agent.update_batch(arms, [rewards[t + i, arm] for i, arm in enumerate(arms)])
    return arms.tolist()


def by_tickets(agent, rewards, t):
    tickets = agent.tickets(min(t % 9 + 1, len(rewards) - t))
    agent.answers([(ticket, rewards[t + i, ticket.arm]) for i, ticket in enumerate(tickets)])
    return [ticket.arm for ticket in tickets]


def played(agents, rewards, turn):
    """The arms of all rounds, asked of the agents in turn."""
    arms = []
    while len(arms) < len(rewards):
        arms += turn(next(agents), rewards, len(arms))
    return arms


def always(agent):
    while True:
        yield agent


def reopened(path, *arguments, **options):
    """A new store after every 50 calls."""
    while True:
        agent = made(path, *arguments, **options)
        yield from [agent] * 50
        agent.store.close()


def in_turns(path, *arguments, **options):
    """Two stores, at random."""
    agents = [made(path, *arguments, **options) for _ in range(2)]
    for which in np.random.default_rng(0).integers(2, size=10**4):
        yield agents[which]


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("bandit", BANDITS, ids=["Bernoulli", "Gaussian"])
def test_any_policy_plays_the_arms_of_an_agent_in_memory(tmp_path, policy, bandit, many):
    bandit = fitting(policy, bandit)
    horizon = 60 if isinstance(policy, robai.TrackAndStop) else 200
    rewards = rewards_of(bandit, horizon)
    plain = robai.Agent(policy, bandit.n_arms, horizon, reward=bandit.family, rng=5)
    arms = played(always(plain), rewards, by_batch if many else by_select)
    arguments = {
        "policy": policy,
        "arms": bandit.n_arms,
        "horizon": horizon,
        "reward": bandit.family,
        "rng": 5,
    }
    ways = [by_batch, by_tickets] if many else [by_select, by_ticket]
    with frequent_snapshots(40):
        for way, who in zip(ways, (in_turns, reopened), strict=True):
            arguments["name"] = way.__name__
            assert played(who(tmp_path / "db", **arguments), rewards, way) == arms
            again = made(tmp_path / "db", **arguments)
            assert again.to_json() == plain.to_json()
        assert again.store.check() == []


@pytest.mark.parametrize(
    "policy", [robai.UCB(sigma=1.0), robai.SequentialHalving(), robai.KLEOCPUG()], ids=repr
)
def test_the_end_is_that_of_an_agent_in_memory(tmp_path, policy):
    plain = robai.Agent(policy, 3, 40, reward="bernoulli", rng=3)
    agent = made(tmp_path / "db", policy, 3, 40)
    for step in range(40):
        arm = plain.select()
        assert agent.select() == arm
        for each in (agent, plain):
            each.update(arm, step % 2)
    for _ in range(2):
        for ask in ("select", "select_batch"):
            arguments = (2,) if ask == "select_batch" else ()
            try:
                expected = getattr(plain, ask)(*arguments)
            except HorizonReached as error:
                before = events(agent)
                with pytest.raises(HorizonReached, match=str(error)):
                    getattr(agent, ask)(*arguments)
                with pytest.raises(HorizonReached, match=str(error)):
                    agent.ticket()
                assert events(agent) == before
            else:
                assert np.array_equal(getattr(agent, ask)(*arguments), expected)
    assert agent.to_json() == plain.to_json()
    assert agent.summary() == plain.summary()


def test_more_than_the_rounds_that_are_left(tmp_path):
    agent = made(tmp_path / "db", robai.UCB(), 3, 40)
    agent.select_batch(35)
    before = events(agent)
    for ask in (agent.select_batch, agent.tickets):
        with pytest.raises(
            ValueError, match="n must be at most 5, the rounds left before the horizon, got 6"
        ):
            ask(6)
    assert events(agent) == before
    assert len(agent.tickets(5)) == 5


# ---- names


def test_names_and_how_experiments_are_opened(tmp_path):
    first = made(tmp_path / "db", name="prices")
    store = first.store
    made(tmp_path / "db", name="a name, with: signs/éß", arms=2)
    assert store.names() == ["prices", "a name, with: signs/éß"]
    assert store.open("prices").labels == ("a", "b", "c")
    assert store.open("a name, with: signs/éß").labels == (0, 1)
    with pytest.raises(KeyError, match="has no experiment 'prize'; did you mean prices"):
        store.open("prize")
    with pytest.raises(ValueError, match="has an experiment 'prices' already; open it, or say exist_ok=True"):
        made(tmp_path / "db", name="prices", exist_ok=False)
    for name, error in (("", ValueError), (" a", ValueError), ("a\nb", ValueError), (7, TypeError)):
        with pytest.raises(error, match="name must be"):
            made(tmp_path / "db", name=name)
    for name in (None, 7, b"prices"):
        with pytest.raises(KeyError, match="has no experiment"):
            store.open(name)
    assert len(store.names()) == 2


BEFORE = {"policy": robai.KLEOCPUG(), "window": 60.0, "missing": 0.0, "delta": 0.01}


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        ({"policy": robai.KLEOCPUG(guard=0.5), "arms": 2}, "policy {'type': 'KLEOCPUG'"),
        ({"arms": ["a", "b", "d"], "horizon": 7}, r"arms \['a', 'b', 'c'\], not \['a', 'b', 'd'\]"),
        ({"arms": 3}, r"arms \['a', 'b', 'c'\], not 3"),
        ({"horizon": 99, "reward": "bounded"}, "horizon 100000, not 99"),
        ({"reward": "bounded", "window": 61.0}, "reward {'type': 'Bernoulli'}, not {'type': 'Bounded'"),
        ({"window": math.inf, "missing": None}, "window 60.0, not inf"),
        ({"window": None, "missing": None, "delta": None}, "window 60.0, not None"),
        ({"missing": None, "delta": 0.02}, "missing 0.0, not None"),
        ({"missing": 1.0}, "missing 0.0, not 1.0"),
        ({"delta": None}, "delta 0.01, not 1e-05"),
    ],
)
def test_another_experiment_of_the_same_name_is_refused_by_what_differs(tmp_path, now, sentence):
    agent = made(tmp_path / "db", **BEFORE)
    agent.ticket()
    assert made(tmp_path / "db", **BEFORE | {"rng": 77}).rounds == 1  # the seed is not compared
    with pytest.raises(ValueError, match=f"experiment 'it' was created with {sentence}"):
        made(tmp_path / "db", **BEFORE | now)
    assert made(tmp_path / "db", **BEFORE).to_json() == agent.to_json()


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"window": 0.0}, ValueError, "window must be"),
        ({"window": -1}, ValueError, "window must be"),
        ({"window": 1e-9}, ValueError, "window must be at least 0.001"),
        ({"window": math.nan}, ValueError, "window must be"),
        ({"window": "1 h"}, TypeError, "window must be"),
        ({"missing": 0.0}, ValueError, "missing needs a window"),
        ({"delta": 0.1}, ValueError, "delta needs a window"),
        ({"window": math.inf, "missing": 0.0}, ValueError, "missing needs a window that closes"),
        ({"window": 9.0, "missing": 0.5}, ValueError, "missing must be a reward, an integer from 0 to 1"),
        ({"window": 9.0, "missing": 1e200, "reward": "gaussian"}, ValueError, "missing must be a reward"),
        ({"window": 9.0, "missing": math.nan}, ValueError, "missing must be"),
        ({"window": 9.0, "missing": "0"}, TypeError, "missing must be"),
        ({"window": 9.0, "delta": 0.0}, ValueError, "delta must be"),
        ({"window": 9.0, "delta": "x"}, TypeError, "delta must be"),
        ({"arms": ["a"]}, ValueError, "arms must be"),
        ({"horizon": 0}, ValueError, "horizon must be"),
        ({"reward": "odd"}, ValueError, "reward must be"),
        ({"policy": robai.SPRTETC(gap=0.5, sigma=1.0)}, ValueError, "2 arms|two arms"),
        ({"rng": "seed"}, TypeError, "rng must be"),
    ],
)
def test_wrong_arguments_of_create(tmp_path, options, error, match):
    store = Store(tmp_path / "db")
    with pytest.raises(error, match=match):
        made(tmp_path / "db", **options)
    assert store.names() == []
    assert made(tmp_path / "db").rounds == 0


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"path": 7}, TypeError, "path must be a path"),
        ({"path": ""}, TypeError, "path must be a path"),
        ({"sync": "fast"}, ValueError, "sync must be"),
        ({"timeout": -1.0}, ValueError, "timeout must be"),
        ({"timeout": "long"}, TypeError, "timeout must be"),
        ({"clock": 7}, TypeError, "clock must be a function"),
    ],
)
def test_wrong_arguments_of_a_store(tmp_path, arguments, error, match):
    with pytest.raises(error, match=match):
        Store(**{"path": tmp_path / "db", **arguments})
    assert list(tmp_path.iterdir()) == []


# ---- wrong calls

NOT_PLAIN = [
    ("select_batch", (0,), ValueError, "n must be"),
    ("select_batch", (1.5,), ValueError, "n must be"),
    ("update", ("d", 1), KeyError, "there is no arm 'd'; the arms are"),
    ("update", ([], 1), KeyError, "there is no arm"),
    ("update", ("a", 0.5), ValueError, "reward must be an integer from 0 to 1, got 0.5"),
    ("update", ("a", math.nan), ValueError, "reward must be"),
    ("update", ("a", "1"), TypeError, "reward must be"),
    ("update_batch", (["a", "d"], [1, 1]), KeyError, "there is no arm 'd'"),
    ("update_batch", (["a", "b"], [1]), ValueError, "arms and rewards must be of the same length"),
    ("update_batch", (["a", "b"], [1, 2]), ValueError, r"rewards\[1\] must be"),
    ("update_batch", (["a", "b"], [1, math.inf]), ValueError, r"rewards\[1\] must be"),
    ("update_batch", ("ab", [1, 1]), TypeError, "arms must be a sequence"),
    ("update_batch", (7, [1, 1]), TypeError, "arms must be a sequence"),
    ("update_batch", (["a"], ["x"]), TypeError, "rewards must be numbers"),
    ("update_counts", ("a", 3, 4), ValueError, "total must be a sum of 3 rewards"),
    ("update_counts", ("a", -1, 0), ValueError, "n must be"),
    ("update_counts", ("a", 1, 1e300), ValueError, "total must be"),
    ("update_counts", ("d", 1, 1), KeyError, "there is no arm"),
]
NOT_WITH_A_WINDOW = [
    ("select", (), TypeError, "select is for experiments without a window.* takes ticket$"),
    ("select_batch", (3,), TypeError, "select_batch is for .* takes tickets$"),
    ("update", ("a", 1), TypeError, "update is for .* takes answer$"),
    ("update_batch", (["a"], [1]), TypeError, "update_batch is for .* takes answers$"),
    ("update_counts", ("a", 1, 1), TypeError, "update_counts is for .* takes answer$"),
]
NEVER = [
    ("ticket", (7,), TypeError, "key must be a string, got 7"),
    ("ticket", ("",), ValueError, "key must be of 1 to 200 bytes"),
    ("ticket", ("é" * 101,), ValueError, "key must be of 1 to 200 bytes, got 202"),
    ("ticket", ("\ud800",), ValueError, "key must be text"),
    ("tickets", (), TypeError, "either n or keys must be given"),
    ("tickets", (0,), ValueError, "n must be"),
    ("tickets", (True,), TypeError, "n must be"),
    ("answer", ("1", 1), TypeError, "ticket must be a ticket or its id"),
    ("answer", (True, 1), TypeError, "ticket must be a ticket or its id"),
    ("answer", (2**24 + 2, 1), KeyError, "is not a ticket of experiment 'it'"),
    ("answer", (-(2**24) + 1, 1), KeyError, "is not a ticket of experiment 'it'"),
    ("answer", (2**24 * 999 + 1, 1), KeyError, "has no ticket"),
    ("answer", (2**24 * 3 + 1, 1), KeyError, "has no ticket"),  # it is an answer
    ("answer", (2**24 + 1, 0.5), ValueError, "reward must be an integer from 0 to 1, got 0.5"),
    ("answer", (2**24 + 1, None), TypeError, "reward must be"),
    ("answers", ([(2**24 + 1, 1), (2**24 * 2 + 1, 2)],), ValueError, r"pairs\[1\]: reward must be"),
    ("answers", ([(2**24 + 1, 1), 7],), TypeError, r"pairs\[1\] must be a ticket and a reward"),
    ("answers", (7,), TypeError, "pairs must be a sequence, got 7"),
    ("answers", ([(2**24 * 2 + 1, 1), (2**24 * 2 + 1, 0)],), robai.AnswerConflict, "the first counts"),
    (
        "answers",
        ([(2**24 * 2 + 1, 1), (2**24 + 1, 0)],),
        robai.AnswerConflict,
        "answered by 1.0, and now by 0.0",
    ),
    ("answers", ([(2**24 * 2 + 1, 1), (2**24 * 9 + 1, 0)],), KeyError, "has no ticket"),
]


@pytest.mark.parametrize("window", [None, math.inf, 50.0])
def test_wrong_calls_change_nothing(tmp_path, window):
    agent = made(tmp_path / "db", window=window, clock=Clock())
    first, second = agent.tickets(2)
    agent.answer(first, 1)
    before, text = events(agent), agent.to_json()
    wrong = NEVER + (NOT_PLAIN if window is None else NOT_WITH_A_WINDOW)
    for method, arguments, error, match in wrong:
        with pytest.raises(error, match=match):
            getattr(agent, method)(*arguments)
        assert events(agent) == before
        assert agent.to_json() == text
    for keys in ("abc", ["a", None], 7, ["a", ""]):
        with pytest.raises((TypeError, ValueError), match="keys"):
            agent.tickets(keys=keys)
    assert agent.tickets(keys=[]) == agent.answers([]) == []
    assert events(agent) == before
    assert agent.answer(second.id, True) == "counted"
    with pytest.raises(robai.AnswerConflict) as caught:
        agent.answer(second, 0)
    conflict = caught.value
    assert (conflict.ticket, conflict.first, conflict.second) == (second.id, 1.0, 0.0)
    assert str(pickle.loads(pickle.dumps(conflict))) == str(conflict)


@pytest.mark.parametrize("clock", [lambda: "noon", lambda: math.nan, lambda: 1e300, lambda: 1 / 0])
def test_a_clock_that_is_wrong_changes_nothing(tmp_path, clock):
    made(tmp_path / "db").ticket()
    store = Store(tmp_path / "db", clock=clock)
    agent = store.open("it")
    with pytest.raises((TypeError, ValueError, ArithmeticError)):
        agent.ticket()
    assert agent.rounds == 1
    assert made(tmp_path / "db").ticket().arm == "b"


def test_an_arm_that_another_process_has_added(tmp_path):
    agents = [made(tmp_path / "db", robai.UCB(), name=name) for name in ("it", "it", "numbered")]
    agents[0].add_arm("d")
    agents[1].update_batch(iter(["d"]), [1])
    assert agents[1].pulls.tolist() == [0, 0, 0, 1]
