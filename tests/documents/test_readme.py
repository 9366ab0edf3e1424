"""Every code block of the README and of the documentation runs, and prints what it shows."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
