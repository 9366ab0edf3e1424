import os
import stat
import sys

import numpy as np
import pytest

from robai._base.files import check_writable, load_arrays, save_arrays, write_atomically

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")


def test_writes_and_overwrites(tmp_path):
    path = tmp_path / "a.bin"
    for data in (b"", b"one", b"two" * 10**5):
        write_atomically(path, data)
        assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["a.bin"]


def test_accepts_a_string_and_a_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_atomically("plain", b"x")
    assert (tmp_path / "plain").read_bytes() == b"x"


@pytest.mark.parametrize("call", ["replace", "fsync", "chmod"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_content_and_no_other_file(tmp_path, monkeypatch, call, error):
    path = tmp_path / "a.bin"
    write_atomically(path, b"old")

    def fail(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(type(error)):
            write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_data_reaches_the_disk_before_the_rename(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, name=name, real=real: (calls.append(name), real(*a))[1])
    write_atomically(tmp_path / "a.bin", b"x")
    assert calls[:2] == ["fsync", "replace"]


def test_a_directory_that_cannot_be_synced_is_no_failure(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError("directories cannot be opened here")

    monkeypatch.setattr(os, "open", refuse)
    write_atomically(tmp_path / "a.bin", b"x")
    assert (tmp_path / "a.bin").read_bytes() == b"x"


def test_missing_directory_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_atomically(tmp_path / "nowhere" / "a.bin", b"x")


def test_a_directory_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match=r"cannot write a file where a directory is: .*folder"):
        write_atomically(tmp_path / "folder", b"x")
    assert os.listdir(tmp_path) == ["folder"]


@POSIX
@pytest.mark.parametrize("call", [check_writable, lambda path: write_atomically(path, b"x")])
def test_only_regular_files_are_replaced(tmp_path, call):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "loop", "link"):
        with pytest.raises(FileExistsError, match="cannot replace what is not a regular file"):
            call(tmp_path / name)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["link", "loop", "pipe"]


@pytest.mark.skipif(sys.platform != "linux", reason="a directory that nobody can write into")
def test_a_check_tries_to_write():
    with pytest.raises(OSError, match="/proc"):
        check_writable("/proc/a.bin")


def test_a_check_changes_nothing(tmp_path):
    check_writable(tmp_path / "new")
    assert os.listdir(tmp_path) == []
    write_atomically(tmp_path / "old", b"old")
    check_writable(tmp_path / "old")
    assert (tmp_path / "old").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["old"]


@POSIX
def test_permissions_follow_the_umask_and_are_kept(tmp_path):
    path = tmp_path / "a.bin"
    before = os.umask(0o027)
    try:
        write_atomically(path, b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    write_atomically(path, b"y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@POSIX
def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_long_names(tmp_path):
    path = tmp_path / ("é" * 120)
    write_atomically(path, b"x")
    assert path.read_bytes() == b"x"


def test_arrays_come_back(tmp_path):
    path = tmp_path / "arrays"
    save_arrays(path, {"who": "µ", "n": 2**100}, {"a": np.arange(3), "0.b": np.eye(2)})
    header, arrays = load_arrays(path)
    assert header == {"who": "µ", "n": 2**100}
    assert set(arrays) == {"a", "0.b"}
    assert np.array_equal(arrays["0.b"], np.eye(2))
    assert os.listdir(tmp_path) == ["arrays"]


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        save_arrays(tmp_path / name, {"x": 1}, {"a": np.arange(3)})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


class Bomb:
    def __reduce__(self):
        return (print, ("a pickle was executed",))


@pytest.mark.parametrize("member", ["header", "a"])
def test_pickled_objects_are_refused(tmp_path, capsys, member):
    path = tmp_path / "x.npz"
    arrays = {"header": np.array("{}"), "a": np.arange(2)}
    arrays[member] = np.array([Bomb()], dtype=object)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=r"x\.npz is damaged or was not written by robai"):
        load_arrays(path)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("content", [b"", b"\x80\x04.", b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"text"])
def test_foreign_files_are_refused(tmp_path, content):
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.npz is damaged or was not written by robai"):
        load_arrays(path)


@pytest.mark.parametrize("header", ["[]", "{", "1"])
def test_a_header_must_be_an_object(tmp_path, header):
    np.savez(tmp_path / "x.npz", header=np.array(header))
    with pytest.raises(ValueError, match=r"x\.npz is damaged"):
        load_arrays(tmp_path / "x.npz")


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        load_arrays(tmp_path / "absent")
