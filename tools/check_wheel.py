#!/usr/bin/env python3
"""Look into wheels, and try them where nothing else is installed.

    python tools/check_wheel.py dist/*.whl                         with this Python
    python tools/check_wheel.py dist/*.whl --python python3.12     with another
    python tools/check_wheel.py --installed                        what is installed here, as it is

A wheel has the compiled modules, their declarations and types, and neither sources nor tests. It is installed
in a new virtual environment, with NumPy and nothing else: robai is imported, plays, keeps a store, and
examines itself (`robai doctor`). With --plot matplotlib follows, and `robai reproduce --quick`.
"""

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "robai"
LARGEST = 3_000_000  # bytes of a wheel


def need(condition, message):
    if not condition:
        sys.exit(f"check_wheel: {message}")


# ---- what is in it


def look_into(wheel):
    """A SystemExit that says what is missing from the wheel, or has no place in it."""
    _, version, _, abi, _ = wheel.stem.split("-")
    with zipfile.ZipFile(wheel) as archive:
        need(archive.testzip() is None, f"{wheel.name} is damaged")
        names = {name for name in archive.namelist() if not name.endswith("/")}
    core = PACKAGE / "_core"
    compiled = {name for name in names if name.endswith((".so", ".pyd"))}
    modules = {path.stem for path in core.glob("*.pyx")} | {"_shared"}
    differing = modules ^ {Path(name).name.split(".")[0] for name in compiled}
    need(
        not differing,
        f"{wheel.name}: {', '.join(sorted(differing))} either compiled or in the tree, not both",
    )
    for name in compiled:
        need(_suits(name, abi), f"{wheel.name}: {name} is not of the ABI {abi}")
    pages = (PACKAGE / "report" / "assets").iterdir()
    shown = [*core.glob("*.pxd"), *core.glob("*.pyi"), *PACKAGE.rglob("*.py"), PACKAGE / "py.typed", *pages]
    wanted = {path.relative_to(ROOT).as_posix() for path in shown}
    need(wanted <= names, f"{wheel.name} has no {', '.join(sorted(wanted - names))}")
    about = f"robai-{version}.dist-info/"
    need(about + "licenses/LICENSE" in names, f"{wheel.name} has no licence")
    others = sorted(name for name in names - wanted - compiled if not name.startswith(about))
    need(not others, f"{wheel.name} has {', '.join(others)}, which nobody needs who uses it")
    size = wheel.stat().st_size
    need(size <= LARGEST, f"{wheel.name} has {size:,} bytes, more than {LARGEST:,}")
    print(f"{wheel.name}: {size:,} bytes, {len(names)} files", flush=True)


def _suits(name, abi):
    """Whether a module is for the ABI, by its name: x.abi3.so, x.cpython-312-x86_64-linux-gnu.so, ..."""
    _, *tags, _ = Path(name).name.split(".")
    if abi == "abi3":
        return tags in (["abi3"], [])  # none on Windows
    return len(tags) == 1 and tags[0].replace("cpython-", "cp").startswith(f"{abi}-")


# ---- how it works


def robai_says(*command):
    """What the command line prints, in a process of its own."""
    run = [sys.executable, "-I", "-m", "robai", *command]
    return subprocess.run(run, text=True, capture_output=True, env=os.environ | {"MPLBACKEND": "agg"})


def try_installed():
    """Use what is installed, in this directory."""
    import robai

    need(
        PACKAGE not in Path(robai.__file__).resolve().parents,
        f"robai is that of {ROOT}, not an installed one",
    )
    bandit = robai.Gaussian([0.7, 0.2])
    one, two = (
        robai.simulate(robai.EOCPUG(), bandit, 10**6, 10_000, rng=0, workers=workers) for workers in (1, 2)
    )
    need(one == two, "results depend on the number of threads")
    mean, error = one.regret[-1], one.regret_sem[-1]
    need(abs(mean - 40.23) < 5 * error, f"the regret of EOCPUG() is {mean:.2f}; the README has 40.23")

    with robai.Store("live.db") as store:
        agent = store.create("arms", robai.KLEOCPUG(), 3, 10**4, reward="bernoulli", rng=0)
        for _ in range(1000):
            ticket = agent.ticket()
            agent.answer(ticket, ticket.arm == 1)
        need(agent.committed_arm == 1, "an agent has not found the best arm")
        known = agent.to_json()
    with robai.Store("live.db") as store:
        need(store.open("arms").to_json() == known, "a store has not kept an agent")
        need(store.check() == [], "a store is not sound")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        need(not sys._is_gil_enabled(), "robai has turned the GIL on")

    if "doctor" in robai_says("--help").stdout:
        examined = robai_says("doctor")
        need(examined.returncode == 0, examined.stdout + examined.stderr)
        print(examined.stdout, end="")
    reproduced = robai_says("reproduce", "--quick")
    if "robai[plot]" in reproduced.stderr:
        print("robai plays and keeps a store; no matplotlib, so nothing was reproduced", flush=True)
    else:
        need(reproduced.returncode == 0, reproduced.stdout + reproduced.stderr)
        need(Path("robai-report/report.json").exists(), "robai reproduce has written no report")
        print("robai plays, keeps a store and reproduces the paper", flush=True)


def try_wheel(wheel, python, plot):
    """Install the wheel in an environment of its own, and use it."""
    with tempfile.TemporaryDirectory(prefix="robai-") as folder:
        environment = Path(folder) / "environment"
        subprocess.run([python, "-m", "venv", environment], check=True)
        inside = [environment / ("Scripts" if os.name == "nt" else "bin") / "python", "-I"]
        for extra in ("", "[plot]") if plot else ("",):
            pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--only-binary", ":all:"]
            subprocess.run([*inside, *pip, f"{wheel}{extra}"], check=True)
            subprocess.run([*inside, Path(__file__).resolve(), "--installed"], check=True)


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("wheels", nargs="*", type=Path, help="wheels of this tree")
    parser.add_argument(
        "--python", action="append", metavar="COMMAND", help="try them with this one; repeatable"
    )
    parser.add_argument("--plot", action="store_true", help="also with matplotlib")
    parser.add_argument("--contents", action="store_true", help="only look into them")
    parser.add_argument("--installed", action="store_true", help="try what is installed here")
    options = parser.parse_args()
    if options.installed == bool(options.wheels):
        parser.error("name wheels, or --installed")
    if options.installed:
        with tempfile.TemporaryDirectory(prefix="robai-") as folder:
            os.chdir(folder)
            try_installed()
            os.chdir(ROOT)  # Windows removes no directory that somebody is in
    for wheel in options.wheels:
        look_into(wheel)
        for python in [] if options.contents else options.python or [sys.executable]:
            print(f"with {python}", flush=True)
            try:
                try_wheel(wheel.resolve(), python, options.plot)
            except subprocess.CalledProcessError as error:
                sys.exit(error.returncode)


if __name__ == "__main__":
    main()
