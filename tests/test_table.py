"""Tables of comparisons, in every format."""

import csv
import io
import re

import numpy as np
import pytest
from support.examples import COMMITMENTS, FINAL_REGRETS, PULLS, irregular

import robai
from robai.result import Comparison

SEED = {"entropy": ["7"], "spawn_key": [], "bandit": {"type": "Gaussian"}}


def shifted(label, rounds, **changes):
    """The result without symmetries, with so many rounds more of the second arm in every run."""
    pulls = tuple((a - rounds, b + rounds, c) for a, b, c in PULLS)
    return irregular(label, pulls=pulls, **SEED, **changes)


def three():
    """The second is 0.5 worse in every run, which pairs tell; the third cannot be told from the first."""
    mixed = tuple((a - n, b + n, c) for (a, b, c), n in zip(PULLS, (5, -5, 3, -3, 4, -3, 0), strict=True))
    return Comparison([irregular("A", **SEED), shifted("B", 1), irregular("C", pulls=mixed, **SEED)])


def test_text_has_a_row_a_policy_and_marks_what_may_be_best():
    lines = three().table().splitlines()
    assert lines[0].split("  ")[0] == "policy"
    assert lines[1].startswith("A  ")
    assert "128 ± 31 *" in lines[1]
    assert "150 (565), 29 % never" in lines[1]
    assert lines[1].endswith("60 % (15 % to 94.7 %)")
    assert [" *" in line for line in lines[1:4]] == [True, False, True]


def test_markdown_is_bold_where_it_may_be_best():
    rows = [line.strip("|").split("|") for line in three().table(["regret"], "markdown").splitlines()]
    assert [cell.strip() for cell in rows[1]] == ["---", "---:"]
    assert [row[1].strip().startswith("**") for row in rows[2:]] == [True, False, True]


def test_latex_is_booktabs_and_nothing_else():
    labels = ["a_b & 50 % of $x^2$", "{#1}~\\", "UCB(level='ratio') < |x|"]
    results = [irregular(label, **SEED) for label in labels]
    text = Comparison(results).table(format="latex", baseline=labels[0])
    lines = text.splitlines()
    assert lines[:2] == [r"\begin{tabular}{lrrrr}", r"\toprule"]
    assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    assert r"a\_b \& 50 \% of \$x\textasciicircum{}2\$ & \textbf{128 $\pm$ 31}" in text
    assert r"\{\#1\}\textasciitilde{}\textbackslash{}" in text
    assert set(re.findall(r"\\([a-z]+)", text)) <= {
        *("begin", "end", "toprule", "midrule", "bottomrule", "textbf", "pm"),
        *("textasciicircum", "textasciitilde", "textbackslash"),
    }
    assert text.isascii()
    for line in lines[2:3] + lines[4:-2]:
        assert len(re.findall(r"(?<!\\)&", line)) == 4
        assert line.endswith(r" \\")


def test_csv_has_every_number_in_full():
    columns = ["regret", "commitment", "wrong", "relative", "runs"]
    rows = list(csv.DictReader(io.StringIO(three().table(columns, "csv", baseline="B"))))
    assert [row["policy"] for row in rows] == ["A", "B", "C"]
    first = rows[0]
    result = irregular("A")
    assert float(first["regret"]) == pytest.approx(sum(FINAL_REGRETS) / 7)
    assert float(first["regret_sem"]) == pytest.approx(result.regret_sem[-1])
    assert [row["best"] for row in rows] == ["1", "0", "1"]
    times = [round_ for round_, _ in COMMITMENTS if round_ > 0]
    assert float(first["commit_median"]) == 150
    assert float(first["commit_90"]) == np.quantile(times, 0.9)
    assert float(first["committed"]) == 5 / 7
    wrong = result.wrong_commit()
    assert [float(first[f"wrong_{name}"]) for name in ("count", "rate", "low", "high")] == [
        wrong.count,
        wrong.rate,
        wrong.low,
        wrong.high,
    ]
    assert float(first["relative"]) == pytest.approx(-0.5 / (sum(FINAL_REGRETS) / 7 + 0.5))
    assert rows[1]["relative"] == ""
    assert first["runs"] == "7"


def test_relative_is_to_the_baseline_with_the_interval_of_pairs():
    text = three().table(["relative"], baseline="B")
    assert "regret relative to B (95 % interval)" in text
    share = -0.5 / (sum(FINAL_REGRETS) / 7 + 0.5)
    found = re.search(r"A +(\S+) % \((\S+) % to (\S+) %\)", text.replace("\N{MINUS SIGN}", "-"))
    mean, low, high = map(float, found.groups())
    assert mean == pytest.approx(100 * share, abs=0.01)
    assert low < mean < high < 0.0
    assert "relative to A" in three().table(["relative"])


def test_policies_that_never_commit_and_ties_say_so():
    never = irregular("never", commitments=((-1, -1),) * 7)
    assert "never" in Comparison([never]).table(["commitment"]).splitlines()[1]
    assert Comparison([never]).table(["wrong"]).splitlines()[1].split() == ["never", "-"]
    rows = list(csv.DictReader(io.StringIO(Comparison([never]).table(["commitment", "wrong"], "csv"))))
    assert rows[0] == {"policy": "never", "committed": "0.0"} | dict.fromkeys(
        ["commit_median", "commit_90", "wrong_count", "wrong_rate", "wrong_low", "wrong_high"], ""
    )


def test_one_run_distinguishes_nothing():
    played = robai.compare([robai.UCB(), robai.EOCPUG()], robai.Gaussian([1, 0]), 1000, 1, rng=0)
    lines = played.table(["regret", "relative"], baseline="UCB()").splitlines()
    assert all(" *" in line and "unknown" in line for line in lines[1:3])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"columns": ["median"]}, ValueError, "columns must be one of .*, got 'median'"),
        ({"columns": "regret"}, TypeError, "columns must be a sequence of names, got 'regret'"),
        ({"format": "html"}, ValueError, "format must be one of .*, got 'html'"),
        ({"baseline": "Z"}, ValueError, "baseline must be one of .*, got 'Z'"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        three().table(**arguments)
