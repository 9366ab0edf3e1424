"""Regret optimal best arm identification: bandits that earn while they learn and commit early.

>>> import robai
>>> result = robai.simulate(robai.EOCP(gap=0.5), robai.Gaussian([0.7, 0.2]), 10**6, 100, rng=0)
>>> result.commit_time[0]
np.int64(1124)
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robai import bandits, custom, families, kl, policies, priors, rules
from robai._base.version import VERSION
from robai._play.assumptions import AssumptionWarning
from robai.bandits import *  # noqa: F403 - the names of `bandits.__all__`
from robai.custom import Commit
from robai.identification import identify
from robai.instances import Instances
from robai.policies import *  # noqa: F403 - the names of `policies.__all__`
from robai.result import Comparison, Identification, Identifications, Result, Summary
from robai.samplers import Sampler
from robai.simulation import compare, simulate, sweep

if TYPE_CHECKING:
    from robai import plotting, theory
    from robai.confidence import NotCovered, WrongCommitEstimate, wrong_commit
    from robai.live import Agent, AnswerConflict, HorizonReached, Store, StoredAgent, Ticket, load
    from robai.plotting.panels import figure

__version__ = VERSION

__all__ = [
    "Agent",
    "AnswerConflict",
    "AssumptionWarning",
    "Commit",
    "Comparison",
    "HorizonReached",
    "Identification",
    "Identifications",
    "Instances",
    "NotCovered",
    "Result",
    "Sampler",
    "Store",
    "StoredAgent",
    "Summary",
    "Ticket",
    "WrongCommitEstimate",
    "bandits",
    "compare",
    "custom",
    "families",
    "figure",
    "get_include",
    "identify",
    "kl",
    "load",
    "plotting",
    "policies",
    "priors",
    "rules",
    "simulate",
    "sweep",
    "theory",
    "wrong_commit",
]
__all__ += bandits.__all__
__all__ += policies.__all__

# What `simulate()` does not need is loaded when it is first asked for.
_LATER = {"plotting", "theory"}
_LIVE = {"Agent", "AnswerConflict", "HorizonReached", "Store", "StoredAgent", "Ticket", "load"}
_CONFIDENCE = {"NotCovered", "WrongCommitEstimate", "wrong_commit"}


if not TYPE_CHECKING:  # which would take any name for one of the package's

    def __getattr__(name: str) -> Any:
        if name in _LATER:
            return import_module(f"robai.{name}")
        if name in _LIVE:
            return getattr(import_module("robai.live"), name)
        if name in _CONFIDENCE:
            return getattr(import_module("robai.confidence"), name)
        if name == "figure":
            return import_module("robai.plotting.panels").figure
        raise AttributeError(f"module 'robai' has no attribute {name!r}")


def get_include() -> str:
    """The directory to put on Cython's include path, so that a rule of one's own can be compiled.

    From there ``from robai._core.levels cimport Level`` finds the declarations of the core; their C needs
    ``numpy.get_include()`` among the ``include_dirs`` of the extension.
    These declarations may change with any version: a rule that was compiled for others is not imported then,
    and has to be compiled again. `docs/extending.md` shows how.

    Returns
    -------
    str
        A path.

    Examples
    --------
    >>> from pathlib import Path
    >>> import robai
    >>> (Path(robai.get_include()) / "robai" / "_core" / "levels.pxd").exists()
    True
    """
    return str(Path(__file__).parents[1])


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
