"""Results in files: what is written is what is read, and nothing else is."""

import io
import itertools
import json
import math
import os
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_result import CURVES, make

from robai._base.files import load_arrays, save_arrays
from robai.result import Result


@pytest.mark.parametrize("curves", [None, CURVES])
def test_saves_and_loads(tmp_path, curves):
    result = make(curves=curves)
    result.save(tmp_path / "r.anything")
    loaded = Result.load(tmp_path / "r.anything")
    assert loaded == result
    assert loaded.meta == result.meta
    assert (loaded.curves is None) == (curves is None)
    assert not loaded.regret.flags.writeable


@given(data=st.data())
@settings(deadline=None, max_examples=50)
def test_any_result_survives_saving(tmp_path_factory, data):
    runs = data.draw(st.integers(1, 5))
    arms = data.draw(st.integers(2, 4))
    times = sorted(data.draw(st.sets(st.integers(1, 10**18), min_size=1, max_size=5)))
    some = lambda n, largest: data.draw(  # noqa: E731
        st.lists(st.floats(0, largest), min_size=n, max_size=n)
    )
    gaps = [0.0, *some(arms - 1, 1e280)]
    pulls = np.zeros((runs, arms), dtype=np.int64)
    for run in pulls:
        run[data.draw(st.integers(0, arms - 1))] += (half := data.draw(st.integers(0, times[-1])))
        run[data.draw(st.integers(0, arms - 1))] += times[-1] - half
    commits = [
        data.draw(
            st.just((-1, -1)) | st.tuples(st.integers(1, times[-1]), st.sampled_from(np.flatnonzero(run)))
        )
        for run in pulls
    ]
    final_regret = [sum(gap * float(n) for gap, n in zip(gaps, run, strict=True)) for run in pulls]
    result = Result(
        times=times,
        regret=[*some(len(times) - 1, 1e300), math.fsum(final_regret) / runs],
        regret_sem=some(len(times), 1e300) if runs > 1 else [np.nan] * len(times),
        final_regret=final_regret,
        commit_time=[time for time, _ in commits],
        committed_arm=[arm for _, arm in commits],
        pulls=pulls,
        gaps=gaps,
        label=data.draw(st.text(min_size=1).filter(lambda text: text.isprintable())),
        meta={"x": data.draw(st.integers() | st.text() | st.none())},
    )
    path = tmp_path_factory.mktemp("any") / "r.npz"
    result.save(path)
    assert Result.load(path) == result
    assert result.summary()


def test_every_truncation_is_an_error(tmp_path):
    path = tmp_path / "r.npz"
    make().save(path)
    data = path.read_bytes()
    for size in range(0, len(data), 7):
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match=r"r\.npz is damaged"):
            Result.load(path)


def test_a_flipped_byte_is_an_error_or_harmless(tmp_path):
    path = tmp_path / "r.npz"
    result = make()
    result.save(path)
    data = path.read_bytes()
    refused = 0
    for position in range(len(data)):
        for mask in (0x01, 0xFF):
            path.write_bytes(data[:position] + bytes([data[position] ^ mask]) + data[position + 1 :])
            try:  # bytes that mean nothing, such as a time stamp, may change
                loaded = Result.load(path)
            except ValueError as error:
                assert "r.npz" in str(error)  # noqa: PT017
                refused += 1
            else:
                assert loaded == result
                assert loaded.meta == result.meta
    assert refused > len(data)


def rewrite(path, *, header=None, **arrays):
    """Save a file again with parts of it changed; None removes an array."""
    with np.load(path) as archive:
        content = dict(archive)
    content["header"] = np.array(json.dumps(json.loads(str(content["header"])) | (header or {})))
    content = {name: array for name, array in (content | arrays).items() if array is not None}
    np.savez(path, **content)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"header": {"format": "other"}}, "format must be 'robai.Result', got 'other'"),
        ({"header": {"schema": 2}}, "schema must be 1, got 2: another version of robai wrote it"),
        ({"header": {"results": []}}, "results must describe every array"),
        ({"header": {"results": 1}}, "not iterable"),
        ({"header": {"results": [{"label": "x"}]}}, "the header has no 'meta'"),
        ({"header": {"results": [{"label": 3, "meta": {}}]}}, "label must be a non-empty string, got 3"),
        ({"regret": None}, "regret"),
        ({"extra": np.arange(3)}, "extra"),
        ({"times": np.array([10.0, 100.0, 1000.0])}, "times must be an array of int64, got float64"),
        ({"regret": np.array([1.0, 2.0])}, "regret must have shape"),
        ({"pulls": np.ones((4, 2), int)}, "pulls must be at least 0 and sum to the horizon"),
        ({"gaps": np.array([0.0, np.inf])}, "gaps must be finite"),
    ],
)
def test_a_file_with_wrong_content_is_an_error(tmp_path, changes, error):
    path = tmp_path / "r.npz"
    make().save(path)
    rewrite(path, **changes)
    with pytest.raises(ValueError, match=error) as caught:
        Result.load(path)
    assert "r.npz" in str(caught.value)


# ---- interruptions


def interrupted_at(number):
    """A trace function that interrupts at the n-th line of Python from now on."""
    left = number

    def trace(frame, event, argument):
        nonlocal left
        left -= event == "line"
        if left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    return trace


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of half-made ZipFiles
def test_an_interruption_of_saving_is_just_that(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)  # which would take most of the time
    path = tmp_path / "x.npz"
    save_arrays(path, {}, {"a": np.arange(3)})
    before = sys.gettrace()
    for number in itertools.count(1):
        try:
            sys.settrace(interrupted_at(number))
            save_arrays(path, {}, {"a": np.arange(3)})
        except KeyboardInterrupt:
            sys.settrace(before)
            assert os.listdir(tmp_path) == ["x.npz"]
            assert load_arrays(path)[1]["a"].tolist() == [0, 1, 2]
        else:
            break
        finally:
            sys.settrace(before)
    assert number > 300


# ---- files that would take more memory than they are worth


def npy(shape, dtype, size=None):
    """The bytes of an array of zeros, which may have another size than it declares."""
    file = io.BytesIO()
    description = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, description)
    return file.getvalue() + bytes(math.prod(shape) * np.dtype(dtype).itemsize if size is None else size)


def exchange(path, **members):
    """Write a file again with members in place of others, or beside them."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content |= {f"{name}.npy": data for name, data in members.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)


HUGE = 2**22  # entries, 32 MB


@pytest.mark.parametrize(
    ("members", "error"),
    [
        ({"extra": ((HUGE,), "f8")}, "results must describe every array, got 1 and, besides, .*extra"),
        ({"0.pulls": ((HUGE,), "f8")}, "besides"),
        ({"pulls": ((HUGE, 2), "i8")}, "pulls must have shape"),
        ({"pulls": ((4, HUGE), "i8")}, "pulls must have shape"),
        ({"regret": ((HUGE,), "f8")}, "regret must have shape"),
        ({"curves": ((4, HUGE), "f8")}, "curves must have shape"),
        ({"times": ((HUGE,), "i8")}, "regret must have shape"),
        ({"times": ((HUGE,), "f8")}, "times must be an array of int64"),
        ({"times": ((3,), f"S{HUGE}")}, "times must be an array of int64"),
        ({"pulls": ((4, 2), "i8", HUGE)}, "does not have the size that it declares"),
        ({"pulls": ((4, HUGE), "i8", 64)}, "does not have the size that it declares"),
        ({"header": ((), f"U{2**25}")}, "header"),
        ({"header": ((HUGE,), "U1")}, "header"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_small_file_takes_little_memory_before_it_is_refused(tmp_path, members, error):
    path = tmp_path / "r.npz"
    make().save(path)
    exchange(path, **{name: npy(*declared) for name, declared in members.items()})
    size = path.stat().st_size
    assert size < 10**6
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=error) as caught:
            Result.load(path)
        assert tracemalloc.get_traced_memory()[1] < 2 * 10**6
    finally:
        tracemalloc.stop()
    assert "r.npz" in str(caught.value)


def test_a_member_that_claims_to_be_larger_than_it_can_be_is_refused(tmp_path):
    path = tmp_path / "r.npz"
    make().save(path)
    runs = 2**27  # a gigabyte and more in each, out of a hundred bytes
    lying = {"final_regret": (runs,), "commit_time": (runs,), "committed_arm": (runs,), "pulls": (runs, 2)}
    members = {name: npy(shape, "f8" if name == "final_regret" else "i8", 0) for name, shape in lying.items()}
    exchange(path, **members)
    data = path.read_bytes()
    for name, shape in lying.items():  # the size in the directory of the archive, made to fit
        honest, claimed = len(members[name]), len(members[name]) + 8 * math.prod(shape)
        entry = data.rindex(f"{name}.npy".encode()) - 46
        assert data[entry + 24 : entry + 28] == honest.to_bytes(4, "little")
        data = data[: entry + 24] + claimed.to_bytes(4, "little") + data[entry + 28 :]
    path.write_bytes(data)
    with pytest.raises(ValueError, match="does not have the size that it declares"):
        Result.load(path)


def test_two_members_of_one_name_are_refused(tmp_path):
    path = tmp_path / "r.npz"
    make().save(path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("times.npy", npy((3,), "i8"))
    with pytest.raises(ValueError, match="two members have the same name"):
        Result.load(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_compressed_without_bounds_are_refused(tmp_path, method):
    path = tmp_path / "r.npz"
    make().save(path)
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    with pytest.raises(ValueError, match="compressed in another way"):
        Result.load(path)


def test_a_name_that_is_given_twice_is_refused(tmp_path):
    path = tmp_path / "r.npz"
    make().save(path)
    with np.load(path) as archive:
        content = dict(archive)
    header = str(content["header"])
    content["header"] = np.array(header.replace('{"format"', '{"schema": 1, "format"', 1))
    np.savez(path, **content)
    with pytest.raises(ValueError, match="'schema' is given twice"):
        Result.load(path)
    with pytest.raises(ValueError, match=r"meta must hold JSON values only: .*'1' is given twice"):
        make(meta={1: "a", "1": "b"})


def test_checksums_are_compared_where_nothing_is_compressed(tmp_path):
    path = tmp_path / "r.npz"
    make(curves=CURVES).save(path)
    with np.load(path) as archive:
        np.savez(path, **archive)
    Result.load(path)
    data = path.read_bytes()
    value = data.index(np.float64(0.1).tobytes())  # a standard error: no arithmetic would notice
    path.write_bytes(data[:value] + np.float64(0.2).tobytes() + data[value + 8 :])
    with pytest.raises(ValueError, match=r"r\.npz is damaged"):
        Result.load(path)


def test_a_description_too_long_to_be_read_again_is_not_written(tmp_path):
    with pytest.raises(ValueError, match=r"must have at most 16,777,216 characters, got"):
        make(meta={"text": "x" * 2**24}).save(tmp_path / "r.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_stays_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        Result.load(tmp_path / "absent.npz")
