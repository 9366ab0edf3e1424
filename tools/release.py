#!/usr/bin/env python3
"""Whether the tree, and what was built of it, can be published as a version.

    python tools/release.py                            the version, the changelog and the citation agree
    python tools/release.py --tag v0.2.0               and the tag is of that version
    python tools/release.py --tag v0.2.0 --dist dist   and dist/ has every file of it, and no other

Publishes nothing: .github/workflows/release.yml does, when a version is tagged and this agrees.
"""

import argparse
import re
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SYSTEMS = {
    "Linux, glibc, x86-64": r"manylinux_\S+_x86_64",
    "Linux, glibc, ARM": r"manylinux_\S+_aarch64",
    "Linux, musl, x86-64": r"musllinux_\S+_x86_64",
    "Linux, musl, ARM": r"musllinux_\S+_aarch64",
    "macOS, Intel": r"macosx_\S+_x86_64",
    "macOS, Apple": r"macosx_\S+_arm64",
    "Windows": r"win_amd64",
}


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def version():
    return re.search(r'^VERSION = "(.+)"$', read("robai/_base/version.py"), re.M)[1]


def wheels():
    """The (Python, ABI) of the wheels that a release has for every system."""
    identifiers = tomllib.loads(read("pyproject.toml"))["tool"]["cibuildwheel"]["build"]
    abis = [each.removesuffix("-*") for each in identifiers]
    return [(abi.removesuffix("t"), abi) for abi in abis] + [("cp312", "abi3")]


def problems_of_tree(own, tag):
    heading = re.search(r"^## (.+)$", read("CHANGELOG.md"), re.M)[1]
    if not re.fullmatch(rf"{re.escape(own)} \(\d{{4}}-\d\d-\d\d\)", heading):
        yield f"CHANGELOG.md begins with {heading!r}, not with '{own} (YYYY-MM-DD)'"
    if f"\nversion: {own}\n" not in read("CITATION.cff"):
        yield f"CITATION.cff is not of version {own}"
    if tag is not None and tag != f"v{own}":
        yield f"the tag is {tag}, the version {own}"


def problems_of_files(own, folder):
    names = {path.name for path in folder.iterdir()}
    sdist = f"robai-{own}.tar.gz"
    if sdist in names:
        with tarfile.open(folder / sdist) as archive:
            if f"robai-{own}/tools/release.py" not in archive.getnames():
                yield f"{sdist} is not of this tree"
    else:
        yield f"there is no {sdist}"
    expected = {sdist}
    for python, abi in wheels():
        for system, pattern in SYSTEMS.items():
            known = re.compile(rf"robai-{re.escape(own)}-{python}-{abi}-{pattern}\.whl")
            found = sorted(filter(known.fullmatch, names))
            expected.update(found)
            if len(found) != 1:
                yield f"{python}-{abi} for {system}: one wheel wanted, got {', '.join(found) or 'none'}"
    yield from (f"{name} has no place in a release" for name in sorted(names - expected))


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--tag", help="the tag to be published")
    parser.add_argument("--dist", type=Path, help="the files to be published")
    options = parser.parse_args()
    own = version()
    problems = list(problems_of_tree(own, options.tag))
    if options.dist is not None:
        problems += problems_of_files(own, options.dist)
    if problems:
        sys.exit("\n".join(f"release: {each}" for each in problems))
    print(f"robai {own} can be published")


if __name__ == "__main__":
    main()
