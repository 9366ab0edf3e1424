"""Type checkers accept right programs, those of the pages too, and report wrong ones where they are wrong."""

import doctest
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

api = pytest.importorskip("mypy.api")

ROOT = Path(__file__).parents[2]
PAGES = [
    page for page in sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")]) if ">>>" in page.read_text()
]
PROGRAMS = Path(__file__).with_name("programs.py")
OPTIONS = [
    *("--strict", "--allow-untyped-defs", "--allow-untyped-calls"),  # a reader's own functions need no types
    *("--config-file=", "--follow-imports=silent", "--output=json"),
]


def program(page):
    """The examples of a page on the lines that they have there, so that an error says where it is."""
    text = page.read_text()
    lines = [""] * len(text.splitlines())
    for example in doctest.DocTestParser().get_examples(text):
        source = example.source.splitlines()
        lines[example.lineno : example.lineno + len(source)] = source
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """What mypy reports of all programs, by the name of the file: pairs of a line and the error's code."""
    folder = tmp_path_factory.mktemp("types")
    for page in PAGES:
        (folder / f"{page.stem.lower()}_page.py").write_text(program(page))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYPYPATH", str(ROOT))
        files = map(str, [PROGRAMS, *folder.glob("*.py")])
        printed, complaint, _ = api.run([*OPTIONS, f"--cache-dir={folder / 'cache'}", *files])
    assert not complaint
    found = defaultdict(list)
    for each in map(json.loads, printed.splitlines()):
        if each["severity"] == "error":
            found[Path(each["file"]).name].append((each["line"], each["code"], each["message"]))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_examples_of_a_page_have_the_right_types(page, errors):
    assert errors[f"{page.stem.lower()}_page.py"] == []


def test_wrong_lines_are_reported_and_no_others(errors):
    wrong = {
        (number, found[1])
        for number, line in enumerate(PROGRAMS.read_text().splitlines(), start=1)
        if (found := re.search(r"  # E: ([\w-]+)$", line))
    }
    assert {(line, code) for line, code, _ in errors[PROGRAMS.name]} == wrong
