"""`robai completion`: a bash that has loaded the script is asked."""

import json
import shutil
import subprocess
import sys

import pytest

from robai.bandits import BANDITS
from robai.cli import main
from robai.paper.gallery import GALLERY
from robai.policies import POLICIES

shtab = pytest.importorskip("shtab")


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    folder = tmp_path_factory.mktemp("shell")
    (folder / "result.npz").touch()
    (folder / "results").mkdir()
    command = [sys.executable, "-m", "robai", "completion", "bash"]
    script = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (folder / "completion.sh").write_text(script)

    def completed(*words):
        """What bash would offer for the last of the words."""
        ask = f"""
            source completion.sh
            COMP_WORDS=({" ".join(repr(word) for word in words)})
            COMP_CWORD={len(words) - 1}
            $(complete -p robai | sed 's/.*-F \\([^ ]*\\).*/\\1/') robai "${{COMP_WORDS[COMP_CWORD]}}"
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, cwd=folder, check=False)
        assert done.stderr == ""
        return set(done.stdout.split())

    return completed


def test_words_that_robai_knows(complete):
    assert complete("robai", "re") == {"reproduce"}
    assert complete("robai", "simulate", "--hor") == {"--horizon"}
    assert complete("robai", "simulate", "--policy", "") == set(POLICIES)
    assert complete("robai", "plan", "--policy", "kl-e") == {"kl-eocp", "kl-eocp-ug"}
    assert complete("robai", "compare", "--policy", "ucb", "--bandit", "") == set(BANDITS)
    assert complete("robai", "simulate", "--family", "poi") == {"poisson"}
    assert complete("robai", "identify", "--engine", "") == {"auto", "step", "leap"}
    assert (
        complete("robai", "reproduce", "gari")
        == {name for name in GALLERY if name.startswith("gari")}
        != set()
    )
    assert complete("robai", "completion", "z") == {"zsh"}


def test_files_and_directories(complete):
    assert complete("robai", "simulate", "--save", "res") == {"result.npz", "results"}
    assert complete("robai", "reproduce", "--out", "res") == {"results"}
    assert complete("robai", "status", "res") == {"result.npz", "results"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_every_shell_has_a_script(capsys, shell):
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert "kl-eocp-ug" in text
    assert main(["completion", shell, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"shell": shell, "script": text[:-1]}


def test_errors(capsys, monkeypatch):
    assert main(["completion", "bsh"]) == 2
    assert "there is no shell 'bsh'; did you mean bash" in capsys.readouterr().err
    assert main(["completion"]) == 2
    assert "required: SHELL" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert (
        capsys.readouterr().err == 'robai: error: completion needs shtab: pip install "robai[completion]"\n'
    )


def test_policies_may_still_have_parameters(capsys):
    assert main(["completion", "bash"]) == 0
    game = ["--means", "0.7,0.2", "--horizon", "100", "--runs", "2"]
    assert main(["simulate", "--policy", "ucb:level=ratio", *game]) == 0
