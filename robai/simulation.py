"""simulate(), compare() and sweep(): every argument checked before any work starts, then batches of runs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from typing import Any

from robai._base import checks
from robai._base.spec import as_text
from robai._play.arrivals import Arrivals, Delay
from robai._play.request import Engine, Keep, Options, Simulation
from robai._play.seeds import Rng, Seed
from robai._play.together import Finished, labelled, play_all
from robai.bandits import Bandit
from robai.custom import PythonPolicy, as_policy
from robai.instances import Instances
from robai.policies.base import BasePolicy
from robai.result import Comparison, Result, Summary, Sweep
from robai.rules.python import has_its_methods


def simulate(
    policy: BasePolicy | PythonPolicy,
    bandit: Bandit,
    horizon: int | float,
    runs: int | float | range,
    *,
    rng: Rng = None,
    times: int | Iterable[int] = 200,
    engine: Engine = "auto",
    workers: int | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[int, int], Any] = False,
    curves: bool = False,
    common: bool = False,
    keep: Keep = "runs",
    delay: Delay = 0,
    batch: int = 1,
    loss: float = 0.0,
    window: int | float | None = None,
    missing: float | None = None,
) -> Result:
    """Play a policy on a bandit, many times, and return regret and commitments.

    Parameters
    ----------
    policy : policy
        One of `robai.policies`, or any object with `select(state)` and `update(arm, reward)`, which
        is slow (see `robai.custom`).
    bandit : bandit
        One of `robai.bandits`; `robai.Instances`, if every run is to have means of its own;
        `robai.Sampler`, if a function draws the rewards.
    horizon : int
        The number of rounds of a run, up to 10**18; at least the number of arms.
    runs : int or range
        The number of independent runs; or which of them, as `range(1000, 2000)`, to be merged with others
        (`Result.merge`).
    rng : None, int, SeedSequence or Generator
        The seed. Run r depends on it and on r alone: any number of workers, any executor, and
        any larger number of runs give the same numbers.
    times : int or sequence of int
        How many log-spaced rounds to record regret at, or the rounds themselves. The horizon is
        always recorded.
    engine : "auto", "step" or "leap"
        "step" plays every round; "leap" jumps between the rounds at which anything is decided;
        "auto" leaps where that applies.
    workers : int or None
        The number of threads, all cores if None; of an executor's workers, if one is given: four
        batches for each are under way at a time.
    executor : concurrent.futures.Executor or None
        Where to run batches instead of own threads: a process pool, Dask's (`pure=False`), MPI's; but not
        the pool in which this call itself runs. Ctrl-C cancels the batches that wait there and stops those
        that are being played on this machine within a second; on others they come to their end.
    checkpoint : path or None
        A directory that finished batches are kept in; a simulation that was interrupted goes on
        from there when it is called again with the same arguments, or with more runs.
    progress : bool or callable
        True shows a bar (tqdm if installed); a callable is called with runs done and runs in all.
    curves : bool
        Keep the regret of every run at `times`, for quantile bands.
    common : bool
        Draw the rewards of every arm from a generator of its own: the k-th reward of an arm in run r is
        then the same for every policy, which makes their differences more exact. Every round is played;
        policies written in Python cannot.
    keep : "runs" or "summary"
        "runs" keeps the final regret, the commitment and the pulls of every run; "summary" only sums and
        counts: a `robai.Summary`, whose size does not depend on the number of runs.
    delay : int or ("geometric", mean)
        How many rounds rewards are late: that of round t (0, 1, ...) counts before the arm of round
        t + 1 + delay is chosen. If random, it is drawn for every reward. What is played is what an agent
        plays: rewards that are under way count as the mean of their arm in indices, and not in stops.
    batch : int
        Rewards come in together, before rounds that are multiples of it.
    loss : float
        The chance that a reward never comes.
    window : int, inf or None
        After how many rounds a pull without a reward is given up; what comes later does not count. With a
        window, also an infinite one, the rules are those of a live experiment that has one: exploration
        ends by the policy's own stop or by a certificate of level 1/T (`rules.Certificate`).
    missing : float or None
        What counts where no reward has come when the window closes. All rewards then count when their
        windows close, so that which ones come says nothing.

    Returns
    -------
    Result
        Regret at `times`, and of every run the final regret, the commitment and the pulls.

    See Also
    --------
    compare : Several policies.
    sweep : Several bandits, or several horizons.
    identify : How long it takes to find the best arm.

    Notes
    -----
    Ctrl-C reaches the main thread alone. A simulation in another thread is not stopped by it, but ends
    (SystemExit) when the main thread has ended and the interpreter exits.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Gaussian([0.7, 0.2])
    >>> result = robai.simulate(robai.EOCP(gap=0.5), bandit, horizon=10**6, runs=1000, rng=0)
    >>> set(result.commit_time.tolist())
    {1124}
    """
    arrivals = Arrivals.of(delay, batch, loss, window, missing)
    chosen = as_policy(policy)
    simulation = Simulation.of(chosen, bandit, horizon, times, Seed.of(rng), engine, common, arrivals)
    options = Options(runs, workers, executor, checkpoint, progress, curves, keep)
    [result] = _results([(simulation.policy.label(), simulation)], options, [""])
    return result


def compare(
    policies: Iterable[BasePolicy | PythonPolicy] | Mapping[str, BasePolicy | PythonPolicy],
    bandit: Bandit,
    horizon: int | float,
    runs: int | float | range,
    *,
    rng: Rng = None,
    times: int | Iterable[int] = 200,
    engine: Engine = "auto",
    workers: int | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[int, int], Any] = False,
    curves: bool = False,
    common: bool = False,
    keep: Keep = "runs",
    delay: Delay = 0,
    batch: int = 1,
    loss: float = 0.0,
    window: int | float | None = None,
    missing: float | None = None,
) -> Comparison:
    """Play several policies on the same bandit, or on the same instances.

    Parameters
    ----------
    policies : sequence of policies, or mapping from labels to policies
        Whom to compare; they are labelled by their names and changed parameters, or as the mapping says.
    bandit, horizon, runs, rng, times, engine, workers, executor, checkpoint, progress, curves, common, keep
        As for `simulate`. Every policy gets the same seed, so each result is what `simulate`
        alone would return for it.
    delay, batch, loss, window, missing
        Likewise.

    Returns
    -------
    Comparison
        A mapping from labels to results.

    See Also
    --------
    simulate : One policy.
    sweep : Several bandits, or several horizons.

    Examples
    --------
    >>> import robai
    >>> policies = {"ours": robai.EOCPUG(), "UCB": robai.UCB()}
    >>> played = robai.compare(policies, robai.Gaussian([0.7, 0.2]), horizon=10**5, runs=1000, rng=0)
    >>> played.difference("ours", "UCB").high < 0
    True
    """
    named, seed = labelled(policies), Seed.of(rng)
    arrivals = Arrivals.of(delay, batch, loss, window, missing)
    if isinstance(times, Iterator):  # which can be read once only
        times = list(times)
    simulations = [
        (label, Simulation.of(policy, bandit, horizon, times, seed, engine, common, arrivals))
        for label, policy in named.items()
    ]
    options = Options(runs, workers, executor, checkpoint, progress, curves, keep)
    return Comparison(_results(simulations, options, [f"policy-{place}" for place in range(len(named))]))


def sweep(
    policies: BasePolicy
    | PythonPolicy
    | Iterable[BasePolicy | PythonPolicy]
    | Mapping[str, BasePolicy | PythonPolicy],
    bandits: Bandit | Iterable[Bandit] | Mapping[str, Bandit],
    horizons: int | float | Iterable[int | float],
    runs: int | float | range,
    *,
    rng: Rng = None,
    times: int = 200,
    engine: Engine = "auto",
    workers: int | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[int, int], Any] = False,
    curves: bool = False,
    common: bool = False,
    keep: Keep = "runs",
    delay: Delay = 0,
    batch: int = 1,
    loss: float = 0.0,
    window: int | float | None = None,
    missing: float | None = None,
) -> Sweep:
    """Play every policy on every bandit over every horizon.

    Parameters
    ----------
    policies : policy, sequence of policies, or mapping from labels to policies
        As for `compare`.
    bandits : bandit, sequence of bandits, or mapping from names to bandits
        What to play on.
    horizons : int or sequence of int
        How long.
    runs, rng, times, engine, workers, executor, checkpoint, progress, curves, common, keep
        As for `simulate`. All have the same seed, so each result is what `simulate` alone would return.
    delay, batch, loss, window, missing
        Likewise.

    Returns
    -------
    Sweep
        A mapping from (policy, bandit, horizon) to results, with a table and figures.

    See Also
    --------
    compare : One bandit and one horizon.

    Examples
    --------
    >>> import robai
    >>> bandit = robai.Gaussian([0.7, 0.2])
    >>> played = robai.sweep([robai.EOCPUG(), robai.UCB()], bandit, [10**3, 10**4, 10**5], runs=100, rng=0)
    >>> len(played), played.policies, played.horizons
    (6, ('EOCPUG()', 'UCB()'), (1000, 10000, 100000))
    """
    alone = isinstance(policies, BasePolicy) or has_its_methods(policies)
    named = labelled([policies] if alone else policies)
    arms, seed = _named_bandits(bandits), Seed.of(rng)
    rounds = list(horizons) if isinstance(horizons, Iterable) else [horizons]
    if not rounds or len(set(rounds)) < len(rounds):
        raise ValueError(f"horizons must be one or several different numbers, got {rounds}")
    count = checks.whole("times", times, 1, 10**6)  # a list of rounds is of one horizon
    arrivals = Arrivals.of(delay, batch, loss, window, missing)
    cells = {
        (label, name, horizon): Simulation.of(policy, bandit, horizon, count, seed, engine, common, arrivals)
        for name, bandit in arms.items()
        for horizon in rounds
        for label, policy in named.items()
    }
    options = Options(runs, workers, executor, checkpoint, progress, curves, keep)
    folders = [f"cell-{place}" for place in range(len(cells))]
    played = _results([(key[0], simulation) for key, simulation in cells.items()], options, folders)
    keys = ((label, name, simulation.game.rounds) for (label, name, _), simulation in cells.items())
    return Sweep(dict(zip(keys, played, strict=True)))


def _results(simulations: list[tuple[str, Simulation]], options: Options, folders: list[str]) -> list[Result]:
    """A result, with its label, for every simulation."""
    listed = [simulation for _, simulation in simulations]
    for bandit in {id(simulation.bandit): simulation.bandit for simulation in listed}.values():
        _warn_of_ties(bandit)
    finished = play_all(listed, options, folders)
    kind = Result if options.keep == "runs" else Summary
    return [_result(kind, label, each) for (label, _), each in zip(simulations, finished, strict=True)]


def _result(kind: type[Result], label: str, finished: Finished) -> Result:
    if finished.small:  # checks take as long as all the rest
        return kind._of(label, finished.meta, finished.arrays)
    return kind(**finished.arrays, label=label, meta=finished.meta)


def _named_bandits(bandits: Any) -> dict[str, Bandit]:
    if isinstance(bandits, Bandit):
        bandits = [bandits]
    if isinstance(bandits, str) or not isinstance(bandits, Iterable):
        raise TypeError(f"bandits must be a bandit or a sequence of bandits, got {bandits!r}")
    pairs = list(bandits.items() if isinstance(bandits, Mapping) else ((None, each) for each in bandits))
    named: dict[str, Bandit] = {}
    for name, bandit in pairs:
        if not isinstance(bandit, Bandit):
            raise TypeError(f"bandits must be bandits of robai.bandits, got {bandit!r}")
        name = as_text(bandit.brief()) if name is None else name
        if not isinstance(name, str) or not name:
            raise ValueError(f"bandits must be named by non-empty strings, got {name!r}")
        if name in named:
            raise ValueError(f"bandits holds {name} twice; pass a mapping to name them")
        named[name] = bandit
    if not named:
        raise ValueError("bandits must hold at least one bandit, got none")
    return named


def _warn_of_ties(bandit: Bandit) -> None:
    if isinstance(bandit, Instances):  # where any of the best arms of a run is right
        return
    best = bandit.best_arms
    if len(best) > 1:
        arms = ", ".join(map(str, best[:10])) + (f" and {len(best) - 10:,} more" if len(best) > 10 else "")
        warnings.warn(f"arms {arms} are all best: regret is defined, a wrong commitment is not", stacklevel=4)
