"""A directory that is replaced as a whole: what it replaces, what it never touches, what kills leave."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from robai._base import directory
from robai._base.directory import check_replaceable, replacing

FILES = ("a", "b", "folder/c")


def fill(directory, text):
    (directory / "folder").mkdir()
    for name in FILES:
        (directory / name).write_text(text)
    (directory / "report.json").write_text(json.dumps({"files": FILES}))


def content(directory):
    """The text that all files agree on; the directory must be whole."""
    assert {each.relative_to(directory).as_posix() for each in directory.rglob("*")} == {
        "folder",
        "report.json",
        *FILES,
    }
    (text,) = {(directory / name).read_text() for name in FILES}
    return text


def write(target, text):
    with replacing(target) as fresh:
        fill(fresh, text)


@pytest.fixture(params=["at once", "by two renames"])
def exchange(request, monkeypatch):
    if request.param == "by two renames":
        monkeypatch.setattr("ctypes.CDLL", lambda *_: object())  # a C library without renameat2
    return request.param


def test_it_is_replaced_as_a_whole(tmp_path, exchange):
    target = tmp_path / "results"
    for text in ("first", "second"):
        write(target, text)
        assert content(target) == text
        assert os.listdir(tmp_path) == ["results"]


def test_nothing_of_others_is_touched_or_in_the_way(tmp_path, exchange):
    """Neither what is called like work of ours, nor what looks like it but has anything else in it."""
    theirs = [
        ".results.old/thesis",
        ".results.new",
        ".results.0123456789abcdef.robai/thesis",
        ".results.0123456789abcdef.robai/lock",
        ".results.00000000000000aa.robai/lock",
        ".results.00000000000000aa.robai/new/thesis",
        ".results.00000000000000bb.robai",
        ".results.mine.robai/lock",
    ]
    for name in theirs:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("years of work")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / ".results.00000000000000cc.robai").symlink_to(elsewhere)
    before = set(tmp_path.rglob("*"))
    for text in ("first", "second"):
        write(tmp_path / "results", text)
    after = {each for each in tmp_path.rglob("*") if tmp_path / "results" not in (each, *each.parents)}
    assert after == before
    assert {(tmp_path / name).read_text() for name in theirs} == {"years of work"}
    assert content(tmp_path / "results") == "second"


def test_what_is_not_a_report_is_not_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years")
    with pytest.raises(FileExistsError, match=r"not of a report, such as thesis\.tex"):
        check_replaceable(tmp_path)
    with pytest.raises(NotADirectoryError, match="is a file"):
        check_replaceable(tmp_path / "thesis.tex")
    with pytest.raises(FileNotFoundError, match="not a directory to write into"):
        check_replaceable(tmp_path / "missing" / "report")
    with pytest.raises(FileNotFoundError, match="not a directory to write into"):
        check_replaceable(tmp_path / "thesis.tex" / "report")
    (tmp_path / "report.json").write_text("not JSON")
    with pytest.raises(FileExistsError):
        check_replaceable(tmp_path)


def test_a_link_to_a_directory_counts_as_a_file(tmp_path):
    write(tmp_path / "results", "old")
    (tmp_path / "data").mkdir()
    (tmp_path / "results" / "link").symlink_to(tmp_path / "data")
    with pytest.raises(FileExistsError, match="such as link"):
        write(tmp_path / "results", "new")
    assert (tmp_path / "results" / "link").is_symlink()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_that_nothing_can_be_made_there_is_known_before_any_work():
    with pytest.raises(OSError, match="/proc"), replacing("/proc/results"):
        pytest.fail("work began")


def test_a_mount_point_is_known_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("os.path.ismount", lambda _: True)
    (tmp_path / "results").mkdir()
    with pytest.raises(OSError, match="is a mount point"), replacing(tmp_path / "results"):
        pytest.fail("work began")
    assert os.listdir(tmp_path) == ["results"]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path, exchange):
    write(tmp_path / "results", "old")
    with pytest.raises(FileExistsError, match="such as thesis"), replacing(tmp_path / "results"):
        (tmp_path / "results" / "thesis").write_text("years")
    assert (tmp_path / "results" / "thesis").read_text() == "years"
    assert (tmp_path / "results" / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["results"]


def test_a_file_that_appears_at_the_last_moment_is_kept(tmp_path, monkeypatch):
    exchanges, exchange = [], directory._exchange

    def late(one, other):
        if not exchanges:
            (tmp_path / "results" / "thesis").write_text("years")
        exchanges.append(exchange(one, other))
        return exchanges[-1]

    monkeypatch.setattr(directory, "_exchange", late)
    write(tmp_path / "results", "old")
    with contextlib.suppress(FileExistsError), replacing(tmp_path / "results") as work:
        (work / "a").write_text("new")
    if not all(exchanges):
        pytest.skip("this file system cannot exchange directories")
    assert len(exchanges) == 2  # there and back
    assert (tmp_path / "results" / "thesis").read_text() == "years"
    assert (tmp_path / "results" / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["results"]


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_directory(tmp_path, exchange, error):
    target = tmp_path / "results"
    write(target, "old")

    def fail():
        with replacing(target) as fresh:
            (fresh / "a").write_text("new")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert content(target) == "old"
    assert os.listdir(tmp_path) == ["results"]


@pytest.mark.parametrize("error", [OSError("no"), KeyboardInterrupt()])
@pytest.mark.parametrize("which", [1, 2])
def test_a_failure_between_the_renames_leaves_the_old_directory(tmp_path, monkeypatch, error, which):
    monkeypatch.setattr("ctypes.CDLL", lambda *_: object())
    target = tmp_path / "results"
    write(target, "old")
    rename, calls = os.rename, []

    def fail(*paths):
        calls.append(paths)
        if len(calls) == which:
            raise error
        rename(*paths)

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(type(error)):
        write(target, "new")
    assert len(calls) >= which
    assert content(target) == "old"
    assert os.listdir(tmp_path) == ["results"]


CHILD = """
import ctypes, os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_directory import fill, replacing
"""


def child(script, *arguments):
    """A process of its own that runs the script; as `import` here would, but without pytest."""
    command = [sys.executable, "-c", CHILD.format(tests=str(Path(__file__).parent)) + script, *arguments]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


AT_WORK = """
with replacing(sys.argv[1]) as fresh:
    fill(fresh, "slow")
    print("ready", flush=True)
    sys.stdin.readline()
"""


def test_the_work_of_a_process_that_is_still_at_it_is_left_alone(tmp_path):
    target = tmp_path / "results"
    with child(AT_WORK, str(target)) as slow:
        assert slow.stdout.readline() == "ready\n"
        write(target, "quick")
        assert content(target) == "quick"
        assert len(os.listdir(tmp_path)) == 2
        slow.communicate("\n")
    assert slow.returncode == 0
    assert content(target) == "slow"
    assert os.listdir(tmp_path) == ["results"]


def test_work_of_a_killed_process_is_removed(tmp_path):
    target = tmp_path / "results"
    write(target, "old")
    with child(AT_WORK, str(target)) as slow:
        slow.stdout.readline()
        slow.kill()
    assert content(target) == "old"
    assert len(os.listdir(tmp_path)) == 2
    write(target, "new")
    assert content(target) == "new"
    assert os.listdir(tmp_path) == ["results"]


def test_the_leftovers_of_a_name_that_begins_alike_are_its_own(tmp_path):
    """The names of temporary directories have but the beginning of a long name."""
    with child(AT_WORK, str(tmp_path / ("x" * 50))) as slow:
        slow.stdout.readline()
        slow.kill()
    (left,) = os.listdir(tmp_path)
    write(tmp_path / ("x" * 60), "another")
    assert left in os.listdir(tmp_path)
    write(tmp_path / ("x" * 50), "new")
    assert set(os.listdir(tmp_path)) == {"x" * 50, "x" * 60}


KILLS = """
import shutil, signal
from test_directory import content, write

if sys.argv[2] == "by two renames":
    ctypes.CDLL = lambda *_: object()
os.fsync = lambda _: None  # against the loss of power, which is not tried here
from robai._base import directory, files
traced = {directory.__file__, files.__file__, shutil.__file__}

def killed_at(line, target):
    process = os.fork()
    if process == 0:
        seen = 0
        def trace(frame, event, argument):
            nonlocal seen
            seen += event == "line"
            if seen > line:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace
        sys.settrace(lambda frame, *rest: trace(frame, *rest) if frame.f_code.co_filename in traced else None)
        write(target, "new")
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(process, 0)[1])

line, left, missing = 0, set(), 0
while True:
    place = Path(sys.argv[1]) / str(line)
    place.mkdir()
    target = place / "results"
    write(target, "old")
    if not killed_at(line, target):
        break
    left.add(len(os.listdir(place)))
    missing += not target.exists()
    assert not target.exists() or content(target) in ("old", "new")
    try:
        with replacing(target):
            assert content(target) in ("old", "new"), "what was there was not put back"
            1 / 0
    except ZeroDivisionError:
        pass
    assert os.listdir(place) == ["results"], os.listdir(place)
    write(target, "next")
    assert content(target) == "next"
    assert os.listdir(place) == ["results"]
    line += 1
print(line, missing, max(left))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")
@pytest.mark.parametrize("exchange", ["at once", "by two renames"])
def test_a_kill_at_any_line_leaves_one_report_and_the_next_run_no_garbage(tmp_path, exchange):
    with child(KILLS, str(tmp_path), exchange) as process:
        lines, missing, left = map(int, process.communicate()[0].split())
    assert process.returncode == 0
    assert lines > 100
    assert left == 2  # so that there was something to clean up
    if exchange == "by two renames":
        assert 0 < missing < lines / 10
    elif sys.platform == "linux":
        assert missing == 0
