"""A simulation that was interrupted goes on from its checkpoint, to exactly the same numbers."""

import json
import os
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import robai
from robai._base.files import load_arrays, save_arrays
from robai._play import batches as playing
from robai._play.checkpoint import BATCH

BANDIT = robai.Bernoulli([0.7, 0.2, 0.5])
VALID = {"policy": robai.EOCPUG(), "bandit": BANDIT, "horizon": 400, "runs": 200, "rng": 3, "times": 10}
BATCHES = -(-VALID["runs"] // BATCH)


def run(checkpoint=None, **changes):
    return robai.simulate(**VALID | changes, checkpoint=checkpoint)


def batches(path):
    return sorted(path.glob("runs-*.npz"))


@pytest.fixture
def spans(monkeypatch):
    """The batches that are played, as (first, last)."""
    played, play = [], playing.play

    def spy(job, first, last, *stop):
        played.append((first, last))
        return play(job, first, last, *stop)

    monkeypatch.setattr(playing, "play", spy)
    return played


def interrupted_after(count):
    """A progress function that interrupts when `count` batches are done."""

    def progress(done, total):
        if done >= count * BATCH:
            raise KeyboardInterrupt

    return progress


def test_a_checkpoint_does_not_change_the_numbers(tmp_path):
    assert run(tmp_path) == run()
    assert len(batches(tmp_path)) == BATCHES


@pytest.mark.parametrize("count", range(1, BATCHES))
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_simulation_goes_on_where_it_was(tmp_path, spans, count, workers):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, progress=interrupted_after(count), workers=workers)
    kept = {file.name for file in batches(tmp_path)}
    assert len(kept) == count
    spans.clear()
    resumed = run(tmp_path, curves=True)
    assert len(spans) == BATCHES - count
    assert kept.isdisjoint(f"runs-{first}-{last}.npz" for first, last in spans)
    assert resumed == run(curves=True)


def test_a_finished_simulation_is_read_and_not_played(tmp_path, spans):
    expected = run(tmp_path)
    assert len(spans) == BATCHES
    spans.clear()
    calls = []
    assert run(tmp_path, progress=lambda *done: calls.append(done)) == expected
    assert spans == []
    assert calls[-1] == (200, 200)


def test_more_runs_use_the_batches_of_fewer(tmp_path, spans):
    run(tmp_path, runs=2 * BATCH + 5)
    spans.clear()
    longer = run(tmp_path, runs=4 * BATCH)
    assert sorted(spans) == [(2 * BATCH, 3 * BATCH), (3 * BATCH, 4 * BATCH)]
    assert longer == run(runs=4 * BATCH)


def test_fewer_runs_use_the_batches_of_more(tmp_path, spans):
    run(tmp_path, runs=4 * BATCH)
    spans.clear()
    result = run(tmp_path, runs=2 * BATCH)
    assert spans == []
    assert result == run(runs=2 * BATCH)


def test_curves_can_be_asked_for_later(tmp_path, spans):
    run(tmp_path)
    spans.clear()
    result = run(tmp_path, curves=True)
    assert spans == []
    assert result == run(curves=True)


def test_a_directory_is_made_with_its_parents(tmp_path):
    run(str(tmp_path / "a" / "b"))
    assert len(batches(tmp_path / "a" / "b")) == BATCHES


def test_a_file_is_not_a_checkpoint(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(ValueError, match=r"checkpoint must be a directory, got .*file"):
        run(file)
    assert file.read_text() == "mine"


# ---- damage


def cut(data):
    return data[: len(data) // 2]


def flip(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize(
    "damage", [cut, flip, lambda data: b"", lambda data: b"nonsense"], ids=["cut", "flip", "empty", "foreign"]
)
def test_a_damaged_batch_is_played_again(tmp_path, spans, damage):
    expected = run(tmp_path)
    file = tmp_path / f"runs-{BATCH}-{2 * BATCH}.npz"
    whole = load_arrays(file)[1]
    file.write_bytes(damage(file.read_bytes()))
    spans.clear()
    assert run(tmp_path) == expected
    assert spans == [(BATCH, 2 * BATCH)]
    repaired = load_arrays(file)[1]
    assert all((repaired[name] == whole[name]).all() for name in whole)


@pytest.mark.parametrize("change", ["name", "shape", "dtype", "header", "span", "robai", "numpy", "numbers"])
def test_a_batch_that_does_not_fit_is_played_again(tmp_path, spans, change):
    expected = run(tmp_path)
    file = tmp_path / f"runs-{BATCH}-{2 * BATCH}.npz"
    header, arrays = load_arrays(file)
    match change:
        case "name":
            arrays["pushes"] = arrays.pop("pulls")
        case "shape":
            arrays = {name: array[:-1] for name, array in arrays.items()}
        case "dtype":
            arrays["regret"] = arrays["regret"].astype(np.float32)
        case "header":
            header["entropy"] = ["4"]
        case "robai" | "numpy":
            header[change] = "0.0.1"  # whose draws may have been others
        case "numbers":
            arrays["pulls"] = arrays["pulls"][:, ::-1]
        case "span":
            header, arrays = load_arrays(tmp_path / f"runs-0-{BATCH}.npz")
    save_arrays(file, header, arrays)
    spans.clear()
    assert run(tmp_path) == expected
    assert spans == [(BATCH, 2 * BATCH)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        '{"format": "robai.checkpoint", "schema": 3}',
        '{"format": "robai.checkpoint", "format": "robai.checkpoint"}',
    ],
)
def test_a_damaged_manifest_is_an_error_that_names_it(tmp_path, text):
    run(tmp_path)
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match=r"manifest\.json is damaged"):
        run(tmp_path)


# ---- whose batches these are


GAUSSIAN = {"bandit": robai.Gaussian([0.7, 0.2, 0.5])}
DATA = {"bandit": robai.Empirical([[0, 1, 1], [0, 0]])}


@pytest.mark.parametrize(
    ("first", "changes"),
    [
        ({}, {"policy": robai.UCB()}),
        ({}, {"policy": robai.EOCPUG(inflation=0.5)}),
        ({}, {"bandit": robai.Bernoulli([0.7, 0.2, 0.4])}),
        (GAUSSIAN, {"bandit": robai.Gaussian([0.7, 0.2, 0.5], sigma=0.5)}),
        (DATA, {"bandit": robai.Empirical([[0, 1, 1], [0, 1]])}),
        ({"times": [5, 400]}, {"times": [6, 400]}),
        ({}, {"rng": 4}),
        ({"rng": np.random.SeedSequence(3).spawn(2)[0]}, {"rng": np.random.SeedSequence(3).spawn(2)[1]}),
        (GAUSSIAN | {"horizon": 5000, "engine": "step"}, {"engine": "leap"}),
    ],
    ids=lambda changes: repr(changes)[:40],
)
def test_a_batch_says_itself_whose_it_is(tmp_path, spans, first, changes):
    run(tmp_path, **first)
    (tmp_path / "manifest.json").unlink()
    spans.clear()
    other = run(tmp_path, **first | changes)
    assert len(spans) == BATCHES
    assert other == run(**first | changes)
    assert other != run(**first)


def test_without_its_manifest_a_simulation_finds_its_batches(tmp_path, spans):
    expected = run(tmp_path)
    (tmp_path / "manifest.json").unlink()
    spans.clear()
    assert run(tmp_path) == expected
    assert spans == []


@pytest.mark.parametrize("name", ["robai", "numpy"])
def test_another_version_is_refused(tmp_path, name):
    run(tmp_path)
    manifest = tmp_path / "manifest.json"
    content = json.loads(manifest.read_text())
    assert content[name] == run().meta[name]
    manifest.write_text(json.dumps(content | {name: "0.0.1"}))
    with pytest.raises(ValueError, match=f"is of another simulation: its {name} is '0.0.1', not "):
        run(tmp_path)


def test_of_several_that_begin_at_once_one_is_accepted(tmp_path):
    contestants = 4
    for attempt in range(10):
        directory, barrier = tmp_path / str(attempt), threading.Barrier(contestants)

        def contest(seed, directory=directory, barrier=barrier):
            barrier.wait()
            return run(directory, rng=seed, runs=20, workers=1)

        with ThreadPoolExecutor(contestants) as pool:
            futures = [pool.submit(contest, seed) for seed in range(contestants)]
        errors = [future.exception() for future in futures]
        accepted = [seed for seed, error in enumerate(errors) if error is None]
        assert len(accepted) == 1
        assert all("its entropy is" in str(error) for error in errors if error is not None)
        assert futures[accepted[0]].result() == run(rng=accepted[0], runs=20)
        assert list(directory.glob(".*")) == []


def test_several_without_a_seed_that_begin_at_once_take_the_same(tmp_path):
    barrier = threading.Barrier(3)

    def contest(_):
        barrier.wait()
        return run(tmp_path, rng=None, runs=20, workers=1)

    with ThreadPoolExecutor(3) as pool:
        first, *others = pool.map(contest, range(3))
    assert all(other == first for other in others)


def test_a_file_system_without_links_will_do(tmp_path, monkeypatch, spans):
    def refuse(*_):
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    expected = run(tmp_path)
    spans.clear()
    assert run(tmp_path) == expected
    assert spans == []
    with pytest.raises(ValueError, match="its policy is"):
        run(tmp_path, policy=robai.UCB())
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"policy": robai.EOCPUG(inflation=0.5)}, "policy"),
        ({"bandit": robai.Bernoulli([0.7, 0.2, 0.4])}, "bandit"),
        ({"horizon": 401}, "horizon"),
        ({"times": 11}, "times"),
        ({"rng": 4}, "entropy"),
        ({"rng": np.random.SeedSequence(3, spawn_key=(1,))}, "spawn_key"),
        ({"engine": "step"}, "engine"),
    ],
)
def test_another_simulation_is_refused_with_what_differs(tmp_path, changes, name):
    run(tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=f"is of another simulation: its {name} is .*, not "):
        run(tmp_path, **changes)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("length", [3, 1000, 1001])
def test_other_data_is_refused_however_long_it_is(tmp_path, length):
    data = np.linspace(0.0, 1.0, length)
    run(tmp_path, bandit=robai.Empirical([data, [0, 0]]))
    assert run(tmp_path, bandit=robai.Empirical([data, [0, 0]])).runs == 200
    data[length // 2] = np.nextafter(data[length // 2], 2.0)
    with pytest.raises(ValueError, match="its bandit is"):
        run(tmp_path, bandit=robai.Empirical([data, [0, 0]]))
    assert (tmp_path / "manifest.json").stat().st_size < 50_000


def test_the_version_of_the_format_is_checked(tmp_path):
    run(tmp_path)
    manifest = tmp_path / "manifest.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(content | {"schema": 10**6}))
    with pytest.raises(ValueError, match="its schema is 1000000"):
        run(tmp_path)
    manifest.write_text(json.dumps(content | {"schema": 2, "bandit": repr(BANDIT), "rewards": "0" * 64}))
    with pytest.raises(ValueError, match="its schema is 2, not 3"):
        run(tmp_path)
    del content["robai"], content["numpy"]  # as schema 1 was
    manifest.write_text(json.dumps(content | {"schema": 1}))
    with pytest.raises(ValueError, match="its schema is 1, not 3"):
        run(tmp_path)


@pytest.mark.parametrize("words", [["-3"], ["x"], [[3]], None])
def test_a_seed_that_is_none_is_damage(tmp_path, words):
    run(tmp_path)
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"entropy": words}))
    with pytest.raises(ValueError, match=r"manifest\.json is damaged"):
        run(tmp_path, rng=None)


def test_without_a_seed_the_one_of_the_checkpoint_is_used(tmp_path, spans):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, rng=None, progress=interrupted_after(1))
    entropy = json.loads((tmp_path / "manifest.json").read_text())["entropy"]
    result = run(tmp_path, rng=None)
    assert result.meta["entropy"] == entropy
    assert result == run(tmp_path, rng=int(entropy[0])) == run(rng=int(entropy[0]))


def test_compare_keeps_a_checkpoint_for_every_policy(tmp_path, spans):
    policies = {"a": robai.EOCPUG(), "b": robai.UCB()}
    given = (policies, BANDIT, 400, 100)
    expected = robai.compare(*given, rng=3, checkpoint=tmp_path)
    spans.clear()
    again = robai.compare(*given, rng=3, checkpoint=tmp_path)
    assert spans == []
    assert [again[label] == expected[label] for label in policies] == [True, True]
    with pytest.raises(ValueError, match="its policy is"):
        robai.compare({"b": robai.UCB(), "a": robai.EOCPUG()}, *given[1:], rng=3, checkpoint=tmp_path)


def test_compare_without_a_seed_goes_on_with_that_of_the_checkpoint(tmp_path):
    given = ([robai.EOCPUG(), robai.UCB()], BANDIT, 400, 100)
    first = robai.compare(*given, checkpoint=tmp_path)
    again = robai.compare(*given, checkpoint=tmp_path)
    assert all(again[label] == first[label] for label in first)


# ---- killed

CHILD = """
import sys, robai
print("ready", flush=True)
robai.simulate(robai.UCB(), robai.Bernoulli([0.7, 0.2, 0.5]), 20_000, 2000, rng=3, times=10,
               checkpoint=sys.argv[1], engine="step")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_simulation_killed_at_any_moment_goes_on_to_the_same_numbers(tmp_path):
    source = random.Random(1)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for _ in range(6):
        with subprocess.Popen(
            [sys.executable, "-c", CHILD, tmp_path], stdout=subprocess.PIPE, env=environment
        ) as child:
            child.stdout.readline()
            time.sleep(source.uniform(0.0, 0.3))
            child.kill()
    given = (robai.UCB(), BANDIT, 20_000, 2000)
    options = {"rng": 3, "times": 10, "curves": True, "engine": "step"}
    assert robai.simulate(*given, checkpoint=tmp_path, **options) == robai.simulate(*given, **options)
