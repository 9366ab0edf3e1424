"""`robai status` and `robai watch`: what a store has, while others work on it."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from support.stores import Clock, events, frequent_snapshots, made, sql

import robai
from robai.cli import live, main

THEN = 1735722000.0  # 2025-01-01 09:00 UTC


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "live.db")


@pytest.fixture
def agent(path):
    """Three arms, of which b is the best: exploring, with 3 pending."""
    agent = made(path, clock=Clock(THEN), name="buttons")
    arms = agent.select_batch(300)
    agent.update_batch(
        arms[:297], [int(arm == "b" or place % 7 == 0) for place, arm in enumerate(arms[:297])]
    )
    return agent


def run(capsys, *arguments):
    code = main(arguments)
    return (code, *capsys.readouterr())


def told(capsys, *arguments):
    code, out, err = run(capsys, "status", *arguments)
    assert (code, err) == (0, "")
    return out


def cells(line):
    return re.split(r" {2,}", line.strip())


# ---- status


def test_a_line_for_each_experiment(capsys, path, agent):
    made(path, robai.UCB(), 5, 77, clock=Clock(THEN), name="fresh")
    heading, first, second = told(capsys, path).splitlines()
    shown = dict(zip(cells(heading), cells(first), strict=True))
    assert shown == {
        "experiment": "buttons",
        "policy": "KLEOCPUG()",
        "arms": "3",
        "rounds": "300",
        "horizon": "100,000",
        "pending": "3",
        "certificate": f"{agent.certificate():.2g}",
        "alarms": "-",
        "last event": "2025-01-01 09:00 UTC",
        "stands": "b leads",
    }
    assert agent.certificate() < 1e-9
    assert cells(second) == ["fresh", "UCB()", "5", "0", "77", "0", "-", "-", "-", "no rewards yet"]


def test_commitments_and_the_end(capsys, path, agent):
    ended = made(path, robai.UCB(), 2, 4, name="ended")
    arms = ended.select_batch(4)
    assert "inconclusive" not in told(capsys, path)  # before the last rewards are known
    ended.update_batch(arms, [0, 1, 0, 1])
    while not agent.committed:
        agent.update(arm := agent.select(), arm == "b")
    shown = [cells(line)[-1] for line in told(capsys, path).splitlines()]
    assert shown == ["stands", "committed to b", "inconclusive"]
    agent.update_counts("b", 10**6, 0)
    assert re.search("committed to b, [ac] leads\n", told(capsys, path))


def test_those_that_are_named_are_shown_in_full(capsys, path, agent):
    made(path, name="other", clock=Clock(THEN))
    shown = told(capsys, path, "buttons")
    assert shown == (
        "buttons\ncreated 2025-01-01 09:00 UTC, last event 2025-01-01 09:00 UTC\n\n" + agent.summary() + "\n"
    )
    assert "the mean of 'b' less that of every other arm" in shown
    both = told(capsys, path, "other", "buttons", "other")
    assert "other\ncreated 2025-01-01 09:00 UTC, nothing has happened yet\n" in both
    assert both.endswith(f"\n\n{shown}")
    assert both.count("created") == 2


def test_alarms_are_counted_and_told(capsys, path, agent):
    agent.update_batch(["a"] * 2048, [0] * 1024 + [1] * 1024)
    [alarm] = agent.alarms
    assert alarm.startswith("the rewards of 'a' have changed")
    heading, line = told(capsys, path).splitlines()
    assert dict(zip(cells(heading), cells(line), strict=True))["alarms"] == "1"
    assert f"\n{alarm}\n" in told(capsys, path, "buttons")
    assert json.loads(told(capsys, path, "--json"))[0]["alarms"] == [alarm]


def test_windows_that_are_due_are_said_to_be_and_not_closed(capsys, path):
    clock = Clock(time.time() - 50.0)
    agent = made(path, clock=clock, window=100.0, missing=0.0)
    agent.tickets(6)
    before = events(agent)
    assert "due" not in told(capsys, path)
    assert json.loads(told(capsys, path, "--json"))[0]["due"] is False
    agent = made(path, clock=Clock(THEN), name="old", window=100.0, missing=0.0)
    agent.tickets(6)
    heading, _, line, _, note = told(capsys, path).splitlines()
    assert dict(zip(cells(heading), cells(line), strict=True))["pending"] == "6+"
    assert note.startswith("+ windows are due")
    assert told(capsys, path, "old").splitlines()[2] == note[2:]
    record = json.loads(told(capsys, path, "old", "--json"))[0]
    assert record["due"] is True
    assert [row["pending"] for row in record["table"]] == [2, 2, 2]
    agent.refresh()
    assert agent.pulls.tolist() == [0, 0, 0]  # by its own clock nothing has closed
    assert len(events(agent)) == len(before)


def test_as_json(capsys, path, agent):
    agent.retire_arm("c")
    [record] = json.loads(told(capsys, path, "--json"))
    assert record["policy"] == agent.policy.to_dict()
    assert (record["name"], record["error"], record["arms"]) == ("buttons", None, ["a", "b"])
    assert (record["created"], record["last_event"]) == (THEN, THEN)
    assert (record["horizon"], record["rounds"], record["window"]) == (10**5, 300, None)
    assert (record["leader"], record["certificate"]) == ("b", agent.certificate())
    assert record["table"] == [row._asdict() for row in agent.table()]
    assert record["differences"] == [each._asdict() for each in agent.differences()]
    assert record["retired"] == [{"arm": "c", **agent.retired["c"]._asdict()}]
    made(path, name="empty")
    [record] = json.loads(told(capsys, path, "empty", "--json"))
    assert (record["leader"], record["last_event"]) == (None, None)
    assert record["differences"][0]["low"] is record["differences"][0]["estimate"] is None
    agent.extend(10**6)
    while not agent.committed:
        agent.update(arm := agent.select(), arm == "b")
    agent.reopen("for a test")
    [record] = json.loads(told(capsys, path, "buttons", "--json"))
    assert record["earlier"] == [each._asdict() for each in agent.earlier]
    assert record["committed_arm"] is None
    assert "That was taken back (2025-01-01 09:00 UTC): for a test." in told(capsys, path, "buttons")


def test_a_store_without_experiments(capsys, path):
    robai.Store(path).close()
    assert told(capsys, path) == f"{path} has no experiments\n"
    assert json.loads(told(capsys, path, "--json")) == []


def test_looking_changes_nothing_and_waits_for_nobody(capsys, path, agent):
    before = events(agent)
    with sqlite3.connect(path, isolation_level=None) as writing:
        writing.execute("BEGIN IMMEDIATE")
        assert told(capsys, path, "buttons")
        writing.execute("ROLLBACK")
    assert events(agent) == before


@pytest.mark.parametrize("command", ["status", "watch"])
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{path}", "buttns"], 2, "there is no experiment 'buttns'; did you mean buttons?"),
        (["{path}", "buttons", "zzz"], 2, "no experiment 'zzz'; see `robai status {path}`"),
        (["{folder}/other.db"], 1, "there is no such store: '{folder}/other.db'"),
        (["{folder}/text"], 2, "text is not a store of robai: file is not a database"),
        (["{folder}/sqlite"], 2, "sqlite is not a store of robai but an SQLite file of another program"),
        ([], 2, "the following arguments are required: PATH"),
        ([""], 2, "must be a path, got ''"),
    ],
)
@pytest.mark.usefixtures("agent")
def test_errors(capsys, tmp_path, path, command, arguments, code, message):
    (tmp_path / "text").write_text("no store at all, and long enough to be seen to be none. " * 20)
    with sqlite3.connect(tmp_path / "sqlite") as other:
        other.execute("CREATE TABLE t(x)")
    other.close()
    given = [each.format(path=path, folder=tmp_path) for each in arguments]
    for more in ([], ["--json"]):
        found, out, err = run(capsys, command, *given, *more)
        assert (found, out) == (code, "")
        assert message.format(path=path, folder=tmp_path) in err
        assert not (tmp_path / "other.db").exists()


def test_pages_that_are_damaged_are_no_traceback(capsys, tmp_path, path, agent):
    agent.store.close()
    whole = (tmp_path / "live.db").read_bytes()
    for start in range(4096, len(whole), 4096):
        (tmp_path / "live.db").write_bytes(whole[:start] + b"\xff" * 4096 + whole[start + 4096 :])
        for arguments in ([path], [path, "buttons"], [path, "--json"]):
            code, _, err = run(capsys, "status", *arguments)
            assert code in (0, 1, 2)
            assert "Traceback" not in err


class Own:
    def select(self, state):
        return 0

    def update(self, arm, reward):
        pass


def test_one_that_cannot_be_read_does_not_hide_the_others(capsys, path, agent):
    damaged = made(path, name="damaged")
    damaged.update_batch(["a", "b"], [1, 0])
    sql(damaged, "UPDATE events SET kind = 99 WHERE experiment = 2")
    made(path, Own(), name="own")
    code, out, err = run(capsys, "status", path)
    assert (code, err) == (1, "")
    assert [cells(line)[-1] for line in out.splitlines()[1:4]] == [
        "b leads",
        "cannot be read",
        "cannot be read",
    ]
    assert "damaged: event 1 cannot be repeated: there is no such event" in out
    assert "own: the policy of experiment 'own' has to be handed to create" in out
    code, out, err = run(capsys, "status", path, "own", "--json")
    [record] = json.loads(out)
    assert code == 1
    assert record["error"].startswith("the policy of experiment 'own'")
    code, out, err = run(capsys, "status", path, "own")
    assert code == 1
    assert out.startswith("own\nthe policy of experiment")


# ---- watch


def watched(monkeypatch, capsys, path, *steps, arguments=(), terminal=False):
    """What is printed at every look, between which the steps are done; then comes Ctrl-C."""
    todo, waits, seen = list(steps), [], []

    def sleep(seconds):
        waits.append(seconds)
        seen.append(capsys.readouterr().out)
        if not todo:
            raise KeyboardInterrupt
        todo.pop(0)()

    monkeypatch.setattr(live.time, "sleep", sleep)
    if terminal:
        monkeypatch.setattr(live, "is_rewritten", lambda stream: True)
    assert main(["watch", path, *arguments]) == 130
    last = capsys.readouterr()
    assert last.err == "robai: interrupted\n"
    assert len(set(waits)) == 1
    return [*seen, last.out] if last.out else seen


def nothing():
    """Happens."""


def test_a_block_when_something_has_changed(monkeypatch, capsys, path, agent):
    seen = watched(monkeypatch, capsys, path, nothing, lambda: agent.update("b", 1), nothing)
    assert [bool(each) for each in seen] == [True, False, True, False]
    when, empty, *block = seen[0].splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", when)
    assert empty == block.pop() == ""
    assert block == [*told(capsys, path).splitlines()[:1], block[1]]
    assert cells(block[1])[5] == "3"
    assert cells(seen[2].splitlines()[3])[5] == "2"


def test_a_line_of_json_when_something_has_changed(monkeypatch, capsys, path, agent):
    arguments = ["buttons", "--json"]
    seen = watched(monkeypatch, capsys, path, nothing, lambda: agent.select(), arguments=arguments)
    assert seen[1] == ""
    rounds = []
    for each in (seen[0], seen[2]):
        [line] = each.splitlines()
        rounds.append(json.loads(line)[0]["rounds"])
    assert rounds == [300, 301]


def test_a_screen_is_written_over_at_every_look(monkeypatch, capsys, path, agent):
    seen = watched(monkeypatch, capsys, path, nothing, terminal=True, arguments=["--every", "3"])
    assert len(seen) == 3
    for each, beginning in zip(seen, (live._OTHER_SCREEN, live._CLEAR, live._BACK), strict=True):
        assert each.startswith(beginning)
        assert ", every 3 s\n\nexperiment " in each
        assert each.count("\x1b[H") + each.count("\x1b[?") == 1
    seen = watched(monkeypatch, capsys, path, nothing, terminal=True, arguments=["--json"])
    assert "\x1b" not in "".join(seen)


def test_a_screen_shows_as_much_as_it_has_room_for(monkeypatch, capsys, path, agent):
    monkeypatch.setenv("LINES", "6")
    first, last = watched(monkeypatch, capsys, path, terminal=True, arguments=["buttons"])
    shown = first.splitlines()
    assert len(shown) == 6
    whole = last.splitlines()
    assert shown[-1] == f"... and {len(whole) - 5} lines more"
    assert shown[1:-1] == whole[1:5]


def test_the_screen_is_as_before_after_an_error(monkeypatch, capsys, path, agent):
    monkeypatch.setattr(live, "is_rewritten", lambda stream: True)
    monkeypatch.setattr(live.time, "sleep", lambda seconds: os.unlink(path))
    assert main(["watch", path]) == 1
    told = capsys.readouterr()
    assert "there is no such store" in told.err
    assert live._BACK in told.out


def test_experiments_come_and_go(monkeypatch, capsys, path, agent):
    store = agent.store
    steps = [
        lambda: made(path, name="second"),
        lambda: store.delete("buttons"),
        lambda: store.delete("second"),
    ]
    seen = watched(monkeypatch, capsys, path, *steps)
    assert [re.findall("^(buttons|second)", each, re.M) for each in seen] == [
        ["buttons"],
        ["buttons", "second"],
        ["second"],
        [],
    ]
    assert f"{path} has no experiments" in seen[3]
    again = made(path, name="it")
    steps = [lambda: again.store.delete("it"), lambda: made(path, name="it")]
    seen = watched(monkeypatch, capsys, path, *steps, arguments=["it"])
    assert ["it\nit was deleted" in each for each in seen] == [False, True, False]
    seen = watched(monkeypatch, capsys, path, lambda: store.delete("it"), arguments=["it", "--json"])
    assert json.loads(seen[1]) == [{"name": "it", "error": "it was deleted"}]


def test_a_file_that_is_compacted_or_becomes_another(monkeypatch, capsys, tmp_path, path):
    clock = Clock(THEN)
    with frequent_snapshots(20):
        agent = made(path, clock=clock)
        for _ in range(100):
            agent.update("a", 0)

        def compact():
            clock.now += 1.0
            assert agent.store.compact("it", before=clock.now) > 0
            agent.update("a", 0)

        def replace():
            agent.store.close()
            made(tmp_path / "new.db", name="replaced").store.close()
            for end in ("", "-wal", "-shm"):
                (tmp_path / f"live.db{end}").unlink(missing_ok=True)
            (tmp_path / "new.db").replace(path)

        seen = watched(monkeypatch, capsys, path, compact, replace, arguments=["it"])
    assert "a      100 " in seen[0]
    assert "a      101 " in seen[1]
    assert "it was deleted" in seen[2]


def test_windows_that_come_due_are_a_change(monkeypatch, capsys, path):
    clock = Clock(THEN)
    agent = made(path, clock=clock, window=100.0, missing=0.0)
    agent.tickets(3)
    monkeypatch.setattr(live.Store, "_time", lambda self: clock.now)

    def pass_by():
        clock.now += 100.0

    seen = watched(monkeypatch, capsys, path, nothing, pass_by, agent.refresh)
    assert ["are due" in each for each in seen] == [False, False, True, False]
    assert [cells(each.splitlines()[3])[5] for each in seen if each] == ["3", "3+", "0"]


@pytest.mark.parametrize("every", ["0", "-1", "nan", "1e9", "x"])
def test_how_often(capsys, path, every):
    code, out, err = run(capsys, "watch", path, f"--every={every}")
    assert (code, out) == (2, "")
    assert "--every" in err


def test_a_process_that_watches_one_that_works(path, agent):
    command = [sys.executable, "-m", "robai", "watch", path, "--every", "0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        end = threading.Timer(60.0, process.kill)
        end.start()
        for rounds in ("300", "301"):
            while f" {rounds} " not in (line := process.stdout.readline()):
                assert line
            agent.select()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        end.cancel()
    assert process.returncode == 130
    assert err == "robai: interrupted\n"
