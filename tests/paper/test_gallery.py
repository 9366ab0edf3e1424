"""Studies of other publications: their data, their claims on crafted results, and their pages."""

import dataclasses
import json
import math
import statistics

import numpy as np
import pytest
from support.examples import FINAL_REGRETS, irregular

import robai
from robai._base.directory import replacing
from robai.cli import main
from robai.paper.claims import below, slope_near
from robai.paper.gallery import GALLERY, etc2016, garivier_cappe2011, jin2021
from robai.paper.report import write_files
from robai.paper.reproduction import reproduce
from robai.result import Comparison

OTHERS = [name for name in GALLERY if name != "zhang-ying2023"]


def test_the_paper_comes_first():
    assert list(GALLERY) == [
        "zhang-ying2023",
        "garivier2016",
        "garivier-cappe2011",
        "kaufmann2012",
        "etc2016",
        "jin2021",
    ]
    assert all(name == study.name for name, study in GALLERY.items())


@pytest.mark.parametrize("study", GALLERY.values(), ids=GALLERY)
def test_data_fit_together(study):
    played = {each.name: each for part in study.sections.values() for each in part.values()}
    assert sum(map(len, study.sections.values())) == len(played)
    assert all("/" not in name for name in played)  # they are names of files
    for claim in study.claims:
        assert set(claim.experiments) <= set(played)
    for experiment in played.values():
        assert experiment.quick_runs < experiment.runs
        for column in experiment.beside.values():
            assert set(column) <= set(experiment.policies)
    if study.growing:
        assert {label for each in study.growing.experiments.values() for label in each.policies} <= set(
            study.growing.stated
        )


def test_the_list_names_every_part(capsys):
    assert main(["reproduce", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[::2]] == list(GALLERY)
    parts = list(GALLERY["zhang-ying2023"].sections)
    assert lines[1].strip() == f"parts: {', '.join(parts)}"
    assert main(["reproduce", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["garivier2016"]["parts"] == ["four-arms", "five-arms"]
    assert "COLT 2016" in listed["garivier2016"]["source"]


def test_unknown_names_get_a_suggestion(capsys):
    assert main(["reproduce", "garivier-2016"]) == 2
    assert "did you mean garivier2016" in capsys.readouterr().err
    assert main(["reproduce", "jin2021", "--only", "table1"]) == 2
    assert "only must be one of 'two-arms', 'slopes', got 'table1'" in capsys.readouterr().err


def small(study, runs):
    """The study with few runs."""

    def few(experiments):
        return {name: dataclasses.replace(each, quick_runs=runs) for name, each in experiments.items()}

    growing = study.growing and dataclasses.replace(study.growing, experiments=few(study.growing.experiments))
    return dataclasses.replace(study, figures=few(study.figures), growing=growing)


@pytest.mark.parametrize("name", OTHERS)
def test_a_study_is_played_checked_and_written(name, tmp_path):
    study = small(GALLERY[name], runs=6)
    done = reproduce(study, quick=True)
    assert len(done.verdicts) == sum(len(claim.experiments) for claim in study.claims)
    with replacing(tmp_path / "report") as directory:
        write_files(done, directory)
    text = (tmp_path / "report" / "index.html").read_text()
    assert study.source.replace("'", "&#x27;") in text
    for experiment in study.figures.values():
        assert experiment.title in text
        for label in experiment.policies:
            assert label in text
    for heading, note in study.notes.items():
        assert heading in text, note
    manifest = json.loads((tmp_path / "report" / "report.json").read_text())
    assert manifest["study"] == name
    assert len(manifest["simulations"]) == sum(
        len(each.policies) * len(each.horizons) for part in study.sections.values() for each in part.values()
    )
    assert {each["section"] for each in manifest["simulations"]} == set(study.sections)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_no_claim_fails_in_a_quick_look(name):
    assert [each for each in reproduce(GALLERY[name], quick=True).verdicts if each.result == "fails"] == []


SMALLER = [(900 - few, few // 2, 100 + few - few // 2) for few in (10, 60, 20, 50, 30, 41, 5)]


def test_below_needs_the_whole_interval():
    less, more = irregular("A", SMALLER), irregular("B")
    word, numbers = below("A", "B")(Comparison([less, more]))
    share = less.regret[-1] / statistics.fmean(FINAL_REGRETS)
    assert word == "holds"
    assert numbers.startswith(f"{less.regret[-1]:.1f}, {100 * share:.1f} % of B's (")
    assert below("B", "A")(Comparison([less, more]))[0] == "fails"
    assert (
        below("A", "B", "C")(Comparison([less, more, irregular("C", SMALLER)]))[0] == "fails"
    )  # it is not less
    other = [(901 - few, few // 2, 99 + few - few // 2) for few in (60, 10, 50, 20, 41, 30, 5)]
    assert below("A", "C")(Comparison([less, irregular("C", other)]))[0] == "not decided"


def grown(pulled, label="BAI-ETC"):
    """Seven runs at 1e9 and 1e18 that pull the arm of gap 1/2 so often."""
    return [
        Comparison([irregular(label, [(T - n - 1, n, 1)] * 7, [(5, 0)] * 7, T)])
        for T, n in zip((10**9, 10**18), pulled, strict=True)
    ]


@pytest.mark.parametrize(("gained", "near"), [(828, "holds"), (910, "holds"), (912, "fails"), (745, "fails")])
def test_a_slope_is_near_within_the_tolerance(gained, near):
    """828 pulls of gap 1/2, over log 1e9 = 20.72, are a slope of 20."""
    word, numbers = slope_near("BAI-ETC", 20.0, 0.1)(*grown((100, 100 + gained)))
    slope = 0.5 * gained / math.log(10**9)
    assert word == near
    assert numbers == f"{slope:.2f} ± 0.00 for 20, {100 * (slope / 20 - 1):+.1f} %"


def test_claims_of_slopes_compare_two_policies():
    claims = {claim.criterion: claim.check for claim in etc2016.STUDY.claims}
    twice = claims["BAI-ETC's slope is 1.8 to 2.2 times UCB*'s"]
    pairs = [
        [
            Comparison([etc["BAI-ETC"], ucb["UCB*"]])
            for etc, ucb in zip(grown((100, 900)), grown((50, other), "UCB*"), strict=True)
        ]
        for other in (450, 650)
    ]
    assert [twice(*each)[0] for each in pairs] == ["holds", "fails"]


def detc(horizon, pulled, time):
    return Comparison([irregular("DETC", [(horizon - pulled - 1, pulled, 1)] * 7, [(time, 0)] * 7, horizon)])


def test_claims_of_double_exploration():
    claims = {claim.criterion: claim.check for claim in jin2021.STUDY.claims}
    falling = claims["the last of four slopes is below the first, and above 2/gap"]
    # slopes in pulls of gap 1/2 for each unit of log T
    down = [detc(10**exponent, pulled, 5) for exponent, pulled in ((6, 0), (9, 60), (12, 105), (15, 140))]
    assert falling(*down)[0] == "holds"
    up = [detc(10**e, n, 5) for e, n in ((6, 0), (9, 30), (12, 90), (15, 150))]
    assert falling(*up)[0] == "fails"
    squared, least = claims["1.7 <= p <= 2"], claims["at most 0.1 % of the commitments before log² T rounds"]
    logs = {horizon: math.log(horizon) for horizon in (10**9, 10**18)}
    grows = [detc(horizon, 50, round(1.5 * log**1.9)) for horizon, log in logs.items()]
    assert squared(*grows)[0] == "holds"
    slower = [detc(horizon, 50, round(9 * log**1.5)) for horizon, log in logs.items()]
    assert squared(*slower)[0] == "fails"
    late = [detc(horizon, 50, math.ceil(log**2)) for horizon, log in logs.items()]
    assert least(*late)[0] == "not decided"  # of seven runs
    early = [detc(horizon, 50, math.floor(log**2)) for horizon, log in logs.items()]
    assert least(*early)[0] == "fails"


@pytest.mark.parametrize("rate", [1 / 5, 1 / 4, 1 / 3, 1 / 2, 1.0])
def test_the_parts_of_a_truncated_law_keep_its_mean_and_nearly_its_variance(rate):
    parts = np.array(garivier_cappe2011.truncated(rate))
    assert 0.0 < parts.min() < parts.max() <= 10.0
    assert np.all(np.diff(parts) > -1e-12)
    mean = (1 - math.exp(-10 * rate)) / rate
    square = 2 / rate**2 - math.exp(-10 * rate) * (20 / rate + 2 / rate**2)
    assert parts.mean() == pytest.approx(mean)
    assert parts.var() == pytest.approx(square - mean**2, rel=0.01)
    drawn = np.minimum(np.random.default_rng(0).exponential(1 / rate, 10**5), 10.0)
    assert drawn.mean() == pytest.approx(mean, abs=5 * drawn.std() / math.sqrt(10**5))
    bandit = garivier_cappe2011.FIGURES["exponential"].bandit
    assert isinstance(bandit, robai.Empirical)
