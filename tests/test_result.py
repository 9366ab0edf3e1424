import copy
import dataclasses
import multiprocessing
import pickle
import sys
from fractions import Fraction

import numpy as np
import pytest
from support.examples import writable_arrays

from robai.result import Result

META = {"policy": "EOCP(gap=0.5)", "bandit": "Gaussian((0.7, 0.2))", "engine": "leap", "entropy": 2**100}
PULLS = [[980, 20], [970, 30], [960, 40], [930, 70]]


def played(pulls=PULLS, gaps=(0.0, 0.5)):
    """What follows from the pulls and the gaps."""
    final_regret = np.asarray(pulls) @ np.asarray(gaps)
    regret = [1.0, 5.0, final_regret.mean()]
    return {"pulls": pulls, "gaps": gaps, "final_regret": final_regret, "regret": regret}


ONE_RUN = {"regret_sem": [np.nan] * 3, "commit_time": [7], "committed_arm": [0], **played([[960, 40]])}


def make(**changes):
    """Four runs on two arms over 1000 rounds: two commit rightly, one wrongly, one never."""
    values = {
        "times": [10, 100, 1000],
        "regret_sem": [0.1, 0.5, 1.25],
        "commit_time": [100, 300, 200, -1],
        "committed_arm": [0, 0, 1, -1],
        **played(),
        "label": "EOCP(gap=0.5)",
        "meta": META | {"seconds": 1234.5},
    }
    return Result(**(values | changes))


CURVES = [[0.0, 2.0, 10.0], [1.0, 5.0, 15.0], [1.0, 6.0, 20.0], [2.0, 7.0, 35.0]]


def test_properties():
    result = make()
    assert (result.horizon, result.runs, result.n_arms, result.best_arm) == (1000, 4, 2, 0)
    assert result.committed.tolist() == [True, True, True, False]
    assert result.pulls.dtype == result.times.dtype == np.int64
    assert make(**played(gaps=[0.0, 0.0])).best_arm is None


def test_repr_is_one_short_line():
    assert repr(make()) == "<Result EOCP(gap=0.5): horizon 1,000, runs 4, regret 20.0 ± 1.2>"


ARRAYS = [
    "times",
    "regret",
    "regret_sem",
    "final_regret",
    "commit_time",
    "committed_arm",
    "pulls",
    "gaps",
    "curves",
]


def assert_read_only(result):
    for name in ARRAYS:
        array = getattr(result, name)
        with pytest.raises(ValueError, match="read-only"):
            array[..., 0] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_is_read_only():
    assert_read_only(make(curves=CURVES))
    with pytest.raises(dataclasses.FrozenInstanceError):
        make().label = "other"


def as_it_is(array):
    return array, array


def read_only_view(array):
    view = array.view()
    view.flags.writeable = False
    return view, array


def over_a_buffer(array):
    shared = np.frombuffer(bytearray(array.tobytes()), array.dtype).reshape(array.shape)
    return read_only_view(shared)


@pytest.mark.parametrize("lend", [as_it_is, read_only_view, over_a_buffer])
@pytest.mark.parametrize("name", ARRAYS)
def test_owns_its_arrays(name, lend):
    expected = make(curves=CURVES)
    array, memory = lend(np.array(getattr(expected, name)))
    result = make(**{"curves": CURVES, name: array})
    memory[...] = 0  # the caller's own stays writable
    assert result == expected


def copies(result):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(result, protocol))
    buffers = []
    data = pickle.dumps(result, 5, buffer_callback=buffers.append)
    yield pickle.loads(data, buffers=[bytearray(buffer.raw()) for buffer in buffers])
    yield copy.copy(result)
    yield copy.deepcopy(result)
    yield dataclasses.replace(result)


def test_stays_read_only_through_pickles_and_copies():
    result = make(curves=CURVES)
    for other in copies(result):
        assert other == result
        assert other.meta == result.meta
        assert_read_only(other)


def test_stays_read_only_on_its_way_to_another_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(writable_arrays, (make(curves=CURVES),)) == []
        assert_read_only(pool.apply(dataclasses.replace, (make(curves=CURVES),)))


def test_equality_is_of_label_and_numbers():
    assert make() == make(meta={})
    assert make() != make(label="other")
    assert make() != make(regret=[1.0, 5.5, 20.0])
    assert make() != make(curves=CURVES)
    assert make() != 3
    assert make(**ONE_RUN) == make(**ONE_RUN)


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
        ("curves", np.add(CURVES, [[0, 0, 1]]), "curves must end at final_regret"),
        ("curves", np.add(CURVES, [[0, 1, 0]]), "regret must be the mean of the runs"),
        ("final_regret", [10.0, 15.0, 20.0, 35.5], "final_regret must be that of the pulls"),
        ("final_regret", [15.0, 10.0, 20.0, 35.0], "final_regret must be that of the pulls"),
        ("pulls", [*PULLS[:3], [960, 40]], "final_regret must be that of the pulls"),
        ("gaps", [0.0, 0.25], "final_regret must be that of the pulls"),
        ("regret", [1.0, 5.0, 20.1], "regret must be the mean of the runs"),
        ("label", "", "label must be a non-empty string, got ''"),
        ("meta", {"x": np.nan}, "meta must hold JSON values only"),
    ],
)
def test_wrong_values_name_the_field(name, value, error):
    with pytest.raises(ValueError, match=error):
        make(**{name: value})


def test_a_sum_of_pulls_that_wraps_round_to_the_horizon_is_found():
    with pytest.raises(ValueError, match="pulls must be at least 0 and sum to the horizon 1000"):
        make(**played([[2**62, 2**62, 2**62, 2**62 + 1000]] * 4, [0.0] * 4))


def test_an_arm_that_was_committed_to_was_pulled():
    given = played([[1000, 0], *PULLS[1:]])
    assert make(**given, committed_arm=[0, 0, 1, -1])
    with pytest.raises(ValueError, match=r"committed_arm must be an arm that was pulled, got \[1\]"):
        make(**given, committed_arm=[1, 0, 1, -1])


@pytest.mark.parametrize("arms", [2, 3000])
def test_arithmetic_holds_up_to_rounding_and_no_further(arms):
    horizon, runs = 10**18, 7
    source = np.random.default_rng(1)
    pulls = source.multinomial(horizon - 10**15, source.dirichlet(np.ones(arms)), size=runs)
    pulls[:, 0] += 10**15
    gaps = source.random(arms)
    gaps[0] = 0.0
    exact = [sum(int(n) * Fraction(gap) for n, gap in zip(run, gaps, strict=True)) for run in pulls]
    values = {"times": [horizon], "regret_sem": [1.0], "pulls": pulls, "gaps": gaps}
    values |= {"commit_time": [-1] * runs, "committed_arm": [-1] * runs}
    values |= {"final_regret": list(map(float, exact)), "regret": [float(sum(exact) / runs)]}
    assert make(**values).runs == runs
    for name in ("final_regret", "regret"):
        off = np.array(values[name])
        off[-1] *= 1 + 1e-10
        with pytest.raises(ValueError, match=f"{name} must be"):
            make(**values | {name: off})


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
        make(**played(gaps=[0.0, 0.0])).wrong_commit()


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
    assert "wrong is undefined: several best arms" in make(**played(gaps=[0.0, 0.0]), meta={}).summary()
    one = make(**ONE_RUN).summary()
    assert "20.0000 ± unknown" in one
    assert "all runs, at round 7" in one
    many = make(**played([[905] + [5] * 19] * 4, np.arange(20) / 10)).summary()
    assert "12 other arms   6.0 %" in many
    assert "arm 7 " in many
    assert "arm 8 " not in many
    assert "20.0000 ± 0.0000" in make(regret_sem=[0.0, 0.0, 0.0]).summary()


def test_summary_of_huge_horizons():
    horizon = 10**18
    result = make(
        times=[1, 10, horizon],
        **played([[horizon - 246_914, 246_914]] * 4),
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
    three = {"commit_time": [-1] * 3, "committed_arm": [-1] * 3, **played([[horizon, 0]] * 3)}
    text = make(times=[1, 2, horizon], **three).summary()
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
