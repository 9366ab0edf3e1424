"""What is wrong with a file: said, and never taken for a state. Compaction, and a file of version 1."""

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.golden_store import STORES, described
from support.stores import Clock, events, forget, frequent_snapshots, made, sql

import robai
from robai import Store
from robai._base.json import parse
from robai.live import state
from robai.live.course import Course

DATA = Path(__file__).parents[1] / "support" / "data"


def worked(path, clock=None, rounds=60, **options):
    """An experiment with two snapshots and tickets without an answer."""
    clock = Clock() if clock is None else clock
    with frequent_snapshots(25):
        agent = made(path, clock=clock, **options)
        for step in range(rounds):
            clock.now += 1.0
            ticket = agent.ticket(f"user {step}")
            if step % 5:
                agent.answer(ticket, step % 2)
    return agent


# ---- check


def only(agent):
    [sentence] = agent.store.check()
    assert agent.store.check("it") == [sentence]
    assert sentence.startswith("it: ")
    return sentence[4:]


def test_a_sound_file(tmp_path):
    agent = worked(tmp_path / "db")
    made(tmp_path / "db", name="other", window=3.0)
    assert agent.store.check() == agent.store.check("it") == agent.store.check("other") == []
    with pytest.raises(KeyError, match="has no experiment 'that'"):
        agent.store.check("that")


@pytest.mark.parametrize(
    ("damage", "sentences"),
    [
        ("DELETE FROM events WHERE seq = 20", ["event 20 is missing"]),
        (
            "UPDATE events SET ticket = 999 WHERE kind = 4 AND seq = 7",
            ["event 7 answers ticket 999, which there is not"],
        ),
        (
            "UPDATE events SET ticket = 3 WHERE kind = 4 AND seq = 12",
            ["event 12 answers event 3, which is not a ticket of its arm"],
        ),
        (
            "UPDATE events SET arm = (arm + 1) % 3 WHERE seq = 7",
            ["answers event 6, which is not a ticket of its arm"],
        ),
        ("UPDATE events SET time = time - 1e6 WHERE seq = 20", ["event 20 is of a time before that of"]),
        ("UPDATE events SET time = 'noon' WHERE seq = 20", ["event 20 is of a time before that of"]),
        ("UPDATE events SET value = 1 - value WHERE seq = 7", ["is not what the events come to"]),
        ("UPDATE events SET value = 7 WHERE seq = 7", ["event 7 cannot be repeated: reward must be"]),
        ("UPDATE events SET arm = -1 WHERE seq = 6", ["event 6 cannot be repeated: there is no arm -1"]),
        ("UPDATE events SET arm = 3 WHERE seq = 6", ["event 6 cannot be repeated: "]),
        ("UPDATE events SET arm = 'b' WHERE seq = 6", ["event 6 cannot be repeated: there is no such event"]),
        ("UPDATE events SET kind = 99 WHERE seq = 6", ["event 6 cannot be repeated: there is no such event"]),
        (
            "UPDATE events SET value = NULL WHERE seq = 7",
            ["event 7 cannot be repeated: there is no such event"],
        ),
        (
            "UPDATE snapshots SET state = replace(state, '\"dropped\": [0', '\"dropped\": [1')",
            [
                "the snapshot after event",
                "what is read from the newest snapshot is not what the events come to",
            ],
        ),
        ("UPDATE snapshots SET state = '{}'", ["this is not a snapshot of version 1"]),
        ("UPDATE snapshots SET state = 'nonsense'", ["Expecting value"]),
        (
            "UPDATE experiments SET spec = replace(spec, '\"window\": null', '\"window\": -1')",
            ["field window: window must be"],
        ),
        ("UPDATE experiments SET spec = '[]'", ["this is not the specification of an experiment"]),
    ],
)
def test_damage_is_found(tmp_path, damage, sentences):
    agent = worked(tmp_path / "db")
    sql(agent, damage)
    found = agent.store.check()
    for sentence in sentences:
        assert any(text.startswith("it: ") and sentence in text for text in found), found
    made(tmp_path / "db", name="other")
    assert agent.store.check("other") == []  # which has nothing to do with it


def test_pages_that_are_damaged(tmp_path):
    worked(tmp_path / "db").store.close()
    whole, found = (tmp_path / "db").read_bytes(), []
    for start in range(4096, len(whole), 4096):
        (tmp_path / "db").write_bytes(whole[:start] + b"\xff" * 2000 + whole[start + 2000 :])
        with Store(tmp_path / "db") as store:
            found.append(store.check())
    assert all(isinstance(sentence, str) for sentences in found for sentence in sentences)
    assert sum(any("SQLite: " in sentence for sentence in sentences) for sentences in found) > 5


@pytest.mark.parametrize("policy", [robai.ThompsonSampling(), robai.KLEOCPUG(), robai.UCB()], ids=repr)
def test_a_recorded_decision_stands_though_another_would_be_made_now(tmp_path, policy):
    """As if this version had other rules: the seed of one, the arm of another decision."""
    agent = made(tmp_path / "db", policy)
    for _ in range(5):
        agent.answer(agent.ticket(), 1)
    before = events(agent)
    sql(agent, "UPDATE events SET arm = 2 WHERE seq IN (1, 2)")  # a ticket and its answer
    forget(agent)
    assert agent.pulls[2] >= 1
    assert agent._course.differences >= 1
    assert only(agent).startswith(
        f"{agent._course.differences} decisions would be made otherwise by this version of robai; those"
    )
    ticket = agent.ticket()
    assert agent.answer(ticket, 1) == "counted"
    assert len(events(agent)) == len(before) + 2


@pytest.mark.parametrize("policy", [robai.ThompsonSampling(), robai.UCB()], ids=repr)
def test_snapshots_of_another_version_are_no_damage(tmp_path, policy, monkeypatch):
    """Its rules chose other arms, drew otherwise, and its number is in all that it wrote."""
    ask = Course.ask

    def otherwise(course):
        arm, commits = ask(course)
        return (arm + 1) % 3, commits

    with monkeypatch.context() as other, frequent_snapshots(25):
        other.setattr(Course, "ask", otherwise)
        other.setattr(state, "VERSION", "0.0.1")
        agent = made(tmp_path / "db", policy)
        for step in range(60):
            agent.answer(agent.ticket(), step % 2)
    assert only(agent).startswith("60 decisions would be made otherwise by this version of robai")
    before = sql(agent, "SELECT max(state) FROM snapshots")
    sql(agent, "UPDATE snapshots SET state = replace(state, '\"dropped\": [0', '\"dropped\": [1')")
    assert sql(agent, "SELECT max(state) FROM snapshots") != before
    assert any("is not what the events come to" in text for text in agent.store.check())


def test_a_commitment_on_record_stands(tmp_path):
    agent = made(tmp_path / "db", horizon=1000)
    while not agent.committed:
        arms = agent.select_batch(10)
        agent.update_batch(arms, [arm == "b" for arm in arms])
    assert agent.committed_arm == "b"
    [(seq,)] = sql(agent, "SELECT seq FROM events WHERE kind = 5")
    sql(agent, "UPDATE events SET arm = 2 WHERE seq = ?", seq)
    sql(agent, "UPDATE events SET data = replace(data, '1', '2') WHERE seq = ?", seq + 1)
    forget(agent)
    assert agent.committed_arm == "c"
    assert agent.select() == "c"
    assert "decisions would be made otherwise" in only(agent)


def test_a_commitment_is_recorded_as_json(tmp_path):
    """Also where it is not known how much the rewards vary."""
    agent = made(tmp_path / "db", robai.EOCPUG(), arms="ab", reward=robai.families.Gaussian(1.0))
    agent.update_counts("a", 100, 0.0)
    agent.update_counts("b", 9900, 9900.0)
    assert agent.select() == agent.committed_arm == "b"
    [data] = [event[-1] for event in events(agent) if event[2] == 5]
    assert parse(data) == {
        "arm": 1,
        "answered": 10_000,
        "pulls": [100, 9900],
        "sums": [0.0, 9900.0],
        "squares": [None, None],
    }


# ---- texts that are damaged

_TEXTS = {}


def texts(tmp_path_factory):
    """The specification and a snapshot of an experiment with a bit of everything."""
    if not _TEXTS:
        clock = Clock()
        agent = made(
            tmp_path_factory.mktemp("texts") / "db", robai.KLUCB(), window=20.0, missing=0.0, clock=clock
        )
        for step in range(90):
            clock.now += 1.0
            agent.answer(agent.ticket(), step % 2)
        agent.add_arm("d")
        agent.retire_arm("a")
        agent.ticket()
        _TEXTS["snapshots.state"] = agent._course.to_json()
        _TEXTS["experiments.spec"] = agent._written.spec
    return _TEXTS


def paths(value, before=()):
    """Of every place in a JSON value."""
    if before:
        yield before
    if isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(each, (*before, name))


def changed(value, path, new):
    """A copy with something else in one place, or without it."""
    if not path:
        return new
    value = value.copy()
    if len(path) == 1 and new is ...:
        del value[path[0]]
    else:
        value[path[0]] = changed(value[path[0]], path[1:], new)
    return value


VALUES = st.one_of(
    st.sampled_from(
        [
            ...,
            None,
            True,
            -1,
            0,
            1,
            2**70,
            1e300,
            -0.5,
            "",
            "x",
            "inf",
            "NaN",
            [],
            {},
            [[]],
            [None],
            {"type": "UCB"},
        ]
    ),
    st.integers(-5, 200),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.lists(st.integers(-2, 90), max_size=5),
)


@pytest.fixture
def damaged_store(tmp_path):
    agent = made(tmp_path / "db", robai.KLUCB(), window=20.0, missing=0.0, clock=Clock())
    with agent.store as store:
        yield agent, store


@pytest.mark.parametrize("place", ["snapshots.state", "experiments.spec"])
@given(data=st.data())
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_damaged_is_an_error_that_names_a_field_or_a_state(
    tmp_path_factory, damaged_store, place, data
):
    whole = json.loads(texts(tmp_path_factory)[place])
    path = data.draw(st.sampled_from(sorted(paths(whole), key=str)))
    text = json.dumps(changed(whole, path, data.draw(VALUES)))
    agent, store = damaged_store
    if place == "snapshots.state":
        sql(agent, "INSERT OR REPLACE INTO snapshots VALUES (?, 200, ?)", agent._written.number, text)
    else:
        sql(agent, "UPDATE experiments SET spec = ?", text)
    try:
        again = store.open("it")
        again.summary()
        again.retired, again.dropped, again.earlier, again.to_json()
    except ValueError as error:
        said = str(error)
    else:
        said = "field"
    assert re.search(r"field|this is not|policy", said)
    assert all(isinstance(sentence, str) for sentence in store.check())


# ---- compaction


@pytest.mark.parametrize("options", [{}, {"window": 30.0}, {"window": 30.0, "missing": 0.0}], ids=str)
def test_compaction_changes_nothing_but_the_past(tmp_path, options):
    clock = Clock()
    agent = worked(tmp_path / "db", clock, 300, **options)
    lagging = made(tmp_path / "db", clock=clock, **options)
    before, all_events = agent.to_json(), events(agent)
    tickets = [event[0] * 2**24 + 1 for event in all_events if event[2] == 3]
    assert agent.store.compact("it", before=0.0) == 0  # all is newer
    deleted = agent.store.compact("it", before=1e9)
    left = events(agent)
    assert left == all_events[deleted:]
    if not options:
        assert deleted == 0  # the first ticket has no answer
        return
    assert 100 < deleted < len(all_events) - 25
    assert agent.to_json() == lagging.to_json() == before
    forget(agent)
    assert agent.to_json() == before
    assert agent.store.check() == []
    assert agent.answer(tickets[0], 1) == agent.answer(tickets[0], 0) == "late"  # which nobody remembers
    assert events(agent) == left
    assert agent.ticket("user 1").id > tickets[-1]  # its key is forgotten
    assert agent.ticket("user 299").id == tickets[299]
    lagging.refresh()
    assert lagging.to_json() == agent.to_json()
    assert agent.store.check() == []


@pytest.mark.parametrize("behind", range(0, 400, 40))
@pytest.mark.parametrize("missing", [None, 0.0])
def test_who_lags_behind_what_was_compacted_goes_on(tmp_path, behind, missing):
    """Windows may be open there that are closed, and not to be found, in the file."""
    clock = Clock()
    with frequent_snapshots(50):
        agent = made(tmp_path / "db", window=100.0, missing=missing, clock=clock)
        for step in range(400):
            if step == behind:
                lagging = made(tmp_path / "db", window=100.0, missing=missing, clock=clock)
            clock.now += 2.0
            agent.ticket()
        assert agent.store.compact("it", before=1e9) > 250
        assert lagging.rounds == behind
        lagging.refresh()
        assert lagging._course.to_json() == agent._course.to_json()
        assert lagging.ticket().id == (agent._course.seq + 1) * 2**24 + 1


def test_compaction_without_windows_keeps_what_is_not_answered(tmp_path):
    with frequent_snapshots(50):
        agent = made(tmp_path / "db")
        for step in range(300):
            agent.update(agent.select(), step % 2)
            if step == 200:
                ticket = agent.ticket()
        assert agent.store.compact("it", before=1e12) == 402
        assert events(agent)[0][0] == 403
        assert agent.answer(ticket, 1) == "counted"
        assert agent.store.compact("it", before=1e12) > 100
        assert agent.answer(ticket, 1) == "late"
        state = agent.to_json()
        forget(agent)
        assert agent.to_json() == state
        assert agent.store.check() == []
    with pytest.raises(KeyError, match="has no experiment"):
        agent.store.compact("that", before=0.0)
    with pytest.raises(TypeError, match="before must be"):
        agent.store.compact("it", before="today")


# ---- a file of version 1


@pytest.mark.parametrize("name", list(STORES))
def test_a_file_of_version_1(tmp_path, name):
    """Written when it was: every kind of event, read from its snapshots and from its first event."""
    (tmp_path / "db").write_bytes(gzip.decompress((DATA / "store-1.db.gz").read_bytes()))
    expected = json.loads((DATA / "store-1.json").read_text())[name]
    with Store(tmp_path / "db", clock=lambda: 0.0) as store:
        agent = store.open(name)
        assert described(agent) == expected
        sql(agent, "DELETE FROM snapshots")
        forget(agent)
        assert described(agent) == expected
        assert all("would be made otherwise" in sentence for sentence in store.check())
        agent.ticket()
