"""What the command line writes: known to be possible before anything is played, whole, and never lost."""

import dataclasses
import json
import os
import re
import subprocess
import sys

import pytest

import robai
from robai.cli import main
from robai.paper.gallery.zhang_ying2023 import FIGURES, STUDY
from robai.paper.reproduction import Reproduction

GAME = ["--means", "0.7,0.2", "--horizon", "1e3", "--runs", "20", "--rng", "1"]
SIMULATE = ["simulate", "--policy", "ucb", *GAME]
COMPARE = ["compare", "--policy", "ucb", "--policy", "eocp-ug", *GAME]


@pytest.fixture
def unplayed(monkeypatch):
    """Nothing may be played."""
    for name in ("robai.cli.simulation.compare", "robai.paper.reproduction.reproduce"):
        monkeypatch.setattr(name, lambda *_, **__: pytest.fail("it was played"))


@pytest.fixture
def reproduction(monkeypatch):
    """What `reproduce` would return, made of few runs."""
    results = {"fig1-bernoulli": FIGURES["fig1-bernoulli"].run(runs=40, rng=0)}
    done = Reproduction(STUDY, quick=True, entropy=0, results=results, seconds=1.0)
    monkeypatch.setattr("robai.paper.reproduction.reproduce", lambda *_, **__: done)
    return done


@pytest.fixture
def obstacles(tmp_path):
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").write_text("years")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.png")
    return tmp_path


PLACES = [
    ("folder.png", "cannot write a file where a directory is"),
    ("missing/x.png", "no such directory to write into"),
    ("file/x.png", "no such directory to write into"),
    pytest.param(
        "pipe.png",
        "cannot replace what is not a regular file",
        marks=pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such thing there"),
    ),
    pytest.param(
        "/proc/x.png",
        "/proc",
        marks=pytest.mark.skipif(sys.platform != "linux", reason="a directory that nobody can write into"),
    ),
]


@pytest.mark.parametrize("command", [SIMULATE, COMPARE])
@pytest.mark.parametrize("option", ["--save", "--plot"])
@pytest.mark.parametrize(("place", "message"), PLACES)
def test_files_that_cannot_be_written_are_known_before(
    capsys, obstacles, unplayed, command, option, place, message
):
    before = sorted(obstacles.iterdir())
    assert main([*command, option, str(obstacles / place)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert sorted(obstacles.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--plot", "x.foo"], "the end of --plot must be one of '.pdf', '.png', '.svg', got '.foo'"),
        (["--plot", "x"], "got ''"),
        (["--save", "x.png", "--plot", "./x.png"], "--save, --plot and --checkpoint must be different"),
        (["--save", "x", "--checkpoint", "x"], "--save, --plot and --checkpoint must be different"),
    ],
)
def test_files_that_make_no_sense_are_known_before(
    capsys, tmp_path, monkeypatch, unplayed, arguments, message
):
    monkeypatch.chdir(tmp_path)
    assert main([*SIMULATE, *arguments]) == 2
    assert message in capsys.readouterr().err
    assert os.listdir() == []


@pytest.mark.parametrize("option", ["--save", "--plot", "--checkpoint", "--out"])
def test_an_empty_path_is_none(capsys, unplayed, option):
    command = ["reproduce"] if option == "--out" else SIMULATE
    assert main([*command, option, ""]) == 2
    assert f"argument {option}: must be a path" in capsys.readouterr().err


def test_save_and_plot_write_files(tmp_path):
    saved, drawn = tmp_path / "result.npz", tmp_path / "regret.svg"
    assert main([*SIMULATE, "--save", str(saved), "--plot", str(drawn)]) == 0
    assert robai.Result.load(saved).runs == 20
    assert "<svg" in drawn.read_text()


@pytest.mark.parametrize("name", ["x.png", "x.PDF", "x.svg"])
def test_a_drawing_is_replaced_at_once(tmp_path, monkeypatch, name):
    (tmp_path / name).write_text("the old one")
    for call in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, lambda *_: 1 / 0)
            assert main([*SIMULATE, "--plot", str(tmp_path / name)]) != 0
        assert (tmp_path / name).read_text() == "the old one"
        assert os.listdir(tmp_path) == [name]
    assert main([*SIMULATE, "--plot", str(tmp_path / name)]) == 0
    assert (tmp_path / name).stat().st_size > 5000
    assert os.listdir(tmp_path) == [name]


FULL = """
import resource, sys
from robai.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # bytes in a file, as if the disk were full
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize("more", [["--save", "x"], ["--plot", "x.png"], ["--save", "x", "--json"]])
def test_if_the_disk_is_full_after_all_the_result_is_printed(tmp_path, more):
    command = [sys.executable, "-c", FULL, *SIMULATE, *more]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("robai: error: [Errno ")
    result = robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 1000, 20, rng=1)
    if "--json" in more:
        assert json.loads(done.stdout)["regret"] == result.regret[-1]
    else:
        assert done.stdout.splitlines()[:6] == result.summary().splitlines()[:6]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_if_the_disk_is_full_after_all_the_claims_are_printed(
    capsys, tmp_path, reproduction, monkeypatch, more
):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("robai.paper.report.csv_bytes", full)
    assert main(["reproduce", "--out", str(tmp_path / "report"), *more]) == 1
    out, err = capsys.readouterr()
    assert "EOCP reduces the final regret of UCB by 20 %" in out
    assert err.splitlines()[-1] == "robai: error: [Errno 28] No space left on device"
    assert "index.html" not in out
    assert os.listdir(tmp_path) == []
    if more:
        assert json.loads(out)["page"] is None


def test_reproduce_writes_a_report_and_prints_the_claims(capsys, tmp_path, reproduction):
    out = tmp_path / "report"
    assert main(["reproduce", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "EOCP reduces the final regret of UCB by 20 %" in text
    assert re.search(r" of \d+ claims hold, ", text)
    assert text.splitlines()[-1] == str(out / "index.html")
    assert (out / "index.html").exists()
    assert main(["reproduce", "--out", str(out), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {claim["result"] for claim in printed["claims"]} == {"holds", "not decided"}  # of 40 runs
    assert printed["page"] == str(out / "index.html")


def test_reproduce_tells_by_its_exit_code_that_a_claim_fails(capsys, tmp_path, reproduction, monkeypatch):
    false = STUDY.claims[0]._replace(check=lambda _: ("fails", "0"))
    monkeypatch.setattr(reproduction, "study", dataclasses.replace(STUDY, claims=[false]))
    assert main(["reproduce", "--out", str(tmp_path / "report")]) == 1
    text = capsys.readouterr().out
    assert "  fails " in text
    assert "0 of 1 claims hold, 1 fails." in text


def test_reproduce_leaves_the_files_of_others_alone(capsys, tmp_path, reproduction):
    (tmp_path / ".results.old").mkdir()
    (tmp_path / ".results.old" / "thesis").write_text("years")
    (tmp_path / ".results.new").write_text("more years")
    for _ in range(2):
        assert main(["reproduce", "--out", str(tmp_path / "results")]) == 0
    assert sorted(os.listdir(tmp_path)) == [".results.new", ".results.old", "results"]
    assert (tmp_path / ".results.old" / "thesis").read_text() == "years"
    assert (tmp_path / ".results.new").read_text() == "more years"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("missing/x", "not a directory to write into"),
        ("file", "is a file"),
        ("file/x", "not a directory to write into"),
        (".", "has files that are not of a report, such as"),
    ],
)
def test_reproduce_does_not_play_what_it_could_not_write(capsys, obstacles, unplayed, place, message):
    before = sorted(obstacles.iterdir())
    assert main(["reproduce", "--out", str(obstacles / place)]) == 1
    assert message in capsys.readouterr().err
    assert sorted(obstacles.iterdir()) == before


@pytest.mark.skipif(sys.platform != "linux", reason="a directory that nobody can write into")
def test_reproduce_does_not_play_what_the_system_would_not_let_it_write(capsys, unplayed):
    assert main(["reproduce", "--out", "/proc/x"]) == 1
    assert "/proc" in capsys.readouterr().err


def test_saving_onto_a_directory_is_a_clear_error(obstacles):
    result = robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 1000, 2, rng=1)
    for each in (result, robai.result.Comparison([result])):
        with pytest.raises(
            IsADirectoryError, match=r"cannot write a file where a directory is: .*folder\.png"
        ):
            each.save(obstacles / "folder.png")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
@pytest.mark.parametrize(
    ("where", "code", "error"),
    [
        ("", 0, "robai: warning: arms 0, 1 are all best: regret is defined, a wrong commitment is not\n"),
        (">/dev/full", 1, "robai: error: [Errno 28] No space left on device\n"),
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        (">&- 2>&-", 0, ""),
    ],
)
def test_an_output_that_is_full_or_closed_is_no_traceback(where, code, error):
    command = f'"{sys.executable}" -m robai {" ".join(SIMULATE)} --means 1,1 {where}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stderr.endswith(error)
    assert "Traceback" not in done.stderr
    if ">/dev/full" in where or where.startswith(">&-"):
        assert done.stdout == ""
    else:
        assert done.stdout.startswith("policy ")
        assert "warning" not in done.stdout
