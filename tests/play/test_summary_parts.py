"""keep="summary" through checkpoints and other processes, and in how much memory."""

import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest
from support.summaries import RUNS, play

import robai
from robai._play import together


def test_a_checkpoint_of_sums_goes_on_and_takes_more_runs(tmp_path, monkeypatch):
    whole = play("own means", keep="summary")
    monkeypatch.setattr(together, "SECONDS", 0.0)
    seen = []

    def stop(done, total):
        if done > 300:
            raise KeyboardInterrupt
        seen.append(done)

    ask = {"keep": "summary", "workers": 2}
    with pytest.raises(KeyboardInterrupt):
        play("own means", **ask, checkpoint=tmp_path, progress=stop)
    assert 0 < seen[-1] <= 300
    [file] = tmp_path.glob("sums-*.npz")
    known = robai.Summary.load(file).runs
    assert known > 300
    played = []
    assert (
        play("own means", **ask, checkpoint=tmp_path, progress=lambda done, _: played.append(done)) == whole
    )
    assert min(done for done in played if done) == known
    more = play("own means", 900, **ask, checkpoint=tmp_path)
    assert more == play("own means", 900, keep="summary")
    with pytest.raises(ValueError, match=r"runs must be at least the 900 of which checkpoint .* got 700"):
        play("own means", **ask, checkpoint=tmp_path)
    file.unlink()
    assert play("own means", **ask, checkpoint=tmp_path) == whole
    # Single runs have files of their own there, and a part of the runs has its own sums.
    assert play("own means", checkpoint=tmp_path).runs == RUNS
    assert play("own means", range(100, 200), **ask, checkpoint=tmp_path).meta["first_run"] == 100


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-100], lambda data: data[: len(data) // 2], lambda data: b""]
)
def test_damaged_sums_of_a_checkpoint_are_an_error_that_names_them(tmp_path, damage):
    ask = {"keep": "summary", "checkpoint": tmp_path}
    whole = play("some", **ask)
    file = tmp_path / "sums-0.npz"
    file.write_bytes(damage(file.read_bytes()))
    before = file.read_bytes()
    for runs in (RUNS, 2 * RUNS):
        with pytest.raises(ValueError, match=r"sums-0\.npz is damaged: remove it to play its runs again"):
            play("some", runs, **ask)
    assert file.read_bytes() == before
    file.unlink()
    assert play("some", **ask) == whole


def test_sums_of_another_simulation_are_not_overwritten(tmp_path):
    ask = {"keep": "summary", "checkpoint": tmp_path}
    play("some", **ask)
    (tmp_path / "manifest.json").unlink()
    before = (tmp_path / "sums-0.npz").read_bytes()
    with pytest.raises(ValueError, match=r"sums-0\.npz has sums of another simulation"):
        play("never", **ask)
    assert (tmp_path / "sums-0.npz").read_bytes() == before


@pytest.mark.parametrize("game", ["some", "own means", "far"])
def test_sums_of_other_processes_are_the_same(game):
    expected = play(game, keep="summary")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert play(game, keep="summary", executor=pool, workers=2) == expected
        parts = [play(game, runs, keep="summary", executor=pool) for runs in (range(300), range(300, RUNS))]
    assert parts[1].merge(parts[0]) == expected


def test_sums_of_workers_of_dask_are_the_same():
    distributed = pytest.importorskip("distributed")
    games = ("some", "own means", "far")
    expected = [play(game, keep="summary") for game in games]
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pool = client.get_executor(pure=False)
        for game, whole in zip(games, expected, strict=True):
            assert play(game, keep="summary", executor=pool, workers=2) == whole
            parts = [
                play(game, runs, keep="summary", executor=pool) for runs in (range(300), range(300, RUNS))
            ]
            assert parts[1].merge(parts[0]) == whole


GROWTH = """
import sys, robai
def most():  # KB of this program; `ru_maxrss` would count the process that it was forked from
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
ask = {"horizon": 2, "times": 1, "rng": 0, "keep": "summary"}
bandit = robai.Gaussian([1, 0])
robai.simulate(robai.UCB(), bandit, **ask, runs=10**5)
few = most()
robai.simulate(robai.UCB(), bandit, **ask, runs=int(sys.argv[1]))
print(few, most())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("runs", [10**6, pytest.param(10**7, marks=pytest.mark.slow)])
def test_memory_does_not_grow_with_the_runs(runs):
    found = subprocess.run(
        [sys.executable, "-c", GROWTH, str(runs)], capture_output=True, text=True, check=True
    )
    few, many = map(int, found.stdout.split())
    assert many - few < 16_000  # KB: the arrays of single runs would be 40,000 for the first
    assert many < 200_000
