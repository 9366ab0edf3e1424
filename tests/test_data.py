"""Bandits made of data: by name, and from tables."""

import numpy as np
import pytest

import robai

DATA = {"old": [0.0, 1.0, 1.0], "new": [2.0, 0.5]}


def test_a_mapping_names_the_arms():
    bandit = robai.Empirical(DATA)
    assert bandit.names == ("old", "new")
    assert bandit.samples_per_arm == ((0.0, 1.0, 1.0), (2.0, 0.5))
    assert bandit.means == pytest.approx((2 / 3, 1.25))
    assert bandit.support == (0.0, 2.0)
    assert bandit.proxy == 1.0
    assert repr(bandit) == "Empirical(old: 3 rewards, new: 2 rewards)"
    assert robai.Empirical.from_dict(bandit.to_dict()) == bandit
    assert bandit != robai.Empirical(list(DATA.values()))
    assert robai.Empirical(list(DATA.values())).names is None
    assert robai.Empirical(list(DATA.values()), names=["old", "new"]) == bandit
    assert robai.Empirical({1: [0, 1], 2: [1]}).names == ("1", "2")


def test_tables():
    pandas = pytest.importorskip("pandas")
    wide = pandas.DataFrame({"old": [0.0, 1.0, 1.0], "new": [2.0, np.nan, 0.5]})
    assert robai.Empirical(wide) == robai.Empirical(DATA)
    nullable = pandas.DataFrame({"a": pandas.array([1, None, 0], "Int64"), "b": [True, False, True]})
    assert robai.Empirical(nullable).samples_per_arm == ((1.0, 0.0), (1.0, 0.0, 1.0))
    long = pandas.DataFrame(
        {
            "variant": ["old", "new", "old", "new", "old", "new"],
            "revenue": [0.0, 2.0, 1.0, None, 1.0, 0.5],
            "country": list("abcdef"),
        }
    )
    assert robai.Empirical.long(long, arm="variant", reward="revenue") == robai.Empirical(DATA)
    assert robai.Empirical.long(long.rename(columns={"variant": "x"}), arm="x") == robai.Empirical(DATA)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: robai.Empirical({"a": [1, 2]}), "at least two arms, got 1"),
        (lambda: robai.Empirical({"a": [1, 2], "b": []}), r"samples_per_arm\['b'\] must have at least one"),
        (lambda: robai.Empirical({"a": [1, 2], "b": ["x"]}), r"samples_per_arm\['b'\] must be a sequence"),
        (lambda: robai.Empirical({"a": [1, 2], "b": [np.nan]}), r"samples_per_arm\['b'\] must be finite"),
        (lambda: robai.Empirical({"a": [1, 2], "b": 3}), r"samples_per_arm\['b'\] must be a sequence"),
        (lambda: robai.Empirical({1: [1], "1": [2]}), "names must differ from each other, got '1' twice"),
        (lambda: robai.Empirical([[1], [2]], names=["a"]), "names must have at least two arms"),
        (lambda: robai.Empirical([[1], [2]], names=["a", "b", "c"]), "one entry for each of 2 arms"),
        (lambda: robai.Empirical.long({"a": [1]}), "columns 'variant' and 'revenue'"),
        (lambda: robai.Empirical.long([1, 2]), "columns 'variant' and 'revenue'"),
        (
            lambda: robai.Empirical.long({"variant": ["a", None], "revenue": [1, 2]}),
            "variant must name the arm of every reward, got None in row 1",
        ),
        (
            lambda: robai.Empirical.long({"variant": ["a", "b"], "revenue": [1, 2, 3]}),
            "columns of one length, got 2 and 3",
        ),
        (
            lambda: robai.Empirical.long({"variant": ["a", "b"], "revenue": [1, None]}),
            r"samples_per_arm\['b'\] must have at least one reward",
        ),
    ],
)
def test_wrong_data_is_named(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_names_are_used():
    pandas = pytest.importorskip("pandas")
    result = robai.simulate(robai.UCB(), robai.Empirical(DATA), 500, 20, rng=0)
    assert result.names == ("old", "new")
    assert "new" in result.summary()
    assert "arm 0" not in result.summary()
    frame = result.to_dataframe("runs")
    assert isinstance(frame, pandas.DataFrame)
    assert (frame["pulls_new"] == result.pulls[:, 1]).all()
    pytest.importorskip("matplotlib").use("Agg")
    labels = [text.get_text() for text in result.plot_pulls().get_legend().get_texts()]
    assert labels == ["old", "new (best)"]
    unnamed = robai.simulate(robai.UCB(), robai.Empirical(list(DATA.values())), 500, 20, rng=0)
    assert unnamed == result
    assert unnamed.names is None


def test_names_survive_files(tmp_path):
    result = robai.simulate(robai.UCB(), robai.Empirical(DATA), 500, 20, rng=0)
    result.save(tmp_path / "result.npz")
    assert robai.Result.load(tmp_path / "result.npz").names == ("old", "new")


def test_a_summary_shows_data_as_it_could_be_typed():
    bandit = robai.Empirical([[1.0, 3.0], [2.5]])
    assert "((1.0, 3.0), (2.5,))" in robai.simulate(robai.UCB(), bandit, 100, 2, rng=0).summary()
