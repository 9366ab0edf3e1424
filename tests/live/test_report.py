"""The page of an experiment: over time it has what the agent said at every moment."""

import os
import re
import sys

import pytest
from support.html import Page
from support.stores import Clock, events, frequent_snapshots, locked, made, sql

import robai
from robai import Store
from robai.live import page as pages
from robai.live import timeline

THEN = 1735722000.0  # 2025-01-01 09:00 UTC


@pytest.fixture
def path(tmp_path):
    return tmp_path / "live.db"


def written(agent, tmp_path, **options):
    agent.report(tmp_path / "page.html", **options)
    return Page((tmp_path / "page.html").read_text(encoding="utf-8"))


def played(agent, n, said, clock=None):
    """Pulls, of which b is mostly paid; `said` has the table after each by rounds."""
    for step in range(n):
        if clock is None:
            agent.update(arm := agent.select(), int(arm == "b" or step % 5 == 0))
        else:
            clock.now += 10.0
            ticket = agent.ticket()
            if ticket.arm == "b" or step % 5 == 0:
                agent.answer(ticket, 1)
        said[agent.rounds] = agent.table()


def curves(chart):
    return {each["label"]: each for each in chart["series"]}


def check(charts, said):
    """Every point of the two charts is what a table said, and every round is there."""
    means, shares = (curves(each) for each in charts)
    arms = {row.arm for rows in said.values() for row in rows}
    assert set(means) <= set(shares) == arms
    found = 0
    for arm in arms:
        own = {r: row for r, rows in said.items() for row in rows if row.arm == arm}
        assert shares[arm]["x"] == list(own)
        assert shares[arm]["y"] == pytest.approx([row.share for row in own.values()], rel=1e-4)
        known = {r: row for r, row in own.items() if row.mean is not None}
        if not known:
            continue
        assert means[arm]["x"] == list(known)
        assert means[arm]["y"] == pytest.approx([row.mean for row in known.values()], rel=1e-4)
        last = list(known.values())[-1]
        for low, high, row in zip(means[arm]["low"], means[arm]["high"], known.values(), strict=True):
            if row.upper - row.lower <= pages._WIDEST * (last.upper - last.lower):
                assert (low, high) == pytest.approx((row.lower, row.upper), rel=1e-4)
                found += 1
            else:
                assert (low, high) == (None, None)
    assert found > len(arms)


@pytest.mark.parametrize("terms", [{}, {"window": 100.0, "missing": 0.0}, {"window": 100.0}], ids=str)
def test_every_moment_is_what_the_agent_said_then(tmp_path, path, terms):
    said, clock = {}, Clock(THEN)
    agent = made(path, clock=clock, **terms)
    played(agent, 70, said, clock if terms else None)
    assert not agent.committed
    page = written(agent, tmp_path)
    check(page.charts[:2], said)
    assert len(page.charts) == 3
    assert [each["texts"] for each in page.charts[2]["series"]] == [
        [f"{each.other}: {each.low:.4g} to {each.high:.4g}" for each in agent.differences()]
    ]
    sentence, *_ = agent.summary().splitlines()
    for expected in (sentence, "created 2025-01-01 09:00 UTC", "KLEOCPUG(inflation=1.0"):
        assert expected in page.text
    last = f"last event {'2025-01-01 09:11' if terms else '2025-01-01 09:00'} UTC"
    assert last in page.text
    for row in agent.table():
        assert f"{row.arm} {row.pulls:,} {row.pending:,} " in page.text
    assert "compacted" not in page.text


def test_changes_are_drawn_and_dated(tmp_path, path):
    said, clock = {}, Clock(THEN)
    agent = made(path, clock=clock, horizon=5000)
    played(agent, 30, said)
    clock.now += 3600.0
    agent.add_arm("d")
    said[agent.rounds] = agent.table()
    played(agent, 30, said)
    clock.now += 3600.0
    agent.retire_arm("c")
    said[agent.rounds] = agent.table()
    agent.extend(6000)
    played(agent, 30, said)
    while not agent.committed:
        agent.update_batch(arms := agent.select_batch(100), [int(arm == "b") for arm in arms])
        agent.select()
        said[agent.rounds] = agent.table()
    committed = next(rounds for rounds in sorted(said) if rounds >= agent.commit_time)
    clock.now += 3600.0
    agent.reopen("it was the wrong page")
    page = written(agent, tmp_path)
    for chart in page.charts[:2]:
        assert [(each["label"], each["value"]) for each in chart["verticals"]] == [
            ("d added", 30),
            ("c retired", 60),
            ("horizon 6,000", 60),
            ("committed to b", pytest.approx(committed, abs=101)),
            ("b not committed to any more", agent.rounds),
        ]
    for expected in (
        "2025-01-01 10:00 UTC 30 d added",
        "2025-01-01 11:00 UTC 60 c retired",
        "2025-01-01 12:00 UTC",
        "it was the wrong page",
        "Retired: 'c'",
    ):
        assert expected in page.text
    means = curves(page.charts[0])
    assert means["d"]["x"][0] > 30
    assert means["c"]["x"][-1] <= 60
    assert means["a"]["x"][-1] == agent.rounds


def test_a_commitment_is_told(tmp_path, path):
    agent = made(path, clock=Clock(THEN))
    while not agent.committed:
        agent.update(arm := agent.select(), arm == "b")
    page = written(agent, tmp_path)
    assert f"b is what it committed to, after {agent.commit_time:,} rewards" in page.text
    assert f"2025-01-01 09:00 UTC {agent.rounds - 1:,} committed to b" in page.text
    assert "0 alarms" in page.text


def test_alarms_are_told(tmp_path, path):
    agent = made(path)
    agent.update_batch(["a"] * 2048, [0] * 1024 + [1] * 1024)
    [alarm] = agent.alarms
    page = written(agent, tmp_path)
    assert "1 alarm " in page.text
    assert alarm[1:] in page.text


def test_many_events_are_looked_at_now_and_then(tmp_path, path):
    agent = made(path)
    for step in range(1503):
        agent.update(agent.select(), step % 2)
    shares = curves(written(agent, tmp_path).charts[1])["a"]
    assert timeline.LOOKS < len(shares["x"]) + 2 < timeline.LOOKS + 5
    assert shares["x"] == sorted(set(shares["x"]))
    assert shares["x"][-1] == 1503  # in no step of 10 events
    assert shares["y"][-1] == pytest.approx(agent.table()[0].share, rel=1e-4)


def test_very_many_arms_are_looked_at_less_often(tmp_path, path):
    agent = made(path, arms=timeline.ROWS // 10)
    for step in range(105):
        agent.update(step, 1)
    assert [len(each["x"]) for each in written(agent, tmp_path).charts[1]["series"]] == [11] * 12


def test_what_was_compacted_away_is_said_to_be(tmp_path, path):
    said, clock = {}, Clock(THEN)
    with frequent_snapshots(40):
        agent = made(path, clock=clock)
        played(agent, 40, said)
        clock.now += 3600.0
        played(agent, 60, said)
        clock.now += 3600.0
        assert agent.store.compact("it", before=clock.now) > 0
    first = events(agent)[0][0]
    page = written(agent, tmp_path)
    begun = (first - 1) // 2
    text = f"events before 2025-01-01 10:00 UTC were compacted away: what is shown begins in round {begun}."
    assert text in page.text
    check(page.charts[:2], {rounds: rows for rounds, rows in said.items() if rounds >= begun})
    sql(agent, "DELETE FROM snapshots")
    with pytest.raises(ValueError, match="its first events are not there, and no snapshot is"):
        agent.report(tmp_path / "other.html")
    assert not (tmp_path / "other.html").exists()


def test_it_is_of_the_file_as_it_is_now(tmp_path, path):
    agent = made(path, clock=Clock(THEN))
    another = made(path, clock=Clock(THEN))
    another.select_batch(6)
    before = events(agent)
    assert "6 of 100,000 rounds, 6 pending" in written(agent, tmp_path).text
    assert agent.rounds == 0  # what it shows itself is as of its last call
    assert events(agent) == before
    with Store.reader(path) as reader:
        assert "6 of 100,000" in written(reader.open("it"), tmp_path).text
    agent.store.delete("it")
    with pytest.raises(KeyError, match="experiment 'it' was deleted"):
        agent.report(tmp_path / "page.html")


def test_nobody_waits(tmp_path, path):
    agent = made(path)
    agent.select_batch(6)
    with locked(path):
        assert "6 of 100,000 rounds" in written(agent, tmp_path).text


class Own:
    """Arms in turn; counts what it is told."""

    def __init__(self):
        self.told = 0

    def select(self, state):
        return self.told % state.n_arms

    def update(self, arm, reward):
        self.told += 1


def test_a_policy_in_python_is_repeated_by_a_copy(tmp_path, path):
    said, own = {}, Own()
    agent = made(path, own, ["a", "b"])
    for step in range(20):
        agent.update(agent.select(), step % 2)
        said[agent.rounds] = agent.table()
    shares = curves(written(agent, tmp_path).charts[1])
    assert shares["b"]["y"] == pytest.approx([rows[1].share for rows in said.values()], rel=1e-4)
    assert own.told == 0
    assert agent.select() == "a"


def test_nothing_has_happened_yet(tmp_path, path):
    page = written(made(path, clock=Clock(THEN)), tmp_path)
    assert page.charts == []
    assert "nothing has happened yet" in page.text
    assert "0 of 100,000 rounds" in page.text


def test_pending_rounds_have_shares_and_no_means(tmp_path, path):
    agent = made(path)
    agent.tickets(4)
    [shares] = written(agent, tmp_path).charts
    assert [each["y"][-1] for each in shares["series"]] == [0.5, 0.25, 0.25]


def test_rewards_that_come_at_once_are_points(tmp_path, path):
    agent = made(path)
    agent.answers([(each, each.arm == "b") for each in agent.tickets(60)])
    means, shares, _ = written(agent, tmp_path).charts
    assert [each["label"] for each in means["series"]] == ["mean"]
    assert means["series"][0]["y"] == [0.0, 1.0, 0.0]
    assert [each["label"] for each in shares["series"]] == ["a", "b", "c"]


def test_arms_with_the_most_rewards_are_drawn(tmp_path, path):
    agent = made(path, robai.UCB(), 40)
    agent.update_batch(agent.select_batch(80), [0] * 80)
    agent.update_batch([arm for arm in range(40) if arm % 3 == 0] * 5, [1] * 70)
    page = written(agent, tmp_path)
    for chart in page.charts[:2]:
        assert [each["label"] for each in chart["series"]] == [str(arm) for arm in range(0, 36, 3)]
    assert "Of the 40 arms those with the most rewards." in page.text


def test_a_path_that_cannot_be_written_is_known_before_events_are_repeated(tmp_path, path, monkeypatch):
    agent = made(path)
    monkeypatch.setattr("robai.live.readable.timeline", lambda *_: pytest.fail("it was repeated"))
    with pytest.raises(IsADirectoryError):
        agent.report(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such directory"):
        agent.report(tmp_path / "missing" / "page.html")
    for each in (agent, robai.Agent(robai.UCB(), 2, 100, reward="bernoulli")):
        with pytest.raises(TypeError, match="title must be a string, got 3"):
            each.report(tmp_path / "page.html", title=3)
    assert not (tmp_path / "page.html").exists()


BAD = "</script><script>alert(1)//\"'&"


def test_names_are_never_taken_for_tags(tmp_path, path):
    agent = made(path, arms=[BAD, "b"], name="a<b>")
    agent.update_batch([BAD, "b"], [1, 0])
    for each in (agent, robai.Agent.from_json(agent.to_json())):
        page = written(each, tmp_path)
        assert page.tags.count("script") == 2 + len(page.charts)
        assert BAD in page.text
    assert written(agent, tmp_path, title="Mine & yours").text.startswith("Mine & yours")
    assert "a<b>" in written(agent, tmp_path).text


def test_a_name_that_is_half_a_character_is_written_out(tmp_path, path):
    agent = made(path, arms=["\ud800", "b"])
    agent.update_batch(["\ud800", "b"], [1, 0])
    assert "\\ud800" in written(agent, tmp_path).text


# ---- without a store


def test_an_agent_in_memory_shows_how_it_stands(tmp_path):
    agent = robai.Agent(robai.KLEOCPUG(), ["a", "b"], 10**4, reward="bernoulli", rng=0)
    page = written(agent, tmp_path)
    assert page.charts == []
    agent.update_batch(["a", "b"] * 50, [0, 1] * 50)
    page = written(agent, tmp_path)
    means, apart = page.charts
    rows, [difference] = agent.table(), agent.differences()
    [series] = means["series"]
    assert means["names"] == ["a", "b"]
    assert series["y"] == [row.mean for row in rows]
    assert series["low"] == pytest.approx([row.lower for row in rows], rel=1e-4)
    assert series["high"] == pytest.approx([row.upper for row in rows], rel=1e-4)
    [series] = apart["series"]
    assert (series["y"], apart["names"]) == ([difference.estimate], ["a"])
    assert (series["low"][0], series["high"][0]) == pytest.approx((difference.low, difference.high), rel=1e-4)
    assert agent.summary().splitlines()[0] in page.text
    assert "certificate" in page.text
    assert "With the bounds that the policy compares." in page.text
    assert "created" not in page.text


def test_a_policy_without_bounds(tmp_path, path):
    agent = robai.Agent(robai.ThompsonSampling(), 60, 10**4, reward="bernoulli", rng=0)
    agent.update_batch([*range(60)], [1] * 60)
    means, _ = written(agent, tmp_path).charts
    assert set(means["series"][0]["low"]) == {None}
    assert len(means["names"]) == 50
    text = (tmp_path / "page.html").read_text()
    assert "The first 50 arms with rewards." in text
    assert "bounds that the policy compares." not in re.sub("title=.*?>|data-about=.*?>", "", text)
    stored = made(path, robai.ThompsonSampling())
    stored.update_batch(["a", "b", "c"], [1, 0, 1])
    assert "A band is" not in written(stored, tmp_path).text


def test_a_page_asks_for_nothing_and_needs_no_matplotlib(tmp_path, path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    agent = made(path)
    played(agent, 20, {})
    page = written(agent, tmp_path)
    assert all(address.startswith(("data:,", "#")) for address in page.addresses)
    assert any("Of all rounds" in text for text in page.about)
    assert os.listdir(tmp_path).count("page.html") == 1
