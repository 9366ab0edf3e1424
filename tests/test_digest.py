"""The numbers that are read off a result, against plain Python; then that each is in its own cell."""

import json
import math
import re
import statistics
from fractions import Fraction
from html import unescape

import pytest
from support.examples import COMMITMENTS, FINAL_REGRETS, irregular

from robai.cli import main
from robai.paper.gallery.zhang_ying2023 import STUDY
from robai.paper.page import page
from robai.paper.reproduction import Reproduction
from robai.result import Comparison

TIMES = [round_ for round_, _ in COMMITMENTS if round_ > 0]
CAPPED = [round_ if round_ > 0 else 1000 for round_, _ in COMMITMENTS]
Z = statistics.NormalDist().inv_cdf(0.975)
META = {"policy": "EOCP(gap=0.5)", "bandit": "Gaussian((0.7, 0.2, 0.575))", "engine": "leap", "seconds": 1.5}


def sem(values):
    return statistics.stdev(values) / math.sqrt(len(values))


def close(fraction):
    return pytest.approx(float(fraction), rel=1e-12)


def at_least(successes, trials, p):
    return sum(math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(successes, trials + 1))


def bisected(function):
    """Where an increasing function of a probability is 0."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return low


LOW = bisected(lambda p: at_least(3, 5, p) - 0.025)  # P(3 or more wrong of 5) and P(3 or fewer)
HIGH = bisected(lambda p: at_least(4, 5, p) - 0.975)


def test_regret():
    digest = irregular().digest()
    assert digest.regret.value == close(Fraction(1797, 14))
    assert digest.regret.sem == close(sem(FINAL_REGRETS))
    # at 5 % of the way from the first to the seventh: 0.3 between the first two, and so on
    assert digest.quantiles == tuple(map(close, (33.8, 107.5, 112.5, 143.5, 243.975)))


def test_commitment():
    digest = irregular().digest()
    assert digest.committed == close(Fraction(5, 7))
    assert digest.commit_time == (close(Fraction(1338, 5)), close(sem(TIMES)))
    assert digest.commit_median == 150.0
    assert digest.capped_time == (close(Fraction(3338, 7)), close(sem(CAPPED)))


def test_wrong_commitments():
    wrong = irregular().digest().wrong
    assert (wrong.count, wrong.committed) == (3, 5)
    assert wrong.rate == close(Fraction(3, 5))
    assert (wrong.low, wrong.high) == (close(LOW), close(HIGH))
    assert wrong == irregular().wrong_commit()


def test_shares():
    assert irregular().digest().shares == tuple(close(Fraction(n, 7000)) for n in (3532, 1240, 2228))


def test_what_no_run_can_tell():
    digest = irregular(commitments=[(-1, -1)] * 7).digest()
    assert (digest.committed, digest.commit_time, digest.commit_median, digest.wrong) == (
        0.0,
        None,
        None,
        None,
    )
    assert digest.capped_time == (1000.0, 0.0)


def test_one_commitment_has_no_error():
    digest = irregular(commitments=[(150, 0), *[(-1, -1)] * 6]).digest()
    assert digest.commit_time.value == digest.commit_median == 150.0
    assert math.isnan(digest.commit_time.sem)


def test_summary_has_them_in_their_places():
    assert irregular("ours", **META).summary().splitlines() == [
        "policy      ours",
        "            EOCP(gap=0.5)",
        "bandit      Gaussian((0.7, 0.2, 0.575))",
        "horizon     1,000 rounds",
        "runs        7",
        "regret      128 ± 31  (mean ± standard error)",
        "            5 % of the runs below 33.80, half below 112.5, 95 % below 244.0",
        "commitment  5 of 7 runs, at round 268 on average, 150 in the median",
        "            wrong in 3 of 5: 60 % (15 % to 94.7 %), 95 % interval in brackets",
        "pulls       arm 0  50 %  best",
        "            arm 1  18 %  gap 0.5",
        "            arm 2  32 %  gap 0.125",
        "engine      leap, 1.500 s",
    ]


def test_comparison_has_them_in_their_places():
    pulls = [(980 - n, n, 20) for n in (18, 31, 24, 40, 22, 19, 27)]
    never = irregular("never", pulls=pulls, commitments=[(-1, -1)] * 7)
    assert Comparison([irregular(), never]).summary().splitlines()[2:5] == [
        "policy  runs        regret  committed  median at  wrong commitments, 95 % interval",
        "EOCP       7    128 ± 31         71 %        150  60 % (15 % to 94.7 %)",
        "never      7  15.4 ± 1.5 *        0 %          -  -",
    ]


def test_json_has_them_under_their_names(capsys, monkeypatch):
    monkeypatch.setattr("robai.cli.simulation.compare", lambda *_, **__: Comparison([irregular(**META)]))
    main(
        [
            "simulate",
            "--policy",
            "ucb",
            "--means",
            "0.7,0.2,0.575",
            "--horizon",
            "1000",
            "--runs",
            "7",
            "--json",
        ]
    )
    assert json.loads(capsys.readouterr().out) == {
        "label": "EOCP",
        **META,
        "horizon": 1000,
        "runs": 7,
        "regret": close(Fraction(1797, 14)),
        "regret_sem": close(sem(FINAL_REGRETS)),
        "committed": close(Fraction(5, 7)),
        "commit_time_mean": close(Fraction(1338, 5)),
        "commit_time_median": 150.0,
        "wrong_commits": 3,
        "wrong_commit_rate": close(Fraction(3, 5)),
        "wrong_commit_low": close(LOW),
        "wrong_commit_high": close(HIGH),
        "pull_shares": [close(Fraction(n, 7000)) for n in (3532, 1240, 2228)],
        "entropy": None,
    }


def test_plan_has_them_in_its_column(capsys, monkeypatch):
    monkeypatch.setattr("robai.cli.plan.compare", lambda *_, **__: Comparison([irregular("ucb-alpha")]))
    main(["plan", "--means", "0.7,0.2,0.575", "--horizon", "1000", "--policy", "ucb-alpha"])
    found = {
        row[0]: row[-1]
        for row in (re.split(r"\s{2,}", line) for line in capsys.readouterr().out.splitlines())
    }
    low, high = (1797 / 14 + sign * Z * sem(FINAL_REGRETS) for sign in (-1, 1))
    early, late = (1338 / 5 + sign * Z * sem(TIMES) for sign in (-1, 1))
    assert found["ucb-alpha regret"] == f"128.4 ({low:.2f} to {high:.1f})"
    assert found["ucb-alpha commits at round"] == f"268 ({max(0, early):.0f} to {late:.0f}), 71 % of the runs"
    assert found["ucb-alpha wrong commitment"] == "3 of 5, 15 % to 94.7 %"


def table(text, column):
    """The table of a page that has such a column, as a dict a row."""
    cells = (re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in re.findall(r"<tr>(.*?)</tr>", text))
    rows = [[re.sub(r"<button.*?</button>|<[^>]*>", "", cell) for cell in row] for row in cells]
    starts = [place for place, row in enumerate(rows) if row and column in row]
    header = rows[starts[0]]
    body = rows[starts[0] + 1 :]
    return [
        {name: unescape(cell) for name, cell in zip(header, row, strict=True)}
        for row in body
        if len(row) == len(header)
    ]


def test_the_page_has_them_in_their_columns():
    exact = [(899 - n, n, 101) for n in range(83, 90)]  # about as exact as what it is compared with
    regrets = [n / 2 + 101 / 8 for n in range(83, 90)]
    results = [
        irregular(**META),
        *(irregular(name, pulls=exact, **META) for name in ("EOCP-UG", "UCB", "BAI-ETC", "DETC")),
    ]
    done = Reproduction(STUDY, quick=True, entropy=0, results={"fig1-gaussian": [Comparison(results)]})
    rows = {row["policy"]: row for row in table(page(done, {}), "apart by")}
    assert rows["EOCP"] == {
        "policy": "EOCP",
        "regret": "128 ± 31",
        "clean elsewhere": "38.20 ± 0.04",
        "apart by": f"{(1797 / 14 - 38.2) / math.hypot(sem(FINAL_REGRETS), 0.04):+.1f} s.e.",
        "verdict": "not matched",
        "like the scripts": "37.76 ± 0.04",
        "committed": "71 %",
        "median at": "150",
        "wrong commitments, 95 % interval": "3 of 5, 15 % to 94.7 %",
    }
    apart = (statistics.fmean(regrets) - 53.81) / math.hypot(sem(regrets), 0.32)
    assert rows["UCB"]["apart by"] == f"{apart:+.1f} s.e."
