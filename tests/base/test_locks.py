"""Locks on files, and the ways of Windows, which are played to it by a module that has its rules."""

import os
import sys
import types

import pytest

import robai
from robai._base import directory, files, locks


@pytest.fixture(params=["here", "windows"])
def system(request, monkeypatch):
    """This system, and Windows: a lock is on bytes from the position on, and what is in the way is EACCES.

    So is that nothing is locked, where something is to be unlocked.
    """
    if request.param == "windows":
        fcntl, locked, held = pytest.importorskip("fcntl"), [], set()  # else this is Windows

        def locking(descriptor, mode, count):
            assert count == 1
            locked.append(os.lseek(descriptor, 0, os.SEEK_CUR))
            if mode == module.LK_UNLCK:
                if descriptor not in held:
                    raise PermissionError(13, "Permission denied")
                held.remove(descriptor)
                return fcntl.flock(descriptor, fcntl.LOCK_UN)
            assert mode == module.LK_NBLCK
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise PermissionError(13, "Permission denied") from error
            held.add(descriptor)

        module = types.SimpleNamespace(locking=locking, LK_UNLCK=0, LK_NBLCK=2, locked=locked)
        monkeypatch.setattr(locks, "msvcrt", module, raising=False)
        monkeypatch.setattr(sys, "platform", "win32")
        yield module
        assert locked
    else:
        yield None


def test_a_locked_file_is_refused_until_it_is_closed(tmp_path, system):
    with open(tmp_path / "file", "wb+") as first, open(tmp_path / "file", "rb+") as second:
        first.write(b"12345")
        first.flush()
        locks.lock(first.fileno())
        assert first.tell() == 5  # the position is where it was
        with pytest.raises(BlockingIOError):
            locks.lock(second.fileno())
        first.close()
        locks.lock(second.fileno())


def test_a_store_takes_turns_by_a_byte_that_no_file_has(tmp_path, system):
    """Windows would let nobody read one that is there."""
    path = tmp_path / "live.db"
    with robai.Store(path) as one, robai.Store(path, timeout=0.01) as other:
        agent = one.create("arms", robai.UCB(), 2, 100, reward="bernoulli", rng=0)
        twin = other.open("arms")
        for _ in range(5):
            assert agent.answer(agent.ticket(), 1) == twin.answer(twin.ticket(), 0) == "counted"
        with open(f"{path}-lock", "rb+") as held:
            locks.lock(held.fileno())
            with pytest.raises(TimeoutError, match="has held the lock"):
                twin.ticket()
            with pytest.raises(TimeoutError, match="has held the lock"):
                robai.Store(path, timeout=0.01)
        agent.refresh()
        assert twin.rounds == agent.rounds == 10
        if system is not None:
            assert min(system.locked) > 10**12


def report(path, text):
    with directory.replacing(path) as new:
        (new / "page").write_text(text)
        (new / directory.MANIFEST).write_text('{"files": ["page"]}')


def test_a_directory_is_replaced_and_leftovers_are_removed(tmp_path, system):
    path = tmp_path / "report"
    leftover = tmp_path / ".report.0123456789abcdef.robai"
    (leftover / "new").mkdir(parents=True)
    (leftover / "lock").write_bytes(b"robai is writing report\n")
    report(path, "one")
    assert not leftover.exists()
    report(path, "two")
    assert (path / "page").read_text() == "two"
    assert os.listdir(tmp_path) == ["report"]


def test_a_directory_that_another_process_works_at_is_left_alone(tmp_path, system):
    path = tmp_path / "report"
    with directory.replacing(path) as new:
        (new / "page").write_text("slow")
        report(path, "quick")
        assert new.exists()
        (path / "page").unlink()
        (path / directory.MANIFEST).unlink()
    assert (path / "page").read_text() == "slow"


# ---- a file that is open cannot be replaced on Windows


@pytest.mark.parametrize(("platform", "readers", "replaced"), [("win32", 3, True), ("linux", 3, False)])
def test_those_who_read_a_file_are_waited_for_on_windows(tmp_path, monkeypatch, platform, readers, replaced):
    path, left, replace = tmp_path / "file", iter(range(readers)), os.replace
    path.write_bytes(b"old")

    def refusing(file, target):
        if next(left, None) is not None:
            raise PermissionError(13, "Access is denied")
        replace(file, target)

    monkeypatch.setattr(os, "replace", refusing)
    monkeypatch.setattr(sys, "platform", platform)
    if replaced:
        files.write_atomically(path, b"new")
    else:
        with pytest.raises(PermissionError):
            files.write_atomically(path, b"new")
    assert path.read_bytes() == (b"new" if replaced else b"old")
    assert os.listdir(tmp_path) == ["file"]


def test_nobody_is_waited_for_for_ever(tmp_path, monkeypatch):
    def refusing(file, target):
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(os, "replace", refusing)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(files, "_PATIENCE", 0.01)
    with pytest.raises(PermissionError):
        files.write_atomically(tmp_path / "file", b"new")
    assert os.listdir(tmp_path) == []
