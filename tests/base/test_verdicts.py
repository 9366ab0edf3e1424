"""Statements about a number: they hold or fail only if all of its interval says so."""

import math

import pytest

from robai._base.verdicts import above, below, together, within


@pytest.mark.parametrize(
    ("interval", "word"),
    [
        ((0.0, 1.0), "holds"),
        ((0.2, 0.8), "holds"),
        ((0.2, 1.1), "not decided"),
        ((-0.1, 0.8), "not decided"),
        ((-1.0, 2.0), "not decided"),
        ((1.1, 1.2), "fails"),
        ((-2.0, -0.1), "fails"),
        ((math.nan, math.nan), "not decided"),
        ((0.5, math.nan), "not decided"),
    ],
)
def test_within_needs_the_whole_interval(interval, word):
    assert within(interval, 0.0, 1.0) == word


def test_less_and_more_are_strict():
    assert [below(each, 1.0) for each in ((0.0, 0.9), (0.0, 1.0), (1.0, 1.0))] == [
        "holds",
        "not decided",
        "fails",
    ]
    assert [above(each, 1.0) for each in ((1.1, 2.0), (1.0, 2.0), (1.0, 1.0))] == [
        "holds",
        "not decided",
        "fails",
    ]


def test_several_hold_if_all_do():
    assert together(["holds", "holds"]) == "holds"
    assert together(["holds", "not decided"]) == "not decided"
    assert together(["not decided", "fails", "holds"]) == "fails"
