#!/usr/bin/env python3
"""Build the site: documentation, reference, examples and notebooks. Needs `pip install -e ".[docs]"`.

    python tools/docs.py            into build/docs/html
    python tools/docs.py --serve    and show it at http://localhost:8000

A warning is an error. Sphinx writes pages of its own among those it reads, so it is given a copy of docs/.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
SOURCE = URLS["Repository"] + "/blob/main/"  # of files that are no pages


def stage(folder):
    """What Sphinx reads: docs/, and the pages of the root, with links as they are from there.

    The empty line that ends a doctest before the end of its block is left out.
    """
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("_site", "conf.py", "__pycache__"))
    for name in ("CHANGELOG", "CONTRIBUTING"):
        page = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        (folder / f"{name.lower()}.md").write_text(page.replace("](docs/", "]("), encoding="utf-8")
    for page in folder.glob("*.md"):
        shown = page.read_text(encoding="utf-8").replace("](../CONTRIBUTING.md", "](contributing.md")
        shown = re.sub(r"^(```python\n.*?)\n\n```$", r"\1\n```", shown, flags=re.DOTALL | re.MULTILINE)
        page.write_text(shown.replace("](../", f"]({SOURCE}"), encoding="utf-8")


def build(folder):
    source, site = folder / "source", folder / "html"
    for each in (source, site):
        shutil.rmtree(each, ignore_errors=True)
    stage(source)
    # -P: the installed package is documented, not what is found in this folder
    command = [sys.executable, "-P", "-m", "sphinx", "--fail-on-warning", "--quiet", "--conf-dir", DOCS]
    subprocess.run([*command, "--doctree-dir", folder / "doctrees", source, site], check=True)
    return site


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs", help="where to build")
    parser.add_argument("--serve", action="store_true", help="show the site at http://localhost:8000")
    options = parser.parse_args()
    try:
        site = build(options.out)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    print(site / "index.html")
    if options.serve:
        handler = partial(SimpleHTTPRequestHandler, directory=site)
        with ThreadingHTTPServer(("localhost", 8000), handler) as server:
            print("http://localhost:8000")
            server.serve_forever()


if __name__ == "__main__":
    main()
