"""One version, in one place; what repeats it repeats it right."""

import re
from importlib.metadata import version
from pathlib import Path

import robai

ROOT = Path(__file__).parents[2]


def test_every_document_has_the_version_of_the_package():
    assert version("robai") == robai.__version__
    assert f"\nversion: {robai.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1] == robai.__version__
