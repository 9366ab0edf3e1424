#!/usr/bin/env python3
"""Build what is published: the source distribution and wheels, into dist/.

    python tools/wheels.py sdist      the source distribution
    python tools/wheels.py native     a wheel for this Python
    python tools/wheels.py abi3       a wheel for CPython 3.12 and all that come after it (the stable ABI)
    python tools/wheels.py all        the wheels of this system for every Python, by cibuildwheel

Needs `pip install build`. `all` needs `pip install cibuildwheel`, and on Linux Docker or Podman; what it
builds, and how it tries the wheels, is in pyproject.toml, under [tool.cibuildwheel].
"""

import argparse
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]


def run(*command, **variables):
    print("+", *(f"{name}={value!r}" for name, value in variables.items()), *command, flush=True)
    subprocess.run([sys.executable, "-m", *command], cwd=ROOT, env=os.environ | variables, check=True)


def sdist(out):
    run("build", "--sdist", "--outdir", out)


def native(out):
    run("build", "--wheel", "--outdir", out)


def abi3(out):
    run("build", "--wheel", "--outdir", out, ROBAI_ABI3="1")


def every(out):
    """Twice, because cibuildwheel takes a wheel of the stable ABI for all later Pythons, as pip does."""
    run("cibuildwheel", "--output-dir", out)
    later = [each for each in SETTINGS["build"] if each not in ("cp311-*", "cp314t-*", "cp315t-*")]
    run("cibuildwheel", "--output-dir", out, CIBW_BUILD=" ".join(later), CIBW_ENVIRONMENT="ROBAI_ABI3=1")


KINDS = {"sdist": sdist, "native": native, "abi3": abi3, "all": every}


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("kinds", nargs="+", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where to put them, %(default)s")
    options = parser.parse_args()
    try:
        for kind in options.kinds:
            KINDS[kind](options.out.resolve())
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


if __name__ == "__main__":
    main()
