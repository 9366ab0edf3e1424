import numpy as np
import pytest

from robai.result import Comparison, Result


def make(label="EOCP(gap=0.5)", pulled=(20, 30, 40, 70), gap=0.5, **changes):
    """Four runs on two arms over 1000 rounds: two commit rightly, one wrongly, one never."""
    pulls = np.array([[1000 - n, n] for n in pulled])
    final_regret = gap * pulls[:, 1]
    values = {
        "times": [10, 100, 1000],
        "regret": [1.0, 5.0, final_regret.mean()],
        "regret_sem": [0.1, 0.5, 1.25],
        "final_regret": final_regret,
        "commit_time": [100, 300, 200, -1],
        "committed_arm": [0, 0, 1, -1],
        "pulls": pulls,
        "gaps": [0.0, gap],
        "meta": {"bandit": "Gaussian((0.7, 0.2))"},
    }
    return Result(label=label, **(values | changes))


def compared():
    other = make("UCB()", (50, 60, 64, 70), commit_time=[-1] * 4, committed_arm=[-1] * 4)
    return Comparison([other, make()])


def test_comparison_is_a_mapping_in_order():
    table = compared()
    assert list(table) == ["UCB()", "EOCP(gap=0.5)"]
    assert table["EOCP(gap=0.5)"] == make()
    assert repr(table) == "<Comparison of UCB(), EOCP(gap=0.5)>"
    assert table == compared() == Comparison(dict(compared()))


def test_comparison_refuses_what_cannot_be_compared():
    with pytest.raises(ValueError, match=r"different labels, got 'EOCP\(gap=0.5\)' twice"):
        Comparison([make(), make()])
    with pytest.raises(ValueError, match="must share horizon and gaps"):
        Comparison([make(), make(label="b", gap=0.4)])
    with pytest.raises(ValueError, match="at least one"):
        Comparison([])
    with pytest.raises(TypeError, match="results must be Result objects, got 3"):
        Comparison([3])
    with pytest.raises(ValueError, match="results must be named by their labels, got 'UCB'"):
        Comparison({"UCB": make()})


def test_comparison_summary():
    assert compared().summary().splitlines() == [
        "Gaussian((0.7, 0.2)), horizon 1,000",
        "",
        "policy         runs        regret  committed  median at  wrong commitments, 95 % interval",
        "UCB()             4  30.5 ± 1.2          0 %          -  -",
        "EOCP(gap=0.5)     4  20.0 ± 1.2 *       75 %        200  33 % (0.84 % to 90.6 %)",
        "",
        "* smallest mean regret; ± is the standard error of the mean",
        "commitment times and wrong commitments are of the runs that committed",
    ]


def test_comparison_dataframe():
    frame = compared().to_dataframe("runs")
    assert len(frame) == 8
    assert frame.groupby("policy")["commit_time"].count().to_dict() == {"UCB()": 0, "EOCP(gap=0.5)": 3}
    assert len(compared().to_dataframe()) == 6


def test_comparison_saves_and_loads(tmp_path):
    path = tmp_path / "c.npz"
    compared().save(path)
    loaded = Comparison.load(path)
    assert list(loaded) == list(compared())
    assert loaded == compared()
    data = path.read_bytes()
    for size in range(0, len(data), 101):
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match=r"c\.npz is damaged"):
            Comparison.load(path)


def test_the_two_kinds_of_file_are_told_apart(tmp_path):
    make().save(tmp_path / "r.npz")
    compared().save(tmp_path / "c.npz")
    with pytest.raises(ValueError, match=r"format must be 'robai.Result', got 'robai.Comparison'"):
        Result.load(tmp_path / "c.npz")
    with pytest.raises(ValueError, match=r"format must be 'robai.Comparison', got 'robai.Result'"):
        Comparison.load(tmp_path / "r.npz")
