"""The page of any result: well formed, complete, escaped, in one file that asks for nothing."""

import json
import re
import subprocess
import sys

import pytest
from support.html import Page

import robai
from robai.report import figures, html
from robai.report.figures import Chart, Colours, Row, Series

BANDIT = robai.Gaussian([0.7, 0.2])
POLICIES = [robai.EOCPUG(), robai.UCB()]


@pytest.fixture(scope="module")
def compared():
    return robai.compare(POLICIES, BANDIT, 10**4, 300, rng=0)


def written(result, tmp_path, **options):
    result.report(tmp_path / "page.html", **options)
    return Page((tmp_path / "page.html").read_text(encoding="utf-8"))


def test_a_comparison_has_its_numbers_and_its_curves(compared, tmp_path):
    page = written(compared, tmp_path)
    result = compared["EOCPUG()"]
    for expected in ("EOCPUG() has the smallest mean regret", "0 of 300", "Gaussian(means=(0.7, 0.2)"):
        assert expected in page.text
    regret, commitment, tradeoff, pulls = page.charts
    assert [each["label"] for each in regret["series"]] == list(compared)
    drawn = regret["series"][0]
    assert drawn["x"] == result.times.tolist()
    assert drawn["y"] == pytest.approx(result.regret, rel=1e-4)
    assert drawn["high"][-1] == pytest.approx(result.regret[-1] + 1.96 * result.regret_sem[-1], rel=1e-4)
    assert drawn["low"][-1] == pytest.approx(result.regret[-1] - 1.96 * result.regret_sem[-1], rel=1e-4)
    assert drawn["marks"][0][0] == result.digest().commit_median
    assert commitment["series"][0]["y"][-1] == 1
    assert commitment["series"][1]["y"] == [0, 0]
    assert tradeoff["series"][1]["x"] == [10**4]
    assert pulls["names"] == ["arm 0", "arm 1"]
    # one policy, one colour
    assert {each["series"][1]["colour"] for each in page.charts} == {1}


def test_a_page_asks_for_nothing(compared, tmp_path):
    page = written(compared, tmp_path)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(address.startswith(("data:,", "#")) for address in page.addresses)
    assert "default-src 'none'" in text
    assert not re.search(r"@import|url\((?!data:)", text)
    assert len(text) < 300_000


def test_a_single_result_a_sweep_and_a_title(compared, tmp_path):
    page = written(compared["UCB()"], tmp_path, title="Mine & yours")
    assert "Mine & yours" in page.text
    assert [each["series"][0]["label"] for each in page.charts] == ["UCB()", "UCB()"]  # regret, and pulls
    bandits = {"far": BANDIT, "near": robai.Gaussian([0.7, 0.5])}
    page = written(robai.sweep(POLICIES, bandits, [100, 1000], runs=20, rng=0), tmp_path)
    assert len(page.charts) == 2 * 3
    assert page.charts[0]["series"][0]["x"][-1] == 1000
    assert [point for point in page.charts[1]["series"][0]["x"]] == [100, 1000]
    assert "near" in page.text
    with pytest.raises(TypeError, match="title must be a string"):
        compared.report(tmp_path / "page.html", title=3)


def test_identifications_say_whether_they_keep_to_delta(tmp_path):
    policies = [robai.TrackAndStop(), robai.KLLUCB()]
    found = robai.identify(policies, robai.Bernoulli([0.8, 0.2]), delta=0.1, runs=200, rng=0)
    page = written(found, tmp_path)
    assert "holds that a run is wrong, or does not stop, with probability at most 0.1" in page.text
    stops, shares = page.charts
    assert stops["verticals"][0]["value"] == pytest.approx(found["KLLUCB()"].complexity.lower, rel=1e-4)
    assert shares["series"][-1]["label"] == "optimal, w*"
    few = robai.identify(robai.TrackAndStop(), robai.Bernoulli([0.8, 0.2]), delta=0.1, runs=5, rng=0)
    assert "not decided that a run" in written(few, tmp_path).text


def test_several_budgets_are_a_curve(tmp_path):
    policies = [robai.SequentialHalving(), robai.UCB()]
    found = robai.identify(policies, robai.Bernoulli([0.6, 0.4, 0.3]), budget=[50, 100, 200], runs=100, rng=0)
    page = written(found, tmp_path)
    (failures,) = page.charts
    assert failures["series"][0]["x"] == [50, 100, 200]
    rate = found["UCB()", 50].failure()
    assert failures["series"][1]["y"][0] == pytest.approx(rate.rate)
    assert failures["series"][1]["high"][0] == pytest.approx(rate.high, rel=1e-4)


def test_names_are_never_taken_for_tags(tmp_path):
    bad = "</script><script>alert(1)//\"'&"
    played = robai.compare({bad: robai.UCB()}, BANDIT, 100, 20, rng=0)
    page = written(played, tmp_path, title=bad)
    assert page.tags.count("script") == 2 + len(page.charts)
    assert page.charts[0]["series"][0]["label"] == bad


def test_columns_are_explained_and_rows_are_named(compared, tmp_path):
    page = written(compared, tmp_path)
    assert any("Clopper-Pearson" in text for text in page.about)
    assert page.tags.count("main") == page.tags.count("h1") == 1
    assert page.tags.count("figcaption") == page.tags.count("figure")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<th scope="row">EOCPUG()</th>' in text
    assert text.count('role="img"') == len(page.charts)
    assert re.search(
        r'aria-label="Regret: cumulative regret against round\. EOCPUG\(\) ends with [\d.]+ at', text
    )
    assert "This figure needs JavaScript." in text


def test_a_report_is_replaced_at_once_or_not_at_all(compared, tmp_path, monkeypatch):
    (tmp_path / "page.html").write_text("the old one")
    monkeypatch.setattr("os.replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        compared.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "the old one"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_a_page_needs_no_matplotlib(tmp_path):
    code = (
        "import sys, robai; sys.modules['matplotlib'] = None; "
        "robai.simulate(robai.UCB(), robai.Gaussian([1, 0]), 100, 5).report(sys.argv[1])"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.html")], check=True)


def test_colours_come_again_with_dashes():
    names = [f"policy {place}" for place in range(30)]
    looks = Colours(names)
    assert [looks(name)["colour"] for name in names] == [*range(12), *range(12), *range(6)]
    assert [looks(name)["dash"] for name in names] == [False] * 12 + [True] * 12 + [False] * 6
    assert looks("another")["colour"] == 6


def test_numbers_that_are_none_are_null():
    series = Series("x", [1, 2, 3], [0.123456789, float("nan"), float("inf")], {"colour": 0, "dash": False})
    found = json.loads(Chart("t", "x", "y", [series]).to_json())["series"][0]
    assert found["y"] == [0.12346, None, None]


def test_rows_are_drawn_where_their_numbers_are():
    listed = [
        Row("none", {"colour": 0}, "0", 0.0, 0.0, 0.01),
        Row("some", {"colour": 1}, "1", 0.1, 0.01, 1.0, (0.05, 0.2)),
    ]
    text = figures.rows("Rates", listed, log=True, percents=True)
    # from 0.01 / 10^0.15 to 10^0.05: 2.2 powers of ten
    at = [100 * (place + 0.15) / 2.2 for place in (0.0, 1.0, 2.0)]
    assert f'class="thin" style="left:0.00%;width:{at[0]:.2f}%"' in text
    assert f'class="thin" style="left:{at[0]:.2f}%;width:{at[2] - at[0]:.2f}%"' in text
    assert text.count('class="dot"') == 1
    assert f'class="dot" style="left:{at[1]:.2f}%"' in text
    assert "100 %</span>" in text
    Page(html.page("x", [text]))


def test_tables_and_verdicts():
    text = html.table(
        [{"a&b": "x", "n": "1", "verdict": "not decided"}], numbers=["n"], about={"n": "a <number>"}
    )
    Page(text)
    assert '<span class="badge open">not decided</span>' in text
    assert 'data-about="a &lt;number&gt;"' in text
    assert '<td class="number">1</td>' in text
