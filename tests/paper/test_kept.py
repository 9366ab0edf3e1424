"""A reproduction that was interrupted goes on from what it had played, and from nothing else."""

import os
import signal
import subprocess
import sys
import time

import pytest

from robai.cli import main
from robai.paper.gallery import GALLERY
from robai.paper.gallery.zhang_ying2023 import SENSITIVITY, STUDY
from robai.paper.kept import Kept
from robai.paper.reproduction import reproduce

PART = ["sensitivity"]
COUNT = sum(len(each.policies) for each in SENSITIVITY.values())


class Stopped(Exception):
    pass


def interrupted(kept, after, **options):
    """Plays some simulations, and is interrupted."""
    lines = []

    def report(line, final):
        if final:
            lines.append(line)
        if len(lines) == after:
            raise Stopped

    with pytest.raises(Stopped):
        reproduce(STUDY, PART, quick=True, report=report, kept=kept, **options)
    return lines


def lines_of(**options):
    lines = []
    done = reproduce(
        STUDY, PART, quick=True, report=lambda line, final: lines.append(line) if final else None, **options
    )
    return done, lines


def test_what_was_played_is_not_played_again(tmp_path, monkeypatch):
    whole, _ = lines_of()
    interrupted(Kept(tmp_path / "kept"), after=5)
    assert len(list((tmp_path / "kept").iterdir())) == 5
    played = []
    real = type(SENSITIVITY["EOCP"]).play
    monkeypatch.setattr(
        type(SENSITIVITY["EOCP"]),
        "play",
        lambda self, labels, *rest, **more: played.append(labels) or real(self, labels, *rest, **more),
    )
    monkeypatch.setattr(type(SENSITIVITY["EOCP"]), "cost", lambda *_: 1.0)
    kept = Kept(tmp_path / "kept")
    done, lines = lines_of(kept=kept)
    assert len(played) == COUNT - 5
    assert lines[0] == f"going on: 5 of {COUNT} simulations are in {tmp_path / 'kept'}"
    assert len(lines) == 1 + COUNT
    assert {name: list(map(dict, each)) for name, each in done.results.items()} == {
        name: list(map(dict, each)) for name, each in whole.results.items()
    }
    assert done.seconds == sum(result.meta["seconds"] for _, _, result in done.simulations())
    kept.clear()
    assert list(tmp_path.iterdir()) == []


def test_other_settings_are_not_mixed_up(tmp_path):
    interrupted(Kept(tmp_path / "kept"), after=3)
    other = Kept(tmp_path / "kept")
    done, lines = lines_of(kept=other, rng=1)
    assert len(lines) == COUNT  # nothing was found
    assert dict(done.results["sensitivity-eocp"][0]) == dict(
        lines_of(rng=1)[0].results["sensitivity-eocp"][0]
    )
    other.clear()
    assert len(list((tmp_path / "kept").iterdir())) == 3  # of the first, which may still go on
    mine = tmp_path / "kept" / "mine"
    mine.write_text("years")
    again = Kept(tmp_path / "kept")
    assert lines_of(kept=again)[1][0].startswith("going on: 3 of ")
    again.clear()
    assert list((tmp_path / "kept").iterdir()) == [mine]


def test_the_number_of_runs_the_policy_and_the_versions_are_in_the_name(tmp_path, monkeypatch):
    kept, (eocp, ug) = Kept(tmp_path), SENSITIVITY.values()
    label, other = list(eocp.policies)[:2]
    calls = [(eocp, label, 10**6, 500, 0), (eocp, other, 10**6, 500, 0), (eocp, label, 10**5, 500, 0)]
    calls += [
        (eocp, label, 10**6, 501, 0),
        (eocp, label, 10**6, 500, 1),
        (ug, next(iter(ug.policies)), 10**6, 500, 0),
    ]
    paths = [kept.path(*each) for each in calls]
    monkeypatch.setattr("robai.paper.kept.VERSION", "0.0.0")
    paths.append(kept.path(*calls[0]))
    assert len(set(paths)) == len(paths)


def test_what_is_damaged_is_played_again(tmp_path):
    interrupted(Kept(tmp_path / "kept"), after=2)
    first, second = sorted((tmp_path / "kept").iterdir())
    first.write_bytes(second.read_bytes()[:100])
    done, lines = lines_of(kept=Kept(tmp_path / "kept"))
    assert lines[0].startswith("going on: 1 of ")
    assert dict(done.results["sensitivity-eocp"][0]) == dict(lines_of()[0].results["sensitivity-eocp"][0])


def test_identifications_are_kept_too(tmp_path):
    study = GALLERY["garivier2016"]
    experiment = study.figures["five-arms"]
    (label, *_), kept = experiment.policies, Kept(tmp_path)
    found = experiment.play([label], 10**6, 5, rng=0)[label]
    path = kept.path(experiment, label, 10**6, 5, 0)
    kept.save(path, found)
    assert kept.load(experiment, path) == found


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_says_that_the_same_command_goes_on(tmp_path, capsys):
    out = tmp_path / "report"
    arguments = ["reproduce", "--quick", "--only", "sensitivity", "--out", str(out)]
    command = [sys.executable, "-c", "import sys; from robai.cli import main; sys.exit(main(sys.argv[1:]))"]
    process = subprocess.Popen([*command, *arguments], stderr=subprocess.PIPE, text=True)
    folder = tmp_path / "report.unfinished"
    deadline = time.monotonic() + 60
    while not (folder.is_dir() and any(name.suffix == ".npz" for name in folder.iterdir())):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"simulations in {folder}" in said
    assert "the same command goes on from " in said
    assert not out.exists()
    assert main(arguments) == 0
    assert "going on: " in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["report"]
