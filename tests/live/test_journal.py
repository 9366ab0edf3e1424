"""The journal: an agent that dies at any byte comes back with all that it acknowledged."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
import zlib
from contextlib import nullcontext

import pytest

import robai

ARGUMENTS = {"policy": robai.KLEOCPUG(), "arms": ["a", "b", "c"], "horizon": 10**6, "reward": "bernoulli"}


def opened(path, **options):
    return robai.Agent(**{**ARGUMENTS, "rng": 3, "journal": path, **options})


def work(agent):
    """Every kind of change."""
    for step in range(20):
        arm = agent.select()
        agent.update(arm, step % 3 == 0)
    agent.update_batch(agent.select_batch(30)[:20], [1, 0] * 10)
    agent.update_counts("b", 10, 4)


def closed(agent):
    """What the agent knows, after its process has let go of the journal."""
    agent.journal.close()
    return agent.to_json()


def test_an_agent_comes_back_by_the_same_call(tmp_path):
    path = tmp_path / "journal"
    agent, plain = opened(path), opened(None)
    work(agent)
    work(plain)
    before = closed(agent)
    assert before == plain.to_json()
    again = opened(path, rng=99)  # the seed counts the first time only
    assert again.to_json() == before
    work(again)
    work(plain)
    assert closed(again) == plain.to_json()
    assert closed(opened(path)) == plain.to_json()


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize(
    "policy",
    [robai.ThompsonSampling(), robai.DETCK(), robai.TrackAndStop(), robai.ActionElimination()],
    ids=repr,
)
def test_any_policy_comes_back(tmp_path, policy, numbered):
    options = {"policy": policy, "arms": 3 if numbered else ["x", "y", "z"], "horizon": 5000}
    agent = opened(tmp_path / "journal", **options)
    for step in range(300):
        arm = agent.select()
        agent.update(arm, arm == agent.labels[1] or step % 4 == 0)
    before = closed(agent)
    assert opened(tmp_path / "journal", **options).to_json() == before


def test_what_was_refused_is_not_in_the_journal(tmp_path):
    agent = opened(tmp_path / "journal")
    work(agent)
    for call in (
        lambda: agent.update("z", 1),
        lambda: agent.update("a", 0.5),
        lambda: agent.update_batch(["a", "b"], [1, 2]),
        lambda: agent.select_batch(10**9),
    ):
        with pytest.raises((KeyError, ValueError)):
            call()
    before = closed(agent)
    assert opened(tmp_path / "journal").to_json() == before


def test_a_journal_cut_at_any_byte_loses_its_last_line_at_most(tmp_path):
    agent = opened(tmp_path / "journal")
    for step in range(6):
        agent.update(agent.select(), step % 2)
    agent.update_batch(agent.select_batch(3), [1, 1, 0])
    closed(agent)
    data = (tmp_path / "journal").read_bytes()
    first, seen, path = data.index(b"\n") + 1, [], tmp_path / "cut"
    for end in range(len(data) + 1):
        path.write_bytes(data[:end])
        torn = end > 0 and data[end - 1 : end] != b"\n"
        with pytest.warns(RuntimeWarning, match="dropped line") if torn else nullcontext():
            agent = opened(path)
        seen.append(int(agent.rounds) + int(agent.pulls.sum()))
        closed(agent)
        assert path.read_bytes() == (data[: data[:end].rfind(b"\n") + 1] if end >= first else data[:first])
    assert seen == sorted(seen)
    assert seen[-1] == 18


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda lines: [*lines[:5], lines[5].replace(b"select", b"delete"), *lines[6:]], 6),
        (lambda lines: [*lines[:5], *lines[6:]], 6),
        (lambda lines: [*lines[:5], lines[4], *lines[5:]], 6),
        (lambda lines: [*lines[:5], lines[6], lines[5], *lines[7:]], 6),
        (lambda lines: [*lines[:5], b"\n", *lines[5:]], 6),
        (lambda lines: [*lines[:-1], lines[-1][:-4] + b"\n"], -1),
        (lambda lines: [b"\x00" * 40 + b"\n", *lines[1:]], 1),
        (lambda lines: lines[1:], 1),
    ],
)
def test_any_other_damage_is_an_error_that_names_the_line(tmp_path, damage, line):
    path = tmp_path / "journal"
    agent = opened(path)
    work(agent)
    closed(agent)
    lines = lines_of(path)
    path.write_bytes(b"".join(damage(lines)))
    with pytest.raises(ValueError, match=rf"journal, line {line if line > 0 else len(lines)}:"):
        opened(path)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"policy": robai.UCB()}, "policy"),
        ({"arms": ["a", "b", "d"]}, "arms"),
        ({"horizon": 99}, "horizon"),
        ({"reward": "bounded"}, "reward"),
    ],
)
def test_a_journal_of_another_experiment_is_refused(tmp_path, options, field):
    closed(opened(tmp_path / "journal"))
    with pytest.raises(ValueError, match=f"line 1: the journal is about {field}"):
        opened(tmp_path / "journal", **options)


def test_a_record_that_makes_no_sense_is_refused(tmp_path):
    for record in (
        ["select", 2],
        ["select", 99],
        ["update", 0, 7],
        ["update", True, 1],
        ["update", -1, 1],
        ["update_batch", [0, -1], [1, 1]],
        ["explode"],
        {},
        ["update_batch", [0], []],
    ):
        path = tmp_path / "journal"
        agent = opened(path)
        agent.journal.append(record)
        closed(agent)
        with pytest.raises(ValueError, match="line 2:"):
            opened(path)
        path.unlink()


def test_a_name_given_twice_is_refused(tmp_path):
    path = tmp_path / "journal"
    closed(opened(path))
    text = path.read_bytes()[9:-1].replace(b"{", b'{"horizon": 7, ', 1)
    path.write_bytes(b"%08x %b\n" % (zlib.crc32(text), text))
    with pytest.raises(ValueError, match="'horizon' is given twice"):
        opened(path)


def test_a_journal_has_one_owner(tmp_path, monkeypatch):
    agent = opened(tmp_path / "journal")
    with pytest.raises(RuntimeError, match="in use"):
        opened(tmp_path / "journal")
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)  # as in a process forked from this one
        with pytest.raises(RuntimeError, match="forked"):
            agent.update("a", 1)
    closed(agent)
    with pytest.raises(RuntimeError, match="it is closed"):
        agent.select()


def test_a_disk_that_fails_stops_the_agent(tmp_path, monkeypatch):
    agent = opened(tmp_path / "journal")
    agent.update("a", 1)

    def full(file, data):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            agent.update("a", 1)
    assert agent.pulls.tolist() == [1, 0, 0]
    with pytest.raises(RuntimeError, match="make it again from its journal"):
        agent.update("a", 1)
    agent.journal.close()
    assert opened(tmp_path / "journal").pulls.tolist() == [1, 0, 0]


def test_a_journal_that_waits_for_the_disk(tmp_path):
    agent = opened(robai.Journal(tmp_path / "journal", sync=True))
    agent.update(agent.select(), 1)
    assert "sync=True" in repr(agent.journal)
    with agent.journal:
        pass
    assert opened(tmp_path / "journal").pulls.sum() == 1


def test_your_own_policy_comes_back(tmp_path):
    class Alternating:
        def __init__(self):
            self.told = 0

        def select(self, state):
            return int(state.rng.integers(state.n_arms)) if self.told > 5 else self.told % state.n_arms

        def update(self, arm, reward):
            self.told += 1

    def arms(agent, count):
        chosen = []
        for _ in range(count):
            chosen.append(agent.select())
            agent.update(chosen[-1], 1)
        return chosen

    options = {"policy": Alternating(), "arms": 3}
    straight = arms(opened(None, **options), 60)
    agent = opened(tmp_path / "journal", **options)
    first = arms(agent, 30)
    agent.journal.close()
    assert first + arms(opened(tmp_path / "journal", **options), 30) == straight


# ---- kill -9

# Starts a process for every line it reads: a fork, because importing takes longer than the rest.
NURSERY = """
import os, sys
import robai.live

def work(journal, acknowledged):
    agent = robai.Agent(robai.KLEOCPUG(), ["a", "b", "c"], 10**6, reward="bernoulli", rng=3, journal=journal)
    with open(acknowledged, "ab", buffering=0) as file:
        file.write(b"begin %d\\n" % agent.pulls.sum())
        while True:
            arm = agent.select()
            file.write(b"select %b\\n" % arm.encode())
            agent.update(arm, agent.rounds % 3 == 0)
            file.write(b"update %b\\n" % arm.encode())

for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        work(*sys.argv[1:])
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def wait_for_lines(path, count, process, seconds=120.0):
    """Until the file has so many: on a busy machine no time is long enough for a number of them."""
    end = time.monotonic() + seconds
    while count and (not path.exists() or path.read_bytes().count(b"\n") < count):
        assert process.poll() is None
        assert time.monotonic() < end, f"{path} has fewer than {count} lines after {seconds:g} seconds"
        time.sleep(1e-3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_kill_9_at_random_moments_loses_nothing_and_applies_nothing_twice(tmp_path):
    journal, acknowledged = tmp_path / "journal", tmp_path / "acknowledged"
    nursery = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", NURSERY, journal, acknowledged],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    chance = random.Random(1)
    updates = 0
    with nursery:
        for _ in range(50):
            acknowledged.unlink(missing_ok=True)
            print(file=nursery.stdin, flush=True)
            victim = int(nursery.stdout.readline())
            wait_for_lines(acknowledged, chance.randrange(40), nursery)
            time.sleep(chance.random() * 1e-3)
            os.kill(victim, signal.SIGKILL)
            assert int(nursery.stdout.readline()) == -signal.SIGKILL  # it had no other end

            known = acknowledged.read_text().splitlines() if acknowledged.exists() else []
            assert known[:1] in ([], [f"begin {updates}"])  # what it found is what was there
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of a torn last line
                agent = opened(journal)
            seen = sum(line.startswith("update ") for line in known)
            assert 0 <= agent.pulls.sum() - updates - seen <= 1  # one may be done and not acknowledged
            updates = int(agent.pulls.sum())
            before = closed(agent)
        nursery.stdin.close()
    assert updates > 300  # about ten in each of fifty lives

    replayed = opened(None)
    for line in lines_of(journal)[1:]:
        match json.loads(line[9:]):
            case ["select", arm]:
                assert replayed.select() == replayed.labels[arm]
            case ["update", arm, reward]:
                replayed.update(replayed.labels[arm], reward)
    assert replayed.to_json() == before
