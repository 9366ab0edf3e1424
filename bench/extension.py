"""What a rule of one's own costs: MOSS in every way of docs/extending.md, against the compiled level.

    python bench/extension.py

The level is compiled by Cython from the page, against the installed package; the others are a level and an
index by numba, an index by C (ctypes), and Python. Nanoseconds a round are the smallest of several
repetitions, interleaved. All play the same arms, which is checked first. Exits with 1 if a function takes
more than 3 times as long as the compiled rule, by steps. Needs Cython, numba and a C compiler.
"""

import ctypes
import importlib.util
import math
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numba
import numpy as np

import robai
from robai import rules

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text()
BANDITS = {"2 arms": robai.Gaussian([0.7, 0.2]), "10 arms": robai.Gaussian([0.7] + [0.2] * 9)}
HORIZON, RUNS = 100_000, 40
PYTHON_HORIZON, PYTHON_RUNS = 2000, 4
REPETITIONS = 15
LARGEST_RATIO = 3.0  # of a function, by steps


@numba.cfunc(rules.Level.signature, error_model="numpy")
def level(pulls, t, horizon, arms):
    return 2 * math.log(max(horizon / (arms * pulls), 1.0))


@numba.cfunc(rules.Index.signature, error_model="numpy")
def index(pulls, total, squares, t, horizon, arms):
    return total / pulls + math.sqrt(4 / pulls * math.log(max(horizon / (arms * pulls), 1.0)))


class Moss:
    def select(self, state):
        if state.t < state.n_arms:
            return state.t
        share = np.maximum(state.horizon / (state.n_arms * state.pulls), 1.0)
        return int((state.means + np.sqrt(4 / state.pulls * np.log(share))).argmax())

    def update(self, arm, reward):
        pass


def block(name):
    return re.search(rf"<!-- {re.escape(name)} -->\n```\w+\n(.*?)```", PAGE, re.S)[1]


def compiled(folder):
    """The policies of the page that need a compiler: by Cython, and by C."""
    for name in ("moss.pyx", "setup.py", "moss_index.c"):
        (folder / name).write_text(block(name))
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=folder, check=True)
    subprocess.run(block("moss_index.sh"), shell=True, cwd=folder, check=True)
    spec = importlib.util.spec_from_file_location("moss", next(folder.glob("moss.*.so")))
    sys.modules["moss"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["moss"])
    names = {"__name__": "moss"}
    exec(block("moss_rule.py"), names)
    return names["moss"], ctypes.CDLL(str(folder / "libmoss.so")).moss_index


def seconds(policy, bandit, horizon, runs, engine):
    start = time.process_time()
    result = robai.simulate(policy, bandit, horizon, runs, rng=0, times=1, engine=engine, workers=1)
    return time.process_time() - start, result.pulls


def measure(policies, bandit, horizon, runs, engine):
    """Nanoseconds a round of each policy, after a check that all play the same."""
    played = [seconds(policy, bandit, horizon, runs, engine)[1] for policy in policies.values()]
    assert all((pulls == played[0]).all() for pulls in played)
    best = dict.fromkeys(policies, math.inf)
    for _ in range(REPETITIONS):
        for name, policy in policies.items():
            best[name] = min(best[name], seconds(policy, bandit, horizon, runs, engine)[0])
    return {name: 1e9 * each / (horizon * runs) for name, each in best.items()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        cython, c_index = compiled(Path(folder))
        policies = {
            "level, Cython": cython,
            "level, numba": robai.UCB(level=rules.Level(level, name="MOSS")),
            "index, numba": robai.Policy(rules.Index(index, name="MOSS")),
            "index, C": robai.Policy(rules.Index(c_index, name="MOSS")),
        }
        levels = dict(list(policies.items())[:2])
        worst = 0.0
        for name, bandit in BANDITS.items():
            print(f"MOSS, {name}, {HORIZON:,} rounds, by steps     ns a round    ratio")
            times = measure(policies, bandit, HORIZON, RUNS, "step")
            for way, nanoseconds in times.items():
                ratio = nanoseconds / times["level, Cython"]
                worst = max(worst, ratio)
                print(f"  {way:35} {nanoseconds:12.2f} {ratio:8.2f}")
            python = measure({"Python": Moss()}, bandit, PYTHON_HORIZON, PYTHON_RUNS, "step")["Python"]
            print(f"  {'Python':35} {python:12.0f} {python / times['level, Cython']:8.0f}")
            leaps = measure(levels, bandit, HORIZON, 20 * RUNS, "leap")
            for way, nanoseconds in leaps.items():
                ratio = nanoseconds / leaps["level, Cython"]
                print(f"  {way + ', by leaps':35} {nanoseconds:12.3f} {ratio:8.2f}")
    return worst > LARGEST_RATIO


if __name__ == "__main__":
    sys.exit(main())
