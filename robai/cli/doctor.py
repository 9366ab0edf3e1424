"""`robai doctor`: what is installed here, and whether it computes what it should."""

import argparse
import importlib.metadata
import math
import os
import platform
import struct
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robai import bandits, families, kl, policies
from robai._base.text import painted
from robai._base.version import VERSION
from robai._core import build
from robai._core.rng import NUMPY, seed_block
from robai.cli.output import to_json
from robai.live import Agent
from robai.policies.base import BasePolicy
from robai.simulation import simulate

_GROUPS = Path("/sys/fs/cgroup")
_EXTRAS = ("matplotlib", "tqdm", "pandas", "shtab")


class Check(NamedTuple):
    """A number, or some, and what it must be: exactly, or up to a tolerance."""

    name: str
    found: Any
    expected: Any
    tolerance: float = 0.0

    @property
    def passed(self) -> bool:
        if not self.tolerance:
            return bool(self.found == self.expected)
        return math.isfinite(self.found) and abs(self.found - self.expected) <= self.tolerance


def add_options(parser: argparse.ArgumentParser) -> None:
    pass


def run(options: argparse.Namespace) -> int:
    started = time.perf_counter()
    facts, checks = _facts(), list(_checks())
    seconds, failed = time.perf_counter() - started, [each for each in checks if not each.passed]
    if options.json:
        rows = [each._asdict() | {"passed": each.passed} for each in checks]
        print(to_json(facts | {"checks": rows, "passed": not failed, "seconds": seconds}))
    else:
        print("\n".join(f"{name:<12}{text}" for name, text in _lines(facts)))
        for each in failed:
            within = f" within {each.tolerance:.2g}" if each.tolerance else ""
            print(painted("error", f"failed: {each.name}: {each.found} instead of {each.expected}{within}"))
        some = (
            f"all {len(checks)} checks passed"
            if not failed
            else f"{len(failed)} of {len(checks)} checks failed"
        )
        print(f"\n{painted('error' if failed else 'best', some)} in {seconds:.1f} s")
    return 1 if failed else 0


def _facts() -> dict[str, Any]:
    """The versions and the machine, for scripts."""
    free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {
        "robai": VERSION,
        "abi": build.ABI,
        "python": platform.python_version(),
        "implementation": f"{platform.python_implementation()}, {8 * struct.calcsize('P')} bits",
        "free_threaded": free,
        "gil": getattr(sys, "_is_gil_enabled", lambda: True)(),
        "numpy": np.__version__,
        "numpy_samplers": NUMPY,
        "cython": build.CYTHON,
        "compiler": build.COMPILER,
        "flags": build.FLAGS,
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "cores_usable": usable,
        "cgroup_cores": _cgroup_cores(),
        "cgroup_memory": _cgroup_memory(),
        "extras": {name: _version(name) for name in _EXTRAS},
    }


def _version(name: str) -> str | None:
    with suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(name)
    return None


def _limit(*files: str) -> list[str]:
    """The words of the first of these files of the control groups that can be read."""
    for file in files:
        with suppress(OSError):
            return (_GROUPS / file).read_text().split()
    return []


def _cgroup_cores() -> float | None:
    words = _limit("cpu.max") or [
        *_limit("cpu/cpu.cfs_quota_us"),
        *_limit("cpu/cpu.cfs_period_us"),
    ]
    if len(words) < 2 or words[0] in ("max", "-1"):
        return None
    return int(words[0]) / int(words[1])


def _cgroup_memory() -> int | None:
    words = _limit("memory.max", "memory/memory.limit_in_bytes")
    return int(words[0]) if words and words[0] != "max" and int(words[0]) < 2**60 else None


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    gil = "on" if facts["gil"] else "off"
    kind = ", free-threaded" if facts["free_threaded"] else ""
    limits = [f"{facts['cores_usable']} of {facts['cores']} usable"]
    if facts["cgroup_cores"]:
        limits.append(f"control group: the time of {facts['cgroup_cores']:g}")
    if facts["cgroup_memory"]:
        limits.append(f"control group: memory {facts['cgroup_memory'] / 2**30:.3g} GiB")
    extras = [f"{name} {version or 'not installed'}" for name, version in facts["extras"].items()]
    return [
        ("robai", f"{facts['robai']}, ABI {facts['abi']}"),
        ("Python", f"{facts['python']} ({facts['implementation']}{kind}), GIL {gil}"),
        ("NumPy", f"{facts['numpy']}, samplers of {facts['numpy_samplers']}"),
        ("Cython", facts["cython"]),
        ("compiler", f"{facts['compiler']}, {facts['flags']}"),
        ("system", facts["system"]),
        ("cores", "; ".join(limits)),
        ("extras", ", ".join(extras)),
    ]


_GAUSSIAN, _BERNOULLI = bandits.Gaussian([0.7, 0.2]), bandits.Bernoulli([0.7, 0.2, 0.6])

# max and min of {q : d(p, q) <= level}, by bisection in 40 digits
_BOUNDS = (
    (families.Bernoulli(), 0.25, 0.125, 0.49411905956898804, 0.082945051676122951),
    (families.Bernoulli(), 0.96875, 0.0078125, 0.98585310587886375, 0.94197555126589666),
    (families.Poisson(), 3.0, 0.5, 5.0802366974966590, 1.5839742557758376),
    (families.Exponential(), 2.0, 0.25, 4.4565064596420966, 1.0622958136682790),
)
# Pulls of each arm in 50 runs of 2,000 rounds, all played. The generator, the normal distribution and the
# rules are the package's own, so that a platform has no say but by the last bit of a logarithm.
_STEPPED: tuple[tuple[BasePolicy, bandits.Bandit, list[int]], ...] = (
    (policies.UCB(), _GAUSSIAN, [97_924, 2_076]),
    (policies.KLUCB(), _BERNOULLI, [91_482, 601, 7_917]),
    (policies.EOCPUG(), _GAUSSIAN, [98_287, 1_713]),
)
# Mean regret and its standard error, of 100,000 runs: draws may change with the build, laws may not.
_PLAYED: tuple[tuple[BasePolicy, bandits.Bandit, int, float, float], ...] = (
    (policies.UCB(), _GAUSSIAN, 10**6, 53.4713, 0.0645),
    (policies.EOCP(0.5), _GAUSSIAN, 10**6, 38.2309, 0.0415),
    (policies.ThompsonSampling(), _GAUSSIAN, 2000, 17.3687, 0.0737),
    (policies.LeadCommit(), _GAUSSIAN, 10**5, 25.7688, 0.0424),
    (policies.KLUCB(), _BERNOULLI, 10**5, 53.1947, 0.0606),
    (policies.KLUCB(), bandits.Poisson([3.0, 2.0]), 10**4, 42.3276, 0.0588),
    (policies.KLUCB(), bandits.Exponential([2.0, 1.0]), 10**4, 42.0141, 0.1814),
    (policies.KLUCB(), bandits.Binomial([3.0, 2.0], n=10), 10**4, 31.9593, 0.0448),
    (policies.ThompsonSampling(), bandits.Bernoulli([0.7, 0.2]), 1000, 4.3827, 0.0076),
    (policies.ThompsonSampling(), bandits.Gamma([2.0, 1.0], shape=2.0), 1000, 13.0176, 0.0808),
    (policies.TrackAndStop(), bandits.Bernoulli([0.7, 0.2]), 1000, 15.4657, 0.0238),
)
_RUNS = 400
_ERRORS = 5.0  # standard errors


def _checks() -> Iterator[Check]:
    words = [13496926951386035664, 9460083024030360267, 6347603563114688320, 762947018942049713]
    yield Check("the seed of a run", seed_block([20, 23], [], 0)[3].tolist(), words)
    for family, mean, level, high, low in _BOUNDS:
        yield Check(f"upper bound of {family!r}", kl.upper(family, mean, level), high, 1e-12 * high)
        yield Check(f"lower bound of {family!r}", kl.lower(family, mean, level), low, 1e-12 * low)
    for policy, bandit, pulls in _STEPPED:
        stepped = simulate(policy, bandit, 2000, 50, rng=0, engine="step")
        yield Check(f"pulls of {policy.label()} on {bandit!r}", stepped.pulls.sum(axis=0).tolist(), pulls)
    for policy, bandit, horizon, regret, sem in _PLAYED:
        played = simulate(policy, bandit, horizon, _RUNS, rng=0)
        found = played.digest().regret
        name = f"regret of {policy.label()} on {bandit!r}, T = {horizon:,}, {played.meta['engine']} engine"
        yield Check(name, found.value, regret, _ERRORS * math.hypot(sem, found.sem))
    one, two = (simulate(policies.UCB(), _GAUSSIAN, 10**4, 600, rng=3, workers=n).pulls for n in (1, 2))
    yield Check("pulls that two threads make otherwise than one", int((one != two).sum()), 0)
    agent = Agent(policies.KLEOCPUG(), ["A", "B"], 10_000, reward="bernoulli", rng=7)
    for visitor in range(400):
        agent.update(arm := agent.select(), int(visitor % 5 < (3 if arm == "A" else 1)))
    yield Check("pulls of an agent", agent.pulls.tolist(), [368, 32])
