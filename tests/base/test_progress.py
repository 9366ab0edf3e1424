"""The line of progress: written over, ended once, final ones alone where none can be written over."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from robai._base.progress import Line, TimeLeft


def test_a_line_is_written_over_and_leaves_nothing_of_a_longer_one(capsys):
    line = Line()
    line.report("estimating", False)
    line.report("too soon to be read", False)
    line.report("done", True)
    line.report("next", True)
    assert capsys.readouterr() == ("", "estimating\rdone      \nnext\n")


def test_what_follows_an_unfinished_line_begins_its_own(capsys):
    line = Line()
    line.report("half", False)
    line.close()
    line.close()
    assert capsys.readouterr().err == "half\n"


def test_only_final_lines_where_none_can_be_written_over(capsys):
    line = Line(rewritten=False)
    line.report("half", False)
    line.report("done", True)
    line.close()
    assert capsys.readouterr().err == "done\n"


TRACE = json.loads((Path(__file__).parents[1] / "support" / "data" / "progress.json").read_text())
"""Work done, and seconds, of a full `robai reproduce` on a machine with much else to do."""


def said(total, trace):
    left = TimeLeft(total)
    return [left.seconds(done, elapsed) for done, elapsed in trace]


def test_the_time_left_of_a_recorded_run_never_climbs_and_is_nearly_right():
    total, trace = TRACE["total"], TRACE["trace"]
    end = trace[-1][1]
    found = said(total, trace)
    plain = [elapsed * (total - done) / done for done, elapsed in trace]
    assert any(later > earlier for earlier, later in pairwise(plain))  # or the trace would show nothing
    known = [
        (each, end - elapsed) for each, (_, elapsed) in zip(found, trace, strict=True) if each is not None
    ]
    assert len(known) > 0.9 * len(trace)
    assert all(later[0] <= earlier[0] for earlier, later in pairwise(known))
    assert all(0.5 * true <= each <= 2.0 * true + 0.02 * end for each, true in known)
    assert found[-1] == pytest.approx(0.0, abs=0.01 * end)


def test_the_time_left_stands_still_while_work_is_slower_than_it_was():
    """A second a unit, from the middle on three."""
    trace = [(done, done + 2 * max(0, done - 50)) for done in range(1, 101)]
    found = said(100, trace)
    assert found[9] == pytest.approx(90.0)
    assert found[49] == found[54] == pytest.approx(50.0)
    assert found[99] == 0.0


def test_nothing_is_said_of_the_time_left_too_soon():
    left = TimeLeft(100)
    assert left.seconds(1, 50.0) is None
    assert left.seconds(50, 0.5) is None
    assert left.text(50, 0.5) == ""
    assert left.text(50, 200.0) == ", 3 min left"
    assert left.text(75, 10.0) == ", 4 s left"
    assert left.text(100, 11.0) == ""
    assert TimeLeft(0.0).seconds(0.0, 10.0) is None
