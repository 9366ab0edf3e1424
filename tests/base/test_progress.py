"""The line of progress: written over, ended once, final ones alone where none can be written over."""

from robai._base.progress import Line


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
