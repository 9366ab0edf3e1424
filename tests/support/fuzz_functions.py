"""Levels, indices and stops as functions, by names that a child process can import."""

import math

from robai import rules


@rules.Level.ctypes_signature
def ratio(pulls, t, horizon, arms):
    return max(math.log(horizon / pulls), 0.0)


@rules.Level.ctypes_signature
def late(pulls, t, horizon, arms):
    return math.inf if pulls < 3.0 else 0.5 * math.log(t)


@rules.Index.ctypes_signature
def variance(pulls, total, squares, t, horizon, arms):
    return total / pulls + math.sqrt((squares / pulls + 1.0) * math.log(t) / pulls)


@rules.Index.ctypes_signature
def few(pulls, total, squares, t, horizon, arms):
    return math.inf if pulls < 5.0 else total


@rules.Stop.ctypes_signature
def ahead(arms, t, horizon, pulls, sums, squares):
    most = sorted(pulls[arm] for arm in range(arms))
    return most[-1] > 3 * most[-2]


@rules.Stop.ctypes_signature
def varied(arms, t, horizon, pulls, sums, squares):
    return all(squares[arm] > 1.0 for arm in range(arms))


def _named(kind, function, **options):
    return kind(f"{__name__}:{function}", name=function, **options)


LEVELS = (_named(rules.Level, "ratio"), _named(rules.Level, "late", grows=True))
INDICES = (
    _named(rules.Index, "variance", grows=True, moments=2),
    _named(rules.Index, "few", initial_pulls=2),
)
STOPS = (_named(rules.Stop, "ahead"), _named(rules.Stop, "varied", moments=2))
