"""Every code block of the README and of the documentation runs, and prints what it shows."""

import doctest
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from robai.cli import main

ROOT = Path(__file__).parents[2]
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    if "import numba" in page.read_text():
        pytest.importorskip("numba")
    monkeypatch.chdir(tmp_path)
    failed, run = doctest.testfile(str(page), module_relative=False)
    assert failed == 0
    if "```python" in page.read_text():
        assert run > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_python_blocks_are_doctests(page):
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.S):
        assert block.startswith(">>> ")


def links(page):
    text = page.read_text()
    named = dict(re.findall(r"^\[([\w-]+)\]: (\S+)$", text, re.M))
    used = re.findall(r"[\w)`.]\]\[([\w-]+)\]", text)
    assert set(used) == set(named)
    return [*named.values(), *re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)]


def test_links_of_the_readme_work_where_it_is_shown_alone():
    assert all(target.startswith("https://") for target in links(ROOT / "README.md"))
    assert URLS["Documentation"] in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_commands_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    """Those that take a moment: what they print is tested with the command line."""
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.S):
        for line in re.findall(r"^robai (?:plan|policies) .*$", block, re.M):
            assert main(shlex.split(line, comments=True)[1:]) == 0, line
            assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page):
    for target in links(page):
        if own := re.fullmatch(rf"{re.escape(URLS['Repository'])}/(?:blob|raw)/main/(.*)", target):
            assert (ROOT / own[1]).exists(), target
        elif not target.startswith("http"):
            assert (page.parent / target).exists(), target
