import dataclasses
import json
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robai.result import Result

META = {"policy": "EOCP(gap=0.5)", "bandit": "Gaussian((0.7, 0.2))", "engine": "leap", "entropy": 2**100}
ONE_RUN = {
    "regret_sem": [np.nan] * 3,
    "final_regret": [20.0],
    "commit_time": [7],
    "committed_arm": [0],
    "pulls": [[1000, 0]],
}


def make(**changes):
    """Four runs on two arms over 1000 rounds: two commit rightly, one wrongly, one never."""
    values = {
        "times": [10, 100, 1000],
        "regret": [1.0, 5.0, 20.0],
        "regret_sem": [0.1, 0.5, 1.25],
        "final_regret": [10.0, 15.0, 20.0, 35.0],
        "commit_time": [100, 300, 200, -1],
        "committed_arm": [0, 0, 1, -1],
        "pulls": [[980, 20], [970, 30], [960, 40], [930, 70]],
        "gaps": [0.0, 0.5],
        "label": "EOCP(gap=0.5)",
        "meta": META | {"seconds": 1234.5},
    }
    return Result(**(values | changes))


def test_properties():
    result = make()
    assert (result.horizon, result.runs, result.n_arms, result.best_arm) == (1000, 4, 2, 0)
    assert result.committed.tolist() == [True, True, True, False]
    assert result.pulls.dtype == result.times.dtype == np.int64
    assert make(gaps=[0.0, 0.0]).best_arm is None


def test_repr_is_one_short_line():
    assert repr(make()) == "<Result EOCP(gap=0.5): horizon 1,000, runs 4, regret 20.0 ± 1.2>"


def test_is_read_only_but_the_callers_arrays_are_not():
    regret = np.array([1.0, 5.0, 20.0])
    result = make(regret=regret)
    with pytest.raises(ValueError, match="read-only"):
        result.regret[0] = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.label = "other"
    regret[0] = 1.0


def test_equality_is_of_label_and_numbers():
    assert make() == make(meta={})
    assert make() != make(label="other")
    assert make() != make(regret=[1.0, 5.0, 20.5])
    assert make() != make(curves=np.ones((4, 3)))
    assert make() != 3
    assert make(**ONE_RUN) == make(**ONE_RUN)


def test_pickles():
    assert pickle.loads(pickle.dumps(make())) == make()


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("times", [10, 100, 100], "times must be increasing"),
        ("times", [0, 100, 1000], "times must be increasing and at least 1"),
        ("times", np.arange(0), "times must be a non-empty vector"),
        ("times", [[1]], "times must be a non-empty vector, got shape"),
        ("regret", [1.0, 5.0], r"regret must have shape \(3,\) .* got \(2,\)"),
        ("regret", [1.0, np.nan, 2.0], "regret must be finite"),
        ("regret_sem", [np.nan] * 3, "regret_sem must be finite"),
        ("regret_sem", [0.1, -0.1, 0.1], "regret_sem must be finite and at least 0"),
        ("final_regret", [1.0, 2.0, 3.0, np.inf], "final_regret must be finite"),
        ("gaps", [0.1, 0.5], "gaps must be finite, at least 0 and 0 for the best arm"),
        ("gaps", [0.0, np.nan], "gaps must be finite"),
        ("pulls", [[980, 20]] * 3, "pulls must have shape"),
        ("pulls", [[980, 21]] * 4, "pulls must be at least 0 and sum to the horizon 1000"),
        ("pulls", [[1001, -1]] * 4, "pulls must be at least 0"),
        ("commit_time", [100, 300, 1001, -1], "commit_time must be between -1 and 1000"),
        ("commit_time", [100, 300, 200, -2], "commit_time must be between -1"),
        ("committed_arm", [0, 0, 2, -1], "committed_arm must be between -1 and 1"),
        ("committed_arm", [0, 0, 1, 0], "committed_arm must be .* -1 exactly where commit_time is"),
        ("curves", np.ones((3, 4)), "curves must have shape"),
        ("curves", np.full((4, 3), np.nan), "curves must be finite"),
        ("label", "", "label must be a non-empty string, got ''"),
        ("meta", {"x": np.nan}, "meta must hold JSON values only"),
    ],
)
def test_wrong_values_name_the_field(name, value, error):
    with pytest.raises(ValueError, match=error):
        make(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("times", [10.0, 100.0, 1000.0], "times must be an array of int64, got float64"),
        ("regret", ["a", "b", "c"], "regret must be an array of float64, got <U1"),
        ("pulls", np.full((4, 2), None), "pulls must be an array of int64, got object"),
        ("meta", {"x": object()}, "meta must hold JSON values only"),
        ("meta", [], "meta must be a dict"),
    ],
)
def test_wrong_types_name_the_field(name, value, error):
    with pytest.raises(TypeError, match=error):
        make(**{name: value})


def test_wrong_commit_is_among_the_runs_that_committed():
    wrong = make().wrong_commit()
    assert (wrong.count, wrong.committed, wrong.rate) == (1, 3, 1 / 3)
    assert wrong.low == pytest.approx(0.0084037586, rel=1e-7)  # 1 - 0.975^(1/3)
    assert wrong.high == pytest.approx(0.9057, abs=1e-4)
    narrow = make().wrong_commit(confidence=0.5)
    assert wrong.low < narrow.low < narrow.rate < narrow.high < wrong.high
    with pytest.raises(ValueError, match="confidence must be strictly between 0 and 1, got 95"):
        make().wrong_commit(95)


def test_wrong_commit_without_commitments_knows_nothing():
    wrong = make(commit_time=[-1] * 4, committed_arm=[-1] * 4).wrong_commit()
    assert wrong[:2] == (0, 0)
    assert np.isnan(wrong.rate)
    assert (wrong.low, wrong.high) == (0.0, 1.0)


def test_wrong_commit_needs_one_best_arm():
    with pytest.raises(ValueError, match="undefined because arms 0, 1 are equally good"):
        make(gaps=[0.0, 0.0]).wrong_commit()


def test_summary():
    assert make().summary().splitlines() == [
        "policy      EOCP(gap=0.5)",
        "bandit      Gaussian((0.7, 0.2))",
        "horizon     1,000 rounds",
        "runs        4",
        "regret      20.0 ± 1.2  (mean ± standard error)",
        "            5 % of the runs below 10.75, half below 17.50, 95 % below 32.75",
        "commitment  3 of 4 runs, at round 200 on average, 200 in the median",
        "            wrong in 1 of 3: 33 % (0.84 % to 90.6 %), 95 % interval in brackets",
        "pulls       arm 0  96.0 %  best",
        "            arm 1   4.0 %  gap 0.5",
        "engine      leap, 1,234 s",
    ]


def test_summary_of_the_edges():
    never = make(commit_time=[-1] * 4, committed_arm=[-1] * 4, label="mine", meta=META).summary()
    assert "no run committed" in never
    assert "policy      mine\n            EOCP(gap=0.5)\n" in never
    assert "wrong is undefined: several best arms" in make(gaps=[0.0, 0.0], meta={}).summary()
    one = make(**ONE_RUN).summary()
    assert "20.0000 ± unknown" in one
    assert "all runs, at round 7" in one
    many = make(gaps=np.arange(20) / 10, pulls=[[905] + [5] * 19] * 4).summary()
    assert "12 other arms   6.0 %" in many
    assert "arm 7 " in many
    assert "arm 8 " not in many
    assert "20.0000 ± 0.0000" in make(regret_sem=[0.0, 0.0, 0.0]).summary()


def test_summary_of_huge_horizons():
    horizon = 10**18
    result = make(
        times=[1, 10, horizon],
        pulls=[[horizon - 20, 20]] * 4,
        final_regret=[123_456.7] * 4,
        commit_time=[123_456_789] * 4,
        committed_arm=[0] * 4,
    )
    text = result.summary()
    assert "e+" not in text
    assert "1,000,000,000,000,000,000 rounds" in text
    assert "round 123,456,789 on average" in text
    assert "nan" not in text


def test_shares_of_pulls_are_never_rounded_above_one():
    horizon = 3971232446107645  # the mean of three such counts is larger than each of them
    three = {"final_regret": [0.0] * 3, "commit_time": [-1] * 3, "committed_arm": [-1] * 3}
    text = make(times=[1, 2, horizon], pulls=[[horizon, 0]] * 3, **three).summary()
    assert "arm 0  100 %  best" in text
    assert "arm 1    0 %" in text


def test_curve_dataframe():
    frame = make().to_dataframe()
    assert list(frame.columns) == ["policy", "round", "regret", "regret_sem"]
    assert frame["round"].tolist() == [10, 100, 1000]
    assert set(frame["policy"]) == {"EOCP(gap=0.5)"}


def test_runs_dataframe_has_missing_values_where_no_commitment():
    result = make()
    frame = result.to_dataframe("runs")
    assert frame["commit_time"].mean() == 200.0
    assert frame["committed_arm"].isna().tolist() == [False, False, False, True]
    assert frame["pulls_1"].tolist() == [20, 30, 40, 70]
    frame.loc[0, ["commit_time", "final_regret"]] = 5
    assert result == make()


def test_dataframe_of_something_else():
    with pytest.raises(ValueError, match='what must be "curve" or "runs", got \'all\''):
        make().to_dataframe("all")


def test_missing_pandas_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "robai\[pandas\]"'):
        make().to_dataframe()


@pytest.mark.parametrize("curves", [None, np.arange(12.0).reshape(4, 3)])
def test_saves_and_loads(tmp_path, curves):
    result = make(curves=curves)
    result.save(tmp_path / "r.anything")
    loaded = Result.load(tmp_path / "r.anything")
    assert loaded == result
    assert loaded.meta == result.meta
    assert (loaded.curves is None) == (curves is None)
    assert not loaded.regret.flags.writeable


@given(data=st.data())
@settings(deadline=None, max_examples=50)
def test_any_result_survives_saving(tmp_path_factory, data):
    runs = data.draw(st.integers(1, 5))
    arms = data.draw(st.integers(2, 4))
    times = sorted(data.draw(st.sets(st.integers(1, 10**18), min_size=1, max_size=5)))
    amount = st.floats(0, 1e300)
    some = lambda n: data.draw(st.lists(amount, min_size=n, max_size=n))  # noqa: E731
    commits = data.draw(
        st.lists(
            st.just((-1, -1)) | st.tuples(st.integers(1, times[-1]), st.integers(0, arms - 1)),
            min_size=runs,
            max_size=runs,
        )
    )
    result = Result(
        times=times,
        regret=some(len(times)),
        regret_sem=some(len(times)) if runs > 1 else [np.nan] * len(times),
        final_regret=some(runs),
        commit_time=[time for time, _ in commits],
        committed_arm=[arm for _, arm in commits],
        pulls=[[times[-1]] + [0] * (arms - 1)] * runs,
        gaps=[0.0, *some(arms - 1)],
        label=data.draw(st.text(min_size=1).filter(lambda text: text.isprintable())),
        meta={"x": data.draw(st.integers() | st.text() | st.none())},
    )
    path = tmp_path_factory.mktemp("any") / "r.npz"
    result.save(path)
    assert Result.load(path) == result
    assert result.summary()


def test_every_truncation_is_an_error(tmp_path):
    path = tmp_path / "r.npz"
    make().save(path)
    data = path.read_bytes()
    for size in range(0, len(data), 7):
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match=r"r\.npz is damaged"):
            Result.load(path)


def test_a_flipped_byte_is_an_error_or_harmless(tmp_path):
    path = tmp_path / "r.npz"
    result = make()
    result.save(path)
    data = path.read_bytes()
    refused = 0
    for position in range(len(data)):
        for mask in (0x01, 0xFF):
            path.write_bytes(data[:position] + bytes([data[position] ^ mask]) + data[position + 1 :])
            try:  # bytes that mean nothing, such as a time stamp, may change
                loaded = Result.load(path)
            except ValueError as error:
                assert "r.npz" in str(error)  # noqa: PT017
                refused += 1
            else:
                assert loaded == result
                assert loaded.meta == result.meta
    assert refused > len(data)


def rewrite(path, *, header=None, **arrays):
    """Save a file again with parts of it changed; None removes an array."""
    with np.load(path) as archive:
        content = dict(archive)
    content["header"] = np.array(json.dumps(json.loads(str(content["header"])) | (header or {})))
    content = {name: array for name, array in (content | arrays).items() if array is not None}
    np.savez(path, **content)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"header": {"format": "other"}}, "format must be 'robai.Result', got 'other'"),
        ({"header": {"schema": 2}}, "schema must be 1, got 2: another version of robai wrote it"),
        ({"header": {"results": []}}, "results must describe every array"),
        ({"header": {"results": 1}}, "not iterable"),
        ({"header": {"results": [{"label": "x"}]}}, "the header has no 'meta'"),
        ({"header": {"results": [{"label": 3, "meta": {}}]}}, "label must be a non-empty string, got 3"),
        ({"regret": None}, "regret"),
        ({"extra": np.arange(3)}, "extra"),
        ({"times": np.array([10.0, 100.0, 1000.0])}, "times must be an array of int64, got float64"),
        ({"regret": np.array([1.0, 2.0])}, "regret must have shape"),
        ({"pulls": np.ones((4, 2), int)}, "pulls must be at least 0 and sum to the horizon"),
        ({"gaps": np.array([0.0, np.inf])}, "gaps must be finite"),
    ],
)
def test_a_file_with_wrong_content_is_an_error(tmp_path, changes, error):
    path = tmp_path / "r.npz"
    make().save(path)
    rewrite(path, **changes)
    with pytest.raises(ValueError, match=error) as caught:
        Result.load(path)
    assert "r.npz" in str(caught.value)


def test_a_missing_file_stays_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        Result.load(tmp_path / "absent.npz")
