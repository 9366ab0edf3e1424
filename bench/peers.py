"""robai beside other packages: the same regret first, then the time of a round.

    python bench/peers.py
    python bench/peers.py --quick --only numba pymab

Every package that is installed plays UCB, KL-UCB and Thompson sampling, as far as it has them (players.py),
on two and on ten arms. Its mean regret must be within 5 standard errors of the difference from that of the
policy of robai that has the same law, by either engine; else it plays another game, and is not timed. Then
the package and both engines are timed in turn, by the processor's time on one core; a number is the smallest
of several repetitions.
"""

import argparse
import math
import os
import sys
import warnings
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import players
from table import (
    STANDARD_ERRORS,
    Contestant,
    Effort,
    fitted,
    interleave,
    means,
    platform_line,
    print_row,
)

import robai

ARMS = (2, 10)
HORIZON = 10**4
CHECK_HORIZON = 2000  # long enough to tell policies apart, short enough for the slowest
CHECK_RUNS = 10_000  # of robai

FULL = Effort(repetitions=10, piece=0.05, least=2, longest=4.0, many=ARMS)
QUICK = Effort(repetitions=3, piece=0.01, least=1, longest=0.5, many=ARMS[:1])


@dataclass(frozen=True)
class Regret:
    """A mean of final regrets, and its standard error."""

    mean: float
    error: float
    runs: int

    @classmethod
    def of(cls, regrets):
        return cls(regrets.mean(), regrets.std(ddof=1) / math.sqrt(regrets.size), regrets.size)

    def apart(self, other):
        """By how many standard errors of the difference."""
        return (self.mean - other.mean) / math.hypot(self.error, other.error)

    def __str__(self):
        return f"{self.mean:.2f} ± {self.error:.2f}"


@dataclass
class Row:
    """A game on some arms: the regrets of the peer and of robai's engines, and the times of all of them."""

    peer: players.Peer
    game: players.Game
    n_arms: int
    regrets: dict[str, Regret]
    times: dict[str, Contestant]

    @property
    def farthest(self):
        """The largest difference of the mean regrets, in standard errors."""
        theirs = self.regrets["peer"]
        return max((theirs.apart(self.regrets[engine]) for engine in engines(self)), key=abs)

    def times_of(self, engine):
        """Nanoseconds of an engine, and how many times faster than the peer it is, in words."""
        if engine not in self.times:
            return "-", "-"
        ours, theirs = (self.times[each].nanoseconds for each in (engine, "peer"))
        return number(ours), f"{number(theirs / ours)} times"


def engines(row):
    return [each for each in row.regrets if each != "peer"]


def simulated(game, n_arms, horizon, runs, engine, rng):
    return robai.simulate(
        game.policy, game.rewards(means(n_arms)), horizon, runs, rng=rng, times=1, workers=1, engine=engine
    )


def checked(peer, game, n_arms, runs):
    """A row whose regrets are known, and nothing else."""
    leaps = simulated(game, n_arms, CHECK_HORIZON, 1, "auto", rng=0).meta["engine"] == "leap"
    theirs = game.play(means(n_arms), CHECK_HORIZON, runs, 1)
    regrets = {"peer": Regret.of(theirs)} | {
        engine: Regret.of(simulated(game, n_arms, CHECK_HORIZON, CHECK_RUNS, engine, rng=1).final_regret)
        for engine in ("step", "leap")[: 1 + leaps]
    }
    return Row(peer, game, n_arms, regrets, {})


def time_row(row, effort):
    """The time of the peer and of the engines, in turn."""
    game, n_arms, together = row.game, row.n_arms, row.peer.together
    # Many runs at once are many rounds, and all of them take the same time: fewer are enough.
    horizon = HORIZON if together is None else CHECK_HORIZON

    def theirs(runs):
        game.play(means(n_arms), horizon, runs, 0)
        return runs * horizon

    def ours(engine):
        def play(runs):
            simulated(game, n_arms, HORIZON, runs, engine, rng=0)
            return runs * HORIZON

        return fitted(play, effort.piece)

    row.times["peer"] = fitted(theirs, effort.piece) if together is None else Contestant(theirs, together)
    row.times |= {engine: ours(engine) for engine in engines(row)}
    interleave(row.times.values(), effort)


def rows_of(peer, effort, share):
    """Its rows, and what went wrong with it: (where, why)."""
    try:
        version(peer.distribution)
    except PackageNotFoundError:
        return [], [(peer.distribution, "not installed")]
    runs = peer.together or max(20, round(share * peer.check_runs))
    rows, wrong = [], []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old code, about newer Pythons
            for game in peer.start():
                for n_arms in effort.many:
                    row = checked(peer, game, n_arms, runs)
                    if abs(row.farthest) <= STANDARD_ERRORS:
                        time_row(row, effort)
                        rows.append(row)
                        print(*name(row), file=sys.stderr)
                    else:
                        where = f"{peer.distribution}, {game.policy.label()}, K = {n_arms}"
                        texts = [f"{each} {regret}" for each, regret in row.regrets.items()]
                        wrong.append((where, f"not the same game, mean regrets: {', '.join(texts)}"))
    except Exception as error:  # whatever a package does that does not go with the others
        text = " ".join(str(error).split())
        return rows, [*wrong, (peer.distribution, f"fails: {type(error).__name__}: {text}"[:200])]
    return rows, wrong


def print_rows(rows):
    print(f"\nThe same regret, T = {CHECK_HORIZON:,}; robai: {CHECK_RUNS:,} runs of each engine\n")
    print_row(
        "package", "policy of robai", "rewards", "K", "runs", "its regret", "by rounds", "by leaps", "apart"
    )
    print_row("---", "---", "---", *["---:"] * 6)
    for row in rows:
        regrets = [row.regrets.get(each, "-") for each in ("peer", "step", "leap")]
        runs = f"{row.regrets['peer'].runs:,}"
        print_row(*name(row), runs, *regrets, f"{row.farthest:+.1f} s.e.")
    print(f"\nNanoseconds a round, T = {HORIZON:,}\n")
    print_row(
        "package", "policy of robai", "rewards", "K", "it", "robai, every round", "", "robai, leaps", ""
    )
    print_row("---", "---", "---", *["---:"] * 6)
    for row in rows:
        theirs = number(row.times["peer"].nanoseconds)
        print_row(*name(row), theirs, *row.times_of("step"), *row.times_of("leap"))


def number(value):
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def name(row):
    package = f"{row.peer.distribution} {version(row.peer.distribution)}"
    return package, f"`{row.game.policy.label()}`", row.game.rewards.__name__, row.n_arms


def main(arguments=None, peers=players.PEERS):
    parser = argparse.ArgumentParser(description="Time robai beside the packages that are installed.")
    parser.add_argument("--quick", action="store_true", help="two arms, fewer runs and repetitions: noisier")
    names = [peer.distribution for peer in peers]
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="these packages alone")
    options = parser.parse_args(arguments)
    effort, share = (QUICK, 0.2) if options.quick else (FULL, 1.0)

    print(platform_line())
    rows, wrong = [], []
    for peer in peers:
        if peer.distribution in options.only:
            found, failed = rows_of(peer, effort, share)
            rows += found
            wrong += failed
    print_rows(rows)
    left_out = [(peer.distribution, peer.left_out) for peer in peers if peer.left_out]
    for title, lines in (("Skipped", wrong), ("Left out", left_out)):
        if lines:
            print(f"\n{title}\n")
        for where, why in lines:
            print(f"- {where}: {why}")
    return int(any("not the same game" in why for _, why in wrong))


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before anything starts threads
    sys.exit(main())
