"""Breaks lines that compute a number shown to people, one at a time, and runs the test file that must notice.

    python tests/mutants.py                      # all of them, some minutes
    python tests/mutants.py --sample 10 --seed 7
    python tests/mutants.py --only 12

The package is copied as it is imported, compiled modules included, and changed in the copy. A mutant that
survives is a missing test, or a number that need not be printed. Ends with an error if one survives, if a
line to change is not there exactly once, or if the tests fail without any change.
"""

import argparse
import importlib.util
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from support.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[1]
PASSED, FAILED = 0, 1  # what pytest returns; the rest is for runs that never came to testing


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--only", type=int, metavar="N", help=f"mutant N, from 1 to {len(MUTANTS)}")
    chosen.add_argument("--sample", type=int, metavar="K", help="K of them, drawn at random")
    parser.add_argument("--seed", default="0", help="of the sample: any text, such as a commit's hash (0)")
    options = parser.parse_args()
    numbered = list(enumerate(MUTANTS, start=1))
    if options.only is not None:
        if not 1 <= options.only <= len(MUTANTS):
            parser.error(f"--only must be from 1 to {len(MUTANTS)}, got {options.only}")
        numbered = [numbered[options.only - 1]]
    if options.sample is not None:
        if not 1 <= options.sample <= len(MUTANTS):
            parser.error(f"--sample must be from 1 to {len(MUTANTS)}, got {options.sample}")
        numbered = sorted(random.Random(options.seed).sample(numbered, options.sample))
    with tempfile.TemporaryDirectory() as directory:
        return survey(copy(Path(directory)), numbered)


def copy(directory: Path) -> Path:
    """The package as it would be imported here, in a directory of its own."""
    spec = importlib.util.find_spec("robai")
    if spec is None or spec.origin is None:
        raise SystemExit("robai is not installed")
    package = directory / "robai"
    shutil.copytree(Path(spec.origin).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


def survey(package: Path, numbered: list[tuple[int, Mutant]]) -> int:
    """0 if all are caught, 1 if not."""
    for number, mutant in enumerate(MUTANTS, start=1):  # all, also when few are played: the list must not rot
        found = (package / mutant.file).read_text(encoding="utf-8").count(mutant.old)
        if found != 1:
            raise SystemExit(f"{number}: found {found} times, not once, in {mutant.file}: {mutant.old!r}")
    for test in dict.fromkeys(mutant.test for _, mutant in numbered):
        if run(package, test) != PASSED:
            raise SystemExit(f"{test} fails without any change")
    survivors = 0
    for number, mutant in numbered:
        caught = is_caught(package, mutant)
        survivors += not caught
        print(f"{number:3d} {'caught' if caught else 'SURVIVED':8} {mutant.file}: {mutant.about}", flush=True)
    print(f"{len(numbered) - survivors} caught, {survivors} survived")
    return 1 if survivors else 0


def is_caught(package: Path, mutant: Mutant) -> bool:
    path = package / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        code = run(package, mutant.test)
    finally:
        path.write_text(text, encoding="utf-8")
    if code not in (PASSED, FAILED):
        raise SystemExit(f"the tests cannot be run, pytest returned {code}: {mutant.file}: {mutant.about}")
    return code == FAILED


def run(package: Path, test: str) -> int:
    """What pytest returns for a test file that imports this copy."""
    # No bytecode: two versions of a file may have the same size and be written in the same second.
    environment = os.environ | {
        "PYTHONPATH": str(package.parent),
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"tests/{test}"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
