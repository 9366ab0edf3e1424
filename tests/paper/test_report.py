import csv
import json
import re
from collections import defaultdict
from typing import get_args
from urllib.parse import unquote

import numpy as np
import pytest
from support.html import Page

import robai
from robai._base.directory import replacing
from robai._base.verdicts import Word
from robai.paper.experiments import RegretExperiment
from robai.paper.gallery.zhang_ying2023 import FIGURES, SENSITIVITY, STUDY, TABLE
from robai.paper.report import write_files
from robai.paper.reproduction import Reproduction, reproduce
from robai.paper.study import Study

RUNS = 12
WORDS = get_args(Word)


@pytest.fixture(scope="module")
def reproduction():
    experiments = [FIGURES["fig2-bernoulli"], *TABLE.values(), *SENSITIVITY.values()]
    results = {each.name: each.run(runs=RUNS, rng=0) for each in experiments}
    return Reproduction(STUDY, quick=True, entropy=0, results=results, seconds=1.0)


def write_report(reproduction, path):
    with replacing(path) as directory:
        write_files(reproduction, directory)
    return path


@pytest.fixture(scope="module")
def directory(reproduction, tmp_path_factory):
    return write_report(reproduction, tmp_path_factory.mktemp("out") / "robai-report")


def test_the_page_is_well_formed_and_needs_nothing_else(directory):
    parsed = Page((directory / "index.html").read_text())
    files = [address for address in parsed.addresses if not address.startswith(("data:,", "#"))]
    assert all((directory / unquote(name)).is_file() for name in files)
    assert {unquote(name) for name in files} == {
        each.relative_to(directory).as_posix()
        for each in directory.rglob("*")
        if each.is_file() and each.name != "index.html"
    }
    links = {address[1:] for address in parsed.addresses if address.startswith("#")}
    assert links <= set(re.findall(r'id="([^"]+)"', (directory / "index.html").read_text()))
    assert (directory / "index.html").stat().st_size < 2e6
    text = parsed.text
    for expected in ("Claims", "holds", "Table 1, measured", "KL-EOCP", "How much c matters", "matplotlib"):
        assert expected in text
    assert "nan" not in text.lower().split()


def test_the_page_begins_with_verdicts_and_one_figure(directory, reproduction):
    text = (directory / "index.html").read_text()
    counts = [sum(each.result == word for each in reproduction.verdicts) for word in WORDS]
    assert re.findall(r'<li class="tile[^>]*><b>(\d+)</b>', text) == [str(count) for count in counts]
    places = [text.index(each) for each in ('class="tiles"', 'class="chart hero"', 'class="card"', "<table")]
    assert places == sorted(places)
    assert text.count('class="chart hero"') == 1


def test_a_policy_has_one_colour_on_the_whole_page(directory):
    colours = defaultdict(set)
    for chart in Page((directory / "index.html").read_text()).charts:
        for series in chart["series"]:
            colours[series["label"]].add(series["colour"])
    assert len(colours) > 10
    assert all(len(found) == 1 for found in colours.values())
    policies = [label for label in colours if label in STUDY.labels]
    assert len({tuple(colours[label]) for label in policies}) == len(policies) == 10


def test_every_file_is_there_and_listed(directory):
    manifest = json.loads((directory / "report.json").read_text())
    found = {each.relative_to(directory).as_posix() for each in directory.rglob("*") if each.is_file()}
    assert found == {*manifest["files"], "report.json"}
    for name in ("fig2-bernoulli", "fig2-bernoulli-details", "scaling", "sensitivity"):
        assert (directory / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (directory / "figures" / f"{name}.svg").read_bytes()
    assert [claim["result"] for claim in manifest["claims"]].count("holds") >= 4
    assert {claim["result"] for claim in manifest["claims"]} <= set(WORDS)


def test_arrays_and_numbers_are_those_of_the_simulations(directory, reproduction):
    saved = robai.Comparison.load(directory / "arrays" / "fig2-bernoulli.npz")
    assert [saved] == [dict(each) for each in reproduction.results["fig2-bernoulli"]]
    assert robai.Result.load(directory / "arrays" / "table1-EOCP-1e6.npz").horizon == 10**6
    with open(directory / "numbers" / "fig2-bernoulli-regret.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["policy"] == "EOCP"]
    assert np.array_equal([float(row["regret"]) for row in rows], saved["EOCP"].regret)
    with open(directory / "numbers" / "simulations.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(list(reproduction.simulations()))
    with open(directory / "numbers" / "table1.csv", newline="") as file:
        assert [row["policy"] for row in csv.DictReader(file)] == list(TABLE)


def test_a_report_is_replaced_as_a_whole(directory, reproduction):
    (directory / "numbers" / "table1.csv").unlink()
    results = {"fig2-bernoulli": reproduction.results["fig2-bernoulli"]}
    alone = Reproduction(STUDY, quick=True, entropy=0, results=results)
    write_report(alone, directory)
    assert not (directory / "figures" / "scaling.png").exists()
    assert "Table 1, measured" not in (directory / "index.html").read_text()
    assert [each.name for each in directory.parent.iterdir()] == [directory.name]


def test_an_experiment_of_another_paper_is_data(tmp_path):
    policies = {"MOSS": robai.UCB(level="ratio"), "TS": robai.ThompsonSampling()}
    bandit = robai.Bernoulli([0.5, 0.4, 0.3])
    other = RegretExperiment("other", "Table 2: three arms", policies, bandit, (100, 1000), 50, 10)
    study = Study("b2024", "another", "A. Body, 2024.", {"other": other}, claims=(), about="Nothing.")
    done = reproduce(study, ["other"], quick=True)
    assert [section for section, *_ in done.simulations()] == ["other"] * 4
    directory = write_report(done, tmp_path / "report")
    for name, results in zip(("other-1e2", "other-1e3"), done.results["other"], strict=True):
        assert (directory / "figures" / f"{name}-details.svg").exists()
        assert (directory / "numbers" / f"{name}-regret.csv").exists()
        assert dict(robai.Comparison.load(directory / "arrays" / f"{name}.npz")) == dict(results)
    text = Page((directory / "index.html").read_text()).text
    assert "T = 100, 10 runs" in text
    assert "T = 1,000, 10 runs" in text
